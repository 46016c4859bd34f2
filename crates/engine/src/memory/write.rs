//! Storing a memory: duplicates, predecessor, policy, then one transaction.

use strata_core::{
    duplicate,
    id::{Id, IdKind},
    memory::{Kind, Layer, Status},
    policy::Action,
    principal::Principal,
    time::Timestamp,
};
use strata_store::{
    error::{Conflict, StoreError},
    ledger::{EvidenceRow, LedgerRead, LedgerWrite, MemoryRow, NewAudit, NewMemory, Seq, State},
};

use super::{
    beside::{Around, Compared, contradicted, found, nearest},
    draft::Draft,
    reference::Reference,
    similar::{self, Contradicts, Similar},
};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    graph::noticing::{self, Noticed},
    operation::Call,
    project::anchors::{Anchor, CODE},
    rules,
};

/// What became of a draft.
#[derive(Debug)]
pub struct Stored {
    /// The memory's id.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// Whether it was not there before.
    pub new: bool,
    /// Its kind: of what was there before, not of the draft that says the same.
    pub kind: Kind,
    /// Its layer, likewise.
    pub layer: Layer,
    /// The memory it replaced.
    pub superseded: Option<String>,
    /// A stored memory that says nearly the same, or the opposite.
    pub similar: Option<Similar>,
    /// A stored memory that cannot hold together with this one.
    pub contradicts: Option<Contradicts>,
}

impl Stored {
    /// What was there before.
    pub(crate) fn before(memory: &MemoryRow) -> Self {
        Self {
            id: memory.id.clone(),
            number: memory.number,
            new: false,
            kind: memory.kind.clone(),
            layer: memory.state.layer,
            superseded: None,
            similar: None,
            contradicts: None,
        }
    }
}

/// What the reads before the transaction found.
struct Plan {
    predecessor: Option<MemoryRow>,
    reason: String,
    similar: Option<Similar>,
}

/// Times a draft is compared when others store what is like it meanwhile.
const LOOKS: usize = 8;

/// Stores a draft, compared with what is stored by then: of two that say nearly the same at once, the second sees the
/// first.
///
/// # Errors
/// Refusals by the policy, for the new layer and that of the memory it replaces; a conflict when
/// somebody else replaced the one that it names first.
pub fn store(engine: &Engine, call: &Call<'_>, draft: &Draft) -> Result<Stored, Error> {
    let actor = may_store(engine, call, draft)?;
    let is_named = draft.supersedes.is_some();
    for _ in 1..LOOKS {
        match compare_and_store(engine, call, draft, &actor, true) {
            Err(Error::Store(StoreError::Conflict(Conflict::Overtaken { .. }))) => {}
            // Who names what it replaces is told that somebody else was first.
            Err(Error::Store(StoreError::Conflict(conflict))) if !is_named && is_overtaken(&conflict) => {}
            done => return done,
        }
    }
    // Rather said twice than lost.
    compare_and_store(engine, call, draft, &actor, false)
}

/// Whether another look finds what stands in the way.
const fn is_overtaken(conflict: &Conflict) -> bool {
    matches!(
        conflict,
        Conflict::TopicTaken { .. } | Conflict::AlreadySuperseded { .. } | Conflict::StateMoved { .. }
    )
}

