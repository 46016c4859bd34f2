//! The columns that ranking reads, kept in step with a collection's passages: the dead stay in their
//! slots but belong to no group and count in no sum.

use strata_core::rank::{Columns, Flags, NONE};

use super::{attributes::Attributes, truth::UNPLACED};

/// Columns with what is needed to change them.
#[derive(Debug, Clone, Default)]
pub(crate) struct LiveColumns {
    pub(crate) columns: Columns,
    live_of_group: Vec<u32>,
    /// Groups whose members changed since the last [`LiveColumns::link`].
    touched: Vec<u32>,
}

/// Groups are numbered from 0 in the columns, labels from 1.
const fn column_number(label: u32) -> u32 {
    if label == 0 { NONE } else { label - 1 }
}

/// The key that parts equals: kind, number and part of the source, the same however the index was built.
pub(crate) fn stable_key(row: &Attributes) -> u64 {
    let number = row.source.cast_unsigned() & ((1 << 42) - 1);
    (u64::from(row.source_kind) << 62) | (number << 20) | u64::from(row.part & ((1 << 20) - 1))
}

impl LiveColumns {
    /// All columns of `rows`, of which those that are `alive` count.
    pub(crate) fn of(rows: &[Attributes], alive: impl Fn(usize) -> bool) -> Self {
        let mut live = Self::default();
        rows.iter().enumerate().for_each(|(slot, row)| live.push(row, alive(slot)));
        live.link(rows);
        live
    }

    /// Appends a slot. [`LiveColumns::link`] must follow before the columns are read.
    pub(crate) fn push(&mut self, row: &Attributes, alive: bool) {
        let columns = &mut self.columns;
        columns.length.push(row.length);
        columns.group.push(NONE);
        columns.previous.push(NONE);
        columns.next.push(NONE);
        columns.owner.push(column_number(row.owner));
        columns.at.push(row.at);
        columns.flags.push(Flags((row.flags & 0xff) as u8));
        columns.layer.push(row.layer);
        columns.confidence.push(row.confidence);
        columns.importance.push(row.importance);
        columns.source.push(row.source_kind);
        columns.stable.push(stable_key(row));
        columns.fingerprint.push(row.fingerprint);
        if alive {
            self.enter(columns_end(&self.columns), row);
        }
    }

    fn enter(&mut self, slot: usize, row: &Attributes) {
        let columns = &mut self.columns;
        columns.live += 1;
        columns.total_length += u64::from(row.length);
        let group = column_number(row.group);
        if group == NONE {
            return;
        }
        let at = group as usize;
        if columns.group_length.len() <= at {
            columns.group_length.resize(at + 1, 0);
            self.live_of_group.resize(at + 1, 0);
        }
        columns.group[slot] = group;
        columns.live_groups += u32::from(self.live_of_group[at] == 0);
        self.live_of_group[at] += 1;
        columns.group_length[at] += row.length;
        columns.total_group_length += u64::from(row.length);
        self.touched.push(group);
    }

    /// Takes a living slot out. [`LiveColumns::link`] must follow before the columns are read.
    pub(crate) fn kill(&mut self, slot: u32) {
        let at = slot as usize;
        let columns = &mut self.columns;
        let length = columns.length[at];
        columns.live -= 1;
        columns.total_length -= u64::from(length);
        let group = columns.group[at];
        if group == NONE {
            return;
        }
        columns.group[at] = NONE;
        columns.previous[at] = NONE;
        columns.next[at] = NONE;
        let group_at = group as usize;
        self.live_of_group[group_at] -= 1;
        columns.live_groups -= u32::from(self.live_of_group[group_at] == 0);
        columns.group_length[group_at] -= length;
        columns.total_group_length -= u64::from(length);
        self.touched.push(group);
    }

    /// Lists the members of the groups, and links neighbours in the groups that changed.
    pub(crate) fn link(&mut self, rows: &[Attributes]) {
        if self.touched.is_empty() {
            // An index of no groups still has its closing bound.
            self.columns.member_start.resize(self.columns.group_length.len() + 1, 0);
            return;
        }
        self.list_members();
        self.touched.sort_unstable();
        self.touched.dedup();
        for group in std::mem::take(&mut self.touched) {
            let mut order = self.columns.members(group).to_vec();
            order.sort_unstable_by_key(|slot| {
                let row = &rows[*slot as usize];
                (row.order, row.source, row.part)
            });
            self.date_alike(&order, rows);
            for slot in &order {
                self.columns.previous[*slot as usize] = NONE;
                self.columns.next[*slot as usize] = NONE;
            }
            for pair in order.windows(2) {
                let (row, next) = (&rows[pair[0] as usize], &rows[pair[1] as usize]);
                // Of sources whose place is not known, only the parts of one are neighbours.
                if row.order != UNPLACED || row.source == next.source {
                    self.columns.next[pair[0] as usize] = pair[1];
                    self.columns.previous[pair[1] as usize] = pair[0];
                }
            }
        }
    }

