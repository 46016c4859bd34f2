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
        if compiled.lets_everything() {
            return None;
        }
        let (alive, times) = (seen.alive(), &seen.columns().at);
        Some(Bits::of(view.rows.len(), |slot| {
            let is_alive = alive.contains(u32::try_from(slot).unwrap_or(u32::MAX));
            is_alive && compiled.lets(&Attributes { at: times[slot], ..view.rows[slot] })
        }))
    }
}

/// A filter in the numbers of one collection.
struct Compiled<'f> {
    filter: &'f Filter,
    layers: u8,
    sources: u8,
    kinds: Option<Labels>,
    branches: Option<Labels>,
}

/// Which labels of a space pass, by number.
struct Labels(Vec<bool>);

impl Labels {
    /// The labels named in `wanted`; `None` when every passage of the collection passes.
    fn of(view: &View, space: Space, wanted: &[String]) -> Option<Self> {
        let without = wanted.iter().any(String::is_empty);
        let named = view.words(space).iter().map(|word| wanted.contains(word));
        let passing: Vec<bool> = std::iter::once(without).chain(named).collect();
        (!passing.iter().all(|passes| *passes)).then_some(Self(passing))
    }

    fn contains(&self, number: u32) -> bool {
        self.0.get(number as usize).copied().unwrap_or(false)
    }
}

impl<'f> Compiled<'f> {
    fn of(filter: &'f Filter, view: &View) -> Self {
        let every = |set: u8| if set == 0 { u8::MAX } else { set };
        Self {
            filter,
            layers: every(filter.layers.iter().fold(0, |set, layer| set | 1 << layer.index())),
            sources: every(filter.sources.iter().fold(0, |set, kind| set | 1 << kind.code())),
            kinds: if filter.kinds.is_empty() { None } else { Labels::of(view, Space::Kind, &filter.kinds) },
            branches: filter.branches.as_ref().and_then(|words| Labels::of(view, Space::Branch, words)),
        }
    }

    /// Whether no row of this collection can fail, e.g. branches asked for where there are no others.
    fn lets_everything(&self) -> bool {
        self.layers == u8::MAX
            && self.sources == u8::MAX
            && self.kinds.is_none()
            && self.branches.is_none()
            && self.filter.time.is_none()
            && self.filter.with == 0
            && self.filter.without == 0
            && self.filter.only.is_none()
    }

    fn lets(&self, row: &Attributes) -> bool {
        let marks = row.flags >> 8;
        self.layers >> row.layer.min(7) & 1 == 1
            && self.sources >> row.source_kind.min(7) & 1 == 1
            && marks & self.filter.with == self.filter.with
            && marks & self.filter.without == 0
            && self.filter.time.is_none_or(|range| range.contains(strata_core::time::Timestamp(row.at)))
            && self.kinds.as_ref().is_none_or(|kinds| kinds.contains(row.kind))
            && self.branches.as_ref().is_none_or(|branches| branches.contains(row.branch))
            && self.filter.only.as_ref().is_none_or(|only| row.source().is_some_and(|s| only.contains(&s)))
    }
}
