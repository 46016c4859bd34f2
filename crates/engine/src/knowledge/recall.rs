//! `recall_knowledge`: finds files of the vault, and shows the sections that match.

mod found;
mod shown;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::knowledge::ranking::Keyword;

use self::{
    found::{Match, by_search, by_words},
    shown::{Room, SectionView},
};
use super::{
    access::{self, Access, AccessKind},
    files::{self, Readable},
    l0::{Behind, behind},
    room::{check_question, echo},
    vault::{self, FileHead},
};
pub(crate) use found::by_meaning;

use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    render::{Block, Document, Mark, Record, Render, Trust, counted, rounded},
};

/// See the module.
pub struct RecallKnowledge;

const DEFAULT_FILES: u32 = 5;
/// Sections of one file that are shown.
const SECTIONS: usize = 3;

/// What to look for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Words.
    pub keyword: String,
    /// Files. Default 5.
    #[schemars(range(min = 1, max = 50))]
    pub top_n: Option<u32>,
    /// Default keyword.
    pub search_mode: Option<Mode>,
}

/// How files are found and scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The words as written
    #[default]
    Keyword,
    /// Misspelt ones too
    Fuzzy,
    /// By how telling the words are
    Bm25,
    /// Words and meaning
    Hybrid,
    /// Meaning alone
    Semantic,
}

impl Mode {
    /// Digits of a score after the point.
    const fn digits(self) -> i32 {
        match self {
            Self::Keyword | Self::Fuzzy | Self::Bm25 => 2,
            Self::Hybrid | Self::Semantic => 4,
        }
    }

    /// What finds more than this mode.
    const fn instead(self) -> &'static str {
        match self {
            Self::Keyword => {
                "keyword looks for the words side by side, as written; `search_mode` hybrid takes a question, fuzzy misspelt words"
            }
            Self::Hybrid => {
                "nothing there answers it; `search_mode` semantic shows what is nearest all the same, fuzzy takes misspelt words"
            }
            _ => "`search_mode` hybrid goes by meaning too",
        }
    }

    const fn access(self) -> AccessKind {
        match self {
            Self::Semantic => AccessKind::Semantic,
            _ => AccessKind::Recall,
        }
    }
}

/// What was found.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// False when there is no knowledge at all.
    pub success: bool,
    /// Why it is not a success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'static str>,
    /// What was looked for.
    pub keyword: String,
    /// How.
    pub search_mode: Mode,
    /// Files that were looked through.
    pub total_files: usize,
    /// Files that match, shown or not.
    pub matched_files: usize,
    /// The best of them.
    pub results: Vec<FileHit>,
    /// How to look again when nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
    /// Whether files or sections were left out or cut for the size of the reply.
    #[serde(skip_serializing_if = "is_default")]
    pub truncated: bool,
    /// That the index of knowledge says something else than the files, when it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l0_staleness_warning: Option<Behind>,
}

/// A file that matches.
#[derive(Debug, Serialize)]
pub struct FileHit {
    /// The file, below its namespace.
    pub file: String,
    /// Its score in this mode.
    pub score: f64,
    /// Its sections that match, shown or not.
    pub matched_sections: usize,
    /// The first or best of them.
    pub sections: Vec<SectionView>,
    /// Where its wiki links lead, at most five.
    pub wiki_links: Vec<String>,
}

impl Operation for RecallKnowledge {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "recall_knowledge",
        cli: &["knowledge", "recall"],
        positional: &["keyword"],
        title: "Find knowledge",
        about: "Finds knowledge files and shows only their matching sections. `hybrid` for questions.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const ALIASES: &'static [(&'static str, &'static str)] = &[("query", "keyword"), ("mode", "search_mode")];
    const IS_DAILY: bool = true;
    const EXPLAINED: &'static [&'static str] = &["search_mode"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        check_question("keyword", &request.keyword)?;
        let Some(keyword) = Keyword::new(&request.keyword) else {
            return Err(Error::argument("keyword", "is empty", "say what you look for"));
        };
        let mode = request.search_mode.unwrap_or_default();
        let top = request.top_n.unwrap_or(DEFAULT_FILES) as usize;
        let files = files::readable(engine, call)?;
        let nothing = if files.is_empty() { Some(why_nothing(engine, call)?) } else { None };
        let mut matches = match mode {
            _ if nothing.is_some() => Vec::new(),
            Mode::Keyword | Mode::Fuzzy => by_words(&files, &keyword, mode),
            _ => by_search(engine, call, &files, (&request.keyword, &keyword), mode, top)?,
        };
        let matched_files = matches.len();
        matches.truncate(top);
        let mut room = Room::default();
        let mut results: Vec<FileHit> =
            matches.iter().map_while(|found| file_hit(&files[found.file], found, mode, &mut room)).collect();
        let mut left = results.len();
        for (hit, found) in results.iter_mut().zip(matches) {
            room.next_of(left);
            left -= 1;
            show(hit, &files[found.file], found.parts, (&keyword, mode), &mut room);
        }
        log(engine, call, &request.keyword, mode, &results, &files);
        let heads: Vec<&FileHead> = files.iter().map(|file| &file.head).collect();
        Ok(Response {
            success: nothing.is_none(),
            error: nothing,
            keyword: echo(&request.keyword),
            search_mode: mode,
            total_files: files.len(),
            matched_files,
            hint: (nothing.is_none() && results.is_empty()).then(|| mode.instead()),
            results,
            truncated: room.is_short(),
            l0_staleness_warning: behind(engine, call, &heads),
        })
    }
}

