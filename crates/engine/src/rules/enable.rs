//! `rules_enable`: puts a disabled rule in force again.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_core::policy::Action;
use strata_store::ledger::RuleAttributes;

use super::{Changed, edit::adjust, target, view};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::Gate,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
};

/// See the module.
pub struct Enable;

/// Which rule, and why.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The rule, by its whole id or #number.
    pub id: String,
    /// Why; kept in its history.
    pub reason: Option<String>,
}

impl Operation for Enable {
    type Request = Request;
    type Response = Changed;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "rules_enable",
        cli: &["rules", "enable"],
        positional: &["id"],
        title: "Enable a rule",
        about: "Puts a disabled rule in force again, with the text, priority and condition it has. A rule of P0 or P1 takes a \
                human with the passphrase; an agent is refused, on record.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Changed, Error> {
        switch(engine, call, &request, true)
    }
}

/// Enables or disables a rule.
pub(super) fn switch(
    engine: &Engine,
    call: &Call<'_>,
    request: &Request,
    enabled: bool,
) -> Result<Changed, Error> {
    let (word, action, status) = match enabled {
        true => ("enable", "rule_enable", "enabled"),
        false => ("disable", "rule_disable", "disabled"),
    };
    let old = target(engine, call, &request.id)?;
    let reason = Gate::default().field("reason", request.reason.as_deref())?.unwrap_or_default();
    let (layer, id) = (old.memory.state.layer, &old.memory.id);
    let actor = authority::authorise_as(engine, call, Action::Update, action, layer, id)
        .map_err(|e| e.with_command(format!("strata rules {word} {}", old.memory.id)))?;
    if old.attributes.enabled == enabled {
        return Err(Error::Conflict {
            message: format!("rule {} is already {status}", old.memory.id),
            hint: "`rules_list` with `all` shows how every rule stands".into(),
        });
    }
    let attributes = RuleAttributes { enabled, ..old.attributes.clone() };
    adjust(engine, call, &actor, action, &old, (&old.memory.state, &attributes), &reason)?;
    let rule = view(engine, call, old.memory.number)?;
    Ok(Changed { status, rule, previous: None, redacted: Vec::new() })
}
