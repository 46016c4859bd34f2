//! Finding the markers that a text uses, as opposed to those it only names.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};

use super::{Decision, Item, Route, score, structure::Structure};
use crate::vocabulary::{Sense, Vocabulary};

/// Decides where items belong. Made once from a vocabulary.
#[derive(Debug, Clone)]
pub struct Router {
    automaton: Option<AhoCorasick>,
    markers: Vec<(String, Vec<Sense>)>,
    names_after: Vec<String>,
    names_before: Vec<String>,
}

/// As much of an item is read: a longer one is no item but a file.
const READ_BYTES: usize = 64 << 10;
/// So much around a marker decides whether it is a name or a part of an identifier.
const AROUND_BYTES: usize = 128;

/// A marker that a text uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit<'r> {
    pub(crate) marker: &'r str,
    pub(crate) sense: Sense,
    pub(crate) span: Range<usize>,
}

impl Router {
    /// Makes a router over these markers.
    pub fn new(vocabulary: &Vocabulary) -> Self {
        let markers: Vec<(String, Vec<Sense>)> = vocabulary.markers.clone().into_iter().collect();
        let texts = markers.iter().map(|(text, _)| text.to_ascii_lowercase());
        // Fails only beyond the size limits of an automaton, which no vocabulary that fits a file reaches.
        let automaton = AhoCorasickBuilder::new().match_kind(MatchKind::Standard).build(texts).ok();
        Self {
            automaton,
            markers,
            names_after: vocabulary.names_after.clone(),
            names_before: vocabulary.names_before.clone(),
        }
    }

    /// Decides where an item belongs, by its first 64 KiB. The same item always gets the same decision.
    pub fn classify(&self, item: &Item<'_>) -> Decision {
        let content = start_of(item.content, READ_BYTES);
        let section =
            item.section.map(|heading| self.hits(start_of(heading, READ_BYTES))).unwrap_or_default();
        score::decide(item, &self.hits(content), &section, &Structure::of(content))
    }

    /// The markers that `text` uses, in its order: of markers of one sense inside each other the longest.
    pub(crate) fn hits(&self, text: &str) -> Vec<Hit<'_>> {
        let Some(automaton) = &self.automaton else { return Vec::new() };
        let flat = Flat::of(text);
        let code = code_spans(text);
        let mut found: Vec<Hit<'_>> = Vec::new();
        for hit in automaton.find_overlapping_iter(&flat.text) {
            let (marker, senses) = &self.markers[hit.pattern().as_usize()];
            let span = flat.original(hit.start())..flat.original(hit.end());
            if covers(&code, span.start) || !is_used(text, marker, &span) {
                continue;
            }
            let is_name = self.is_name(text, marker, &span);
            // Before the name of a thing an action is one: "stop app".
            let is_action = |sense: &Sense| matches!(sense, Sense::Tells(Route::Skill) | Sense::Sequence);
            let senses = senses.iter().filter(|sense| !is_name || is_action(sense));
            found.extend(senses.map(|sense| Hit { marker, sense: *sense, span: span.clone() }));
        }
        found.sort_by_key(|hit| (hit.span.start, std::cmp::Reverse(hit.span.end)));
        without_inner(found)
    }

    /// Whether the words around the marker make it the name of a thing, or say that it is spoken of.
    fn is_name(&self, text: &str, marker: &str, span: &Range<usize>) -> bool {
        let after = text[span.end..].trim_start_matches(' ');
        let begins = |noun: &String| {
            let head = after.get(..noun.len());
            let same = head.is_some_and(|head| head.eq_ignore_ascii_case(noun));
            same && !(noun.is_ascii() && after[noun.len()..].starts_with(|c: char| c.is_alphanumeric()))
        };
        let before = end_of(&text[..span.start], AROUND_BYTES).trim_end().to_ascii_lowercase();
        let ends = |word: &String| {
            let rest = before.strip_suffix(word.as_str());
            rest.is_some_and(|rest| !word.is_ascii() || !rest.ends_with(|c: char| c.is_alphanumeric()))
        };
        // A phrase of several English words is no name.
        let is_phrase = marker.is_ascii() && marker.contains(' ');
        !is_phrase && (self.names_after.iter().any(begins) || self.names_before.iter().any(ends))
    }
}

