//! The persistence router as writers and clients see it: a decision with its reasons, and what a write does about it.

pub mod capabilities;
pub mod classify;
pub(crate) mod words;

use serde::Serialize;
use strata_core::{
    memory::Kind,
    route::{Decision, Item, Ownership, Route},
};

use crate::{
    engine::Engine,
    error::Error,
    render::{rounded, shortened},
    settings::layered::{Routing, RoutingMode},
};

/// Version of the form of a decision.
pub(crate) const SCHEMA_VERSION: u32 = 1;
/// How the framework goes about what the agent owns.
pub(crate) const SUGGEST: &str = "suggest";
/// Characters of a text that is shown as evidence.
const EVIDENCE_CHARS: usize = 80;
/// Characters of the title, and of the reason, of a suggestion.
const TITLE_CHARS: usize = 120;
const RATIONALE_CHARS: usize = 400;
/// Characters of a todo's title that is made of its text.
const TODO_TITLE_CHARS: usize = 50;

/// Where an item belongs, as clients read it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Routed {
    /// Version of this form.
    pub schema_version: u32,
    /// The surface.
    pub surface: &'static str,
    /// Who keeps what goes there.
    pub ownership: &'static str,
    /// Sum of the weights, 0 to 1; no probability.
    pub score: f64,
    /// What it rests on.
    pub confidence_basis: &'static str,
    /// What decided.
    pub reason: String,
    /// Everything that was weighed.
    pub signals: Vec<Signal>,
    /// Other surfaces that something spoke for, the best first.
    pub alternatives: Vec<Alternative>,
    /// What to know about a weak decision.
    pub warnings: Vec<String>,
    /// `advisory` or `enforce`.
    pub mode: &'static str,
    /// What the agent may do where it owns the surface.
    pub suggested_action: Option<SuggestedAction>,
    /// The handler that would write there.
    pub configured_handler: Option<String>,
    /// `apply`, `suggest` or `none`.
    pub application_mode: &'static str,
    /// Whether Strata can write there.
    pub framework_can_apply: bool,
    /// Whether the agent should.
    pub agent_should_apply: bool,
}

/// One thing that was weighed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Signal {
    /// `marker`, `structure` or `negative`.
    pub kind: &'static str,
    /// The marker or the structure.
    pub name: String,
    /// What it speaks for.
    pub surface: &'static str,
    /// The line where it stands.
    pub evidence: String,
    /// What it adds; left out beside a write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// Another surface that something spoke for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alternative {
    /// The surface.
    pub surface: &'static str,
    /// Who keeps what goes there.
    pub ownership: &'static str,
    /// Sum of the weights.
    pub score: f64,
    /// What spoke for it; left out beside a write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What an agent may write into a memory of its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SuggestedAction {
    /// Always `agent_native_write`.
    pub kind: &'static str,
    /// The surface.
    pub surface: &'static str,
    /// `create` or `update`.
    pub operation: &'static str,
    /// A title.
    pub title: Option<String>,
    /// The text; left out beside a write, whose caller has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_content: Option<String>,
    /// The parts that it should have.
    pub shape_hint: Vec<&'static str>,
    /// Why.
    pub rationale: String,
    /// Whether the user is asked first.
    pub requires_user_confirmation: bool,
    /// What it rests on.
    pub metadata: SuggestionMetadata,
}

/// What a suggestion rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SuggestionMetadata {
    /// The domain that the caller named.
    pub domain: Option<String>,
    /// Sum of the weights.
    pub score: f64,
    /// What it rests on.
    pub confidence_basis: &'static str,
    /// Who owns the surface.
    pub owned_by: &'static str,
    /// Whether Strata can write there.
    pub framework_can_apply: bool,
    /// `suggest`.
    pub application_mode: &'static str,
    /// The handler that would write there.
    pub configured_handler: Option<String>,
}

/// An item as a caller describes it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked<'a> {
    /// The text.
    pub content: &'a str,
    /// The domain it is meant for.
    pub domain: Option<&'a str>,
    /// The heading it is meant for.
    pub section: Option<&'a str>,
    /// The agent's own surfaces that the caller has; empty when it did not say.
    pub supported: &'a [String],
}

/// Classifies an item with the words of the configuration. The same item always gets the same answer.
pub fn classify(engine: &Engine, asked: &Asked<'_>, mode: RoutingMode) -> Routed {
    let item = Item { content: asked.content, section: asked.section, kind: None };
    told(&engine.words().router.classify(&item), asked, mode)
}

