//! Signatures and documentation as text.

use std::ops::Range;

/// The most characters of a signature.
const SIGNATURE: usize = 240;
/// The most bytes of documentation that are kept with a symbol; the chunk has all of it.
const DOC: usize = 4000;

/// The text between `from` and `to` on one line, without the `left_out` ranges, which are in order.
pub(super) fn signature(text: &str, range: Range<usize>, left_out: &[Range<usize>]) -> String {
    let mut line = String::new();
    let mut from = range.start;
    let ends = left_out.iter().map(|r| (r.start, r.end)).chain([(range.end, range.end)]);
    for (to, next) in ends {
        // What is left out may reach beyond the end: in a broken text a body can begin before its head is over.
        let part = text.get(from..to.min(range.end).max(from)).unwrap_or("");
        for word in part.split_whitespace() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
            if line.len() > SIGNATURE * 4 {
                return shortened(&line);
            }
        }
        from = next.max(from);
    }
    let line = ["=>", " end"].into_iter().find_map(|end| line.strip_suffix(end)).unwrap_or(&line);
    shortened(line.trim_end_matches(['{', ':', ';', '=', ' ', ',']))
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(SIGNATURE) {
        Some((end, _)) => format!("{}\u{2026}", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

/// The text of comments without their marks, line by line; `None` when there are no words.
pub(super) fn doc(comments: &[&str]) -> Option<String> {
    let mut text = String::new();
    for line in comments.iter().flat_map(|comment| comment.lines()) {
        let line = without_marks(line);
        if !(text.is_empty() && line.trim().is_empty()) {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        if text.len() > DOC {
            break;
        }
    }
    text.truncate(text.floor_char_boundary(DOC));
    text.truncate(text.trim_end().len());
    text.contains(char::is_alphanumeric).then_some(text)
}

/// A line of a comment without what makes it one, and without the space after that.
fn without_marks(line: &str) -> &str {
    let line = line.trim();
    let line = line.strip_suffix("*/").unwrap_or(line).trim_end();
    for mark in ["/**", "/*!", "/*", "///", "//!", "//", "=begin", "=end"] {
        if let Some(rest) = line.strip_prefix(mark) {
            return rest.strip_prefix(' ').unwrap_or(rest);
        }
    }
    let rest = line.trim_start_matches('#');
    let rest = if rest.len() == line.len() { line.strip_prefix('*').unwrap_or(line) } else { rest };
    rest.strip_prefix(' ').unwrap_or(rest)
}

/// A literal text without its quotes, lines without their common indentation.
pub(super) fn unquoted(literal: &str) -> Option<String> {
    let inner = literal.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|q| inner.starts_with(q))?;
    let inner = inner.strip_prefix(quote)?;
    let inner = inner.strip_suffix(quote).unwrap_or(inner);
    let lines: Vec<&str> = inner.lines().map(str::trim).collect();
    let mut text = lines.join("\n").trim().to_owned();
    text.truncate(text.floor_char_boundary(DOC));
    text.contains(char::is_alphanumeric).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_may_reach_beyond_the_end() {
        let past_the_end = 2..9;
        assert_eq!(signature("fn a() {}", 0..4, &[past_the_end]), "fn");
        assert_eq!(signature("fn a() {}", 0..2, &[3..9, 4..9]), "fn");
    }

    #[test]
    fn signatures_are_one_line() {
        let text = "@a fn  x(\n  a: u8,\n) {";
        assert_eq!(signature(text, 0..text.len(), &[0..2, 1..2]), "fn x( a: u8, )");
        assert_eq!(signature(text, 0..3, &[0..1, 1..2]), "");
        let long = "word ".repeat(300);
        assert_eq!(signature(&long, 0..long.len(), &[]).chars().count(), 240);
    }

    #[test]
    fn docs_lose_their_marks() {
        assert_eq!(doc(&["/// One", "///  two\n", "//"]).as_deref(), Some("One\n two"));
        assert_eq!(doc(&["/**\n * One.\n *\n * - two\n */"]).as_deref(), Some("One.\n\n- two"));
        assert_eq!(doc(&["## One", "#"]).as_deref(), Some("One"));
        assert_eq!(doc(&["// ----"]), None);
        assert_eq!(unquoted("r\"\"\"One.\n\n    Two.\n    \"\"\"").as_deref(), Some("One.\n\nTwo."));
        assert_eq!(unquoted("''"), None);
    }
}
