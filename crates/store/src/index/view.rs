//! A collection as a process sees it: everything a search needs except the postings of folded passages.
//!
//! A view is loaded from the packed blocks and kept up to date by reading only what is new: the slots
//! beyond the last one it knows, and the ends of blocks whose revision is later than its own.

use std::{collections::HashMap, sync::Arc};

use strata_core::{rank::Columns, vector};

use crate::{error::StoreError, params, sql::Transaction};

use super::{
    Collection,
    attributes::{Attributes, BLOCK, NEVER, decode, decode_ends},
    bits::Bits,
    columns::LiveColumns,
    damaged,
    labels::Space,
    merge::published,
    merge_policy::Segment,
    postings::{Posting, for_each_term},
    truth::Section,
    vector_block::VectorBlock,
    vector_set::{VectorSet, tail_vector},
    writer::{CollectionRow, LIVE},
};

/// See the module.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    tenant: String,
    collection: i64,
    birth: i64,
    pub(crate) revision: i64,
    folded: u32,
    pub(crate) segments: Vec<Segment>,
    pub(crate) rows: Vec<Attributes>,
    ends: Vec<i64>,
    pub(crate) alive: Bits,
    live: LiveColumns,
    words: HashMap<Space, Vec<String>>,
    pub(crate) tail: HashMap<Box<str>, Vec<Posting>>,
    /// Texts of slots that are not indexed yet.
    pub(crate) texts: HashMap<u32, Section>,
    vectors: Option<Vectors>,
}

/// The vectors of one set, block by block.
#[derive(Debug, Clone)]
struct Vectors {
    set: VectorSet,
    revision: i64,
    blocks: Vec<Arc<VectorBlock>>,
}

/// How far a reader has got with a set of slots at a sequence.
pub(crate) enum Seen<'v> {
    /// The present, kept ready.
    Now(&'v View),
    /// The past, made for one read.
    Then(Box<(LiveColumns, Bits)>),
}

impl Seen<'_> {
    pub(crate) fn columns(&self) -> &Columns {
        match self {
            Self::Now(view) => &view.live.columns,
            Self::Then(past) => &past.0.columns,
        }
    }

    pub(crate) fn alive(&self) -> &Bits {
        match self {
            Self::Now(view) => &view.alive,
            Self::Then(past) => &past.1,
        }
    }
}

impl View {
    pub(crate) fn empty(tenant: &str, collection: i64, birth: i64) -> Self {
        let mut view = Self { tenant: tenant.to_owned(), collection, birth, revision: -1, ..Self::default() };
        view.live.link(&[]);
        view
    }

    /// Whether it is a view of the collection with this id and birth: the id alone may be given again in an index that
    /// was taken away and made anew.
    pub(crate) fn is_of(&self, collection: i64, birth: i64) -> bool {
        self.collection == collection && self.birth == birth
    }

