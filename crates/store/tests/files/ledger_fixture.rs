//! A ledger as each version of the schema wrote it, frozen as text: every later version must open it.
//!
//! A new schema version gets a new file beside the others, written by
//! `STORE_TEST_FREEZE=1 cargo test -p strata-store --test files`; released files never change.

use std::{collections::BTreeMap, fmt::Write, path::PathBuf};

use crate::fixture::{Fixture, START, agent, ask, audited, import_events, store};
use strata_core::{
    graph::Origin,
    id::IdKind,
    knowledge::{
        changelog::Operation,
        name::VaultPath,
        todo::{Priority, Stamps, Status as TodoStatus},
    },
    memory::{Kind, Relation, Status},
    principal::Face,
    scope::Scope,
    signing::{DerivationParams, SecretKey},
    time::Timestamp,
};
use strata_store::{
    Control, StoreError,
    faults::FaultPlan,
    ledger::{
        AccessKind, AccessRow, BranchSeen, DigestLink, EntityFilter, EpisodeFilter, EvidenceRow, Ledger,
        LedgerRead, LedgerWrite, MemoryFilter, MemoryRelation, Mention, NewAudit, NewEntity, NewEpisode,
        NewGeneration, NewJob, NewL0Entry, NewMemory, NewRelation, NewReview, NewSnapshot, NewSource,
        PurgedKind, RawKind, RuleAttributes, SCHEMA, Seq, SourceState, State, TodoOrigin, TodoVersion,
        VaultChange, set_hash,
    },
};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The frozen files by the version of their schema.
fn frozen() -> BTreeMap<i64, String> {
    let versions = 1..=SCHEMA.latest();
    let found: BTreeMap<i64, String> = versions
        .filter_map(|v| Some((v, std::fs::read_to_string(folder().join(format!("ledger-v{v}.sql"))).ok()?)))
        .collect();
    assert!(found.contains_key(&1), "the first one is there");
    found
}

fn key() -> SecretKey {
    SecretKey::derive("correct horse", &[3; 16], DerivationParams::CHEAP).expect("a passphrase")
}

#[test]
fn every_frozen_schema_opens() {
    for (version, text) in frozen() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let connection = rusqlite::Connection::open(directory.path().join("ledger.db")).expect("made");
        connection.execute_batch(&text).expect("the dump is whole");
        drop(connection);
        let ledger = Ledger::new(directory.path(), FaultPlan::none());
        let has_all_tables = version >= 6;
        ledger.read(&Control::default(), |r| first_rows(r, version)).expect("readable");
        if has_all_tables {
            ledger.read(&Control::default(), newer_rows).expect("readable");
        }
        let fixture = Fixture::new();
        let store_next = || {
            let new = fixture.memory("new");
            ledger.write(&Control::default(), Timestamp(START), |w| store(w, &new))
        };
        // The fixture draws the ids that are frozen, those purged included, before it draws a new one.
        let number = (0..60).find_map(|_| store_next().ok()).expect("writable");
        let next = if has_all_tables { 8 } else { 5 };
        assert_eq!(number, next, "version {version}: the number of a purged one is not given again");
        ledger
            .read(&Control::default(), |r| r.verify_audit(&[], None).map(|r| assert!(r.is_whole())))
            .expect("read");
    }
}

