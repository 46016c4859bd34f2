//! `reflect`: files a candidate for review. Nothing is in force until a person approves it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    duplicate,
    id::{Id, IdKind},
    memory::Status,
    policy::Action,
};
use strata_store::ledger::{NewAudit, NewMemory, NewReview, State};

use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::Gate,
    memory::{
        draft::Draft,
        remember::{LayerName, Request as RememberRequest},
        write::new_memory,
    },
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct Reflect;

/// What to propose.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The rule, lesson or insight, in words that stand on their own.
    pub text: String,
    /// rule, identity, integration, insight, pattern, ...
    pub kind: Option<String>,
    /// The layer it would belong to; any layer may be proposed.
    pub layer: Option<LayerName>,
    /// Why it should be kept.
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
    /// The candidate memory.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// Always `candidate`.
    pub status: &'static str,
    /// The layer it would belong to.
    pub layer: String,
    /// Whether the same proposal was waiting already.
    pub was_waiting: bool,
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
                is approved. Give the reason and the evidence; they are what the reviewer sees.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("fact", "text"), ("content", "text"), ("type", "kind")];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let mut gate = Gate::default();
        let reason = gate.field("reason", request.reason.as_deref())?.unwrap_or_default();
        let asked = RememberRequest {
            text: request.text,
            kind: request.kind,
            layer: request.layer,
            evidence: request.evidence,
            ..RememberRequest::default()
        };
        let mut draft = Draft::from_request(engine, call, &asked)?;
        draft.redacted.extend(gate.redacted);
        draft.redacted.sort_unstable();
        draft.redacted.dedup();
        authority::authorise(engine, call, Action::Propose, draft.layer, "")?;
        file(engine, call, &draft, &reason)
    }
}

fn file(engine: &Engine, call: &Call<'_>, draft: &Draft, reason: &str) -> Result<Response, Error> {
    let identity = duplicate::identity(&draft.text);
    let new = new_memory(engine, call.principal, draft, &identity, None, "");
    let new = NewMemory { state: State { status: Status::Candidate, ..new.state }, ..new };
    let review = NewReview {
        id: Id::from_bits(IdKind::Review, engine.ids().bits()),
        kind: "candidate".into(),
        target: new.id.to_string(),
        proposal: serde_json::json!({ "approve": { "status": "active" } }).to_string(),
        reason: reason.to_owned(),
        proposer: call.principal.to_string(),
        created_at: engine.clock().now(),
    };
    let row = NewAudit {
        layer: Some(draft.layer),
        reason,
        after_hash: Some(new.content_hash()),
        ..NewAudit::new(call.principal, call.face, Action::Propose.as_str(), new.id.as_str())
    };
    let ledger = engine.ledger(call)?;
    let filed = ledger.write(&engine.control(call), engine.clock().now(), |w| {
        let key = w.content_key(&new.identity)?;
        let twin = w
            .by_content(&key)?
            .into_iter()
            .find(|m| m.state.status == Status::Candidate && m.scope == new.scope);
        if let Some(twin) = twin {
            let open = w.reviews(&strata_store::ledger::ReviewFilter {
                target: Some(twin.id.clone()),
                ..Default::default()
            })?;
            if let Some(open) = open.into_iter().next() {
                return Ok((open.id, twin.id, twin.number, true));
            }
        }
        let seq = w.record(&row)?;
        let number = w.insert_memory(&new, seq)?;
        w.insert_review(&review, seq)?;
        Ok((review.id.to_string(), new.id.to_string(), number, false))
    })?;
    let (review, id, number, was_waiting) = filed;
    Ok(Response {
        review,
        id,
        number,
        status: Status::Candidate.as_str(),
        layer: draft.layer.to_string(),
        was_waiting,
        redacted: draft.redacted.clone(),
    })
}

impl Render for Response {
    fn render(&self) -> Document {
        let what = if self.was_waiting { "already waiting for review" } else { "filed for review" };
        let text = format!(
            "{what} as {} (candidate #{} {}, {}); it takes effect when a person approves it",
            self.review, self.number, self.id, self.layer
        );
        let document = Document::new().note(Mark::Good, text);
        if self.redacted.is_empty() {
            return document;
        }
        document.note(
            Mark::Warning,
            format!("secrets were blacked out before storing: {}", self.redacted.join(", ")),
        )
    }
}