/// Whether the marker stands here as words of a sentence: not inside another word, an identifier or quotes.
fn is_used(text: &str, marker: &str, span: &Range<usize>) -> bool {
    let is_capital = marker.chars().any(|c| c.is_ascii_uppercase()) && marker.to_ascii_uppercase() == marker;
    if is_capital && &text[span.clone()] != marker {
        return false;
    }
    if marker.is_ascii() && (!is_word(text, span) || is_identifier(text, span)) {
        return false;
    }
    let is_inside = is_korean_word(marker) && is_hangul(text[..span.start].chars().next_back());
    !is_inside && !is_quoted(text, span)
}

/// A first word of one syllable stands alone in Korean (`이 세션` is not in `모듈이 세션을`); the particle `에` does not.
fn is_korean_word(marker: &str) -> bool {
    let first = marker.split(' ').next().unwrap_or(marker);
    first != marker && first != "에" && first.chars().count() == 1 && is_hangul(first.chars().next())
}

fn is_hangul(c: Option<char>) -> bool {
    c.is_some_and(|c| ('가'..='힣').contains(&c))
}

/// Whether one of the ranges, which are in order and apart, holds `at`.
pub(crate) fn covers(ranges: &[Range<usize>], at: usize) -> bool {
    let next = ranges.partition_point(|range| range.start <= at);
    next.checked_sub(1).is_some_and(|i| ranges[i].contains(&at))
}

fn start_of(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

fn end_of(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

/// Drops hits inside a longer hit of the same sense.
fn without_inner(found: Vec<Hit<'_>>) -> Vec<Hit<'_>> {
    let mut kept: Vec<Hit<'_>> = Vec::new();
    for hit in found {
        let inner = |other: &Hit<'_>| other.sense == hit.sense && other.span.end >= hit.span.end;
        if !kept.iter().rev().take(16).any(inner) {
            kept.push(hit);
        }
    }
    kept
}

/// A text in ASCII lower case with single spaces, and where its bytes stood.
struct Flat {
    text: String,
    offsets: Vec<usize>,
}

impl Flat {
    fn of(text: &str) -> Self {
        let mut flat =
            Self { text: String::with_capacity(text.len()), offsets: Vec::with_capacity(text.len() + 1) };
        for (at, c) in text.char_indices() {
            let space = c.is_whitespace();
            if space && flat.text.ends_with(' ') {
                continue;
            }
            let c = match c {
                '’' => '\'',
                _ if space => ' ',
                c => c.to_ascii_lowercase(),
            };
            flat.text.push(c);
            flat.offsets.resize(flat.text.len(), at);
        }
        flat.offsets.push(text.len());
        flat
    }

    fn original(&self, at: usize) -> usize {
        self.offsets.get(at).copied().unwrap_or_default()
    }
}

fn is_word(text: &str, span: &Range<usize>) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    let inner = &text[span.clone()];
    let open = !inner.starts_with(|c: char| c.is_ascii_alphanumeric());
    let shut = !inner.ends_with(|c: char| c.is_ascii_alphanumeric());
    (open || !part(text[..span.start].chars().next_back()))
        && (shut || !part(text[span.end..].chars().next()))
}

/// Whether the run of characters around the marker is a path, a file name, a package or the like: `todo-store`, `todo.md`,
/// `@pending/ui`, `app::todo`. A lone slash between words is none: `stdout/stderr`.
fn is_identifier(text: &str, span: &Range<usize>) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || "_./:\\@#$~-".contains(c);
    let (left, right) =
        (end_of(&text[..span.start], AROUND_BYTES), start_of(&text[span.end..], AROUND_BYTES));
    let start = span.start - (left.len() - left.trim_end_matches(part).len());
    let end = span.end + (right.len() - right.trim_start_matches(part).len());
    let run = text[start..end].trim_start_matches("//").trim_end_matches(['.', ':', '-', '/']);
    let bare = run.trim_start_matches(['.', ':', '-', '#', '@']);
    if bare.len() <= span.len() {
        return run.starts_with("./") || run.starts_with('/');
    }
    let dotted =
        bare.as_bytes().windows(3).any(|w| w[1] == b'.' && w[0] != b'.' && w[2].is_ascii_alphanumeric());
    let hyphened = text[..span.start].ends_with('-') && start + 1 < span.start
        || text[span.end..end]
            .strip_prefix('-')
            .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('-'));
    let marked = ["_", "::", "\\", "~", "$"].iter().any(|mark| bare.contains(mark));
    marked || dotted || hyphened || run.starts_with(['/', '@']) || bare.matches('/').count() >= 2
}

