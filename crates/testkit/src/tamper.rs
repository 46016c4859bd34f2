//! Ledgers changed behind Strata's back, as somebody with a database tool would change them.

use strata_store::sql::{Control, Database, Param};

/// What is changed.
#[derive(Debug, Clone, Copy)]
pub enum Damage<'a> {
    /// Another reason in an audit row.
    AuditReason(i64),
    /// Another principal in an audit row.
    AuditPrincipal(i64),
    /// An audit row taken out.
    AuditRow(i64),
    /// The audit's tail cut off behind a row; the records it speaks of stay.
    AuditTail(i64),
    /// The same, with the states and events that carry its sequences.
    WholeTail(i64),
    /// Heads that claim another key.
    HeadKeys,
    /// Heads with another signature.
    HeadSignatures,
    /// A memory lifted into layer P0.
    Layer(&'a str),
    /// Another word in a text column (`body`, `title` or `kind`) of the first memory.
    Word(&'a str),
    /// Another value in a column of the first memory.
    Column(&'a str, Param<'a>),
    /// Another value in a column of the last raw event.
    Event(&'a str, Param<'a>),
    /// The last raw event taken out.
    EventRow,
    /// Another value in a column of the only review.
    Review(&'a str, Param<'a>),
    /// The reviews taken out.
    Reviews,
    /// Another value in a state column of the first memory: in its row and in all of its states.
    State(&'a str, Param<'a>),
    /// Another word in a state column (`layer` or `status`) of a memory, by its number: in its row and in all
    /// of its states, so that the two agree.
    Everywhere(i64, &'a str, &'a str),
    /// A setting taken out, by its key.
    SettingGone(&'a str),
    /// A setting with the value of another home's, by its key.
    SettingOther(&'a str),
    /// Signed heads behind a row taken out.
    HeadsAfter(i64),
    /// The states of a memory, by its number.
    States(i64),
    /// Other attributes of rules: another `priority`, `condition` or `switch`, their `end`, or none (`rows`).
    Rule(&'a str),
    /// Other bytes in every generation of the vault's files.
    VaultContent,
    /// Successors that do not exist.
    Successors,
    /// A snapshot moved to another place in the order of changes, by its name.
    SnapshotPlace(&'a str),
    /// A snapshot's hash replaced, by its name.
    SnapshotHash(&'a str),
    /// Another confidence in the earliest state of a memory, by its number.
    FirstState(i64),
    /// Another confidence in the present state of a memory, by its number: in its row and in its latest state.
    LastState(i64),
    /// A link (`supersedes` or `parent`) of a memory led to nothing, by its number.
    Link(&'a str, i64),
    /// The row of a memory taken out, by its number, and its states with it; tags and evidence stay.
    MemoryRow(i64),
    /// A migration with another text than the one released, by its version.
    Migration(i64),
    /// A migration that only a newer Strata knows, and that keeps older ones from reading and writing.
    NewerSchema,
}

/// Does it.
///
/// # Panics
/// Nothing was there to change.
pub fn tamper(ledger: &Database, damage: Damage<'_>) {
    if column(ledger, damage) {
        return;
    }
    let statements: Vec<(&str, Vec<Param<'_>>)> = match damage {
        Damage::Column(..) | Damage::State(..) | Damage::Event(..) | Damage::Review(..) => Vec::new(),
        Damage::EventRow => {
            vec![("DELETE FROM episodes WHERE number = (SELECT max(number) FROM episodes)", Vec::new())]
        }
        Damage::Reviews => vec![("DELETE FROM reviews", Vec::new())],
        Damage::AuditReason(seq) => {
            vec![("UPDATE audit SET reason = 'nothing to see' WHERE seq = $1", vec![seq.into()])]
        }
        Damage::AuditPrincipal(seq) => {
            vec![("UPDATE audit SET principal = 'human:somebody' WHERE seq = $1", vec![seq.into()])]
        }
        Damage::AuditRow(seq) => vec![("DELETE FROM audit WHERE seq = $1", vec![seq.into()])],
        Damage::AuditTail(last) => vec![("DELETE FROM audit WHERE seq > $1", vec![last.into()])],
        Damage::WholeTail(last) => vec![
            ("DELETE FROM audit WHERE seq > $1", vec![last.into()]),
            ("DELETE FROM memory_states WHERE from_seq > $1", vec![last.into()]),
            ("DELETE FROM episodes WHERE seq > $1", vec![last.into()]),
        ],
        Damage::HeadKeys => vec![("UPDATE audit_heads SET public_key = $1", vec![(&[0; 32]).into()])],
        Damage::HeadSignatures => vec![("UPDATE audit_heads SET signature = $1", vec![(&[0; 64]).into()])],
        Damage::Layer(id) => vec![("UPDATE memories SET layer = 'P0' WHERE id = $1", vec![id.into()])],
        Damage::Word("body") => vec![("UPDATE memories SET body = 'other' WHERE number = 1", Vec::new())],
        Damage::Word("title") => vec![("UPDATE memories SET title = 'other' WHERE number = 1", Vec::new())],
        Damage::Word(_) => vec![("UPDATE memories SET kind = 'other' WHERE number = 1", Vec::new())],
        Damage::Everywhere(number, "layer", value) => vec![
            ("UPDATE memories SET layer = $2 WHERE number = $1", vec![number.into(), value.into()]),
            ("UPDATE memory_states SET layer = $2 WHERE number = $1", vec![number.into(), value.into()]),
        ],
        Damage::Everywhere(number, _, value) => vec![
            ("UPDATE memories SET status = $2 WHERE number = $1", vec![number.into(), value.into()]),
            ("UPDATE memory_states SET status = $2 WHERE number = $1", vec![number.into(), value.into()]),
        ],
        Damage::Rule("priority") => vec![("UPDATE rules SET priority = 1", Vec::new())],
        Damage::Rule("condition") => vec![("UPDATE rules SET condition = NULL", Vec::new())],
        Damage::Rule("switch") => vec![("UPDATE rules SET enabled = 0", Vec::new())],
        Damage::Rule("end") => vec![("UPDATE rules SET to_seq = from_seq + 1", Vec::new())],
        Damage::Rule(_) => vec![("DELETE FROM rules", Vec::new())],
        Damage::SettingGone(key) => vec![("DELETE FROM settings WHERE key = $1", vec![key.into()])],
        Damage::SettingOther(key) => {
            let other = "dbf2a7e2f5e5c1b0a5b8f1c0d3e4f5061728394a5b6c7d8e9f00112233445566";
            vec![("UPDATE settings SET value = $2 WHERE key = $1", vec![key.into(), other.into()])]
        }
        Damage::HeadsAfter(seq) => vec![("DELETE FROM audit_heads WHERE seq > $1", vec![seq.into()])],
        Damage::States(number) => {
            vec![("DELETE FROM memory_states WHERE number = $1", vec![number.into()])]
        }
        Damage::SnapshotPlace(name) => {
            vec![("UPDATE snapshots SET seq = seq - 1 WHERE name = $1", vec![name.into()])]
        }
        Damage::SnapshotHash(name) => {
            vec![("UPDATE snapshots SET hash = $2 WHERE name = $1", vec![name.into(), (&[0; 32]).into()])]
        }
        Damage::FirstState(number) => vec![(
            "UPDATE memory_states SET confidence = 0.123 WHERE number = $1
                 AND from_seq = (SELECT min(from_seq) FROM memory_states WHERE number = $1)",
            vec![number.into()],
        )],
        Damage::LastState(number) => vec![
            ("UPDATE memories SET confidence = 0.123 WHERE number = $1", vec![number.into()]),
            (
                "UPDATE memory_states SET confidence = 0.123 WHERE number = $1
                     AND from_seq = (SELECT max(from_seq) FROM memory_states WHERE number = $1)",
                vec![number.into()],
            ),
        ],
        Damage::Link("parent", number) => {
            vec![("UPDATE memories SET parent = 'mem_0000000000' WHERE number = $1", vec![number.into()])]
        }
        Damage::Link(_, number) => {
            vec![("UPDATE memories SET supersedes = 'mem_0000000000' WHERE number = $1", vec![number.into()])]
        }
        Damage::MemoryRow(number) => vec![
            ("DELETE FROM memories WHERE number = $1", vec![number.into()]),
            ("DELETE FROM memory_states WHERE number = $1", vec![number.into()]),
        ],
        Damage::Migration(version) => {
            vec![("UPDATE schema_migrations SET checksum = 'x' WHERE version = $1", vec![version.into()])]
        }
        Damage::NewerSchema => vec![(
            "INSERT INTO schema_migrations (version, name, checksum, min_reader, min_writer, applied_at)
             VALUES (999, 'future', 'x', 999, 999, 0)",
            Vec::new(),
        )],
        Damage::VaultContent => {
            vec![("UPDATE vault_generations SET content = $1", vec![(b"forged").into()])]
        }
        Damage::Successors => vec![(
            "UPDATE memories SET superseded_by = 'mem_0000000000' WHERE superseded_by IS NOT NULL",
            Vec::new(),
        )],
    };
    for (sql, values) in statements {
        run(ledger, sql, &values);
    }
}

/// Changes one column, if that is what `damage` is.
fn column(ledger: &Database, damage: Damage<'_>) -> bool {
    let (tables, column, value, rows) = match damage {
        Damage::Column(column, value) => (&["memories"][..], column, value, " WHERE number = 1"),
        Damage::State(column, value) => {
            (&["memories", "memory_states"][..], column, value, " WHERE number = 1")
        }
        Damage::Event(column, value) => {
            (&["episodes"][..], column, value, " WHERE number = (SELECT max(number) FROM episodes)")
        }
        Damage::Review(column, value) => (&["reviews"][..], column, value, ""),
        _ => return false,
    };
    for table in tables {
        run(ledger, &format!("UPDATE {table} SET {column} = $1{rows}"), &[value]);
    }
    true
}

fn run(ledger: &Database, sql: &str, values: &[Param<'_>]) {
    // Damage asks nobody; the store's own statements must name the tenant.
    let sql = &format!("/* any tenant */ {sql}");
    let changed = ledger.write(&Control::default(), |t| t.execute(sql, values)).expect("changed");
    assert!(changed > 0, "{sql}");
}