/// Does it once. `holds` lets the comparison stand only if nobody has stored, or put away, what is like the draft since.
fn compare_and_store(
    engine: &Engine,
    call: &Call<'_>,
    draft: &Draft,
    actor: &Principal,
    holds: bool,
) -> Result<Stored, Error> {
    let (ledger, control) = (engine.ledger(call)?, engine.control(call));
    let identity = duplicate::identity(&draft.text);
    let now = engine.clock().now();
    let (seen, candidates) = ledger.read(&control, |read| Around::look(read, draft))?;
    // Comparing long texts takes longer than a snapshot should be held.
    let contradicts = contradicted(&candidates, draft);
    let similar = nearest(candidates, draft);
    let plan = ledger.read(&control, |read| Ok(plan(read, call, draft, &identity, similar, now)))??;
    let actor = may_leave(engine, call, draft, actor, plan.predecessor.as_ref())?;
    let new = new_memory(engine, &actor, draft, &identity, plan.predecessor.as_ref(), &plan.reason);
    let text = (new.title.as_str(), draft.text.as_str());
    let noticed = noticing::look(engine, ledger, &control, text, &draft.scope, &new.writer)?;
    // Statistics go along with a commit that is made anyway.
    let used = engine.uses().take();
    let (recalled, inspected) = (used.recalled(), used.inspected());
    let stored = ledger.write(&control, engine.clock().now(), |w| {
        w.count_usage(&recalled, &inspected)?;
        if holds {
            seen.must_hold(w, draft)?;
        }
        commit(w, call, &actor, (draft.action, &new), &plan, &noticed)
    });
    // They wait for the next one that is made.
    let mut stored = stored.inspect_err(|_| {
        let _is_time_to_write = engine.uses().add(&recalled, &inspected);
    })?;
    let stands = |id: &String| stored.superseded.as_ref() != Some(id) && *id != stored.id;
    let (similar, contradicts) =
        (plan.similar.filter(|s| stands(&s.id)), contradicts.filter(|c| stands(&c.id)));
    (stored.similar, stored.contradicts) = (similar, contradicts);
    engine.index_what_was_stored(call);
    Ok(stored)
}

/// Who replaces what a draft takes the place of, if the caller may.
fn may_leave(
    engine: &Engine,
    call: &Call<'_>,
    draft: &Draft,
    actor: &Principal,
    old: Option<&MemoryRow>,
) -> Result<Principal, Error> {
    let Some(old) = old else { return Ok(actor.clone()) };
    let is_new = draft.action == Action::Remember.as_str();
    let name = if is_new { Action::Update.as_str() } else { draft.action };
    let leaving = authority::authorise_as(engine, call, Action::Update, name, old.state.layer, &old.id)?;
    Ok(authority::either(actor.clone(), leaving))
}

/// Who stores a draft, if the caller may. A refusal is on record under the word that storing it would be.
fn may_store(engine: &Engine, call: &Call<'_>, draft: &Draft) -> Result<Principal, Error> {
    authority::authorise_as(engine, call, Action::Remember, draft.action, draft.layer, "")
}

/// Stores drafts that are known to be unlike each other and everything stored, in one transaction; they are
/// not looked at for duplicates and names, and not indexed yet.
pub(crate) fn store_distinct(engine: &Engine, call: &Call<'_>, drafts: &[Draft]) -> Result<(), Error> {
    let mut new = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let actor = may_store(engine, call, draft)?;
        let identity = duplicate::identity(&draft.text);
        let memory = new_memory(engine, &actor, draft, &identity, None, "");
        new.push((actor, draft.action, memory));
    }
    let none = Plan { predecessor: None, reason: String::new(), similar: None };
    let unread = Noticed::default();
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        new.iter().try_for_each(|(actor, action, memory)| {
            commit(w, call, actor, (action, memory), &none, &unread).map(drop)
        })
    })?;
    Ok(())
}

/// How something that a job derived is put on record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Derived<'a> {
    /// The audit action.
    pub(crate) action: &'a str,
    /// Why.
    pub(crate) reason: &'a str,
}

/// Stores what a job derived, with what `also` puts down about it, in one transaction, and gives its id. Nothing
/// is stored unless `is_wanted` still says so inside it. The same text in force is taken for it.
pub(crate) fn store_derived(
    engine: &Engine,
    call: &Call<'_>,
    draft: &Draft,
    derived: &Derived<'_>,
    is_wanted: &dyn Fn(&LedgerWrite<'_>) -> Result<bool, StoreError>,
    also: &dyn Fn(&LedgerWrite<'_>, i64, Seq) -> Result<(), StoreError>,
) -> Result<Option<String>, Error> {
    let actor = may_store(engine, call, draft)?;
    let new = new_memory(engine, &actor, draft, &duplicate::identity(&draft.text), None, "");
    let stored = engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        if !is_wanted(w)? {
            return Ok(None);
        }
        let twin = w.live_by_content(&new.scope, &w.content_key(&new.identity)?)?;
        let id = twin.as_ref().map_or(new.id.as_str(), |twin| twin.id.as_str());
        let row = NewAudit {
            layer: Some(new.state.layer),
            reason: derived.reason,
            after_hash: Some(twin.as_ref().map_or_else(|| new.content_hash(), |twin| twin.content_hash)),
            ..NewAudit::new(&actor, call.face, derived.action, id)
        };
        let seq = w.record(&row)?;
        let number = match &twin {
            Some(twin) => twin.number,
            None => w.insert_memory(&new, seq)?,
        };
        also(w, number, seq)?;
        Ok(Some(id.to_owned()))
    })?;
    Ok(stored)
}

