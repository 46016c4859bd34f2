//! A file as sections for the index, and a section as a chunk again.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use strata_lang::{Found, Language, Limits, Reading};
use strata_store::{
    index::{Section, cut},
    ledger::SourceRow,
};

use super::{
    Chunk,
    gate::{Gate, Rules, path_of_root},
    ids,
    kind::{SourceType, module_of},
};

/// How long one file may be parsed. The parser gives up by itself long before; this is for a machine that stands still.
const PARSING: Duration = Duration::from_secs(5);

/// Names of symbols that a chunk tells; of more, the first.
const SYMBOLS: usize = 24;

/// Reads the files of one project's root for the index.
pub(crate) struct Reader {
    gate: Gate,
}

/// What the index needs of a file.
pub(crate) struct Read {
    /// Its chunks, with what they are.
    pub(crate) sections: Vec<Section>,
    /// What the file is.
    pub(crate) kind: SourceType,
}

impl Reader {
    /// The reader of a root as `sources` names it; `None` when it is no project's, or not there.
    pub(crate) fn of(root: &str) -> Option<Self> {
        // What a project leaves out by its own rules has no row.
        let rules = Rules { max_bytes: super::gate::LARGEST, ..Rules::default() };
        Gate::new(&path_of_root(root)?, &rules).ok().map(|gate| Self { gate })
    }

    /// The chunks of a file as it is now; `None` when it cannot be read.
    pub(crate) fn read(&self, file: &SourceRow) -> Option<Read> {
        let text = self.gate.read(&file.path).ok()?.text;
        Some(sections(&file.path, &text))
    }

    /// The text of a file that is as it was when it was recorded.
    pub(crate) fn unchanged(&self, file: &SourceRow) -> Option<String> {
        let now = self.gate.read(&file.path).ok()?;
        (now.hash == file.hash).then_some(now.text)
    }
}

/// Cuts a text into its chunks.
pub(crate) fn sections(path: &str, text: &str) -> Read {
    let reading = cut_up(path, text);
    let language = reading.language.unwrap_or(Language::Unknown);
    let kind = SourceType::of(path, language, Some(&reading.found));
    let mut part = 0;
    let mut sections = Vec::with_capacity(reading.chunks.len());
    for (at, chunk) in reading.chunks.iter().enumerate() {
        let body = text[chunk.span.bytes.clone()].trim_end();
        if body.trim().is_empty() {
            continue;
        }
        let standing = Standing {
            part,
            first: line(chunk.span.first_line),
            last: line(chunk.span.first_line + body.matches('\n').count()),
            kind,
            language: reading.language.map(|language| language.as_str().to_owned()),
            heading: chunk.path.clone(),
            symbols: symbols(&reading, at),
            is_cut: is_cut(text, &chunk.span.bytes),
        };
        // The title is what the chunk is found by beside its text, so the names in it are no part of it.
        let title = [&[path.to_owned()], &chunk.path[..]].concat().join(" > ");
        part += u32::try_from(cut(body).len()).unwrap_or(u32::MAX);
        sections.push(Section { title, body: body.to_owned(), place: standing.to_place() });
    }
    Read { sections, kind }
}

/// Cuts a text by what it is. A fault of a grammar goes no further than its file, which is then cut between paragraphs.
fn cut_up(path: &str, text: &str) -> Reading {
    let began = Instant::now();
    let read = |path| strata_lang::read(path, text, &Limits::default(), &|| began.elapsed() > PARSING);
    catch_unwind(AssertUnwindSafe(|| read(path)))
        .unwrap_or_else(|_| Reading { language: None, ..read("text.txt") })
}

/// Whether a chunk is a piece of a line that is too long for one.
fn is_cut(text: &str, bytes: &std::ops::Range<usize>) -> bool {
    let starts = bytes.start == 0 || text[..bytes.start].ends_with('\n');
    let ends = bytes.end == text.len() || text[..bytes.end].ends_with('\n');
    !(starts && ends)
}

fn line(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The names of what a chunk defines, or is the middle of.
fn symbols(reading: &Reading, at: usize) -> Vec<String> {
    let chunk = &reading.chunks[at];
    let name = |index: usize| match &reading.found {
        Found::Symbols(all) => Some(all[index].name.clone()),
        Found::Results(all) => Some(all[index].name.clone()),
        Found::Hunks(all) => all[index].symbol.clone(),
        _ => None,
    };
    let mut names: Vec<String> = Vec::new();
    for name in chunk.begins.clone().filter_map(name) {
        if !name.is_empty() && !names.contains(&name) && names.len() < SYMBOLS {
            names.push(name);
        }
    }
    if names.is_empty() {
        names.extend(chunk.within.and_then(name).filter(|name| !name.is_empty()));
    }
    names
}

/// What the index keeps of a chunk beside its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Standing {
    /// The number of its first part within the file.
    #[serde(rename = "p")]
    part: u32,
    #[serde(rename = "a")]
    first: u32,
    #[serde(rename = "z")]
    last: u32,
    #[serde(rename = "k")]
    kind: SourceType,
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    #[serde(rename = "h", default, skip_serializing_if = "Vec::is_empty")]
    heading: Vec<String>,
    #[serde(rename = "s", default, skip_serializing_if = "Vec::is_empty")]
    symbols: Vec<String>,
    /// Whether it begins or ends within a line.
    #[serde(rename = "c", default, skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
}

impl Standing {
    /// What [`Section::place`] says; `None` for a section of another sort of file.
    pub(super) fn parse(place: &str) -> Option<Self> {
        if place.is_empty() { None } else { serde_json::from_str(place).ok() }
    }

    fn to_place(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Its lines in a text; `None` when it is no whole lines.
    pub(super) fn of(&self, text: &str) -> Option<String> {
        if self.is_cut {
            return None;
        }
        let (first, last) = (self.first.max(1) as usize, self.last as usize);
        let lines = text.lines().skip(first - 1).take((last + 1).saturating_sub(first));
        Some(lines.collect::<Vec<_>>().join("\n"))
    }

    /// The chunk that stands here.
    pub(super) fn chunk(self, file: &SourceRow, text: String, is_stale: bool) -> Chunk {
        let (document_id, chunk_id) = ids(file.number, self.part);
        // A hunk is about the file that it changes.
        let about = self.heading.first().filter(|_| self.kind == SourceType::GitDiff).unwrap_or(&file.path);
        let module_path = module_of(about);
        Chunk {
            chunk_id,
            document_id,
            source_path: file.path.clone(),
            source_type: self.kind,
            language: self.language,
            heading_path: self.heading,
            symbols: self.symbols,
            module_path,
            start_line: self.first,
            end_line: self.last,
            text,
            is_stale,
            modified: file.mtime.0,
        }
    }
}
