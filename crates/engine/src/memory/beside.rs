//! The memories that say nearly what a draft says, or the opposite.

use strata_core::duplicate::{
    self, Comparison,
    contradiction::{self, Claims},
};
use strata_store::{
    error::{Conflict, StoreError},
    ledger::{LedgerRead, LedgerWrite, MemoryRow},
};

use super::{
    draft::Draft,
    similar::{Contradicts, Similar},
    write::stored_bands,
};
use crate::{engine::Engine, error::Error, operation::Call};

/// Candidates compared word by word.
const MAX_COMPARED: usize = 24;

/// A stored memory and how it stands to the draft.
pub(super) type Compared = (MemoryRow, Comparison);

/// The memory in force that says nearly the same as a draft, and the one that it contradicts most surely.
pub(crate) fn beside(
    engine: &Engine,
    call: &Call<'_>,
    draft: &Draft,
) -> Result<(Option<Similar>, Option<Contradicts>), Error> {
    let (_, candidates) = engine.read(call, |read| Around::look(read, draft))?;
    let contradicts = contradicted(&candidates, draft);
    Ok((found(nearest(candidates, draft)), contradicts))
}

/// What stood around a draft when it was compared.
#[derive(Debug, Default)]
pub(super) struct Around {
    /// The ledger's last sequence then.
    seq: i64,
    /// The memories that share wording with it, by number.
    like: Vec<i64>,
}

impl Around {
    /// Looks around: the live memories, visible from where the draft goes, that share most keys with it.
    pub(super) fn look(read: &LedgerRead<'_>, draft: &Draft) -> Result<(Self, Vec<MemoryRow>), StoreError> {
        let seen = Self { seq: read.head()?.seq, like: like(read, draft)? };
        let rows = read.memories_by_numbers(&seen.like)?;
        Ok((seen, rows))
    }

    /// Refuses to go on from a comparison that others have overtaken. No text is compared for it.
    pub(super) fn must_hold(&self, w: &LedgerWrite<'_>, draft: &Draft) -> Result<(), StoreError> {
        if w.head()?.seq == self.seq || like(w, draft)? == self.like {
            return Ok(());
        }
        Err(Conflict::Overtaken { seen: self.seq }.into())
    }
}

fn like(read: &LedgerRead<'_>, draft: &Draft) -> Result<Vec<i64>, StoreError> {
    let hits = read.by_bands(&stored_bands(draft), &draft.scope, MAX_COMPARED)?;
    Ok(hits.iter().map(|hit| hit.number).collect())
}

pub(super) fn found(similar: Option<Compared>) -> Option<Similar> {
    similar.and_then(|(old, comparison)| Similar::of(&old.id, &old.body, &comparison))
}

/// The one whose wording is nearest to the draft, if any says nearly the same.
pub(super) fn nearest(candidates: Vec<MemoryRow>, draft: &Draft) -> Option<Compared> {
    let mut best: Option<Compared> = None;
    for old in candidates {
        let comparison = duplicate::compare(&old.body, &draft.text);
        let telling = comparison.verdict != duplicate::Verdict::Different;
        if telling && best.as_ref().is_none_or(|(_, b)| comparison.similarity > b.similarity) {
            best = Some((old, comparison));
        }
    }
    best
}

/// The one that the draft contradicts most surely, if it contradicts any.
pub(super) fn contradicted(candidates: &[MemoryRow], draft: &Draft) -> Option<Contradicts> {
    if candidates.is_empty() {
        return None;
    }
    let claims = Claims::of(&draft.text);
    let found = candidates.iter().filter_map(|old| {
        let found = contradiction::between(&Claims::of(&old.body), &claims)?;
        Some((found.score, old, found))
    });
    let surest = found.max_by(|(x, a, _), (y, b, _)| x.total_cmp(y).then(a.number.cmp(&b.number)));
    surest.map(|(_, old, found)| Contradicts::of(&old.id, &old.body, found))
}
