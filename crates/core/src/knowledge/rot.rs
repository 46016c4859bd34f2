//! What decays in knowledge: sections that grew too large, headings that say nothing, promises past their date, and text that
//! is there twice.

use std::{collections::HashMap, sync::LazyLock};

use jiff::civil::Date;
use regex::Regex;

use super::{family::skeleton, health::LARGE, words::Words};
use crate::{
    duplicate::{Prepared, Verdict},
    route::Router,
    vocabulary::Sense,
};

/// A section of level 2 or 3 of some file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    /// The file.
    pub file: &'a str,
    /// Its heading without marks.
    pub heading: &'a str,
    /// Its text.
    pub body: &'a str,
}

/// What was found, by positions among the parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rot {
    /// Bodies over 4 KiB.
    pub oversized: Vec<usize>,
    /// Long headings with hardly a word border.
    pub garbled: Vec<usize>,
    /// Something is open and its date has passed.
    pub stale: Vec<usize>,
    /// The same text in two files.
    pub across_files: Vec<(usize, usize)>,
    /// The same text, or the same subject in the heading, twice in a file.
    pub within_file: Vec<(usize, usize)>,
    /// Bytes over 4 KiB, of all oversized bodies together.
    pub excess: usize,
}

/// Shorter bodies are not compared, in bytes.
const MIN_COMPARED: usize = 40;
/// A key that more parts share says nothing about any two of them.
const MOST_SHARING: usize = 40;
/// Keys of a body that stand for its wording.
const WORDING_KEYS: usize = 8;
/// Most parts that one is compared with in full.
const MOST_COMPARED: usize = 4;
/// Two bodies with a smaller share of common words are not compared: near-duplicates have more.
const LEAST_SHARED: f64 = 0.6;
/// Headings of fewer characters are not called garbled.
const GARBLED_CHARS: usize = 30;
const GARBLED_SHARE: f64 = 0.08;
/// Lines of the body, beside the heading, in which a date is looked for.
const DATED_LINES: usize = 2;

/// Looks at all parts. `today` tells which dates have passed.
pub fn audit(parts: &[Part<'_>], today: Date, router: &Router) -> Rot {
    let mut rot = Rot::default();
    for (index, part) in parts.iter().enumerate() {
        let excess = part.body.len().saturating_sub(LARGE);
        if excess > 0 {
            rot.oversized.push(index);
            rot.excess += excess;
        }
        if is_garbled(part.heading) {
            rot.garbled.push(index);
        }
        let lines = part.body.lines().filter(|line| !line.trim().is_empty()).take(DATED_LINES);
        if std::iter::once(part.heading).chain(lines).any(|line| is_stale(line, today, router)) {
            rot.stale.push(index);
        }
    }
    for (a, b) in duplicates(parts) {
        let pairs = if parts[a].file == parts[b].file { &mut rot.within_file } else { &mut rot.across_files };
        pairs.push((a, b));
    }
    rot
}

impl Rot {
    /// 100 without a finding; each sort of finding takes points up to its own limit. `promotions` counts the topics that grew into a
    /// file of their own.
    pub fn score(&self, promotions: usize) -> u32 {
        let capped = |points: usize, most: usize| points.min(most);
        let lost = capped(self.excess / 24_576, 24)
            + capped(6 * self.garbled.len(), 24)
            + capped(3 * self.stale.len(), 18)
            + capped(5 * self.across_files.len(), 30)
            + capped(5 * self.within_file.len(), 24)
            + capped(2 * promotions, 10);
        u32::try_from(100_usize.saturating_sub(lost)).unwrap_or(0)
    }
}

/// A heading of 30 characters or more in which separators and ASCII words are less than 8 in a hundred characters: words that
/// ran together.
fn is_garbled(heading: &str) -> bool {
    let length = heading.chars().count();
    if length < GARBLED_CHARS {
        return false;
    }
    let separators = heading.chars().filter(|c| !c.is_alphanumeric()).count();
    let words = heading.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).count();
    ((separators + words) as f64) / (length as f64) < GARBLED_SHARE
}

/// Whether a line says that something is open, names a day before `today`, and does not say that it was done.
fn is_stale(line: &str, today: Date, router: &Router) -> bool {
    static DAY: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(20\d{2})\s*[-/.年년]\s*(\d{1,2})\s*[-/.月월]\s*(\d{1,2})")
            .expect("a fixed pattern is valid")
    });
    let days = DAY.captures_iter(line).filter_map(|found| {
        let part = |at: usize| found.get(at)?.as_str().parse::<i16>().ok();
        Date::new(part(1)?, i8::try_from(part(2)?).ok()?, i8::try_from(part(3)?).ok()?).ok()
    });
    if !days.into_iter().any(|day| day < today) {
        return false;
    }
    let hits = router.hits(line);
    let has = |sense: Sense| hits.iter().any(|hit| hit.sense == sense);
    has(Sense::Open) && !has(Sense::Resolved)
}

