//! `route_task`: what a task is read as, and what that advises.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;
use strata_core::{
    project::{
        routing::{self, Layer, Plan, plan},
        task::{Risk, Task},
    },
    redact::redact,
};

use super::agent_context::named_intent;
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Block, Document, Render},
};

/// See the module.
pub struct RouteTask;

/// A task.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The task in a sentence or two.
    pub task: String,
    /// Files that are being worked on.
    #[serde(default)]
    pub current_files: Vec<String>,
    /// Names of functions, types or variables that the task is about.
    #[serde(default)]
    pub current_symbols: Vec<String>,
    /// The kind of work, if it is not to be read from the task.
    pub task_intent: Option<String>,
    /// What you think the risk is: low, medium or high. It raises what is read, and never lowers it.
    pub risk: Option<String>,
    /// What the user wants of memory, e.g. isolated_task.
    #[serde(default)]
    pub user_instruction_flags: Vec<String>,
}

/// What is advised.
#[derive(Debug, Serialize)]
pub struct Response {
    /// What kind of work it is.
    pub task_intent: &'static str,
    /// How involved: trivial, low, medium or high.
    pub complexity: &'static str,
    /// How much can go wrong: low, medium or high.
    pub risk: &'static str,
    /// The word that the risk is high for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risky_word: Option<&'static str>,
    /// Whether to ask the memory first.
    pub should_recall: bool,
    /// Whether what is learned may be kept.
    pub persistence_allowed: bool,
    /// Whether single memories are worth a closer look.
    pub should_allow_deep_inspection: bool,
    /// Tokens that what is recalled is worth.
    pub recommended_budget: u32,
    /// Sorts of memory that help, most first.
    pub relevant_memory_types: Vec<&'static str>,
    /// Modules that it is likely about.
    pub likely_module_paths: Vec<String>,
    /// Symbols that it is likely about.
    pub likely_symbols: Vec<String>,
    /// Its words without those that say nothing.
    pub likely_keywords: Vec<String>,
    /// Whether memories are to be shown with what they rest on.
    pub evidence_expansion_required: bool,
    /// Sizes at which passages are looked at, best first.
    pub layers: Vec<&'static str>,
    /// Sorts of statement that matter; none is all.
    pub proposition_types: Vec<String>,
}

impl Operation for RouteTask {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "route_task",
        cli: &["project", "route"],
        positional: &["task"],
        title: "What a task is read as",
        about: "Says what kind of work a task is, how involved and how risky, which modules and symbols it names, and what \
                that advises for recall. To see why `retrieve_agent_context` chose as it did; it reads nothing that is stored.",
        effect: Effect::Read,
        audience: Audience::People,
    };
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("files", "current_files"), ("symbols", "current_symbols")];
    const OLDER_COMMANDS: &'static [&'static [&'static str]] =
        &[&["debug", "route"], &["project", "debug", "route"], &["memory", "debug", "route"]];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(_engine: &Engine, _call: &Call<'_>, request: Request) -> Result<Response, Error> {
        if request.task.trim().is_empty() {
            return Err(Error::argument("task", "is empty", "say what is to be done, in a sentence"));
        }
        let hint = named_risk(request.risk.as_deref())?;
        let intent = named_intent(request.task_intent.as_deref())?;
        // What is read from a task is shown, and a task may quote anything.
        let clean = |text: &String| redact(text).text.into_owned();
        let all_clean = |texts: &[String]| texts.iter().map(clean).collect::<Vec<_>>();
        let (current_files, current_symbols) =
            (all_clean(&request.current_files), all_clean(&request.current_symbols));
        let task = Task::read(&clean(&request.task), &current_files, &current_symbols, intent);
        let (files, symbols) = (current_files.len(), current_symbols.len());
        let plan = plan(&task, files, symbols, hint, &request.user_instruction_flags);
        Ok(Response::of(task, plan))
    }
}

/// The risk that the caller sees.
fn named_risk(word: Option<&str>) -> Result<Option<Risk>, Error> {
    let Some(word) = word.filter(|word| !word.trim().is_empty()) else { return Ok(None) };
    Risk::parse(word).map(Some).ok_or_else(|| {
        let message = format!("`{}` is no risk", crate::render::shortened(word, 40));
        Error::argument("risk", message, "use low, medium or high")
    })
}

impl Response {
    fn of(task: Task, plan: Plan) -> Self {
        let granularity = routing::granularity(task.intent, &[], None);
        Self {
            task_intent: task.intent.as_str(),
            complexity: plan.complexity.as_str(),
            risk: plan.risk.as_str(),
            risky_word: task.risky_word.map(|word| word.trim_end_matches('*')),
            should_recall: plan.should_recall,
            persistence_allowed: plan.persistence_allowed,
            should_allow_deep_inspection: plan.should_inspect,
            recommended_budget: plan.budget,
            relevant_memory_types: plan.memory_types,
            likely_module_paths: task.modules,
            likely_symbols: task.symbols,
            likely_keywords: task.keywords,
            evidence_expansion_required: task.needs_evidence,
            layers: granularity.layers.into_iter().map(Layer::as_str).collect(),
            proposition_types: granularity.propositions,
        }
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
        let list = |words: &[String]| if words.is_empty() { "none".to_owned() } else { words.join(", ") };
        let pairs = [
            ("intent", self.task_intent.to_owned()),
            ("complexity", self.complexity.to_owned()),
            (
                "risk",
                self.risky_word
                    .map_or_else(|| self.risk.to_owned(), |word| format!("{} ({word})", self.risk)),
            ),
            ("recall first", yes(self.should_recall)),
            ("keep what is learned", yes(self.persistence_allowed)),
            ("inspect single memories", yes(self.should_allow_deep_inspection)),
            ("tokens", self.recommended_budget.to_string()),
            ("memories", self.relevant_memory_types.join(", ")),
            ("modules", list(&self.likely_module_paths)),
            ("symbols", list(&self.likely_symbols)),
            ("words", list(&self.likely_keywords)),
            ("with evidence", yes(self.evidence_expansion_required)),
            ("layers", self.layers.join(", ")),
        ];
        Document::new().with(Block::Pairs(pairs.map(|(name, value)| (name.to_owned(), value)).to_vec()))
    }
}
