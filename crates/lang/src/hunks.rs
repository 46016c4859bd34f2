//! Diffs by their hunks.

use std::ops::Range;

use crate::{Fallback, Found, Span, lines::Lines, pack::Marks};

/// A hunk of a diff; or a file of it that has none, because it was only renamed or is not text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The file after the change, or before it when it was deleted.
    pub file: String,
    /// The file before the change, when its name was another.
    pub old_file: Option<String>,
    /// The line with `@@`; empty without a hunk.
    pub header: String,
    /// The name of what encloses the hunk, as its header tells.
    pub symbol: Option<String>,
    /// The lines that it takes away and adds, in their order.
    pub changes: Vec<Change>,
    /// The hunk; of the first in a file, with the lines about the file.
    pub span: Span,
}

/// A line that was added or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Added, or removed.
    pub is_added: bool,
    /// Its line in the file after the change when it was added, else in the file before.
    pub line: usize,
    /// Where its text stands in the diff, without the mark and the line break.
    pub bytes: Range<usize>,
}

pub(crate) fn read(lines: &Lines<'_>) -> (Found, Marks, Option<Fallback>) {
    let mut scan = Scan { lines, hunks: Vec::new(), file: None, hunk: None };
    for (number, line) in lines.iter().enumerate() {
        scan.line(number, line.trim_end_matches(['\n', '\r']));
    }
    scan.end_file(lines.count());
    let mut marks = Marks::plain(lines);
    for hunk in &scan.hunks {
        marks.force(hunk.span.first_line - 1);
    }
    if scan.hunks.is_empty() {
        return (Found::Lines, marks, Some(Fallback::NothingFound));
    }
    (Found::Hunks(scan.hunks), marks, None)
}

/// A file of the diff while its lines are read.
#[derive(Default)]
struct File {
    first: usize,
    old: Option<String>,
    new: Option<String>,
    has_hunks: bool,
}

struct Open {
    first: usize,
    header: String,
    /// The next line in the old and in the new file.
    at: (usize, usize),
    /// How many lines of each are still to come.
    left: (usize, usize),
    changes: Vec<Change>,
}

struct Scan<'a, 't> {
    lines: &'a Lines<'t>,
    hunks: Vec<Hunk>,
    file: Option<File>,
    hunk: Option<Open>,
}

impl Scan<'_, '_> {
    fn line(&mut self, number: usize, line: &str) {
        if self.takes(number, line) {
            return;
        }
        if let Some(hunk) = open(number, line) {
            self.end_hunk(number);
            self.file.get_or_insert_with(|| File { first: number, ..File::default() });
            self.hunk = Some(hunk);
        } else if let Some(names) = line.strip_prefix("diff ") {
            self.end_file(number);
            let (old, new) = names_of(names);
            self.file = Some(File { first: number, old, new, has_hunks: false });
        } else if let Some(name) = line.strip_prefix("--- ") {
            self.name(number, name, true);
        } else if let Some(name) = line.strip_prefix("+++ ") {
            self.name(number, name, false);
        } else if let Some(name) = line.strip_prefix("rename from ") {
            self.file.iter_mut().for_each(|file| file.old = Some(name.to_owned()));
        } else if let Some(name) = line.strip_prefix("rename to ") {
            self.file.iter_mut().for_each(|file| file.new = Some(name.to_owned()));
        }
    }

    /// Whether a line belongs to the hunk that is open.
    fn takes(&mut self, number: usize, line: &str) -> bool {
        let Some(hunk) = &mut self.hunk else { return false };
        let (old_left, new_left) = hunk.left;
        let start = self.lines.start(number);
        let mut change = |is_added, line_number| {
            let bytes = start + 1..start + line.len();
            hunk.changes.push(Change { is_added, line: line_number, bytes });
        };
        match line.as_bytes().first() {
            Some(b'+') if new_left > 0 => {
                change(true, hunk.at.1);
                hunk.at.1 += 1;
                hunk.left.1 -= 1;
            }
            Some(b'-') if old_left > 0 => {
                change(false, hunk.at.0);
                hunk.at.0 += 1;
                hunk.left.0 -= 1;
            }
            Some(b' ') | None if old_left > 0 && new_left > 0 => {
                hunk.at = (hunk.at.0 + 1, hunk.at.1 + 1);
                hunk.left = (old_left - 1, new_left - 1);
            }
            Some(b'\\') => {}
            _ => return false,
        }
        true
    }

