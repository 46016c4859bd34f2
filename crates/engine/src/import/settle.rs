//! Writing what an import decided, in one transaction: all of it is in, or none.

use std::{
    cell::Cell,
    collections::{HashMap, HashSet},
};

use strata_core::{
    memory::{Layer, Status},
    policy::{self, Action, Verdict},
    principal::Principal,
};
use strata_store::{
    error::StoreError,
    ledger::{LedgerWrite, MemoryRow, NewAudit, NewMemory, PurgedKind, Seq, State},
};

use super::{
    decide::{Actors, ChangedRule, Plan},
    distilled,
    incoming::Ending,
    prepare::{Origin, Prepared, PreparedMemory},
};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    graph::noticing::{self, Noticed},
    job::Job,
    maintain::reindex::index_everything,
    operation::Call,
    render::counted,
};

/// The word in the audit for what an import stores.
const IMPORT: &str = "import";

/// What became of the rows.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Settled {
    /// Memories stored now.
    pub(super) added: usize,
    /// Those of them that are kept as replaced: the same text is in force here already.
    pub(super) merged: usize,
    /// Memories that a new version replaced, or that changed layer or confidence.
    pub(super) updated: usize,
    /// Memories that ended, because their rows have.
    pub(super) ended: usize,
    /// Events stored now.
    pub(super) episodes: usize,
}

/// A line in the audit about the import as a whole: its target, what it says and a hash.
pub(super) type Summary = (String, String, Option<[u8; 32]>);

/// Writes the plan as a job, `also` in the same transaction, and with `index` brings the index up to it.
pub(super) fn settle(
    engine: &Engine,
    call: &Call<'_>,
    origin: &Origin,
    work: (&Prepared, &Plan, &Actors),
    summary: Option<&Summary>,
    index: bool,
    mut also: impl FnMut(&LedgerWrite<'_>) -> Result<(), StoreError>,
) -> Result<Settled, Error> {
    let (prepared, plan, actors) = work;
    let total = plan.new.len() + plan.episodes.len();
    let noticed = notice(engine, call, prepared, plan)?;
    let job = Job::start(engine, call, IMPORT, total as u64)?;
    let outcome = engine
        .ledger(call)?
        .write(&engine.control(call), engine.clock().now(), |w| {
            let mut settling = Settling::new(w, call, origin, (prepared, plan, &noticed), actors);
            settling.run(summary)?;
            also(w)?;
            if let Some(actor) = actors.approved() {
                authority::seal(w, call, actor)?;
            }
            Ok(settling.settled)
        })
        .map_err(Error::from);
    let indexed = outcome.and_then(|settled| {
        if index {
            let followed =
                index_everything(engine, call, &mut |done, total| job.progress(done, total, "indexing"));
            // What is stored is told, whoever calls it off now: the index follows at the next search.
            if !matches!(followed, Err(Error::Cancelled | Error::Store(StoreError::Cancelled))) {
                followed?;
            }
        }
        Ok(settled)
    });
    job.finish(indexed, |s| {
        format!("{}, {}", counted(s.added + s.updated, "memory"), counted(s.episodes, "episode"))
    })
}

/// What memories mention, by their places in [`Prepared`].
type Names = HashMap<usize, Noticed>;

/// Looks for names in what will be in force, before anything is written.
fn notice(engine: &Engine, call: &Call<'_>, prepared: &Prepared, plan: &Plan) -> Result<Names, Error> {
    let (ledger, control) = (engine.ledger(call)?, engine.control(call));
    let mut names = Names::new();
    for place in plan.new.iter().chain(plan.revised.iter().map(|(place, ..)| place)) {
        let row = &prepared.memories[*place];
        if row.status() == Status::Active {
            let told = (row.new.title.as_str(), row.new.body.as_str());
            let noticed = noticing::look(engine, ledger, &control, told, &row.new.scope, &row.new.writer)?;
            names.insert(*place, noticed);
        }
    }
    Ok(names)
}

struct Settling<'a> {
    w: &'a LedgerWrite<'a>,
    call: &'a Call<'a>,
    origin: &'a Origin,
    prepared: &'a Prepared,
    plan: &'a Plan,
    noticed: &'a Names,
    actors: &'a Actors,
    /// The change that brought the memory that was stored last.
    last_born: Cell<Option<Seq>>,
    /// Memories by the ids that chains of their store name.
    chain: HashMap<i64, &'a str>,
    /// What takes the place of what, by id.
    replaces: HashSet<(&'a str, &'a str)>,
    settled: Settled,
}