/// What [`fill`] stored.
fn first_rows(r: &LedgerRead<'_>, version: i64) -> Result<(), StoreError> {
    assert_eq!(r.epoch()?, "epoch-1");
    assert_eq!(r.setting("zone")?.as_deref(), Some("Asia/Shanghai"));
    let live = r.memories(&MemoryFilter::default())?;
    let find = |body: &str| live.iter().find(|m| m.body == body).expect("in force");
    let (port, city) = (find("the port is 5433"), find("数据库在东京"));
    assert_eq!((port.number, city.number), (3, 2));
    assert_eq!(port.tags, ["db", "port"]);
    assert_eq!(port.scope, Scope::project("web"));
    assert_eq!(r.evidence(port.number)?.len(), 1);
    assert_eq!(r.usage(port.number)?.recalled, 3);
    let earlier = r.memories(&MemoryFilter { as_of: Some(2), ..MemoryFilter::default() })?;
    assert_eq!(earlier.last().map(|m| m.body.as_str()), Some("the port is 5432"));
    assert_eq!(r.history(port.number)?.line.len(), 2);
    assert_eq!(r.episodes(&EpisodeFilter::default())?[0].text, "bonjour");
    assert_eq!(r.refusal(7)?.map(|refusal| refusal.count), Some(2));
    assert_eq!(r.purged()?[0].kind, PurgedKind::Memory);
    let totals = r.totals()?;
    // From 10 on a file of the vault is a source, and with the todo it has a line of the audit of its own.
    let (memories, sources, audit) = match version {
        ..6 => (3, 1, 9),
        6..10 => (5, 1, 16),
        _ => (5, 2, 18),
    };
    assert_eq!(
        (totals.memories, totals.episodes, totals.sources, totals.audit),
        (memories, 1, sources, audit)
    );
    assert_eq!((totals.pending_reviews, totals.open_jobs), (1, 1));
    let report = r.verify_audit(&[], Some(&key().public()))?;
    assert!(report.is_whole(), "{:?}", report.findings);
    assert_eq!(report.signed_heads, 1);
    Ok(())
}

/// What [`fill_newer`] stored.
fn newer_rows(r: &LedgerRead<'_>) -> Result<(), StoreError> {
    let rule = r.rule(5)?.expect("attributes").attributes;
    assert_eq!((rule.priority, rule.condition.as_deref()), (10, Some("on main")));
    assert_eq!(r.digest_links(6)?, [DigestLink { kind: RawKind::Episode, source: 1, quoted: true }]);
    let entities = r.entities(&EntityFilter { limit: 10, ..EntityFilter::default() })?;
    let labels: Vec<_> = entities.iter().map(|e| e.label.as_str()).collect();
    assert_eq!(labels, ["nginx", "网关故障"]);
    assert_eq!(r.relations_between(entities[1].number, "caused_by", entities[0].number)?.len(), 1);
    assert_eq!(r.mentions_of(5)?.len(), 1);
    let snapshot = r.snapshot("start")?.expect("taken");
    assert_eq!((snapshot.live, r.snapshot_losses("start")?), (5, 1));
    assert!(r.snapshot_holds(&snapshot)?);
    Ok(())
}

#[test]
fn released_migrations_are_as_they_were() {
    for (version, text) in frozen() {
        for migration in SCHEMA.migrations.iter().filter(|m| m.version <= version) {
            let edited = format!("migration {} was edited after it was frozen", migration.version);
            assert!(text.contains(&migration.checksum()), "{edited}");
        }
    }
}

#[test]
fn the_current_schema_is_frozen() {
    let written = current();
    let place = folder().join(format!("ledger-v{}.sql", SCHEMA.latest()));
    if std::env::var_os("STORE_TEST_FREEZE").is_some() {
        strata_store::files::write_atomic(&place, written.as_bytes()).expect("written");
    }
    let name = place.display();
    let frozen = std::fs::read_to_string(&place).unwrap_or_default();
    assert!(!frozen.is_empty(), "{name} is missing: the first lines of this file say how to write it");
    let differs = written.lines().zip(frozen.lines()).find(|(a, b)| a != b);
    assert_eq!(differs, None, "{name} is not what this version writes");
    assert_eq!(written.lines().count(), frozen.lines().count(), "{name}");
}

/// A filled ledger of the current schema, as text. Nothing in it depends on the day.
fn current() -> String {
    let fixture = Fixture::new();
    fill(&fixture).and_then(|()| fill_newer(&fixture)).expect("filled");
    fixture.ledger.database().checkpoint(&Control::default()).expect("log emptied");
    let connection = rusqlite::Connection::open(fixture.home().join("ledger.db")).expect("opened");
    connection
        .execute("UPDATE schema_migrations SET applied_at = ?1", [START])
        .expect("the time of day goes");
    let text = dump(&connection);
    for table in tables(&connection) {
        assert!(text.contains(&format!("INSERT INTO {table} ")), "`{table}` has no row");
    }
    text
}

