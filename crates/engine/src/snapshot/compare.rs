//! `snapshot_compare`: what is different between two snapshots, or between one and now.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, LiveRow, RuleAttributes},
};

use super::{Named, find, named, seen};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Render, Trust, counted},
};

/// See the module.
pub struct Compare;

/// What to compare.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The snapshot to start from.
    pub version_id: String,
    /// The snapshot to compare it with; without it, the present.
    pub with: Option<String>,
    /// Most memories to list of each sort, 1 to 200. Default 20.
    #[schemars(range(min = 1, max = super::MOST_LISTED))]
    pub limit: Option<u32>,
}

/// What is different.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The snapshot that was started from.
    pub from: String,
    /// The other one, or `now`.
    pub to: String,
    /// In force in the second and not in the first.
    pub added: Part,
    /// In force in the first and not in the second.
    pub gone: Part,
    /// In force in both, but with another layer, tier, confidence, importance or pin, or a rule with another
    /// priority, condition or switch.
    pub changed: Part,
    /// Differences outside the caller's scope.
    pub hidden: usize,
}

/// Differences of one sort.
#[derive(Debug, Serialize)]
pub struct Part {
    /// How many.
    pub count: usize,
    /// The first of them, oldest first.
    pub memories: Vec<Named>,
    /// How many follow.
    pub more: usize,
}

/// What is different between two sets of memories in force.
#[derive(Debug, Default)]
pub(crate) struct Difference<'a> {
    /// In the second only.
    pub(crate) added: Vec<&'a LiveRow>,
    /// In the first only.
    pub(crate) gone: Vec<&'a LiveRow>,
    /// In both with another state: the first one, then the second.
    pub(crate) changed: Vec<(&'a LiveRow, &'a LiveRow)>,
}

impl<'a> Difference<'a> {
    /// Compares two sets.
    pub(crate) fn new(before: &'a [LiveRow], after: &'a [LiveRow]) -> Self {
        let mut old: HashMap<i64, &LiveRow> = before.iter().map(|row| (row.number, row)).collect();
        let mut difference = Self::default();
        for row in after {
            match old.remove(&row.number) {
                None => difference.added.push(row),
                Some(earlier) if earlier.state != row.state => difference.changed.push((earlier, row)),
                Some(_) => {}
            }
        }
        difference.gone.extend(before.iter().filter(|row| old.contains_key(&row.number)));
        difference
    }

    /// Adds memories that are in both with the same state, but as rules with other attributes.
    fn add_rules(&mut self, before: &'a [LiveRow], after: &'a [LiveRow], differs: impl Fn(i64) -> bool) {
        let old: HashMap<i64, &LiveRow> = before.iter().map(|row| (row.number, row)).collect();
        for row in after.iter().filter(|row| differs(row.number)) {
            let earlier = old.get(&row.number).filter(|earlier| earlier.state == row.state);
            self.changed.extend(earlier.map(|earlier| (*earlier, row)));
        }
        self.changed.sort_by_key(|(_, row)| row.number);
    }

    /// Whether nothing is different.
    pub(crate) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.gone.is_empty() && self.changed.is_empty()
    }
}

impl Operation for Compare {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "snapshot_compare",
        cli: &["snapshot", "compare"],
        positional: &["version_id", "with"],
        title: "Compare snapshots",
        about: "Shows what is different between a snapshot and now, or between two snapshots: memories that were added, that \
                are gone, and that changed layer, tier, confidence, importance or pin, or a rule's priority, condition or switch, each with its id and first words. Use \
                it before `snapshot_rollback`, or to see what a session or an import did to the memory.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let ledger = engine.existing_ledger()?;
        ledger.read(&engine.control(call), |r| Ok(compare(r, call, &request)))?
    }
}