impl<'a> Settling<'a> {
    fn new(
        w: &'a LedgerWrite<'a>,
        call: &'a Call<'a>,
        origin: &'a Origin,
        (prepared, plan, noticed): (&'a Prepared, &'a Plan, &'a Names),
        actors: &'a Actors,
    ) -> Self {
        let chain: HashMap<i64, &str> =
            prepared.memories.iter().filter_map(|m| Some((m.number?, m.new.id.as_str()))).collect();
        let successor = |m: &PreparedMemory| match m.ending {
            Ending::Replaced(by, _) => chain.get(&by).copied(),
            _ => None,
        };
        let replaces =
            prepared.memories.iter().filter_map(|m| Some((successor(m)?, m.new.id.as_str()))).collect();
        Self {
            w,
            call,
            origin,
            prepared,
            plan,
            noticed,
            actors,
            chain,
            replaces,
            last_born: Cell::new(None),
            settled: Settled::default(),
        }
    }

    fn run(&mut self, summary: Option<&Summary>) -> Result<(), StoreError> {
        let plan = self.plan;
        let coming: HashSet<&str> =
            plan.new.iter().map(|place| self.prepared.memories[*place].new.id.as_str()).collect();
        for place in &plan.new {
            let row = &self.prepared.memories[*place];
            self.last_born.set(None);
            self.add(row, &coming)?;
            self.link_names(*place, row.new.id.as_str())?;
        }
        for (place, head, id) in &plan.revised {
            let row = &self.prepared.memories[*place];
            self.last_born.set(None);
            self.revise(&NewMemory { id: id.clone(), ..row.new.clone() }, head)?;
            self.w
                .memory(id.as_str())?
                .map_or(Ok(()), |new| self.w.carry_stated_mentions(head.number, new.number))?;
            self.link_names(*place, id.as_str())?;
            self.settled.updated += 1;
        }
        for (head, state) in &plan.adjusted {
            let hash = Some(state.hash(&head.content_hash));
            let seq = self.record(state.layer, "update", &head.id, "as in the older store", hash)?;
            self.w.change_state(head.number, Some(head.state_seq), state, seq)?;
            self.settled.updated += 1;
        }
        for rule in &plan.rules {
            self.change_rule(rule)?;
            self.settled.updated += 1;
        }
        for (place, head) in &plan.ended {
            self.end(&self.prepared.memories[*place], head)?;
            self.settled.ended += 1;
        }
        self.episodes()?;
        distilled::link(self.w, self.call.face, self.origin, self.actors, self.prepared)?;
        if let Some((target, reason, hash)) = summary {
            let row = NewAudit {
                reason,
                after_hash: *hash,
                ..NewAudit::new(&self.origin.caller, self.call.face, IMPORT, target)
            };
            self.w.record(&row)?;
        }
        Ok(())
    }

    fn record(
        &self,
        layer: Layer,
        action: &str,
        target: &str,
        reason: &str,
        hash: Option<[u8; 32]>,
    ) -> Result<Seq, StoreError> {
        let actor: Principal = self.actors.of(layer, self.origin);
        self.w.record(&NewAudit {
            layer: Some(layer),
            reason,
            after_hash: hash,
            ..NewAudit::new(&actor, self.call.face, action, target)
        })
    }

    /// Stores a row that is not here, with how it ended.
    fn add(&mut self, row: &PreparedMemory, coming: &HashSet<&str>) -> Result<(), StoreError> {
        let id = row.new.id.as_str();
        if self.w.memory(id)?.is_some() || self.w.is_purged(id)? {
            return Ok(());
        }
        let wanted = row.number.unwrap_or(0);
        let reason = format!("{} {}", self.origin.source, row.key);
        if row.status() == Status::Active {
            match self.w.live_by_content(&row.new.scope, &self.w.content_key(&row.new.identity)?)? {
                None => {
                    let number = self.w.free_number(PurgedKind::Memory, wanted)?;
                    let born = self.born(&row.new, &reason)?;
                    self.load(number, &row.new, &[(born, row.new.state)], (None, None))?;
                }
                Some(twin) if self.outranks(&row.new, &twin) => {
                    self.replace(&row.new, wanted, &twin, "the same text, by an import")?;
                }
                Some(twin) => {
                    self.settled.merged += 1;
                    self.set_aside(row, wanted, &twin, &reason)?;
                }
            }
        } else {
            self.add_ended(row, wanted, &reason, coming)?;
        }
        self.settled.added += 1;
        Ok(())
    }

    /// Links a memory that was just stored and is in force to what it mentions.
    fn link_names(&self, place: usize, id: &str) -> Result<(), StoreError> {
        let (Some(noticed), Some(seq)) = (self.noticed.get(&place), self.last_born.get()) else {
            return Ok(());
        };
        let stored = self.w.memory(id)?.filter(|memory| memory.state.status.is_live());
        stored.map_or(Ok(()), |memory| noticing::link(self.w, noticed, memory.number, seq))
    }

    /// Lets a rule take the attributes of its row.
    fn change_rule(&self, rule: &ChangedRule) -> Result<(), StoreError> {
        let (number, state) = (rule.memory.number, &rule.memory.state);
        let actor = self.actors.of(state.layer, self.origin);
        let seq = self.w.record(&NewAudit {
            layer: Some(state.layer),
            reason: "as in the older store",
            before_hash: Some(self.w.hash_with(number, Some(state), &rule.held)?),
            after_hash: Some(self.w.hash_with(number, Some(state), &rule.wanted)?),
            ..NewAudit::new(&actor, self.call.face, "update", &rule.memory.id)
        })?;
        // The state stays, and is what was decided on.
        self.w.change_state(number, Some(rule.memory.state_seq), state, seq)?;
        self.w.set_rule(number, Some(rule.seen), &rule.wanted, seq)
    }

    /// Stores a memory with the states it had, and the attributes of a rule.
    fn load(
        &self,
        number: i64,
        new: &NewMemory,
        history: &[(Seq, State)],
        successor: (Option<&str>, Option<&str>),
    ) -> Result<(), StoreError> {
        self.w.load_memory(number, new, history, successor)?;
        let born = history.first().map(|(born, _)| *born);
        let rule = born.zip(new.rule.clone());
        rule.map_or(Ok(()), |rule| self.w.load_rule(number, &[rule]))
    }

    fn born(&self, new: &NewMemory, reason: &str) -> Result<Seq, StoreError> {
        let seq = self.record(new.state.layer, IMPORT, new.id.as_str(), reason, Some(new.audit_hash()))?;
        self.last_born.set(Some(seq));
        Ok(seq)
    }

    /// Whether a row takes the place of a memory of the same text: it is its successor, that one ends by this
    /// import, or it has less authority. Only what the caller may change gives way.
    fn outranks(&self, new: &NewMemory, twin: &MemoryRow) -> bool {
        let follows = self.replaces.contains(&(new.id.as_str(), twin.id.as_str()))
            || self.plan.ended.iter().any(|(_, head)| head.id == twin.id);
        let layer = twin.state.layer;
        let may = self.actors.covers(layer)
            || policy::decide(Action::Update, &self.origin.caller, layer).verdict == Verdict::Allow;
        may && (follows || new.state.layer < layer)
    }

    /// Keeps a row whose text is in force here already, as replaced by that memory.
    fn set_aside(
        &self,
        row: &PreparedMemory,
        wanted: i64,
        twin: &MemoryRow,
        reason: &str,
    ) -> Result<(), StoreError> {
        let number = self.w.free_number(PurgedKind::Memory, wanted)?;
        let born = self.born(&row.new, reason)?;
        let state = State { status: Status::Superseded, ..row.new.state };
        let why = "the same text is in force already";
        self.load(number, &row.new, &[(born, state)], (Some(&twin.id), Some(why)))
    }

    /// Stores a row together with its end.
    fn add_ended(
        &self,
        row: &PreparedMemory,
        wanted: i64,
        reason: &str,
        coming: &HashSet<&str>,
    ) -> Result<(), StoreError> {
        let number = self.w.free_number(PurgedKind::Memory, wanted)?;
        let born = self.born(&row.new, reason)?;
        let (successor, why) = self.successor(row, coming)?;
        let status = match (row.status(), successor) {
            (Status::Superseded, None) => Status::Archived,
            (status, _) => status,
        };
        let (layer, id) = (row.new.state.layer, row.new.id.as_str());
        let end = State { status, ..row.new.state };
        let ended = self.record(layer, word(status), id, why, Some(end.hash(&row.new.content_hash())))?;
        let history = [(born, row.new.state), (ended, end)];
        self.load(number, &row.new, &history, (successor, successor.map(|_| why)))
    }

    /// The memory that takes a row's place, if it is here or coming, and why.
    fn successor<'r>(
        &'r self,
        row: &'r PreparedMemory,
        coming: &HashSet<&str>,
    ) -> Result<(Option<&'r str>, &'r str), StoreError> {
        match &row.ending {
            Ending::InForce => Ok((None, "")),
            Ending::Forgotten(why) | Ending::Archived(why) => Ok((None, why)),
            Ending::Replaced(by, why) => {
                let Some(id) = self.chain.get(by).copied() else { return Ok((None, why)) };
                let there = coming.contains(id) || self.w.memory(id)?.is_some();
                Ok((there.then_some(id), why))
            }
        }
    }

