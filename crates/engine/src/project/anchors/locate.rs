//! Where in a text something pinned stands: pure, no file is opened here.

use std::ops::RangeInclusive;

use strata_lang::{Found, Limits};

use super::Target;
use crate::vcs;

/// Hexadecimal digits of a fingerprint.
const DIGITS: usize = 16;
/// Lines of a text that is searched for pinned lines that moved.
const MAX_LINES: usize = 20_000;
/// Bytes that are hashed at most in that search.
const MAX_HASHED: usize = 32 << 20;

/// What of a text is pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Its lines, counted from 1.
    pub(super) lines: RangeInclusive<usize>,
    /// Its fingerprint.
    pub(super) span: String,
}

/// The fingerprint of lines: what stands at their ends does not count.
fn fingerprint(lines: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for line in lines {
        hasher.update(line.trim_end().as_bytes()).update(b"\n");
    }
    hasher.finalize().to_hex()[..DIGITS].to_owned()
}

/// Finds a target in a text; `None` when there is nothing like it.
pub(super) fn find(path: &str, text: &str, target: &Target) -> Option<Place> {
    let lines: Vec<&str> = text.lines().collect();
    let place = |range: RangeInclusive<usize>| {
        let (first, last) = (range.start().checked_sub(1)?, *range.end());
        Some(Place { span: fingerprint(lines.get(first..last)?), lines: range })
    };
    match target {
        Target::File => Some(Place { lines: 1..=lines.len().max(1), span: fingerprint(&lines) }),
        Target::Lines(range) => place(range.clone()),
        Target::Symbol(name) => place(symbol(path, text, name)?),
    }
}

/// The lines of a symbol: by its name, or its name with what encloses it, in the language's own way of writing it or with
/// points. Of several of that name it is the first.
fn symbol(path: &str, text: &str, name: &str) -> Option<RangeInclusive<usize>> {
    let reading = strata_lang::read(path, text, &Limits::default(), &|| false);
    let wanted = name.replace("::", ".").replace('#', ".");
    let parts: Vec<&str> = wanted.split('.').filter(|part| !part.is_empty()).collect();
    let (own, scope) = parts.split_last()?;
    match reading.found {
        Found::Symbols(symbols) => symbols.into_iter().find_map(|symbol| {
            let encloses = symbol.scope.len() >= scope.len()
                && symbol.scope[symbol.scope.len() - scope.len()..]
                    .iter()
                    .zip(scope)
                    .all(|(a, b)| is_named(a, b));
            (symbol.name == *own && encloses).then_some(symbol.span.first_line..=symbol.span.last_line)
        }),
        Found::Headings(headings) => headings
            .into_iter()
            .find(|heading| heading.title() == name)
            .map(|heading| heading.span.first_line..=heading.span.last_line),
        Found::Keys(keys) => {
            keys.into_iter().find(|key| key.path == name).map(|key| key.span.first_line..=key.span.last_line)
        }
        _ => None,
    }
}

/// Whether what encloses a symbol goes by a name: an implementation goes by that of its type.
fn is_named(scope: &str, name: &str) -> bool {
    scope == name || scope.split_whitespace().next_back() == Some(name)
}

/// Where lines of this fingerprint stand now, nearest to where they stood.
pub(super) fn find_moved(text: &str, range: &RangeInclusive<usize>, span: &str) -> Option<Place> {
    let lines: Vec<&str> = text.lines().take(MAX_LINES).collect();
    let many = range.end().checked_sub(*range.start())? + 1;
    if many > lines.len() || many.saturating_mul(text.len()) > MAX_HASHED {
        return None;
    }
    let starts = 0..=lines.len() - many;
    let found = starts.filter(|&first| fingerprint(&lines[first..first + many]) == span);
    let first = found.min_by_key(|first| first.abs_diff(range.start() - 1))?;
    Some(Place { lines: first + 1..=first + many, span: span.to_owned() })
}

/// What became of lines between two versions of a text; `None` when none of them is left.
pub(super) fn follow(
    before: &[u8],
    after: &[u8],
    range: &RangeInclusive<usize>,
) -> Option<RangeInclusive<usize>> {
    let hunks = vcs::hunks(before, after);
    let moved = |line: usize, is_end: bool| -> usize {
        let mut shift = 0_i64;
        for hunk in &hunks {
            let (old, new) = (&hunk.before, &hunk.after);
            if (old.end as usize) <= line {
                shift += i64::from(new.end - new.start) - i64::from(old.end - old.start);
            } else if (old.start as usize) <= line {
                return if is_end { (new.end as usize).saturating_sub(1) } else { new.start as usize };
            }
        }
        usize::try_from(i64::try_from(line).unwrap_or(i64::MAX).saturating_add(shift)).unwrap_or(0)
    };
    let (first, last) = (range.start().checked_sub(1)?, range.end().checked_sub(1)?);
    let is_left = (first..=last).any(|line| {
        let gone = |h: &vcs::Hunk| {
            (h.before.start as usize..h.before.end as usize).contains(&line) && h.after.is_empty()
        };
        !hunks.iter().any(gone)
    });
    let (first, last) = (moved(first, false), moved(last, true));
    (is_left && first <= last).then_some(first + 1..=last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str =
        "use std::fmt;\n\n/// Retries.\nfn retry(times: u32) {\n    run(times);\n}\n\nfn other() {}\n";

    #[test]
    fn a_symbol_keeps_its_fingerprint_wherever_it_stands() {
        let target = Target::Symbol("retry".into());
        let place = find("a.rs", CODE, &target).expect("there");
        assert_eq!(place.lines, 3..=6);
        let moved = format!("// a new head\n\n{CODE}");
        let again = find("a.rs", &moved, &target).expect("there");
        assert_eq!((again.lines, again.span), (5..=8, place.span.clone()));
        let changed = CODE.replace("run(times)", "run(times + 1)");
        assert_ne!(find("a.rs", &changed, &target).expect("there").span, place.span);
        assert_eq!(find("a.rs", "fn other() {}\n", &target), None);
    }

    #[test]
    fn a_method_is_found_under_what_encloses_it() {
        let code = "struct A;\nimpl A {\n    fn go(&self) {}\n}\nstruct B;\nimpl B {\n    fn go(&self) {\n        a();\n    }\n}\n";
        let lines = |name: &str| find("a.rs", code, &Target::Symbol(name.into())).map(|place| place.lines);
        assert_eq!(lines("A::go"), Some(3..=3));
        assert_eq!(lines("B.go"), Some(7..=9));
        assert_eq!(lines("C::go"), None);
    }

    #[test]
    fn lines_are_found_where_they_moved_to_and_followed_where_they_changed() {
        let text: String = (1..=9).map(|n| format!("line {n}\n")).collect();
        let place = find("a.txt", &text, &Target::Lines(4..=5)).expect("there");
        let moved = format!("new\nnew\n{text}");
        assert_eq!(find_moved(&moved, &(4..=5), &place.span).map(|p| p.lines), Some(6..=7));
        let changed = moved.replace("line 5", "line five");
        assert_eq!(find_moved(&changed, &(4..=5), &place.span), None);
        assert_eq!(follow(text.as_bytes(), changed.as_bytes(), &(4..=5)), Some(6..=7));
        let without = moved.replace("line 4\nline 5\n", "");
        assert_eq!(follow(text.as_bytes(), without.as_bytes(), &(4..=5)), None);
    }
}
