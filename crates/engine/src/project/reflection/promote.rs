//! A candidate becomes a memory, or adds to one, or is put before a person: one transaction each.

use std::collections::BTreeMap;

use serde::Serialize;
use strata_core::{
    duplicate,
    memory::{Kind, Layer, Relation, Status, Tier},
    project::{
        areas::Areas,
        gates::Candidate,
        likeness::Node,
        promotion::{CONFIDENCE, Conflict, Decision, Promotion, decide, merged},
    },
};
use strata_store::{
    error::StoreError,
    ledger::{EvidenceRow, LedgerWrite, MemoryRelation, MemoryRow, NewAudit},
};

use super::{
    known::{compared, like},
    place::Standing,
    tree::parent_of,
};
use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    memory::{
        draft::{Draft, Placing},
        write::{self, Judged, Stored},
    },
    operation::Call,
    project::node::wire_kind,
    review::dispute::{self, Question},
};

/// The word on record for what reflection stores.
pub const ACTION: &str = "reflect";

/// What became of a candidate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The kind of memory, in the wire's words.
    pub kind: String,
    /// Its headline.
    pub title: String,
    /// `create`, `update`, `merge`, `supersede`, `discard` or `needs_review`.
    pub action: &'static str,
    /// The memory that now says it; of `discard`, the one that said it before.
    pub id: String,
    /// The memory that it was compared with and done to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// How like the two are, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// The memory above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The question that waits for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<String>,
    /// Why.
    pub reason: &'static str,
    /// What the memory above it says of it now; for the caller's notes.
    #[serde(skip)]
    pub note: Option<String>,
}

/// A candidate on its way in: all its texts are through the gate.
pub struct Incoming<'a> {
    /// What it says.
    pub candidate: &'a Candidate,
    /// What it rests on.
    pub grounds: Vec<EvidenceRow>,
    /// What it came from.
    pub source: String,
    /// Where it belongs.
    pub standing: &'a Standing,
    /// The id of the memory above it, where its writer named one.
    pub parent: Option<String>,
}

/// Compares a candidate with the memories in force and does with it what the table says.
///
/// # Errors
/// Refusals by the policy; a conflict when somebody changed what it was compared with.
pub fn promote(
    engine: &Engine,
    call: &Call<'_>,
    incoming: &Incoming<'_>,
    areas: &Areas,
) -> Result<Outcome, Error> {
    let candidate = incoming.candidate;
    let rows = like(engine, call, &incoming.standing.reader(call), (&candidate.title, &candidate.text))?;
    let known: Vec<_> = rows.iter().map(|row| compared(call, &incoming.standing.scope, row)).collect();
    let node = Node {
        kind: candidate.kind,
        title: &candidate.title,
        text: &candidate.text,
        module_path: candidate.module_path.as_deref(),
        confidence: candidate.confidence,
    };
    let decision = decide(&node, &known, areas);
    let target = decision.target.and_then(|at| rows.get(at));
    match (decision.action, target) {
        (Promotion::Discard, Some(target)) => discard(engine, call, incoming, &decision, target),
        (Promotion::NeedsReview, Some(target)) => ask(engine, call, incoming, &decision, target),
        (Promotion::Supersede | Promotion::Update | Promotion::Merge, Some(target)) => {
            replace(engine, call, incoming, &decision, target)
        }
        _ => create(engine, call, incoming, &decision, &rows),
    }
}

fn create(
    engine: &Engine,
    call: &Call<'_>,
    incoming: &Incoming<'_>,
    decision: &Decision,
    rows: &[MemoryRow],
) -> Result<Outcome, Error> {
    let (draft, above) = draft(engine, call, incoming)?;
    let related: Vec<i64> =
        decision.related.iter().filter_map(|at| rows.get(*at)).map(|r| r.number).collect();
    let judged = Judged { predecessor: None, reason: decision.reason, status: Status::Active };
    let now = engine.clock().now();
    let stored = write::store_judged(engine, call, &draft, judged, &|w, stored| {
        let to = |target: &i64| MemoryRelation {
            source: stored.number,
            relation: Relation::RelatedTo,
            target: *target,
            at: now,
        };
        relate(w, call, stored, &related.iter().map(to).collect::<Vec<_>>())
    })?;
    Ok(Outcome::of(incoming, decision, &stored, None).under(above.as_ref()))
}

