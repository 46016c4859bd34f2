//! `rules_edit`: changes a rule's text, priority, condition or layer.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_core::{memory::Layer, policy::Action, principal::Principal};
use strata_store::ledger::{NewAudit, RuleAttributes, State};

use super::{Changed, Target, priority, target, view};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::Gate,
    memory::{draft::Draft, remember::LayerName, write},
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
};

/// See the module.
pub struct Edit;

/// The word on record.
const ACTION: &str = "rule_edit";

/// What to change; what is left out stays.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The rule, by its whole id or #number.
    pub id: String,
    /// The new text, whole. Makes a new version; the old one stays in its history.
    pub text: Option<String>,
    /// Another place in its layer, 0 or more.
    pub priority: Option<i64>,
    /// Another condition.
    pub condition: Option<String>,
    /// Take the condition away: the rule then applies always.
    pub unconditional: Option<bool>,
    /// Another layer.
    pub layer: Option<LayerName>,
    /// Why it changes; kept in its history.
    pub reason: Option<String>,
}

impl Operation for Edit {
    type Request = Request;
    type Response = Changed;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "rules_edit",
        cli: &["rules", "edit"],
        positional: &["id", "text"],
        title: "Change a rule",
        about: "Changes a rule. A new text makes a version that replaces the old one; priority, condition and layer change in \
                place. Rules of P0 and P1, before or after the change, take a human with the passphrase; an agent proposes \
                with `reflect` and `amends`. Fails when somebody else changed the rule first.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const ALIASES: &'static [(&'static str, &'static str)] = &[("fact", "text"), ("content", "text")];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Changed, Error> {
        let old = target(engine, call, &request.id)?;
        let command = format!("strata rules edit {}", old.memory.id);
        edit(engine, call, &old, &request).map_err(|e| e.with_command(command))
    }
}

fn edit(engine: &Engine, call: &Call<'_>, old: &Target, request: &Request) -> Result<Changed, Error> {
    let memory = &old.memory;
    let mut gate = Gate::default();
    let text = request.text.as_deref().map(|t| gate.body("text", t)).transpose()?;
    let condition = match gate.field("condition", request.condition.as_deref())? {
        None if request.unconditional.unwrap_or(false) => None,
        None => old.attributes.condition.clone(),
        given => given,
    };
    let attributes = RuleAttributes {
        priority: priority(request.priority)?.unwrap_or(old.attributes.priority),
        condition,
        enabled: old.attributes.enabled,
    };
    let reason = gate.field("reason", request.reason.as_deref())?.unwrap_or_default();
    let layer = request.layer.map_or(memory.state.layer, Layer::from);
    let state = State { layer, ..memory.state };
    let may = |layer| authority::authorise_as(engine, call, Action::Update, ACTION, layer, &memory.id);
    let leaving = may(memory.state.layer)?;
    let actor = authority::either(may(layer)?, leaving);
    let number = match text.filter(|text| *text != memory.body) {
        Some(text) => rewrite(engine, call, old, (text, &state, attributes), reason)?,
        None if attributes == old.attributes && state == memory.state => {
            let hint = "give a new text, priority, condition or layer";
            return Err(Error::argument("id", "nothing would change", hint));
        }
        None => {
            adjust(engine, call, &actor, ACTION, old, (&state, &attributes), &reason)?;
            memory.number
        }
    };
    Ok(Changed {
        status: "edited",
        rule: view(engine, call, number)?,
        previous: (number != memory.number).then(|| memory.id.clone()),
        redacted: gate.redacted,
    })
}

/// A new version takes the old one's place; returns its number.
fn rewrite(
    engine: &Engine,
    call: &Call<'_>,
    old: &Target,
    (text, state, attributes): (String, &State, RuleAttributes),
    reason: String,
) -> Result<i64, Error> {
    let evidence = engine.ledger(call)?.read(&engine.control(call), |r| r.evidence(old.memory.number))?;
    let draft = Draft {
        rule: Some(attributes),
        action: ACTION,
        supersede_reason: Some(reason).filter(|r| !r.is_empty()),
        ..Draft::version_of(&old.memory, text, state, evidence)
    };
    Ok(write::store(engine, call, &draft)?.number)
}

/// The rule stays, its layer or attributes change; who may was decided.
pub(super) fn adjust(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    action: &str,
    old: &Target,
    (state, attributes): (&State, &RuleAttributes),
    reason: &str,
) -> Result<(), Error> {
    let memory = &old.memory;
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        let row = NewAudit {
            layer: Some(state.layer),
            reason,
            before_hash: Some(w.hash_with(memory.number, Some(&memory.state), &old.attributes)?),
            after_hash: Some(w.hash_with(memory.number, Some(state), attributes)?),
            ..NewAudit::new(actor, call.face, action, &memory.id)
        };
        let seq = w.record(&row)?;
        // The state goes first even where it is the same: what was decided rests on it.
        w.change_state(memory.number, Some(memory.state_seq), state, seq)?;
        w.set_rule(memory.number, Some(old.seen), attributes, seq)?;
        authority::seal(w, call, actor)
    })?;
    engine.index_what_was_stored(call);
    Ok(())
}
