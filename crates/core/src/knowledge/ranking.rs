//! The documented scores of recall over knowledge files: `keyword`, `fuzzy`, and their fusion by ranks.
//!
//! The one search of the product does not rank by these. They are what clients of the layered tools compare.

mod searchable;

use std::{collections::HashMap, sync::LazyLock};

use regex::Regex;

pub use searchable::{Keyword, Part, Searchable};

/// The constant of reciprocal rank fusion.
const RRF_K: f64 = 60.0;
/// Headings that the fuzzy score reads.
const FUZZY_HEADINGS: usize = 20;
/// So much of a content and of a compared text the fuzzy score reads.
const FUZZY_BYTES: usize = 50 << 10;
const FUZZY_CHARS: usize = 200;
/// Below this likeness of every name and heading, and without a word in common, a file is no hit.
const FUZZY_FLOOR: f64 = 0.6;
/// Places in a content that count.
const COUNTED: usize = 10;

/// 10 when the path holds the keyword, 3 for each heading that does, and 0.5 for each place in the content, at most 5.
/// `None` when it is nowhere.
///
/// Several words that stand nowhere side by side count half the mean of their scores, if all of them are there. Letter case does
/// not count.
pub fn keyword_score(keyword: &Keyword, path: &str, file: &Searchable) -> Option<f64> {
    let path = path.to_lowercase();
    let score = |word: &str| {
        let in_path = if path.contains(word) { 10.0 } else { 0.0 };
        let places = file.lower().matches(word).take(COUNTED).count();
        // A word that stands nowhere stands in no heading, unless markup parts it.
        let in_headings = file.headings().filter(|title| title.contains(word)).count();
        let score = in_path + 3.0 * in_headings as f64 + 0.5 * places as f64;
        (score > 0.0).then_some(score)
    };
    score(keyword.whole()).or_else(|| {
        let words = keyword.words();
        if words.len() < 2 {
            return None;
        }
        let scores: Vec<f64> = words.iter().map(|word| score(word)).collect::<Option<_>>()?;
        Some(scores.iter().sum::<f64>() / (2 * words.len()) as f64)
    })
}

/// 6 times the likeness of keyword and path, 4 times that of each of the first 20 headings, and 5 times the fraction of the keyword's
/// words that the content holds. `None` when nothing is much alike.
pub fn fuzzy_score(keyword: &Keyword, path: &str, file: &Searchable) -> Option<f64> {
    let content = &file.lower()[..file.lower().floor_char_boundary(FUZZY_BYTES)];
    let words = keyword.words();
    let present =
        words.iter().filter(|word| content.contains(word.as_str())).count() as f64 / words.len() as f64;
    let of_path = likeness(keyword.whole(), &path.to_lowercase());
    let of_headings: Vec<f64> =
        file.headings().take(FUZZY_HEADINGS).map(|title| likeness(keyword.whole(), title)).collect();
    let best = of_headings.iter().copied().fold(of_path, f64::max);
    if present == 0.0 && best < FUZZY_FLOOR {
        return None;
    }
    Some(6.0 * of_path + 4.0 * of_headings.iter().sum::<f64>() + 5.0 * present)
}

/// How much two texts are alike, 0 to 1: twice the characters in matching blocks, found longest first, over all characters
/// (Ratcliff and Obershelp). Of longer texts the first 200 characters are read.
pub fn likeness(a: &str, b: &str) -> f64 {
    let read = |text: &str| -> Vec<char> { text.chars().take(FUZZY_CHARS).collect() };
    let (a, b) = (read(a), read(b));
    if a.is_empty() && b.is_empty() {
        return 1.0;
    }
    let mut matched = 0;
    let mut open = vec![(0..a.len(), 0..b.len())];
    while let Some((left, right)) = open.pop() {
        let (at, other, length) = longest_match(&a[left.clone()], &b[right.clone()]);
        if length > 0 {
            matched += length;
            let (at, other) = (left.start + at, right.start + other);
            open.push((left.start..at, right.start..other));
            open.push((at + length..left.end, other + length..right.end));
        }
    }
    2.0 * matched as f64 / (a.len() + b.len()) as f64
}

/// The longest stretch that both have: where it begins in each, and its length. The earliest of equals.
fn longest_match(a: &[char], b: &[char]) -> (usize, usize, usize) {
    let mut best = (0, 0, 0);
    let mut lengths = vec![0; b.len() + 1];
    for (i, left) in a.iter().enumerate() {
        let mut before = 0;
        for (j, right) in b.iter().enumerate() {
            let length = if left == right { before + 1 } else { 0 };
            before = lengths[j + 1];
            lengths[j + 1] = length;
            if length > best.2 {
                best = (i + 1 - length, j + 1 - length, length);
            }
        }
    }
    best
}

/// How much each list weighs in the fusion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FusionWeights {
    /// The keyword list.
    pub keyword: f64,
    /// The fuzzy list.
    pub fuzzy: f64,
    /// The BM25 list.
    pub bm25: f64,
    /// The list by meaning; 0 leaves it out.
    pub semantic: f64,
}

/// How much a query asks for meaning rather than for words, 0 to 1: 0.2 with a path, version or address, 0.3 with an identifier,
/// else 0.7.
pub fn semantic_share(query: &str) -> f64 {
    static EXACT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[/\\]|\d+\.\d+").expect("a fixed pattern is valid"));
    static IDENTIFIER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[A-Za-z0-9]_[A-Za-z0-9]|[a-z][A-Z]|[a-z]-[a-z]|[A-Za-z]\.[A-Za-z]")
            .expect("a fixed pattern is valid")
    });
    match () {
        () if EXACT.is_match(query) => 0.2,
        () if IDENTIFIER.is_match(query) => 0.3,
        () => 0.7,
    }
}