/// Whether quotes stand directly around the marker.
fn is_quoted(text: &str, span: &Range<usize>) -> bool {
    let (before, after) = (text[..span.start].chars().next_back(), text[span.end..].chars().next());
    let pairs = [
        ('"', '"'),
        ('\'', '\''),
        ('“', '”'),
        ('‘', '’'),
        ('「', '」'),
        ('『', '』'),
        ('《', '》'),
        ('«', '»'),
    ];
    before.zip(after).is_some_and(|pair| pairs.contains(&pair))
}

/// Fenced code, and code within a line.
pub(crate) fn code_spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut fence: Option<usize> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_fence = ["```", "~~~"].iter().any(|mark| line.trim_start().starts_with(mark));
        match fence {
            Some(start) if is_fence => {
                spans.push(start..at + line.len());
                fence = None;
            }
            None if is_fence => fence = Some(at),
            None => inline_code(line, at, &mut spans),
            Some(_) => {}
        }
        at += line.len();
    }
    spans.extend(fence.map(|start| start..text.len()));
    spans
}

fn inline_code(line: &str, at: usize, spans: &mut Vec<Range<usize>>) {
    let mut ticks = line.match_indices('`').map(|(offset, _)| at + offset);
    while let (Some(open), Some(close)) = (ticks.next(), ticks.next()) {
        spans.push(open..close + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::built_in;

    fn todos(text: &str) -> Vec<&str> {
        let hits = built_in().hits(text);
        hits.into_iter().filter(|hit| hit.sense == Sense::Tells(Route::Todo)).map(|hit| hit.marker).collect()
    }

    #[test]
    fn names_of_products_and_things_are_no_markers() {
        for text in [
            "todo_store is a module",
            "see todo.md",
            "crates/TODO/src",
            "@pending/ui",
            "the TODO list shows ten rows",
            "app::TODO",
            "TODO-123",
            "a state called PENDING",
            "the word \"TODO\" is bold",
            "run `TODO` as it is",
            "```\n# TODO: x\n```",
            "TodoMVC and Todoist",
            "the TODO app",
            "there is no TODO",
            "待办列表在首页",
            "「待办」是菜单名",
            "할 일 목록은 사이드바에 있다",
            "やることリストは右側にある",
            "https://x.example/TODO/1",
        ] {
            assert_eq!(todos(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn markers_in_use_are_found_with_their_place() {
        for (text, expected) in [
            ("TODO: wire it", vec!["todo:"]),
            ("TODO(ann): wire it", vec!["TODO"]),
            ("// TODO/FIXME here", vec!["TODO", "FIXME"]),
            ("next\n   steps", vec!["next steps"]),
            ("Don’t forget to call", vec!["don't forget to"]),
            ("pending, not PENDING.", vec!["PENDING"]),
            ("这里待确认", vec!["待确认"]),
        ] {
            assert_eq!(todos(text), expected, "{text}");
        }
        let hits = built_in().hits("长 next\t step");
        assert_eq!(hits[0].span, 4..14);
    }

    #[test]
    fn an_action_before_a_thing_is_no_name_and_a_korean_word_begins_somewhere() {
        let has = |text: &str, sense: Sense| built_in().hits(text).iter().any(|hit| hit.sense == sense);
        assert!(has("stop app", Sense::Tells(Route::Skill)));
        assert!(!has("인증 모듈이 세션을 관리한다", Sense::Tells(Route::Ephemeral)));
        assert!(has("이 세션에서만", Sense::Tells(Route::Ephemeral)));
    }

    #[test]
    fn two_streams_with_a_slash_are_words() {
        let hits = built_in().hits("stdout/stderr were empty");
        let ephemeral = hits.iter().filter(|hit| hit.sense == Sense::Tells(Route::Ephemeral)).count();
        assert_eq!(ephemeral, 2);
    }
}