/// Stores the next version of a memory that says less.
fn replace(
    engine: &Engine,
    call: &Call<'_>,
    incoming: &Incoming<'_>,
    decision: &Decision,
    old: &MemoryRow,
) -> Result<Outcome, Error> {
    let (mut draft, above) = draft(engine, call, incoming)?;
    let (candidate, known) = (incoming.candidate, &old.state);
    if decision.action == Promotion::Merge {
        draft.text = merged(&old.body, &candidate.text);
        draft.bands = duplicate::bands(&draft.text);
    }
    if decision.action != Promotion::Supersede {
        draft.title = (!old.title.is_empty()).then(|| old.title.clone());
        draft.confidence = known.confidence.max(candidate.confidence);
    }
    draft.importance = known.importance.max(candidate.importance);
    draft.layer = known.layer;
    draft.tags = united(&old.tags, &candidate.tags);
    draft.placing.parent = old.parent.clone().or(draft.placing.parent);
    draft.placing.module_path = old.module_path.clone().or(draft.placing.module_path);
    draft.topic_key.clone_from(&old.topic_key);
    draft.metadata = serde_json::from_str(&old.metadata).unwrap_or_default();
    let mut grounds = engine.read(call, |r| r.evidence(old.number))?;
    add_new(&mut grounds, std::mem::take(&mut draft.grounds));
    draft.grounds = grounds;
    let judged = Judged { predecessor: Some(old.clone()), reason: decision.reason, status: known.status };
    let relation = Relation::Supersedes;
    let now = engine.clock().now();
    let replaces = decision.action == Promotion::Supersede;
    let stored = write::store_judged(engine, call, &draft, judged, &|w, stored| {
        let link = MemoryRelation { source: stored.number, relation, target: old.number, at: now };
        relate(w, call, stored, if replaces { std::slice::from_ref(&link) } else { &[] })
    })?;
    Ok(Outcome::of(incoming, decision, &stored, Some(old)).under(above.as_ref()))
}

/// Stores a candidate beside the memory that it contradicts, marks both, and asks a person which holds.
fn ask(
    engine: &Engine,
    call: &Call<'_>,
    incoming: &Incoming<'_>,
    decision: &Decision,
    against: &MemoryRow,
) -> Result<Outcome, Error> {
    let (draft, above) = draft(engine, call, incoming)?;
    let Some(conflict) = &decision.conflict else {
        return Err(Error::Internal("a question without a conflict".into()));
    };
    let question = Question::new(engine, call, against, &proposal(conflict)?)?;
    let judged = Judged { predecessor: None, reason: decision.reason, status: Status::NeedsReview };
    // Readers elsewhere do not see what a branch says against it, and a doubt is no contradiction.
    let marks = against.scope == incoming.standing.scope && conflict.axis != CONFIDENCE;
    let stored = write::store_judged(engine, call, &draft, judged, &|w, stored| {
        if !stored.new {
            return Ok(());
        }
        dispute::file(w, call, &question, against, (stored, draft.layer))?;
        if marks {
            dispute::mark(w, call, against.number, decision.reason)?;
        }
        Ok(())
    })?;
    let review = stored.new.then(|| question.id());
    Ok(Outcome { review, ..Outcome::of(incoming, decision, &stored, Some(against)).under(above.as_ref()) })
}

/// What differs, through the gate.
fn proposal(conflict: &Conflict) -> Result<dispute::Difference, Error> {
    let mut gate = Gate::default();
    let mut passed = |text: &str| gate.field("value", Some(text)).map(Option::unwrap_or_default);
    Ok(dispute::Difference {
        axis: conflict.axis,
        subject: passed(&conflict.subject)?,
        values: [passed(&conflict.values[0])?, passed(&conflict.values[1])?],
        score: conflict.score,
    })
}

/// Keeps what a candidate rests on with the memory that says it already.
fn discard(
    engine: &Engine,
    call: &Call<'_>,
    incoming: &Incoming<'_>,
    decision: &Decision,
    known: &MemoryRow,
) -> Result<Outcome, Error> {
    add_evidence(engine, call, known, &incoming.grounds, decision.reason)?;
    let stored = Stored {
        id: known.id.clone(),
        number: known.number,
        new: false,
        kind: known.kind.clone(),
        layer: known.state.layer,
        superseded: None,
        similar: None,
        contradicts: None,
    };
    Ok(Outcome::of(incoming, decision, &stored, Some(known)))
}

/// Adds what a memory rests on that is not with it yet, on record; returns how much that was. Whoever may not write to
/// its layer adds nothing.
pub fn add_evidence(
    engine: &Engine,
    call: &Call<'_>,
    memory: &MemoryRow,
    grounds: &[EvidenceRow],
    reason: &str,
) -> Result<usize, Error> {
    let known = engine.read(call, |r| r.evidence(memory.number))?;
    let mut all = known.clone();
    add_new(&mut all, grounds.to_vec());
    let fresh = all.split_off(known.len());
    if fresh.is_empty() || !dispute::may_change(call, memory.state.layer) {
        return Ok(0);
    }
    let row = NewAudit {
        layer: Some(memory.state.layer),
        reason,
        before_hash: Some(memory.content_hash),
        after_hash: Some(memory.content_hash),
        ..NewAudit::new(call.principal, call.face, "evidence_add", &memory.id)
    };
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        w.record(&row)?;
        fresh.iter().try_for_each(|evidence| w.add_evidence(memory.number, evidence))
    })?;
    Ok(fresh.len())
}

