//! `memory_audit`: what was done and what was refused, by whom, in which layer, when and why.

mod export;
mod line;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{chain::Outcome, memory::Layer, principal::PrincipalKind};
use strata_store::ledger::{AuditFilter, LedgerRead, Refusal};

pub use line::AuditView;

use crate::{
    engine::Engine,
    error::Error,
    memory::{reference::Reference, remember::LayerName},
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Render, counted},
    request::period,
};

/// See the module.
pub struct MemoryAudit;

/// Lines when the caller does not say how many.
const LINES: u32 = 20;

/// Which lines.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Most lines, newest first, 1 to 500. Default 20. A file that is written holds all that match.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
    /// Only what was refused.
    pub denied_only: Option<bool>,
    /// Only who: a kind (agent, human, system, cron, gateway, tool) or a whole principal such as agent:claude-code.
    pub principal: Option<String>,
    /// Only this layer.
    pub layer: Option<LayerName>,
    /// Only this action, e.g. remember, update, forget, restore, propose, approve, snapshot, rollback, purge.
    pub action: Option<String>,
    /// Only what ended so: done or refused.
    pub outcome: Option<OutcomeName>,
    /// Only what was done to this: an id, a #number, or the name of a snapshot.
    pub target: Option<String>,
    /// Only from this time on, e.g. 2026-03-31.
    pub since: Option<String>,
    /// Only up to this time; a day counts whole.
    pub until: Option<String>,
    /// Only before this line: the next page.
    pub before: Option<i64>,
    /// Write all lines that match into this file, oldest first, as JSON Lines with their hashes.
    pub output: Option<String>,
}

/// How something ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeName {
    /// it was done
    Done,
    /// it was refused
    Refused,
}

/// The lines.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Newest first; empty when they were written into a file.
    pub entries: Vec<AuditView>,
    /// How many lines match in all.
    pub matching: i64,
    /// How many older ones there are; ask with `before`.
    pub more: i64,
    /// The file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl Operation for MemoryAudit {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "memory_audit",
        cli: &["govern", "audit"],
        positional: &[],
        title: "Read the audit",
        about: "Lists what was done to the memory and what was refused: action, target, layer, who, when and why, newest \
                first. Use it to find out how something came to be, who was turned away, or what a session did. The same \
                refusal again is counted on its first line. Filters combine. With `output` all matching lines go into a \
                JSON Lines file with the hashes that chain them, for keeping or checking elsewhere. Whether the chain is whole, \
                `strata doctor` tells.",
        effect: Effect::Files,
        audience: Audience::Everyone,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["audit"]];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let ledger = engine.existing_ledger()?;
        let control = engine.control(call);
        let filter = ledger.read(&control, |r| Ok(filter(engine, r, call, &request)))??;
        if let Some(output) = &request.output {
            let (path, lines) = export::write(engine, call, output, &filter)?;
            return Ok(Response { entries: Vec::new(), matching: lines, more: 0, path: Some(path) });
        }
        ledger
            .read(&control, |r| {
                let refusals = r.refusals()?;
                let rows = r.audit(&filter)?;
                let matching = r.audit_count(&filter)?;
                let entries = AuditView::of(r, call, rows, &refusals)?;
                let more = matching - i64::try_from(entries.len()).unwrap_or(i64::MAX);
                Ok(Response { more, entries, matching, path: None })
            })
            .map_err(Error::from)
    }
}

/// How often each refusal was repeated, by its first line.
type Refusals = BTreeMap<i64, Refusal>;

fn filter(
    engine: &Engine,
    r: &LedgerRead<'_>,
    call: &Call<'_>,
    request: &Request,
) -> Result<AuditFilter, Error> {
    let given =
        |text: &Option<String>| text.as_deref().map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned);
    let principal = given(&request.principal);
    let principal_kind = principal.as_deref().and_then(|word| PrincipalKind::parse(word).ok());
    if let Some(word) = principal.as_deref().filter(|word| principal_kind.is_none() && !word.contains(':')) {
        let kinds = PrincipalKind::ALL.map(PrincipalKind::as_str).join(", ");
        return Err(Error::argument(
            "principal",
            format!("`{word}` is not a kind of principal"),
            format!("use one of {kinds}, or a whole one such as agent:claude-code"),
        ));
    }
    let target = match given(&request.target) {
        Some(text) => Some(target(r, call, text)?),
        None => None,
    };
    let outcome = match (request.denied_only, request.outcome) {
        (Some(true), Some(OutcomeName::Done)) => {
            return Err(Error::argument("outcome", "contradicts `denied_only`", "give one of the two"));
        }
        (Some(true), _) | (_, Some(OutcomeName::Refused)) => Some(Outcome::Refused),
        (_, Some(OutcomeName::Done)) => Some(Outcome::Done),
        _ => None,
    };
    Ok(AuditFilter {
        target,
        principal: principal.filter(|_| principal_kind.is_none()),
        principal_kind,
        layer: request.layer.map(Layer::from),
        action: given(&request.action),
        outcome,
        at: period(&engine.settings().zone, request.since.as_deref(), request.until.as_deref())?,
        before: request.before,
        limit: request.limit.unwrap_or(LINES) as usize,
    })
}

/// What the audit calls a target: a number is that of a memory.
fn target(r: &LedgerRead<'_>, call: &Call<'_>, text: String) -> Result<String, Error> {
    let named = Reference::read("target", &text);
    let Ok(reference @ (Reference::Number(_) | Reference::Prefix(_))) = named else { return Ok(text) };
    // A snapshot may be called like a number.
    if r.snapshot(&text)?.is_some() {
        return Ok(text);
    }
    Ok(reference.find(r, call)?.existing()?.id)
}

impl Render for Response {
    fn render(&self) -> Document {
        if let Some(path) = &self.path {
            let text = format!("wrote {} of the audit to {path}", counted(self.matching, "line"));
            return Document::new().note(Mark::Good, text);
        }
        if self.entries.is_empty() {
            return Document::new().note(Mark::Info, "no audit entries");
        }
        let text = self.entries.iter().map(AuditView::text).collect::<Vec<_>>().join("\n");
        let document = Document::new().with(Block::Code { language: "text", text });
        match (self.more, self.entries.last()) {
            (1.., Some(last)) => {
                let text =
                    format!("{} older ones; ask with a higher `limit` or `before` {}", self.more, last.seq);
                document.note(Mark::Info, text)
            }
            _ => document,
        }
    }
}
