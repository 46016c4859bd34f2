//! The changes of one transaction: looked up, numbered and written many at a time.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, btree_map::Entry},
    hash::{BuildHasher, RandomState},
};

use crate::{
    error::StoreError,
    params,
    rows::{LIST, Rows, listed, padded},
    sql::{Param, Transaction},
};

use super::{
    Collection,
    attributes::{Attributes, BLOCK, encode},
    labels::{LabelNumbers, Space},
    passage::{Part, Passages, Prepared, WordNumbers},
    truth::{CollectionKey, Mark, Section, Source, SourceKind},
    unchanged::{self, Known},
    vector_set::{self, VectorSet},
    writer::{CollectionRow, LIVE, collection_row, next_id, read_ends, write_ends},
};

/// Changes whose living passages are looked up at a time.
const AHEAD: usize = 64;

/// The changes of one transaction. New rows are gathered and written at its end, many to a statement.
pub(crate) struct Slice<'s, 't, 'b> {
    tx: &'s Transaction<'t>,
    tenant: &'s str,
    labels: &'s mut LabelNumbers,
    batch: &'b [Prepared],
    keys: HashMap<CollectionKey, i64>,
    rows: BTreeMap<i64, CollectionRow>,
    /// Collections that a reader will see changed.
    touched: BTreeSet<i64>,
    /// The living passages of every source that was looked up, as they are now.
    living: HashMap<Source, Vec<Place>>,
    /// By collection and slot.
    fresh: BTreeMap<(i64, u32), Fresh<'b>>,
    ends: BTreeMap<(i64, u32), BTreeMap<u32, i64>>,
    /// Slots of written passages that end, by collection and the sequence of their end.
    killed: BTreeMap<(i64, i64), Vec<u32>>,
    sets: HashMap<String, VectorSet>,
}

/// A live passage of a source.
#[derive(Debug, Clone, Copy)]
struct Place {
    collection: i64,
    slot: u32,
    from_seq: i64,
}

/// Where the passages of a change go, the numbers of their words there, and the set of their vectors.
struct Ground {
    collection: i64,
    words: WordNumbers,
    set: Option<VectorSet>,
}

/// A passage that is not written yet.
struct Fresh<'b> {
    attributes: Attributes,
    to_seq: i64,
    piece: &'b Part,
    set: Option<i64>,
}

/// A number that no other collection has. It keeps things apart and is no secret, so the bits that the standard library
/// draws for its hash maps will do.
pub(crate) fn birth() -> i64 {
    RandomState::new().hash_one(std::process::id()).cast_signed()
}

impl<'s, 't, 'b> Slice<'s, 't, 'b> {
    pub(crate) fn begin(
        tx: &'s Transaction<'t>,
        tenant: &'s str,
        labels: &'s mut LabelNumbers,
        batch: &'b [Prepared],
    ) -> Result<Self, StoreError> {
        let mut slice = Self {
            tx,
            tenant,
            labels,
            batch,
            keys: HashMap::new(),
            rows: BTreeMap::new(),
            touched: BTreeSet::new(),
            living: HashMap::new(),
            fresh: BTreeMap::new(),
            ends: BTreeMap::new(),
            killed: BTreeMap::new(),
            sets: HashMap::new(),
        };
        tx.for_each(
            "SELECT id, revision, slots, folded, birth, namespace, project FROM collections
             WHERE tenant = $1 AND retired = 0",
            params![tenant],
            |row| {
                let found = collection_row(row)?;
                slice.keys.insert(CollectionKey::new(tenant, row.text(5)?, row.text(6)?), found.id);
                slice.rows.insert(found.id, CollectionRow { revision: found.revision + 1, ..found });
                Ok(())
            },
        )?;
        Ok(slice)
    }

