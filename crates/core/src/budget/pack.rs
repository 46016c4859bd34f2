//! Greedy packing of whole records.

/// The class of P0 rules: first in line, and never left out without a word.
pub const RULE: u8 = 0;

/// One record to pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Its class of importance: lower goes first, [`RULE`] before everything. The caller says what the
    /// other classes are.
    pub class: u8,
    /// Tokens of its rendered text, without the separator.
    pub tokens: u32,
}

/// How many records of one class did not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Omitted {
    /// The class, as in [`Cost`].
    pub class: u8,
    /// How many.
    pub count: usize,
    /// What the smallest of them costs, in tokens: raising the budget by less changes nothing.
    pub smallest: u32,
}

/// The outcome of packing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Packed {
    /// Positions of the records that fit, ascending by class and, within it, in the order given.
    pub taken: Vec<usize>,
    /// What did not fit, most important class first; no entry for a class that fitted whole.
    pub omitted: Vec<Omitted>,
    /// Tokens used, separators counted. Never more than the budget.
    pub used: u32,
}

impl Packed {
    /// Rules that did not fit. Whoever shows the pack must say so when this is not zero.
    pub fn omitted_rules(&self) -> usize {
        self.omitted.iter().find(|o| o.class == RULE).map_or(0, |o| o.count)
    }

    /// Everything that did not fit.
    pub fn omitted_total(&self) -> usize {
        self.omitted.iter().map(|o| o.count).sum()
    }
}

/// Packs whole records; nothing is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packer {
    /// Tokens between two records.
    pub separator: u32,
    /// Tokens that are spent in any case: headings, and the line that says what was left out.
    pub overhead: u32,
}

impl Packer {
    /// Takes, class by class and within a class in the order given, every record that still fits. One
    /// that does not fit is passed over, so that a long record does not keep shorter ones out.
    ///
    /// A budget smaller than the overhead takes nothing and uses nothing.
    pub fn pack(&self, records: &[Cost], budget: u32) -> Packed {
        let mut order: Vec<(usize, &Cost)> = records.iter().enumerate().collect();
        order.sort_by_key(|(_, record)| record.class);
        let room = budget.checked_sub(self.overhead);
        let mut packed = Packed { used: room.map_or(0, |_| self.overhead), ..Packed::default() };
        for (position, record) in order {
            let separator = if packed.taken.is_empty() { 0 } else { self.separator };
            let cost = u64::from(separator) + u64::from(record.tokens);
            let left = room.map(|_| budget - packed.used);
            match u32::try_from(cost).ok().filter(|cost| left.is_some_and(|left| *cost <= left)) {
                Some(cost) => {
                    packed.used += cost;
                    packed.taken.push(position);
                }
                None => omit(&mut packed.omitted, record),
            }
        }
        packed
    }
}

fn omit(omitted: &mut Vec<Omitted>, record: &Cost) {
    match omitted.last_mut().filter(|o| o.class == record.class) {
        Some(entry) => {
            entry.count += 1;
            entry.smallest = entry.smallest.min(record.tokens);
        }
        None => omitted.push(Omitted { class: record.class, count: 1, smallest: record.tokens }),
    }
}
