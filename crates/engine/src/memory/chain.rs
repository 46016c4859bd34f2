//! `memory_chain`: every version of a memory, oldest first, with who changed it, when and why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::{
    error::StoreError,
    ledger::{AuditFilter, LedgerRead, MemoryRow},
};

use super::reference::{Reference, sees_scope};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Record, Render, Trust, headline},
};

/// See the module.
pub struct Chain;

/// Characters of a version's text without `full`.
const FIRST_WORDS: usize = 80;

/// Which memory.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Any version of the memory, by its id, its beginning or #number.
    pub id: String,
    /// Also give the whole text of every version.
    pub full: Option<bool>,
}

/// The chain.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The version that was asked for.
    pub id: String,
    /// The version in force; null when none is.
    pub in_force: Option<String>,
    /// Oldest first.
    pub versions: Vec<Link>,
    /// Versions outside the caller's scope.
    pub hidden: usize,
}

/// One version.
#[derive(Debug, Serialize)]
pub struct Link {
    /// Its id.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// Its kind.
    pub kind: String,
    /// Its layer.
    pub layer: String,
    /// Where it stands.
    pub status: String,
    /// When it was written.
    pub created_at: String,
    /// Who wrote it.
    pub who: String,
    /// The version it was written to replace.
    pub supersedes: Option<String>,
    /// The version that replaced it.
    pub superseded_by: Option<String>,
    /// How it ended, when it is no longer in force.
    pub ended: Option<Ended>,
    /// Its text; without `full` its first words.
    pub text: String,
}

/// How a version ended.
#[derive(Debug, Serialize)]
pub struct Ended {
    /// When.
    pub at: String,
    /// Who did it.
    pub who: String,
    /// For whom, when for somebody else.
    pub on_behalf_of: Option<String>,
    /// What was done.
    pub action: String,
    /// Why.
    pub reason: String,
}

impl Operation for Chain {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "memory_chain",
        cli: &["govern", "chain"],
        positional: &["id"],
        title: "Versions of a memory",
        about: "Shows the whole line that a memory belongs to, oldest version first: who wrote each, when, what replaced it, \
                by whom and why; with `full` the texts too. Use it to see how a decision came to be what it is. For one \
                version with its evidence call `inspect`.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let reference = Reference::read("id", &request.id)?;
        let full = request.full.unwrap_or(false);
        let ledger = engine.existing_ledger()?;
        ledger.read(&engine.control(call), |r| Ok(chain(r, call, &reference, full)))?
    }
}

fn chain(r: &LedgerRead<'_>, call: &Call<'_>, reference: &Reference, full: bool) -> Result<Response, Error> {
    let asked = reference.find(r, call)?.existing()?;
    let line = r.history(asked.number)?.line;
    let all = line.len();
    let seen: Vec<MemoryRow> = line.into_iter().filter(|row| sees_scope(call, &row.scope)).collect();
    let hidden = all - seen.len();
    let in_force = seen.iter().rev().find(|row| row.state.status.is_live()).map(|row| row.id.clone());
    let versions = seen.into_iter().map(|row| link(r, row, full)).collect::<Result<_, _>>()?;
    Ok(Response { id: asked.id, in_force, versions, hidden })
}

fn link(r: &LedgerRead<'_>, row: MemoryRow, full: bool) -> Result<Link, StoreError> {
    let over = !row.state.status.is_live();
    let ended = if over { ended(r, &row)? } else { None };
    Ok(Link {
        text: if full { row.body.clone() } else { headline(&row.title, &row.body, FIRST_WORDS) },
        kind: row.kind.to_string(),
        layer: row.state.layer.to_string(),
        status: row.state.status.to_string(),
        created_at: row.created_at.to_rfc3339(),
        id: row.id,
        number: row.number,
        who: row.writer,
        supersedes: row.supersedes,
        superseded_by: row.superseded_by,
        ended,
    })
}

/// The line of the audit that brought the state a memory is in.
fn ended(r: &LedgerRead<'_>, row: &MemoryRow) -> Result<Option<Ended>, StoreError> {
    let filter =
        AuditFilter { before: Some(row.state_seq.saturating_add(1)), limit: 1, ..AuditFilter::default() };
    let Some(linked) = r.audit(&filter)?.into_iter().next() else { return Ok(None) };
    let entry = linked.entry;
    // What replaced it says why, where somebody said so; else the record of the change does.
    let reason = row.superseded_reason.clone().filter(|why| !why.is_empty()).unwrap_or(entry.reason);
    Ok((entry.seq == row.state_seq).then_some(Ended {
        at: entry.at.to_rfc3339(),
        who: entry.principal,
        on_behalf_of: entry.on_behalf_of,
        action: entry.action,
        reason,
    }))
}

impl Link {
    fn record(&self) -> Record {
        let mut attributes = vec![
            format!("#{}", self.number),
            format!("{} {}", self.layer, self.kind),
            self.status.clone(),
            format!("written {} by {}", self.created_at, self.who),
        ];
        attributes.extend(self.superseded_by.as_ref().map(|by| format!("replaced by {by}")));
        if let Some(ended) = &self.ended {
            let whom = ended.on_behalf_of.as_ref().map(|other| format!(" for {other}")).unwrap_or_default();
            let why = if ended.reason.is_empty() { String::new() } else { format!(": {}", ended.reason) };
            attributes.push(format!("ended {} by {}{whom} ({}){why}", ended.at, ended.who, ended.action));
        }
        Record { id: self.id.clone(), attributes, title: None, text: self.text.clone() }
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let records = self.versions.iter().map(Link::record).collect();
        let mut document = Document::new().with(Block::Records { trust: Trust::Data, records });
        document = match &self.in_force {
            Some(id) => document.note(Mark::Info, format!("in force: {id}")),
            None => document.note(Mark::Info, "no version is in force"),
        };
        if self.hidden > 0 {
            document = document.note(Mark::Info, format!("{} outside your scope are not shown", self.hidden));
        }
        document
    }
}