/// Pairs that say the same, found by shared keys so that not every two are compared. Each part is paired with the first that says
/// the same.
fn duplicates(parts: &[Part<'_>]) -> Vec<(usize, usize)> {
    let mut by_subject: HashMap<(&str, String), usize> = HashMap::new();
    let mut known = Known::default();
    let mut pairs = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let subject = Some(skeleton(part.heading)).filter(|subject| !subject.is_empty());
        let first = subject.and_then(|subject| {
            let known = by_subject.entry((part.file, subject)).or_insert(index);
            (*known != index).then_some(*known)
        });
        let same = (part.body.len() >= MIN_COMPARED).then(|| known.same_as(parts, index)).flatten();
        pairs.extend(first.or(same).map(|first| (first, index)));
    }
    pairs
}

/// The parts that were looked at, by the keys of their wording.
#[derive(Default)]
struct Known {
    by_key: HashMap<u64, Vec<usize>>,
    words: HashMap<usize, Words>,
}

impl Known {
    /// The first part that says the same as this one, which is known from now on.
    fn same_as(&mut self, parts: &[Part<'_>], index: usize) -> Option<usize> {
        let text = Prepared::new(parts[index].body);
        let words = Words::of(text.text());
        // The keys of the wording come first; those of the frame find changed values, which are no duplicates.
        let keys: Vec<u64> = text.bands().into_iter().take(WORDING_KEYS).collect();
        let is_same = |other: &usize| {
            let verdict = Prepared::new(parts[*other].body).compare(&text).verdict;
            matches!(verdict, Verdict::Same | Verdict::NearDuplicate)
        };
        let found = self.near(&keys, &words).into_iter().filter(is_same).min();
        for key in keys {
            let sharing = self.by_key.entry(key).or_default();
            if sharing.len() < MOST_SHARING {
                sharing.push(index);
            }
        }
        self.words.insert(index, words);
        found
    }

    /// The parts that share a key, the same digits and most words, those with the most words first.
    fn near(&self, keys: &[u64], words: &Words) -> Vec<usize> {
        let mut others: Vec<usize> =
            keys.iter().filter_map(|key| self.by_key.get(key)).flatten().copied().collect();
        others.sort_unstable();
        others.dedup();
        let share = |other: usize| {
            let known = self.words.get(&other).filter(|known| known.has_digits_of(words));
            known.map_or(0.0, |known| known.shared(words))
        };
        let mut near: Vec<(usize, f64)> = others.into_iter().map(|other| (other, share(other))).collect();
        near.retain(|(_, share)| *share >= LEAST_SHARED);
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        near.truncate(MOST_COMPARED);
        near.into_iter().map(|(other, _)| other).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::built_in;

    fn part<'a>(file: &'a str, heading: &'a str, body: &'a str) -> Part<'a> {
        Part { file, heading, body }
    }

    fn today() -> Date {
        Date::constant(2026, 6, 15)
    }

    #[test]
    fn promises_past_their_date_are_stale_in_every_language() {
        let stale = |line: &str| is_stale(line, today(), built_in());
        for line in [
            "TODO by 2026-06-14: rotate",
            "2026年5月1日 待确认",
            "2026/6/1 までに要確認",
            "2026년 6월 1일 확인 필요",
        ] {
            assert!(stale(line), "{line}");
        }
        for line in [
            "TODO by 2026-06-15",
            "2026-06-01 was a Monday",
            "TODO of 2026-06-01 was resolved",
            "TODO 2026-13-45",
            "TODO",
        ] {
            assert!(!stale(line), "{line}");
        }
    }

    #[test]
    fn duplicates_are_found_across_files_and_within_one() {
        let body = "PostgreSQL 15 runs on prod-db and its connection pool holds twenty.";
        let changed = "PostgreSQL 15 runs on prod-db and its connection pool holds forty.";
        let parts = [
            part("a.md", "Pool", body),
            part("b.md", "Database", body),
            part("a.md", "Release 2026-01-01", "short"),
            part("a.md", "Release 2026-02-01", "other"),
            part("c.md", "Pool", changed),
        ];
        let rot = audit(&parts, today(), built_in());
        assert_eq!(rot.across_files, [(0, 1)], "another value is no duplicate");
        assert_eq!(rot.within_file, [(2, 3)]);
        assert_eq!(rot.score(1), 100 - 5 - 5 - 2);
    }

    #[test]
    fn sizes_and_headings_cost_points_up_to_a_limit() {
        let body = "x ".repeat(100_000);
        let heading = "ThisHeadingHasRunTogetherFromManyWordsOfText";
        let parts: Vec<Part<'_>> = (0..6).map(|_| part("a.md", heading, &body)).collect();
        let rot = audit(&parts[..1], today(), built_in());
        assert_eq!(
            (rot.oversized.as_slice(), rot.garbled.as_slice(), rot.excess),
            (&[0][..], &[0][..], 195_904)
        );
        assert_eq!(rot.score(0), 100 - 7 - 6);
        assert!(!is_garbled("A heading of several words that is long enough"));
        assert_eq!(audit(&parts, today(), built_in()).score(0), 100 - 24 - 24 - 24);
        assert_eq!(audit(&[], today(), built_in()).score(0), 100);
    }
}
