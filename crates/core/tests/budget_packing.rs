//! Laws of packing.

use proptest::prelude::*;
use strata_core::budget::{Cost, Packed, Packer, RULE};

fn records() -> impl Strategy<Value = Vec<Cost>> {
    let tokens = prop_oneof![9 => 0_u32..400, 1 => any::<u32>()];
    let record = (0_u8..4, tokens).prop_map(|(class, tokens)| Cost { class, tokens });
    prop::collection::vec(record, 0..40)
}

/// The tokens that `packed` uses, added up independently.
fn sum(packer: Packer, records: &[Cost], packed: &Packed) -> u64 {
    let bodies: u64 = packed.taken.iter().map(|i| u64::from(records[*i].tokens)).sum();
    let separators = packed.taken.len().saturating_sub(1) as u64 * u64::from(packer.separator);
    bodies + separators
}

proptest! {
    #[test]
    fn the_budget_holds_and_the_sum_is_exact(
        records in records(), separator in 0_u32..5, overhead in 0_u32..50, budget in prop_oneof![0_u32..4000, any::<u32>()],
    ) {
        let packer = Packer { separator, overhead };
        let packed = packer.pack(&records, budget);
        prop_assert!(packed.used <= budget);
        let spent = if budget >= overhead { u64::from(overhead) } else { 0 };
        prop_assert_eq!(u64::from(packed.used), spent + sum(packer, &records, &packed));
    }

    #[test]
    fn every_record_is_taken_once_or_counted_as_omitted(records in records(), budget in 0_u32..4000) {
        let packed = Packer { separator: 2, overhead: 10 }.pack(&records, budget);
        prop_assert_eq!(packed.taken.len() + packed.omitted_total(), records.len());
        let mut seen = packed.taken.clone();
        seen.sort_unstable();
        seen.dedup();
        prop_assert_eq!(seen.len(), packed.taken.len());
        for class in 0..4 {
            let of_class = |i: &&usize| records[**i].class == class;
            let taken = packed.taken.iter().filter(of_class).count();
            let entry = packed.omitted.iter().find(|o| o.class == class);
            prop_assert_eq!(taken + entry.map_or(0, |o| o.count), records.iter().filter(|r| r.class == class).count());
        }
        prop_assert!(packed.omitted.windows(2).all(|pair| pair[0].class < pair[1].class));
        prop_assert!(packed.omitted.iter().all(|o| o.count > 0));
        let rules = records.iter().filter(|r| r.class == RULE).count();
        let shown = packed.taken.iter().filter(|i| records[**i].class == RULE).count();
        prop_assert_eq!(packed.omitted_rules(), rules - shown);
    }

    #[test]
    fn what_is_omitted_did_not_fit(records in records(), budget in 20_u32..4000) {
        let packer = Packer { separator: 2, overhead: 10 };
        let packed = packer.pack(&records, budget);
        for (i, record) in records.iter().enumerate().filter(|(i, _)| !packed.taken.contains(i)) {
            // With everything of its class and above that was taken before it, it would not have fitted.
            let before = |j: &&usize| (records[**j].class, **j) < (record.class, i);
            let earlier = Packed { taken: packed.taken.iter().filter(before).copied().collect(), ..Packed::default() };
            let separator = if earlier.taken.is_empty() { 0 } else { 2 };
            let needed = 10 + sum(packer, &records, &earlier) + separator + u64::from(record.tokens);
            prop_assert!(needed > u64::from(budget), "record {i} would have fitted");
        }
    }

    #[test]
    fn a_rule_is_never_dropped_for_something_else(records in records(), budget in 0_u32..4000) {
        let packer = Packer { separator: 2, overhead: 10 };
        let rules: Vec<Cost> = records.iter().copied().filter(|r| r.class == RULE).collect();
        let (alone, among) = (packer.pack(&rules, budget), packer.pack(&records, budget));
        prop_assert_eq!(alone.omitted_rules(), among.omitted_rules());
    }

    #[test]
    fn the_order_is_by_class_then_as_given(records in records(), budget in 0_u32..4000) {
        let packed = Packer { separator: 1, overhead: 0 }.pack(&records, budget);
        prop_assert!(packed.taken.windows(2).all(|p| (records[p[0]].class, p[0]) < (records[p[1]].class, p[1])));
    }
}

#[test]
fn a_long_record_does_not_keep_shorter_ones_out() {
    let cost = |class, tokens| Cost { class, tokens };
    let records = [cost(2, 50), cost(2, 900), cost(2, 40), cost(RULE, 30)];
    let packed = Packer { separator: 1, overhead: 5 }.pack(&records, 130);
    assert_eq!(packed.taken, [3, 0, 2]);
    assert_eq!(packed.used, 5 + 30 + 1 + 50 + 1 + 40);
    assert_eq!(packed.omitted.len(), 1);
    assert_eq!((packed.omitted[0].class, packed.omitted[0].count, packed.omitted[0].smallest), (2, 1, 900));
}

#[test]
fn no_room_at_all_reports_everything() {
    let records = [Cost { class: RULE, tokens: 1 }, Cost { class: 3, tokens: 0 }];
    let packed = Packer { separator: 1, overhead: 10 }.pack(&records, 9);
    assert_eq!((packed.used, packed.taken.len(), packed.omitted_rules()), (0, 0, 1));
    assert_eq!(packed.omitted_total(), 2);
}
