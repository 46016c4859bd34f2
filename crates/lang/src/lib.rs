//! Files of a project as pieces that can be found: symbols and chunks by syntax, and by headings, keys, results, windows
//! or hunks where a file is no source text.
//!
//! Invariants, and what this crate deliberately does not know:
//! - no I/O, no clock: it is given a path (which is only looked at as a name), a text and limits, and a way to ask whether to stop;
//! - the chunks of a text, put one after the other, are the text: nothing is left out, and nothing stands in two chunks;
//! - no panic on any input, no recursion over what a file nests, time in proportion to the size of the text;
//! - a file that cannot be read as what it is called is cut at its lines, and the answer says why;
//! - it stores nothing, redacts nothing and decides nothing about which files may be read: that is the caller's gate.

mod detect;
mod headings;
mod hunks;
mod keys;
mod language;
pub mod layers;
mod lines;
mod pack;
mod prose;
mod results;
mod syntax;
mod windows;

use std::ops::Range;

pub use hunks::{Change, Hunk};
pub use keys::Key;
pub use language::Language;
pub use results::{Outcome, TestResult};
pub use syntax::{Kind, Symbol};
pub use windows::Window;

use detect::Reader;
use lines::Lines;
use pack::Marks;

/// Reads a file: what it is by its path and first lines, what stands in it, and how it is cut.
///
/// `stop` is asked now and then while a syntax is parsed; once it says yes, the text is cut at its lines instead. For the same text,
/// path and limits the answer is the same unless `stop` intervened.
pub fn read(path: &str, text: &str, limits: &Limits, stop: &dyn Fn() -> bool) -> Reading {
    let language = language::of(path, text);
    let lines = Lines::new(text);
    let (found, marks, fell_back) = match detect::reader(path, text, language) {
        Reader::Syntax(language) => return syntax::read(language, &lines, limits, stop),
        Reader::Headings => headings::read(&lines),
        Reader::Keys(format) => keys::read(format, &lines),
        Reader::Results(format) => results::read(format, &lines),
        Reader::Windows => windows::read(&lines),
        Reader::Hunks => hunks::read(&lines),
        Reader::Paragraphs => (Found::Paragraphs, prose::marks(&lines), None),
        Reader::Lines(why) => (Found::Lines, prose::marks(&lines), why),
    };
    Reading::new(Some(language).filter(|l| *l != Language::Unknown), found, fell_back, &lines, &marks, limits)
}

/// How large a chunk may be, and from when on a file is not parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The most tokens of a chunk of source text or of keys.
    pub code: u32,
    /// The most tokens of a chunk of prose, of a test's result, of a hunk.
    pub prose: u32,
    /// The most tokens of a chunk of a log.
    pub log: u32,
    /// Neighbouring symbols share a chunk while they have together at most so many tokens.
    pub share: u32,
    /// Source texts with more bytes are cut at their lines.
    pub syntax_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { code: 1000, prose: 1200, log: 600, share: 250, syntax_bytes: 1 << 20 }
    }
}

/// What was read of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// `None` when neither the path nor the first line tells.
    pub language: Option<Language>,
    /// What stands in the file, in the order in which it begins; it also says how the file was cut.
    pub found: Found,
    /// Why the file was cut at its lines although its language is known.
    pub fell_back: Option<Fallback>,
    /// In order, without gaps and overlaps: together they are the text.
    pub chunks: Vec<Chunk>,
}

/// What stands in a file, by the way it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Definitions of a source text.
    Symbols(Vec<Symbol>),
    /// Headings of Markdown.
    Headings(Vec<Heading>),
    /// Keys of JSON, YAML or TOML.
    Keys(Vec<Key>),
    /// Results of tests.
    Results(Vec<TestResult>),
    /// Places of a log that report trouble.
    Windows(Vec<Window>),
    /// Hunks of a diff.
    Hunks(Vec<Hunk>),
    /// Prose without marks, cut between its paragraphs.
    Paragraphs,
    /// Anything else, cut at its lines.
    Lines,
}

impl Found {
    /// The way of reading as one word: `syntax`, `headings`, `keys`, `results`, `windows`, `hunks`, `paragraphs` or `lines`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Symbols(_) => "syntax",
            Self::Headings(_) => "headings",
            Self::Keys(_) => "keys",
            Self::Results(_) => "results",
            Self::Windows(_) => "windows",
            Self::Hunks(_) => "hunks",
            Self::Paragraphs => "paragraphs",
            Self::Lines => "lines",
        }
    }

    /// The place of each item, and its name as a part of a chunk's path.
    fn places(&self) -> Vec<(&Span, &str)> {
        match self {
            Self::Symbols(all) => all.iter().map(|s| (&s.span, s.name.as_str())).collect(),
            Self::Headings(all) => all.iter().map(|h| (&h.span, h.title())).collect(),
            Self::Keys(all) => all.iter().map(|k| (&k.span, k.path.as_str())).collect(),
            Self::Results(all) => all.iter().map(|r| (&r.span, r.name.as_str())).collect(),
            Self::Windows(all) => all.iter().map(|w| (&w.span, "")).collect(),
            Self::Hunks(all) => all.iter().map(|h| (&h.span, h.file.as_str())).collect(),
            Self::Paragraphs | Self::Lines => Vec::new(),
        }
    }

    fn limit(&self, limits: &Limits) -> u32 {
        match self {
            Self::Symbols(_) | Self::Keys(_) | Self::Lines => limits.code,
            Self::Windows(_) => limits.log,
            Self::Headings(_) | Self::Results(_) | Self::Hunks(_) | Self::Paragraphs => limits.prose,
        }
    }
}

