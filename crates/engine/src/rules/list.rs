//! `rules_list`: the rules in the order of their authority.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::memory::{Kind, Layer};
use strata_store::ledger::MemoryFilter;

use super::{RULE, RuleView, in_order};
use crate::{
    engine::Engine,
    error::Error,
    memory::remember::LayerName,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    project::anchors::pins::Pins,
    render::{Block, Document, Mark, Render, Trust},
};

/// See the module.
pub struct List;

/// Rules shown when the caller names no limit.
const DEFAULT_LIMIT: u32 = 100;

/// Which rules.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Only this layer.
    pub layer: Option<LayerName>,
    /// Also those that are disabled.
    pub all: Option<bool>,
    /// At most this many, 1 to 1000. Default 100.
    #[schemars(range(min = 1, max = 1_000))]
    pub limit: Option<u32>,
}

/// The rules.
#[derive(Debug, Serialize)]
pub struct Response {
    /// By layer, priority and age.
    pub rules: Vec<RuleView>,
    /// How many more there are.
    pub more: usize,
    /// How many are disabled and not shown.
    pub disabled: usize,
}

impl Operation for List {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "rules_list",
        cli: &["rules", "list"],
        positional: &[],
        title: "List the rules",
        about: "Lists the rules that hold here, in the order of their authority: layer (P0 before P1), then priority (the \
                lower number first), then age. Shows when each applies. Use it to see which rule wins, or for the id of a \
                rule to amend with `reflect`. `all` shows disabled ones too.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT) as usize;
        let kind = Kind::parse(RULE).map_err(|e| Error::parse("kind", &e))?;
        let filter = MemoryFilter {
            visible_from: Some(call.scope.clone()),
            kinds: vec![kind],
            layers: request.layer.map(Layer::from).into_iter().collect(),
            limit: usize::MAX,
            ..MemoryFilter::default()
        };
        let mut rules = engine.read(call, |r| in_order(r, &filter))?;
        let before = rules.len();
        if !request.all.unwrap_or(false) {
            rules.retain(|rule| rule.attributes.enabled);
        }
        let zone = &engine.settings().zone;
        let shown = &rules[..rules.len().min(limit)];
        let code = Pins::of(engine, call, shown.iter().map(|rule| &rule.memory))?;
        Ok(Response {
            disabled: before - rules.len(),
            more: rules.len() - shown.len(),
            rules: shown.iter().map(|rule| RuleView::new(rule, zone, &code)).collect(),
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let mut document = Document::new();
        if self.rules.is_empty() {
            document = document.note(Mark::Info, "No rules hold here. `rules add TEXT` adds one.");
        } else {
            let records = self.rules.iter().map(RuleView::record).collect();
            document = document.with(Block::Records { trust: Trust::Data, records });
        }
        document = document.note_more(self.more);
        if self.disabled > 0 {
            document = document.note(Mark::Info, format!("{} disabled; `all` shows them", self.disabled));
        }
        document
    }
}