/// At least one row in every table of the first version.
fn fill(fixture: &Fixture) -> Result<(), StoreError> {
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
        salt: [9; 16],
    };
    let review = NewReview {
        id: fixture.id(IdKind::Review),
        kind: "candidate".into(),
        target: third.id.to_string(),
        proposal: "{}".into(),
        reason: String::new(),
        proposer: "agent:test".into(),
        created_at: fixture.now(),
        salt: [10; 16],
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
        import_events(w, std::slice::from_ref(&turn))?;
        let principal = agent();
        let refused = NewAudit { reason: "no", ..NewAudit::new(&principal, Face::Mcp, "remember", "P0") };
        w.refuse(&refused)?;
        w.refuse(&refused)?;
        let seq = ask(w, &review)?;
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

/// A row in every table that came after the first version.
fn fill_newer(fixture: &Fixture) -> Result<(), StoreError> {
    let attributes = RuleAttributes { priority: 10, condition: Some("on main".into()), enabled: true };
    let rule = NewMemory {
        kind: Kind::parse("rule").expect("a kind"),
        rule: Some(attributes),
        ..fixture.memory("always review")
    };
    let number = fixture.write(|w| {
        let principal = agent();
        let row = NewAudit {
            after_hash: Some(rule.audit_hash()),
            ..NewAudit::new(&principal, Face::Library, "rule_add", rule.id.as_str())
        };
        let seq = w.record(&row)?;
        w.insert_memory(&rule, seq)
    })?;
    let digest = fixture.remember(&fixture.memory("Ana said bonjour"))?;
    let lost = fixture.memory("to be purged after the snapshot");
    fixture.remember(&lost)?;
    let (tool, incident) = (entity(fixture, "nginx", "tool"), entity(fixture, "网关故障", "incident"));
    let (relation, at) = (fixture.id(IdKind::Relation), fixture.now());
    fixture.write(|w| {
        let seq = audited(w, "consolidate", "1")?;
        w.link_digest(digest, &[DigestLink { kind: RawKind::Episode, source: 1, quoted: true }], seq)?;
        let seq = audited(w, "relation_add", "1")?;
        let (target, source) = (w.insert_entity(&tool, seq)?, w.insert_entity(&incident, seq)?);
        let new = NewRelation {
            id: relation.clone(),
            source,
            relation: "caused_by".into(),
            target,
            properties: "{}".into(),
            scope: Scope::user(),
            origin: Origin::Stated,
            confidence: 0.5,
            writer: "agent:test".into(),
            created_at: at,
        };
        w.insert_relation(&new, seq)?;
        w.add_mention(&Mention {
            memory: number,
            entity: target,
            origin: Origin::Inferred,
            confidence: 0.25,
        })?;
        let relation = Relation::DependsOn;
        w.relate_memories(&[MemoryRelation { source: digest, relation, target: number, at }], seq)?;
        let seen = BranchSeen {
            tip: "1a2b3c".into(),
            own_tip: String::new(),
            judged: String::new(),
            review: String::new(),
        };
        w.note_branch("app", "feature", &seen)?;
        fill_knowledge(w, seq)?;
        let seq = audited(w, "snapshot_create", "start")?;
        let rows = w.live_at(seq.get())?;
        let live = i64::try_from(rows.len()).expect("few");
        let hash = set_hash(&rows);
        let new = NewSnapshot { name: "start", label: "before", who: "agent:test", at: None, live, hash };
        w.insert_snapshot(&new, seq)
    })?;
    fixture.write(|w| {
        let seq = audited(w, "purge", lost.id.as_str())?;
        w.purge(PurgedKind::Memory, lost.id.as_str(), seq).map(drop)
    })
}

/// A look at knowledge, and an entry that points at some.
fn fill_knowledge(w: &LedgerWrite<'_>, seq: Seq) -> Result<(), StoreError> {
    let entry = NewL0Entry {
        namespace: "shared".into(),
        path: "team.md".into(),
        summary: "谁做什么".into(),
        writer: "agent:test".into(),
        at: Timestamp(START),
        salt: [9; 16],
    };
    let access = AccessRow {
        at: Timestamp(START),
        reader: "shared".into(),
        namespace: "shared".into(),
        path: "infra/proxy.md".into(),
        kind: AccessKind::Recall,
        query: Some("proxy".into()),
        rank: Some(1),
        score: Some(13.5),
    };
    w.put_l0_entry(&entry, seq)?;
    w.add_accesses(std::slice::from_ref(&access))?;
    fill_todos(w)?;
    fill_vault(w)
}

fn fill_todos(w: &LedgerWrite<'_>) -> Result<(), StoreError> {
    let origin = TodoOrigin {
        id: "todo_0123456789".into(),
        scope: Scope::user(),
        session: String::new(),
        created_at: Timestamp(START),
    };
    let version = TodoVersion {
        domain: "infra".into(),
        title: "ports".into(),
        content: "检查端口".into(),
        blocked_by: Vec::new(),
        priority: Priority::Medium,
        status: TodoStatus::Pending,
        notes: String::new(),
        stamps: Stamps::default(),
        deleted_at: None,
        updated_at: Timestamp(START),
        writer: "agent:test".into(),
        salt: [8; 16],
    };
    let seq = audited(w, "todo_add", &origin.id)?;
    w.insert_todo(&origin, &version, seq).map(drop)
}

/// A file of the vault and what the changelog says of it.
fn fill_vault(w: &LedgerWrite<'_>) -> Result<(), StoreError> {
    let path = VaultPath::parse("infra/proxy.md").expect("a path");
    let new = NewGeneration {
        namespace: "shared",
        path: &path,
        from: None,
        origin: strata_store::ledger::Origin::Tool,
        writer: "agent:test",
        text: Some("## Port\n\n8443\n"),
        salt: [7; 16],
        mtime: Timestamp(START),
    };
    let change = VaultChange {
        seq: 0,
        ordinal: 0,
        id: "0123456789abcdef0123456789abcdef".into(),
        at: Timestamp(START),
        operation: Operation::DomainCreated,
        namespace: "shared".into(),
        domain: "proxy".into(),
        number: None,
        section: Some("Port".into()),
        agent_id: None,
        tool: "inject_knowledge".into(),
        summary: "made".into(),
        reason: String::new(),
        source_ref: None,
        before: None,
        after: None,
        metadata: "{}".into(),
    };
    let seq = audited(w, "l1_domain_created", "vault:shared/infra/proxy.md")?;
    let (number, _) = w.insert_generation(&new, seq)?;
    w.record_vault_change(&VaultChange { number: Some(number), ..change }, 0, seq)
}

fn entity(fixture: &Fixture, label: &str, kind: &str) -> NewEntity {
    NewEntity {
        id: fixture.id(IdKind::Entity),
        label: label.into(),
        kind: kind.into(),
        properties: "{}".into(),
        scope: Scope::user(),
        origin: Origin::Stated,
        confidence: 1.0,
        writer: "agent:test".into(),
        created_at: fixture.now(),
    }
}

/// The database as SQL text.
fn dump(connection: &rusqlite::Connection) -> String {
    let mut text = String::from("BEGIN;\n");
    for pragma in ["application_id", "user_version"] {
        let value: i64 =
            connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0)).expect("a number");
        writeln!(text, "PRAGMA {pragma} = {value};").expect("to memory");
    }
    let schema = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, name";
    for sql in strings(connection, schema) {
        writeln!(text, "{sql};").expect("to memory");
    }
    for table in tables(connection) {
        let names = format!("SELECT 'quote(' || name || ')' FROM pragma_table_info('{table}')");
        let row = strings(connection, &names).join(" || ', ' || ");
        for values in strings(connection, &format!("SELECT {row} FROM {table} ORDER BY 1")) {
            writeln!(text, "INSERT INTO {table} VALUES ({values});").expect("to memory");
        }
    }
    text.push_str("COMMIT;\n");
    text
}

fn tables(connection: &rusqlite::Connection) -> Vec<String> {
    strings(connection, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
}

fn strings(connection: &rusqlite::Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).expect("a query");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.collect::<Result<_, _>>().expect("texts")
}
