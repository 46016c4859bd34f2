//! Rows that were put into the ledger's file, moved or taken out behind its back, without touching the audit.

use crate::fixture::{Fixture, agent, store};
use strata_core::{
    memory::Layer,
    principal::{Face, Principal, PrincipalKind},
    signing::{DerivationParams, SecretKey},
};
use strata_store::{
    Control, StoreError,
    ledger::{Finding, LedgerWrite, MemoryFinding, NewAudit, NewMemory, NewSnapshot, State},
};

fn refused(w: &LedgerWrite<'_>, target: &str) -> Result<(), StoreError> {
    let who = agent();
    let row = NewAudit { layer: Some(Layer::P5), ..NewAudit::new(&who, Face::Mcp, "forget", target) };
    w.refuse(&row).map(drop)
}

fn forget(w: &LedgerWrite<'_>, number: i64) -> Result<(), StoreError> {
    let memory = w.memory_by_number(number)?.expect("stored");
    let state = State { status: strata_core::memory::Status::Trashed, ..memory.state };
    let who = agent();
    let row = NewAudit {
        layer: Some(state.layer),
        after_hash: Some(state.hash(&memory.content_hash)),
        ..NewAudit::new(&who, Face::Mcp, "forget", &memory.id)
    };
    let seq = w.record(&row)?;
    w.change_state(number, None, &state, seq)
}

fn replace(w: &LedgerWrite<'_>, old: i64, new: &NewMemory) -> Result<(), StoreError> {
    let old = w.memory_by_number(old)?.expect("stored");
    let new = NewMemory { supersedes: strata_core::id::Id::parse(&old.id).ok(), ..new.clone() };
    let who = agent();
    let row = NewAudit {
        layer: Some(new.state.layer),
        before_hash: Some(old.content_hash),
        after_hash: Some(new.content_hash()),
        ..NewAudit::new(&who, Face::Mcp, "update", new.id.as_str())
    };
    let seq = w.record(&row)?;
    w.insert_memory(&new, seq).map(drop)
}

