//! The laws of the audit chain: whatever is done to a stored chain is found, and found where it was done.

use proptest::prelude::*;
use strata_core::{
    chain::{
        AuditEntry, Break, Checkpoint, GENESIS, Head, LinkedEntry, Outcome, link, verify, verify_signed,
    },
    error::ErrorKind,
    time::Timestamp,
};

fn entry(seq: i64) -> AuditEntry {
    AuditEntry {
        seq,
        at: Timestamp(1_000_000 + seq * 10),
        principal: format!("agent:writer{}", seq % 3),
        on_behalf_of: (seq % 2 == 0).then(|| "human:mara".to_owned()),
        face: "mcp".to_owned(),
        action: "remember".to_owned(),
        target: format!("mem_{seq:010}"),
        layer: (seq % 4 != 0).then(|| "P5".to_owned()),
        outcome: if seq % 5 == 0 { Outcome::Refused } else { Outcome::Done },
        reason: if seq % 5 == 0 { "not yours to write".to_owned() } else { String::new() },
        before_hash: (seq % 3 == 0).then_some([9; 32]),
        after_hash: (seq % 2 == 1).then_some([seq as u8; 32]),
    }
}

fn seal(entries: impl IntoIterator<Item = AuditEntry>) -> Vec<LinkedEntry> {
    let mut previous = GENESIS;
    let link_next = |entry| {
        let row = LinkedEntry::new(&previous, entry);
        previous = row.hash;
        row
    };
    entries.into_iter().map(link_next).collect()
}

fn chain(length: i64) -> Vec<LinkedEntry> {
    seal((1..=length).map(entry))
}

/// Changes exactly one field of an entry, never `seq`.
fn change(entry: &mut AuditEntry, field: usize) {
    let flip = |text: &mut Option<String>| *text = text.take().is_none().then(String::new);
    let toggle = |hash: &mut Option<[u8; 32]>| {
        *hash = match *hash {
            Some(mut bytes) => {
                bytes[31] ^= 1;
                Some(bytes)
            }
            None => Some([0; 32]),
        };
    };
    match field {
        0 => entry.at.0 += 1,
        1 => entry.principal.push('x'),
        2 => flip(&mut entry.on_behalf_of),
        3 => entry.face.push('x'),
        4 => entry.action = "forget".to_owned(),
        5 => entry.target.push('x'),
        6 => flip(&mut entry.layer),
        7 => {
            entry.outcome = match entry.outcome {
                Outcome::Done => Outcome::Refused,
                Outcome::Refused => Outcome::Done,
            }
        }
        8 => entry.reason.push(' '),
        9 => toggle(&mut entry.before_hash),
        _ => toggle(&mut entry.after_hash),
    }
}

