//! What waits for a decision in an older store waits for one here: a candidate each, in force once a person approves it.

use std::collections::HashSet;

use strata_core::{
    id::IdKind,
    memory::{Layer, Status},
    policy::Action,
};
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, NewAudit, NewMemory, NewReview, State},
};

use super::prepare::{Origin, Prepared, PreparedMemory};
use crate::{authority, engine::Engine, error::Error, operation::Call, review};

/// What became of what waits.
#[derive(Debug, Default)]
pub(super) struct Filed {
    /// Questions that wait here now.
    pub(super) added: usize,
    /// Those that were here before, whatever was decided here, or whose text stands or waits here already.
    pub(super) known: usize,
    /// Those whose text was purged here; they stay out.
    pub(super) purged: usize,
}

/// Files them, all or none: what is on record of each, and why a person is asked.
pub(super) fn file(
    engine: &Engine,
    call: &Call<'_>,
    origin: &Origin,
    prepared: &Prepared,
    (on_record, why): (&str, &dyn Fn(&PreparedMemory) -> String),
    dry_run: bool,
) -> Result<Filed, Error> {
    let standing: Vec<Standing> = match engine.is_initialised()? {
        true => {
            engine.read(call, |r| prepared.memories.iter().map(|row| Standing::of(r, &row.new)).collect())?
        }
        false => Vec::new(),
    };
    let mut filed = Filed::default();
    let new = sort(&prepared.memories, &standing, &mut filed);
    let asked: Vec<_> =
        new.into_iter().map(|row| (candidate(row), ask(engine, origin, row, why(row)))).collect();
    filed.added = asked.len();
    if !dry_run && !asked.is_empty() {
        store(engine, call, &asked, on_record)?;
    }
    Ok(filed)
}

/// How a text stands here already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It came in before, or it is in force or waits.
    Known,
    /// It was erased, and stays out.
    Purged,
    /// Not at all.
    New,
}

impl Standing {
    fn of(r: &LedgerRead<'_>, new: &NewMemory) -> Result<Self, StoreError> {
        if r.is_purged(new.id.as_str())? {
            return Ok(Self::Purged);
        }
        if r.memory(new.id.as_str())?.is_some() {
            return Ok(Self::Known);
        }
        let same = r.by_content(&r.content_key(&new.identity)?)?;
        let counts = |status: Status| status == Status::Candidate || status.is_live();
        let is_known = same.iter().any(|memory| memory.scope == new.scope && counts(memory.state.status));
        Ok(if is_known { Self::Known } else { Self::New })
    }
}

/// Those that are new here, each text once. In a home that was never written to nothing is known: then `standing` is empty.
fn sort<'p>(rows: &'p [PreparedMemory], standing: &[Standing], filed: &mut Filed) -> Vec<&'p PreparedMemory> {
    let (mut new, mut said) = (Vec::new(), HashSet::new());
    for (at, row) in rows.iter().enumerate() {
        match standing.get(at).unwrap_or(&Standing::New) {
            Standing::Purged => filed.purged += 1,
            Standing::New if said.insert(&row.new.identity) => new.push(row),
            Standing::New | Standing::Known => filed.known += 1,
        }
    }
    new
}

fn candidate(row: &PreparedMemory) -> NewMemory {
    NewMemory { state: State { status: Status::Candidate, ..row.new.state }, ..row.new.clone() }
}

/// The question to a person.
fn ask(engine: &Engine, origin: &Origin, row: &PreparedMemory, reason: String) -> NewReview {
    NewReview {
        id: row.key.id(IdKind::Review, &origin.source, &origin.scope, ""),
        kind: review::CANDIDATE.into(),
        target: row.new.id.to_string(),
        proposal: serde_json::json!({ "approve": { "status": "active" } }).to_string(),
        reason,
        proposer: row.new.writer.clone(),
        created_at: row.new.created_at,
        salt: engine.ids().salt(),
    }
}

fn store(
    engine: &Engine,
    call: &Call<'_>,
    asked: &[(NewMemory, NewReview)],
    on_record: &str,
) -> Result<(), Error> {
    let actor = authority::authorise(engine, call, Action::Propose, Layer::P5, "")?;
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        for (new, review) in asked {
            let row = NewAudit {
                layer: Some(new.state.layer),
                reason: on_record,
                after_hash: Some(new.audit_hash()),
                ..NewAudit::new(&actor, call.face, Action::Propose.as_str(), new.id.as_str()).asking(review)
            };
            let seq = w.record(&row)?;
            w.insert_memory(new, seq)?;
            w.insert_review(review, seq)?;
        }
        authority::seal(w, call, &actor)
    })?;
    Ok(())
}
