//! Which adjacent segments to merge next: tiers of a fixed fan-out.
//!
//! A fold makes a level-0 segment of one block. Eight neighbours of one level become one segment of
//! the next, so a collection of n blocks has at most `7 * log8(n)` segments to look a term up in,
//! and a posting is rewritten once per level.

/// How many neighbours of a level make one segment of the next.
pub(crate) const FAN_OUT: usize = 8;

/// A published segment: `slots` slots from `first_slot` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) id: i64,
    pub(crate) first_slot: u32,
    pub(crate) slots: u32,
    pub(crate) level: u32,
}

/// The first run of [`FAN_OUT`] adjacent segments of one level, lowest level first; `None` when
/// nothing is due. `published` is in slot order.
pub(crate) fn next_merge(published: &[Segment]) -> Option<&[Segment]> {
    published
        .windows(FAN_OUT)
        .filter(|run| run.iter().all(|segment| segment.level == run[0].level))
        .min_by_key(|run| run[0].level)
}

/// What the merge of `run` will be, without an id.
pub(crate) fn merged(run: &[Segment]) -> Option<Segment> {
    let first = run.first()?;
    let slots = run.iter().map(|segment| segment.slots).sum();
    Some(Segment { id: 0, first_slot: first.first_slot, slots, level: first.level + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settle(published: &mut Vec<Segment>) -> usize {
        let mut rewritten = 0;
        while let Some(run) = next_merge(published) {
            let new = merged(run).expect("a run is not empty");
            rewritten += new.slots as usize;
            let at = published.iter().position(|s| s.first_slot == new.first_slot).expect("inside");
            published.splice(at..at + FAN_OUT, [new]);
        }
        rewritten
    }

    #[test]
    fn a_thousand_folds_leave_few_segments_and_rewrite_each_slot_once_per_level() {
        let mut published = Vec::new();
        let mut rewritten = 0;
        for block in 0..1_000u32 {
            published.push(Segment { id: 0, first_slot: block * 1_024, slots: 1_024, level: 0 });
            rewritten += settle(&mut published);
            assert!(published.len() <= 7 * 4, "{} segments after {block} folds", published.len());
            let mut next = 0;
            for segment in &published {
                assert_eq!(segment.first_slot, next, "segments cover the slots without a gap");
                next += segment.slots;
            }
            assert_eq!(next, (block + 1) * 1_024);
        }
        assert!(rewritten <= 1_000 * 1_024 * 3);
    }

    #[test]
    fn nothing_is_due_below_the_fan_out() {
        let few: Vec<_> =
            (0..7).map(|b| Segment { id: b, first_slot: b as u32, slots: 1, level: 0 }).collect();
        assert_eq!(next_merge(&few), None);
    }
}