impl FusionWeights {
    /// The weights for a share of meaning, which is brought into 0 to 1.
    pub fn of(share: f64) -> Self {
        let share = share.clamp(0.0, 1.0);
        let bm25 = if share > 0.5 { 1.0 - share + 0.3 } else { 1.0 };
        Self { keyword: 1.0, fuzzy: 0.8, bm25, semantic: if share > 0.1 { share } else { 0.0 } }
    }
}

/// Fuses ranked lists: each item gets `weight / (60 + rank)` from every list it is in, ranks from 1. The best first; of equals the
/// smaller item.
pub fn fuse(lists: &[(f64, &[usize])]) -> Vec<(usize, f64)> {
    let mut scores: HashMap<usize, f64> = HashMap::new();
    for (weight, list) in lists.iter().filter(|(weight, _)| *weight > 0.0) {
        for (rank, item) in list.iter().enumerate() {
            *scores.entry(*item).or_default() += weight / (RRF_K + (rank + 1) as f64);
        }
    }
    let mut fused: Vec<(usize, f64)> = scores.into_iter().collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    fused
}

/// What multiplies a fused score: more for several matched sections and shared keywords, less for a file deep in folders when the query is
/// about words.
pub fn boost(
    matched_sections: usize,
    shared_keywords: usize,
    query_words: usize,
    depth: usize,
    share: f64,
) -> f64 {
    let sections =
        if matched_sections > 1 { 1.15_f64.powf((matched_sections - 1) as f64).min(2.0) } else { 1.0 };
    let keywords = 1.0 + 0.3 * shared_keywords as f64 / query_words.max(1) as f64;
    let deep = if share < 0.6 && depth > 2 { (1.0 - 0.05 * (depth - 2) as f64).max(0.8) } else { 1.0 };
    sections * keywords * deep
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        "intro on pools\n\n# Database\n\npool 20\n\n## Pool\n\nPool and pool.\n\n## 端口\n\n5432\n";

    fn keyword(text: &str, path: &str, content: &str) -> Option<f64> {
        keyword_score(&Keyword::new(text)?, path, &Searchable::new(content))
    }

    fn fuzzy(text: &str, path: &str) -> Option<f64> {
        fuzzy_score(&Keyword::new(text)?, path, &Searchable::new(FILE))
    }

    #[test]
    fn the_keyword_score_is_the_documented_sum() {
        assert_eq!(keyword("Pool", "db.md", FILE), Some(3.0 + 0.5 * 5.0));
        assert_eq!(keyword("database", "infra/database.md", FILE), Some(10.0 + 3.0 + 0.5));
        assert_eq!(keyword("x", "db.md", &"x ".repeat(99)), Some(5.0));
        assert_eq!(keyword("端口", "db.md", FILE), Some(3.5));
        assert_eq!(keyword("nothing", "db.md", FILE), None);
        assert_eq!(keyword(" ", "db.md", FILE), None);
    }

    #[test]
    fn several_words_need_not_stand_side_by_side() {
        assert_eq!(keyword("database pool", "db.md", FILE), Some((3.5 + 5.5) / 4.0));
        assert_eq!(keyword("database nothing", "db.md", FILE), None);
    }

    #[test]
    fn likeness_is_the_share_of_matching_blocks() {
        assert_eq!(likeness("abcd", "bcde"), 0.75);
        assert_eq!((likeness("tide", "diet"), likeness("diet", "tide")), (0.25, 0.5));
        assert_eq!((likeness("", ""), likeness("a", ""), likeness("端口", "端口")), (1.0, 0.0, 1.0));
        let long = "ab".repeat(5_000);
        assert!((0.0..=1.0).contains(&likeness(&long, &long)));
    }

    #[test]
    fn fuzzy_finds_a_misspelt_heading_and_not_everything() {
        let found = fuzzy("databse", "x.md").expect("one letter is missing");
        assert!(found > 3.0, "{found}");
        assert_eq!(fuzzy("zebra", "x.md"), None);
        assert_eq!(fuzzy("", "x.md"), None);
    }

    #[test]
    fn ranks_are_fused_with_weights() {
        let fused = fuse(&[(1.0, &[7, 3]), (0.8, &[3]), (0.0, &[9])]);
        assert_eq!(fused.iter().map(|(item, _)| *item).collect::<Vec<_>>(), [3, 7]);
        assert!((fused[0].1 - (1.0 / 62.0 + 0.8 / 61.0)).abs() < 1e-12);
        assert_eq!(fuse(&[(1.0, &[2]), (1.0, &[1])])[0].0, 1);
        for (query, share) in [
            ("how do we deploy", 0.7),
            ("src/main.rs", 0.2),
            ("node 18.2", 0.2),
            ("max_pool", 0.3),
            ("maxPool", 0.3),
            ("部署流程", 0.7),
        ] {
            assert_eq!(semantic_share(query), share, "{query}");
        }
        let weights = FusionWeights::of(0.7);
        assert!((weights.bm25 - 0.6).abs() < 1e-12 && weights.semantic == 0.7);
        assert_eq!(
            FusionWeights::of(-1.0),
            FusionWeights { keyword: 1.0, fuzzy: 0.8, bm25: 1.0, semantic: 0.0 }
        );
    }

    #[test]
    fn boosts_have_their_bounds() {
        assert_eq!(boost(1, 0, 0, 1, 0.7), 1.0);
        assert_eq!(boost(50, 0, 2, 1, 0.7), 2.0);
        assert_eq!(boost(1, 1, 2, 9, 0.7), 1.15);
        assert_eq!(boost(1, 0, 1, 9, 0.2), 0.8);
    }
}