    /// Lets a memory follow its row: a new version, or another memory that says the same already.
    fn revise(&self, new: &NewMemory, head: &MemoryRow) -> Result<(), StoreError> {
        let why = "its row says something else now";
        let key = self.w.content_key(&new.identity)?;
        match self.w.live_by_content(&new.scope, &key)?.filter(|twin| twin.id != head.id) {
            None => self.replace(new, 0, head, why),
            Some(twin) => {
                let hash = Some(head.state.superseded().hash(&head.content_hash));
                let retired = self.record(head.state.layer, "supersede", &head.id, why, hash)?;
                self.w.supersede(head.number, twin.number, why, retired)
            }
        }
    }

    /// Puts a new memory in the place of one that is in force. For a moment that nobody sees it is archived,
    /// because two of the same text cannot be in force together.
    fn replace(&self, new: &NewMemory, wanted: i64, old: &MemoryRow, why: &str) -> Result<(), StoreError> {
        let number = self.w.free_number(PurgedKind::Memory, wanted)?;
        let hash = Some(old.state.superseded().hash(&old.content_hash));
        let retired = self.record(old.state.layer, "supersede", &old.id, why, hash)?;
        let born = self.born(new, why)?;
        let hidden = State { status: Status::Archived, ..new.state };
        self.load(number, new, &[(born, hidden)], (None, None))?;
        self.w.supersede(old.number, number, why, retired)?;
        self.w.change_state(number, None, &new.state, born)
    }