    fn of(&self, collection: i64) -> Collection<'s> {
        Collection { tenant: self.tenant, id: collection }
    }

    /// Whether every tail is short enough for another change before a fold.
    pub(crate) fn tail_has_room(&self) -> bool {
        self.rows.values().all(|row| row.slots - row.folded < BLOCK)
    }

    /// The collections whose tails are long enough for a fold.
    pub(crate) fn due(&self) -> Vec<i64> {
        self.rows.values().filter(|row| row.slots - row.folded >= BLOCK).map(|row| row.id).collect()
    }

    /// Makes the change at `at` in the batch. Parts of a document that stay as they are keep their passages.
    pub(crate) fn change(&mut self, at: usize) -> Result<(), StoreError> {
        let change = &self.batch[at];
        let live = self.live(at)?;
        let parts = change.passages.as_ref().map_or(0, |passages| passages.parts.len());
        // Every change that leaves a source passages writes at least one of them.
        let applied = live.len() == parts && live.iter().any(|place| place.from_seq == change.mark.seq);
        if applied && parts > 0 {
            return Ok(());
        }
        let added = match &change.passages {
            Some(passages) => Some((passages, self.ground(passages)?)),
            None => None,
        };
        let kept = match &added {
            Some((passages, ground)) => self.kept(change, passages, ground, &live)?,
            None => BTreeMap::new(),
        };
        let staying: HashSet<u32> = kept.values().copied().collect();
        let stays = |place: &&Place| staying.contains(&place.slot);
        let (stay, end): (Vec<&Place>, Vec<&Place>) = live.iter().partition(stays);
        for place in end {
            self.kill(place, change.mark.seq)?;
            if change.source.kind == SourceKind::Document {
                self.drop_text(place)?;
            }
        }
        self.living.insert(change.source, stay.into_iter().copied().collect());
        added.map_or(Ok(()), |(passages, ground)| self.add(change, passages, &ground, &kept))
    }

    /// The slots, by part, of those of `live` that say what a part of `passages` says.
    fn kept(
        &self,
        change: &Prepared,
        passages: &Passages,
        ground: &Ground,
        live: &[Place],
    ) -> Result<BTreeMap<u32, u32>, StoreError> {
        let collection = ground.collection;
        let is_written = |place: &Place| {
            place.collection == collection && !self.fresh.contains_key(&(collection, place.slot))
        };
        let Some(row) = self.rows.get(&collection).filter(|_| live.iter().all(is_written)) else {
            return Ok(BTreeMap::new());
        };
        let slots: Vec<(u32, i64)> = live.iter().map(|place| (place.slot, place.from_seq)).collect();
        let known = Known { of: self.of(collection), folded: row.folded, set: ground.set.as_ref() };
        unchanged::parts(self.tx, &known, &slots, change, passages, ground.words)
    }

    /// The living passages of the source that changes at `at`.
    fn live(&mut self, at: usize) -> Result<Vec<Place>, StoreError> {
        let source = self.batch[at].source;
        if !self.living.contains_key(&source) {
            let ahead = &self.batch[at..self.batch.len().min(at + AHEAD)];
            let mut numbers: BTreeMap<u8, BTreeSet<i64>> = BTreeMap::new();
            for Source { kind, number } in ahead.iter().map(|change| change.source) {
                if !self.living.contains_key(&Source { kind, number }) {
                    numbers.entry(kind.code()).or_default().insert(number);
                }
            }
            for (kind, numbers) in numbers {
                self.look_up(kind, &numbers.into_iter().collect::<Vec<_>>())?;
            }
        }
        Ok(self.living.get(&source).cloned().unwrap_or_default())
    }

    fn look_up(&mut self, kind: u8, numbers: &[i64]) -> Result<(), StoreError> {
        let Some(source_kind) = SourceKind::from_code(kind) else { return Ok(()) };
        let mut values = params![self.tenant, u32::from(kind), LIVE].to_vec();
        let list = listed(&mut values, padded(numbers).copied());
        let (rows, living) = (&self.rows, &mut self.living);
        living
            .extend(numbers.iter().map(|number| (Source { kind: source_kind, number: *number }, Vec::new())));
        self.tx.for_each(
            &format!(
                "SELECT collection, slot, from_seq, source FROM passages
                 WHERE tenant = $1 AND source_kind = $2 AND to_seq = $3 AND source IN ({list})"
            ),
            &values,
            |row| {
                let place = Place { collection: row.get(0)?, slot: row.get(1)?, from_seq: row.get(2)? };
                // Those of retired collections are among the rows, too.
                if rows.contains_key(&place.collection) {
                    living.entry(Source { kind: source_kind, number: row.get(3)? }).or_default().push(place);
                }
                Ok(())
            },
        )
    }

    fn kill(&mut self, place: &Place, seq: i64) -> Result<(), StoreError> {
        if let Some(fresh) = self.fresh.get_mut(&(place.collection, place.slot)) {
            fresh.to_seq = seq;
        } else {
            self.killed.entry((place.collection, seq)).or_default().push(place.slot);
        }
        let (of, block) = (self.of(place.collection), place.slot / BLOCK);
        let ends = match self.ends.entry((place.collection, block)) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(read_ends(self.tx, of, block)?.into_iter().collect()),
        };
        ends.insert(place.slot % BLOCK, seq);
        self.touched.insert(place.collection);
        Ok(())
    }

    /// Removes the text of a dead passage whose file is its truth. Versions of the vault's files are kept: those have no place.
    fn drop_text(&self, place: &Place) -> Result<(), StoreError> {
        self.tx.post(
            "DELETE FROM texts WHERE tenant = $1 AND collection = $2 AND slot = $3 AND place <> ''",
            params![self.tenant, place.collection, place.slot],
        )
    }

    /// Where passages go, and what they have in common there.
    fn ground(&mut self, passages: &Passages) -> Result<Ground, StoreError> {
        let collection = self.collection(&passages.collection)?;
        let of = self.of(collection);
        let words = WordNumbers {
            kind: self.labels.number(self.tx, of, Space::Kind, &passages.kind)?,
            branch: self.labels.number(self.tx, of, Space::Branch, &passages.branch)?,
            owner: self.labels.number(self.tx, of, Space::Owner, &passages.owner)?,
            group: self.labels.number(self.tx, of, Space::Group, &passages.group)?,
        };
        Ok(Ground { collection, words, set: self.set(passages)? })
    }

    /// Adds the parts that are not `kept`.
    fn add(
        &mut self,
        change: &'b Prepared,
        passages: &'b Passages,
        ground: &Ground,
        kept: &BTreeMap<u32, u32>,
    ) -> Result<(), StoreError> {
        let (collection, set) = (ground.collection, ground.set.as_ref().map(|set| set.id));
        for (part, piece) in passages.parts.iter().enumerate() {
            if u32::try_from(part).is_ok_and(|part| kept.contains_key(&part)) {
                continue;
            }
            let slot = self.next_slot(collection)?;
            let attributes = change.attributes(passages, part, ground.words);
            self.fresh.insert((collection, slot), Fresh { attributes, to_seq: LIVE, piece, set });
            let place = Place { collection, slot, from_seq: change.mark.seq };
            self.living.entry(change.source).or_default().push(place);
        }
        Ok(())
    }

    fn next_slot(&mut self, collection: i64) -> Result<u32, StoreError> {
        let row = self
            .rows
            .get_mut(&collection)
            .ok_or_else(|| StoreError::Internal(format!("collection {collection} is not at hand")))?;
        let slot = row.slots;
        row.slots = slot
            .checked_add(1)
            .ok_or_else(|| StoreError::Invalid("a collection holds at most 4 294 967 295 passages".into()))?;
        self.touched.insert(collection);
        Ok(slot)
    }

    /// The collection's id; it is made on first use.
    fn collection(&mut self, key: &CollectionKey) -> Result<i64, StoreError> {
        if let Some(id) = self.keys.get(key) {
            return Ok(*id);
        }
        if key.tenant != self.tenant {
            return Err(StoreError::Invalid("a batch belongs to one tenant".into()));
        }
        let (id, birth) = (next_id(self.tx, self.tenant)?, birth());
        self.tx.post(
            "INSERT INTO collections (tenant, id, namespace, project, birth) VALUES ($1, $2, $3, $4, $5)",
            params![self.tenant, id, &key.namespace, &key.project, birth],
        )?;
        self.keys.insert(key.clone(), id);
        self.rows.insert(id, CollectionRow { id, revision: 1, slots: 0, folded: 0, birth });
        Ok(id)
    }

    fn set(&mut self, passages: &Passages) -> Result<Option<VectorSet>, StoreError> {
        let Some(model) = &passages.model else { return Ok(None) };
        if let Some(set) = self.sets.get(model) {
            return Ok(Some(set.clone()));
        }
        let vectors = passages.parts.iter().filter_map(|part| part.vector.as_ref());
        let Some(dimension) = vectors.map(|vector| vector.values.len()).find(|dimension| *dimension > 0)
        else {
            return vector_set::find(self.tx, self.tenant, model);
        };
        let set = vector_set::find_or_add(self.tx, self.tenant, model, dimension)?;
        self.sets.insert(model.clone(), set.clone());
        Ok(Some(set))
    }

    /// Writes what was gathered, and where the stream was left: `hash` is the audit's there, or empty where that
    /// does not matter.
    pub(crate) fn finish(self, mark: Mark, hash: &[u8]) -> Result<(), StoreError> {
        self.write_fresh()?;
        self.write_killed()?;
        for ((collection, block), ends) in &self.ends {
            write_ends(self.tx, self.of(*collection), *block, self.rows[collection].revision, ends)?;
        }
        for row in self.touched.iter().map(|collection| self.rows[collection]) {
            self.tx.post(
                "UPDATE collections SET slots = $3, revision = $4 WHERE tenant = $1 AND id = $2",
                params![self.tenant, row.id, row.slots, row.revision],
            )?;
        }
        self.tx.post(
            "INSERT INTO tenants (tenant, epoch, seq, ordinal, hash) VALUES ($1, '', $2, $3, $4)
             ON CONFLICT (tenant) DO UPDATE SET seq = excluded.seq, ordinal = excluded.ordinal,
                 hash = excluded.hash",
            params![self.tenant, mark.seq, mark.ordinal, hash],
        )?;
        Ok(())
    }

    fn write_killed(&self) -> Result<(), StoreError> {
        for ((collection, seq), slots) in &self.killed {
            for slots in slots.chunks(LIST) {
                let mut values = params![self.tenant, *collection, *seq].to_vec();
                let list = listed(&mut values, padded(slots).copied());
                self.tx.post(
                    &format!(
                        "UPDATE passages SET to_seq = $3 WHERE tenant = $1 AND collection = $2 AND slot IN ({list})"
                    ),
                    &values,
                )?;
            }
        }
        Ok(())
    }

    fn write_fresh(&self) -> Result<(), StoreError> {
        const PASSAGES: Rows = Rows::new(
            "INSERT INTO passages (tenant, collection, slot, source_kind, source, part, from_seq, to_seq)",
            8,
        );
        const TAILS: Rows = Rows::new("INSERT INTO tails (tenant, collection, slot, attributes, terms)", 5);
        const TEXTS: Rows = Rows::new("INSERT INTO texts (tenant, collection, slot, title, body, place)", 6);
        let (mut passages, mut tails, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        let mut vectors: BTreeMap<i64, Vec<(i64, u32, Vec<u8>)>> = BTreeMap::new();
        let packed: Vec<_> = self.fresh.values().map(|fresh| encode(&[fresh.attributes])).collect();
        for (((collection, slot), fresh), packed) in self.fresh.iter().zip(&packed) {
            let place: [Param<'_>; 3] = [self.tenant.into(), (*collection).into(), (*slot).into()];
            let Attributes { source_kind, source, part, from_seq, .. } = fresh.attributes;
            passages.extend(place);
            passages.extend_from_slice(params![u32::from(source_kind), source, part, from_seq, fresh.to_seq]);
            tails.extend(place);
            tails.extend_from_slice(params![packed, &fresh.piece.terms]);
            let is_kept = |text: &&Section| fresh.to_seq == LIVE || text.place.is_empty();
            if let Some(text) = fresh.piece.text.as_ref().filter(is_kept) {
                texts.extend(place);
                texts.extend_from_slice(params![&text.title, &text.body, &text.place]);
            }
            if let (Some(set), Some(vector)) = (fresh.set, &fresh.piece.vector) {
                vectors.entry(*collection).or_default().push((set, *slot, vector_set::pack_tail(vector)));
            }
        }
        PASSAGES.write(self.tx, &passages)?;
        TAILS.write(self.tx, &tails)?;
        TEXTS.write(self.tx, &texts)?;
        for (collection, vectors) in vectors {
            vector_set::put_tail(self.tx, self.of(collection), &vectors)?;
        }
        Ok(())
    }
}
