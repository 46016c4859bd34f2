//! How much fits into a reply: JSON that is too long is not sent at all.

use serde::Serialize;
use strata_core::{principal::Face, redact::redact};

use crate::{error::Error, operation::Call};

/// Characters of JSON that the texts of one reply may have together. With what stands around them they stay below
/// what a server sends.
pub(super) const REPLY: usize = 25_000;

/// Characters that the items of a list may have together in a reply of nothing else. Such a reply is sent without line
/// breaks when it has no room for them.
pub(super) const LIST: usize = 30_000;

/// Keeps as many items of such a list, from the first, as are sent. A terminal has room for all.
pub(super) fn keep_sendable<T: Serialize>(call: &Call<'_>, items: &mut Vec<T>) {
    if !has_room(call, items) {
        let mut left = LIST;
        let fit = items.iter().take_while(|item| {
            let fits = left.checked_sub(length(item));
            left = fits.unwrap_or(0);
            fits.is_some()
        });
        let count = fit.count();
        items.truncate(count);
    }
}

/// Whether all items of such a list are sent.
pub(super) fn has_room<T: Serialize>(call: &Call<'_>, items: &[T]) -> bool {
    call.face == Face::Cli || items.iter().map(length).sum::<usize>() <= LIST
}

fn length<T: Serialize>(item: &T) -> usize {
    serde_json::to_string(item).map_or(0, |json| json.chars().count() + 1)
}

/// The whole lines at the beginning of a text that are sent, and how many are not. A terminal has room for all.
pub(super) fn sendable_lines<'a>(call: &Call<'_>, text: &'a str) -> (&'a str, usize) {
    let kept = if call.face == Face::Cli { text } else { fitting(text, REPLY) };
    if kept.len() == text.len() {
        return (text, 0);
    }
    let end = kept.rfind('\n').map_or(0, |at| at + 1);
    (&text[..end], text[end..].lines().count())
}

/// Characters of a text as JSON.
pub(super) fn cost(text: &str) -> usize {
    text.chars().map(escaped).sum()
}

