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
        promotion::{self, CONFIDENCE, Decision, Promotion, decide, merged},
    },
};
use strata_store::{
    error::{Conflict, StoreError},
    ledger::{EvidenceRow, LedgerWrite, MemoryRelation, MemoryRow, NewAudit},
};

use super::{
    grounds::{add_evidence, add_new},
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

/// Times a candidate is compared when others store memories of the project meanwhile.
const LOOKS: usize = 8;

/// Compares a candidate with the memories in force and does with it what the table says. When somebody else has stored
/// or changed one by then, it is compared again: of two that say the same at once, the second sees the first.
///
/// # Errors
/// Refusals by the policy; a conflict when somebody changed what it was compared with.
pub fn promote(
    engine: &Engine,
    call: &Call<'_>,
    incoming: &Incoming<'_>,
    areas: &Areas,
) -> Result<Outcome, Error> {
    for _ in 1..LOOKS {
        let seen = engine.read(call, |r| Ok(r.head()?.seq))?;
        match compare_and_store(engine, call, incoming, (areas, Some(seen))) {
            Err(Error::Store(StoreError::Conflict(Conflict::Overtaken { .. }))) => {}
            done => return done,
        }
    }
    // Rather said twice than lost.
    compare_and_store(engine, call, incoming, (areas, None))
}

/// Does it once, unless a memory of the project has changed since `seen`.
fn compare_and_store(
    engine: &Engine,
    call: &Call<'_>,
    incoming: &Incoming<'_>,
    (areas, seen): (&Areas, Option<i64>),
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
    let step = Step { engine, call, incoming, decision: &decision, seen };
    match (decision.action, target) {
        (Promotion::Discard, Some(target)) => step.discard(target),
        (Promotion::NeedsReview, Some(target)) => step.ask(target),
        (Promotion::Supersede | Promotion::Update | Promotion::Merge, Some(target)) => step.replace(target),
        _ => step.create(&rows),
    }
}

/// A candidate about which the table has decided.
struct Step<'a, 'c> {
    engine: &'a Engine,
    call: &'a Call<'c>,
    incoming: &'a Incoming<'a>,
    decision: &'a Decision,
    /// The sequence up to which the decision knows of the memories in force; `None` lets it stand whatever came after.
    seen: Option<i64>,
}

impl Step<'_, '_> {
    fn create(&self, rows: &[MemoryRow]) -> Result<Outcome, Error> {
        let (draft, above) = self.draft()?;
        let related: Vec<i64> =
            self.decision.related.iter().filter_map(|at| rows.get(*at)).map(|r| r.number).collect();
        let now = self.engine.clock().now();
        let stored = self.store(&draft, self.judged(), &|w, stored| {
            let to = |target: &i64| MemoryRelation {
                source: stored.number,
                relation: Relation::RelatedTo,
                target: *target,
                at: now,
            };
            relate(w, self.call, stored, &related.iter().map(to).collect::<Vec<_>>())
        })?;
        Ok(self.outcome(&stored, None).under(above.as_ref()))
    }

    /// Stores the next version of a memory that says less.
    fn replace(&self, old: &MemoryRow) -> Result<Outcome, Error> {
        let (draft, above) = self.draft()?;
        let draft = self.next_version(draft, old)?;
        let judged = Judged { predecessor: Some(old.clone()), status: old.state.status, ..self.judged() };
        let relation = Relation::Supersedes;
        let now = self.engine.clock().now();
        let replaces = self.decision.action == Promotion::Supersede;
        let stored = self.store(&draft, judged, &|w, stored| {
            let link = MemoryRelation { source: stored.number, relation, target: old.number, at: now };
            relate(w, self.call, stored, if replaces { std::slice::from_ref(&link) } else { &[] })
        })?;
        Ok(self.outcome(&stored, Some(old)).under(above.as_ref()))
    }

    /// A draft with what it takes over from the memory whose place it takes.
    fn next_version(&self, mut draft: Draft, old: &MemoryRow) -> Result<Draft, Error> {
        let (candidate, known) = (self.incoming.candidate, &old.state);
        if self.decision.action == Promotion::Merge {
            draft.text = merged(&old.body, &candidate.text);
            draft.bands = duplicate::bands(&draft.text);
        }
        if self.decision.action != Promotion::Supersede {
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
        let mut grounds = self.engine.read(self.call, |r| r.evidence(old.number))?;
        add_new(&mut grounds, std::mem::take(&mut draft.grounds));
        draft.grounds = grounds;
        Ok(draft)
    }

    /// Stores a candidate beside the memory that it contradicts, marks both, and asks a person which holds.
    fn ask(&self, against: &MemoryRow) -> Result<Outcome, Error> {
        let (draft, above) = self.draft()?;
        let Some(conflict) = &self.decision.conflict else {
            return Err(Error::Internal("a question without a conflict".into()));
        };
        let question = Question::new(self.engine, self.call, against, &difference(conflict)?)?;
        let judged = Judged { status: Status::NeedsReview, ..self.judged() };
        // Readers elsewhere do not see what a branch says against it, and a doubt is no contradiction.
        let marks = against.scope == self.incoming.standing.scope && conflict.axis != CONFIDENCE;
        let stored = self.store(&draft, judged, &|w, stored| {
            if !stored.new {
                return Ok(());
            }
            dispute::file(w, self.call, &question, against, (stored, draft.layer))?;
            if marks {
                dispute::mark(w, self.call, against.number, self.decision.reason)?;
            }
            Ok(())
        })?;
        let review = stored.new.then(|| question.id());
        Ok(Outcome { review, ..self.outcome(&stored, Some(against)).under(above.as_ref()) })
    }

    /// Keeps what a candidate rests on with the memory that says it already.
    fn discard(&self, known: &MemoryRow) -> Result<Outcome, Error> {
        // What rests on a rule is added by who may change it.
        if dispute::may_change(self.call, known.state.layer) {
            let (actor, grounds) = (self.call.principal, &self.incoming.grounds);
            add_evidence(self.engine, self.call, actor, known, grounds, self.decision.reason)?;
        }
        Ok(self.outcome(&Stored::before(known), Some(known)))
    }

    fn store(
        &self,
        draft: &Draft,
        judged: Judged<'_>,
        also: &dyn Fn(&LedgerWrite<'_>, &Stored) -> Result<(), StoreError>,
    ) -> Result<Stored, Error> {
        write::store_judged(self.engine, self.call, draft, judged, also)
    }

    fn judged(&self) -> Judged<'_> {
        Judged { seen: self.seen, ..Judged::new(self.decision.reason) }
    }

    /// What would be stored, and the memory above it.
    fn draft(&self) -> Result<(Draft, Option<MemoryRow>), Error> {
        let (incoming, scope) = (self.incoming, &self.incoming.standing.scope);
        let of = (incoming.candidate.kind, incoming.candidate.title.as_str());
        let above = self.engine.read(self.call, |r| match &incoming.parent {
            Some(id) => r.memory(id),
            None => parent_of(r, scope, of, incoming.candidate.module_path.as_deref()),
        })?;
        Ok((incoming.draft(above.as_ref().map(|row| row.id.clone()))?, above))
    }

    fn outcome(&self, stored: &Stored, target: Option<&MemoryRow>) -> Outcome {
        // What said the same word for word under another title was there before.
        let action = if stored.new { self.decision.action } else { Promotion::Discard };
        Outcome {
            kind: wire_kind(&stored.kind).to_owned(),
            title: self.incoming.candidate.title.clone(),
            action: action.as_str(),
            id: stored.id.clone(),
            target: target.map(|row| row.id.clone()),
            similarity: self.decision.likeness.map(|likeness| likeness.score),
            parent: None,
            review: None,
            reason: self.decision.reason,
            note: None,
        }
    }
}

/// What the two sides of a conflict differ in, through the gate.
fn difference(conflict: &promotion::Conflict) -> Result<dispute::Difference, Error> {
    let mut gate = Gate::default();
    let mut passed = |text: &str| gate.field("value", Some(text)).map(Option::unwrap_or_default);
    Ok(dispute::Difference {
        axis: conflict.axis,
        subject: passed(&conflict.subject)?,
        values: [passed(&conflict.values[0])?, passed(&conflict.values[1])?],
        score: conflict.score,
    })
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

impl Incoming<'_> {
    /// What would be stored under the memory with the id `parent`.
    fn draft(&self, parent: Option<String>) -> Result<Draft, Error> {
        let (candidate, standing) = (self.candidate, self.standing);
        Ok(Draft {
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
            source: Some(self.source.clone()),
            session: None,
            evidence: Vec::new(),
            grounds: self.grounds.clone(),
            valid_from: None,
            valid_to: None,
            scope: standing.scope.clone(),
            placing: Placing {
                branch_scope: standing.branch_scope.to_owned(),
                commit: standing.commit.clone(),
                module_path: candidate.module_path.clone(),
                parent,
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
        })
    }
}

impl Outcome {
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