/// Adds those that are not there yet, whenever they were written.
fn add_new(known: &mut Vec<EvidenceRow>, more: Vec<EvidenceRow>) {
    for row in more {
        let same = |k: &EvidenceRow| k.kind == row.kind && k.reference == row.reference && k.note == row.note;
        if !known.iter().any(same) {
            known.push(row);
        }
    }
}

/// Most tags of a memory that was put together.
const MAX_TAGS: usize = 12;

fn united(known: &[String], more: &[String]) -> Vec<String> {
    let mut all = known.to_vec();
    all.extend(more.iter().filter(|tag| !known.contains(tag)).cloned());
    all.truncate(MAX_TAGS.max(known.len()));
    all
}

/// Puts down relations under a line of their own.
fn relate(
    w: &LedgerWrite<'_>,
    call: &Call<'_>,
    stored: &Stored,
    relations: &[MemoryRelation],
) -> Result<(), StoreError> {
    let relations: Vec<_> = relations.iter().filter(|r| r.source != r.target).copied().collect();
    if !stored.new || relations.is_empty() {
        return Ok(());
    }
    let row = NewAudit {
        layer: Some(stored.layer),
        ..NewAudit::new(call.principal, call.face, "relate", &stored.id)
    };
    let seq = w.record(&row)?;
    w.relate_memories(&relations, seq)
}

/// The layer of a kind of a project's memory: faults in P6, what is known in P5. A constraint that an agent reports binds
/// nobody until a person makes a rule of it.
pub fn layer_of(kind: &str) -> Layer {
    if kind == "incident" { Layer::P6 } else { Layer::P5 }
}

/// What would be stored, and the memory above it.
fn draft(
    engine: &Engine,
    call: &Call<'_>,
    incoming: &Incoming<'_>,
) -> Result<(Draft, Option<MemoryRow>), Error> {
    let (candidate, standing) = (incoming.candidate, incoming.standing);
    let of = (candidate.kind, candidate.title.as_str());
    let above = engine.read(call, |r| match &incoming.parent {
        Some(id) => r.memory(id),
        None => parent_of(r, &standing.scope, of, candidate.module_path.as_deref()),
    })?;
    let draft = Draft {
        text: candidate.text.clone(),
        kind: Kind::parse(candidate.kind).map_err(|e| Error::parse("kind", &e))?,
        title: Some(candidate.title.clone()).filter(|title| !title.is_empty()),
        layer: layer_of(candidate.kind),
        topic_key: None,
        supersedes: None,
        supersede_reason: None,
        tags: candidate.tags.clone(),
        confidence: candidate.confidence,
        importance: candidate.importance,
        source: Some(incoming.source.clone()),
        session: None,
        evidence: Vec::new(),
        grounds: incoming.grounds.clone(),
        valid_from: None,
        valid_to: None,
        scope: standing.scope.clone(),
        placing: Placing {
            branch_scope: standing.branch_scope.to_owned(),
            commit: standing.commit.clone(),
            module_path: candidate.module_path.clone(),
            parent: above.as_ref().map(|row| row.id.clone()),
        },
        pinned: false,
        tier: Tier::Hot,
        metadata: BTreeMap::new(),
        redacted: Vec::new(),
        route: None,
        bands: duplicate::bands(&candidate.text),
        rule: None,
        action: ACTION,
        writer: None,
    };
    Ok((draft, above))
}

impl Outcome {
    fn of(incoming: &Incoming<'_>, decision: &Decision, stored: &Stored, target: Option<&MemoryRow>) -> Self {
        // What said the same word for word under another title was there before.
        let action = if stored.new { decision.action } else { Promotion::Discard };
        Self {
            kind: wire_kind(&stored.kind).to_owned(),
            title: incoming.candidate.title.clone(),
            action: action.as_str(),
            id: stored.id.clone(),
            target: target.map(|row| row.id.clone()),
            similarity: decision.likeness.map(|likeness| likeness.score),
            parent: None,
            review: None,
            reason: decision.reason,
            note: None,
        }
    }

    fn under(self, above: Option<&MemoryRow>) -> Self {
        let Some(above) = above.filter(|_| self.action != Promotion::Discard.as_str()) else { return self };
        let name = if above.title.is_empty() { &above.id } else { &above.title };
        let note = format!("`{name}` now tells of `{}`", self.title);
        Self { parent: Some(above.id.clone()), note: Some(note), ..self }
    }

    /// Whether something is in force that was not.
    pub fn is_promoted(&self) -> bool {
        ![Promotion::Discard, Promotion::NeedsReview].iter().any(|action| action.as_str() == self.action)
    }

    /// Whether a person is asked.
    pub fn is_asked(&self) -> bool {
        self.action == Promotion::NeedsReview.as_str()
    }
}
