//! The audit: order, dates, refusals, and telling a gap, a change and a cut tail apart.

use crate::fixture::{Fixture, agent, audited};
use strata_core::{
    chain::{Break, Checkpoint, Outcome},
    principal::{Face, Principal, PrincipalKind},
    signing::{DerivationParams, SecretKey},
    time::Timestamp,
};
use strata_store::{
    Control,
    index::Standing,
    ledger::{AuditFilter, AuditReport, Finding, MemoryFinding, NewAudit},
};

fn key(passphrase: &str) -> SecretKey {
    SecretKey::derive(passphrase, &[3; 16], DerivationParams::CHEAP).expect("a passphrase")
}

/// Six memories, so six audit rows; the fourth is signed.
fn signed_fixture() -> Fixture {
    let fixture = Fixture::new();
    for n in 1..=6 {
        fixture.remember(&fixture.memory(&n.to_string())).expect("stored");
        if n == 4 {
            fixture.write(|w| w.sign_head(&key("correct horse"))).expect("signed");
        }
    }
    fixture
}

fn report(fixture: &Fixture, witnesses: &[Checkpoint]) -> AuditReport {
    fixture.read(|r| r.verify_audit(witnesses, Some(&key("correct horse").public())))
}

#[test]
fn a_whole_audit_is_whole() {
    let fixture = signed_fixture();
    let head = fixture.read(|r| r.head());
    let witness = Checkpoint { seq: head.seq, hash: head.hash };
    let found = report(&fixture, &[witness]);
    assert!(found.is_whole(), "{:?}", found.findings);
    assert_eq!((found.entries, found.head, found.signed_heads), (6, head, 1));
    assert!(report(&Fixture::new(), &[]).is_whole());
}

#[test]
fn each_kind_of_damage_is_named_with_its_place() {
    for (sql, expected) in [
        ("DELETE FROM audit WHERE seq = 2", Finding::Chain(Break::Gap { expected: 2, found: 3 })),
        ("UPDATE audit SET principal = 'human:x' WHERE seq = 3", Finding::Chain(Break::Tampered { seq: 3 })),
        ("UPDATE audit SET reason = 'x' WHERE seq = 1", Finding::Chain(Break::Tampered { seq: 1 })),
        ("UPDATE audit SET at = at - 9000000 WHERE seq = 3", Finding::Chain(Break::Tampered { seq: 3 })),
        ("UPDATE audit SET hash = zeroblob(32) WHERE seq = 6", Finding::Chain(Break::Tampered { seq: 6 })),
        ("DELETE FROM audit WHERE seq > 3", Finding::Chain(Break::CutTail { last: 3, signed: 4 })),
        ("DELETE FROM audit WHERE seq > 4", Finding::Unaudited { table: "memory_states", seq: 6, last: 4 }),
        ("UPDATE audit_heads SET signature = zeroblob(64)", Finding::Signature { seq: 4 }),
        ("UPDATE audit_heads SET public_key = zeroblob(32)", Finding::UnknownKey { seq: 4 }),
        ("UPDATE audit_heads SET epoch = 'another'", Finding::Signature { seq: 4 }),
    ] {
        let fixture = signed_fixture();
        fixture.tamper(sql);
        let found = report(&fixture, &[]);
        assert!(found.findings.contains(&expected), "{sql}: {:?}", found.findings);
        assert!(found.findings.iter().all(|f| f.seq() >= expected.seq()), "{sql}: {:?}", found.findings);
    }
}

#[test]
fn every_break_is_found_and_not_only_the_first() {
    let fixture = signed_fixture();
    fixture.tamper("UPDATE audit SET reason = 'x' WHERE seq = 2; DELETE FROM audit WHERE seq = 4");
    let found = report(&fixture, &[]).findings;
    let places: Vec<_> = found.iter().map(|f| (f.seq(), f.to_string())).collect();
    assert_eq!(places[0], (2, "audit entry 2 was changed after it was written".into()));
    assert!(
        places.iter().any(|(seq, text)| *seq == 4 && text == "audit entries 4 to 4 are missing"),
        "{places:?}"
    );
}