fn compare(r: &LedgerRead<'_>, call: &Call<'_>, request: &Request) -> Result<Response, Error> {
    let from = find(r, &request.version_id)?;
    let with = request.with.as_deref().filter(|name| !name.trim().is_empty());
    let (to, seq) = match with {
        Some(name) => find(r, name).map(|s| (s.name, s.seq))?,
        None => ("now".to_owned(), r.head()?.seq),
    };
    let (before, after) = (r.live_at(from.seq)?, r.live_at(seq)?);
    let mut difference = Difference::new(&before, &after);
    let (mut held, mut holds) = (attributes(r, from.seq)?, attributes(r, seq)?);
    difference.add_rules(&before, &after, |number| held.get(&number) != holds.get(&number));
    let limit = super::limit(request.limit);
    let mut hidden = 0;
    let mut part = |rows: Vec<&LiveRow>| -> Result<Part, Error> {
        let (rows, unseen) = seen(call, rows);
        hidden += unseen;
        let (memories, more) = named(r, &rows, limit)?;
        Ok(Part { count: rows.len(), memories, more })
    };
    let added = part(difference.added)?;
    let gone = part(difference.gone)?;
    let mut changed = part(difference.changed.iter().map(|(_, after)| *after).collect())?;
    let changes: HashMap<i64, Vec<String>> = difference
        .changed
        .iter()
        .map(|(before, after)| {
            let rule = [&mut held, &mut holds].map(|rules| rules.remove(&after.number).unwrap_or_default());
            (after.number, [changes(before, after), rule_changes(&rule[0], &rule[1])].concat())
        })
        .collect();
    for memory in &mut changed.memories {
        memory.changes = changes.get(&memory.number).cloned().unwrap_or_default();
    }
    Ok(Response { from: from.name, to, added, gone, changed, hidden })
}

/// The attributes of rules at a place, by number, those that are not the defaults.
fn attributes(r: &LedgerRead<'_>, seq: i64) -> Result<HashMap<i64, RuleAttributes>, StoreError> {
    let rows = r.rules_as_of(seq)?.into_iter().map(|row| (row.number, row.attributes));
    Ok(rows.filter(|(_, attributes)| *attributes != RuleAttributes::default()).collect())
}

/// What is different between the attributes of a rule at two places, in words.
pub(crate) fn rule_changes(before: &RuleAttributes, after: &RuleAttributes) -> Vec<String> {
    let condition = |rule: &RuleAttributes| rule.condition.clone().unwrap_or_else(|| "always".to_owned());
    let switch = |rule: &RuleAttributes| if rule.enabled { "enabled" } else { "disabled" }.to_owned();
    [
        ("priority", before.priority.to_string(), after.priority.to_string()),
        ("condition", condition(before), condition(after)),
        ("switch", switch(before), switch(after)),
    ]
    .into_iter()
    .filter(|(_, before, after)| before != after)
    .map(|(what, before, after)| format!("{what} {before} → {after}"))
    .collect()
}

/// What is different between two states of one memory, in words.
pub(crate) fn changes(before: &LiveRow, after: &LiveRow) -> Vec<String> {
    let (a, b) = (&before.state, &after.state);
    let pin = |pinned: bool| if pinned { "pinned" } else { "not pinned" }.to_owned();
    [
        ("status", a.status.to_string(), b.status.to_string()),
        ("layer", a.layer.to_string(), b.layer.to_string()),
        ("tier", a.tier.to_string(), b.tier.to_string()),
        ("confidence", format!("{:.2}", a.confidence), format!("{:.2}", b.confidence)),
        ("importance", format!("{:.2}", a.importance), format!("{:.2}", b.importance)),
        ("pin", pin(a.pinned), pin(b.pinned)),
    ]
    .into_iter()
    .filter(|(_, before, after)| before != after)
    .map(|(what, before, after)| format!("{what} {before} → {after}"))
    .collect()
}

impl Render for Response {
    fn render(&self) -> Document {
        let counts = format!(
            "{} → {}: {} added, {} gone, {} changed",
            self.from, self.to, self.added.count, self.gone.count, self.changed.count
        );
        let mut document = Document::new().note(Mark::Info, counts);
        for (heading, part) in [("Added", &self.added), ("Gone", &self.gone), ("Changed", &self.changed)] {
            if part.count == 0 {
                continue;
            }
            let records = part.memories.iter().map(Named::record).collect();
            document = document
                .with(Block::Heading(heading.into()))
                .with(Block::Records { trust: Trust::Data, records })
                .note_more(part.more);
        }
        if self.hidden > 0 {
            document = document
                .note(Mark::Info, format!("outside your scope: {}", counted(self.hidden, "difference")));
        }
        document
    }
}
