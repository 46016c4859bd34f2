//! Which of many texts are worth comparing, in nearly linear time.

use std::collections::HashMap;

use super::{
    super::shingle::{of_shingles, shingles},
    Claims, keys,
};

/// Terms that more texts have say little about any of them; also the largest bucket that is looked through.
const MAX_SHARED_BY: usize = 48;
/// Most terms of one text that are looked up, the rarest first.
const MAX_TERMS: usize = 24;
/// Most texts that one is compared with.
const MAX_PARTNERS: usize = 16;
/// A shared topic outweighs any wording.
const TOPIC_WEIGHT: f64 = 1e6;

/// Pairs of positions worth a comparison, the smaller first, in order, each once.
pub type Candidates = Vec<(usize, usize)>;

/// Finds pairs by rare words and pairs of words they share, by bands of their wording without values, and by `topics`:
/// texts with the same number are always paired with the next ones that have it.
///
/// The time is linear in the texts times constants: a term that more than 48 texts have is not looked through, and each
/// text is paired with 16 others at most, those that share most.
pub fn candidates(texts: &[Claims], topics: &[Option<u64>]) -> Candidates {
    let terms: Vec<Vec<u64>> = texts.iter().map(terms).collect();
    // Pairs of words find partners; words alone rank them, or a rare turn of phrase would outweigh the subject.
    let words: Vec<Vec<u64>> = texts.iter().map(words).collect();
    let worth = worth(&words);
    let mut frequency: HashMap<u64, u32> = HashMap::new();
    for term in terms.iter().flatten() {
        *frequency.entry(*term).or_default() += 1;
    }
    let rare = |term: &u64| (2..=MAX_SHARED_BY as u32).contains(&frequency[term]);
    let mut holders: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut pairs = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let mut chosen: Vec<u64> = terms[at].iter().copied().filter(rare).collect();
        chosen.sort_by_key(|term| (frequency[term], *term));
        chosen.truncate(MAX_TERMS);
        let topic = topics.get(at).copied().flatten();
        let mut found: Vec<usize> = Vec::new();
        for key in chosen.into_iter().chain(bands(text)).chain(topic) {
            let holders = holders.entry(key).or_default();
            found.extend(holders.iter().rev().take(MAX_SHARED_BY));
            holders.push(at);
        }
        found.sort_unstable();
        found.dedup();
        let same_topic = |other: usize| topic.is_some() && topics.get(other).copied().flatten() == topic;
        let weigh = |other: usize| {
            let topic = if same_topic(other) { TOPIC_WEIGHT } else { 0.0 };
            topic + overlap(&words[at], &words[other], &worth)
        };
        pairs.extend(
            heaviest(found.into_iter().map(|other| (other, weigh(other))).collect()).map(|other| (other, at)),
        );
    }
    pairs.sort_unstable();
    pairs
}

/// Inverse document frequency of each word (Spärck Jones 1972): the logarithm of how few texts have it.
fn worth(words: &[Vec<u64>]) -> HashMap<u64, f64> {
    let mut counts: HashMap<u64, f64> = HashMap::new();
    for word in words.iter().flatten() {
        *counts.entry(*word).or_default() += 1.0;
    }
    counts.values_mut().for_each(|count| *count = (1.0 + words.len() as f64 / *count).ln());
    counts
}

/// The partners with the largest weights.
fn heaviest(mut order: Vec<(usize, f64)>) -> impl Iterator<Item = usize> {
    order.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(b.cmp(a)));
    order.truncate(MAX_PARTNERS);
    order.into_iter().map(|(other, _)| other)
}

/// What the terms are worth that two texts share; both lists are in order.
fn overlap(a: &[u64], b: &[u64], worth: &HashMap<u64, f64>) -> f64 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x == y {
            sum += worth.get(x).copied().unwrap_or_default();
        }
        (i, j) = (i + usize::from(x <= y), j + usize::from(y <= x));
    }
    sum
}

/// Words and pairs of neighbouring words of all statements, hashed, each once.
fn terms(text: &Claims) -> Vec<u64> {
    let mut all: Vec<u64> = text.statements.iter().flat_map(|s| shingles(s.reading.frame())).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What all statements are about: words that do not only carry grammar, hashed, each once, in order.
fn words(text: &Claims) -> Vec<u64> {
    let mut all: Vec<u64> = text.statements.iter().flat_map(keys).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn bands(text: &Claims) -> Vec<u64> {
    let all: Vec<u64> =
        text.statements.iter().flat_map(|s| of_shingles(&shingles(s.reading.frame()), 64)).collect();
    let mut all = all;
    all.sort_unstable();
    all.dedup();
    all.truncate(MAX_TERMS);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[String]) -> Vec<Claims> {
        texts.iter().map(|text| Claims::of(text)).collect()
    }

    #[test]
    fn a_planted_pair_is_found_among_many_of_the_same_wording() {
        let word = |i: usize| {
            format!("{}{}", ["ka", "lo", "mi", "su", "te"][i % 5], ["bar", "din", "fen", "gol"][i / 5 % 4])
        };
        let name = |i: usize| format!("{} {}", word(i), word(i / 20));
        let mut texts: Vec<String> =
            (0..400).map(|i| format!("The {} service listens on port {}.", name(i), 1000 + i)).collect();
        texts.push(format!("Port of the {} service: 7", name(77)));
        let pairs = candidates(&read(&texts), &[]);
        assert!(pairs.contains(&(77, 400)));
        assert!(pairs.len() <= texts.len() * MAX_PARTNERS);
        assert!(pairs.windows(2).all(|w| w[0] < w[1]), "in order, each once");
    }

    #[test]
    fn a_shared_topic_is_enough() {
        let texts = ["Hens lay eggs.", "Trains run late."].map(str::to_owned);
        assert_eq!(candidates(&read(&texts), &[Some(1), Some(1)]), [(0, 1)]);
        assert_eq!(candidates(&read(&texts), &[Some(1), Some(2)]), []);
    }
}
