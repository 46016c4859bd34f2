//! Rows of an older store on their way through the gate, and what becomes of their chains.

use std::{
    collections::{HashMap, HashSet},
    num::NonZero,
    thread,
};

use strata_core::{
    duplicate,
    id::IdKind,
    memory::{Status, Tier},
    principal::{Principal, PrincipalKind},
    scope::Scope,
    time::Timestamp,
};
use strata_store::ledger::{EvidenceRow, NewEpisode, NewMemory, RuleAttributes, State};

use super::incoming::{Detail, Ending, Findings, Ground, Incoming, IncomingEpisode, IncomingMemory, RowKey};
use crate::{
    engine::Engine,
    error::Error,
    gate::{Gate, add_families},
    operation::Call,
    project::storable,
};

/// Rows that are worth another thread at the gate.
const PER_THREAD: usize = 256;
/// Metadata that says which row a memory or event was.
const ROW: &str = "imported_row";
/// Metadata that says who wrote the row, in the words of its store.
const WHO: &str = "imported_who";

/// A row that may be stored.
#[derive(Debug)]
pub(super) struct PreparedMemory {
    pub(super) key: RowKey,
    /// See [`IncomingMemory::number`].
    pub(super) number: Option<i64>,
    pub(super) new: NewMemory,
    pub(super) ending: Ending,
}

impl PreparedMemory {
    /// Where its life stands by its store.
    pub(super) const fn status(&self) -> Status {
        match self.ending {
            Ending::InForce => Status::Active,
            Ending::Forgotten(_) => Status::Trashed,
            Ending::Replaced(..) => Status::Superseded,
            Ending::Archived(_) => Status::Archived,
        }
    }
}

/// A store's rows, secrets blacked out.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    pub(super) memories: Vec<PreparedMemory>,
    pub(super) episodes: Vec<(RowKey, NewEpisode)>,
    pub(super) findings: Findings,
    /// Families of secrets that were blacked out.
    pub(super) redacted: Vec<&'static str>,
    /// Rows in which something was.
    pub(super) redacted_rows: usize,
}

/// What all rows of one import share.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    /// The name by which rows of this store are told from those of others.
    pub(super) source: String,
    /// Where they belong here.
    pub(super) scope: Scope,
    /// Who imports.
    pub(super) caller: Principal,
    /// The importer, which brings raw events in on the caller's behalf.
    pub(super) gateway: Principal,
    /// When.
    pub(super) now: Timestamp,
}

impl Origin {
    pub(super) fn new(engine: &Engine, call: &Call<'_>, source: &str) -> Self {
        Self {
            source: source.to_owned(),
            scope: call.scope.whole_project(),
            caller: call.principal.clone(),
            gateway: Principal::new(PrincipalKind::Gateway, "import").on_behalf_of(call.principal),
            now: engine.clock().now(),
        }
    }

    /// Whom a row is by. People import what they had, with the names that stand there; whoever else imports
    /// says it in their own name, because nothing proves who wrote a file.
    fn writer(&self, who: Option<&str>) -> String {
        let trusted = matches!(self.caller.kind, PrincipalKind::Human | PrincipalKind::System);
        let Some(who) = who.filter(|_| trusted) else { return self.caller.to_string() };
        let (kind, name) = who.split_once(':').unwrap_or((who, &self.source));
        match PrincipalKind::parse(kind.trim()) {
            Ok(kind) => Principal::new(kind, name).to_string(),
            Err(_) => Principal::new(PrincipalKind::Tool, who).to_string(),
        }
    }
}

/// Lets every row through the gate, on as many threads as there are cores. Rows that do not pass are noted.
pub(super) fn prepare(engine: &Engine, origin: &Origin, incoming: Incoming) -> Prepared {
    let Incoming { memories, episodes, findings, .. } = incoming;
    let mut prepared = Prepared { findings, ..Prepared::default() };
    let salted: Vec<_> = memories.into_iter().map(|row| (row, engine.ids().salt())).collect();
    for passed in in_parallel(&salted, |(row, salt)| memory(origin, row, *salt)) {
        let passed = prepared.take(passed);
        prepared.memories.extend(passed);
    }
    let salted: Vec<_> = episodes.into_iter().map(|row| (row, engine.ids().salt())).collect();
    for passed in in_parallel(&salted, |(row, salt)| episode(origin, row, *salt)) {
        let passed = prepared.take(passed);
        prepared.episodes.extend(passed);
    }
    settle_chains(&mut prepared);
    prepared
}

