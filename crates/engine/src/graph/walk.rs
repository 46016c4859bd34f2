//! Walking along relations, and what answers show of a walk.

use std::{cell::Cell, collections::HashSet};

use serde::Serialize;
use strata_core::{graph::Direction, scope::Scope, time::Timestamp};
use strata_store::{
    error::StoreError,
    ledger::{Edge, LedgerRead, LinkedMemory},
};

use super::naming::Shown;
use crate::render::{Document, Mark, counted, headline};

/// Most rows that one list of an answer shows.
pub(super) const MAX_ROWS: usize = 200;
/// Most relations that one answer reads.
const MAX_STEPS: usize = 20_000;
/// Most relations that are followed from one entity in one direction.
const MAX_DEGREE: usize = 1_000;
/// Entities whose relations are counted before they are read.
const AT_ONCE: usize = 200;
/// Characters of an answer's lists together, as indented JSON. What a client of the protocol is sent ends at 32 000.
const ROOM: usize = 28_000;
/// Characters of an entity beside its lists.
const HEAD: usize = 360;
/// Characters by which a line of a row is indented.
const INDENTED: usize = 10;
/// Memories shown with an entity.
const MAX_MEMORIES: usize = 5;
/// Entities shown as mentioned together with one.
const MAX_TOGETHER: usize = 10;
/// Characters shown of a memory.
const FIRST_WORDS: usize = 120;

/// A step of a walk as answers show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The relation.
    pub rel_id: String,
    /// Its type.
    pub relation: String,
    /// The entity it leads to.
    pub entity_id: String,
    /// What that is called.
    pub label: String,
    /// What that is.
    pub entity_type: String,
    /// How many steps away it is.
    pub level: u32,
}

/// A step of a walk.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// How many steps away its far end is.
    pub level: u32,
    /// The relation.
    pub edge: Edge,
}

impl From<&Step> for Row {
    fn from(step: &Step) -> Self {
        Self {
            rel_id: step.edge.id.clone(),
            relation: step.edge.relation.clone(),
            entity_id: step.edge.far_id.clone(),
            label: step.edge.far_label.clone(),
            entity_type: step.edge.far_kind.clone(),
            level: step.level,
        }
    }
}

/// The relations that one answer reads, up to [`MAX_STEPS`] in all and [`MAX_DEGREE`] of an entity each way: the oldest.
pub(super) struct Steps<'r, 't> {
    read: &'r LedgerRead<'t>,
    scope: &'r Scope,
    left: Cell<usize>,
    cut: Cell<usize>,
}

impl<'r, 't> Steps<'r, 't> {
    /// For one answer to a reader in `scope`.
    pub(super) fn new(read: &'r LedgerRead<'t>, scope: &'r Scope) -> Self {
        Self { read, scope, left: Cell::new(MAX_STEPS), cut: Cell::new(0) }
    }

    /// The steps from any of `nodes` in one direction, by age; no types are all types.
    pub(super) fn edges(
        &self,
        nodes: &[i64],
        direction: Direction,
        types: &[&str],
    ) -> Result<Vec<Edge>, StoreError> {
        let mut edges = Vec::new();
        let mut rest = nodes;
        while !rest.is_empty() {
            if self.left.get() == 0 {
                self.cut.set(self.cut.get() + rest.len());
                break;
            }
            let (some, others) = rest.split_at(rest.len().min(AT_ONCE));
            rest = others;
            let mut found = self.some_edges(some, direction, types)?;
            edges.append(&mut found);
        }
        edges.sort_unstable_by_key(|edge| edge.number);
        Ok(edges)
    }

    fn some_edges(
        &self,
        nodes: &[i64],
        direction: Direction,
        types: &[&str],
    ) -> Result<Vec<Edge>, StoreError> {
        let (mut edges, mut few, mut waiting) = (Vec::new(), Vec::new(), 0);
        for (node, degree) in self.read.degrees(nodes, direction, types, MAX_DEGREE + 1)? {
            let room = self.left.get().saturating_sub(waiting).min(MAX_DEGREE);
            if degree <= room {
                waiting += degree;
                few.extend((degree > 0).then_some(node));
                continue;
            }
            if room == 0 {
                self.cut.set(self.cut.get() + 1);
                continue;
            }
            let first = self.read.first_edges(node, direction, types, self.scope, room)?;
            self.took(&first);
            // The reader may see fewer of them than there are.
            self.cut.set(self.cut.get() + usize::from(first.len() == room));
            edges.extend(first);
        }
        let theirs = self.read.edges(&few, direction, types, self.scope)?;
        self.took(&theirs);
        edges.extend(theirs);
        Ok(edges)
    }

    fn took(&self, edges: &[Edge]) {
        self.left.set(self.left.get().saturating_sub(edges.len()));
    }

    /// Where the reader stands.
    pub(super) const fn scope(&self) -> &'r Scope {
        self.scope
    }

    /// How many entities had more relations than were read, since this was last asked.
    pub(super) fn take_cut(&self) -> usize {
        self.cut.take()
    }
}

