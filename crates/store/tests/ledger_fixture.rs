//! A ledger as the first schema wrote it, frozen as text: every later version must open it.
//!
//! A new schema version gets a new file beside this one, written by
//! `cargo test -p strata-store --test ledger_fixture -- --ignored`; released files never change.

mod fixture;

use std::{fmt::Write, path::Path};

use fixture::{Fixture, START, agent, audited, store};
use strata_core::{
    id::IdKind,
    memory::Status,
    principal::Face,
    scope::Scope,
    signing::{DerivationParams, SecretKey},
    time::Timestamp,
};
use strata_store::{
    Control,
    faults::FaultPlan,
    ledger::{
        EpisodeFilter, EvidenceRow, Ledger, MemoryFilter, NewAudit, NewEpisode, NewJob, NewReview, NewSource,
        PurgedKind, SCHEMA, SourceState, State,
    },
};

const FROZEN: &str = include_str!("fixtures/ledger-v1.sql");

fn key() -> SecretKey {
    SecretKey::derive("correct horse", &[3; 16], DerivationParams::CHEAP).expect("a passphrase")
}

#[test]
fn the_first_schema_opens() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let connection = rusqlite::Connection::open(directory.path().join("ledger.db")).expect("made");
    connection.execute_batch(FROZEN).expect("the dump is whole");
    drop(connection);
    let ledger = Ledger::new(directory.path(), FaultPlan::none());
    let read = |r: &strata_store::ledger::LedgerRead<'_>| {
        assert_eq!(r.epoch()?, "epoch-1");
        assert_eq!(r.setting("zone")?.as_deref(), Some("Asia/Shanghai"));
        let live = r.memories(&MemoryFilter::default())?;
        let bodies: Vec<_> = live.iter().map(|m| m.body.as_str()).collect();
        assert_eq!(bodies, ["the port is 5433", "数据库在东京"]);
        assert_eq!(live[0].tags, ["db", "port"]);
        assert_eq!(live[0].scope, Scope::project("web"));
        assert_eq!(r.evidence(live[0].number)?.len(), 1);
        assert_eq!(r.usage(live[0].number)?.recalled, 3);
        let earlier = r.memories(&MemoryFilter { as_of: Some(2), ..MemoryFilter::default() })?;
        assert_eq!(earlier.last().map(|m| m.body.as_str()), Some("the port is 5432"));
        assert_eq!(r.history(live[0].number)?.line.len(), 2);
        assert_eq!(r.episodes(&EpisodeFilter::default())?[0].text, "bonjour");
        assert_eq!(r.refusal(7)?.map(|refusal| refusal.count), Some(2));
        assert_eq!(r.purged()?[0].kind, PurgedKind::Memory);
        let totals = r.totals()?;
        assert_eq!((totals.memories, totals.episodes, totals.sources, totals.audit), (3, 1, 1, 9));
        assert_eq!((totals.pending_reviews, totals.open_jobs), (1, 1));
        let report = r.verify_audit(&[], Some(&key().public()))?;
        assert!(report.is_whole(), "{:?}", report.findings);
        assert_eq!(report.signed_heads, 1);
        Ok(())
    };
    ledger.read(&Control::default(), read).expect("readable");
    let fixture = Fixture::new();
    let store_next = || {
        let new = fixture.memory("new");
        ledger.write(&Control::default(), Timestamp(START), |w| store(w, &new))
    };
    // The fixture draws the ids that are frozen, the purged one included, before it draws a new one.
    let number = (0..20).find_map(|_| store_next().ok()).expect("writable");
    assert_eq!(number, 5, "the number of the purged one is not given again");
    ledger
        .read(&Control::default(), |r| r.verify_audit(&[], None).map(|r| assert!(r.is_whole())))
        .expect("read");
}

#[test]
fn released_migrations_are_as_they_were() {
    for migration in SCHEMA.migrations.iter().filter(|m| m.version == 1) {
        assert!(FROZEN.contains(&migration.checksum()), "migration 1 was edited after it was frozen");
    }
}

#[test]
#[ignore = "writes the frozen file of a new schema version"]
fn freeze() {
    let fixture = Fixture::new();
    fill(&fixture).expect("filled");
    fixture.ledger.database().checkpoint(&Control::default()).expect("log emptied");
    let connection = rusqlite::Connection::open(fixture.home().join("ledger.db")).expect("opened");
    let path = format!("tests/fixtures/ledger-v{}.sql", SCHEMA.latest());
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    strata_store::files::write_atomic(&place, dump(&connection).as_bytes()).expect("written");
}

