//! `review_show`: one review with both sides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::id::{IdKind, PartialId};
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, MemoryRow, ReviewRow, ReviewStatus},
};

use super::{AMENDMENT, CANDIDATE, CONFLICT, Conflict, amendment::Amendment, is_visible, missing};
use crate::{
    engine::Engine,
    error::Error,
    memory::reference::reader,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Record, Render, Trust},
    rules::is_rule,
};

/// See the module.
pub struct Show;

/// Which review.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The review; the first six characters after the underscore are enough.
    pub id: String,
}

/// The review, whole.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Its id.
    pub id: String,
    /// candidate, amendment, conflict, ...
    pub kind: String,
    /// How it stands.
    pub status: &'static str,
    /// Why it was filed.
    pub reason: String,
    /// Who filed it.
    pub proposer: String,
    /// When.
    pub created_at: String,
    /// The layer it concerns.
    pub layer: Option<String>,
    /// What it rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// For a conflict: what the sides differ in, e.g. `number: 5432 / 5433`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
    /// For a conflict: what the judge said of it, and who that is. It decides nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// What stands and what is proposed, or the sides of a conflict.
    pub sides: Vec<Side>,
    /// Whether what stands is no longer what the proposal saw.
    pub moved_on: bool,
    /// Who decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<String>,
    /// What was said about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One side.
#[derive(Debug, Serialize)]
pub struct Side {
    /// `stands`, `proposed`, `a` or `b`.
    pub side: &'static str,
    /// The memory.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// Its layer.
    pub layer: String,
    /// Its kind.
    pub kind: String,
    /// Where it stands in its life.
    pub status: String,
    /// Of a rule: its place in its layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Of a rule: when it applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The day it was stored.
    pub date: String,
    /// Its text.
    pub text: String,
}

impl Operation for Show {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "review_show",
        cli: &["review", "show"],
        positional: &["id"],
        title: "Show a review",
        about: "Shows one review whole: what stands beside what is proposed, or both sides of a conflict, with the reason, the \
                evidence, who proposed it and the decision, when there is one. Read it before deciding.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let prefix = PartialId::parse(&request.id).map_err(|e| Error::parse("id", &e))?;
        if prefix.kind != IdKind::Review {
            return Err(Error::argument(
                "id",
                format!("`{}` is not a review", prefix.text),
                "`review list` shows the ids",
            ));
        }
        let zone = &engine.settings().zone;
        engine.existing_ledger()?.read(&engine.control(call), |r| {
            let review = match r.review_by_prefix(&prefix, reader(call)) {
                Err(StoreError::NotFound { .. }) => return Ok(Err(missing(&prefix.text))),
                review => review?,
            };
            let memory = r.memory(&review.target)?;
            if !is_visible(call, memory.as_ref()) {
                return Ok(Err(missing(&prefix.text)));
            }
            Response::read(r, &review, memory, zone).map(Ok)
        })?
    }
}

impl Response {
    fn read(
        r: &LedgerRead<'_>,
        review: &ReviewRow,
        memory: Option<MemoryRow>,
        zone: &jiff::tz::TimeZone,
    ) -> Result<Self, StoreError> {
        let stamp = |at: strata_core::time::Timestamp| at.to_rfc3339();
        let mut shown = Self {
            layer: memory.as_ref().map(|memory| memory.state.layer.to_string()),
            evidence: Vec::new(),
            difference: None,
            judge: None,
            sides: Vec::new(),
            moved_on: false,
            id: review.id.clone(),
            kind: review.kind.clone(),
            status: review.status.as_str(),
            reason: review.reason.clone(),
            proposer: review.proposer.clone(),
            created_at: stamp(review.created_at),
            decided_by: review.decided_by.clone(),
            decided_at: review.decided_at.map(stamp),
            note: review.decision_note.clone().filter(|note| !note.is_empty()),
        };
        match review.kind.as_str() {
            CONFLICT => shown.conflict(r, review, zone)?,
            kind => {
                if let Some(memory) = memory {
                    shown.evidence = r.evidence(memory.number)?.into_iter().map(|e| e.reference).collect();
                    let stands =
                        Side::read(r, if kind == CANDIDATE { "proposed" } else { "stands" }, memory, zone)?;
                    shown.amendment(r, review, stands)?;
                }
            }
        }
        Ok(shown)
    }

