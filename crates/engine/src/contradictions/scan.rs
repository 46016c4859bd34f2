//! Looks through the memories in force for contradictions. Nothing is written.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use serde::{Serialize, Serializer};
use strata_core::{
    duplicate::contradiction::{Claims, Contradiction, between, candidates},
    memory::Layer,
    scope::Scope,
    time::Timestamp,
};
use strata_store::ledger::{MemoryFilter, MemoryRow};

use super::advice::Opinion;
use crate::{engine::Engine, error::Error, operation::Call, render::shortened};

/// Texts read, or pairs compared, between two looks at the cancel flag.
const STRIDE: usize = 256;
/// Characters of a memory that are shown.
const EXCERPT: usize = 160;

/// The severity of a finding about a rule, or about P0 or P1.
pub(super) const HIGH: &str = "high";

/// Two memories that cannot both hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// `high` when a rule or P0 or P1 is involved, else `medium`.
    pub severity: &'static str,
    /// What differs: number, version, negation, frequency, deontic, date, state or choice.
    pub axis: &'static str,
    /// The words that both share.
    pub subject: String,
    /// What the older says, and what the newer says.
    pub values: [String; 2],
    /// How sure it is, 0 to 1.
    pub score: f64,
    /// The older memory. Many findings may be about one memory; it is described once.
    #[serde(serialize_with = "as_it_is")]
    pub a: Arc<Side>,
    /// The newer memory.
    #[serde(serialize_with = "as_it_is")]
    pub b: Arc<Side>,
    /// The question in the review queue, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<String>,
    /// What the judge said, when it was asked; it decides nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<Box<Opinion>>,
}

fn as_it_is<S: Serializer>(side: &Arc<Side>, serializer: S) -> Result<S::Ok, S::Error> {
    Side::serialize(side, serializer)
}

/// One of two memories.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// Its id.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// Its layer.
    pub layer: String,
    /// Its kind.
    pub kind: String,
    /// Where it holds.
    pub scope: String,
    /// Its first words.
    pub text: String,
}

/// What a scan found.
#[derive(Debug)]
pub struct Scanned {
    /// The severest and surest first.
    pub findings: Vec<Finding>,
    /// Memories read.
    pub memories: usize,
    /// Pairs compared.
    pub compared: usize,
}

/// Compares the memories in force that the caller sees, in every layer and in the scopes above.
///
/// Expired memories, and pairs that hold at different times, are left out. Progress counts memories read and pairs
/// compared.
///
/// # Errors
/// `Cancelled` when the caller withdrew the call.
pub fn scan(engine: &Engine, call: &Call<'_>) -> Result<Scanned, Error> {
    let rows = in_force(engine, call, Some(call.scope))?;
    compare(engine, call, &rows)
}

/// The same for the whole home, whatever the caller's scope: each memory against those that some reader sees beside it.
///
/// # Errors
/// As for [`scan`].
pub fn scan_everywhere(engine: &Engine, call: &Call<'_>) -> Result<Scanned, Error> {
    let rows = in_force(engine, call, None)?;
    compare(engine, call, &rows)
}

fn compare(engine: &Engine, call: &Call<'_>, rows: &[MemoryRow]) -> Result<Scanned, Error> {
    let mut claims = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        step(engine, call, at, rows.len() * 2)?;
        claims.push(Claims::of(&row.body));
    }
    let topics: Vec<Option<u64>> = rows.iter().map(|row| row.topic_key.as_deref().map(hashed)).collect();
    let pairs = candidates(&claims, &topics);
    let mut findings = Vec::new();
    let mut sides = Sides { rows, made: vec![None; rows.len()] };
    for (at, (older, newer)) in pairs.iter().enumerate() {
        let done = rows.len() + at * rows.len() / pairs.len().max(1);
        if at % STRIDE == 0 {
            step(engine, call, done / STRIDE * STRIDE, rows.len() * 2)?;
        }
        let (a, b) = (&rows[*older], &rows[*newer]);
        if !(hold_together(a, b) && (a.scope.sees(&b.scope) || b.scope.sees(&a.scope))) {
            continue;
        }
        let found = between(&claims[*older], &claims[*newer]);
        findings.extend(found.map(|found| sides.finding(*older, *newer, found)));
    }
    (call.progress)(rows.len() as u64 * 2, rows.len() as u64 * 2);
    findings.sort_by(|x, y| {
        (x.severity.cmp(y.severity)).then(y.score.total_cmp(&x.score)).then_with(|| x.key().cmp(&y.key()))
    });
    Ok(Scanned { findings, memories: rows.len(), compared: pairs.len() })
}

