//! YAML, by its indentation.

use super::{FoundKey, Path, plain};
use crate::lines::Lines;

/// A key or an item of a list that is open.
struct Open {
    indent: usize,
    /// The position of a list's item; `None` for a key.
    item: Option<usize>,
    /// The position of a key that is kept.
    key: Option<usize>,
}

/// What the following lines belong to whatever they look like.
enum Inside {
    Nothing,
    /// A block of text, while the lines are indented deeper.
    Block(usize),
    /// A text in quotes, until the quote.
    Quotes(char),
    /// Brackets, until as many are closed.
    Brackets(i64),
}

pub(super) fn scan(lines: &Lines<'_>) -> Vec<FoundKey> {
    let mut scan =
        Scan { found: Vec::new(), open: Vec::new(), path: Path::default(), inside: Inside::Nothing, end: 0 };
    for (number, line) in lines.iter().enumerate() {
        let bare = line.trim_start_matches([' ', '\t']);
        let indent = line.len() - bare.len();
        let start = lines.start(number);
        let is_text = scan.is_inside(line, indent);
        if !is_text && !bare.trim_end().is_empty() && !bare.starts_with('#') {
            scan.line(bare.trim_end(), indent, start + indent);
        }
        if !bare.trim_end().is_empty() && (is_text || !bare.starts_with('#')) {
            scan.end = start + line.trim_end().len();
        }
    }
    scan.close_from(0);
    scan.found
}

struct Scan {
    found: Vec<FoundKey>,
    open: Vec<Open>,
    path: Path,
    inside: Inside,
    /// Where the last line with something on it ends.
    end: usize,
}

impl Scan {
    /// Whether a line belongs to a value that began before.
    fn is_inside(&mut self, line: &str, indent: usize) -> bool {
        let ends = match &mut self.inside {
            Inside::Nothing => return false,
            Inside::Block(outer) => {
                if line.trim().is_empty() || indent > *outer {
                    return true;
                }
                self.inside = Inside::Nothing;
                return false;
            }
            Inside::Quotes(quote) => line.contains(*quote),
            Inside::Brackets(depth) => {
                *depth += brackets(line);
                *depth <= 0
            }
        };
        if ends {
            self.inside = Inside::Nothing;
        }
        true
    }

    fn line(&mut self, bare: &str, indent: usize, at: usize) {
        if indent == 0
            && (bare == "---" || bare == "..." || bare.starts_with("--- ") || bare.starts_with('%'))
        {
            self.close_from(0);
            return;
        }
        let (mut bare, mut indent, mut at) = (bare, indent, at);
        // `- - key: 1` opens a list for each dash.
        let mut dashes = 0;
        while (bare == "-" || bare.starts_with("- ")) && dashes < 64 {
            self.close(indent, true);
            self.item(indent);
            let rest = bare[1..].trim_start();
            let width = bare.len() - rest.len();
            (bare, indent, at) = (rest, indent + width, at + width);
            dashes += 1;
        }
        match key(bare) {
            Some((name, value)) => {
                self.close(indent, false);
                self.key(name, indent, at..at + bare.len());
                self.value(value, indent);
            }
            None => self.value(bare, indent.saturating_sub(1)),
        }
    }

    /// Ends what a line with this indentation does not belong to.
    fn close(&mut self, indent: usize, is_item: bool) {
        let belongs = |open: &Open| match open.item {
            Some(_) => open.indent < indent || (is_item && open.indent == indent),
            // A list may stand as far left as its key.
            None => open.indent < indent || (is_item && open.indent == indent),
        };
        let keep = self.open.iter().rposition(belongs).map_or(0, |i| i + 1);
        self.close_from(keep);
    }

    fn close_from(&mut self, keep: usize) {
        while self.open.len() > keep {
            let Some(last) = self.open.pop() else { break };
            if let Some(key) = last.key {
                let bytes = &mut self.found[key].bytes;
                bytes.end = bytes.end.max(self.end);
            }
            self.path.pop();
        }
    }