fn told(decision: &Decision, asked: &Asked<'_>, mode: RoutingMode) -> Routed {
    let ownership = decision.route.ownership();
    let mut warnings = decision.warnings.clone();
    let is_supported = supports(decision.route, asked.supported, &mut warnings);
    let is_agents = ownership == Ownership::Agent;
    Routed {
        schema_version: SCHEMA_VERSION,
        surface: decision.route.as_str(),
        ownership: ownership.as_str(),
        score: decision.score,
        confidence_basis: decision.basis.as_str(),
        reason: decision.reason.clone(),
        signals: decision.signals.iter().map(|signal| signal_of(signal, asked)).collect(),
        alternatives: decision.alternatives.iter().map(|other| alternative_of(*other, decision)).collect(),
        warnings,
        mode: mode.as_str(),
        suggested_action: (is_agents && is_supported).then(|| suggestion(decision, asked)),
        configured_handler: None,
        application_mode: application_mode(ownership),
        framework_can_apply: ownership == Ownership::Framework,
        agent_should_apply: is_agents && is_supported,
    }
}

/// How what belongs to an owner gets there.
pub(crate) const fn application_mode(ownership: Ownership) -> &'static str {
    match ownership {
        Ownership::Framework => "apply",
        Ownership::Agent => SUGGEST,
        Ownership::None => "none",
    }
}

/// Whether the caller has the surface, as far as it said which it has.
fn supports(route: Route, supported: &[String], warnings: &mut Vec<String>) -> bool {
    let given: Vec<&str> = supported.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
    let unknown: Vec<String> = given
        .iter()
        .filter(|name| Route::parse(name).is_none())
        .map(|name| format!("`{}`", shortened(name, 40)))
        .collect();
    if !unknown.is_empty() {
        warnings.push(format!("no surface is called {}", unknown.join(", ")));
    }
    let has = given.is_empty() || given.contains(&route.as_str());
    if !has {
        warnings.push(format!("{} is not among the caller's surfaces", route.as_str()));
    }
    has
}

fn signal_of(signal: &strata_core::route::Signal, asked: &Asked<'_>) -> Signal {
    let text = if signal.in_section { asked.section.unwrap_or_default() } else { asked.content };
    let evidence = match &signal.span {
        Some(span) => line_around(text, span.start),
        None => signal.describe(),
    };
    Signal {
        kind: signal.kind.as_str(),
        name: signal.name.clone(),
        surface: signal.route.as_str(),
        evidence,
        weight: Some(rounded(signal.weight, 3)),
    }
}

/// The line of a text around a byte, cut.
fn line_around(text: &str, at: usize) -> String {
    let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let line = text[start..].lines().next().unwrap_or_default().trim();
    shortened(line, EVIDENCE_CHARS)
}

fn alternative_of((route, score): (Route, f64), decision: &Decision) -> Alternative {
    let spoke: Vec<String> = decision
        .signals
        .iter()
        .filter(|signal| signal.route == route && signal.weight > 0.0)
        .map(strata_core::route::Signal::describe)
        .collect();
    Alternative {
        surface: route.as_str(),
        ownership: route.ownership().as_str(),
        score,
        reason: Some(spoke.join("; ")),
    }
}

fn suggestion(decision: &Decision, asked: &Asked<'_>) -> SuggestedAction {
    let (operation, shape): (_, &[&'static str]) = match decision.route {
        Route::Skill => {
            ("create", &["title", "when_to_use", "preconditions", "steps", "verification", "pitfalls"])
        }
        Route::UserProfile => ("update", &["preference_statement", "scope", "stability", "confirmation"]),
        _ => ("create", &["title", "body", "provenance"]),
    };
    let title = asked.section.map(|section| section.trim_start_matches('#').trim());
    SuggestedAction {
        kind: "agent_native_write",
        surface: decision.route.as_str(),
        operation,
        title: title.filter(|title| !title.is_empty()).map(|title| shortened(title, TITLE_CHARS)),
        source_content: Some(asked.content.to_owned()),
        shape_hint: shape.to_vec(),
        rationale: shortened(&decision.reason, RATIONALE_CHARS),
        requires_user_confirmation: decision.route == Route::UserProfile,
        metadata: SuggestionMetadata {
            domain: asked.domain.map(str::to_owned),
            score: decision.score,
            confidence_basis: decision.basis.as_str(),
            owned_by: decision.route.ownership().as_str(),
            framework_can_apply: false,
            application_mode: SUGGEST,
            configured_handler: None,
        },
    }
}

impl Routed {
    /// The decision as it stands beside a write: without weights, reasons of alternatives and the caller's own text.
    #[must_use]
    pub fn compact(mut self) -> Self {
        self.signals.iter_mut().for_each(|signal| signal.weight = None);
        self.alternatives.iter_mut().for_each(|other| other.reason = None);
        if let Some(action) = &mut self.suggested_action {
            action.source_content = None;
        }
        self
    }

    fn route(&self) -> Route {
        Route::parse(self.surface).unwrap_or(Route::Undecided)
    }

    /// What to say where knowledge is written that may belong elsewhere.
    fn warning(&self) -> Option<String> {
        match self.route() {
            Route::L1Knowledge | Route::L0Index => None,
            Route::Undecided => {
                Some("nothing in it tells where it belongs: see that it is durable knowledge".into())
            }
            route => Some(format!(
                "it reads like {} (owned by {}, score {}): {}",
                route.as_str(),
                self.ownership,
                self.score,
                self.reason
            )),
        }
    }
}

/// What a caller says about the router's decision before it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Override {
    /// Nothing.
    #[default]
    None,
    /// It is knowledge, whatever the router says.
    ForceL1,
}

