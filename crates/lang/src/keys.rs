//! JSON, YAML and TOML by their keys.
//!
//! They are scanned, not parsed: a file with a fault keeps the keys before and after it.

mod json;
mod toml;
mod yaml;

use std::ops::Range;

pub(crate) use json::strings;

use crate::{
    Fallback, Found, Span,
    lines::Lines,
    pack::{LAST, Marks},
};

/// A key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The keys from the outermost, joined by dots; items of lists by their position, as in `jobs[0].name`.
    pub path: String,
    /// How many keys and lists enclose it.
    pub depth: usize,
    /// Key and value.
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Yaml,
    Toml,
}

/// Keys that nest deeper are part of the value above them.
const DEEPEST: usize = 12;

pub(crate) fn read(format: Format, lines: &Lines<'_>) -> (Found, Marks, Option<Fallback>) {
    let found = match format {
        Format::Json => json::scan(lines.text()),
        Format::Yaml => yaml::scan(lines),
        Format::Toml => toml::scan(lines),
    };
    let mut marks = Marks::plain(lines);
    for key in &found {
        mark(&mut marks, lines, key);
    }
    if found.is_empty() {
        return (Found::Lines, marks, Some(Fallback::NothingFound));
    }
    let keys =
        found.into_iter().map(|key| Key { path: key.path, depth: key.depth, span: lines.span(key.bytes) });
    (Found::Keys(keys.collect()), marks, None)
}

/// A key as a scanner finds it.
struct FoundKey {
    path: String,
    depth: usize,
    /// A table with a header of its own, which is an item at whatever depth.
    is_table: bool,
    bytes: Range<usize>,
}

/// A key that begins a line is a place for a cut, before the comments above it.
fn mark(marks: &mut Marks, lines: &Lines<'_>, key: &FoundKey) {
    let line = lines.at(key.bytes.start);
    let before = &lines.text()[lines.start(line)..key.bytes.start];
    let level = u8::try_from(key.depth + 1).unwrap_or(LAST);
    if !before.trim_matches(|c: char| c.is_whitespace() || c == '-').is_empty() || marks.level[line] <= level
    {
        return;
    }
    let is_comment = |line: usize| {
        let bare = lines.line(line).trim_start();
        bare.starts_with('#') || bare.starts_with("//")
    };
    let mut first = line;
    while first > 0 && is_comment(first - 1) && !marks.begins[first - 1] {
        marks.level[first] = LAST;
        first -= 1;
    }
    marks.level[first] = level;
    marks.begins[first] = key.depth == 0 || key.is_table;
}

/// The keys that enclose a place.
#[derive(Default)]
struct Path {
    parts: Vec<String>,
    depth: usize,
}

impl Path {
    fn push(&mut self, part: impl FnOnce() -> String) {
        self.depth += 1;
        if self.depth <= DEEPEST {
            self.parts.push(part());
        }
    }

    fn pop(&mut self) {
        if self.depth <= DEEPEST {
            self.parts.pop();
        }
        self.depth = self.depth.saturating_sub(1);
    }

    /// The path of the innermost key; `None` when it is too deep.
    fn joined(&self) -> Option<String> {
        if self.depth > DEEPEST {
            return None;
        }
        let mut joined = String::new();
        for part in &self.parts {
            if !joined.is_empty() && !part.starts_with('[') {
                joined.push('.');
            }
            joined.push_str(part);
        }
        Some(joined)
    }
}

/// A key without its quotes, at most 200 bytes of it.
fn plain(key: &str) -> String {
    let key = key.trim();
    let bare = ['"', '\''].into_iter().find_map(|q| key.strip_prefix(q)?.strip_suffix(q)).unwrap_or(key);
    bare[..bare.floor_char_boundary(200)].to_owned()
}

#[cfg(test)]
mod tests {
    use crate::{Limits, read};

    #[test]
    fn tables_are_apart_and_comments_stand_with_their_key() {
        let keys = "x = [1, 2, 3, 4, 5, 6]\n".repeat(5);
        let text = &format!("[a]\n{keys}\n# about b\n# and more\n[a.b]\ny = 2\n");
        let limits = Limits { share: 8, ..Limits::default() };
        let reading = read("a.toml", text, &limits, &|| false);
        let lines: Vec<_> = reading.chunks.iter().map(|c| (c.span.first_line, c.span.last_line)).collect();
        assert_eq!(lines, [(1, 7), (8, 11)]);
        assert_eq!(reading.chunks[1].path, ["a"]);
    }
}