#[test]
fn a_memory_changed_behind_the_ledgers_back_is_named() {
    let fixture = signed_fixture();
    assert_eq!(fixture.read(|r| r.verify_memories()), []);
    let id = fixture.read(|r| r.memory_by_number(3)).expect("stored").id;
    let text = || MemoryFinding::TextChanged { id: id.clone() };
    let state = || MemoryFinding::StateChanged { id: id.clone() };
    for (sql, expected) in [
        ("UPDATE memories SET body = 'other' WHERE number = 3", text()),
        ("UPDATE memories SET content_hash = zeroblob(32) WHERE number = 3", text()),
        ("UPDATE memories SET status = 'trashed' WHERE number = 3", state()),
        ("UPDATE memory_states SET layer = 'P0' WHERE number = 3", state()),
        ("DELETE FROM memory_states WHERE number = 3", state()),
    ] {
        let fixture = signed_fixture();
        fixture.tamper(sql);
        assert_eq!(fixture.read(|r| r.verify_memories()), [expected], "{sql}");
    }
}

#[test]
fn a_tail_cut_together_with_its_data_is_seen_by_a_witness() {
    let fixture = signed_fixture();
    let head = fixture.read(|r| r.head());
    let witness = Checkpoint { seq: head.seq, hash: head.hash };
    fixture.tamper(
        "DELETE FROM audit WHERE seq > 4; DELETE FROM memories WHERE seq > 4;
         DELETE FROM memory_states WHERE from_seq > 4",
    );
    assert!(report(&fixture, &[]).is_whole(), "inside the file nothing is left to tell");
    let found = report(&fixture, &[witness]);
    assert_eq!(found.findings, [Finding::Chain(Break::CutTail { last: 4, signed: 6 })]);
}

/// Puts the signed heads of one ledger into another.
fn take_heads(from: &Fixture, to: &Fixture) {
    let select = "/* any tenant */ SELECT seq, at, hash, public_key, signature, epoch FROM audit_heads";
    let database = |fixture: &Fixture| fixture.ledger.database().clone();
    let heads = database(from).read(&Control::default(), |t| {
        t.query(select, &[], |row| {
            let bytes = |at| row.get::<Vec<u8>>(at);
            let epoch: String = row.get(5)?;
            Ok((row.get::<i64>(0)?, row.get::<i64>(1)?, bytes(2)?, bytes(3)?, bytes(4)?, epoch))
        })
    });
    let insert =
        "/* any tenant */ INSERT INTO audit_heads (tenant, seq, at, hash, public_key, signature, epoch)
         VALUES ('local', $1, $2, $3, $4, $5, $6)";
    for (seq, at, hash, key, signature, epoch) in heads.expect("read") {
        let row =
            [seq.into(), at.into(), (&hash).into(), (&key).into(), (&signature).into(), (&*epoch).into()];
        database(to).write(&Control::default(), |t| t.execute(insert, &row)).expect("inserted");
    }
}

#[test]
fn a_chain_recomputed_as_a_whole_is_seen_by_signature_and_witness() {
    let fixture = signed_fixture();
    let honest = fixture.read(|r| r.head());
    let rewritten = Fixture::new();
    for n in 1..=6 {
        rewritten.remember(&rewritten.memory(&format!("other {n}"))).expect("stored");
    }
    let witness = Checkpoint { seq: honest.seq, hash: honest.hash };
    assert!(report(&rewritten, &[]).is_whole());
    assert_eq!(report(&rewritten, &[witness]).findings, [Finding::Chain(Break::Rewritten { seq: 6 })]);
    take_heads(&fixture, &rewritten);
    assert_eq!(report(&rewritten, &[]).findings, [Finding::Chain(Break::Rewritten { seq: 4 })]);
}

