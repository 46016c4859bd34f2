//! `get_memory_surface_capabilities`: which surfaces there are, who owns them and whether Strata writes them.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::route::{Ownership, Route};

use super::{SCHEMA_VERSION, SUGGEST, application_mode};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Block, Document, Mark, Render},
};

/// Why nothing of the agent's own is written.
const EXTENSIONS_OFF: [&str; 4] = ["extensions_disabled", "surface_disabled", "mode_suggest", "no_handler"];

/// See the module.
pub struct Capabilities;

/// No arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// The surfaces and what decides over them.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// Version of this form.
    pub schema_version: u32,
    /// `routing.enabled`.
    pub routing_enabled: bool,
    /// `routing.mode`.
    pub routing_mode: &'static str,
    /// `routing.enforce_direct_writes`.
    pub routing_enforce_direct_writes: bool,
    /// Whether Strata may write what the agent owns.
    pub agent_extensions_enabled: bool,
    /// How it would.
    pub agent_extensions_mode: &'static str,
    /// Label of an integration.
    pub adapter: Option<String>,
    /// Where its handlers' relative paths begin.
    pub agent_extensions_root: Option<String>,
    /// Handlers that could be configured.
    pub registered_handlers: Vec<&'static str>,
    /// What is known of the agent's own files.
    pub agent_environment: AgentEnvironment,
    /// What Strata owns.
    pub core_surfaces: CoreSurfaces,
    /// What the agent owns.
    pub extension_surfaces: ExtensionSurfaces,
    /// Where nothing is written.
    pub no_write_surfaces: NoWriteSurfaces,
    /// What is read as evidence and never written.
    pub source_owned_evidence: [&'static str; 1],
    /// What can be deleted and comes back.
    pub derived_stores: [&'static str; 3],
    /// What else to know.
    pub notes: Vec<String>,
}

/// What is known of the agent's own files: nothing is looked for.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names are the older program's; each says whether something is detected")]
pub struct AgentEnvironment {
    pub configured: &'static str,
    pub resolved: &'static str,
    pub known: [&'static str; 1],
    pub id: &'static str,
    pub display_name: &'static str,
    pub agent_type: &'static str,
    pub entry_separator: Option<&'static str>,
    pub detects_memory_path: bool,
    pub detects_state_db: bool,
    pub detects_sessions_dir: bool,
    pub reads_product_memory_limit: bool,
    pub supports_persona_injection: bool,
    pub supports_write_guard: bool,
}

/// What Strata owns.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the surfaces are documented once, in strata_core::route")]
pub struct CoreSurfaces {
    pub l0_index: Surface,
    pub l1_knowledge: Surface,
    pub todo: Surface,
    pub memory_changelog: Surface,
}

/// What the agent owns.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the surfaces are documented once, in strata_core::route")]
pub struct ExtensionSurfaces {
    pub skill: Surface,
    pub user_profile: Surface,
    pub agent_other: Surface,
}

/// Where nothing is written.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the surfaces are documented once, in strata_core::route")]
pub struct NoWriteSurfaces {
    pub undecided: Surface,
    pub ephemeral: Surface,
}

/// One surface.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Surface {
    /// Its name.
    pub surface: &'static str,
    /// Who owns it.
    pub owned_by: &'static str,
    /// `apply`, `suggest` or `none`.
    pub default_behavior: &'static str,
    /// The handler that would write there.
    pub configured_handler: Option<String>,
    /// Whether that handler is there.
    pub handler_registered: bool,
    /// Whether Strata writes there.
    pub can_apply: bool,
    /// `apply`, `suggest` or `none`.
    pub application_mode: &'static str,
    /// Why it does not.
    pub apply_blockers: Vec<&'static str>,
    /// Where it lies.
    pub store_path: Option<String>,
    /// What it is for.
    pub notes: &'static str,
}

impl Operation for Capabilities {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "get_memory_surface_capabilities",
        cli: &["route", "capabilities"],
        positional: &[],
        title: "Surfaces of memory",
        about: "Lists the surfaces of memory: who owns each, whether Strata writes it, and why not.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        let config = &engine.settings().config;
        Ok(Response {
            success: true,
            schema_version: SCHEMA_VERSION,
            routing_enabled: config.routing.enabled,
            routing_mode: config.routing.mode.as_str(),
            routing_enforce_direct_writes: config.routing.enforce_direct_writes,
            agent_extensions_enabled: false,
            agent_extensions_mode: SUGGEST,
            adapter: None,
            agent_extensions_root: None,
            registered_handlers: Vec::new(),
            agent_environment: AGENT_ENVIRONMENT,
            core_surfaces: core_surfaces(engine, &call.scope.namespace),
            extension_surfaces: ExtensionSurfaces {
                skill: of_agent(Route::Skill, "Procedures: steps that can be repeated."),
                user_profile: of_agent(Route::UserProfile, "What the user prefers, once confirmed."),
                agent_other: of_agent(Route::AgentOther, "Whatever else the agent keeps for itself."),
            },
            no_write_surfaces: NoWriteSurfaces {
                undecided: surface(Route::Undecided, None, "Nothing tells where it belongs."),
                ephemeral: surface(Route::Ephemeral, None, "Not worth keeping beyond the session."),
            },
            source_owned_evidence: ["raw_session"],
            derived_stores: ["l0_index", "vector_store", "search_index"],
            notes: notes(engine),
        })
    }
}

