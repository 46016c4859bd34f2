//! p-layer's published figure on LoCoMo: the share of questions with a turn of the evidence among the first ten. Its own
//! engine is measured beside ours, over the same turns and questions.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::{
    baseline::{Asking, Baseline},
    dataset::Dataset,
    metrics::Row,
};

/// Results that are looked at.
const DEPTH: usize = 10;

/// The figure of each engine, over a group of questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Evidence {
    /// Questions with an answer.
    pub questions: usize,
    /// Share with evidence among the first ten of this product's recall.
    pub strata: f64,
    /// The same for p-layer's own word match: punctuation taken out, any word, whole words.
    pub p_layer_words: f64,
    /// The same for the quote-stripped OR-join that p-layer compares itself with.
    pub or_join: f64,
}

/// The turns of one conversation: their ids, and their words with the type that p-layer gives them.
#[derive(Default)]
struct Turns<'a> {
    ids: Vec<&'a str>,
    texts: Vec<(&'a str, &'a str)>,
}

/// The figures over all questions (`all`) and per category. `spoken` has each turn's words as p-layer stores them,
/// without speaker, date and picture.
pub fn compare(
    dataset: &Dataset,
    spoken: &HashMap<String, String>,
    rows: &[Row],
) -> BTreeMap<String, Evidence> {
    let mut scopes: BTreeMap<&str, Turns<'_>> = BTreeMap::new();
    for item in &dataset.items {
        let text = spoken.get(&item.id).map(|text| text.trim()).unwrap_or_default();
        if !text.is_empty() {
            let turns = scopes.entry(&item.scope).or_default();
            turns.ids.push(&item.id);
            turns.texts.push((text, "fact"));
        }
    }
    let scopes: BTreeMap<&str, (Vec<&str>, Baseline)> =
        scopes.into_iter().map(|(scope, turns)| (scope, (turns.ids, Baseline::new(turns.texts)))).collect();
    let mut sums: BTreeMap<String, Evidence> = BTreeMap::new();
    for row in rows {
        let hit = |asking| {
            let Some((ids, baseline)) = scopes.get(row.scope.as_str()) else { return 0.0 };
            let found = baseline.search(&row.query, asking, DEPTH);
            share(found.into_iter().any(|at| row.relevant.iter().any(|id| id == ids[at])))
        };
        let ours = share(row.returned.iter().take(DEPTH).any(|id| row.relevant.contains(id)));
        let (words, or_join) = (hit(Asking::Sanitised), hit(Asking::OrJoin));
        for group in ["all"].into_iter().chain(row.category.as_deref()) {
            let sum = sums.entry(group.to_owned()).or_default();
            sum.questions += 1;
            sum.strata += ours;
            sum.p_layer_words += words;
            sum.or_join += or_join;
        }
    }
    for sum in sums.values_mut() {
        for figure in [&mut sum.strata, &mut sum.p_layer_words, &mut sum.or_join] {
            *figure /= sum.questions as f64;
        }
    }
    sums
}

fn share(hit: bool) -> f64 {
    f64::from(u8::from(hit))
}