    fn item(&mut self, indent: usize) {
        let mut index = 0;
        if let Some(last) = self.open.last()
            && let Some(before) = last.item
            && last.indent == indent
        {
            index = before + 1;
            self.close_from(self.open.len() - 1);
        }
        self.path.push(|| format!("[{index}]"));
        self.open.push(Open { indent, item: Some(index), key: None });
    }

    fn key(&mut self, name: &str, indent: usize, bytes: std::ops::Range<usize>) {
        let depth = self.path.depth;
        self.path.push(|| plain(name));
        let key = self.path.joined().map(|path| {
            self.found.push(FoundKey { path, depth, is_table: false, bytes });
            self.found.len() - 1
        });
        self.open.push(Open { indent, item: None, key });
    }

    /// Sees whether a value goes on in the next lines.
    fn value(&mut self, value: &str, indent: usize) {
        // Anchors and tags may stand before it.
        let mut value = value.trim();
        while value.starts_with(['&', '!']) {
            value = value.split_once(' ').map_or("", |(_, rest)| rest.trim_start());
        }
        let first = value.chars().next();
        self.inside = match first {
            Some('|' | '>') => Inside::Block(indent),
            Some(quote @ ('"' | '\'')) if !value[1..].contains(quote) => Inside::Quotes(quote),
            Some('{' | '[') if brackets(value) > 0 => Inside::Brackets(brackets(value)),
            _ => Inside::Nothing,
        };
    }
}

/// Name and value of a line `name: value`.
fn key(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("? ").unwrap_or(line);
    let from = match line.chars().next()? {
        quote @ ('"' | '\'') => line[1..].find(quote)? + 2,
        '{' | '[' | '#' | '|' | '>' | '&' | '*' | '!' => return None,
        _ => 0,
    };
    let colon = line[from..]
        .match_indices(':')
        .map(|(at, _)| from + at)
        .find(|at| line[at + 1..].chars().next().is_none_or(char::is_whitespace))?;
    let name = &line[..colon];
    let is_comment = name.contains(" #");
    (!name.trim().is_empty() && !is_comment && name.len() <= 1024).then_some((name, &line[colon + 1..]))
}

fn brackets(line: &str) -> i64 {
    let (mut depth, mut quote) = (0, None);
    for c in line.chars() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            _ => {}
        }
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<(String, usize, usize)> {
        let lines = Lines::new(text);
        let place =
            |key: FoundKey| (key.path, lines.at(key.bytes.start) + 1, lines.at(key.bytes.end - 1) + 1);
        scan(&lines).into_iter().map(place).collect()
    }

    #[test]
    fn keys_have_paths_and_lines() {
        let text = "# about\nname: x # note\non:\n  push: {branches: [main,\n    next]}\njobs:\n- id: a\n  run: |\n    key: in text\n\n    # more\n  url: http://x:80\n- id: b\n\"q r\": 'a\n  b: c'\nend: >-\n text\n";
        let expected = [
            ("name", 2, 2),
            ("on", 3, 5),
            ("on.push", 4, 5),
            ("jobs", 6, 13),
            ("jobs[0].id", 7, 7),
            ("jobs[0].run", 8, 11),
            ("jobs[0].url", 12, 12),
            ("jobs[1].id", 13, 13),
            ("q r", 14, 15),
            ("end", 16, 17),
        ];
        assert_eq!(keys(text), expected.map(|(path, from, to)| (path.to_owned(), from, to)));
    }

    #[test]
    fn documents_begin_anew_and_faults_pass() {
        let paths = |text| keys(text).into_iter().map(|(path, _, _)| path).collect::<Vec<_>>();
        assert_eq!(paths("a:\n  b: 1\n---\nb: 2\n"), ["a", "a.b", "b"]);
        assert_eq!(paths("a: [1\nb: 2"), ["a"], "an open bracket takes the rest");
        assert_eq!(paths("just words\n: x\n- y\n"), [""; 0]);
        assert_eq!(paths("a:\n - - b: 1\n   - c: 2\n"), ["a", "a[0][0].b", "a[0][1].c"]);
    }
}