/// Why a file was not read as what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// Larger than [`Limits::syntax_bytes`].
    TooLarge,
    /// The caller asked to stop, or the text needs far more steps than its size lets expect.
    TooSlow,
    /// No grammar for this language.
    NoGrammar,
    /// Nothing of what was expected stands in it: no key, no result, no hunk.
    NothingFound,
}

impl Fallback {
    /// The reason as one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooLarge => "too_large",
            Self::TooSlow => "too_slow",
            Self::NoGrammar => "no_grammar",
            Self::NothingFound => "nothing_found",
        }
    }
}

/// A place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Offsets; always at the boundaries of characters.
    pub bytes: Range<usize>,
    /// The first line, counted from 1.
    pub first_line: usize,
    /// The last line, which belongs to it.
    pub last_line: usize,
}

/// A heading of Markdown with the text up to the next heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// The titles of the enclosing headings and of this one; empty for what stands before the first.
    pub path: Vec<String>,
    /// 1 to 6; 0 for what stands before the first heading.
    pub level: u8,
    /// Heading and text.
    pub span: Span,
}

impl Heading {
    /// Its own title.
    pub fn title(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }
}

/// A piece of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Where it stands. Chunks begin and end with lines, except those of a line that is too long for one.
    pub span: Span,
    /// By the estimate of `strata_core::budget`.
    pub tokens: u32,
    /// What encloses it, outermost first: headings, names of symbols, the file of a diff. Of more than 16, the innermost.
    pub path: Vec<String>,
    /// The items that begin in it, as positions in what was found.
    pub begins: Range<usize>,
    /// The innermost item that began before it and reaches into it.
    pub within: Option<usize>,
}

impl Reading {
    fn new(
        language: Option<Language>,
        found: Found,
        fell_back: Option<Fallback>,
        lines: &Lines<'_>,
        marks: &Marks,
        limits: &Limits,
    ) -> Self {
        let pieces = pack::pack(lines, marks, found.limit(limits), limits.share);
        let chunks = chunks(lines, pieces, &found);
        Self { language, found, fell_back, chunks }
    }
}

/// The most names of a chunk's path: the innermost.
const DEEPEST_PATH: usize = 16;

/// Tells each piece which items it has.
fn chunks(lines: &Lines<'_>, pieces: Vec<Range<usize>>, found: &Found) -> Vec<Chunk> {
    let places = found.places();
    let mut open: Vec<usize> = Vec::new();
    let mut next = 0;
    let mut chunks = Vec::with_capacity(pieces.len());
    for bytes in pieces {
        // Items enclose one another or stand apart.
        while open.last().is_some_and(|i| places[*i].0.bytes.end <= bytes.start) {
            open.pop();
        }
        let within = open.last().copied();
        let first = next;
        let near = open.len().saturating_sub(DEEPEST_PATH);
        let names = open[near..].iter().map(|i| places[*i].1.to_owned()).filter(|n| !n.is_empty()).collect();
        while next < places.len() && places[next].0.bytes.start < bytes.end {
            while open.last().is_some_and(|i| places[*i].0.bytes.end <= places[next].0.bytes.start) {
                open.pop();
            }
            open.push(next);
            next += 1;
        }
        let path = path(found, within, first..next).unwrap_or(names);
        let tokens = strata_core::budget::estimate_tokens(&lines.text()[bytes.clone()]);
        chunks.push(Chunk { span: lines.span(bytes), tokens, path, begins: first..next, within });
    }
    chunks
}

/// Headings and hunks have a path of their own: a chunk stands under its heading, in its file.
fn path(found: &Found, within: Option<usize>, begins: Range<usize>) -> Option<Vec<String>> {
    let last = begins.clone().next_back().or(within);
    match found {
        Found::Headings(all) => Some(last.map_or_else(Vec::new, |i| all[i].path.clone())),
        Found::Hunks(all) => Some(last.map_or_else(Vec::new, |i| {
            std::iter::once(all[i].file.clone()).chain(all[i].symbol.clone()).collect()
        })),
        _ => None,
    }
}
