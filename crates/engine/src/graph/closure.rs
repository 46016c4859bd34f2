//! `graph_closure`: everything that one type of relation reaches from an entity.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::graph::{Direction, constraints::Misfit, depth};

use super::{
    explore::table,
    naming,
    walk::{self, Row, Steps, note_cut},
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct Closure;

/// From where, and along what.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The entity to start from, by id, label or number.
    pub entity_id: String,
    /// The type of relation to follow. Default depends_on.
    pub rel: Option<String>,
    /// The way to follow it.
    pub direction: Option<Way>,
    /// How many steps to go, 1 to 10. Default 5.
    #[schemars(range(min = 1, max = 10))]
    pub depth: Option<u32>,
}

/// The ways by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// from source to target, the default
    Out,
    /// from target to source
    In,
}

/// What is reached.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Where the walk began.
    pub entity_id: String,
    /// Each entity that is reached, once, nearest first.
    pub closure: Vec<Row>,
    /// Entities that were left out for length.
    #[serde(skip_serializing_if = "is_default")]
    pub more: usize,
    /// Entities whose relations were not all followed: each has more than 1 000 one way, or the answer had read 20 000.
    #[serde(skip_serializing_if = "is_default")]
    pub not_followed: usize,
}

impl Operation for Closure {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "graph_closure",
        cli: &["graph", "closure"],
        positional: &["entity_id"],
        title: "Everything a relation reaches",
        about: "Follows one type of relation from an entity as far as it goes, and lists every entity reached, once, with its \
                distance: all that a service depends on, or with direction `in` all that depends on a tool.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("entity", "entity_id"), ("rel_type", "rel"), ("relation", "rel")];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        naming::needed("entity_id", &request.entity_id)?;
        let relation = request.rel.as_deref().unwrap_or("depends_on").trim().to_lowercase();
        let constraints = engine.settings().config.graph.constraints()?;
        if constraints.rule(&relation).is_none() {
            let known = constraints.rules().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
            let misfit = Misfit::Unknown { name: relation, known };
            return Err(Error::argument("rel", misfit.to_string(), misfit.hint()));
        }
        let direction = match request.direction {
            Some(Way::In) => Direction::In,
            Some(Way::Out) | None => Direction::Out,
        };
        let depth = depth(request.depth.unwrap_or(5));
        let found = engine.read(call, |read| {
            let Some(entity) = naming::entity(read, call, &request.entity_id)? else { return Ok(None) };
            let reader = Steps::new(read, call.scope);
            let steps = walk::walk(&reader, entity.number, direction, depth, &[&relation])?;
            Ok(Some((entity.id, steps, reader.take_cut())))
        })?;
        let (entity_id, steps, not_followed) = found.ok_or_else(|| naming::unknown(&request.entity_id))?;
        let (closure, more) = walk::rows(&steps, |step| step.edge.far);
        Ok(Response { entity_id, closure, more, not_followed })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.closure.is_empty() {
            return Document::new().note(Mark::Info, "Nothing is reached.");
        }
        let document = note_cut(Document::new().with(table(&self.closure)), self.not_followed);
        if self.more == 0 {
            return document;
        }
        document.note(Mark::Info, format!("{}; lower `depth`", counted(self.more, "more entity")))
    }
}
