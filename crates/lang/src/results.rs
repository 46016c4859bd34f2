//! Reports of tests: what each test came to.

mod cargo;
mod go;
mod junit;
mod pytest;
mod tap;

use std::{collections::HashMap, ops::Range};

use crate::{Fallback, Found, Language, Span, lines::Lines, pack::Marks};

/// What one test came to, as a report tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestResult {
    /// As the report names it, with the class or file that the report puts before it.
    pub name: String,
    /// What it came to.
    pub outcome: Outcome,
    /// The first line of what it says for itself.
    pub message: Option<String>,
    /// File and line, as in `src/lib.rs:10`, where the report tells them.
    pub location: Option<String>,
    /// The part of the report that says most about it.
    pub span: Span,
}

/// What a test came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// As it should be.
    Passed,
    /// It found a fault.
    Failed,
    /// It could not be run to its end.
    Error,
    /// It was not run, or its failing is expected.
    Skipped,
}

impl Outcome {
    /// As one word in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Skipped => "skipped",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    JUnit,
    Pytest,
    Cargo,
    Go,
    GoJson,
    Tap,
}

/// Tells whether a text is a report of a format.
type IsReport = fn(&str) -> bool;

/// The formats that have no file name of their own, in the order in which they are tried.
const WAYS: &[(IsReport, Format)] = &[
    (go::is_json, Format::GoJson),
    (pytest::is_report, Format::Pytest),
    (cargo::is_report, Format::Cargo),
    (go::is_report, Format::Go),
    (tap::is_report, Format::Tap),
];

/// The format of a report, by what stands near its beginning or its end.
pub(crate) fn sniff(text: &str, language: Language) -> Option<Format> {
    let head = &text[..text.floor_char_boundary(16 << 10)];
    let tail = &text[text.floor_char_boundary(text.len().saturating_sub(4 << 10))..];
    match language {
        Language::Xml => (head.contains("<testsuite") || head.contains("<testcase")).then_some(Format::JUnit),
        Language::Tap => Some(Format::Tap),
        Language::Json => go::is_json(head).then_some(Format::GoJson),
        Language::Text | Language::Log | Language::Unknown => {
            WAYS.iter().find(|(is, _)| is(head) || is(tail)).map(|(_, format)| *format)
        }
        _ => None,
    }
}

pub(crate) fn read(format: Format, lines: &Lines<'_>) -> (Found, Marks, Option<Fallback>) {
    let mut told = match format {
        Format::JUnit => junit::scan(lines),
        Format::Pytest => merged(pytest::scan(lines)),
        Format::Cargo => merged(cargo::scan(lines)),
        Format::Go => go::scan(lines),
        Format::GoJson => go::scan_json(lines),
        Format::Tap => tap::scan(lines),
    };
    let mut marks = Marks::plain(lines);
    for one in &told {
        marks.force(lines.at(one.bytes.start));
        let end = lines.at(one.bytes.end);
        if lines.start(end) == one.bytes.end {
            marks.force(end);
        }
    }
    if told.is_empty() {
        return (Found::Lines, marks, Some(Fallback::NothingFound));
    }
    told.sort_by_key(|one| one.bytes.start);
    let results = told.into_iter().map(|one| TestResult {
        name: one.name,
        outcome: one.outcome,
        message: one.message,
        location: one.location,
        span: lines.span(one.bytes),
    });
    (Found::Results(results.collect()), marks, None)
}

/// What a place of a report tells about a test.
#[derive(Debug, Clone)]
struct Told {
    name: String,
    outcome: Outcome,
    message: Option<String>,
    location: Option<String>,
    bytes: Range<usize>,
    /// How much it tells: of several places the one that tells most is kept.
    rank: u8,
}

impl Told {
    fn new(name: &str, outcome: Outcome, bytes: Range<usize>, rank: u8) -> Self {
        Self { name: short(name), outcome, message: None, location: None, bytes, rank }
    }
}

/// One for each test: the place that tells most, with what only others tell.
fn merged(told: Vec<Told>) -> Vec<Told> {
    let mut by_name: HashMap<String, usize> = HashMap::new();
    let mut kept: Vec<Told> = Vec::new();
    for one in told {
        match by_name.get(&key(&one.name)) {
            Some(at) => kept[*at].learn(one),
            None => {
                by_name.insert(key(&one.name), kept.len());
                kept.push(one);
            }
        }
    }
    kept
}

impl Told {
    fn learn(&mut self, other: Self) {
        let (mut more, less) =
            if other.rank > self.rank { (other, self.clone()) } else { (self.clone(), other) };
        // The longer name is the one with its file.
        if less.name.len() > more.name.len() {
            more.name = less.name;
        }
        more.message = more.message.or(less.message);
        more.location = more.location.or(less.location);
        *self = more;
    }
}

/// `tests/a.py::TestA::test_b`, `TestA.test_b`: the same without the file.
fn key(name: &str) -> String {
    let name = match name.split_once("::") {
        Some((file, rest)) if file.contains(['.', '/']) => rest,
        _ => name,
    };
    name.replace("::", ".")
}

/// One line of at most 300 bytes.
fn short(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or("").trim();
    line[..line.floor_char_boundary(300)].to_owned()
}

fn message(text: &str) -> Option<String> {
    Some(short(text)).filter(|message| !message.is_empty())
}

/// A word as in `src/lib.rs:10:5`, or `file.py:3:`, as `file:line`.
fn location(text: &str) -> Option<String> {
    let word = |word: &str| {
        let word = word.trim_matches(|c: char| "()[]'\",;".contains(c)).trim_end_matches(':');
        let mut parts = word.split(':');
        let file = parts.next().filter(|file| file.contains('.') && file.contains(char::is_alphabetic))?;
        let line =
            parts.next().filter(|line| !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit()))?;
        Some(format!("{file}:{line}"))
    };
    text.split_whitespace().find_map(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Reading, read as read_file};

    /// Name, outcome, message, location, lines.
    type Row = (String, &'static str, String, String, (usize, usize));

    pub(super) fn told(reading: &Reading) -> Vec<Row> {
        let Found::Results(results) = &reading.found else { panic!("{:?}", reading.found) };
        results
            .iter()
            .map(|r| {
                let text = |part: &Option<String>| part.clone().unwrap_or_default();
                let lines = (r.span.first_line, r.span.last_line);
                (r.name.clone(), r.outcome.as_str(), text(&r.message), text(&r.location), lines)
            })
            .collect()
    }

    pub(super) fn report(path: &str, text: &str) -> Reading {
        let reading = read_file(path, text, &Limits::default(), &|| false);
        let whole: String = reading.chunks.iter().map(|c| &text[c.span.bytes.clone()]).collect();
        assert_eq!(whole, text);
        reading
    }

    pub(super) fn row(
        name: &str,
        outcome: &'static str,
        message: &str,
        location: &str,
        lines: (usize, usize),
    ) -> Row {
        (name.to_owned(), outcome, message.to_owned(), location.to_owned(), lines)
    }

    #[test]
    fn locations_are_file_and_line() {
        assert_eq!(location("thread 'a' at src/lib.rs:10:5:").as_deref(), Some("src/lib.rs:10"));
        assert_eq!(location("tests/a.py:3: AssertionError").as_deref(), Some("tests/a.py:3"));
        assert_eq!(location("at 10:30:00 no 1.2:x"), None);
    }
}
