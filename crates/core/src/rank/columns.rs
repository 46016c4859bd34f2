//! The columns of a collection: what scoring reads per passage, as a struct of arrays.

use crate::analysis::{Fingerprint, Passage};

/// Marks "no group", "no owner", "no neighbour".
pub const NONE: u32 = u32::MAX;

/// Marks "no time".
pub const NO_TIME: i64 = i64::MIN;

/// What a passage is, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// It names a time.
    pub const TIME_EXPRESSION: u8 = 1;
    /// It ends in a question mark.
    pub const QUESTION: u8 = 1 << 1;
    /// It is source code.
    pub const CODE: u8 = 1 << 2;
    /// It is a turn of a conversation.
    pub const TURN: u8 = 1 << 3;
    /// Most of its letters are Han, kana or hangul.
    pub const CJK: u8 = 1 << 4;

    /// Whether any of `bits` is set.
    pub const fn has(self, bits: u8) -> bool {
        self.0 & bits != 0
    }

    /// The bits that follow from the text, with `kind` (CODE, TURN) added.
    pub fn of(passage: &Passage, kind: u8) -> Self {
        let bit = |set: bool, bit: u8| if set { bit } else { 0 };
        Self(
            kind | bit(passage.has_time_expression, Self::TIME_EXPRESSION)
                | bit(passage.is_question, Self::QUESTION)
                | bit(passage.is_mostly_cjk(), Self::CJK),
        )
    }
}

/// One passage as a row, for building columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Content words ([`Passage::length`]).
    pub length: u32,
    /// Group number, or [`NONE`].
    pub group: u32,
    /// Whether it follows the row before it in the same group.
    pub follows: bool,
    /// Owner number, or [`NONE`].
    pub owner: u32,
    /// Microseconds UTC, or [`NO_TIME`].
    pub at: i64,
    /// What it is.
    pub flags: Flags,
    /// 0 for P0 to 6 for P6.
    pub layer: u8,
    /// Confidence in units of 1/200: 200 is certain.
    pub confidence: u8,
    /// Importance in units of 1/200.
    pub importance: u8,
    /// The class of source that results are spread over.
    pub source: u8,
    /// Parts equals: unique among all passages that can meet in one query, and the same however the index
    /// was built.
    pub stable: u64,
    /// For collapsing near-duplicates.
    pub fingerprint: Fingerprint,
}

/// The columns of one collection; slots are dense numbers from 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Columns {
    /// Content words.
    pub length: Vec<u32>,
    /// Group number, or [`NONE`].
    pub group: Vec<u32>,
    /// Slot before it in its group where order exists, or [`NONE`].
    pub previous: Vec<u32>,
    /// Slot after it in its group where order exists, or [`NONE`].
    pub next: Vec<u32>,
    /// Owner number, or [`NONE`].
    pub owner: Vec<u32>,
    /// Microseconds UTC, or [`NO_TIME`].
    pub at: Vec<i64>,
    /// What it is.
    pub flags: Vec<Flags>,
    /// 0 for P0 to 6 for P6.
    pub layer: Vec<u8>,
    /// Confidence in units of 1/200.
    pub confidence: Vec<u8>,
    /// Importance in units of 1/200.
    pub importance: Vec<u8>,
    /// Class of source.
    pub source: Vec<u8>,
    /// Parts equals.
    pub stable: Vec<u64>,
    /// For collapsing near-duplicates.
    pub fingerprint: Vec<Fingerprint>,
    /// Content words per group.
    pub group_length: Vec<u32>,
    /// Where each group's members begin in `members`; one more entry than groups.
    pub member_start: Vec<u32>,
    /// Slots by group.
    pub members: Vec<u32>,
    /// Number of live passages.
    pub live: u32,
    /// Content words of the live passages.
    pub total_length: u64,
    /// Number of groups with a live passage.
    pub live_groups: u32,
    /// Content words of the live passages that have a group.
    pub total_group_length: u64,
}

