//! `rules_add`: stores a rule with its priority and condition.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_store::ledger::RuleAttributes;

use super::{APPLIES_TO, Changed, RULE, priority, view};
use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    memory::{
        draft::Draft,
        remember::{LayerName, Request as Remember, ScopeName},
        write,
    },
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
};

/// See the module.
pub struct Add;

/// The rule.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The rule in words that stand on their own.
    pub text: String,
    /// Its place in its layer, 0 or more; the lower number goes first. Default 100.
    pub priority: Option<i64>,
    /// Its layer. Default P0.
    pub layer: Option<LayerName>,
    /// When it applies, e.g. `deploying to production`; always, if left out.
    pub condition: Option<String>,
    /// Where it holds: user, project or branch; the project by default, where one is known. Any other word is kept as what the rule is about.
    pub scope: Option<String>,
    /// Where it comes from: a file, a decision, a person.
    pub source: Option<String>,
    /// What it rests on. One entry each.
    #[serde(default)]
    pub evidence: Vec<String>,
}

impl Operation for Add {
    type Request = Request;
    type Response = Changed;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "rules_add",
        cli: &["rules", "add"],
        positional: &["text"],
        title: "Add a rule",
        about: "Stores a rule. Rules of P0 and P1 are a human's: at a terminal it asks for the passphrase and the system stores \
                the rule on the human's behalf; an agent is refused, on record, and proposes with `reflect` instead. Context \
                shows rules first, by layer, priority and age.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("fact", "text"), ("content", "text"), ("rule", "text")];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Changed, Error> {
        let draft = draft(engine, call, request)?;
        let command = "strata rules add TEXT";
        let stored = write::store(engine, call, &draft).map_err(|e| e.with_command(command))?;
        Ok(Changed {
            status: if stored.new { "added" } else { "unchanged" },
            rule: view(engine, call, stored.number)?,
            previous: stored.superseded,
            redacted: draft.redacted,
        })
    }
}

fn draft(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Draft, Error> {
    let mut gate = Gate::default();
    let attributes = RuleAttributes {
        priority: priority(request.priority)?.unwrap_or(strata_store::ledger::DEFAULT_PRIORITY),
        condition: gate.field("condition", request.condition.as_deref())?,
        enabled: true,
    };
    let word = request.scope.as_deref().map(str::trim).filter(|word| !word.is_empty());
    let scope = match word {
        Some("user") => Some(ScopeName::User),
        Some("project") => Some(ScopeName::Project),
        Some("branch") => Some(ScopeName::Branch),
        _ => None,
    };
    let mut asked = Remember {
        text: request.text,
        kind: Some(RULE.to_owned()),
        layer: Some(request.layer.unwrap_or(LayerName::P0)),
        scope,
        source: request.source,
        evidence: request.evidence,
        ..Remember::default()
    };
    if let (None, Some(word)) = (scope, word) {
        asked.metadata.insert(APPLIES_TO.to_owned(), word.to_owned());
    }
    let mut draft = Draft::from_request(engine, call, &asked)?;
    draft.redacted.extend(gate.redacted);
    draft.rule = Some(attributes);
    draft.action = "rule_add";
    Ok(draft)
}
