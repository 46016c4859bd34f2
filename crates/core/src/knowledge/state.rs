//! Statements in knowledge that are still open, or were and are not.
//!
//! Knowledge should say how things are. A line that says what is to be done belongs to the todos, one that says what
//! was done is to be rewritten as what holds now, and one with a written reason stays.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::digest::line_token;
use crate::{
    markdown::sections,
    route::Router,
    vocabulary::{Sense, Vocabulary},
};

/// What a person should do about a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// It is open: make a todo of it.
    MoveToTodo,
    /// It was open and is resolved: say what holds now.
    RewriteAsCurrentRule,
    /// Its section says why it stays.
    KeepWithReason,
}

impl Action {
    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MoveToTodo => "move_to_todo",
            Self::RewriteAsCurrentRule => "rewrite_as_current_rule",
            Self::KeepWithReason => "keep_with_reason",
        }
    }
}

/// A line with a marker of state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The line, counted from 1.
    pub line: usize,
    /// The first open marker of the line.
    pub marker: String,
    /// The first resolved marker of the line.
    pub resolved_marker: Option<String>,
    /// The heading (level 1 to 3) it stands under, at most 60 characters; empty before the first.
    pub heading: String,
    /// The line, at most 80 characters.
    pub preview: String,
    /// The token by which [`find_line`] finds it again.
    pub line_token: String,
    /// The reason why the section's markers stay.
    pub keep_reason: Option<String>,
    /// What to do.
    pub action: Action,
}

const HEADING_CHARS: usize = 60;
const PREVIEW_CHARS: usize = 80;

/// Finds the lines of a file that say that something is open, one finding for each line. Code and comments are not read.
pub fn scan(text: &str, router: &Router, vocabulary: &Vocabulary) -> Vec<Finding> {
    let parts = parts(text);
    let comments = comments(text);
    let mut hits = router.hits(text);
    hits.retain(|hit| !comments.iter().any(|comment| comment.contains(&hit.span.start)));
    let mut findings: Vec<Finding> = Vec::new();
    for hit in hits.iter().filter(|hit| hit.sense == Sense::Open) {
        let line = line_at(text, hit.span.start);
        let number = 1 + text[..line.start].matches('\n').count();
        if findings.last().is_some_and(|last| last.line == number) {
            continue;
        }
        let resolved = hits.iter().find(|h| h.sense == Sense::Resolved && line.contains(&h.span.start));
        let part = parts.iter().rev().find(|part| part.span.start <= line.start);
        let keep_reason = part.and_then(|part| keep_reason(&text[part.span.clone()], vocabulary));
        let action = match (&keep_reason, resolved) {
            (Some(_), _) => Action::KeepWithReason,
            (None, Some(_)) => Action::RewriteAsCurrentRule,
            (None, None) => Action::MoveToTodo,
        };
        let written = text[line].trim();
        findings.push(Finding {
            line: number,
            marker: hit.marker.to_owned(),
            resolved_marker: resolved.map(|hit| hit.marker.to_owned()),
            heading: part.map_or_else(String::new, |part| first(&part.heading, HEADING_CHARS)),
            preview: first(written, PREVIEW_CHARS),
            line_token: line_token(written),
            keep_reason,
            action,
        });
    }
    findings
}

/// Finds a line again: at its old number, or wherever else exactly one line has the token. Numbers count from 1.
pub fn find_line(text: &str, number: usize, token: &str) -> Option<usize> {
    let is_it = |line: &str| line_token(line) == token;
    if number.checked_sub(1).and_then(|at| text.lines().nth(at)).is_some_and(is_it) {
        return Some(number);
    }
    let mut found = text.lines().enumerate().filter(|(_, line)| is_it(line)).map(|(at, _)| at + 1);
    let only = found.next()?;
    found.next().is_none().then_some(only)
}

/// A stretch under one heading of level 1 to 3.
struct Part {
    heading: String,
    span: Range<usize>,
}

