//! `gate propose`: files a proposal for the ontology.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_core::{memory::Layer, policy::Action};
use strata_store::files;

use super::{
    Outcome,
    desk::{Desk, checked, is_missing},
    entry::{Entry, EntryType},
    proposal::{Proposal, Stage},
};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::Gate,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
};

/// See the module.
pub struct Propose;

/// What the entry would be.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {
    /// The proposal's id: letters, digits, `-` and `_`.
    pub id: String,
    /// What the entry is: document, policy or neuron.
    #[serde(rename = "type")]
    pub kind: EntryType,
    /// The area it belongs to.
    pub space: String,
    /// Its headline.
    pub title: String,
    /// The file it speaks of.
    pub file: String,
    /// What it rests on: a page, a ticket, a decision.
    pub source: String,
    /// The id of the entry, when it is not the proposal's own.
    pub target: Option<String>,
    /// Ids that it refers to.
    #[serde(default)]
    pub links: Vec<String>,
}

impl Operation for Propose {
    type Request = Request;
    type Response = Outcome;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "gate_propose",
        cli: &["gate", "propose"],
        positional: &[],
        title: "Propose an entry of the ontology",
        about: "Files a proposal for a new entry of the ontology, or (with `target`) for one that exists and should be retired. \
                It takes effect when a person approves it with the passphrase and it is then applied. Use it where you may \
                not change the rules yourself. The same id is not proposed twice.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Outcome, Error> {
        checked("id", &request.id)?;
        let mut proposal = draft(engine, call, &request)?;
        let problems = proposal.entry.problems();
        if !problems.is_empty() {
            return Ok(Outcome::not(problems.join("; ")));
        }
        authority::authorise_as(engine, call, Action::Propose, "gate_propose", Layer::P0, &proposal.id)?;
        let desk = Desk::new(engine, call);
        let lock = desk.lock()?;
        let path = desk.path(&proposal.id);
        if !is_missing(&path)? {
            return Ok(Outcome::not(format!("proposal '{}' already exists; choose another id", proposal.id)));
        }
        proposal.step(Stage::Proposed, engine.clock().now(), call.principal);
        desk.record(call.principal, "gate_propose", &proposal)?;
        files::make_private_directory(&desk.proposals)?;
        files::swap(&lock, &path, None, &proposal.to_bytes()?)?;
        Ok(Outcome::done(format!(
            "proposed '{id}'; a person approves it with `strata gate approve {id}`",
            id = proposal.id
        )))
    }
}

fn draft(engine: &Engine, call: &Call<'_>, request: &Request) -> Result<Proposal, Error> {
    let mut gate = Gate::default();
    let mut text = |field: &str, text: &str| gate.field(field, Some(text)).map(Option::unwrap_or_default);
    let target = request.target.as_deref().map(str::trim).filter(|t| !t.is_empty());
    let entry = Entry {
        id: text("target", target.unwrap_or(&request.id))?,
        kind: request.kind,
        space: text("space", &request.space)?,
        title: text("title", &request.title)?,
        file: text("file", &request.file)?,
        links: Vec::new(),
    };
    let source_ref = text("source", &request.source)?;
    let id = text("id", &request.id)?;
    let links = gate.list("links", &request.links)?;
    if id != request.id {
        return Err(Error::argument("id", "looks like a secret", "choose another id"));
    }
    let now = engine.clock().now().to_rfc3339();
    Ok(Proposal {
        schema_version: 1,
        id,
        entry: Entry { links, ..entry },
        source_ref,
        status: Stage::Proposed,
        created_at: now.clone(),
        updated_at: now,
        proposer: call.principal.to_string(),
        nonce: format!("{:016x}", engine.ids().bits()),
        approval: None,
        history: Vec::new(),
        others: serde_json::Map::new(),
    })
}