proptest! {
    #[test]
    fn an_untouched_chain_verifies(length in 0_i64..40) {
        let rows = chain(length);
        let head = verify(&rows).expect("untouched");
        prop_assert_eq!(head.seq, length);
        prop_assert_eq!(head.hash, rows.last().map_or(GENESIS, |r| r.hash));
    }

    #[test]
    fn any_changed_field_is_located(length in 1_i64..30, at in 0_usize..30, field in 0_usize..11) {
        let mut rows = chain(length);
        let at = at % rows.len();
        change(&mut rows[at].entry, field);
        prop_assert_eq!(verify(&rows), Err(Break::Tampered { seq: at as i64 + 1 }));
    }

    #[test]
    fn a_changed_field_with_its_own_hash_recomputed_is_located_at_the_next(
        length in 2_i64..30, at in 0_usize..30, field in 0_usize..11,
    ) {
        let mut rows = chain(length);
        let at = at % (rows.len() - 1);
        change(&mut rows[at].entry, field);
        rows[at].hash = link(&rows[at].previous, &rows[at].entry);
        prop_assert_eq!(verify(&rows), Err(Break::Tampered { seq: at as i64 + 2 }));
    }

    #[test]
    fn any_changed_hash_is_located(length in 1_i64..30, at in 0_usize..30, byte in 0_usize..32, link_too: bool) {
        let mut rows = chain(length);
        let at = at % rows.len();
        let row = &mut rows[at];
        if link_too { row.previous[byte] ^= 4 } else { row.hash[byte] ^= 4 }
        prop_assert_eq!(verify(&rows), Err(Break::Tampered { seq: at as i64 + 1 }));
    }

    #[test]
    fn removal_is_a_gap(length in 2_i64..30, at in 0_usize..30, count in 1_usize..5) {
        let mut rows = chain(length);
        let at = at % (rows.len() - 1);
        let end = (at + count).min(rows.len() - 1);
        rows.drain(at..end);
        let expected = at as i64 + 1;
        prop_assert_eq!(verify(&rows), Err(Break::Gap { expected, found: end as i64 + 1 }));
    }

    #[test]
    fn removal_with_renumbering_is_located(length in 2_i64..30, at in 0_usize..30) {
        let mut rows = chain(length);
        let at = at % (rows.len() - 1);
        rows.remove(at);
        for row in &mut rows[at..] { row.entry.seq -= 1 }
        prop_assert_eq!(verify(&rows), Err(Break::Tampered { seq: at as i64 + 1 }));
    }

    #[test]
    fn a_swap_is_located(length in 2_i64..30, a in 0_usize..30, b in 0_usize..30) {
        let mut rows = chain(length);
        let (a, b) = (a % rows.len(), b % rows.len());
        prop_assume!(a != b);
        rows.swap(a, b);
        let broken = verify(&rows).expect_err("swapped");
        prop_assert_eq!(broken.seq(), a.min(b) as i64 + 1);
    }

    #[test]
    fn a_swap_of_contents_is_located(length in 2_i64..30, a in 0_usize..30, b in 0_usize..30) {
        let mut rows = chain(length);
        let (a, b) = (a % rows.len(), b % rows.len());
        prop_assume!(a != b);
        rows.swap(a, b);
        rows[a].entry.seq = a as i64 + 1;
        rows[b].entry.seq = b as i64 + 1;
        prop_assert_eq!(verify(&rows), Err(Break::Tampered { seq: a.min(b) as i64 + 1 }));
    }

    #[test]
    fn an_insertion_is_located(length in 1_i64..30, at in 0_usize..30, renumber: bool) {
        let mut rows = chain(length);
        let at = at % rows.len();
        let previous = if at == 0 { GENESIS } else { rows[at - 1].hash };
        let mut forged = entry(at as i64 + 1);
        forged.reason = "forged".to_owned();
        rows.insert(at, LinkedEntry::new(&previous, forged));
        if renumber {
            for row in &mut rows[at + 1..] { row.entry.seq += 1 }
        }
        let broken = verify(&rows).expect_err("inserted");
        prop_assert_eq!(broken.seq(), at as i64 + 2);
    }

    #[test]
    fn a_cut_tail_is_seen_against_the_signed_head(length in 2_i64..30, keep in 0_i64..30) {
        let rows = chain(length);
        let signed = Checkpoint { seq: length, hash: rows[rows.len() - 1].hash };
        prop_assert!(verify_signed(&rows, &[signed]).is_ok());
        let keep = keep % length;
        let cut = verify_signed(&rows[..keep as usize], &[signed]);
        prop_assert_eq!(cut, Err(Break::CutTail { last: keep, signed: length }));
    }

    #[test]
    fn a_recomputed_chain_is_seen_against_the_signed_head(
        length in 1_i64..30, at in 0_usize..30, field in 1_usize..11, more in 0_i64..5,
    ) {
        let rows = chain(length);
        let signed = Checkpoint { seq: length, hash: rows[rows.len() - 1].hash };
        let mut entries: Vec<_> = (1..=length + more).map(entry).collect();
        let at = at % length as usize;
        change(&mut entries[at], field);
        let forged = seal(entries);
        prop_assert!(verify(&forged).is_ok());
        prop_assert_eq!(verify_signed(&forged, &[signed]), Err(Break::Rewritten { seq: length }));
    }

    #[test]
    fn following_in_pieces_equals_verifying_at_once(length in 0_i64..30, cut in 0_usize..30) {
        let rows = chain(length);
        let (first, second) = rows.split_at(cut.min(rows.len()));
        let head = verify(first).and_then(|head| second.iter().try_fold(head, Head::follow));
        prop_assert_eq!(head, verify(&rows));
    }

    #[test]
    fn field_borders_count(a in "[ab]{0,4}", b in "[ab]{0,4}", c in "[ab]{0,4}", d in "[ab]{0,4}") {
        prop_assume!((&a, &b) != (&c, &d));
        let with = |principal: &str, face: &str| AuditEntry {
            principal: principal.to_owned(), on_behalf_of: None, face: face.to_owned(), ..entry(1)
        };
        prop_assert_ne!(link(&GENESIS, &with(&a, &b)), link(&GENESIS, &with(&c, &d)));
    }
}

#[test]
fn time_going_backwards_is_told_apart_from_tampering() {
    let mut entries: Vec<_> = (1..=5).map(entry).collect();
    entries[3].at = Timestamp(1_000_001);
    let broken = verify(&seal(entries)).expect_err("the fourth is older than the third");
    let before = Timestamp(1_000_030);
    assert_eq!(broken, Break::BackInTime { seq: 4, at: Timestamp(1_000_001), before });
    assert_eq!(broken.kind(), ErrorKind::Corrupt);
}

#[test]
fn absurd_positions_do_not_overflow() {
    for seq in [i64::MIN, -1, 0, 2, i64::MAX] {
        let rows = seal([AuditEntry { seq, ..entry(1) }]);
        assert!(verify(&rows).is_err(), "{seq}");
    }
    let last = Head { seq: i64::MAX, ..Head::GENESIS };
    let row = LinkedEntry::new(&GENESIS, AuditEntry { seq: i64::MAX, ..entry(1) });
    assert!(last.follow(&row).is_err(), "no entry can follow the last position");
}

#[test]
fn the_encoding_is_frozen() {
    let hex: String = link(&GENESIS, &entry(6)).iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(hex, "032093c6858db1e57e8466d2e0e50fc0fe6e12a61385eaccdd3cfbfd52bea950");
}
