//! `snapshot_show`: what a snapshot holds.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, LiveRow},
};

use super::{Named, compare::rule_changes, find, named, seen};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Render, Trust},
};

/// See the module.
pub struct Show;

/// Which snapshot.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The snapshot's name.
    pub version_id: String,
    /// Most memories to list, 1 to 200. Default 20.
    #[schemars(range(min = 1, max = super::MOST_LISTED))]
    pub limit: Option<u32>,
}

/// The snapshot.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Its name.
    pub version_id: String,
    /// The change that it shows.
    pub seq: i64,
    /// When it was taken.
    pub at: String,
    /// Who took it.
    pub who: String,
    /// What somebody said about it.
    pub label: String,
    /// How many memories were in force.
    pub entries: i64,
    /// How many of them were purged since and cannot come back.
    pub purged: i64,
    /// Those that the caller sees, by layer.
    pub by_layer: BTreeMap<String, usize>,
    /// Those that the caller sees, by kind.
    pub by_kind: BTreeMap<String, usize>,
    /// The first of them, oldest first.
    pub memories: Vec<Named>,
    /// How many follow.
    pub more: usize,
    /// How many lie outside the caller's scope.
    pub hidden: usize,
    /// Rules of the snapshot that the caller sees and that have another priority, condition or switch now; a
    /// rollback brings the earlier one back.
    pub rules_changed: usize,
    /// The first of them, with what changed since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Named>,
}

impl Operation for Show {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "snapshot_show",
        cli: &["snapshot", "show"],
        positional: &["version_id"],
        title: "Show a snapshot",
        about: "Shows what one snapshot holds: when and by whom it was taken, how many memories were in force by layer and \
                kind, and the first of them. Use it to make sure that it is the right one to return to. What is different \
                from now shows `snapshot_compare`.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let ledger = engine.existing_ledger()?;
        ledger.read(&engine.control(call), |r| Ok(show(r, call, &request)))?
    }
}

fn show(r: &LedgerRead<'_>, call: &Call<'_>, request: &Request) -> Result<Response, Error> {
    let snapshot = find(r, &request.version_id)?;
    let rows = r.live_at(snapshot.seq)?;
    let (rows, hidden) = seen(call, rows.iter().collect());
    let limit = super::limit(request.limit);
    let (memories, more) = named(r, &rows, limit)?;
    let mut changed = rules_changed(r, snapshot.seq, &rows)?;
    let rules_changed = changed.len();
    changed.truncate(limit);
    Ok(Response {
        rules_changed,
        rules: changed,
        purged: r.snapshot_losses(&snapshot.name)?,
        version_id: snapshot.name,
        seq: snapshot.seq,
        at: snapshot.at.to_rfc3339(),
        who: snapshot.who,
        label: snapshot.label,
        entries: snapshot.live,
        by_layer: counts(&rows, |row| row.state.layer.to_string()),
        by_kind: counts(&rows, |row| row.kind.to_string()),
        memories,
        more,
        hidden,
    })
}

/// The rules of a snapshot whose attributes are others now, with what changed.
fn rules_changed(r: &LedgerRead<'_>, seq: i64, rows: &[&LiveRow]) -> Result<Vec<Named>, StoreError> {
    let mut changed = Vec::new();
    let rows: HashMap<i64, &LiveRow> = rows.iter().map(|row| (row.number, *row)).collect();
    for (number, then) in r.rules_to_bring_back(seq)? {
        let Some(live) = rows.get(&number) else { continue };
        let now = r.rule(number)?.map(|row| row.attributes).unwrap_or_default();
        let Some(memory) = r.memory_by_number(number)? else { continue };
        changed.push(Named { changes: rule_changes(&then, &now), ..Named::new(&memory, live) });
    }
    Ok(changed)
}

fn counts(rows: &[&LiveRow], of: impl Fn(&LiveRow) -> String) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for row in rows {
        *counts.entry(of(row)).or_default() += 1;
    }
    counts
}

impl Render for Response {
    fn render(&self) -> Document {
        let listed = |counts: &BTreeMap<String, usize>| {
            counts.iter().map(|(what, n)| format!("{what}: {n}")).collect::<Vec<_>>().join(", ")
        };
        let mut pairs = vec![
            ("snapshot".to_owned(), self.version_id.clone()),
            ("taken".to_owned(), format!("{} by {}, change {}", self.at, self.who, self.seq)),
            ("in force".to_owned(), self.entries.to_string()),
        ];
        let optional = [
            ("label", self.label.clone()),
            ("by layer", listed(&self.by_layer)),
            ("by kind", listed(&self.by_kind)),
        ];
        pairs.extend(optional.into_iter().filter(|(_, v)| !v.is_empty()).map(|(k, v)| (k.to_owned(), v)));
        let mut document = Document::new().with(Block::Pairs(pairs)).with(Block::Records {
            trust: Trust::Data,
            records: self.memories.iter().map(Named::record).collect(),
        });
        document = document.note_more(self.more);
        if !self.rules.is_empty() {
            let records = self.rules.iter().map(Named::record).collect();
            document = document
                .with(Block::Heading(format!("Rules changed since: {}", self.rules_changed)))
                .with(Block::Records { trust: Trust::Data, records });
        }
        if self.hidden > 0 {
            document = document.note(Mark::Info, format!("{} outside your scope are not shown", self.hidden));
        }
        if self.purged > 0 {
            document = document
                .note(Mark::Warning, format!("purged since, and not to be brought back: {}", self.purged));
        }
        document
    }
}