fn parts(text: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for section in sections(text) {
        match parts.last_mut() {
            Some(last) if section.level > 3 => last.span.end = section.body.end,
            _ => parts.push(Part { heading: section.title().to_owned(), span: section.span() }),
        }
    }
    parts
}

fn comments(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("<!--").map(|at| from + at) {
        let end = text[start..].find("-->").map_or(text.len(), |at| start + at + 3);
        found.push(start..end);
        from = end;
    }
    found
}

fn line_at(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |before| before + 1);
    start..text[at..].find('\n').map_or(text.len(), |after| at + after)
}

/// The reason of a line `label: reason`, which may be a list item or bold.
fn keep_reason(part: &str, vocabulary: &Vocabulary) -> Option<String> {
    let marks: &[char] = &['-', '*', '+', '_', ' ', '\t'];
    part.lines().find_map(|line| {
        let line = line.trim_start_matches(marks);
        let after = vocabulary.keep_reasons.iter().find_map(|label| {
            let head = line.get(..label.len())?;
            head.eq_ignore_ascii_case(label).then(|| line[label.len()..].trim_start_matches(marks))
        })?;
        let reason = after.strip_prefix([':', '：'])?.trim_matches(marks);
        (!reason.is_empty()).then(|| reason.to_owned())
    })
}

fn first(text: &str, max: usize) -> String {
    text.graphemes(true).take(max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::built_in;

    fn scanned(text: &str) -> Vec<(usize, String, Action)> {
        let found = scan(text, built_in(), Vocabulary::built_in());
        found.into_iter().map(|f| (f.line, f.marker, f.action)).collect()
    }

    #[test]
    fn layered_58_open_resolved_and_kept_lines_are_told_apart() {
        let text = "# infra\n\n## Pool\n\nTODO: raise the limit, PENDING too\nTODO was resolved in May\n\n```\nTODO: code\n```\n<!-- TODO:\nhidden -->\n\n## Keys\n- **Keep reason:** the audit wants it\n\n#### deep\nFIXME later\n\n## 端口\n灰度待确认\n网关尚未接入（已完成）\n";
        let expected = [
            (5, "TODO", Action::MoveToTodo),
            (6, "TODO", Action::RewriteAsCurrentRule),
            (18, "FIXME", Action::KeepWithReason),
            (21, "待确认", Action::MoveToTodo),
            (22, "尚未接入", Action::RewriteAsCurrentRule),
        ];
        assert_eq!(scanned(text), expected.map(|(line, marker, action)| (line, marker.to_owned(), action)));
        let found = scan(text, built_in(), Vocabulary::built_in());
        assert_eq!((found[0].heading.as_str(), found[2].heading.as_str()), ("Pool", "Keys"));
        assert_eq!(found[2].keep_reason.as_deref(), Some("the audit wants it"));
        assert_eq!(found[4].resolved_marker.as_deref(), Some("已完成"));
        assert_eq!(found[0].line_token, line_token("TODO: raise the limit, PENDING too"));
    }

    #[test]
    fn names_are_no_states_in_any_language() {
        assert_eq!(
            scanned("The TODO list is blue, see `FIXME`.\n待办列表\n할 일 목록\n未対応リスト\ntodo_store\n"),
            []
        );
        assert_eq!(scanned("要確認：鍵\n확인 필요: 키\n").len(), 2);
    }

    #[test]
    fn a_line_is_found_again_after_it_moved() {
        let token = line_token("TODO: x");
        assert_eq!(find_line("a\n  TODO: x\n", 2, &token), Some(2));
        assert_eq!(find_line("TODO: x\na\nb\n", 3, &token), Some(1));
        assert_eq!(find_line("TODO: x\nTODO: x\n", 9, &token), None, "two lines");
        assert_eq!(find_line("TODO: y\n", 0, &token), None);
    }
}