    /// A line `--- name` or `+++ name`.
    fn name(&mut self, number: usize, name: &str, is_old: bool) {
        let begins = is_old && self.file.as_ref().is_none_or(|file| file.has_hunks || self.hunk.is_some());
        if begins {
            self.end_file(number);
            self.file = Some(File { first: number, ..File::default() });
        }
        let Some(file) = &mut self.file else { return };
        let name = plain(name);
        let place = if is_old { &mut file.old } else { &mut file.new };
        if name.as_deref() != Some("/dev/null") {
            *place = name;
        } else {
            *place = None;
        }
    }

    fn end_hunk(&mut self, end: usize) {
        let Some(open) = self.hunk.take() else { return };
        let Some(file) = &mut self.file else { return };
        let first = if file.has_hunks { open.first } else { file.first };
        file.has_hunks = true;
        let symbol = symbol(&open.header);
        let (name, old_file) = names(file);
        let span = self.lines.span_of(first..end);
        let (header, changes) = (open.header, open.changes);
        self.hunks.push(Hunk { file: name, old_file, header, symbol, changes, span });
    }

    fn end_file(&mut self, end: usize) {
        self.end_hunk(end);
        let Some(file) = self.file.take() else { return };
        if !file.has_hunks && end > file.first {
            let (name, old_file) = names(&file);
            let (header, symbol, changes) = (String::new(), None, Vec::new());
            let span = self.lines.span_of(file.first..end);
            self.hunks.push(Hunk { file: name, old_file, header, symbol, changes, span });
        }
    }
}

/// The name to show, and the old one when it differs.
fn names(file: &File) -> (String, Option<String>) {
    let name = file.new.clone().or_else(|| file.old.clone()).unwrap_or_default();
    let old = file.old.clone().filter(|old| *old != name);
    (name, old)
}

/// A header `@@ -1,2 +3,4 @@ text`.
fn open(first: usize, line: &str) -> Option<Open> {
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| -> Option<(usize, usize)> {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    let (old, new) = (range(old)?, range(new)?);
    let (at, left) = ((old.0, new.0), (old.1, new.1));
    Some(Open { first, header: line.to_owned(), at, left, changes: Vec::new() })
}

/// The names in `--git a/old b/new`, which have no quotes and no space.
fn names_of(rest: &str) -> (Option<String>, Option<String>) {
    let Some(rest) = rest.strip_prefix("--git ") else { return (None, None) };
    match rest.split_once(" b/") {
        Some((old, new)) => (plain(old), Some(new.to_owned())),
        None => (None, None),
    }
}

/// A name without `a/` or `b/`, quotes and a time behind it.
fn plain(name: &str) -> Option<String> {
    let name = name.split('\t').next().unwrap_or(name).trim_end().trim_matches('"');
    let name = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name);
    (!name.is_empty()).then(|| name.to_owned())
}

/// The name in what a header says behind the second `@@`: the word before the first parenthesis, or the last name before a
/// brace, a colon or the end.
fn symbol(header: &str) -> Option<String> {
    let text = header.get(2..)?.split_once("@@")?.1.trim();
    let is_name = |c: char| c.is_alphanumeric() || "_:$?!".contains(c);
    let text = &without_parameters(text);
    let before = text.split(['(', '{', '=', ';']).next().unwrap_or(text).trim_end();
    // `func (q *Queue) Push(item)` has its receiver first.
    let before = match text.strip_prefix("func (").and_then(|rest| rest.split_once(") ")) {
        Some((_, rest)) => rest.split('(').next().unwrap_or(rest).trim_end(),
        None => before,
    };
    let name = before.trim_end_matches([':', ' ']).rsplit(|c: char| !is_name(c)).next()?;
    let name = name.trim_matches(':');
    name.contains(char::is_alphabetic).then(|| name.to_owned())
}