impl Override {
    /// Both, in documentation order.
    pub const ALL: [Self; 2] = [Self::None, Self::ForceL1];

    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ForceL1 => "force_l1",
        }
    }

    /// Reads the word; absent and blank say nothing.
    ///
    /// # Errors
    /// `Argument` for another word.
    pub fn parse(word: Option<&str>) -> Result<Self, Error> {
        let word = word.map(str::trim).filter(|word| !word.is_empty()).unwrap_or("none");
        Self::ALL.into_iter().find(|known| known.as_str() == word).ok_or_else(|| {
            let message = format!("there is no override `{}`", shortened(word, 40));
            Error::argument("routing_override", message, "use none or force_l1")
        })
    }
}

/// What the router has to say about a direct write of knowledge. Its fields stand in the reply of the write.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Annotation {
    /// The decision; absent where nothing is classified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<Routed>,
    /// Why it may belong elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing_warning: Option<String>,
    /// What the strict gate did; absent where it is switched off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing_enforcement: Option<Enforcement>,
    /// Whether the override let through what the gate would have refused.
    #[serde(skip_serializing_if = "crate::operation::is_default")]
    pub routing_override_applied: bool,
}

/// What the strict gate did with a direct write.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Enforcement {
    /// `routing.enforce_direct_writes`.
    pub enforce_direct_writes: bool,
    /// `routing.mode`.
    pub routing_mode: &'static str,
    /// `routing.enabled`.
    pub routing_enabled: bool,
    /// Whether a caller named the place, as opposed to a pass that chose it.
    pub direct_write: bool,
    /// Whether the gate judges the write.
    pub gate_active: bool,
    /// What the caller said.
    pub override_requested: &'static str,
    /// Whether that changed anything.
    pub override_applied: bool,
    /// What happened.
    pub note: &'static str,
    /// Whether nothing told where it belongs, so that it was let through.
    #[serde(skip_serializing_if = "crate::operation::is_default")]
    pub insufficient_evidence: bool,
}

/// A direct write that was refused: the whole reply.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refusal {
    /// Always false.
    pub success: bool,
    /// Always `routing_refused`.
    pub action: &'static str,
    /// Always `routing_enforce_direct_write_refused`.
    pub error: &'static str,
    /// Why.
    pub message: String,
    /// Always false.
    pub written: bool,
    /// The domain that was meant.
    pub domain: Option<String>,
    /// The heading that was meant.
    pub section: Option<String>,
    /// The decision.
    pub routing: Routed,
    /// Why it belongs elsewhere.
    pub routing_warning: Option<String>,
    /// What the agent may do where it owns the surface.
    pub suggested_action: Option<SuggestedAction>,
    /// What the gate did.
    pub routing_enforcement: Enforcement,
    /// What to do.
    pub hint: String,
    /// The todo that it would make.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todo_candidate: Option<TodoCandidate>,
}

/// A todo that a text would make.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TodoCandidate {
    /// Always `todo`.
    pub surface: &'static str,
    /// One line.
    pub title: String,
    /// What is to be done.
    pub content: String,
    /// Why it is one.
    pub reason: String,
    /// What to call.
    pub hint: &'static str,
}

/// What becomes of a direct write: what to say in its reply, or the reply itself when it is refused.
#[derive(Debug, Clone, PartialEq)]
pub enum Ruling {
    /// Write it, and say this.
    Write(Box<Annotation>),
    /// Write nothing, and answer this.
    Refuse(Box<Refusal>),
}

