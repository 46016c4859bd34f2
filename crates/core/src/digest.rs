//! Digests by extraction: of a group of texts, the sentences that say most, word for word and in order.
//!
//! A sentence's weight is that of its terms: how many sentences of the group have a term, against how rare it
//! is in the whole collection (tf-idf; Luhn 1958 for the principle, Sparck Jones 1972 for the rarity).
//! Decisions, outcomes, corrections and numbers raise it. Questions and courtesies do not count. Sentences are
//! taken one after the other, and what was said before counts less each time, so that the whole group has its
//! say (maximal marginal relevance, Carbonell and Goldstein 1998). No model is involved, and the same texts
//! give the same digest.

mod courtesy;
mod sentences;
mod telling;

use std::collections::HashMap;

pub use sentences::sentences;

use crate::analysis::content_terms;

/// What a term that was said before still counts, at every repetition.
const SAID_BEFORE: f64 = 0.3;
/// Sentences with this share of terms in common say the same.
const SAME: f64 = 0.6;
/// A sentence that adds less than this share of the first one's score adds nothing.
const WORTH_SAYING: f64 = 0.12;
/// Terms below which a sentence hardly stands on its own.
const FEW_TERMS: usize = 3;
/// Sentences of one group that are weighed.
const MAX_SENTENCES: usize = 6_000;

/// How often the terms of a collection occur, by sentences.
#[derive(Debug, Clone, Default)]
pub struct Background {
    sentences: u32,
    seen: HashMap<String, u32>,
}

impl Background {
    /// Counts a text in.
    pub fn add(&mut self, text: &str) {
        for sentence in sentences(text) {
            self.sentences += 1;
            for term in content_terms(sentence.as_ref()) {
                *self.seen.entry(term).or_default() += 1;
            }
        }
    }

    /// ln((N + 1) / (n + 0.5)), never below zero.
    fn rarity(&self, term: &str) -> f64 {
        let n = f64::from(self.seen.get(term).copied().unwrap_or(0));
        ((f64::from(self.sentences) + 1.0) / (n + 0.5)).ln().max(0.0)
    }
}

/// A sentence of a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picked {
    /// Which of the texts it is from.
    pub item: usize,
    /// The sentence, on one line.
    pub text: String,
}

/// The most telling sentences of `texts`, in their order, at most `budget` characters, of which every sentence
/// takes `overhead` beside its own. At least one, if there is any text at all.
pub fn pick(texts: &[&str], background: &Background, budget: usize, overhead: usize) -> Vec<Picked> {
    let mut candidates = candidates(texts, background);
    if candidates.iter().any(|c| c.is_statement) {
        candidates.retain(|c| c.is_statement);
    }
    let mut said: HashMap<String, i32> = HashMap::new();
    let mut taken: Vec<usize> = Vec::new();
    let (mut left, mut first) = (budget, None);
    let mut open: Vec<usize> = (0..candidates.len()).collect();
    loop {
        let mut ranked = ranked(&candidates, &open, &said);
        let first = *first.get_or_insert(ranked.first().map_or(0.0, |(_, score)| *score));
        let size = |c: &Candidate| c.text.chars().count() + overhead;
        let adds = |c: &Candidate| size(c) <= left && !taken.iter().any(|t| candidates[*t].says(c));
        let mut worth = ranked.iter().take_while(|(_, score)| *score >= first * WORTH_SAYING);
        let Some(place) = worth.position(|(number, _)| taken.is_empty() || adds(&candidates[*number])) else {
            break;
        };
        // What was passed over is passed over for good: the room only shrinks, and more has been said.
        open = ranked.drain(place + 1..).map(|(number, _)| number).collect();
        let chosen = ranked[place].0;
        left = left.saturating_sub(size(&candidates[chosen]));
        for (term, _) in &candidates[chosen].terms {
            *said.entry(term.clone()).or_default() += 1;
        }
        taken.push(chosen);
    }
    taken.sort_unstable();
    let picked = |t: usize| Picked { item: candidates[t].item, text: candidates[t].text.clone() };
    taken.into_iter().map(picked).collect()
}

/// A sentence with what it weighs.
struct Candidate {
    item: usize,
    text: String,
    /// Terms with their weights, sorted by term.
    terms: Vec<(String, f64)>,
    /// What its form adds, as a factor.
    factor: f64,
    is_statement: bool,
}

impl Candidate {
    fn score(&self, said: &HashMap<String, i32>) -> f64 {
        let worth = |(term, weight): &(String, f64)| match said.get(term) {
            Some(times) => weight * SAID_BEFORE.powi(*times),
            None => *weight,
        };
        let sum: f64 = self.terms.iter().map(worth).sum();
        // The root keeps long sentences from winning by length alone, and short ones from winning by one word.
        sum / (self.terms.len().max(FEW_TERMS) as f64).sqrt() * self.factor
    }

    /// Whether it says what `other` says. Other numbers are another statement.
    fn says(&self, other: &Self) -> bool {
        let has = |terms: &[(String, f64)], term: &str| {
            terms.binary_search_by(|(t, _)| t.as_str().cmp(term)).is_ok()
        };
        let shared = self.terms.iter().filter(|(t, _)| has(&other.terms, t)).count();
        let either = self.terms.len() + other.terms.len() - shared;
        let numbers = |c: &Self| {
            let digits = |t: &&(String, f64)| t.0.chars().any(char::is_numeric);
            c.terms.iter().filter(digits).map(|(t, _)| t.clone()).collect::<Vec<_>>()
        };
        shared as f64 >= SAME * either as f64 && numbers(self) == numbers(other)
    }
}

/// The open candidates with their scores, the highest first; of equal ones the earliest.
fn ranked(candidates: &[Candidate], open: &[usize], said: &HashMap<String, i32>) -> Vec<(usize, f64)> {
    let mut ranked: Vec<(usize, f64)> =
        open.iter().map(|number| (*number, candidates[*number].score(said))).collect();
    ranked.sort_unstable_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
    ranked
}

fn candidates(texts: &[&str], background: &Background) -> Vec<Candidate> {
    let share = (MAX_SENTENCES / texts.len().max(1)).max(1);
    let mut cut: Vec<(usize, String, Vec<String>)> = Vec::new();
    let mut frequency: HashMap<String, u32> = HashMap::new();
    for (item, text) in texts.iter().enumerate() {
        for sentence in sentences(text).into_iter().take(share) {
            let terms = content_terms(&sentence);
            for term in &terms {
                *frequency.entry(term.clone()).or_default() += 1;
            }
            cut.push((item, sentence.into_owned(), terms));
        }
    }
    let weigh = |term: String| {
        let often = f64::from(frequency.get(&term).copied().unwrap_or(1));
        let weight = often.ln_1p() * background.rarity(&term);
        (term, weight)
    };
    cut.into_iter()
        .map(|(item, text, terms)| Candidate {
            item,
            factor: telling::factor(&text),
            is_statement: !telling::is_question(&text) && !courtesy::is_courtesy(&text),
            terms: terms.into_iter().map(weigh).collect(),
            text,
        })
        .collect()
}

#[cfg(test)]
mod tests;