impl Columns {
    /// Number of slots, live or not.
    pub fn slots(&self) -> usize {
        self.length.len()
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.group_length.len()
    }

    /// Whether every column has one entry per slot and every number points at something that exists. Ranking
    /// relies on it: check columns that were not made by [`ColumnsBuilder`].
    pub fn is_consistent(&self) -> bool {
        let slots = self.slots();
        let groups = self.groups();
        let lengths = [
            self.group.len(),
            self.previous.len(),
            self.next.len(),
            self.owner.len(),
            self.at.len(),
            self.flags.len(),
            self.layer.len(),
            self.confidence.len(),
            self.importance.len(),
            self.source.len(),
            self.stable.len(),
            self.fingerprint.len(),
        ];
        let within = |numbers: &[u32], end: usize| numbers.iter().all(|n| *n == NONE || (*n as usize) < end);
        lengths.iter().all(|l| *l == slots)
            && within(&self.group, groups)
            && within(&self.previous, slots)
            && within(&self.next, slots)
            && self.members.iter().all(|slot| (*slot as usize) < slots)
            && (groups == 0 || self.member_start.len() == groups + 1)
            && self.member_start.is_sorted()
            && self.member_start.last().map_or(0, |end| *end as usize) == self.members.len()
    }

    /// The slots of a group, ascending.
    pub fn members(&self, group: u32) -> &[u32] {
        let bound = |at: usize| self.member_start.get(at).map_or(0, |b| *b as usize);
        self.members.get(bound(group as usize)..bound(group as usize + 1)).unwrap_or_default()
    }
}

/// Builds columns row by row. Rows of one group need not be adjacent; neighbours are linked by
/// [`Row::follows`] alone.
#[derive(Debug, Default)]
pub struct ColumnsBuilder {
    columns: Columns,
    last_of_group: Vec<u32>,
}

impl ColumnsBuilder {
    /// Appends a live row and returns its slot.
    pub fn push(&mut self, row: &Row) -> u32 {
        let c = &mut self.columns;
        let slot = u32::try_from(c.length.len()).unwrap_or(NONE);
        c.length.push(row.length);
        c.group.push(row.group);
        c.previous.push(NONE);
        c.next.push(NONE);
        c.owner.push(row.owner);
        c.at.push(row.at);
        c.flags.push(row.flags);
        c.layer.push(row.layer);
        c.confidence.push(row.confidence);
        c.importance.push(row.importance);
        c.source.push(row.source);
        c.stable.push(row.stable);
        c.fingerprint.push(row.fingerprint);
        c.live += 1;
        c.total_length += u64::from(row.length);
        if row.group != NONE {
            self.join_group(row, slot);
        }
        slot
    }

    fn join_group(&mut self, row: &Row, slot: u32) {
        let c = &mut self.columns;
        let group = row.group as usize;
        if c.group_length.len() <= group {
            c.group_length.resize(group + 1, 0);
            self.last_of_group.resize(group + 1, NONE);
        }
        let last = self.last_of_group[group];
        if last == NONE {
            c.live_groups += 1;
        } else if row.follows {
            c.previous[slot as usize] = last;
            c.next[last as usize] = slot;
        }
        self.last_of_group[group] = slot;
        c.group_length[group] += row.length;
        c.total_group_length += u64::from(row.length);
    }

    /// The columns, with the members of each group listed.
    pub fn finish(mut self) -> Columns {
        let c = &mut self.columns;
        let mut counts = vec![0u32; c.group_length.len() + 1];
        for group in c.group.iter().filter(|g| **g != NONE) {
            counts[*group as usize + 1] += 1;
        }
        for at in 1..counts.len() {
            counts[at] += counts[at - 1];
        }
        let mut next = counts.clone();
        c.members = vec![0; counts.last().map_or(0, |n| *n as usize)];
        for (slot, group) in (0u32..).zip(&c.group) {
            if *group != NONE {
                c.members[next[*group as usize] as usize] = slot;
                next[*group as usize] += 1;
            }
        }
        c.member_start = counts;
        self.columns
    }
}
