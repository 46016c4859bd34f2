//! `classify_memory_item`: where an item belongs, and why. Reads nothing and changes nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Asked, Routed, classify};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::room::echo,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Block, Document, Mark, Render},
    settings::layered::RoutingMode,
};

/// The longest item that is read.
const MAX_ITEM: usize = 5 << 20;

/// See the module.
pub struct Classify;

/// The item.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The text.
    pub content: String,
    /// Domain it is meant for.
    pub domain: Option<String>,
    /// Heading it is meant for; counts too.
    pub section: Option<String>,
    /// Surfaces you can write yourself.
    #[serde(default)]
    pub supported_surfaces: Vec<String>,
    /// Only repeated.
    pub agent_type: Option<String>,
    /// The mode to report.
    pub mode: Option<ModeName>,
}

/// The modes by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the modes' meaning is documented once, in the settings")]
pub enum ModeName {
    Advisory,
    Enforce,
}

/// The decision.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// Where it belongs.
    #[serde(flatten)]
    pub routed: Routed,
    /// What was asked.
    pub echo: Echo,
}

/// What was asked, beside the text.
#[derive(Debug, Serialize)]
pub struct Echo {
    /// As given.
    pub agent_type: Option<String>,
    /// As given.
    pub domain: Option<String>,
    /// As given.
    pub section: Option<String>,
    /// As given; null when the caller did not say.
    pub supported_surfaces: Option<Vec<String>>,
}

impl Operation for Classify {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "classify_memory_item",
        cli: &["route", "classify"],
        positional: &["content"],
        title: "Where an item belongs",
        about: "Tells by fixed rules whether a text is knowledge, a todo, a skill, a preference or not worth keeping, and why.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, _call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let size = request.content.len();
        if size > MAX_ITEM {
            return Err(Error::TooLarge { field: "content".into(), size, limit: MAX_ITEM });
        }
        let mode = match request.mode {
            None => engine.settings().config.routing.mode,
            Some(ModeName::Advisory) => RoutingMode::Advisory,
            Some(ModeName::Enforce) => RoutingMode::Enforce,
        };
        let asked = Asked {
            content: &request.content,
            domain: request.domain.as_deref(),
            section: request.section.as_deref(),
            supported: &request.supported_surfaces,
        };
        let routed = classify(engine, &asked, mode);
        let given = !request.supported_surfaces.is_empty();
        let echo = Echo {
            agent_type: request.agent_type.as_deref().map(echo),
            domain: request.domain.as_deref().map(echo),
            section: request.section.as_deref().map(echo),
            supported_surfaces: given.then(|| request.supported_surfaces.iter().map(|s| echo(s)).collect()),
        };
        Ok(Response { success: true, routed, echo })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let Routed { surface, ownership, score, confidence_basis, reason, .. } = &self.routed;
        let pairs = [
            ("surface", (*surface).to_owned()),
            ("owned by", (*ownership).to_owned()),
            ("score", format!("{score} ({confidence_basis})")),
            ("because of", reason.clone()),
        ];
        let pairs = pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let mut document = Document::new().with(Block::Pairs(pairs));
        for other in &self.routed.alternatives {
            let reason = other.reason.as_deref().unwrap_or_default();
            let text = format!("it might be {} (score {}): {reason}", other.surface, other.score);
            document = document.note(Mark::Info, text);
        }
        for warning in &self.routed.warnings {
            document = document.note(Mark::Warning, warning.clone());
        }
        document
    }
}