/// Without what stands in angle brackets.
fn without_parameters(text: &str) -> String {
    let mut depth = 0_usize;
    let keep = |c: &char| {
        let before = depth;
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before == 0 && depth == 0 && *c != '>'
    };
    text.chars().filter(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, read as read_file};

    const DIFF: &str = "diff --git a/src/retry.py b/src/retry.py\nindex 1..2 100644\n--- a/src/retry.py\n+++ b/src/retry.py\n@@ -1,3 +1,3 @@\n import time\n-LIMIT = 3\n+LIMIT = 5\n \n@@ -20,3 +20,4 @@ def backoff(attempt):\n     x\n+    return 2 ** attempt\n     y\n     z\ndiff --git a/old.rs b/new.rs\nsimilarity index 90%\nrename from old.rs\nrename to new.rs\n--- a/old.rs\n+++ b/new.rs\n@@ -5 +5,0 @@ impl Queue {\n--- a line that looks like a name\ndiff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n";

    #[test]
    fn one_chunk_for_each_hunk_in_its_file() {
        let reading = read_file("change.patch", DIFF, &Limits::default(), &|| false);
        let Found::Hunks(hunks) = &reading.found else { panic!("{:?}", reading.found) };
        let told: Vec<_> = hunks
            .iter()
            .map(|h| {
                (h.file.as_str(), h.symbol.as_deref(), h.changes.len(), h.span.first_line, h.span.last_line)
            })
            .collect();
        let expected = [
            ("src/retry.py", None, 2, 1, 9),
            ("src/retry.py", Some("backoff"), 1, 10, 14),
            ("new.rs", Some("Queue"), 1, 15, 22),
            ("x.png", None, 0, 23, 24),
        ];
        assert_eq!(told, expected);
        assert_eq!(hunks[2].old_file.as_deref(), Some("old.rs"));
        assert_eq!(reading.chunks.len(), 4);
        assert_eq!(reading.chunks[1].path, ["src/retry.py", "backoff"]);
        let change = &hunks[1].changes[0];
        assert!(change.is_added && change.line == 21);
        assert_eq!(&DIFF[change.bytes.clone()], "    return 2 ** attempt");
    }

    #[test]
    fn names_in_headers() {
        for (header, name) in [
            ("@@ -1 +1 @@ fn run(&self) -> u8 {", Some("run")),
            ("@@ -1 +1 @@ func (q *Queue) Push(item int) {", Some("Push")),
            ("@@ -1 +1 @@ class Retry(Base):", Some("Retry")),
            ("@@ -1 +1 @@ void Queue::push(int x)", Some("Queue::push")),
            ("@@ -1 +1 @@ impl<T> Queue<T> {", Some("Queue")),
            ("@@ -1 +1 @@", None),
            ("@@ -1 +1 @@ }", None),
        ] {
            assert_eq!(symbol(header).as_deref(), name, "{header}");
        }
    }

    #[test]
    fn a_deleted_file_keeps_its_name_and_no_diff_is_told() {
        let text = "--- a/gone.c\t2026-01-01\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-int x;\n";
        let reading = read_file("x.diff", text, &Limits::default(), &|| false);
        let Found::Hunks(hunks) = &reading.found else { panic!("{:?}", reading.found) };
        assert_eq!(hunks[0].file, "gone.c");
        let reading = read_file("x.diff", "nothing\n", &Limits::default(), &|| false);
        assert_eq!(reading.fell_back, Some(Fallback::NothingFound));
    }
}
