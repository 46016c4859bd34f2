//! The changelog of knowledge: what the ledger says of changes to the vault and to the index of it. Never a body.
//!
//! `changelog.jsonl` of the home is a rendering of it for people and programs that follow a file; the tools read the
//! ledger, so that a file that is large, damaged or gone takes nothing from their answers.

pub mod list;
mod rendering;
pub mod stats;

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use strata_core::{error::ParseError, knowledge::changelog::Operation};
use strata_store::ledger::VaultChange;

pub use rendering::follow;

use crate::{engine::Engine, error::Error, operation::Call};

use super::vault;

/// Larger renderings are not looked through for damage: 16 MiB.
const MAX_READ: u64 = 16 << 20;
/// The form of a line.
const SCHEMA_VERSION: u32 = 2;
/// Who makes the entries: no caller does.
const ACTOR: &str = "framework";
/// Told when the configuration shows no changelog.
const DISABLED: &str =
    "the changelog is switched off (`changelog.enabled`); the audit records changes all the same";

/// An event as clients and the rendering show it, its keys in this order.
#[derive(Debug, Serialize)]
pub struct Line {
    schema_version: u32,
    /// 32 hexadecimal digits.
    pub event_id: String,
    /// When, UTC.
    pub at: String,
    /// `l0_index` or `l1_knowledge`.
    pub surface: &'static str,
    /// What was done.
    pub operation: &'static str,
    /// The file's name without `.md`.
    pub domain: String,
    /// The section's heading.
    pub section: Option<String>,
    actor: &'static str,
    /// Who asked for it, as they call themselves.
    pub agent_id: Option<String>,
    /// The tool.
    pub tool: String,
    /// What happened, in a few words.
    pub summary: String,
    /// Why.
    pub reason: String,
    /// What it rests on.
    pub source_ref: Option<String>,
    /// The token of the text before.
    pub before_hash: Option<String>,
    /// The token of the text after.
    pub after_hash: Option<String>,
    /// Further values.
    pub metadata: Value,
}

impl TryFrom<VaultChange> for Line {
    type Error = Error;

    fn try_from(change: VaultChange) -> Result<Self, Error> {
        let metadata = serde_json::from_str(&change.metadata)
            .map_err(|error| Error::Internal(format!("an entry of the changelog is damaged: {error}")))?;
        Ok(Self {
            schema_version: SCHEMA_VERSION,
            event_id: change.id,
            at: change.at.to_rfc3339(),
            surface: change.operation.surface(),
            operation: change.operation.as_str(),
            domain: change.domain,
            section: change.section,
            actor: ACTOR,
            agent_id: change.agent_id,
            tool: change.tool,
            summary: change.summary,
            reason: change.reason,
            source_ref: change.source_ref,
            before_hash: change.before,
            after_hash: change.after,
            metadata,
        })
    }
}

/// What there is to say of the rendering.
#[derive(Debug, Default, Serialize)]
pub struct RenderingState {
    /// Where it lies; none of a store on a server.
    pub path: Option<String>,
    /// Whether it is there.
    pub exists: bool,
    /// Whether it was too large to be looked through. Entries are complete all the same.
    pub read_truncated: bool,
    /// Why it was not looked through.
    pub read_error: Option<String>,
    /// Larger files are not looked through, in bytes.
    pub max_read_bytes: u64,
    /// Bytes.
    pub file_size_bytes: u64,
    /// Lines in it that cannot be read. They are made anew by the next change.
    pub malformed_lines: usize,
}

/// The place of the rendering; none on a server, which has no files.
fn place(engine: &Engine) -> Option<PathBuf> {
    let settings = engine.settings();
    if settings.store.is_some() {
        return None;
    }
    let configured = settings.config.changelog.path.as_ref();
    Some(configured.map_or_else(|| settings.home.join("changelog.jsonl"), |path| settings.home.join(path)))
}

fn is_enabled(engine: &Engine) -> bool {
    engine.settings().config.changelog.enabled
}

/// The namespaces whose changes a caller sees.
fn visible(engine: &Engine, call: &Call<'_>) -> Result<Vec<String>, Error> {
    Ok(vault::namespaces(engine, call)?.iter().map(ToString::to_string).collect())
}

/// The operations that a caller names, by word and by surface; empty is all.
fn operations(word: Option<&str>, surface: Option<&str>) -> Result<Vec<Operation>, Error> {
    let words = |all: Vec<&str>| format!("use one of {}", all.join(", "));
    let named = match word {
        None => Operation::ALL.to_vec(),
        Some(word) => vec![Operation::parse(word).ok_or_else(|| {
            let all = words(Operation::ALL.iter().map(|operation| operation.as_str()).collect());
            Error::parse("operation", &ParseError::new("operation", word, &all))
        })?],
    };
    let Some(surface) = surface else { return Ok(if word.is_none() { Vec::new() } else { named }) };
    let surfaces = ["l1_knowledge", "l0_index"];
    if !surfaces.contains(&surface) {
        return Err(Error::parse("surface", &ParseError::new("surface", surface, words(surfaces.to_vec()))));
    }
    let kept: Vec<_> = named.into_iter().filter(|operation| operation.surface() == surface).collect();
    if kept.is_empty() {
        return Err(Error::argument("surface", "has no such operation", "leave one of the two out"));
    }
    Ok(kept)
}