/// How a draft stands to what is stored, as its caller judged.
pub(crate) struct Judged<'a> {
    /// The memory that it takes the place of.
    pub(crate) predecessor: Option<MemoryRow>,
    /// Why it is stored so.
    pub(crate) reason: &'a str,
    /// Where it stands from the start.
    pub(crate) status: Status,
    /// The sequence at which it was compared with the memories of its project; none of them may have changed since.
    pub(crate) seen: Option<i64>,
}

impl<'a> Judged<'a> {
    /// A memory of its own, in force, that was compared with nothing.
    pub(crate) fn new(reason: &'a str) -> Self {
        Self { predecessor: None, reason, status: Status::Active, seen: None }
    }
}

/// Stores a draft beside, or in the place of, what its caller compared it with, and what `also` puts down about it in
/// the same transaction. The same text in force is taken for it; `also` is told.
///
/// # Errors
/// Refusals by the policy; [`Conflict::Overtaken`] when the comparison no longer holds, and nothing is stored.
pub(crate) fn store_judged(
    engine: &Engine,
    call: &Call<'_>,
    draft: &Draft,
    judged: Judged<'_>,
    also: &dyn Fn(&LedgerWrite<'_>, &Stored) -> Result<(), StoreError>,
) -> Result<Stored, Error> {
    let actor = may_store(engine, call, draft)?;
    let actor = may_leave(engine, call, draft, &actor, judged.predecessor.as_ref())?;
    let identity = duplicate::identity(&draft.text);
    let new = new_memory(engine, &actor, draft, &identity, judged.predecessor.as_ref(), judged.reason);
    let new = NewMemory { state: State { status: judged.status, ..new.state }, ..new };
    let ledger = engine.ledger(call)?;
    let text = (new.title.as_str(), draft.text.as_str());
    // What is not in force tells the graph nothing.
    let noticed = match judged.status.is_live() {
        true => noticing::look(engine, ledger, &engine.control(call), text, &draft.scope, &new.writer)?,
        false => Noticed::default(),
    };
    let plan = Plan { predecessor: judged.predecessor, reason: judged.reason.to_owned(), similar: None };
    let stored = ledger.write(&engine.control(call), engine.clock().now(), |w| {
        if let Some(seen) = judged.seen
            && w.is_memory_changed_since(&new.scope, seen)?
        {
            return Err(Conflict::Overtaken { seen }.into());
        }
        let stored = commit(w, call, &actor, (draft.action, &new), &plan, &noticed)?;
        also(w, &stored)?;
        Ok(stored)
    })?;
    engine.index_what_was_stored(call);
    Ok(stored)
}

fn plan(
    read: &LedgerRead<'_>,
    call: &Call<'_>,
    draft: &Draft,
    identity: &str,
    similar: Option<Compared>,
    now: Timestamp,
) -> Result<Plan, Error> {
    if let Some(named) = &draft.supersedes {
        let old = Reference::exact("supersedes", named)?.find(read, call)?.existing()?;
        return Ok(Plan {
            predecessor: Some(old),
            reason: draft.supersede_reason.clone().unwrap_or_else(|| "corrected".into()),
            similar: found(similar),
        });
    }
    if let Some(topic) = &draft.topic_key
        && let Some(old) = read.live_by_topic(&draft.scope, topic)?
    {
        let same = read.content_key(identity)? == old.content_key && !has_expired(&old, now);
        let predecessor = (!same || gives_way(&old, draft.layer)).then_some(old);
        return Ok(Plan { predecessor, reason: format!("same topic: {topic}"), similar: found(similar) });
    }
    // Recall no longer shows an expired memory: to say it again is to say that it holds again.
    let twin = read.live_by_content(&draft.scope, &read.content_key(identity)?)?;
    if let Some(twin) = twin.filter(|twin| has_expired(twin, now) || gives_way(twin, draft.layer)) {
        let reason = match gives_way(&twin, draft.layer) {
            true => format!("the same text, now approved for {}", draft.layer),
            false => "said again after it had expired".to_owned(),
        };
        return Ok(Plan { predecessor: Some(twin), reason, similar: None });
    }
    let turned = similar.as_ref().filter(|(old, c)| {
        similar::takes_over(c)
            && old.scope == draft.scope
            && old.state.layer == draft.layer
            && old.kind == draft.kind
    });
    if let Some((old, _)) = turned {
        let reason = "a later statement says the opposite".to_owned();
        return Ok(Plan { predecessor: Some(old.clone()), reason, similar: None });
    }
    Ok(Plan { predecessor: None, reason: String::new(), similar: found(similar) })
}

/// Whether a memory of the same text must not be taken for one that is stored in `layer`: what only an approval
/// brings there would else stay where anybody may have put the words before.
fn gives_way(twin: &MemoryRow, layer: Layer) -> bool {
    matches!(layer, Layer::P0 | Layer::P1 | Layer::P3) && layer < twin.state.layer
}

fn has_expired(memory: &MemoryRow, now: Timestamp) -> bool {
    memory.valid_to.is_some_and(|end| end <= now)
}

pub(super) fn stored_bands(draft: &Draft) -> Vec<i64> {
    draft.bands.iter().map(|b| b.cast_signed()).collect()
}

/// The row of a draft, written by `writer` unless the draft says by whom, replacing `predecessor`.
pub(crate) fn new_memory(
    engine: &Engine,
    writer: &Principal,
    draft: &Draft,
    identity: &str,
    predecessor: Option<&MemoryRow>,
    reason: &str,
) -> NewMemory {
    let now = engine.clock().now();
    let salt = engine.ids().salt();
    let id = Id::from_bits(IdKind::Memory, engine.ids().bits());
    let written_by = draft.writer.clone().unwrap_or_else(|| writer.to_string());
    NewMemory {
        kind: draft.kind.clone(),
        title: draft.title.clone().unwrap_or_default(),
        identity: identity.to_owned(),
        bands: stored_bands(draft),
        scope: draft.scope.clone(),
        branch_scope: draft.placing.branch_scope.clone(),
        commit: draft.placing.commit.clone(),
        module_path: draft.placing.module_path.clone(),
        parent: draft.placing.parent.clone(),
        topic_key: draft.topic_key.clone(),
        tags: draft.tags.clone(),
        source: draft.source.clone().unwrap_or_default(),
        session: draft.session.clone(),
        valid_from: draft.valid_from,
        valid_to: draft.valid_to,
        supersedes: predecessor.and_then(|p| Id::parse(&p.id).ok()),
        supersede_reason: reason.to_owned(),
        metadata: serde_json::to_string(&draft.metadata).unwrap_or_else(|_| "{}".into()),
        state: State {
            status: Status::Active,
            tier: draft.tier,
            layer: draft.layer,
            confidence: draft.confidence,
            importance: draft.importance,
            pinned: draft.pinned,
        },
        rule: draft.rule.clone(),
        evidence: draft
            .grounds
            .iter()
            .cloned()
            .chain(draft.evidence.iter().map(|t| evidence(t, now)))
            .collect(),
        ..NewMemory::new(id, &draft.text, &written_by, now, salt)
    }
}

/// Evidence as the writer put it; its sort follows from its looks.
pub(crate) fn evidence(text: &str, at: Timestamp) -> EvidenceRow {
    let kind = match text {
        t if t.starts_with("http://") || t.starts_with("https://") => "url",
        t if t.starts_with("ep_") => "episode",
        t if Anchor::parse(t).is_some() => CODE,
        t if t.contains('/') && !t.contains(' ') => "file",
        _ => "note",
    };
    EvidenceRow { kind: kind.to_owned(), reference: text.to_owned(), note: String::new(), at }
}

/// Stores what was planned, in a transaction that is going on. The same text in force is taken for it.
fn commit(
    w: &LedgerWrite<'_>,
    call: &Call<'_>,
    actor: &Principal,
    (action, new): (&str, &NewMemory),
    plan: &Plan,
    noticed: &Noticed,
) -> Result<Stored, StoreError> {
    let superseded = plan.predecessor.as_ref().map(|p| p.id.clone());
    let key = w.content_key(&new.identity)?;
    let twin = w.live_by_content(&new.scope, &key)?.filter(|t| Some(&t.id) != superseded.as_ref());
    if let Some(twin) = twin {
        if gives_way(&twin, new.state.layer) {
            return Err(Conflict::ContentTaken { by: twin.id }.into());
        }
        if let Some(old) = &plan.predecessor {
            replace_by_twin(w, call, actor, (old, &twin), &plan.reason)?;
        }
        return Ok(Stored { superseded, ..Stored::before(&twin) });
    }
    let done = Insertion { action, reason: &plan.reason, predecessor: plan.predecessor.as_ref() };
    let (seq, number) = insert(w, call, actor, new, &done)?;
    noticing::link(w, noticed, number, seq)?;
    if let Some(old) = &plan.predecessor {
        w.carry_stated_mentions(old.number, number)?;
        w.carry_memory_relations(old.number, number, seq)?;
    }
    authority::seal(w, call, actor)?;
    Ok(Stored {
        id: new.id.to_string(),
        number,
        new: true,
        kind: new.kind.clone(),
        layer: new.state.layer,
        superseded,
        similar: None,
        contradicts: None,
    })
}

/// Lets a memory in force that says word for word what was to be stored take the place of `old`.
fn replace_by_twin(
    w: &LedgerWrite<'_>,
    call: &Call<'_>,
    actor: &Principal,
    (old, twin): (&MemoryRow, &MemoryRow),
    reason: &str,
) -> Result<(), StoreError> {
    must_be_as_seen(w, old)?;
    let row = NewAudit {
        layer: Some(old.state.layer),
        reason,
        before_hash: Some(old.content_hash),
        after_hash: Some(old.state.superseded().hash(&old.content_hash)),
        ..NewAudit::new(actor, call.face, "supersede", &old.id)
    };
    let seq = w.record(&row)?;
    w.supersede(old.number, twin.number, reason, seq)?;
    w.carry_stated_mentions(old.number, twin.number)?;
    w.carry_memory_relations(old.number, twin.number, seq)?;
    authority::seal(w, call, actor)
}

/// What goes on record of a memory that is stored.
pub(crate) struct Insertion<'a> {
    /// The word for what is done.
    pub(crate) action: &'a str,
    /// Why.
    pub(crate) reason: &'a str,
    /// The memory it replaces, which `NewMemory::supersedes` names.
    pub(crate) predecessor: Option<&'a MemoryRow>,
}

