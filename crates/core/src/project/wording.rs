//! The words of titles and the parts of paths, as memories of a project are compared by them.

use std::collections::{BTreeMap, BTreeSet};

use super::{paths::names, words::Words};
use crate::analysis::content_terms;

/// The words that a text is about: no function words, inflections taken off, Chinese, Japanese and Korean by pairs.
pub fn words(text: &str) -> BTreeSet<String> {
    content_terms(text).into_iter().collect()
}

/// What says that one thing comes after another.
const IN_ORDER: [&str; 11] = [
    "then",
    "before",
    "after",
    "afterwards",
    "first",
    "last",
    "finally",
    "next",
    "until",
    "followed by",
    "once",
];
const IN_ORDER_EAST_ASIAN: [&str; 22] = [
    "然后",
    "然後",
    "再",
    "之后",
    "之後",
    "之前",
    "最后",
    "最後",
    "首先",
    "先",
    "接着",
    "前に",
    "後に",
    "てから",
    "その後",
    "次に",
    "まず",
    "다음",
    "먼저",
    "후에",
    "전에",
    "그리고",
];

/// Whether two texts tell the same things in another order, where an order is told: checked, then sent; and sent, then checked.
pub fn is_another_order(a: &str, b: &str) -> bool {
    let is_told = |text: &str| {
        Words::of(text).has_any(&IN_ORDER) || IN_ORDER_EAST_ASIAN.iter().any(|word| text.contains(word))
    };
    if !is_told(a) && !is_told(b) {
        return false;
    }
    let (a, b) = (places(a), places(b));
    let shared: Vec<(usize, usize)> = a
        .iter()
        .filter_map(|(word, at)| Some(((*at)?, (*b.get(word)?)?)))
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    // Sorted by the place in the first text: another order is one in which a later place goes back.
    let mut furthest = None;
    shared.chunk_by(|x, y| x.0 == y.0).any(|together| {
        let goes_back = together.iter().any(|(_, at)| furthest.is_some_and(|seen| *at < seen));
        furthest = furthest.max(together.iter().map(|(_, at)| *at).max());
        goes_back
    })
}

/// Where each word stands that a text has but once: `None` for one that it has in several places. Text without spaces is
/// told apart by its clauses and by what says an order.
fn places(text: &str) -> BTreeMap<String, Option<usize>> {
    let mut marked = text.to_owned();
    for word in IN_ORDER_EAST_ASIAN {
        marked = marked.replace(word, &format!(" {word} "));
    }
    let mut places: BTreeMap<String, Option<usize>> = BTreeMap::new();
    let is_end = |c: char| c.is_whitespace() || (!c.is_alphanumeric() && !c.is_ascii());
    for (at, piece) in marked.split(is_end).filter(|piece| !piece.is_empty()).enumerate() {
        for word in words(piece) {
            places.entry(word).and_modify(|known| *known = None).or_insert(Some(at));
        }
    }
    places
}

/// How many words a text has; two Han, kana or hangul characters count as one.
pub fn word_count(text: &str) -> usize {
    let is_wide =
        |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}');
    let wide = text.chars().filter(|c| is_wide(*c)).count();
    let rest = text.split(|c: char| !c.is_alphanumeric() || is_wide(c)).filter(|word| !word.is_empty());
    rest.count() + wide.div_ceil(2)
}

/// The module that changed files are about: the folder they share or, if they share none, the first file itself.
pub fn module_of(files: &[String]) -> Option<String> {
    let all: Vec<Vec<String>> = files.iter().map(|file| names(file)).filter(|p| !p.is_empty()).collect();
    let first = all.first()?;
    if all.len() == 1 {
        return Some(first.join("."));
    }
    let shared = (0..first.len()).take_while(|at| all.iter().all(|parts| parts.get(*at) == first.get(*at)));
    let shared = shared.count();
    Some(if shared > 0 { first[..shared].join(".") } else { first.join(".") })
}

/// Overlap of two sets, 0 to 1: what both have of what either has. Two empty ones have nothing in common.
pub fn jaccard(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let common = a.intersection(b).count();
    let all = a.len() + b.len() - common;
    share(common, all)
}

/// How much of `part` is in `whole`, 0 to 1; all of nothing is 1.
pub fn contained(part: &BTreeSet<String>, whole: &BTreeSet<String>) -> f64 {
    if part.is_empty() { 1.0 } else { share(part.intersection(whole).count(), part.len()) }
}

/// A part of a whole, 0 to 1; of nothing it is 0.
#[expect(clippy::cast_precision_loss, reason = "counts of words")]
pub(super) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The first characters of a text, at most `limit`, up to the end of a line and cut between words where there are any.
pub fn headline(text: &str, limit: usize) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim();
    if line.chars().count() <= limit {
        return line.to_owned();
    }
    let cut: String = line.chars().take(limit).collect();
    let whole = cut.rsplit_once(char::is_whitespace).map(|(whole, _)| whole.trim_end());
    // A text without blanks, or with a single endless word, is cut where the limit is.
    whole.filter(|whole| whole.chars().count() * 2 > limit).unwrap_or(&cut).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_files_are_about_what_they_share() {
        let of = |files: &[&str]| module_of(&files.iter().map(|f| (*f).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["src/scheduler/retry.py", "src/scheduler/queue.py"]).as_deref(), Some("scheduler"));
        assert_eq!(of(&["ui.py", "db.py"]).as_deref(), Some("ui"));
        assert_eq!(of(&["db.py"]).as_deref(), Some("db"));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn the_same_steps_in_another_order_are_told_apart() {
        for (a, b) in [
            ("A label is checked, printed, then sent", "A label is sent, then checked"),
            ("The lock is taken before the queue is read", "The queue is read before the lock is taken"),
            ("先检查标签，然后发送", "先发送，然后检查标签"),
            ("ラベルを検査、その後に送信", "送信、その後にラベルを検査"),
        ] {
            assert!(is_another_order(a, b) && is_another_order(b, a), "{a} | {b}");
            assert!(!is_another_order(a, a) && !is_another_order(a, &format!("{a}, as ever")), "{a}");
        }
        let list = ["Labels are red, green, blue", "Labels are blue, red, green"];
        assert!(!is_another_order(list[0], list[1]), "no order is told");
    }

    #[test]
    fn words_are_counted_in_any_script() {
        assert_eq!(word_count("Fix a typo, please."), 4);
        assert_eq!(word_count("修复了重试逻辑"), 4);
        assert_eq!(word_count("재시도 로직"), 3);
        assert_eq!(word_count("  --- "), 0);
    }

    #[test]
    fn a_headline_ends_between_words() {
        assert_eq!(headline("one two three four", 11), "one two");
        assert_eq!(headline("short\nand more", 60), "short");
        assert_eq!(headline(&"字".repeat(70), 60), "字".repeat(60));
    }
}
