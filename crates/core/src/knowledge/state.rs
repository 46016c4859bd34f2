//! Statements in knowledge that are still open, or were and are not.
//!
//! Knowledge should say how things are. A line that says what is to be done belongs to the todos, one that says what
//! was done is to be rewritten as what holds now, and one with a written reason stays.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::digest::line_token;
use crate::{
    markdown::sections,
    route::{Router, reading::covers},
    vocabulary::{Sense, Vocabulary},
};

/// What a person should do about a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// It is open: make a todo of it.
    MoveToTodo,
    /// It tells that something was resolved: say what holds now.
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
    /// The first open marker of the line; without one, the first resolved one.
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

impl Finding {
    /// Whether the line says that something is open, whatever else it says.
    pub fn says_open(&self) -> bool {
        self.resolved_marker.as_ref() != Some(&self.marker)
    }
}

const HEADING_CHARS: usize = 60;
const PREVIEW_CHARS: usize = 80;

/// Finds the lines of a file that say that something is open or was, one finding for each line. Code and comments are
/// not read, nor lines that give the reason why others stay.
pub fn scan(text: &str, router: &Router, vocabulary: &Vocabulary) -> Vec<Finding> {
    let mut parts = parts(text);
    let marked = marked(text, router);
    let told = marked.into_iter().filter(|line| keep_reason(&text[line.span.clone()], vocabulary).is_none());
    let found = told.map(|line| {
        let part = parts.partition_point(|part| part.span.start <= line.span.start).checked_sub(1);
        let part = part.and_then(|at| parts.get_mut(at));
        let (heading, keep_reason) = part.map(|part| part.read(text, vocabulary)).unwrap_or_default();
        finding(text[line.span.clone()].trim(), &line, heading, keep_reason)
    });
    found.collect()
}

/// A line with markers: the first of either sort.
struct Marked<'a> {
    span: Range<usize>,
    number: usize,
    open: Option<&'a str>,
    resolved: Option<&'a str>,
}

fn marked<'a>(text: &str, router: &'a Router) -> Vec<Marked<'a>> {
    let comments = comments(text);
    let mut lines: Vec<Marked<'a>> = Vec::new();
    let (mut start, mut number) = (0, 1);
    for hit in router.hits(text).into_iter().filter(|hit| !covers(&comments, hit.span.start)) {
        if !matches!(hit.sense, Sense::Open | Sense::Resolved) {
            continue;
        }
        if lines.last().is_none_or(|line| hit.span.start >= line.span.end) {
            let span = line_at(text, hit.span.start);
            number += text[start..span.start].matches('\n').count();
            start = span.start;
            lines.push(Marked { span, number, open: None, resolved: None });
        }
        if let Some(line) = lines.last_mut() {
            let first = if hit.sense == Sense::Open { &mut line.open } else { &mut line.resolved };
            first.get_or_insert(hit.marker);
        }
    }
    lines
}

fn finding(written: &str, line: &Marked<'_>, heading: String, keep_reason: Option<String>) -> Finding {
    let marker = line.open.or(line.resolved).unwrap_or_default().to_owned();
    let resolved_marker = line.resolved.map(str::to_owned);
    let action = match (&keep_reason, &resolved_marker) {
        (Some(_), _) => Action::KeepWithReason,
        (None, Some(_)) => Action::RewriteAsCurrentRule,
        (None, None) => Action::MoveToTodo,
    };
    let (preview, line_token) = (first(written, PREVIEW_CHARS), line_token(written));
    Finding { line: line.number, marker, resolved_marker, heading, preview, line_token, keep_reason, action }
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
    /// The reason why its markers stay, once it was looked for.
    keep_reason: Option<Option<String>>,
}

impl Part {
    fn read(&mut self, text: &str, vocabulary: &Vocabulary) -> (String, Option<String>) {
        let span = self.span.clone();
        let reason = self.keep_reason.get_or_insert_with(|| keep_reason(&text[span], vocabulary));
        (first(&self.heading, HEADING_CHARS), reason.clone())
    }
}

fn parts(text: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for section in sections(text) {
        match parts.last_mut() {
            Some(last) if section.level > 3 => last.span.end = section.body.end,
            _ => {
                let (heading, span) = (section.title().to_owned(), section.span());
                parts.push(Part { heading, span, keep_reason: None });
            }
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
    fn open_resolved_and_kept_lines_are_told_apart() {
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
    fn what_was_resolved_is_told_without_an_open_marker_too() {
        let text = "## Login\n\nThe login bug has been fixed in 3.2.\n登录缺陷已修复。\nログインは修正済み\n로그인 수정됨\nThe window size is fixed at 64.\n\n## Kept\n\nKeep reason: what was resolved is shown\nThe quota was resolved in May.\n";
        let found = scan(text, built_in(), Vocabulary::built_in());
        let rewrite = found.iter().filter(|f| f.action == Action::RewriteAsCurrentRule).map(|f| f.line);
        assert_eq!(rewrite.collect::<Vec<_>>(), [3, 4, 5, 6]);
        let kept: Vec<_> = found.iter().filter(|f| f.action == Action::KeepWithReason).collect();
        assert_eq!((kept.len(), kept[0].line), (1, 12), "the reason itself is none: {kept:?}");
        assert_eq!((found[0].marker.as_str(), found[0].says_open()), ("has been fixed", false));
        assert!(scan("TODO was resolved\n", built_in(), Vocabulary::built_in())[0].says_open());
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