/// Why there is no file that could be looked through.
fn why_nothing(engine: &Engine, call: &Call<'_>) -> Result<&'static str, Error> {
    let is_out_of_reach = !vault::list(engine, call)?.is_empty();
    Ok(if is_out_of_reach {
        "No knowledge files can be read; `validate_knowledge` says why"
    } else {
        "No knowledge files found: there is nothing to recall yet"
    })
}

/// A file with its name alone; `None` when there is no room for it.
fn file_hit(file: &Readable, found: &Match, mode: Mode, room: &mut Room) -> Option<FileHit> {
    let path = file.head.path.to_string();
    let links = file.file.searchable().links();
    let wiki_links: Vec<String> = links.iter().map(|link| shown::short(link)).collect();
    room.takes_file(&path, &wiki_links).then(|| FileHit {
        file: path,
        score: rounded(found.score, mode.digits()),
        matched_sections: 0,
        sections: Vec::new(),
        wiki_links,
    })
}

/// Adds the sections of a file.
fn show(
    hit: &mut FileHit,
    Readable { file, .. }: &Readable,
    parts: Option<Vec<usize>>,
    (keyword, mode): (&Keyword, Mode),
    room: &mut Room,
) {
    let parts = parts.unwrap_or_else(|| match mode {
        Mode::Fuzzy => file.searchable().alike(keyword),
        _ => file.searchable().matching(keyword),
    });
    hit.matched_sections = parts.len();
    let mut shown: Vec<usize> = parts.into_iter().take(SECTIONS).collect();
    shown.sort_unstable();
    hit.sections = shown.into_iter().filter_map(|part| room.section(file, part, keyword)).collect();
}

fn log(engine: &Engine, call: &Call<'_>, keyword: &str, mode: Mode, results: &[FileHit], files: &[Readable]) {
    let namespace = |path: &str| {
        let same = files.iter().find(|file| file.head.path.to_string() == path);
        same.map_or("", |file| file.head.namespace.as_str())
    };
    let accesses: Vec<Access<'_>> = results
        .iter()
        .enumerate()
        .map(|(at, hit)| Access {
            namespace: namespace(&hit.file),
            path: &hit.file,
            kind: mode.access(),
            query: Some(keyword),
            rank: Some(at + 1),
            score: Some(hit.score),
        })
        .collect();
    access::log(engine, call, &accesses);
}

impl Render for Response {
    fn is_alarming(&self) -> bool {
        !self.success
    }

    fn render(&self) -> Document {
        if let Some(error) = self.error {
            return Document::new().note(Mark::Warning, error);
        }
        if self.results.is_empty() {
            let said = format!("Nothing found in {}.", counted(self.total_files, "file"));
            let document = Document::new().note(Mark::Info, said);
            return self.hint.into_iter().fold(document, |document, hint| document.note(Mark::Info, hint));
        }
        let records = self.results.iter().flat_map(FileHit::records).collect();
        let document = Document::new().with(Block::Records { trust: Trust::Data, records });
        let said = format!(
            "{} of {} shown; {} looked through",
            self.results.len(),
            counted(self.matched_files, "matching file"),
            self.total_files
        );
        let document = document.note(Mark::Info, said);
        let document = match &self.l0_staleness_warning {
            Some(behind) => document.note(
                Mark::Warning,
                format!(
                    "the index of knowledge is behind: {}; {}",
                    counted(behind.stale_count, "file"),
                    behind.suggestion
                ),
            ),
            None => document,
        };
        match self.truncated {
            true => document.note(Mark::Info, "sections were cut; `get_knowledge_file` shows a file whole"),
            false => document,
        }
    }
}

impl FileHit {
    fn records(&self) -> Vec<Record> {
        let record = |title: Option<String>, text: String| Record {
            id: self.file.clone(),
            attributes: vec![format!("score {}", self.score)],
            title,
            text,
        };
        if self.sections.is_empty() {
            return vec![record(None, String::new())];
        }
        let shown = self.sections.iter();
        shown.map(|section| record(Some(section.title.clone()), section.content.clone())).collect()
    }
}