    /// Gives all parts of a source the time of the one that was written last: the others were left as they were by a
    /// later change of it. `order` are the living slots of a group, sources one after the other.
    fn date_alike(&mut self, order: &[u32], rows: &[Attributes]) {
        let row = |slot: &u32| &rows[*slot as usize];
        for parts in order.chunk_by(|a, b| row(a).source() == row(b).source()) {
            let latest = parts.iter().max_by_key(|slot| (row(slot).from_seq, **slot));
            let at = latest.map_or(0, |slot| row(slot).at);
            parts.iter().for_each(|slot| self.columns.at[*slot as usize] = at);
        }
    }

    fn list_members(&mut self) {
        let Columns { group, group_length, member_start, members, .. } = &mut self.columns;
        member_start.clear();
        member_start.resize(group_length.len() + 1, 0);
        for (at, live) in self.live_of_group.iter().enumerate() {
            member_start[at + 1] = member_start[at] + live;
        }
        members.clear();
        members.resize(member_start.last().map_or(0, |end| *end as usize), 0);
        let mut next = member_start.clone();
        for (slot, group) in (0_u32..).zip(group.iter()).filter(|(_, group)| **group != NONE) {
            let place = &mut next[*group as usize];
            members[*place as usize] = slot;
            *place += 1;
        }
    }
}

fn columns_end(columns: &Columns) -> usize {
    columns.length.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows() -> impl Strategy<Value = Vec<(Attributes, bool)>> {
        let row = (0_i64..40, 0_u32..5, 0_i64..20, 0_u32..3, 1_u32..30, (0_i64..9, any::<bool>()));
        prop::collection::vec(row, 0..60).prop_map(|raw| {
            raw.into_iter()
                .map(|(source, group, order, owner, length, (from_seq, stays))| {
                    // A source has one place in its group, and its parts are told apart.
                    let (order, part, at) = (order + source * 20, order as u32, from_seq * 1_000 + source);
                    let places = Attributes { source, part, group, order, ..Attributes::PURGED };
                    let row = Attributes { owner, length, from_seq, at, ..places };
                    (row, stays)
                })
                .collect()
        })
    }

    proptest! {
        /// Killing one by one, with links brought up to date in between, is the same as never having lived.
        #[test]
        fn step_by_step_equals_at_once(mixed in rows(), cut in 0_usize..60) {
            let (rows, stays): (Vec<_>, Vec<_>) = mixed.into_iter().unzip();
            let mut live = LiveColumns::default();
            let cut = cut.min(rows.len());
            rows[..cut].iter().for_each(|row| live.push(row, true));
            live.link(&rows[..cut]);
            rows[cut..].iter().for_each(|row| live.push(row, true));
            for slot in (0..rows.len()).filter(|slot| !stays[*slot]) {
                live.kill(u32::try_from(slot).expect("few rows"));
                live.link(&rows);
            }
            live.link(&rows);
            let mut whole = LiveColumns::of(&rows, |slot| stays[slot]);
            // Groups that died stay numbered.
            let groups = live.columns.group_length.len();
            whole.columns.group_length.resize(groups, 0);
            whole.live_of_group.resize(groups, 0);
            whole.list_members();
            // The time of the dead is nobody's.
            for slot in (0..rows.len()).filter(|slot| !stays[*slot]) {
                (live.columns.at[slot], whole.columns.at[slot]) = (0, 0);
            }
            prop_assert_eq!(live.columns, whole.columns);
        }
    }

    #[test]
    fn neighbours_follow_the_order_not_the_slots() {
        let turn = |order, source| Attributes { group: 1, order, source, length: 3, ..Attributes::PURGED };
        let rows = [turn(30, 1), turn(10, 2), turn(20, 3)];
        let live = LiveColumns::of(&rows, |_| true);
        assert_eq!(live.columns.previous, [2, NONE, 1]);
        assert_eq!(live.columns.next, [NONE, 2, 0]);
        assert_eq!(live.columns.members(0), [0, 1, 2]);
    }
}