/// The beginning of a text that costs no more than `most`.
pub(super) fn fitting(text: &str, most: usize) -> &str {
    let mut left = most;
    let end = text.char_indices().find(|(_, c)| {
        let fits = left.checked_sub(escaped(*c));
        left = fits.unwrap_or(0);
        fits.is_none()
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

/// A part of a text that may be longer than a reply: whole lines, unless one line alone is longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Page<'t> {
    /// Where it begins, in bytes.
    pub(super) offset: usize,
    /// Its text.
    pub(super) text: &'t str,
    /// Where the next one begins; none after the last.
    pub(super) next: Option<usize>,
}

impl<'t> Page<'t> {
    /// The page of a text that begins so many bytes into it, or with the character that stands there.
    pub(super) fn of(text: &'t str, offset: Option<u32>) -> Self {
        let offset = text.floor_char_boundary(offset.unwrap_or(0) as usize);
        let rest = &text[offset..];
        let most = fitting(rest, REPLY);
        let lines = most.rfind('\n').map_or(0, |at| at + 1);
        let page = if most.len() < rest.len() && lines > most.len() / 2 { &most[..lines] } else { most };
        let next = offset + page.len();
        Self { offset, text: page, next: (next < text.len()).then_some(next) }
    }
}

/// What a caller asked for, as a reply repeats it: without secrets, and no longer than leaves room for the answer.
pub(super) fn echo(text: &str) -> String {
    fitting(&redact(text).text, ECHO).to_owned()
}

/// Refuses a question that is longer than anybody reads.
pub(super) fn check_question(field: &str, text: &str) -> Result<(), Error> {
    if text.len() > MAX_QUESTION {
        return Err(Error::TooLarge { field: field.to_owned(), size: text.len(), limit: MAX_QUESTION });
    }
    Ok(())
}

/// Bytes of a question.
const MAX_QUESTION: usize = 16 << 10;
/// Characters of JSON that a question may cost where it is repeated.
const ECHO: usize = 2_000;

/// The names that cost no more than `most` together, and how many are left.
pub(super) fn fitting_names(names: &[String], most: usize) -> (&[String], usize) {
    let mut left = most;
    let fit = names.iter().take_while(|name| {
        let fits = left.checked_sub(cost(name) + FRAME);
        left = fits.unwrap_or(0);
        fits.is_some()
    });
    let count = fit.count();
    (&names[..count], names.len() - count)
}

/// Keeps as many items, from the first, as cost no more than `most` together.
pub(super) fn keep_fitting<T: Serialize>(items: &mut Vec<T>, most: usize) {
    let mut left = most;
    let fit = items.iter().take_while(|item| {
        let json = serde_json::to_string_pretty(item).unwrap_or_default();
        let indented = json.chars().count() + json.lines().count() * INDENTATION;
        let fits = left.checked_sub(indented);
        left = fits.unwrap_or(0);
        fits.is_some()
    });
    let count = fit.count();
    items.truncate(count);
}

/// Spaces before the lines of an item, and what ends it.
const INDENTATION: usize = 8;

/// What stands around a name: quotes, indentation, a number.
const FRAME: usize = 24;

const fn escaped(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        '\0'..='\u{1f}' => 6,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use strata_core::{
        cancel::Cancel,
        principal::{Principal, PrincipalKind},
        scope::Scope,
        time::Timestamp,
    };

    use super::*;

    #[test]
    fn pages_cover_the_text_and_end_with_a_line() {
        let text = "字 of a line\n".repeat(9_000) + &"长".repeat(40_000);
        let (mut at, mut pages) = (Some(0), 0);
        let mut read = String::new();
        while let Some(offset) = at {
            let page = Page::of(&text, u32::try_from(offset).ok());
            assert!(!page.text.is_empty() && cost(page.text) <= REPLY);
            assert_eq!(page.offset, offset);
            read.push_str(page.text);
            (at, pages) = (page.next, pages + 1);
        }
        assert!((6..9).contains(&pages), "{pages}");
        assert!(read == text && Page::of(&text, None).text.ends_with('\n'));
        // Inside a character, and behind the end.
        assert_eq!(Page::of("字a", Some(2)), Page { offset: 0, text: "字a", next: None });
        assert_eq!(Page::of("字a", Some(99)), Page { offset: 4, text: "", next: None });
    }

    #[test]
    fn a_reply_holds_what_is_sent_and_a_terminal_everything() {
        let (principal, scope) = (Principal::new(PrincipalKind::Agent, "a"), Scope::user());
        let cancel = Cancel::default();
        let call = |face| Call {
            principal: &principal,
            scope: &scope,
            face,
            deadline: Timestamp::MAX,
            cancel: &cancel,
            progress: &|_, _| {},
            secret: None,
        };
        let mut items = vec!["x".repeat(LIST / 10); 12];
        keep_sendable(&call(Face::Cli), &mut items);
        assert_eq!(items.len(), 12);
        keep_sendable(&call(Face::Mcp), &mut items);
        assert_eq!(items.len(), 9, "quotes and commas count");
        let lines = "line\n".repeat(REPLY);
        let (sent, rest) = sendable_lines(&call(Face::Mcp), &lines);
        assert!(sent.ends_with("line\n") && cost(sent) <= REPLY);
        assert_eq!(sent.lines().count() + rest, REPLY);
        assert_eq!(sendable_lines(&call(Face::Cli), &lines), (lines.as_str(), 0));
        assert_eq!(sendable_lines(&call(Face::Mcp), "short"), ("short", 0));
    }

    #[test]
    fn costs_are_those_of_json() {
        for text in ["plain 文字", "a \"quoted\"\n\\ line\t\u{1}", ""] {
            let json = serde_json::to_string(text).expect("JSON");
            assert_eq!(cost(text) + 2, json.chars().count(), "{text:?}");
        }
        assert_eq!(fitting("文\n字", 3), "文\n");
        assert_eq!(fitting("文\n字", 2), "文");
        assert_eq!(fitting("ab", 99), "ab");
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(fitting_names(&names, 2 * (FRAME + 1)), (&names[..2], 1));
        let mut items = names.to_vec();
        keep_fitting(&mut items, 2 * (3 + INDENTATION));
        assert_eq!(items, names[..2]);
    }
}
