//! `list_memory_stats`: how large the files are, and what to do about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::knowledge::health::LARGE;

use crate::{
    engine::Engine,
    error::Error,
    knowledge::vault::{self, FileHead},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    render::{Block, Document, Mark, Render, rounded},
};

/// See the module.
pub struct ListMemoryStats;

/// More files than this are worth putting together.
const MANY: usize = 15;
/// Files of more bytes are worth splitting.
const OVERSIZED: u64 = LARGE as u64;

/// Files that are listed, and those of them that are oversized.
const LISTED: (usize, usize) = (100, 30);

/// Which part of the list.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Files to pass over.
    #[schemars(range(min = 0, max = 100_000))]
    pub offset: Option<u32>,
}

/// The figures.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// The files.
    pub l1_knowledge: Figures,
    /// What to do.
    pub suggestions: Vec<String>,
}

/// The files in figures.
#[derive(Debug, Serialize)]
pub struct Figures {
    /// How many there are.
    pub total_files: usize,
    /// Bytes of all of them.
    pub total_size_bytes: u64,
    /// The same in KiB.
    pub total_size_kb: f64,
    /// The mean, in KiB.
    pub avg_size_kb: f64,
    /// From so many bytes on a file is called oversized.
    pub oversized_above_bytes: u64,
    /// Those that are, the largest first.
    pub oversized_files: Vec<Oversized>,
    /// The files, a hundred at a time.
    pub files: Vec<File>,
    /// How many more follow; ask with a higher `offset`.
    #[serde(skip_serializing_if = "is_default")]
    pub files_left_out: usize,
}

/// A file that is too large.
#[derive(Debug, Serialize)]
pub struct Oversized {
    /// The file.
    pub file: String,
    /// Bytes.
    pub size_bytes: u64,
}

/// A file.
#[derive(Debug, Serialize)]
pub struct File {
    /// The file.
    pub file: String,
    /// Bytes.
    pub size_bytes: u64,
    /// The same in KiB.
    pub size_kb: f64,
    /// Whether it is oversized.
    pub oversized: bool,
}

impl Operation for ListMemoryStats {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "list_memory_stats",
        cli: &["knowledge", "stats"],
        positional: &[],
        title: "Figures of the knowledge files",
        about: "Lists the knowledge files with their sizes, and what to do about them.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let files: Vec<File> = vault::list(engine, call)?
            .into_iter()
            .filter(FileHead::is_present)
            .map(|head| File {
                file: head.path.to_string(),
                size_bytes: head.size,
                size_kb: kib(head.size as f64),
                oversized: head.size > OVERSIZED,
            })
            .collect();
        let total: u64 = files.iter().map(|file| file.size_bytes).sum();
        let mut oversized: Vec<Oversized> = files
            .iter()
            .filter(|file| file.oversized)
            .map(|file| Oversized { file: file.file.clone(), size_bytes: file.size_bytes })
            .collect();
        let suggestions = suggestions(files.len(), oversized.len());
        oversized.sort_by_key(|file| std::cmp::Reverse(file.size_bytes));
        oversized.truncate(LISTED.1);
        let passed_over = request.offset.unwrap_or(0) as usize;
        Ok(Response {
            success: true,
            suggestions,
            l1_knowledge: Figures {
                total_files: files.len(),
                total_size_bytes: total,
                total_size_kb: kib(total as f64),
                avg_size_kb: kib(total as f64 / files.len().max(1) as f64),
                oversized_above_bytes: OVERSIZED,
                oversized_files: oversized,
                files_left_out: files.len().saturating_sub(passed_over + LISTED.0),
                files: files.into_iter().skip(passed_over).take(LISTED.0).collect(),
            },
        })
    }
}

fn kib(bytes: f64) -> f64 {
    rounded(bytes / 1024.0, 2)
}

fn suggestions(files: usize, oversized: usize) -> Vec<String> {
    let mut suggestions = Vec::new();
    if files == 0 {
        suggestions.push("There is no knowledge yet: `inject_knowledge` writes the first.".to_owned());
    }
    if files > MANY {
        suggestions.push(format!("There are {files} files: put those about one subject together."));
    }
    if oversized > 0 {
        let what = if oversized == 1 { "1 file is" } else { &format!("{oversized} files are") };
        suggestions.push(format!("{what} larger than {} KB: split by subject.", OVERSIZED / 1024));
    }
    suggestions
}

impl Render for Response {
    fn render(&self) -> Document {
        let mut document = Document::new();
        if !self.l1_knowledge.files.is_empty() {
            let columns = ["file", "bytes"].map(str::to_owned).to_vec();
            let row = |file: &File| vec![file.file.clone(), file.size_bytes.to_string()];
            let rows = self.l1_knowledge.files.iter().map(row).collect();
            document = document.with(Block::Table { columns, rows });
        }
        self.suggestions.iter().fold(document, |document, said| document.note(Mark::Info, said.clone()))
    }
}
