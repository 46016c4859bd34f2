//! `gate fresh`: when the ontology last changed, and what waits for a decision.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::time::Timestamp;

use super::{
    desk::{Desk, is_missing},
    entry,
    proposal::Stage,
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct Fresh;

/// Nothing to say.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// How ontology and proposals stand.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Whether ontology and proposals can be read and are well formed.
    pub ok: bool,
    /// `ok` or `failure`.
    pub status: &'static str,
    /// When the ontology last changed.
    pub last_modified: Option<String>,
    /// Proposals that are proposed or approved.
    pub open_proposals: usize,
    /// Entries of the ontology, when it is well formed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<usize>,
    /// What is wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

impl Operation for Fresh {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "gate_fresh",
        cli: &["gate", "fresh"],
        positional: &[],
        title: "How the ontology stands",
        about: "Says when the ontology last changed, how many entries it has and how many proposals wait to be approved or \
                applied. Use it to see whether the rules are looked after. It changes nothing.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, _: Request) -> Result<Response, Error> {
        look(engine, call)
    }
}

/// How ontology and proposals stand, for whoever reports on it.
pub fn look(engine: &Engine, call: &Call<'_>) -> Result<Response, Error> {
    let desk = Desk::new(engine, call);
    let (open_proposals, mut errors) = proposals(&desk)?;
    let entries = match desk.read_ontology()? {
        None => {
            errors.push(format!("ontology file missing: {}", desk.ontology.display()));
            None
        }
        Some(text) => {
            let reading = entry::read(&text);
            let entries = reading.errors.is_empty().then_some(reading.count);
            errors.extend(reading.errors);
            entries
        }
    };
    let changed = std::fs::metadata(&desk.ontology).and_then(|m| m.modified()).ok();
    let changed = changed.and_then(|at| jiff::Timestamp::try_from(at).ok());
    Ok(Response {
        ok: errors.is_empty(),
        status: if errors.is_empty() { "ok" } else { "failure" },
        last_modified: changed.map(|at| Timestamp::from(at).to_rfc3339()),
        open_proposals,
        entries,
        errors,
    })
}

/// Proposals that wait, and the files that are none.
fn proposals(desk: &Desk<'_>) -> Result<(usize, Vec<String>), Error> {
    let (mut open, mut errors) = (0, Vec::new());
    if is_missing(&desk.proposals)? {
        return Ok((open, errors));
    }
    let explain = |source| Error::File { path: desk.proposals.display().to_string(), source };
    let mut files: Vec<PathBuf> = Vec::new();
    for found in std::fs::read_dir(&desk.proposals).map_err(explain)? {
        files.push(found.map_err(explain)?.path());
    }
    files.retain(|path| path.extension().is_some_and(|e| e == "json"));
    files.sort();
    for path in files {
        match desk.open_file(path) {
            Ok(opened) => {
                open += usize::from(matches!(opened.proposal.status, Stage::Proposed | Stage::Approved));
            }
            Err(error) => errors.push(error.to_string()),
        }
    }
    Ok((open, errors))
}

impl Render for Response {
    fn render(&self) -> Document {
        let known = |text: Option<String>| text.unwrap_or_else(|| "unknown".into());
        let document = Document::new().with(Block::Pairs(vec![
            ("entries".into(), known(self.entries.map(|n| n.to_string()))),
            ("last changed".into(), known(self.last_modified.clone())),
            ("open proposals".into(), self.open_proposals.to_string()),
        ]));
        self.errors.iter().fold(document, |document, error| document.note(Mark::Bad, error.clone()))
    }

    fn is_alarming(&self) -> bool {
        !self.ok
    }
}
