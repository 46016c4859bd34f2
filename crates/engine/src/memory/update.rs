//! `update`: corrects a memory. A change of its text makes a successor; the old version stays in its history.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    memory::{Kind, Layer, Status, Tier},
    policy::Action,
    principal::Principal,
};
use strata_store::ledger::{EvidenceRow, MemoryRow, NewAudit, State};

use super::{draft::Draft, reference::Reference, remember::LayerName, write};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::Gate,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    project::{anchors, branches::follows_branches},
    render::{Document, Mark, Render},
    request::unit,
};

/// See the module.
pub struct Update;

/// What to change; what is left out stays.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The memory, by its whole id or #number.
    pub id: String,
    /// The corrected text, whole.
    pub text: Option<String>,
    /// A new headline.
    pub title: Option<String>,
    /// Another kind.
    pub kind: Option<String>,
    /// Another layer.
    pub layer: Option<LayerName>,
    /// Other words to find it by; replaces the old ones.
    pub tags: Option<Vec<String>>,
    /// How sure you are now, 0 to 1.
    pub confidence: Option<f64>,
    /// How much it matters, 0 to 1.
    pub importance: Option<f64>,
    /// Keep it on the hot page, or no longer.
    pub pinned: Option<bool>,
    /// How near at hand it is kept.
    pub tier: Option<TierName>,
    /// Why it changes; kept in its history.
    pub reason: Option<String>,
}

/// The tiers by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TierName {
    /// may stand on the hot page
    Hot,
    /// found by recall only
    Cold,
}

/// What became of it.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The id that now stands for it.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// The id it had before; the same unless its text changed.
    pub previous: String,
    /// Its number before.
    pub previous_number: i64,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
}

impl Operation for Update {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Core,
        tool: "update",
        cli: &["update"],
        positional: &["id", "text"],
        title: "Correct a memory",
        about: "Changes a memory by its id. A new text, title, kind or tags make a new version that replaces the old one \
                in every search; the old one stays readable in its history. Confidence, importance, layer and pinning \
                change in place. Say why in `reason`. Fails when somebody else corrected it first: read it again and retry.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("fact", "text"), ("content", "text"), ("type", "kind")];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let reference = Reference::exact("id", &request.id)?;
        let ledger = engine.ledger(call)?;
        let control = engine.control(call);
        let old = ledger.read(&control, |r| reference.find(r, call))?.existing()?;
        must_stand(&old)?;
        let state = next_state(&old, &request)?;
        let actor = authority::authorise(engine, call, Action::Update, old.state.layer, &old.id)?;
        let rewritten = request.text.is_some()
            || request.title.is_some()
            || request.kind.is_some()
            || request.tags.is_some();
        // Rules and identity are of no branch: what becomes one leaves its branch.
        let leaves_branch = old.scope.branch.is_some() && !follows_branches(state.layer);
        if rewritten || leaves_branch {
            let mut evidence = ledger.read(&control, |r| r.evidence(old.number))?;
            if request.text.is_some() {
                evidence = anchors::renewed(engine, call, evidence);
            }
            replace(engine, call, &old, &state, evidence, &request)
        } else {
            adjust(engine, call, actor, &old, &state, &request)
        }
    }
}

pub(crate) fn must_stand(old: &MemoryRow) -> Result<(), Error> {
    if old.state.status.is_live() {
        return Ok(());
    }
    if old.state.status == Status::Candidate {
        return Err(Error::Conflict {
            message: format!("memory {} is a candidate; a person decides on it as it stands", old.id),
            hint: "propose the better wording with `reflect`".into(),
        });
    }
    let hint = match &old.superseded_by {
        Some(head) => format!("update {head}, its latest version"),
        None => format!("run `strata restore {}` first", old.id),
    };
    Err(Error::Conflict { message: format!("memory {} is already {}", old.id, old.state.status), hint })
}

fn next_state(old: &MemoryRow, request: &Request) -> Result<State, Error> {
    Ok(State {
        layer: request.layer.map_or(old.state.layer, Layer::from),
        confidence: unit("confidence", request.confidence)?.unwrap_or(old.state.confidence),
        importance: unit("importance", request.importance)?.unwrap_or(old.state.importance),
        pinned: request.pinned.unwrap_or(old.state.pinned),
        tier: match request.tier {
            None => old.state.tier,
            Some(TierName::Hot) => Tier::Hot,
            Some(TierName::Cold) => Tier::Cold,
        },
        status: old.state.status,
    })
}

/// A new version takes the old one's place.
fn replace(
    engine: &Engine,
    call: &Call<'_>,
    old: &MemoryRow,
    state: &State,
    evidence: Vec<EvidenceRow>,
    request: &Request,
) -> Result<Response, Error> {
    let mut gate = Gate::default();
    let text = request.text.as_deref().map_or_else(|| Ok(old.body.clone()), |t| gate.body("text", t))?;
    let mut draft = Draft::version_of(old, text, state, evidence);
    if request.text.is_some() && old.body.starts_with(old.title.trim_end_matches('\u{2026}')) {
        // The headline was the old text's beginning, which is not said any more.
        draft.title = None;
    }
    if request.title.is_some() {
        draft.title = gate.field("title", request.title.as_deref())?;
    }
    if let Some(kind) = &request.kind {
        draft.kind = Kind::parse(kind).map_err(|e| Error::parse("kind", &e))?;
    }
    if let Some(tags) = &request.tags {
        draft.tags = gate.list("tags", tags)?;
    }
    draft.supersede_reason = gate.field("reason", request.reason.as_deref())?;
    draft.redacted = gate.redacted;
    if old.scope.branch.is_some() && !follows_branches(state.layer) {
        draft.hold_everywhere();
    }
    let stored = write::store(engine, call, &draft)?;
    Ok(Response {
        id: stored.id,
        number: stored.number,
        previous: old.id.clone(),
        previous_number: old.number,
        redacted: draft.redacted,
    })
}

/// The memory stays, its state changes.
fn adjust(
    engine: &Engine,
    call: &Call<'_>,
    leaving: Principal,
    old: &MemoryRow,
    state: &State,
    request: &Request,
) -> Result<Response, Error> {
    if *state == old.state {
        return Err(Error::argument(
            "text",
            "nothing would change",
            "give a new text, or another attribute to change",
        ));
    }
    let entering = authority::authorise(engine, call, Action::Update, state.layer, &old.id)?;
    let actor = authority::either(entering, leaving);
    let reason = Gate::default().field("reason", request.reason.as_deref())?.unwrap_or_default();
    let row = NewAudit {
        layer: Some(state.layer),
        reason: &reason,
        before_hash: Some(old.content_hash),
        after_hash: Some(state.hash(&old.content_hash)),
        ..NewAudit::new(&actor, call.face, Action::Update.as_str(), &old.id)
    };
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        let seq = w.record(&row)?;
        w.change_state(old.number, Some(old.state_seq), state, seq)?;
        authority::seal(w, call, &actor)
    })?;
    engine.index_what_was_stored(call);
    Ok(Response {
        id: old.id.clone(),
        number: old.number,
        previous: old.id.clone(),
        previous_number: old.number,
        redacted: Vec::new(),
    })
}

impl Render for Response {
    fn render(&self) -> Document {
        let text = if self.id == self.previous {
            format!("updated #{} {} in place", self.number, self.id)
        } else {
            format!(
                "updated #{} → #{} {} (old version superseded, history preserved)",
                self.previous_number, self.number, self.id
            )
        };
        Document::new().note(Mark::Good, text).note_redacted(&self.redacted)
    }
}
