//! A collection in memory, built from plain items: for reads of the past, unindexed tails and tests.

use std::collections::HashMap;

use super::{
    Part, Ranking, TermPostings,
    columns::{Columns, ColumnsBuilder, Flags, NO_TIME, NONE, Row},
    rank,
    settings::Settings,
};
use crate::analysis::{Query, QueryContext, analyze_passage, analyze_query};

/// One passage, as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Item<'a> {
    /// The text that is searched.
    pub text: &'a str,
    /// Its session or document.
    pub group: Option<&'a str>,
    /// Whether items of its group stand in order, so that those before and after it are neighbours.
    pub is_ordered: bool,
    /// Who said or owns it.
    pub owner: Option<&'a str>,
    /// Microseconds UTC.
    pub at: Option<i64>,
    /// [`Flags::CODE`], [`Flags::TURN`]; the other flags follow from the text.
    pub kind: u8,
    /// 0 for P0 to 6 for P6.
    pub layer: u8,
    /// Confidence in units of 1/200.
    pub confidence: u8,
    /// Importance in units of 1/200.
    pub importance: u8,
    /// Class of source.
    pub source: u8,
    /// Parts equals; give the number by which the source is known.
    pub stable: u64,
    /// Its vector, of unit length; empty for none.
    pub vector: &'a [f32],
}

impl Default for Item<'_> {
    fn default() -> Self {
        Self {
            text: "",
            group: None,
            is_ordered: false,
            owner: None,
            at: None,
            kind: 0,
            layer: 5,
            confidence: 100,
            importance: 100,
            source: 0,
            stable: 0,
            vector: &[],
        }
    }
}

/// A searchable collection in memory.
#[derive(Debug, Default)]
pub struct Corpus {
    columns: Columns,
    postings: HashMap<String, TermPostings>,
    owners: Vec<String>,
    vectors: Vec<Vec<f32>>,
    has_vectors: bool,
}

impl Corpus {
    /// Builds a collection from items; the slot of an item is its position. Items of one group are
    /// neighbours in the order in which they are given.
    pub fn build(items: &[Item<'_>]) -> Self {
        let mut corpus = Self::default();
        let mut builder = ColumnsBuilder::default();
        let mut groups: HashMap<&str, u32> = HashMap::new();
        let mut owners: HashMap<&str, u32> = HashMap::new();
        for item in items {
            let passage = analyze_passage(item.text);
            let group = item.group.map_or(NONE, |g| number(&mut groups, g));
            let owner = item.owner.map_or(NONE, |o| number(&mut owners, o));
            if owner as usize == corpus.owners.len() {
                corpus.owners.extend(item.owner.map(str::to_owned));
            }
            let slot = builder.push(&Row {
                length: passage.length,
                group,
                follows: item.is_ordered,
                owner,
                at: item.at.unwrap_or(NO_TIME),
                flags: Flags::of(&passage, item.kind),
                layer: item.layer,
                confidence: item.confidence,
                importance: item.importance,
                source: item.source,
                stable: item.stable,
                fingerprint: passage.fingerprint,
            });
            for (term, frequency) in passage.terms {
                let postings = corpus.postings.entry(term).or_default();
                postings.slots.push(slot);
                postings.frequencies.push(frequency);
            }
            corpus.has_vectors |= !item.vector.is_empty();
            corpus.vectors.push(item.vector.to_vec());
        }
        corpus.columns = builder.finish();
        corpus
    }

    /// The columns.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The owners by number, as given.
    pub fn owners(&self) -> &[String] {
        &self.owners
    }

    /// The postings of each term of a query.
    pub fn postings(&self, query: &Query) -> Vec<TermPostings> {
        query.terms.iter().map(|t| self.postings.get(&t.text).cloned().unwrap_or_default()).collect()
    }

    /// The cosine of a unit vector with each item's; `None` when no item has a vector. NaN where the item
    /// has none or one of another length.
    pub fn cosines(&self, vector: &[f32]) -> Option<Vec<f32>> {
        let dot = |v: &Vec<f32>| {
            if v.is_empty() || v.len() != vector.len() {
                f32::NAN
            } else {
                v.iter().zip(vector).map(|(a, b)| a * b).sum()
            }
        };
        self.has_vectors.then(|| self.vectors.iter().map(dot).collect())
    }

    /// Analyses and ranks one query over this collection alone.
    pub fn search(&self, text: &str, vector: Option<&[f32]>, settings: &Settings, limit: usize) -> Ranking {
        let people: Vec<&str> = self.owners.iter().map(String::as_str).collect();
        let now = settings.now.map(crate::time::Timestamp);
        let query = analyze_query(text, &QueryContext { people: &people, now, ..QueryContext::default() });
        self.rank(&query, vector, settings, limit)
    }

    /// Ranks an analysed query over this collection alone; the query's people are [`Corpus::owners`].
    pub fn rank(&self, query: &Query, vector: Option<&[f32]>, settings: &Settings, limit: usize) -> Ranking {
        let people: Vec<u32> = (0..).take(self.owners.len()).collect();
        let postings = self.postings(query);
        let cosines = vector.and_then(|v| self.cosines(v));
        let part = Part {
            columns: &self.columns,
            postings: &postings,
            cosines: cosines.as_deref(),
            people: &people,
        };
        rank(query, &[part], &|_, _| true, settings, limit)
    }
}

fn number<'a>(numbers: &mut HashMap<&'a str, u32>, name: &'a str) -> u32 {
    let next = u32::try_from(numbers.len()).unwrap_or(NONE);
    *numbers.entry(name).or_insert(next)
}