const AGENT_ENVIRONMENT: AgentEnvironment = AgentEnvironment {
    configured: "none",
    resolved: "generic",
    known: ["generic"],
    id: "generic",
    display_name: "Any agent",
    agent_type: "generic",
    entry_separator: None,
    detects_memory_path: false,
    detects_state_db: false,
    detects_sessions_dir: false,
    reads_product_memory_limit: false,
    supports_persona_injection: false,
    supports_write_guard: false,
};

fn core_surfaces(engine: &Engine, namespace: &str) -> CoreSurfaces {
    let config = &engine.settings().config;
    let below = |path: &Path| engine.home().join(path).display().to_string();
    let index = config.knowledge.l0.file.as_deref().unwrap_or(Path::new("vault/L0.md"));
    let log = config.changelog.path.as_deref().unwrap_or(Path::new("changelog.jsonl"));
    let on_server = engine.settings().store.is_some();
    let files = if on_server { engine.place() } else { below(&Path::new("vault/knowledge").join(namespace)) };
    let ledger = if on_server { engine.place() } else { below(Path::new("ledger.db")) };
    let mut changelog =
        surface(Route::MemoryChangelog, Some(below(log)), "Which knowledge changed when; never a text.");
    if !config.changelog.enabled {
        changelog.can_apply = false;
        changelog.apply_blockers = vec!["changelog_disabled"];
    }
    CoreSurfaces {
        l0_index: surface(Route::L0Index, Some(below(index)), "The table of contents; made from the files."),
        l1_knowledge: surface(Route::L1Knowledge, Some(files), "Durable knowledge, in files of sections."),
        todo: surface(Route::Todo, Some(ledger), "What is to be done."),
        memory_changelog: changelog,
    }
}

fn surface(route: Route, store_path: Option<String>, notes: &'static str) -> Surface {
    let ownership = route.ownership();
    let behaviour = application_mode(ownership);
    Surface {
        surface: route.as_str(),
        owned_by: ownership.as_str(),
        default_behavior: behaviour,
        configured_handler: None,
        handler_registered: false,
        can_apply: ownership == Ownership::Framework,
        application_mode: behaviour,
        apply_blockers: Vec::new(),
        store_path,
        notes,
    }
}

fn of_agent(route: Route, notes: &'static str) -> Surface {
    Surface { apply_blockers: EXTENSIONS_OFF.to_vec(), ..surface(route, None, notes) }
}

fn notes(engine: &Engine) -> Vec<String> {
    let own = "what the agent owns is suggested and never written by Strata".to_owned();
    let mut notes = vec![own];
    notes.extend(engine.settings().config.notices.iter().cloned());
    notes
}

impl Render for Response {
    fn render(&self) -> Document {
        let core = &self.core_surfaces;
        let agents = &self.extension_surfaces;
        let rows = [&core.l0_index, &core.l1_knowledge, &core.todo, &core.memory_changelog]
            .into_iter()
            .chain([&agents.skill, &agents.user_profile, &agents.agent_other])
            .chain([&self.no_write_surfaces.undecided, &self.no_write_surfaces.ephemeral])
            .map(|surface| {
                let place = surface.store_path.as_ref().map(|path| format!(" ({path})")).unwrap_or_default();
                let blocked = match surface.apply_blockers.as_slice() {
                    [] => String::new(),
                    blockers => format!("; not now: {}", blockers.join(", ")),
                };
                let told = format!("{}: {}{blocked}{place}", surface.owned_by, surface.default_behavior);
                (surface.surface.to_owned(), told)
            });
        let mut document = Document::new().with(Block::Pairs(rows.collect()));
        for note in &self.notes {
            document = document.note(Mark::Info, note.clone());
        }
        document
    }
}