/// Judges a direct write of knowledge whose text has passed the gate. Nothing is refused unless `routing.enforce_direct_writes` says so,
/// and nothing that the router cannot place.
pub fn decide(engine: &Engine, asked: &Asked<'_>, said: Override) -> Ruling {
    let routing = &engine.settings().config.routing;
    if !routing.enabled {
        return Ruling::Write(Box::default());
    }
    let routed = classify(engine, asked, routing.mode);
    let warning = routed.warning();
    let route = routed.route();
    let is_allowed = matches!(route, Route::L1Knowledge | Route::L0Index | Route::Undecided);
    let is_forced = !is_allowed && said == Override::ForceL1;
    let enforcement = routing.refuses_direct_writes().then(|| enforcement(routing, route, said, is_forced));
    match enforcement {
        Some(enforcement) if !is_allowed && !is_forced => {
            Ruling::Refuse(Box::new(refusal(routed, warning, enforcement, asked)))
        }
        enforcement => Ruling::Write(Box::new(Annotation {
            routing: Some(routed.compact()),
            routing_warning: warning,
            routing_override_applied: is_forced && enforcement.is_some(),
            routing_enforcement: enforcement,
        })),
    }
}

fn enforcement(routing: &Routing, route: Route, said: Override, is_forced: bool) -> Enforcement {
    let insufficient_evidence = route == Route::Undecided;
    let note = match route {
        _ if is_forced => "the caller says that it is knowledge, so it was written",
        Route::Undecided => "nothing tells where it belongs, so it was written",
        Route::L1Knowledge | Route::L0Index => "it belongs here",
        _ => "it belongs elsewhere, so nothing was written",
    };
    Enforcement {
        enforce_direct_writes: routing.enforce_direct_writes,
        routing_mode: routing.mode.as_str(),
        routing_enabled: routing.enabled,
        direct_write: true,
        gate_active: true,
        override_requested: said.as_str(),
        override_applied: is_forced,
        note,
        insufficient_evidence,
    }
}

fn refusal(routed: Routed, warning: Option<String>, enforcement: Enforcement, asked: &Asked<'_>) -> Refusal {
    let (surface, ownership) = (routed.surface, routed.ownership);
    let is_todo = routed.route() == Route::Todo;
    let next = match (routed.route(), ownership) {
        (Route::Todo, _) => "call `add_todo` with the candidate",
        (_, "agent") => "write it into the memory of your own that keeps such things",
        _ => "keep only what will still be true later, in words of your own",
    };
    Refusal {
        success: false,
        action: "routing_refused",
        error: "routing_enforce_direct_write_refused",
        message: format!("it belongs to {surface}, not to knowledge; nothing was written"),
        written: false,
        domain: asked.domain.map(str::to_owned),
        section: asked.section.map(str::to_owned),
        todo_candidate: is_todo.then(|| candidate(&routed, asked)),
        suggested_action: routed.suggested_action.clone(),
        routing_warning: warning,
        routing_enforcement: enforcement,
        hint: format!("{next}, or pass `routing_override` force_l1 if it is knowledge all the same"),
        routing: routed.compact(),
    }
}

fn candidate(routed: &Routed, asked: &Asked<'_>) -> TodoCandidate {
    let line = asked.content.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let section = asked.section.map(|section| section.trim_start_matches('#').trim());
    let title = section.filter(|section| !section.is_empty()).unwrap_or(line.trim());
    TodoCandidate {
        surface: Route::Todo.as_str(),
        title: shortened(title, TODO_TITLE_CHARS),
        content: asked.content.to_owned(),
        reason: routed.reason.clone(),
        hint: "call `add_todo` with this title and content",
    }
}

/// Where a memory might belong better, as a note; it changes nothing.
pub(crate) fn note(engine: &Engine, text: &str, kind: &Kind) -> Option<String> {
    if !engine.settings().config.routing.enabled {
        return None;
    }
    let item = Item { content: text, section: None, kind: Some(kind) };
    let decision = engine.words().router.classify(&item);
    // A memory is knowledge, too, and it may be called what it reads like: neither leads anywhere else.
    let is_called_so = match kind.as_str() {
        "preference" => decision.route == Route::UserProfile,
        "skill" | "procedure" => decision.route == Route::Skill,
        _ => false,
    };
    if is_called_so || decision.route == Route::L1Knowledge {
        return None;
    }
    let told = decision.deciding().next()?.describe();
    Some(format!("{}: {told}", decision.route.as_str()))
}

/// What decided, for people: the first three signals.
pub(crate) fn reasons(decision: &Decision) -> String {
    let told: Vec<String> = decision.deciding().take(3).map(strata_core::route::Signal::describe).collect();
    told.join(", ")
}
