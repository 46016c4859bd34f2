//! TOML, line by line.

use std::collections::HashMap;

use super::{DEEPEST, FoundKey, plain};
use crate::lines::Lines;

/// A table runs to the next header; a key to the end of its value.
pub(super) fn scan(lines: &Lines<'_>) -> Vec<FoundKey> {
    let mut scan = Scan { found: Vec::new(), table: Vec::new(), tables: Vec::new(), counts: HashMap::new() };
    let mut line = 0;
    while line < lines.count() {
        let start = lines.start(line);
        let bare = lines.line(line).trim_start();
        let at = start + lines.line(line).len() - bare.len();
        if bare.starts_with('[') {
            scan.header(bare, at);
            line += 1;
        } else if let Some((key, value)) = assignment(bare) {
            let last = value_end(lines, line, value);
            let end = at + lines.text()[at..lines.start(last + 1)].trim_end().len();
            scan.key(key, at..end);
            line = last + 1;
        } else {
            line += 1;
        }
    }
    scan.close(0);
    scan.found
}

struct Scan {
    found: Vec<FoundKey>,
    /// The path of the current table.
    table: Vec<String>,
    /// Tables that are open, by their position, with the length of their paths.
    tables: Vec<(usize, usize)>,
    /// How often each list of tables was named.
    counts: HashMap<String, usize>,
}

impl Scan {
    /// `[table]` or `[[list of tables]]`.
    fn header(&mut self, line: &str, at: usize) {
        let is_list = line.starts_with("[[");
        let inner = line.trim_start_matches('[');
        let Some(end) = inner.find(']') else { return };
        let mut parts = split(&inner[..end]);
        if parts.is_empty() || parts.len() > DEEPEST {
            return;
        }
        let name = parts.join(".");
        if is_list {
            let count = self.counts.entry(name).or_default();
            let last = parts.len() - 1;
            parts[last].push_str(&format!("[{count}]"));
            *count += 1;
        } else {
            self.place_in_lists(&mut parts);
        }
        let shared = self.tables.iter().rposition(|(table, length)| {
            *length < parts.len() && parts[..*length].join(".") == self.found[*table].path
        });
        self.close(shared.map_or(0, |i| i + 1));
        let path = parts.join(".");
        self.tables.push((self.found.len(), parts.len()));
        self.found.push(FoundKey {
            path,
            depth: self.tables.len() - 1,
            is_table: true,
            bytes: at..at + line.trim_end().len(),
        });
        self.table = parts;
    }

    /// A table below a list belongs to the list's last item.
    fn place_in_lists(&self, parts: &mut [String]) {
        for end in 1..parts.len() {
            let plain: Vec<&str> = parts[..end].iter().map(|p| p.split('[').next().unwrap_or(p)).collect();
            if let Some(count) = self.counts.get(&plain.join(".")) {
                let part = parts[end - 1].clone();
                parts[end - 1] = format!("{part}[{}]", count.saturating_sub(1));
            }
        }
    }

    fn key(&mut self, key: &str, bytes: std::ops::Range<usize>) {
        let mut parts = self.table.clone();
        parts.extend(split(key));
        if parts.len() > DEEPEST {
            return;
        }
        for (table, _) in &self.tables {
            self.found[*table].bytes.end = bytes.end;
        }
        self.found.push(FoundKey { path: parts.join("."), depth: self.tables.len(), is_table: false, bytes });
    }

    fn close(&mut self, keep: usize) {
        self.tables.truncate(keep);
    }
}

/// The parts of a dotted key; a dot in quotes is no separator.
fn split(key: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let (mut from, mut quote) = (0, None);
    for (at, c) in key.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, '.') => {
                parts.push(plain(&key[from..at]));
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(plain(&key[from..]));
    parts.retain(|part| !part.is_empty());
    parts
}

/// Key and value of a line `key = value`.
fn assignment(line: &str) -> Option<(&str, &str)> {
    if line.starts_with('#') {
        return None;
    }
    let mut quote = None;
    let equals = line.char_indices().find_map(|(at, c)| {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, '=') => return Some(at),
            _ => {}
        }
        None
    })?;
    let key = line[..equals].trim();
    let is_key = |c: char| c.is_alphanumeric() || "_-.\"' ".contains(c);
    let is_quoted = key.starts_with(['"', '\'']);
    (!key.is_empty() && (is_quoted || key.chars().all(is_key))).then_some((key, &line[equals + 1..]))
}

/// The last line of a value that begins in `line`: of a text in three quotes, a list or a table.
fn value_end(lines: &Lines<'_>, line: usize, value: &str) -> usize {
    let bare = value.trim_start();
    for quotes in ["\"\"\"", "'''"] {
        if let Some(rest) = bare.strip_prefix(quotes) {
            if rest.contains(quotes) {
                return line;
            }
            return (line + 1..lines.count()).find(|at| lines.line(*at).contains(quotes)).unwrap_or(line);
        }
    }
    let mut depth = brackets(bare);
    let mut last = line;
    while depth > 0 && last + 1 < lines.count() {
        let next = lines.line(last + 1);
        if next.starts_with('[') && next.trim_end().ends_with(']') && !next.contains(',') {
            break;
        }
        depth += brackets(next);
        last += 1;
    }
    last
}

/// Brackets opened less those closed, outside of quotes and comments.
fn brackets(line: &str) -> i64 {
    let (mut depth, mut quote) = (0, None);
    for c in line.chars() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, '#') => break,
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

    #[test]
    fn tables_and_keys_have_their_lines() {
        let text = "# top\nname = \"x\"\n\n[a.b]\nlist = [\n  1, # one\n  2,\n]\n\"q.r\" = 'v'\n\n[a.b.c]\nt = \"\"\"\n[no]\n\"\"\"\n[[bin]]\nn = 1\n[[bin]]\nn = 2\n[bin.sub]\nk = 3\n";
        let lines = Lines::new(text);
        let found: Vec<(String, usize, usize)> = scan(&lines)
            .into_iter()
            .map(|key| (key.path, lines.at(key.bytes.start) + 1, lines.at(key.bytes.end - 1) + 1))
            .collect();
        let expected = [
            ("name", 2, 2),
            ("a.b", 4, 14),
            ("a.b.list", 5, 8),
            ("a.b.q.r", 9, 9),
            ("a.b.c", 11, 14),
            ("a.b.c.t", 12, 14),
            ("bin[0]", 15, 16),
            ("bin[0].n", 16, 16),
            ("bin[1]", 17, 20),
            ("bin[1].n", 18, 18),
            ("bin[1].sub", 19, 20),
            ("bin[1].sub.k", 20, 20),
        ];
        assert_eq!(found, expected.map(|(path, from, to)| (path.to_owned(), from, to)));
    }

    #[test]
    fn a_fault_leaves_the_other_keys() {
        let text = "a = [1,\n[next]\nb = \n= 3\n[broken\nc = 4\n";
        let found: Vec<String> = scan(&Lines::new(text)).into_iter().map(|key| key.path).collect();
        assert_eq!(found, ["a", "next", "next.b", "next.c"]);
    }
}