    /// Which collection it is a view of.
    pub(crate) fn collection(&self) -> Collection<'_> {
        Collection { tenant: &self.tenant, id: self.collection }
    }

    /// The passages as they were seen at `as_of`, or as they are seen now.
    pub(crate) fn seen(&self, as_of: Option<i64>) -> Seen<'_> {
        let Some(seq) = as_of else { return Seen::Now(self) };
        let alive = |slot: usize| self.rows[slot].from_seq <= seq && seq < self.ends[slot];
        let columns = LiveColumns::of(&self.rows, alive);
        Seen::Then(Box::new((columns, Bits::of(self.rows.len(), alive))))
    }

    /// The word of a label; `""` for 0 and for what is not known.
    pub(crate) fn word(&self, space: Space, number: u32) -> &str {
        let at = (number as usize).checked_sub(1);
        at.and_then(|at| self.words.get(&space)?.get(at)).map_or("", String::as_str)
    }

    /// The words of a space; their numbers are one more than their places.
    pub(crate) fn words(&self, space: Space) -> &[String] {
        self.words.get(&space).map_or(&[], Vec::as_slice)
    }

    /// The number of `word`, given now if it has none; for views of rows that are not indexed yet.
    pub(crate) fn number_or_add(&mut self, space: Space, word: &str) -> u32 {
        if word.is_empty() {
            return 0;
        }
        let words = self.words.entry(space).or_default();
        let at = words.iter().position(|known| known == word).unwrap_or_else(|| {
            words.push(word.to_owned());
            words.len() - 1
        });
        u32::try_from(at + 1).unwrap_or(u32::MAX)
    }

    /// Groups that have or had a member.
    pub(crate) fn group_count(&self) -> u32 {
        self.rows.iter().map(|row| row.group).max().unwrap_or(0)
    }

    /// Brings the view to the state that `tx` sees.
    pub(crate) fn update(&mut self, tx: &Transaction<'_>, row: CollectionRow) -> Result<(), StoreError> {
        if self.revision == row.revision {
            return Ok(());
        }
        self.read_words(tx)?;
        self.read_blocks(tx, row)?;
        self.read_tail(tx, row)?;
        self.read_ends(tx)?;
        self.segments = published(tx, self.collection())?;
        self.live.link(&self.rows);
        self.folded = row.folded;
        self.revision = row.revision;
        Ok(())
    }

    /// Appends a slot and its terms, as the tail.
    pub(crate) fn push_tail(&mut self, attributes: Attributes, terms: &[u8]) -> Result<u32, StoreError> {
        let slot = self.push(attributes)?;
        self.push_terms(slot, terms)?;
        Ok(slot)
    }

    /// Marks a slot as dead from `end` on.
    pub(crate) fn kill(&mut self, slot: u32, end: i64) {
        let Some(known) = self.ends.get_mut(slot as usize) else { return };
        *known = end;
        if self.alive.contains(slot) {
            self.alive.remove(slot);
            self.live.kill(slot);
        }
    }

    /// Makes changes by [`View::push_tail`] and [`View::kill`] ready to be read.
    pub(crate) fn link(&mut self) {
        self.live.link(&self.rows);
    }

    fn push(&mut self, attributes: Attributes) -> Result<u32, StoreError> {
        let slot = u32::try_from(self.rows.len()).map_err(|_| damaged("a collection of too many slots"))?;
        let alive = attributes.from_seq != NEVER;
        self.live.push(&attributes, alive);
        self.alive.push(alive);
        self.ends.push(LIVE);
        self.rows.push(attributes);
        Ok(slot)
    }

    fn push_terms(&mut self, slot: u32, terms: &[u8]) -> Result<(), StoreError> {
        let tail = &mut self.tail;
        for_each_term(terms, |term, count| match tail.get_mut(term) {
            Some(list) => list.push(Posting { slot, count }),
            None => {
                tail.insert(term.into(), vec![Posting { slot, count }]);
            }
        })
        .ok_or_else(|| damaged("a passage's terms"))
    }

    fn read_words(&mut self, tx: &Transaction<'_>) -> Result<(), StoreError> {
        for space in Space::NAMED {
            let words = self.words.entry(space).or_default();
            let known = u32::try_from(words.len()).unwrap_or(u32::MAX);
            tx.for_each(
                "SELECT word FROM labels
                 WHERE tenant = $1 AND collection = $2 AND space = $3 AND number > $4 ORDER BY number",
                params![&self.tenant, self.collection, space.code(), known],
                |row| {
                    words.push(row.get(0)?);
                    Ok(())
                },
            )?;
        }
        Ok(())
    }

    fn read_blocks(&mut self, tx: &Transaction<'_>, row: CollectionRow) -> Result<(), StoreError> {
        let known = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        if known < row.folded {
            let new = row.folded - known;
            let tenant = self.tenant.clone();
            self.rows.reserve_exact(new as usize);
            self.ends.reserve_exact(new as usize);
            tx.for_each(
                "SELECT block, attributes FROM blocks
                 WHERE tenant = $1 AND collection = $2 AND block >= $3 ORDER BY block",
                params![&tenant, self.collection, known / BLOCK],
                |columns| {
                    let block = columns.get::<u32>(0)?;
                    let rows = decode(columns.blob(1)?).ok_or_else(|| damaged("a block of passages"))?;
                    let known_here = self.rows.len().saturating_sub((block * BLOCK) as usize);
                    rows.into_iter().skip(known_here).try_for_each(|one| self.push(one).map(drop))
                },
            )?;
            if self.rows.len() != row.folded as usize {
                return Err(damaged("blocks with a gap"));
            }
        }
        if row.folded > self.folded {
            self.tail.retain(|_, list| {
                list.retain(|posting| posting.slot >= row.folded);
                !list.is_empty()
            });
        }
        Ok(())
    }

    fn read_tail(&mut self, tx: &Transaction<'_>, row: CollectionRow) -> Result<(), StoreError> {
        let known = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        if known == row.slots {
            return Ok(());
        }
        let tenant = self.tenant.clone();
        tx.for_each(
            "SELECT attributes, terms FROM tails WHERE tenant = $1 AND collection = $2 AND slot >= $3 ORDER BY slot",
            params![&tenant, self.collection, known],
            |columns| {
                let one = decode(columns.blob(0)?).and_then(|rows| rows.into_iter().next());
                let one = one.ok_or_else(|| damaged("a passage's attributes"))?;
                self.push_tail(one, columns.blob(1)?).map(drop)
            },
        )?;
        if self.rows.len() == row.slots as usize { Ok(()) } else { Err(damaged("a tail with a gap")) }
    }

    fn read_ends(&mut self, tx: &Transaction<'_>) -> Result<(), StoreError> {
        let mut dead = Vec::new();
        tx.for_each(
            "SELECT block, data FROM ends WHERE tenant = $1 AND collection = $2 AND revision > $3",
            params![&self.tenant, self.collection, self.revision],
            |columns| {
                let first = columns.get::<u32>(0)? * BLOCK;
                let ends = decode_ends(columns.blob(1)?).ok_or_else(|| damaged("the ends of a block"))?;
                dead.extend(ends.into_iter().map(|(offset, end)| (first + offset, end)));
                Ok(())
            },
        )?;
        for (slot, end) in dead {
            self.kill(slot, end);
        }
        Ok(())
    }
}

