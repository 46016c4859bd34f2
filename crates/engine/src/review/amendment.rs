//! A proposed change of a memory that is in force: filing it, reading it, and making it.

use serde::{Deserialize, Serialize};
use strata_core::{
    duplicate,
    id::{Id, IdKind},
    memory::Status,
    policy::Action,
    principal::Principal,
};
use strata_store::{
    error::StoreError,
    ledger::{
        LedgerWrite, MemoryRow, NewAudit, NewMemory, NewReview, ReviewFilter, ReviewRow, RuleAttributes,
        RuleRow, Seq, State,
    },
};

use super::{AMENDMENT, on_record};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::Gate,
    graph::noticing::{self, Noticed},
    memory::{
        draft::Draft,
        write::{self, Insertion, new_memory},
    },
    operation::Call,
    rules::{self, is_rule},
};

/// What would change; what is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amendment {
    /// The new text, whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Of a rule: another place in its layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Of a rule: another condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// What the change rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

/// A proposed change that was filed.
#[derive(Debug)]
pub(crate) struct Filed {
    pub(crate) review: String,
    /// The same change was waiting already.
    pub(crate) was_waiting: bool,
}

impl Amendment {
    /// Reads a review's proposal; `None` when it was emptied by a purge or is no amendment.
    pub fn read(proposal: &str) -> Option<Self> {
        let read: Self = serde_json::from_str(proposal).ok()?;
        let empty = read.text.is_none() && read.priority.is_none() && read.condition.is_none();
        (!empty).then_some(read)
    }

    /// The attributes of a rule once the change is made.
    fn attributes(&self, old: &RuleAttributes) -> RuleAttributes {
        RuleAttributes {
            priority: self.priority.unwrap_or(old.priority),
            condition: self.condition.clone().or_else(|| old.condition.clone()),
            enabled: old.enabled,
        }
    }

    /// Whether `old` would be another memory.
    fn changes(&self, old: &MemoryRow, rule: &RuleAttributes) -> bool {
        self.text.as_ref().is_some_and(|text| *text != old.body) || self.attributes(rule) != *rule
    }

    /// Lets every text through the gate and checks what fits the memory.
    fn checked(self, old: &MemoryRow, gate: &mut Gate) -> Result<Self, Error> {
        let checked = Self {
            text: self.text.as_deref().map(|text| gate.body("text", text)).transpose()?,
            priority: rules::priority(self.priority)?,
            condition: gate.field("condition", self.condition.as_deref())?,
            evidence: gate.list("evidence", &self.evidence)?,
        };
        let has_attributes = checked.priority.is_some() || checked.condition.is_some();
        if has_attributes && !is_rule(&old.kind) {
            let message = format!("{} is a memory of kind {}; only rules have one", old.id, old.kind);
            return Err(Error::argument("priority", message, "leave `priority` and `condition` out"));
        }
        Ok(checked)
    }
}

/// Files a change of `old` for review; the memory stays as it is.
pub(crate) fn file(
    engine: &Engine,
    call: &Call<'_>,
    old: &MemoryRow,
    wanted: Amendment,
    (reason, gate): (&str, &mut Gate),
) -> Result<Filed, Error> {
    let amendment = wanted.checked(old, gate)?;
    let ledger = engine.ledger(call)?;
    let control = engine.control(call);
    let rule = ledger.read(&control, |r| r.rule(old.number))?.map(|row| row.attributes).unwrap_or_default();
    if !amendment.changes(old, &rule) {
        return Err(Error::argument("text", "nothing would change", "say what shall be different"));
    }
    authority::authorise(engine, call, Action::Propose, old.state.layer, &old.id)?;
    let review = NewReview {
        id: Id::from_bits(IdKind::Review, engine.ids().bits()),
        kind: AMENDMENT.to_owned(),
        target: old.id.clone(),
        proposal: serde_json::to_string(&amendment).map_err(|e| Error::Internal(e.to_string()))?,
        reason: reason.to_owned(),
        proposer: call.principal.to_string(),
        created_at: engine.clock().now(),
        salt: engine.ids().salt(),
    };
    let row = NewAudit {
        layer: Some(old.state.layer),
        reason,
        ..NewAudit::new(call.principal, call.face, Action::Propose.as_str(), &old.id).asking(&review)
    };
    let same = ReviewFilter {
        kind: Some(AMENDMENT.to_owned()),
        target: Some(old.id.clone()),
        limit: usize::MAX,
        ..ReviewFilter::default()
    };
    Ok(ledger.write(&control, engine.clock().now(), |w| {
        if let Some(open) = w.reviews(&same)?.into_iter().find(|open| open.proposal == review.proposal) {
            return Ok(Filed { review: open.id, was_waiting: true });
        }
        let seq = w.record(&row)?;
        w.insert_review(&review, seq)?;
        Ok(Filed { review: review.id.to_string(), was_waiting: false })
    })?)
}