/// Records and stores a memory in a transaction that is going on; returns its place and its number. A rule
/// keeps the attributes of the one it replaces, unless it brings its own.
pub(crate) fn insert(
    w: &LedgerWrite<'_>,
    call: &Call<'_>,
    actor: &Principal,
    new: &NewMemory,
    done: &Insertion<'_>,
) -> Result<(Seq, i64), StoreError> {
    if let Some(old) = done.predecessor {
        must_be_as_seen(w, old)?;
    }
    let kept = match done.predecessor {
        Some(old) if new.rule.is_none() && rules::is_rule(&new.kind) => w.rule(old.number)?,
        _ => None,
    };
    let rule = new.rule.clone().or(kept.map(|row| row.attributes));
    let new = NewMemory { rule, ..new.clone() };
    let seq = w.record(&NewAudit {
        layer: Some(new.state.layer),
        reason: done.reason,
        before_hash: done.predecessor.map(|old| old.content_hash),
        after_hash: Some(new.audit_hash()),
        ..NewAudit::new(actor, call.face, done.action, new.id.as_str())
    })?;
    Ok((seq, w.insert_memory(&new, seq)?))
}

/// The rights to replace `old` were judged by its layer: it may not have been moved to another since.
fn must_be_as_seen(w: &LedgerWrite<'_>, old: &MemoryRow) -> Result<(), StoreError> {
    match w.memory_by_number(old.number)? {
        Some(now) if now.superseded_by.is_none() && now.state_seq != old.state_seq => {
            let (expected, found) = (old.state_seq, now.state_seq);
            Err(Conflict::StateMoved { id: now.id, expected, found }.into())
        }
        // Its absence and a second successor are found, and named, when it is replaced.
        _ => Ok(()),
    }
}