/// Vectors.
impl View {
    /// Whether the vectors of `set` are at hand for this revision of the view.
    pub(crate) fn has_vectors(&self, set: &VectorSet) -> bool {
        self.vectors.as_ref().is_some_and(|v| v.set.id == set.id && v.revision == self.revision)
    }

    /// Brings the vectors of `set` to the state that `tx` sees. The view itself must be there already.
    pub(crate) fn update_vectors(&mut self, tx: &Transaction<'_>, set: &VectorSet) -> Result<(), StoreError> {
        let same = self.vectors.take().filter(|vectors| vectors.set.id == set.id);
        let mut vectors =
            same.unwrap_or_else(|| Vectors { set: set.clone(), revision: -1, blocks: Vec::new() });
        vectors.read_blocks(tx, self.collection(), self.folded)?;
        vectors.read_tail(tx, self)?;
        vectors.revision = self.revision;
        self.vectors = Some(vectors);
        Ok(())
    }

    /// Adds the vector of a slot that is not indexed yet, if `model` is the one that is searched.
    pub(crate) fn push_vector(
        &mut self,
        slot: u32,
        model: Option<&str>,
        vector: Option<&super::PackedVector>,
    ) {
        if let Some(vectors) = &mut self.vectors {
            vectors.reach(slot + 1);
            if let Some(vector) = vector.filter(|_| model == Some(vectors.set.model.as_str())) {
                vectors.set(slot, vector);
            }
        }
    }