#[test]
fn dates_never_go_back_and_times_name_one_state() {
    let fixture = Fixture::new();
    for at in [50, 40, 50, 90] {
        fixture.ledger.write(&Control::default(), Timestamp(at), |w| audited(w, "x", "t")).expect("written");
    }
    let rows = fixture.read(|r| r.audit(&AuditFilter::default()));
    assert_eq!(rows.iter().rev().map(|r| r.entry.at.0).collect::<Vec<_>>(), [50, 51, 52, 90]);
    for (at, seq) in [(49, 0), (50, 1), (51, 2), (89, 3), (90, 4), (i64::MAX, 4)] {
        assert_eq!(fixture.read(|r| r.seq_at(Timestamp(at))), seq, "{at}");
    }
    assert!(report(&fixture, &[]).is_whole());
}

#[test]
fn refusals_are_counted_by_what_they_say() {
    let fixture = Fixture::new();
    let other = Principal::new(PrincipalKind::Agent, "other");
    let refuse = |principal: &Principal, reason: &str, target: &str| {
        let refused = fixture.write(|w| {
            w.refuse(&NewAudit { reason, ..NewAudit::new(principal, Face::Mcp, "remember", target) })
        });
        refused.expect("recorded")
    };
    assert_eq!(refuse(&agent(), "no", "P0").count, 1);
    assert_eq!(refuse(&agent(), "no", "P0").count, 2);
    assert_eq!(refuse(&agent(), "no", "P1").count, 1);
    assert_eq!(refuse(&agent(), "never", "P0").count, 1);
    let last = refuse(&other, "no", "P0");
    assert_eq!((last.first_seq, last.count), (4, 1));
    assert_eq!(refuse(&agent(), "no", "P0").count, 3);
    let rows =
        fixture.read(|r| r.audit(&AuditFilter { outcome: Some(Outcome::Refused), ..AuditFilter::default() }));
    assert_eq!(rows.len(), 4);
    let by_other = AuditFilter { principal: Some("agent:other".into()), ..AuditFilter::default() };
    assert_eq!(fixture.read(|r| r.audit(&by_other)).len(), 1);
    let about =
        AuditFilter { target: Some("P0".into()), limit: 1, before: Some(4), ..AuditFilter::default() };
    assert_eq!(fixture.read(|r| r.audit(&about))[0].entry.seq, 3);
    assert_eq!(fixture.read(|r| r.refusal(1)).map(|r| r.count), Some(3));
}

#[test]
fn hashes_in_the_audit_do_not_tell_the_text() {
    let fixture = Fixture::new();
    let (a, b) = (fixture.memory("password"), fixture.memory("password"));
    assert_ne!(a.content_hash(), b.content_hash(), "the salts differ");
    fixture.remember(&a).expect("stored");
    let row = fixture.read(|r| r.audit(&AuditFilter::default())).remove(0);
    assert_eq!(row.entry.after_hash, Some(a.content_hash()));
    assert_eq!(fixture.read(|r| r.hash_at(1)), Some(row.hash));
    assert_eq!(fixture.read(|r| r.hash_at(2)), None);
}

#[test]
fn where_a_ledger_stands_is_told_in_one_answer() {
    let fixture = Fixture::new();
    let new = fixture.read(|r| r.standing(0));
    let epoch = fixture.read(|r| r.epoch());
    assert_eq!(new, Standing { epoch: epoch.clone(), head: 0, head_hash: Vec::new(), hash: None });
    for name in ["a", "b"] {
        fixture.remember(&fixture.memory(name)).expect("stored");
    }
    let (first, head) = fixture.read(|r| Ok((r.hash_at(1)?, r.head()?)));
    let (head_hash, hash) = (head.hash.to_vec(), first.map(Vec::from));
    assert_eq!(fixture.read(|r| r.standing(1)), Standing { epoch, head: 2, head_hash, hash });
    assert_eq!(fixture.read(|r| r.standing(3)).hash, None);
}
