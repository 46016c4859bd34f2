//! Which of many texts are worth comparing, in nearly linear time.

use std::collections::HashMap;

use super::{
    super::shingle::{of_shingles, shingles},
    Claims,
};

/// Terms that more texts have say little about any of them; also the largest bucket that is looked through.
const MAX_SHARED_BY: usize = 48;
/// Most terms of one text that are looked up, the rarest first.
const MAX_TERMS: usize = 24;
/// Most texts that one is compared with.
const MAX_PARTNERS: usize = 16;
/// A shared topic outweighs any wording.
const TOPIC_WEIGHT: f64 = 16.0;

/// Pairs of positions worth a comparison, the smaller first, in order, each once.
pub type Candidates = Vec<(usize, usize)>;

/// Finds pairs by rare words and pairs of words they share, by bands of their wording without values, and by `topics`:
/// texts with the same number are always paired with the next ones that have it.
///
/// The time is linear in the texts times constants: a term that more than 48 texts have is not looked through, and each
/// text is paired with 16 others at most, those that share most.
pub fn candidates(texts: &[Claims], topics: &[Option<u64>]) -> Candidates {
    let terms: Vec<Vec<u64>> = texts.iter().map(terms).collect();
    let mut frequency: HashMap<u64, u32> = HashMap::new();
    for term in terms.iter().flatten() {
        *frequency.entry(*term).or_default() += 1;
    }
    let rare = |term: &u64| (2..=MAX_SHARED_BY as u32).contains(&frequency[term]);
    let mut holders: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut pairs = Vec::new();
    for (at, (text, terms)) in texts.iter().zip(&terms).enumerate() {
        let mut weights: HashMap<usize, f64> = HashMap::new();
        let mut chosen: Vec<u64> = terms.iter().copied().filter(rare).collect();
        chosen.sort_by_key(|term| (frequency[term], *term));
        chosen.truncate(MAX_TERMS);
        let topic = topics.get(at).copied().flatten();
        for key in chosen.into_iter().chain(bands(text)).chain(topic) {
            let holders = holders.entry(key).or_default();
            // Each key weighs what it is worth: one in as many as share it.
            let shared_by = frequency.get(&key).map_or(holders.len() + 1, |n| *n as usize);
            let weight = if Some(key) == topic { TOPIC_WEIGHT } else { 1.0 / shared_by as f64 };
            for other in holders.iter().rev().take(MAX_SHARED_BY) {
                *weights.entry(*other).or_default() += weight;
            }
            holders.push(at);
        }
        pairs.extend(heaviest(weights).into_iter().map(|other| (other, at)));
    }
    pairs.sort_unstable();
    pairs
}

/// The partners with the largest weights.
fn heaviest(weights: HashMap<usize, f64>) -> Vec<usize> {
    let mut order: Vec<(usize, f64)> = weights.into_iter().collect();
    order.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(b.cmp(a)));
    order.truncate(MAX_PARTNERS);
    order.into_iter().map(|(other, _)| other).collect()
}

/// Words and pairs of neighbouring words of all statements, hashed, each once.
fn terms(text: &Claims) -> Vec<u64> {
    let mut all: Vec<u64> = text.statements.iter().flat_map(|s| shingles(s.reading.frame())).collect();
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