/// A row behind the gate, or its name and why not; and the families of secrets found in it.
pub(super) type Passed<T> = (Result<T, (RowKey, Error)>, Vec<&'static str>);

impl Prepared {
    /// Notes what was blacked out in a row, or why it is left out.
    pub(super) fn take<T>(&mut self, (outcome, families): Passed<T>) -> Option<T> {
        match outcome {
            Ok(value) => {
                self.redacted_rows += usize::from(!families.is_empty());
                add_families(&mut self.redacted, families);
                Some(value)
            }
            Err((key, error)) => {
                self.findings.reject(key, error);
                None
            }
        }
    }
}

fn in_parallel<R: Sync, T: Send>(rows: &[R], pass: impl Fn(&R) -> Passed<T> + Sync) -> Vec<Passed<T>> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = (rows.len() / PER_THREAD).clamp(1, cores);
    let pass = &pass;
    thread::scope(|scope| {
        let chunks = rows.chunks(rows.len().div_ceil(threads).max(1));
        let workers: Vec<_> =
            chunks.map(|chunk| scope.spawn(move || chunk.iter().map(pass).collect::<Vec<_>>())).collect();
        let joined = workers.into_iter().map(thread::ScopedJoinHandle::join);
        joined.flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

fn memory(origin: &Origin, row: &IncomingMemory, salt: [u8; 16]) -> Passed<PreparedMemory> {
    let mut gate = Gate::default();
    let passed = memory_behind(&mut gate, origin, row, salt).map_err(|error| (row.key.clone(), error));
    (passed, gate.redacted)
}

fn memory_behind(
    gate: &mut Gate,
    origin: &Origin,
    row: &IncomingMemory,
    salt: [u8; 16],
) -> Result<PreparedMemory, Error> {
    let body = gate.body("content", &row.text)?;
    let mut metadata = row.metadata.clone();
    metadata.insert(ROW.into(), format!("{} {}", origin.source, row.key));
    metadata.extend(row.who.clone().map(|who| (WHO.into(), who)));
    let metadata = gate.map("metadata", &metadata)?;
    let source = gate.field("source", row.origin.as_deref())?;
    let rule = row.rule.as_ref().map(|rule| attributes(gate, rule)).transpose()?;
    let id = row.key.id(IdKind::Memory, &origin.source, &origin.scope, "");
    let created_at = row.created_at.unwrap_or(origin.now);
    let new = NewMemory {
        kind: row.kind.clone(),
        title: gate.field("title", row.title.as_deref())?.unwrap_or_default(),
        identity: duplicate::identity(&body),
        bands: duplicate::bands(&body).into_iter().map(u64::cast_signed).collect(),
        scope: origin.scope.clone(),
        source: source.unwrap_or_else(|| origin.source.clone()),
        session: gate.field("session", row.session.as_deref())?,
        valid_to: row.valid_to,
        rule: rule.filter(|rule| *rule != RuleAttributes::default()),
        metadata: serde_json::to_string(&metadata).map_err(|e| Error::Internal(e.to_string()))?,
        state: State { confidence: row.confidence, tier: Tier::Hot, ..State::active(row.layer) },
        ..NewMemory::new(id, &body, &origin.writer(row.who.as_deref()), created_at, salt)
    };
    let new = match &row.detail {
        Some(detail) => detailed(gate, origin, detail, new)?,
        None => new,
    };
    let mut reason = |text: &str| Ok::<_, Error>(gate.field("reason", Some(text))?.unwrap_or_default());
    let ending = match &row.ending {
        Ending::InForce => Ending::InForce,
        Ending::Forgotten(why) => Ending::Forgotten(reason(why)?),
        Ending::Replaced(by, why) => Ending::Replaced(*by, reason(why)?),
        Ending::Archived(why) => Ending::Archived(reason(why)?),
    };
    Ok(PreparedMemory { key: row.key.clone(), number: row.number, new, ending })
}

/// The memory with what only stores of projects know.
fn detailed(gate: &mut Gate, origin: &Origin, detail: &Detail, new: NewMemory) -> Result<NewMemory, Error> {
    let branch = gate.field("branch", detail.branch.as_deref())?;
    let evidence = |gate: &mut Gate, ground: &Ground| {
        let text = gate.body("evidence", &ground.text)?;
        let source = gate.field("evidence", Some(&ground.source))?;
        // What it shows stands beside where it is; where it is nowhere, it stands for itself.
        let (reference, note) = source.map_or_else(|| (text.clone(), String::new()), |at| (at, text.clone()));
        let at = ground.at.unwrap_or(origin.now);
        Ok::<_, Error>(EvidenceRow { kind: "note".into(), reference, note, at })
    };
    let status = if detail.is_stale { Status::Stale } else { new.state.status };
    Ok(NewMemory {
        tags: gate.list("tags", &detail.tags)?,
        branch_scope: gate.field("branch_scope", Some(&detail.branch_scope))?.unwrap_or_default(),
        commit: gate.field("commit", detail.commit.as_deref())?,
        module_path: gate.field("module_path", detail.module_path.as_deref())?,
        parent: detail
            .parent
            .as_ref()
            .map(|key| key.id(IdKind::Memory, &origin.source, &origin.scope, "").to_string()),
        evidence: detail.grounds.iter().map(|ground| evidence(gate, ground)).collect::<Result<_, _>>()?,
        state: State { importance: detail.importance, status, ..new.state },
        scope: Scope { branch: branch.map(|name| storable(&name)), ..origin.scope.clone() },
        ..new
    })
}

fn attributes(gate: &mut Gate, rule: &RuleAttributes) -> Result<RuleAttributes, Error> {
    Ok(RuleAttributes { condition: gate.field("condition", rule.condition.as_deref())?, ..rule.clone() })
}

fn episode(origin: &Origin, row: &IncomingEpisode, salt: [u8; 16]) -> Passed<(RowKey, NewEpisode)> {
    let mut gate = Gate::default();
    let passed = episode_behind(&mut gate, origin, row, salt).map_err(|error| (row.key.clone(), error));
    (passed.map(|episode| (row.key.clone(), episode)), gate.redacted)
}

fn episode_behind(
    gate: &mut Gate,
    origin: &Origin,
    row: &IncomingEpisode,
    salt: [u8; 16],
) -> Result<NewEpisode, Error> {
    let mut metadata = row.metadata.clone();
    metadata.insert(ROW.into(), format!("{} {}", origin.source, row.key));
    let metadata = gate.map("metadata", &metadata)?;
    Ok(NewEpisode {
        id: row.key.id(IdKind::Episode, &origin.source, &origin.scope, ""),
        external_id: Some(format!("{}:{}@{}", row.key.table, row.key.id, row.key.created)),
        session: gate.field("session", row.session.as_deref())?.unwrap_or_default(),
        at: row.at.unwrap_or(origin.now),
        speaker: String::new(),
        role: String::new(),
        text: gate.body("payload", &row.text)?,
        metadata: serde_json::to_string(&metadata).map_err(|e| Error::Internal(e.to_string()))?,
        scope: origin.scope.clone(),
        source: origin.source.clone(),
        writer: origin.gateway.to_string(),
        salt,
    })
}

/// A row whose successor is missing, or that comes back to itself by its successors, is kept out of use.
fn settle_chains(prepared: &mut Prepared) {
    let next = |m: &PreparedMemory| match m.ending {
        Ending::Replaced(by, _) => Some(by),
        _ => None,
    };
    let successors: HashMap<i64, Option<i64>> =
        prepared.memories.iter().filter_map(|m| Some((m.number?, next(m)))).collect();
    let in_circle = circles(&successors);
    for memory in &mut prepared.memories {
        let Ending::Replaced(by, reason) = &memory.ending else { continue };
        if memory.number.is_some_and(|number| in_circle.contains(&number)) {
            prepared.findings.adjust(&memory.key, "it replaces itself by way of others; it is archived");
        } else if !successors.contains_key(by) {
            let what = format!("its successor #{by} is not there; it is archived");
            prepared.findings.adjust(&memory.key, what);
        } else {
            continue;
        }
        memory.ending = Ending::Archived(reason.clone());
    }
}

/// The ids that come back to themselves.
fn circles(successors: &HashMap<i64, Option<i64>>) -> HashSet<i64> {
    let (mut done, mut found) = (HashSet::new(), HashSet::new());
    for &start in successors.keys() {
        let mut path = Vec::new();
        let mut places = HashMap::new();
        let mut at = Some(start);
        while let Some(id) = at.filter(|id| !done.contains(id)) {
            if let Some(&first) = places.get(&id) {
                found.extend(path.iter().skip(first).copied());
                break;
            }
            places.insert(id, path.len());
            path.push(id);
            at = successors.get(&id).copied().flatten();
        }
        done.extend(path);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found_and_chains_are_not() {
        let next = HashMap::from([
            (1, Some(2)),
            (2, Some(3)),
            (3, None),
            (4, Some(5)),
            (5, Some(4)),
            (6, Some(4)),
            (7, Some(99)),
        ]);
        let mut found: Vec<_> = circles(&next).into_iter().collect();
        found.sort_unstable();
        assert_eq!(found, [4, 5]);
    }

    fn origin(kind: PrincipalKind) -> Origin {
        let caller = Principal::new(kind, "kim");
        Origin {
            source: "p-layer".into(),
            scope: Scope::user(),
            gateway: Principal::new(PrincipalKind::Gateway, "import"),
            caller,
            now: Timestamp(0),
        }
    }

    #[test]
    fn writers_keep_their_names_when_a_person_imports() {
        for (who, writer) in [
            ("agent:codex", "agent:codex"),
            ("manual", "human:p-layer"),
            ("system:consolidation", "system:consolidation"),
            ("stranger", "tool:stranger"),
        ] {
            assert_eq!(origin(PrincipalKind::Human).writer(Some(who)), writer);
            assert_eq!(origin(PrincipalKind::Agent).writer(Some(who)), "agent:kim");
        }
    }
}