    /// Ends a memory whose row has ended since the last import.
    fn end(&self, row: &PreparedMemory, head: &MemoryRow) -> Result<(), StoreError> {
        let Some(head) = self.w.memory(&head.id)?.filter(|now| now.state.status.is_live()) else {
            return Ok(());
        };
        let none = HashSet::new();
        let (successor, why) = self.successor(row, &none)?;
        let successor = match successor {
            Some(id) => self.w.memory(id)?.filter(|s| s.id != head.id),
            None => None,
        };
        let status = match (row.status(), &successor) {
            (Status::Superseded, None) => Status::Archived,
            (status, _) => status,
        };
        let state = State { status, pinned: false, ..head.state };
        let hash = Some(state.hash(&head.content_hash));
        let seq = self.record(head.state.layer, word(status), &head.id, why, hash)?;
        match successor {
            Some(by) => self.w.supersede(head.number, by.number, why, seq),
            None => self.w.change_state(head.number, Some(head.state_seq), &state, seq),
        }
    }

    fn episodes(&mut self) -> Result<(), StoreError> {
        let mut fresh = Vec::new();
        for place in &self.plan.episodes {
            let (_, episode) = &self.prepared.episodes[*place];
            if self.w.episode(episode.id.as_str())?.is_none() && !self.w.is_purged(episode.id.as_str())? {
                fresh.push(episode.clone());
            }
        }
        if fresh.is_empty() {
            return Ok(());
        }
        let target = format!("episodes:{}", fresh.len());
        let row = NewAudit {
            layer: Some(Layer::P2),
            reason: &self.origin.source,
            ..NewAudit::new(&self.origin.gateway, self.call.face, IMPORT, &target)
        };
        self.settled.episodes = self.w.store_episodes(&fresh, &row)?.iter().filter(|e| e.added).count();
        Ok(())
    }
}

/// What the audit calls an end.
const fn word(status: Status) -> &'static str {
    match status {
        Status::Trashed => "forget",
        Status::Superseded => "supersede",
        _ => "archive",
    }
}