/// At least one row in every table.
fn fill(fixture: &Fixture) -> Result<(), strata_store::StoreError> {
    let mut first = fixture.memory("the port is 5432");
    first.topic_key = Some("db.port".into());
    first.scope = Scope::project("web");
    let mut second = fixture.memory("the port is 5433");
    second.topic_key = first.topic_key.clone();
    second.scope = first.scope.clone();
    second.supersedes = Some(first.id.clone());
    second.tags = vec!["db".into(), "port".into()];
    second.bands = vec![11, -22];
    second.evidence = vec![EvidenceRow {
        kind: "file".into(),
        reference: "db.rs:3".into(),
        note: "read".into(),
        at: fixture.now(),
    }];
    let (third, gone) = (fixture.memory("数据库在东京"), fixture.memory("to be purged"));
    let turn = NewEpisode {
        id: fixture.id(IdKind::Episode),
        external_id: Some("e1".into()),
        session: "s1".into(),
        at: fixture.now(),
        speaker: "Ana".into(),
        role: "user".into(),
        text: "bonjour".into(),
        metadata: "{}".into(),
        scope: Scope::user(),
        source: "import".into(),
        writer: "gateway:import".into(),
    };
    let review = NewReview {
        id: fixture.id(IdKind::Review),
        kind: "candidate".into(),
        target: third.id.to_string(),
        proposal: "{}".into(),
        reason: String::new(),
        proposer: "agent:test".into(),
        created_at: fixture.now(),
    };
    let source = NewSource {
        namespace: "shared".into(),
        project: Some("web".into()),
        root: "/web".into(),
        path: "README.md".into(),
        size: 5,
        mtime: Timestamp(START),
        hash: [5; 32],
        state: SourceState::Present,
    };
    fixture.remember(&first)?;
    fixture.remember(&third)?;
    let replaced = fixture.remember(&second)?;
    fixture.remember(&gone)?;
    fixture.write(|w| {
        let seq = audited(w, "purge", gone.id.as_str())?;
        w.purge(PurgedKind::Memory, gone.id.as_str(), seq)?;
        let seq = audited(w, "import", "episodes:1")?;
        w.insert_episodes(std::slice::from_ref(&turn), seq)?;
        let principal = agent();
        let refused = NewAudit { reason: "no", ..NewAudit::new(&principal, Face::Mcp, "remember", "P0") };
        w.refuse(&refused)?;
        w.refuse(&refused)?;
        let seq = audited(w, "propose", third.id.as_str())?;
        w.insert_review(&review, seq)?;
        w.record_source(&source, seq)?;
        let seq = audited(w, "change", third.id.as_str())?;
        w.change_state(2, None, &State { status: Status::Stale, ..third.state }, seq)?;
        w.queue_job(&NewJob {
            id: fixture.id(IdKind::Job),
            kind: "import".into(),
            total: 1,
            message: "x".into(),
        })?;
        w.count_usage(&[(replaced, 3)], &[])?;
        w.ensure_project("web", "Web")?;
        w.alias_project("/web", "web")?;
        w.set_setting("zone", "Asia/Shanghai")?;
        w.sign_head(&key()).map(drop)
    })
}

/// The database as SQL text.
fn dump(connection: &rusqlite::Connection) -> String {
    let mut text = String::from("BEGIN;\n");
    let strings = |sql: &str| -> Vec<String> {
        let mut statement = connection.prepare(sql).expect("a query");
        let rows = statement.query_map([], |row| row.get(0)).expect("rows");
        rows.collect::<Result<_, _>>().expect("texts")
    };
    for pragma in ["application_id", "user_version"] {
        let value: i64 =
            connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0)).expect("a number");
        writeln!(text, "PRAGMA {pragma} = {value};").expect("to memory");
    }
    for sql in strings("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, name") {
        writeln!(text, "{sql};").expect("to memory");
    }
    for table in strings("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
        let columns = strings(&format!("SELECT 'quote(' || name || ')' FROM pragma_table_info('{table}')"));
        let row = columns.join(" || ', ' || ");
        for values in strings(&format!("SELECT {row} FROM {table} ORDER BY 1")) {
            writeln!(text, "INSERT INTO {table} VALUES ({values});").expect("to memory");
        }
    }
    text.push_str("COMMIT;\n");
    text
}
