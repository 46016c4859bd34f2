//! `get_memory_changelog_stats`: how much of what changed, and what is on record at all.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::knowledge::changelog::{NOT_RECORDED, Operation as Recorded};
use strata_store::ledger::VaultChangeTotal;

use super::{DISABLED, RenderingState, is_enabled, rendering, visible};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct GetMemoryChangelogStats;

/// Files that are listed.
const DOMAINS: usize = 10;
const RETENTION: &str = "`changelog.retention_days` is shown here and nothing is removed by it: changes stay as long as the audit";

/// Nothing to choose.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// The figures.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// Whether the changelog is switched on.
    pub enabled: bool,
    /// The rendering as a file.
    #[serde(flatten)]
    pub rendering: RenderingState,
    /// Days it is meant to be kept.
    pub retention_days: Option<u32>,
    /// Always false.
    pub retention_enforced: bool,
    /// What that means.
    pub retention_note: &'static str,
    /// What is recorded.
    pub recordable_operations: Vec<&'static str>,
    /// What happens without an event.
    pub not_recorded: [&'static str; 9],
    /// Events that the caller may see.
    pub total_events: i64,
    /// Bytes of the rendering.
    pub size_bytes: u64,
    /// Events by operation.
    pub by_operation: BTreeMap<&'static str, i64>,
    /// Events by surface.
    pub by_surface: BTreeMap<&'static str, i64>,
    /// Events of the ten files that changed most, most first.
    pub by_domain: Vec<DomainCount>,
    /// The first event.
    pub first_event_at: Option<String>,
    /// The last event.
    pub last_event_at: Option<String>,
    /// Something to know beside them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
}

/// How often a file changed.
#[derive(Debug, Serialize)]
pub struct DomainCount {
    /// The file's name without `.md`.
    pub domain: String,
    /// Events.
    pub count: i64,
}

impl Operation for GetMemoryChangelogStats {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "get_memory_changelog_stats",
        cli: &["changelog", "stats"],
        positional: &[],
        title: "Figures of the changelog",
        about: "Counts changes of knowledge by operation, surface and file.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        let enabled = is_enabled(engine);
        let (rendering, totals) = if enabled {
            let namespaces = visible(engine, call)?;
            (rendering::state(engine)?, engine.read(call, |r| r.vault_change_totals(&namespaces))?)
        } else {
            (RenderingState::default(), Vec::new())
        };
        Ok(Response {
            success: true,
            enabled,
            size_bytes: rendering.file_size_bytes,
            rendering,
            retention_days: engine.settings().config.changelog.retention_days,
            retention_enforced: false,
            retention_note: RETENTION,
            recordable_operations: Recorded::ALL.map(Recorded::as_str).to_vec(),
            not_recorded: NOT_RECORDED,
            total_events: totals.iter().map(|total| total.count).sum(),
            by_operation: counted(&totals, |total| total.operation.as_str()),
            by_surface: counted(&totals, |total| total.operation.surface()),
            by_domain: most_changed(&totals),
            first_event_at: totals.iter().map(|total| total.first).min().map(|at| at.to_rfc3339()),
            last_event_at: totals.iter().map(|total| total.last).max().map(|at| at.to_rfc3339()),
            note: (!enabled).then_some(DISABLED),
        })
    }
}

fn counted(
    totals: &[VaultChangeTotal],
    key: impl Fn(&VaultChangeTotal) -> &'static str,
) -> BTreeMap<&'static str, i64> {
    let mut counts = BTreeMap::new();
    for total in totals {
        *counts.entry(key(total)).or_default() += total.count;
    }
    counts
}

fn most_changed(totals: &[VaultChangeTotal]) -> Vec<DomainCount> {
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    for total in totals {
        *counts.entry(&total.domain).or_default() += total.count;
    }
    let mut all: Vec<_> =
        counts.into_iter().map(|(domain, count)| DomainCount { domain: domain.to_owned(), count }).collect();
    // The sort is stable: of equal counts the names' order stays.
    all.sort_by_key(|domain| std::cmp::Reverse(domain.count));
    all.truncate(DOMAINS);
    all
}

impl Render for Response {
    fn render(&self) -> Document {
        if let Some(note) = self.note {
            return Document::new().note(Mark::Warning, note);
        }
        let mut pairs = vec![("changes".to_owned(), self.total_events.to_string())];
        pairs.extend(self.by_operation.iter().map(|(word, count)| ((*word).to_owned(), count.to_string())));
        pairs.extend(self.by_domain.iter().map(|of| (format!("in {}", of.domain), of.count.to_string())));
        pairs.extend(self.first_event_at.iter().map(|at| ("first".to_owned(), at.clone())));
        pairs.extend(self.last_event_at.iter().map(|at| ("last".to_owned(), at.clone())));
        Document::new().with(Block::Pairs(pairs))
    }
}
