//! `get_memory_changelog`: what changed in the knowledge, newest first.

use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::knowledge::name::stem;
use strata_store::ledger::VaultChangeFilter;

use super::{DISABLED, Line, RenderingState, is_enabled, operations, rendering, visible};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::room::{echo, keep_sendable},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Block, Document, Mark, Render},
    request,
};

/// See the module.
pub struct GetMemoryChangelog;

const DEFAULT_LIMIT: u32 = 50;

/// Which changes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Of one file.
    pub domain: Option<String>,
    /// Such as `l1_section_created`.
    pub operation: Option<String>,
    /// `l1_knowledge` or `l0_index`.
    pub surface: Option<String>,
    /// From this day or instant on, UTC.
    pub since: Option<String>,
    /// Default 50.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
    /// Newer ones to pass over.
    pub offset: Option<u32>,
}

/// The changes, newest first.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// Whether the changelog is switched on.
    pub enabled: bool,
    /// The rendering as a file.
    #[serde(flatten)]
    pub rendering: RenderingState,
    /// Events that the caller may see.
    pub total_events: usize,
    /// Those that fit the filter.
    pub matched: usize,
    /// Those in `entries`: fewer than `limit` when the reply has no room for more.
    pub returned: usize,
    /// The `offset` of the next ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// The most that were to be returned.
    pub limit: usize,
    /// The order of `entries`.
    pub order: &'static str,
    /// What was asked for.
    pub filters: Filters,
    /// The events.
    pub entries: Vec<Line>,
    /// Something to know beside them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
}

/// What was asked for.
#[derive(Debug, Default, Serialize)]
pub struct Filters {
    /// See the request.
    pub domain: Option<String>,
    /// See the request.
    pub operation: Option<String>,
    /// See the request.
    pub surface: Option<String>,
    /// See the request.
    pub since: Option<String>,
}

impl Operation for GetMemoryChangelog {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "get_memory_changelog",
        cli: &["changelog", "list"],
        positional: &[],
        title: "Changes of knowledge",
        about: "Lists what changed in knowledge files and the L0 index, newest first.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const EXPLAINED: &'static [&'static str] = &["operation", "surface", "since"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT) as usize;
        let domain = request.domain.as_deref().map(|name| stem(name).to_owned());
        let since = request::moment(&TimeZone::UTC, "since", request.since.as_deref())?;
        let filter = VaultChangeFilter {
            namespaces: visible(engine, call)?,
            operations: operations(request.operation.as_deref(), request.surface.as_deref())?,
            domain,
            since: since.map(|range| range.from),
            limit: Some(limit),
            offset: request.offset.unwrap_or(0) as usize,
        };
        let echoed = |asked: Option<String>| asked.map(|text| echo(&text));
        let filters = Filters {
            domain: echoed(request.domain),
            operation: echoed(request.operation),
            surface: echoed(request.surface),
            since: echoed(request.since),
        };
        if !is_enabled(engine) {
            return Ok(Response { filters, ..Response::disabled(limit) });
        }
        let all = VaultChangeFilter { namespaces: filter.namespaces.clone(), ..VaultChangeFilter::default() };
        let (total, matched, changes) = engine.read(call, |r| {
            Ok((r.vault_change_count(&all)?, r.vault_change_count(&filter)?, r.vault_changes(&filter)?))
        })?;
        let mut entries = changes.into_iter().map(Line::try_from).collect::<Result<Vec<_>, _>>()?;
        keep_sendable(call, &mut entries);
        let matched = usize::try_from(matched).unwrap_or(0);
        let next = filter.offset + entries.len();
        Ok(Response {
            enabled: true,
            rendering: rendering::state(engine)?,
            total_events: usize::try_from(total).unwrap_or(0),
            matched,
            returned: entries.len(),
            next_offset: (!entries.is_empty() && next < matched).then_some(next),
            filters,
            entries,
            note: None,
            ..Response::disabled(limit)
        })
    }
}

impl Response {
    fn disabled(limit: usize) -> Self {
        Self {
            success: true,
            enabled: false,
            rendering: RenderingState::default(),
            total_events: 0,
            matched: 0,
            returned: 0,
            next_offset: None,
            limit,
            order: "newest_first",
            filters: Filters::default(),
            entries: Vec::new(),
            note: Some(DISABLED),
        }
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        if let Some(note) = self.note {
            return Document::new().note(Mark::Warning, note);
        }
        if self.entries.is_empty() {
            return Document::new().note(Mark::Info, "No change of knowledge fits.");
        }
        let row = |line: &Line| {
            let place = match &line.section {
                Some(section) => format!("{} > {section}", line.domain),
                None => line.domain.clone(),
            };
            vec![line.at.clone(), line.operation.to_owned(), place, line.summary.clone()]
        };
        let columns = ["when", "what", "where", "summary"].map(str::to_owned).to_vec();
        let rows = self.entries.iter().map(row).collect();
        Document::new()
            .with(Block::Table { columns, rows })
            .note(Mark::Info, format!("{} of {} changes", self.returned, self.matched))
    }
}