/// Tells the reader of entities whose relations were not all followed.
pub(super) fn note_cut(document: Document, cut: usize) -> Document {
    if cut == 0 {
        return document;
    }
    let text = format!(
        "not all relations of {} were followed: at most {MAX_DEGREE} of one each way, and {MAX_STEPS} in an answer",
        counted(cut, "entity")
    );
    document.note(Mark::Info, text)
}

/// Every relation that is reached from `start` in at most `depth` steps, once, by level and age. An entity is
/// left once, at its smallest level, so that circles end.
pub(super) fn walk(
    reader: &Steps<'_, '_>,
    start: i64,
    direction: Direction,
    depth: u32,
    types: &[&str],
) -> Result<Vec<Step>, StoreError> {
    let mut steps = Vec::new();
    let mut seen = HashSet::from([start]);
    let mut frontier = vec![start];
    for level in 1..=depth {
        let mut next = Vec::new();
        for edge in reader.edges(&frontier, direction, types)? {
            if seen.insert(edge.far) {
                next.push(edge.far);
            }
            steps.push(Step { level, edge });
        }
        if next.is_empty() {
            break;
        }
        frontier = next;
    }
    Ok(steps)
}

/// The rows of a walk, those with equal `same` once, and how many did not fit.
pub(super) fn rows<K: Eq + std::hash::Hash>(steps: &[Step], same: impl Fn(&Step) -> K) -> (Vec<Row>, usize) {
    let mut seen = HashSet::new();
    let mut rows: Vec<Row> = steps.iter().filter(|step| seen.insert(same(step))).map(Row::from).collect();
    let more = rows.len().saturating_sub(MAX_ROWS);
    rows.truncate(MAX_ROWS);
    (rows, more)
}

/// The room that an answer has for lists, shared out to its entities. What one does not need goes to those after it.
pub(super) struct Room {
    left: usize,
    entities: usize,
}

impl Room {
    /// For an answer about so many entities.
    pub(super) const fn new(entities: usize) -> Self {
        Self { left: ROOM.saturating_sub(HEAD * entities), entities }
    }

    /// Lets `fill` use the share of the next entity; it takes off what it used.
    pub(super) fn share<T>(&mut self, fill: impl FnOnce(&mut usize) -> T) -> T {
        let share = self.left / self.entities.max(1);
        self.entities = self.entities.saturating_sub(1);
        let mut unused = share;
        let filled = fill(&mut unused);
        self.left -= share - unused.min(share);
        filled
    }
}

/// The rows that fit into `room`, from the first, and how many did not.
pub(super) fn fit<T: Serialize>(mut rows: Vec<T>, room: &mut usize) -> (Vec<T>, usize) {
    let fits = |row: &&T| {
        let text = serde_json::to_string_pretty(row).unwrap_or_default();
        let cost = text.chars().count() + INDENTED * text.lines().count();
        let fits = cost <= *room;
        *room = if fits { *room - cost } else { 0 };
        fits
    };
    let count = rows.iter().take_while(fits).count();
    let more = rows.len() - count;
    rows.truncate(count);
    (rows, more)
}

/// Two lists in one room: neither takes more than half unless the other leaves it.
pub(super) fn fit_both<T: Serialize>(
    one: Vec<T>,
    other: Vec<T>,
    room: &mut usize,
) -> (Vec<T>, Vec<T>, usize) {
    let mut half = *room / 2;
    let rest = *room - half;
    let (kept, more) = fit(one, &mut half);
    *room = rest + half;
    let (others, left) = fit(other, room);
    (kept, others, more + left)
}

/// A memory as the graph shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Linked {
    /// Its id.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// Its layer.
    pub layer: String,
    /// Its title, or its first words.
    pub text: String,
    /// `stated` when somebody linked it, `inferred` when the name was noticed in it.
    pub link: &'static str,
}

impl From<LinkedMemory> for Linked {
    fn from(memory: LinkedMemory) -> Self {
        Self {
            text: headline(&memory.title, &memory.body, FIRST_WORDS),
            id: memory.id,
            number: memory.number,
            layer: memory.layer,
            link: memory.origin.as_str(),
        }
    }
}

/// The memories in force that speak of an entity.
pub(super) fn memories(
    read: &LedgerRead<'_>,
    entity: i64,
    scope: &Scope,
    now: Timestamp,
) -> Result<Vec<Linked>, StoreError> {
    let found = read.memories_mentioning(entity, scope, now, MAX_MEMORIES)?;
    Ok(found.into_iter().map(Linked::from).collect())
}

/// An entity that memories mention together with another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Together {
    /// Always `mentioned_with`: nobody stated how the two are related.
    pub relation: &'static str,
    /// The entity.
    #[serde(flatten)]
    pub entity: Shown,
    /// How many memories in force mention both.
    pub count: usize,
}

/// The entities mentioned together with one, most often first.
pub(super) fn together(
    read: &LedgerRead<'_>,
    entity: i64,
    scope: &Scope,
    now: Timestamp,
) -> Result<Vec<Together>, StoreError> {
    let found = read.mentioned_with(entity, scope, now, MAX_TOGETHER)?;
    let shown = |(row, count)| Together { relation: "mentioned_with", entity: Shown::from(&row), count };
    Ok(found.into_iter().map(shown).collect())
}
