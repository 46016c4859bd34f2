//! How much fits into a reply: JSON that is too long is not sent at all.

use serde::Serialize;
use strata_core::redact::redact;

use crate::error::Error;

/// Characters of JSON that the texts of one reply may have together. With what stands around them they stay below
/// what a server sends.
pub(super) const REPLY: usize = 25_000;

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

/// Whether all items fit into one reply.
pub(super) fn fits<T: Serialize>(items: &[T]) -> bool {
    serde_json::to_string_pretty(items).is_ok_and(|json| json.chars().count() <= REPLY)
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
    use super::*;

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