    /// Cosine of `query` with each slot's vector; NaN where there is none or the slot is not `alive`.
    pub(crate) fn cosines(&self, query: &[f32], alive: &Bits) -> Result<Option<Vec<f32>>, StoreError> {
        let Some(vectors) = &self.vectors else { return Ok(None) };
        let (query, scale) = vector::quantize(query);
        let mut cosines = Vec::with_capacity(self.rows.len());
        let mut dots = Vec::new();
        for block in &vectors.blocks {
            vector::scan(&query, &block.values, block.dimension, &mut dots)
                .map_err(|mismatch| StoreError::Invalid(mismatch.to_string()))?;
            for (dot, own) in dots.iter().zip(&block.scales) {
                let slot = u32::try_from(cosines.len()).unwrap_or(u32::MAX);
                let has = *own > 0.0 && alive.contains(slot);
                cosines.push(if has { vector::cosine(*dot, scale, *own) } else { f32::NAN });
            }
        }
        cosines.resize(self.rows.len(), f32::NAN);
        Ok(Some(cosines))
    }
}

impl Vectors {
    /// Slots covered so far.
    fn slots(&self) -> u32 {
        let before = self.blocks.len().saturating_sub(1) * BLOCK as usize;
        let last = self.blocks.last().map_or(0, |block| block.slots());
        u32::try_from(before + last).unwrap_or(u32::MAX)
    }

    /// Adds missing slots up to `slots`.
    fn reach(&mut self, slots: u32) {
        for slot in self.slots()..slots {
            if slot % BLOCK == 0 {
                self.blocks.push(Arc::new(VectorBlock::missing(self.set.dimension, 0)));
            }
            if let Some(last) = self.blocks.last_mut() {
                Arc::make_mut(last).push(None);
            }
        }
    }

    fn set(&mut self, slot: u32, vector: &super::PackedVector) {
        if let Some(block) = self.blocks.get_mut((slot / BLOCK) as usize) {
            let block = Arc::make_mut(block);
            if ((slot % BLOCK) as usize) < block.slots() {
                block.set((slot % BLOCK) as usize, vector);
            }
        }
    }

    fn read_blocks(
        &mut self,
        tx: &Transaction<'_>,
        of: Collection<'_>,
        folded: u32,
    ) -> Result<(), StoreError> {
        let complete = self.slots() / BLOCK;
        let (set, dimension) = (self.set.id, self.set.dimension);
        let mut read = Vec::new();
        tx.for_each(
            "SELECT block, data FROM vector_blocks
             WHERE tenant = $1 AND collection = $2 AND vector_set = $3 AND (block >= $4 OR revision > $5)
             ORDER BY block",
            params![of.tenant, of.id, set, complete, self.revision],
            |row| {
                let block = VectorBlock::decode(row.blob(1)?, dimension);
                read.push((row.get::<usize>(0)?, block.ok_or_else(|| damaged("a vector block"))?));
                Ok(())
            },
        )?;
        self.blocks.truncate(complete as usize);
        let wanted = (folded / BLOCK).max(complete) as usize;
        let missing = Arc::new(VectorBlock::missing(dimension, BLOCK as usize));
        self.blocks.resize(wanted, missing);
        for (at, block) in read {
            if let Some(place) = self.blocks.get_mut(at).filter(|_| block.slots() == BLOCK as usize) {
                *place = Arc::new(block);
            }
        }
        Ok(())
    }

    fn read_tail(&mut self, tx: &Transaction<'_>, view: &View) -> Result<(), StoreError> {
        self.reach(u32::try_from(view.rows.len()).unwrap_or(u32::MAX));
        let mut read = Vec::new();
        tx.for_each(
            "SELECT slot, data FROM tail_vectors
             WHERE tenant = $1 AND collection = $2 AND vector_set = $3 AND slot >= $4",
            params![&view.tenant, view.collection, self.set.id, view.folded],
            |row| {
                read.push((row.get::<u32>(0)?, tail_vector(row, 1)?));
                Ok(())
            },
        )?;
        read.iter().for_each(|(slot, vector)| self.set(*slot, vector));
        Ok(())
    }
}
