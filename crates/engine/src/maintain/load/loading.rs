//! Storing what an export holds, inside one transaction.

use std::collections::{HashMap, HashSet};

use strata_core::{
    memory::{Layer, Status},
    time::Timestamp,
};
use strata_store::{
    error::StoreError,
    ledger::{
        DigestLink, LedgerWrite, MemoryRelation, NewAudit, NewEpisode, NewL0Entry, NewMemory, NewReview,
        NewSnapshot, PurgedKind, RawKind, ReviewDecision, Seq, State,
    },
};

use super::{
    Response,
    incoming::{Actors, Incoming, IncomingMemory},
};
use crate::{
    maintain::transfer::{LOAD, PurgedLine, SnapshotLine},
    operation::Call,
    snapshot::Measured,
};

/// Conflicts listed in the reply.
const LISTED: usize = 20;

/// One load inside its transaction.
pub(super) struct Loading<'a> {
    pub(super) w: &'a LedgerWrite<'a>,
    pub(super) call: &'a Call<'a>,
    pub(super) actors: &'a Actors,
    pub(super) loaded: Response,
    /// Digests, and memories that stand to others, that came in: id, number, the change that brought them.
    pub(super) linked: Vec<(String, i64, Seq)>,
}

impl Loading<'_> {
    /// Stores all that is not here yet.
    pub(super) fn everything(&mut self, incoming: &Incoming) -> Result<(), StoreError> {
        let totals = self.w.totals()?;
        self.loaded.was_empty = totals.memories == 0
            && totals.entities == 0
            && totals.episodes == 0
            && totals.todos == 0
            && totals.purged == 0
            && totals.sources == 0;
        for project in &incoming.projects {
            // What people call it here stays.
            if self.w.project_key(&project.key)?.is_none() {
                self.w.ensure_project(&project.key, &project.name)?;
            }
            for alias in &project.aliases {
                if self.w.project_key(alias)?.is_none() {
                    self.w.alias_project(alias, &project.key)?;
                }
            }
        }
        self.purged(&incoming.purged)?;
        let snapshots = self.wanted_snapshots(&incoming.snapshots)?;
        let places = self.memories(&incoming.memories, &snapshots)?;
        self.snapshots(&snapshots, &places)?;
        self.episodes(&incoming.episodes)?;
        self.digests(&incoming.memories)?;
        self.memory_relations(&incoming.memories)?;
        self.reviews(&incoming.reviews)?;
        self.todos(&incoming.todos)?;
        self.l0_entries(&incoming.l0_entries)?;
        self.graph(&incoming.graph)?;
        self.vault(&incoming.vault)
    }

    /// The snapshots that can show here what they showed where they come from: none, where there is more
    /// than the file brings.
    fn wanted_snapshots<'s>(
        &mut self,
        snapshots: &'s [SnapshotLine],
    ) -> Result<Vec<&'s SnapshotLine>, StoreError> {
        let mut wanted = Vec::new();
        for snapshot in snapshots {
            if self.w.snapshot(&snapshot.name)?.is_some_and(|known| known.at.0 == snapshot.at) {
                self.loaded.known += 1;
            } else if self.loaded.was_empty && self.w.snapshot(&snapshot.name)?.is_none() {
                wanted.push(snapshot);
            } else {
                self.loaded.snapshots_left_out += 1;
            }
        }
        Ok(wanted)
    }

    /// Keeps snapshots at the places that were recorded for them, if they hold as many memories as they did.
    fn snapshots(&mut self, snapshots: &[&SnapshotLine], places: &[Seq]) -> Result<(), StoreError> {
        for (line, seq) in snapshots.iter().zip(places) {
            let measured = Measured::of(seq.get(), &self.w.live_at(seq.get())?);
            if measured.live() != line.entries {
                self.loaded.snapshots_left_out += 1;
                continue;
            }
            let new = NewSnapshot {
                name: &line.name,
                label: &line.label,
                who: &line.who,
                at: Some(Timestamp(line.at)),
                live: measured.live(),
                hash: measured.hash,
            };
            self.w.insert_snapshot(&new, *seq)?;
            self.loaded.snapshots += 1;
        }
        Ok(())
    }

    /// Stores memories; returns the places of the snapshots in the order of their changes.
    fn memories(
        &mut self,
        memories: &[IncomingMemory],
        snapshots: &[&SnapshotLine],
    ) -> Result<Vec<Seq>, StoreError> {
        let ids: Vec<&str> = memories.iter().map(|memory| memory.new.id.as_str()).collect();
        let here = self.w.present(PurgedKind::Memory, &ids)?;
        let mut wanted: Vec<&IncomingMemory> = Vec::with_capacity(memories.len());
        for memory in memories {
            match memory.new.id.as_str() {
                id if here.ids.contains(id) => self.loaded.known += 1,
                id if here.purged.contains(id) => self.loaded.refused_purged += 1,
                _ => wanted.push(memory),
            }
        }
        // Those whose number is free come first, so that nobody else is given it.
        let mut numbers =
            self.w.numbers(PurgedKind::Memory, &wanted.iter().map(|m| m.number).collect::<Vec<_>>())?;
        wanted.sort_by_key(|memory| numbers.is_taken(memory.number));
        let (records, places) = self.records(&wanted, snapshots)?;
        for (memory, seqs) in wanted.into_iter().zip(records) {
            let mut history: Vec<(Seq, State)> =
                seqs.into_iter().zip(memory.history.iter().map(|(state, ..)| *state)).collect();
            let successor = self.settle(memory, &mut history)?;
            let number = numbers.give(memory.number);
            self.loaded.renumbered += usize::from(number != memory.number);
            let by = successor.as_ref().map(|(by, _)| by.as_str()).or(memory.superseded_by.as_deref());
            let reason =
                successor.as_ref().map(|(_, why)| why.as_str()).or(memory.superseded_reason.as_deref());
            self.w.load_memory(number, &memory.new, &history, (by, reason))?;
            self.rules(memory, number)?;
            let alone = memory.distils.is_empty() && memory.relations.is_empty();
            if let (Some((seq, _)), false) = (history.last(), alone) {
                self.linked.push((memory.new.id.to_string(), number, *seq));
            }
            self.loaded.memories += 1;
        }
        Ok(places)
    }

    /// An audit row for every state and snapshot, in the order in which they came about where they come from.
    fn records(
        &self,
        memories: &[&IncomingMemory],
        snapshots: &[&SnapshotLine],
    ) -> Result<(Vec<Vec<Seq>>, Vec<Seq>), StoreError> {
        let mut order: Vec<(i64, usize, usize)> = Vec::new();
        for (m, memory) in memories.iter().enumerate() {
            order.extend(memory.history.iter().enumerate().map(|(s, (_, since, _))| (*since, m, s)));
        }
        // A snapshot shows what was there at its time, so it comes behind the states of the same time.
        order.extend(snapshots.iter().enumerate().map(|(n, snapshot)| (snapshot.at, usize::MAX, n)));
        order.sort_unstable();
        let mut places = Vec::with_capacity(snapshots.len());
        let mut seqs: Vec<Vec<(usize, Seq)>> = memories.iter().map(|_| Vec::new()).collect();
        for (_, m, s) in order {
            if m == usize::MAX {
                let row = NewAudit::new(&self.actors.owner, self.call.face, LOAD, &snapshots[s].name);
                places.push((s, self.w.record(&row)?));
                continue;
            }
            let (state, _, record) = &memories[m].history[s];
            seqs[m].push((s, self.record(&memories[m].new, state, record)?));
        }
        // A file changed by hand may date a later state earlier; its sequence still comes later.
        let ordered = |of: Vec<(usize, Seq)>| {
            let mut places: Vec<Seq> = of.iter().map(|(_, seq)| *seq).collect();
            places.sort_unstable();
            places
        };
        Ok((seqs.into_iter().map(ordered).collect(), in_order(places)))
    }

    fn record(&self, new: &NewMemory, state: &State, record: &str) -> Result<Seq, StoreError> {
        let actor = if state.layer == Layer::P2 { &self.actors.gateway } else { &self.actors.owner };
        self.w.record(&NewAudit {
            layer: Some(state.layer),
            reason: record,
            after_hash: Some(new.content_hash()),
            ..NewAudit::new(actor, self.call.face, LOAD, new.id.as_str())
        })
    }

    /// The attributes of a rule, each with an audit row that has the hash of them.
    fn rules(&self, memory: &IncomingMemory, number: i64) -> Result<(), StoreError> {
        let mut history = Vec::with_capacity(memory.rules.len());
        let layer = memory.history.last().map(|(state, ..)| state.layer);
        for (attributes, record) in &memory.rules {
            let seq = self.w.record(&NewAudit {
                layer,
                reason: record,
                after_hash: Some(self.w.hash_with(number, None, attributes)?),
                ..NewAudit::new(&self.actors.owner, self.call.face, LOAD, memory.new.id.as_str())
            })?;
            history.push((seq, attributes.clone()));
        }
        self.w.load_rule(number, &history)
    }

    /// Lets what is in force here stay in force: a memory that would stand against it is kept, but as
    /// replaced (the same content) or as a candidate (another word on the same topic).
    fn settle(
        &mut self,
        memory: &IncomingMemory,
        history: &mut Vec<(Seq, State)>,
    ) -> Result<Option<(String, String)>, StoreError> {
        let Some((_, last)) = history.last().copied().filter(|(_, s)| s.status.is_live()) else {
            return Ok(None);
        };
        let new = &memory.new;
        let twin = self.w.live_by_content(&new.scope, &self.w.content_key(&new.identity)?)?;
        let rival = match &new.topic_key {
            Some(topic) => self.w.live_by_topic(&new.scope, topic)?,
            None => None,
        };
        let (status, reason, by) = match (twin, rival) {
            (Some(twin), _) => (Status::Superseded, "the same content is stored here already", twin.id),
            (None, Some(rival)) => {
                (Status::Candidate, "something else is in force here on the same topic", rival.id)
            }
            (None, None) => return Ok(None),
        };
        let row = NewAudit {
            layer: Some(last.layer),
            reason,
            ..NewAudit::new(&self.actors.owner, self.call.face, "set aside", new.id.as_str())
        };
        history.push((self.w.record(&row)?, State { status, pinned: false, ..last }));
        self.loaded.set_aside += 1;
        if self.loaded.conflicts.len() < LISTED {
            self.loaded.conflicts.push(format!("{}: {reason} ({by})", new.id));
        }
        Ok((status == Status::Superseded).then(|| (by, reason.to_owned())))
    }

    fn episodes(&mut self, episodes: &[(i64, NewEpisode)]) -> Result<(), StoreError> {
        let ids: Vec<&str> = episodes.iter().map(|(_, episode)| episode.id.as_str()).collect();
        let here = self.w.present(PurgedKind::Episode, &ids)?;
        let keys: Vec<_> = episodes.iter().map(|(_, e)| self.w.episode_key(e)).collect::<Result<_, _>>()?;
        let known = self.w.episodes_with_keys(&keys)?;
        let wanted: Vec<i64> = episodes.iter().map(|(wanted, _)| *wanted).collect();
        let mut numbers = self.w.numbers(PurgedKind::Episode, &wanted)?;
        let mut keyed = Vec::with_capacity(episodes.len());
        let (mut new_ids, mut new_keys) = (HashSet::new(), HashSet::new());
        for ((wanted, episode), key) in episodes.iter().zip(keys) {
            let id = episode.id.as_str();
            let repeated = new_ids.contains(id) || new_keys.contains(&key);
            if repeated || here.ids.contains(id) || known.contains_key(&key) {
                self.loaded.known += 1;
            } else if here.purged.contains(id) {
                self.loaded.refused_purged += 1;
            } else {
                new_ids.insert(id);
                new_keys.insert(key);
                keyed.push((*wanted, episode, key));
            }
        }
        if keyed.is_empty() {
            return Ok(());
        }
        // Those whose number is free come first, so that nobody else is given it.
        keyed.sort_by_key(|(wanted, ..)| numbers.is_taken(*wanted));
        let target = format!("episodes:{}", episodes.len());
        let row = NewAudit {
            layer: Some(Layer::P2),
            ..NewAudit::new(&self.actors.gateway, self.call.face, LOAD, &target)
        };
        let seq = self.w.record(&row.storing(keyed.iter().map(|(_, e, _)| e.digest()).collect()))?;
        for (wanted, ..) in &mut keyed {
            let number = numbers.give(*wanted);
            self.loaded.renumbered += usize::from(number != *wanted);
            *wanted = number;
        }
        self.loaded.episodes += keyed.len();
        self.w.load_episodes(&keyed, seq)
    }

    /// Links the digests that came in to what they were made of, as far as that is here.
    fn digests(&mut self, memories: &[IncomingMemory]) -> Result<(), StoreError> {
        let distils: HashMap<&str, &[(String, bool)]> =
            memories.iter().map(|m| (m.new.id.as_str(), m.distils.as_slice())).collect();
        for (id, number, seq) in &self.linked {
            let mut links = Vec::new();
            for (source, quoted) in distils.get(id.as_str()).copied().unwrap_or_default() {
                let found = match self.w.episode(source)? {
                    Some(episode) => Some((RawKind::Episode, episode.number)),
                    None => self.w.memory(source)?.map(|memory| (RawKind::Memory, memory.number)),
                };
                links.extend(found.map(|(kind, source)| DigestLink { kind, source, quoted: *quoted }));
            }
            self.w.link_digest(*number, &links, *seq)?;
        }
        Ok(())
    }

    /// Relates the memories that came in to those that they stand to, as far as these are here.
    fn memory_relations(&mut self, memories: &[IncomingMemory]) -> Result<(), StoreError> {
        let known: HashMap<&str, &IncomingMemory> =
            memories.iter().map(|memory| (memory.new.id.as_str(), memory)).collect();
        for (id, number, seq) in std::mem::take(&mut self.linked) {
            let mut found = Vec::new();
            for (relation, target, at) in known.get(id.as_str()).into_iter().flat_map(|m| &m.relations) {
                let target = self.w.memory(target)?.map(|memory| memory.number);
                let of = |target| MemoryRelation { source: number, relation: *relation, target, at: *at };
                found.extend(target.filter(|target| *target != number).map(of));
            }
            self.w.relate_memories(&found, seq)?;
        }
        Ok(())
    }

    fn reviews(&mut self, reviews: &[(NewReview, ReviewDecision)]) -> Result<(), StoreError> {
        for (asked, decision) in reviews {
            if self.w.review(asked.id.as_str())?.is_some() {
                self.loaded.known += 1;
                continue;
            }
            let row = NewAudit::new(&self.actors.owner, self.call.face, LOAD, asked.id.as_str());
            let seq = self.w.record(&row.asking(asked))?;
            self.w.load_review(asked, decision, seq)?;
            self.loaded.reviews += 1;
        }
        Ok(())
    }

    /// Entries of the index of knowledge; one that points at the same file here stays.
    fn l0_entries(&mut self, entries: &[NewL0Entry]) -> Result<(), StoreError> {
        for entry in entries {
            let here = self.w.l0_entries([&entry.namespace, &entry.namespace])?;
            if here.iter().any(|known| known.path == entry.path) {
                self.loaded.known += 1;
                continue;
            }
            let row = NewAudit {
                layer: Some(Layer::P5),
                after_hash: Some(entry.digest()),
                ..NewAudit::new(&self.actors.owner, self.call.face, LOAD, &entry.path)
            };
            let seq = self.w.record(&row)?;
            self.w.put_l0_entry(entry, seq)?;
            self.loaded.l0_entries += 1;
        }
        Ok(())
    }

    /// Tombstones keep ids and numbers from being given again. One for something that is here says
    /// nothing about it: purging takes a human's decision here, too.
    fn purged(&mut self, purged: &[(PurgedKind, PurgedLine)]) -> Result<(), StoreError> {
        for (kind, line) in purged {
            if self.w.holds(*kind, &line.id)? || self.w.is_purged(&line.id)? {
                self.loaded.known += 1;
                continue;
            }
            let seq = self.w.record(&NewAudit::new(&self.actors.owner, self.call.face, LOAD, &line.id))?;
            let number = self.number(*kind, line.number)?;
            self.w.load_tombstone(*kind, number, &line.id, Timestamp(line.at), seq)?;
            self.loaded.purged += 1;
        }
        Ok(())
    }

    pub(super) fn is_wanted(&mut self, id: &str, known: bool) -> Result<bool, StoreError> {
        if known {
            self.loaded.known += 1;
            return Ok(false);
        }
        if self.w.is_purged(id)? {
            self.loaded.refused_purged += 1;
            return Ok(false);
        }
        Ok(true)
    }

    pub(super) fn is_taken(&self, kind: PurgedKind, wanted: i64) -> Result<bool, StoreError> {
        Ok(self.w.free_number(kind, wanted)? != wanted)
    }

    pub(super) fn number(&mut self, kind: PurgedKind, wanted: i64) -> Result<i64, StoreError> {
        let number = self.w.free_number(kind, wanted)?;
        self.loaded.renumbered += usize::from(number != wanted);
        Ok(number)
    }
}

/// What was recorded for each of a list, in the order of the list.
fn in_order(mut recorded: Vec<(usize, Seq)>) -> Vec<Seq> {
    recorded.sort_unstable();
    recorded.into_iter().map(|(_, seq)| seq).collect()
}
