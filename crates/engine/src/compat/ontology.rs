//! `knowledge_ontology-status`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::ledger::ReviewFilter;

use super::line;
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Render, counted},
    review::CONFLICT,
};

/// See the module.
pub struct KnowledgeOntologyStatus;

/// No arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// How the graph stands. All scopes count.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Entities of the graph.
    pub entities: i64,
    /// Relations that hold.
    pub relations: i64,
    /// Contradictions that wait in the review queue: those that were found and nobody has decided.
    pub contradictions: usize,
}

impl Operation for KnowledgeOntologyStatus {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Compat,
        tool: "knowledge_ontology-status",
        cli: &["compat", "ontology-status"],
        positional: &[],
        title: "State of the graph",
        about: "Counts entities, relations, and contradictions, under the name of p-layer's older server. Contradictions are \
                those that wait in the review queue; `contradictions` looks for new ones. For clients that were set up for it; \
                others use `memory_stats`.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        let waiting = ReviewFilter { kind: Some(CONFLICT.to_owned()), ..ReviewFilter::default() };
        let ledger = engine.existing_ledger()?;
        Ok(ledger.read(&engine.control(call), |r| {
            let totals = r.totals()?;
            Ok(Response {
                entities: totals.entities,
                relations: totals.relations,
                contradictions: r.review_counts(&waiting)?.iter().map(|(_, count)| count).sum(),
            })
        })?)
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        line(format!(
            "{}, {}, {} to decide",
            counted(self.entities, "entity"),
            counted(self.relations, "relation"),
            counted(self.contradictions, "contradiction")
        ))
    }
}
