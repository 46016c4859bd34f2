//! What a search may return, decided before ranking. Filters never change the statistics.

use std::collections::HashSet;

use strata_core::{memory::Layer, time::TimeRange};

use super::{
    attributes::Attributes,
    bits::Bits,
    labels::Space,
    truth::{Source, SourceKind},
    view::{Seen, View},
};

/// Conditions that all must hold; the default lets everything pass.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// These layers only; empty is all.
    pub layers: Vec<Layer>,
    /// These kinds only; empty is all.
    pub kinds: Vec<String>,
    /// These sorts of source only; empty is all.
    pub sources: Vec<SourceKind>,
    /// What happened in this range.
    pub time: Option<TimeRange>,
    /// These branches only, `""` being no branch; `None` is all.
    pub branches: Option<Vec<String>>,
    /// These sources only; `None` is all. For what the index does not know and the ledger lists.
    pub only: Option<HashSet<Source>>,
    /// Caller's marks that must be set (24 bits).
    pub with: u32,
    /// Caller's marks that must not be set.
    pub without: u32,
}

impl Filter {
    fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// The slots of `view` that are seen and pass; `None` when every living slot does.
    pub(crate) fn passing(&self, view: &View, seen: &Seen<'_>) -> Option<Bits> {
        if self.is_open() {
            return None;
        }
        let compiled = Compiled::of(self, view);
        let alive = seen.alive();
        Some(Bits::of(view.rows.len(), |slot| {
            alive.contains(u32::try_from(slot).unwrap_or(u32::MAX)) && compiled.lets(&view.rows[slot])
        }))
    }
}

/// A filter in the numbers of one collection.
struct Compiled<'f> {
    filter: &'f Filter,
    layers: u8,
    sources: u8,
    kinds: Option<HashSet<u32>>,
    branches: Option<HashSet<u32>>,
}

impl<'f> Compiled<'f> {
    fn of(filter: &'f Filter, view: &View) -> Self {
        let every = |set: u8| if set == 0 { u8::MAX } else { set };
        let wanted = |space: Space, words: &[String]| {
            let numbered = (1..).zip(view.words(space));
            let mut numbers: HashSet<u32> =
                numbered.filter(|(_, word)| words.contains(*word)).map(|(number, _)| number).collect();
            if words.iter().any(String::is_empty) {
                numbers.insert(0);
            }
            numbers
        };
        Self {
            filter,
            layers: every(filter.layers.iter().fold(0, |set, layer| set | 1 << layer.index())),
            sources: every(filter.sources.iter().fold(0, |set, kind| set | 1 << kind.code())),
            kinds: (!filter.kinds.is_empty()).then(|| wanted(Space::Kind, &filter.kinds)),
            branches: filter.branches.as_ref().map(|branches| wanted(Space::Branch, branches)),
        }
    }

    fn lets(&self, row: &Attributes) -> bool {
        let marks = row.flags >> 8;
        self.layers >> row.layer.min(7) & 1 == 1
            && self.sources >> row.source_kind.min(7) & 1 == 1
            && marks & self.filter.with == self.filter.with
            && marks & self.filter.without == 0
            && self.filter.time.is_none_or(|range| range.contains(strata_core::time::Timestamp(row.at)))
            && self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&row.kind))
            && self.branches.as_ref().is_none_or(|branches| branches.contains(&row.branch))
            && self.filter.only.as_ref().is_none_or(|only| row.source().is_some_and(|s| only.contains(&s)))
    }
}
