//! `reflect`: files a candidate, or a change of what is in force, for review. Nothing is in force until a person approves it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    duplicate,
    id::{Id, IdKind},
    memory::Status,
    policy::Action,
};
use strata_store::{
    error::StoreError,
    ledger::{
        DEFAULT_PRIORITY, LedgerRead, MemoryRow, NewAudit, NewMemory, NewReview, ReviewFilter,
        RuleAttributes, State,
    },
};

use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::Gate,
    memory::{
        beside,
        draft::Draft,
        reference::Reference,
        remember::{LayerName, Request as RememberRequest},
        similar::{Contradicts, Similar},
        update::must_stand,
        write::new_memory,
    },
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Document, Mark, Render},
    review::{
        self,
        amendment::{self, Amendment},
    },
    rules,
};

/// See the module.
pub struct Reflect;

/// What to propose.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The rule, lesson or insight, in words that stand on their own; with `amends`, the new text, whole.
    pub text: Option<String>,
    /// rule, identity, integration, insight, pattern, ...
    pub kind: Option<String>,
    /// The layer it would belong to; any layer may be proposed.
    pub layer: Option<LayerName>,
    /// The id of the rule or memory in force that this would change; it stays as it is until a person approves.
    pub amends: Option<String>,
    /// Of a rule: its place in its layer, 0 or more; the lower number goes first.
    pub priority: Option<i64>,
    /// Of a rule: when it applies.
    pub condition: Option<String>,
    /// Why it should be kept, or changed.
    pub reason: Option<String>,
    /// What it rests on. One entry each.
    #[serde(default)]
    pub evidence: Vec<String>,
}

/// What was filed.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The review.
    pub review: String,
    /// The candidate memory, or the memory that would change.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// `candidate`, or `amendment` of what is in force.
    pub status: &'static str,
    /// The layer it would belong to.
    pub layer: String,
    /// Whether the same proposal was waiting already.
    pub was_waiting: bool,
    /// A memory in force that says nearly the same: what is known already need not be proposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similar: Option<Similar>,
    /// A memory in force that cannot hold together with this one: whoever decides has to choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradicts: Option<Contradicts>,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
}

impl Operation for Reflect {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Core,
        tool: "reflect",
        cli: &["reflect"],
        positional: &["text"],
        title: "Propose for review",
        about: "Files a candidate for a person to approve: a rule, a piece of identity, an integration, or an insight that you \
                are not sure of. Use it where `remember` is refused. The candidate is in no search and no context until it \
                is approved. To change a rule or memory that is in force, name it in `amends` with the new text, priority or \
                condition. Give the reason and the evidence; they are what the reviewer sees.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("fact", "text"), ("content", "text"), ("type", "kind")];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let mut gate = Gate::default();
        let reason = gate.field("reason", request.reason.as_deref())?.unwrap_or_default();
        if let Some(id) = &request.amends {
            return amend(engine, call, id, (&request, &reason), &mut gate);
        }
        let draft = draft(engine, call, &request, &mut gate)?;
        authority::authorise(engine, call, Action::Propose, draft.layer, "")?;
        let (similar, contradicts) = beside::beside(engine, call, &draft)?;
        Ok(Response { similar, contradicts, ..file(engine, call, &draft, &reason)? })
    }
}

/// What would be stored: a rule with its attributes, if it has any.
fn draft(engine: &Engine, call: &Call<'_>, request: &Request, gate: &mut Gate) -> Result<Draft, Error> {
    let Some(text) = request.text.clone() else {
        return Err(Error::argument(
            "text",
            "is missing",
            "send the rule, lesson or insight in your own words",
        ));
    };
    let asked = RememberRequest {
        text,
        kind: request.kind.clone(),
        layer: request.layer,
        evidence: request.evidence.clone(),
        ..RememberRequest::default()
    };
    let mut draft = Draft::from_request(engine, call, &asked)?;
    let condition = gate.field("condition", request.condition.as_deref())?;
    let priority = rules::priority(request.priority)?;
    if priority.is_some() || condition.is_some() {
        if !rules::is_rule(&draft.kind) {
            let message = format!("a memory of kind {} has none; only rules do", draft.kind);
            return Err(Error::argument("priority", message, "send `kind` rule, or leave it out"));
        }
        let priority = priority.unwrap_or(DEFAULT_PRIORITY);
        draft.rule = Some(RuleAttributes { priority, condition, enabled: true });
    }
    draft.redacted.extend(&gate.redacted);
    draft.redacted.sort_unstable();
    draft.redacted.dedup();
    Ok(draft)
}

