//! BM25 of passages and of groups.

use super::{NONE, Part, Place};
use crate::analysis::Query;

/// k1 of passages.
pub(super) const K1: f32 = 0.9;
/// b of passages; the length norm is one-sided: a passage shorter than the average is not favoured.
pub(super) const B: f32 = 0.3;
/// k1 of groups.
pub(super) const GROUP_K1: f32 = 1.2;
/// b of groups, with the ordinary length norm.
pub(super) const GROUP_B: f32 = 0.5;

/// The lexical leg of one query.
#[derive(Debug, Default)]
pub(super) struct Lexical {
    /// Per part and slot, raw BM25.
    pub(super) scores: Vec<Vec<f32>>,
    /// The visible hits with their raw BM25, in no order.
    pub(super) hits: Vec<(f32, Place)>,
    /// Per part and group, raw BM25 of the group as one text.
    pub(super) group_scores: Vec<Vec<f32>>,
    /// Per part and group, the best raw BM25 of a passage in it.
    pub(super) group_best: Vec<Vec<f32>>,
    /// The best visible raw BM25; 1 when there is none.
    pub(super) best: f32,
    /// The best raw group BM25; 1 when there is none.
    pub(super) best_group: f32,
    /// Per term of the query, its weight as evidence; see [`evidence_idf`].
    pub(super) evidence_idf: Vec<f32>,
    /// The evidence weight of a word that occurs nowhere.
    pub(super) unknown_idf: f32,
    /// Mean content words of a live passage.
    pub(super) average_length: f32,
    /// Live passages.
    pub(super) passages: u32,
}

/// Robertson's idf, never negative: ln(1 + (n - df + .5) / (df + .5)).
pub(super) fn idf(n: u64, df: u64) -> f32 {
    let (n, df) = (n as f64, (df.min(n)) as f64);
    (1.0 + (n - df + 0.5) / (df + 0.5)).ln() as f32
}

/// The weight of a term as evidence: idf among a hundred passages more, half of one more having the term, so
/// that a handful of passages does not decide how rare a word is.
fn evidence_idf(n: u64, df: u64) -> f32 {
    let (n, df) = ((n + 100) as f64, df.min(n) as f64 + 0.5);
    (1.0 + (n - df + 0.5) / (df + 0.5)).ln() as f32
}

impl Lexical {
    pub(super) fn of(query: &Query, parts: &[Part<'_>], visible: &dyn Fn(usize, u32) -> bool) -> Self {
        let passages: u64 = parts.iter().map(|p| u64::from(p.columns.live)).sum();
        let total: u64 = parts.iter().map(|p| p.columns.total_length).sum();
        let mut leg = Self {
            scores: parts.iter().map(|p| vec![0.0; p.columns.slots()]).collect(),
            group_scores: parts.iter().map(|p| vec![0.0; p.columns.groups()]).collect(),
            group_best: parts.iter().map(|p| vec![0.0; p.columns.groups()]).collect(),
            average_length: if passages == 0 { 1.0 } else { (total as f32 / passages as f32).max(1.0) },
            unknown_idf: evidence_idf(passages, 0),
            passages: u32::try_from(passages).unwrap_or(u32::MAX),
            ..Self::default()
        };
        let norms: Vec<Vec<f32>> = parts.iter().map(|p| leg.norms(p)).collect();
        for term in 0..query.terms.len() {
            leg.add_term(term, query.terms[term].is_name, parts, &norms);
        }
        leg.add_groups(query, parts);
        leg.finish(parts, visible);
        leg
    }

    fn norms(&self, part: &Part<'_>) -> Vec<f32> {
        let average = self.average_length;
        part.columns.length.iter().map(|l| K1 * (1.0 - B + B * (*l as f32 / average).max(1.0))).collect()
    }

    fn add_term(&mut self, term: usize, is_name: bool, parts: &[Part<'_>], norms: &[Vec<f32>]) {
        let df = parts.iter().map(|p| p.postings.get(term).map_or(0, |t| t.slots.len() as u64)).sum();
        let idf = idf(u64::from(self.passages), df);
        self.evidence_idf.push(evidence_idf(u64::from(self.passages), df));
        for ((part, norms), scores) in parts.iter().zip(norms).zip(&mut self.scores) {
            let Some(postings) = part.postings.get(term) else { continue };
            for (slot, frequency) in postings.slots.iter().zip(&postings.frequencies) {
                let at = *slot as usize;
                let (Some(score), Some(norm)) = (scores.get_mut(at), norms.get(at)) else { continue };
                if is_name && part.columns.owner[at] != NONE {
                    continue;
                }
                let tf = *frequency as f32;
                *score += idf * tf * (K1 + 1.0) / (tf + norm);
            }
        }
    }

    /// Adds the group scores; document counts are groups here, and names are no terms.
    fn add_groups(&mut self, query: &Query, parts: &[Part<'_>]) {
        let groups: u64 = parts.iter().map(|p| u64::from(p.columns.live_groups)).sum();
        if groups == 0 {
            return;
        }
        let total: u64 = parts.iter().map(|p| p.columns.total_group_length).sum();
        let average = (total as f32 / groups as f32).max(1.0);
        let mut frequencies: Vec<Vec<u32>> = parts.iter().map(|p| vec![0; p.columns.groups()]).collect();
        let mut touched: Vec<Vec<u32>> = parts.iter().map(|_| Vec::new()).collect();
        for (term, _) in query.terms.iter().enumerate().filter(|(_, t)| !t.is_name) {
            for (at, part) in parts.iter().enumerate() {
                count_groups(part, term, &mut frequencies[at], &mut touched[at]);
            }
            let idf = idf(groups, touched.iter().map(|t| t.len() as u64).sum());
            for (at, part) in parts.iter().enumerate() {
                for group in touched[at].drain(..) {
                    let group = group as usize;
                    let tf = std::mem::take(&mut frequencies[at][group]) as f32;
                    let length = part.columns.group_length[group] as f32;
                    let norm = GROUP_K1 * (1.0 - GROUP_B + GROUP_B * length / average);
                    self.group_scores[at][group] += idf * tf * (GROUP_K1 + 1.0) / (tf + norm);
                }
            }
        }
    }

    fn finish(&mut self, parts: &[Part<'_>], visible: &dyn Fn(usize, u32) -> bool) {
        let mut best = 0.0f32;
        for (at, part) in parts.iter().enumerate() {
            for (slot, score) in (0u32..).zip(&self.scores[at]) {
                if *score == 0.0 {
                    continue;
                }
                let score = *score;
                let group = part.columns.group[slot as usize];
                if group != NONE {
                    let most = &mut self.group_best[at][group as usize];
                    *most = most.max(score);
                }
                if visible(at, slot) {
                    self.hits.push((score, Place { part: at, slot }));
                    best = best.max(score);
                }
            }
        }
        let best_group = self.group_scores.iter().flatten().copied().fold(0.0, f32::max);
        self.best = if best > 0.0 { best } else { 1.0 };
        self.best_group = if best_group > 0.0 { best_group } else { 1.0 };
    }
}

fn count_groups(part: &Part<'_>, term: usize, frequencies: &mut [u32], touched: &mut Vec<u32>) {
    let Some(postings) = part.postings.get(term) else { return };
    for (slot, frequency) in postings.slots.iter().zip(&postings.frequencies) {
        let Some(group) = part.columns.group.get(*slot as usize).filter(|g| **g != NONE) else { continue };
        let count = &mut frequencies[*group as usize];
        if *count == 0 {
            touched.push(*group);
        }
        *count = count.saturating_add(*frequency);
    }
}