    fn conflict(
        &mut self,
        r: &LedgerRead<'_>,
        review: &ReviewRow,
        zone: &jiff::tz::TimeZone,
    ) -> Result<(), StoreError> {
        let Ok(conflict) = serde_json::from_str::<Conflict>(&review.proposal) else { return Ok(()) };
        let score = conflict.score.map(|score| format!(", {score:.2} sure")).unwrap_or_default();
        self.difference =
            Some(format!("{}: {} ({}{score})", conflict.subject, conflict.values.join(" / "), conflict.axis));
        self.judge = conflict.judge.as_ref().map(|opinion| format!("{opinion} ({})", opinion.by));
        let (a, b) = super::sides(r, &conflict)?;
        for (name, memory) in [("a", a), ("b", b)] {
            let Some(memory) = memory else { continue };
            self.moved_on |= !memory.state.status.is_live();
            self.sides.push(Side::read(r, name, memory, zone)?);
        }
        Ok(())
    }

    fn amendment(&mut self, r: &LedgerRead<'_>, review: &ReviewRow, stands: Side) -> Result<(), StoreError> {
        if review.kind == AMENDMENT
            && let Some(amendment) = Amendment::read(&review.proposal)
        {
            let proposed = Side {
                side: "proposed",
                text: amendment.text.unwrap_or_else(|| stands.text.clone()),
                priority: amendment.priority.or(stands.priority),
                condition: amendment.condition.or_else(|| stands.condition.clone()),
                date: stands.date.clone(),
                id: stands.id.clone(),
                layer: stands.layer.clone(),
                kind: stands.kind.clone(),
                status: review.status.as_str().to_owned(),
                number: stands.number,
            };
            let memory = r.memory(&stands.id)?;
            let rule = r.rule(stands.number)?.map_or(0, |row| row.from_seq);
            self.moved_on = review.status == ReviewStatus::Pending
                && memory.is_none_or(|m| !m.state.status.is_live() || m.state_seq.max(rule) > review.seq);
            self.evidence.extend(amendment.evidence);
            self.sides.extend([stands, proposed]);
            return Ok(());
        }
        self.sides.push(stands);
        Ok(())
    }
}

impl Side {
    fn read(
        r: &LedgerRead<'_>,
        side: &'static str,
        memory: MemoryRow,
        zone: &jiff::tz::TimeZone,
    ) -> Result<Self, StoreError> {
        let attributes = r.rule(memory.number)?.map(|row| row.attributes).unwrap_or_default();
        let is_rule = is_rule(&memory.kind);
        Ok(Self {
            side,
            id: memory.id,
            number: memory.number,
            layer: memory.state.layer.to_string(),
            kind: memory.kind.to_string(),
            status: memory.state.status.to_string(),
            priority: is_rule.then_some(attributes.priority),
            condition: attributes.condition.filter(|_| is_rule),
            date: memory.created_at.to_date(zone),
            text: memory.body,
        })
    }

    fn record(&self) -> Record {
        let mut attributes =
            vec![self.side.to_owned(), format!("#{}", self.number), format!("{} {}", self.layer, self.kind)];
        attributes.extend(self.priority.map(|priority| format!("priority {priority}")));
        attributes.extend(self.condition.as_ref().map(|condition| format!("when: {condition}")));
        attributes.extend([self.status.clone(), self.date.clone()]);
        Record { id: self.id.clone(), attributes, title: None, text: self.text.clone() }
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let mut pairs = vec![
            ("review".to_owned(), format!("{} ({}, {})", self.id, self.kind, self.status)),
            ("proposed by".to_owned(), format!("{}, {}", self.proposer, self.created_at)),
        ];
        let optional = [
            ("layer", self.layer.clone()),
            ("because", Some(self.reason.clone()).filter(|reason| !reason.is_empty())),
            ("evidence", (!self.evidence.is_empty()).then(|| self.evidence.join("; "))),
            ("difference", self.difference.clone()),
            ("judge", self.judge.clone()),
            ("decided by", self.decided_by.clone()),
            ("note", self.note.clone()),
        ];
        pairs.extend(optional.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?))));
        let records = self.sides.iter().map(Side::record).collect();
        let mut document =
            Document::new().with(Block::Pairs(pairs)).with(Block::Records { trust: Trust::Data, records });
        if self.moved_on {
            document =
                document.note(Mark::Warning, "what stands has changed since; it cannot be decided as it is");
        }
        if self.status == ReviewStatus::Pending.as_str() {
            let next = match self.kind.as_str() {
                CONFLICT => format!("`review resolve {} keep_a`, keep_b or keep_both", self.id),
                _ => format!("`strata review approve {}` or `strata review reject {}`", self.id, self.id),
            };
            document = document.note(Mark::Info, next);
        }
        document
    }
}