/// A change ready to be made.
pub(super) struct Prepared {
    old: MemoryRow,
    rule: Option<RuleRow>,
    attributes: RuleAttributes,
    /// The new version, when the text changes.
    new: Option<NewMemory>,
    /// What that mentions.
    noticed: Noticed,
}

impl Prepared {
    /// Works out what the proposal makes of `old`.
    ///
    /// # Errors
    /// A conflict when the memory or its attributes changed after the review was filed, or the proposal is gone.
    pub(super) fn new(
        engine: &Engine,
        call: &Call<'_>,
        actor: &Principal,
        review: &ReviewRow,
        old: &MemoryRow,
    ) -> Result<Self, Error> {
        let read = Amendment::read(&review.proposal).ok_or_else(|| Error::Conflict {
            message: format!("review {} no longer says what shall change", review.id),
            hint: format!("`strata review reject {}` closes it", review.id),
        })?;
        let amendment = read.checked(old, &mut Gate::default())?;
        let (rule, evidence) = engine
            .ledger(call)?
            .read(&engine.control(call), |r| Ok((r.rule(old.number)?, r.evidence(old.number)?)))?;
        let changed = old.state_seq.max(rule.as_ref().map_or(0, |row| row.from_seq));
        if !old.state.status.is_live() || changed > review.seq {
            return Err(super::moved_on(review, old));
        }
        let held = rule.as_ref().map(|row| row.attributes.clone()).unwrap_or_default();
        let attributes = amendment.attributes(&held);
        let new = amendment.text.filter(|text| *text != old.body).map(|text| {
            let state = State { status: Status::Active, ..old.state };
            let draft = Draft {
                rule: is_rule(&old.kind).then(|| attributes.clone()),
                evidence: amendment.evidence,
                ..Draft::version_of(old, text, &state, evidence)
            };
            let identity = duplicate::identity(&draft.text);
            new_memory(engine, actor, &draft, &identity, Some(old), &review.reason)
        });
        let noticed = match &new {
            None => Noticed::default(),
            Some(new) => {
                let told = (new.title.as_str(), new.body.as_str());
                let (ledger, control) = (engine.ledger(call)?, engine.control(call));
                noticing::look(engine, ledger, &control, told, &new.scope, &new.writer)?
            }
        };
        Ok(Self { old: old.clone(), rule, attributes, new, noticed })
    }

    /// The id and the text of what will stand.
    pub(super) fn id(&self) -> &str {
        self.new.as_ref().map_or(self.old.id.as_str(), |new| new.id.as_str())
    }

    /// Makes the change in a transaction that is going on; returns its place and the number of what stands.
    pub(super) fn apply(
        &self,
        w: &LedgerWrite<'_>,
        call: &Call<'_>,
        actor: &Principal,
        (review, note): (&ReviewRow, &str),
    ) -> Result<(Seq, i64), StoreError> {
        let action = Action::Approve.as_str();
        let reason = on_record(review, note);
        let old = &self.old;
        if let Some(new) = &self.new {
            let done = Insertion { action, reason: &reason, predecessor: Some(old) };
            let (seq, number) = write::insert(w, call, actor, new, &done)?;
            noticing::link(w, &self.noticed, number, seq)?;
            w.carry_stated_mentions(old.number, number)?;
            return Ok((seq, number));
        }
        let held = self.rule.as_ref().map(|row| row.attributes.clone()).unwrap_or_default();
        let state = State { status: Status::Active, ..old.state };
        let seq = w.record(&NewAudit {
            layer: Some(old.state.layer),
            reason: &reason,
            before_hash: Some(w.hash_with(old.number, Some(&old.state), &held)?),
            after_hash: Some(w.hash_with(old.number, Some(&state), &self.attributes)?),
            ..NewAudit::new(actor, call.face, action, &old.id)
        })?;
        w.change_state(old.number, Some(old.state_seq), &state, seq)?;
        let seen = self.rule.as_ref().map_or(0, |row| row.from_seq);
        w.set_rule(old.number, Some(seen), &self.attributes, seq)?;
        Ok((seq, old.number))
    }
}