/// Files a change of what is in force.
fn amend(
    engine: &Engine,
    call: &Call<'_>,
    id: &str,
    (request, reason): (&Request, &str),
    gate: &mut Gate,
) -> Result<Response, Error> {
    if request.kind.is_some() || request.layer.is_some() {
        let hint =
            "an amendment changes text, priority and condition; a person moves a memory with `strata update`";
        return Err(Error::argument("amends", "does not go with `kind` or `layer`", hint));
    }
    let reference = Reference::exact("amends", id)?;
    let old = engine.ledger(call)?.read(&engine.control(call), |r| reference.find(r, call))?.existing()?;
    must_stand(&old)?;
    let wanted = Amendment {
        text: request.text.clone(),
        priority: request.priority,
        condition: request.condition.clone(),
        evidence: request.evidence.clone(),
    };
    let filed = amendment::file(engine, call, &old, wanted, (reason, gate))?;
    Ok(Response {
        review: filed.review,
        id: old.id,
        number: old.number,
        status: review::AMENDMENT,
        layer: old.state.layer.to_string(),
        was_waiting: filed.was_waiting,
        similar: None,
        contradicts: None,
        redacted: std::mem::take(&mut gate.redacted),
    })
}

fn file(engine: &Engine, call: &Call<'_>, draft: &Draft, reason: &str) -> Result<Response, Error> {
    let identity = duplicate::identity(&draft.text);
    let new = new_memory(engine, call.principal, draft, &identity, None, "");
    let new = NewMemory { state: State { status: Status::Candidate, ..new.state }, ..new };
    let filed = NewReview {
        id: Id::from_bits(IdKind::Review, engine.ids().bits()),
        kind: review::CANDIDATE.into(),
        target: new.id.to_string(),
        proposal: serde_json::json!({ "approve": { "status": "active" } }).to_string(),
        reason: reason.to_owned(),
        proposer: call.principal.to_string(),
        created_at: engine.clock().now(),
        salt: engine.ids().salt(),
    };
    let row = NewAudit {
        layer: Some(draft.layer),
        reason,
        after_hash: Some(new.audit_hash()),
        ..NewAudit::new(call.principal, call.face, Action::Propose.as_str(), new.id.as_str()).asking(&filed)
    };
    let ledger = engine.ledger(call)?;
    let stored = ledger.write(&engine.control(call), engine.clock().now(), |w| {
        if let Some((review, twin)) = waiting(w, &new)? {
            return Ok((review, twin.id, twin.number, true));
        }
        let seq = w.record(&row)?;
        let number = w.insert_memory(&new, seq)?;
        w.insert_review(&filed, seq)?;
        Ok((filed.id.to_string(), new.id.to_string(), number, false))
    })?;
    let (review, id, number, was_waiting) = stored;
    Ok(Response {
        review,
        id,
        number,
        status: Status::Candidate.as_str(),
        layer: draft.layer.to_string(),
        was_waiting,
        similar: None,
        contradicts: None,
        redacted: draft.redacted.clone(),
    })
}

/// The review that waits for the same candidate, and that candidate.
fn waiting(r: &LedgerRead<'_>, new: &NewMemory) -> Result<Option<(String, MemoryRow)>, StoreError> {
    let of_same_text = r.by_content(&r.content_key(&new.identity)?)?;
    let is_twin = |m: &MemoryRow| m.state.status == Status::Candidate && m.scope == new.scope;
    let Some(twin) = of_same_text.into_iter().find(is_twin) else { return Ok(None) };
    let open = r.reviews(&ReviewFilter { target: Some(twin.id.clone()), ..ReviewFilter::default() })?;
    Ok(open.into_iter().next().map(|open| (open.id, twin)))
}

impl Render for Response {
    fn render(&self) -> Document {
        let what = if self.was_waiting { "already waiting for review" } else { "filed for review" };
        let text = format!(
            "{what} as {} ({} #{} {}, {}); it takes effect when a person runs `strata review approve {}`",
            self.review,
            if self.status == review::AMENDMENT { "amendment of" } else { "candidate" },
            self.number,
            self.id,
            self.layer,
            self.review
        );
        let beside = self.similar.iter().map(Similar::sentence);
        let beside = beside.chain(self.contradicts.iter().map(Contradicts::sentence));
        let document = Document::new().note(Mark::Good, text);
        beside
            .fold(document, |document, told| document.note(Mark::Warning, told))
            .note_redacted(&self.redacted)
    }
}