impl Finding {
    fn key(&self) -> (i64, i64) {
        (self.a.number, self.b.number)
    }
}

/// Every [`STRIDE`] steps tells how far it is and asks whether to go on.
fn step(engine: &Engine, call: &Call<'_>, done: usize, total: usize) -> Result<(), Error> {
    if done.is_multiple_of(STRIDE) {
        engine.control(call).check()?;
        (call.progress)(done as u64, total as u64);
    }
    Ok(())
}

/// The memories in force that a reader in `scope` sees, or all of them, oldest first. A rule that is disabled says
/// nothing against another.
fn in_force(engine: &Engine, call: &Call<'_>, scope: Option<&Scope>) -> Result<Vec<MemoryRow>, Error> {
    let now = engine.clock().now();
    let ledger = engine.existing_ledger()?;
    let filter = MemoryFilter { visible_from: scope.cloned(), ..MemoryFilter::default() };
    let mut rows = ledger.read(&engine.control(call), |r| {
        let rules = r.rules_now()?;
        let is_off = |row: &MemoryRow| rules.get(&row.number).is_some_and(|rule| !rule.enabled);
        let mut rows: Vec<MemoryRow> = Vec::new();
        r.for_each_memory(&filter, |row| {
            let stands = row.valid_to.is_none_or(|end| end > now) && !is_off(&row);
            rows.extend(stands.then_some(row));
            Ok(())
        })?;
        Ok(rows)
    })?;
    rows.reverse();
    Ok(rows)
}

/// Whether there is an instant at which both are said to be true.
fn hold_together(a: &MemoryRow, b: &MemoryRow) -> bool {
    let starts = |row: &MemoryRow| row.valid_from.unwrap_or(Timestamp(i64::MIN));
    let ends = |row: &MemoryRow| row.valid_to.unwrap_or(Timestamp::MAX);
    starts(a) < ends(b) && starts(b) < ends(a)
}

/// The memories of a scan, and those of them that findings are about.
struct Sides<'r> {
    rows: &'r [MemoryRow],
    made: Vec<Option<Arc<Side>>>,
}

impl Sides<'_> {
    fn finding(&mut self, older: usize, newer: usize, found: Contradiction) -> Finding {
        let severe = is_binding(&self.rows[older]) || is_binding(&self.rows[newer]);
        Finding {
            severity: if severe { HIGH } else { "medium" },
            axis: found.axis.as_str(),
            subject: found.subject,
            values: [found.a, found.b],
            score: found.score,
            a: self.side(older),
            b: self.side(newer),
            review: None,
            judge: None,
        }
    }

    fn side(&mut self, at: usize) -> Arc<Side> {
        Arc::clone(self.made[at].get_or_insert_with(|| Arc::new(side(&self.rows[at]))))
    }
}

/// Whether others are to follow it: a rule, or what stands in P0 or P1.
fn is_binding(row: &MemoryRow) -> bool {
    matches!(row.state.layer, Layer::P0 | Layer::P1) || matches!(row.kind.as_str(), "rule" | "constraint")
}

fn side(row: &MemoryRow) -> Side {
    Side {
        id: row.id.clone(),
        number: row.number,
        layer: row.state.layer.to_string(),
        kind: row.kind.to_string(),
        scope: row.scope.to_string(),
        text: shortened(&row.body, EXCERPT),
    }
}

fn hashed(topic: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    topic.hash(&mut hasher);
    hasher.finish()
}