/// 1 and 2 as stored (changes 1 and 2), a refusal to forget 1 (3), 3 stored and forgotten (4, 5), 2 replaced by 4
/// (6), a snapshot (7), 5 stored (8), a rollback to the snapshot (9), and a line about nothing here (10).
fn furnished() -> Fixture {
    let fixture = Fixture::new();
    let new = [1, 2, 3, 4, 5].map(|n| fixture.memory(&format!("number {n}")));
    let write =
        |job: &dyn Fn(&LedgerWrite<'_>) -> Result<(), StoreError>| fixture.write(job).expect("written");
    write(&|w| store(w, &new[0]).map(drop));
    write(&|w| store(w, &new[1]).map(drop));
    write(&|w| refused(w, new[0].id.as_str()));
    write(&|w| store(w, &new[2]).map(drop));
    write(&|w| forget(w, 3));
    write(&|w| replace(w, 2, &new[3]));
    write(&|w| {
        let who = agent();
        let row =
            NewAudit { after_hash: Some([7; 32]), ..NewAudit::new(&who, Face::Mcp, "snapshot", "before") };
        let seq = w.record(&row)?;
        let taken =
            NewSnapshot { name: "before", label: "", who: "agent:test", at: None, live: 2, hash: [7; 32] };
        w.insert_snapshot(&taken, seq).map(drop)
    });
    write(&|w| store(w, &new[4]).map(drop));
    write(&|w| {
        let seq = w.record(&NewAudit::new(&agent(), Face::Mcp, "rollback", "before"))?;
        w.roll_back(7, "rollback:before", seq).map(drop)
    });
    write(&|w| w.record(&NewAudit::new(&agent(), Face::Mcp, "note", "x")).map(drop));
    fixture
}

const OPEN: i64 = i64::MAX;

/// Ends the present state of a memory at a change and begins another there, in both tables.
fn new_state(number: i64, seq: i64, layer: &str, status: &str) -> String {
    format!(
        "UPDATE memory_states SET to_seq = {seq} WHERE number = {number} AND to_seq = {OPEN};
         INSERT INTO memory_states SELECT tenant, number, {seq}, {OPEN}, '{status}', tier, {layer}, confidence,
             importance, pinned FROM memory_states WHERE number = {number} AND to_seq = {seq};
         UPDATE memories SET state_seq = {seq}, status = '{status}', layer = {layer} WHERE number = {number};"
    )
}

#[test]
fn what_came_about_by_the_audit_is_sound() {
    assert_eq!(furnished().read(|r| r.verify_memories()), []);
    assert_eq!(furnished().read(|r| r.missing_snapshots()), Vec::<String>::new());
}

#[test]
fn a_state_that_no_line_of_the_audit_made_is_named() {
    let id = |n| furnished().read(|r| r.memory_by_number(n)).expect("stored").id;
    for (number, sql) in [
        // By a line about something else, by one about nothing, by a refusal, and by the birth of another.
        (1, new_state(1, 2, "'P0'", "active")),
        (1, new_state(1, 10, "layer", "trashed")),
        (1, new_state(1, 3, "layer", "trashed")),
        (1, new_state(1, 6, "layer", "superseded")),
        // By a rollback to a snapshot that shows another state, and by no line at all.
        (1, new_state(1, 9, "layer", "superseded")),
        (1, new_state(1, 9, "'P0'", "active")),
        (1, new_state(1, 0, "layer", "trashed")),
        // Birth by a line about another, or by a refusal.
        (4, "UPDATE memories SET seq = 2 WHERE number = 4".to_owned()),
        (1, "UPDATE memories SET seq = 3, state_seq = 3 WHERE number = 1; UPDATE memory_states SET from_seq = 3 WHERE number = 1".to_owned()),
        // What was forgotten or replaced in force again, with its history taken back.
        (3, format!("DELETE FROM memory_states WHERE number = 3 AND from_seq = 5;
             UPDATE memory_states SET to_seq = {OPEN} WHERE number = 3;
             UPDATE memories SET status = 'active', state_seq = 4 WHERE number = 3")),
        (4, format!("DELETE FROM memory_states WHERE number = 2 AND from_seq = 6;
             UPDATE memory_states SET to_seq = {OPEN} WHERE number = 2;
             UPDATE memories SET status = 'active', state_seq = 2, superseded_by = NULL WHERE number = 2")),
        // A hole in the history, and a successor of what is in force.
        (3, "UPDATE memory_states SET to_seq = 9 WHERE number = 3 AND from_seq = 4".to_owned()),
        (1, "UPDATE memories SET superseded_by = 'mem_0000000000' WHERE number = 1".to_owned()),
    ] {
        let fixture = furnished();
        fixture.tamper(&sql);
        let found = fixture.read(|r| r.verify_memories());
        assert!(found.contains(&MemoryFinding::StateChanged { id: id(number) }) || found.contains(&MemoryFinding::TextChanged { id: id(number) }), "{sql}: {found:?}");
    }
}

#[test]
fn a_memory_that_was_slipped_in_or_taken_out_is_named() {
    let fixture = furnished();
    fixture.tamper("CREATE TABLE m AS SELECT * FROM memories WHERE number = 1;
         UPDATE m SET number = 99, id = 'mem_zzzzzzzzzz', content_key = zeroblob(1), layer = 'P0';
         INSERT INTO memories SELECT * FROM m; DROP TABLE m;
         INSERT INTO memory_states SELECT tenant, 99, from_seq, to_seq, status, tier, 'P0', confidence, importance,
             pinned FROM memory_states WHERE number = 1",
    );
    let slipped = MemoryFinding::StateChanged { id: "mem_zzzzzzzzzz".into() };
    assert!(fixture.read(|r| r.verify_memories()).contains(&slipped));

    let gone = MemoryFinding::Missing { id: furnished().read(|r| r.memory_by_number(1)).expect("stored").id };
    let erase = "DELETE FROM memories WHERE number = 1; DELETE FROM memory_states WHERE number = 1;";
    let stone = "INSERT INTO tombstones (tenant, kind, number, id, at, seq) SELECT tenant, 'memory', number, id, 0, 3 FROM memories WHERE number = 1;";
    for sql in [erase.to_owned(), format!("{stone}{erase}")] {
        let fixture = furnished();
        fixture.tamper(&sql);
        assert!(fixture.read(|r| r.verify_memories()).contains(&gone), "{sql}");
    }
    let fixture = furnished();
    fixture.tamper("DELETE FROM snapshots");
    assert_eq!(fixture.read(|r| r.missing_snapshots()), ["before"]);
}

#[test]
fn a_later_signature_does_not_cover_an_approval_that_has_none() {
    let key = SecretKey::derive("correct horse", &[3; 16], DerivationParams::CHEAP).expect("a passphrase");
    let approval = Principal::new(PrincipalKind::System, "approval").on_behalf_of(&agent());
    let fixture = Fixture::new();
    let approve = |signed: bool| {
        let new = [fixture.memory("a rule"), fixture.memory("another")];
        let write = fixture.write(|w| {
            for new in &new {
                w.record(&NewAudit::new(&approval, Face::Cli, "note", new.id.as_str()))?;
            }
            if signed { w.sign_head(&key).map(drop) } else { Ok(()) }
        });
        write.expect("written");
    };
    let report = || fixture.read(|r| r.verify_audit(&[], Some(&key.public()))).findings;
    approve(true);
    fixture.remember(&fixture.memory("in between")).expect("stored");
    approve(true);
    assert_eq!(report(), []);
    approve(false);
    approve(true);
    assert_eq!(report(), [Finding::Unsigned { seq: 6 }]);
}

#[test]
fn what_the_migrations_did_not_make_is_named() {
    let check =
        |fixture: &Fixture| fixture.ledger.database().check(&Control::default(), true).expect("checked");
    assert_eq!(check(&furnished()), Vec::<String>::new());
    let trigger = |fixture: &Fixture| {
        if fixture.is_on_server() {
            "CREATE TRIGGER quiet BEFORE UPDATE ON memories FOR EACH ROW
             EXECUTE FUNCTION suppress_redundant_updates_trigger()"
        } else {
            "CREATE TRIGGER quiet AFTER INSERT ON memories BEGIN UPDATE memories SET body = 'x'; END"
        }
    };
    for (sql, named) in [
        (None, "trigger `quiet`"),
        (Some("CREATE VIEW v AS SELECT 1"), "view `v`"),
        (Some("CREATE TABLE t (n INTEGER)"), "table `t`"),
        (Some("DROP INDEX memories_live_content"), "index `memories_live_content`"),
    ] {
        let fixture = furnished();
        fixture.alter(sql.unwrap_or_else(|| trigger(&fixture)));
        let found = check(&fixture);
        assert!(found.len() == 1 && found[0].contains(named), "{named}: {found:?}");
    }
}
