//! The ledger on a PostgreSQL server: what is written is read, tenants are apart, one writes at a time.

use std::time::Duration;

use crate::fixture::{Fixture, audited, birth, store};
use crate::postgres_support::TestDatabase;
use strata_store::{
    Control, StoreError,
    faults::FaultPlan,
    ledger::{Ledger, NAMESPACE},
    params,
    sql::{Access, Transaction},
};

fn ledger(database: &TestDatabase, tenant: &str) -> Ledger {
    Ledger::on_server(database.server(tenant), FaultPlan::none())
}

fn impatient() -> Control {
    Control { patience: Duration::from_millis(200), ..Control::default() }
}

#[test]
fn what_is_remembered_is_read_again() {
    let Some(database) = TestDatabase::new() else { return };
    let ledger = ledger(&database, "local");
    let control = Control::default();
    assert_eq!(ledger.access(&control).expect("looks"), Access::Absent);
    let early = ledger.write(&control, birth().at, |w| audited(w, "x", "y").map(drop));
    assert!(matches!(early, Err(StoreError::NotInitialized { .. })), "{early:?}");
    assert!(ledger.initialise(&control, &birth()).expect("made"));
    assert!(!ledger.initialise(&control, &birth()).expect("there"), "the first one's birth counts");
    assert_eq!(ledger.access(&control).expect("looks"), Access::ReadWrite);

    let f = Fixture::on(ledger);
    let new = f.memory("안녕, 東京: the deploy needs a token");
    let before = f.ledger.database().data_version(&control).expect("a number");
    f.remember(&new).expect("stored");
    assert_ne!(f.ledger.database().data_version(&control).expect("a number"), before);
    let row = f.read(|r| r.memory(new.id.as_str())).expect("there");
    assert_eq!((row.id.as_str(), row.body.as_str()), (new.id.as_str(), new.body.as_str()));
    assert_eq!(f.ledger.database().check(&control, false).expect("checked"), Vec::<String>::new());
    let report = f.read(|r| r.verify_audit(&[], None));
    assert!(report.findings.is_empty(), "{report:?}");
    // Another process sees it.
    let other = Ledger::on_server(database.server("local"), FaultPlan::none());
    assert_eq!(other.read(&control, |r| r.head()).expect("read").seq, f.read(|r| r.head()).seq);
}

#[test]
fn what_a_tenants_rows_hold_is_found_by_its_bytes() {
    let Some(database) = TestDatabase::new() else { return };
    let (f, other) = (Fixture::on(ledger(&database, "ann")), Fixture::on(ledger(&database, "ben")));
    for number in 0..3 {
        f.remember(&f.memory(&format!("number {number} of 서울"))).expect("stored");
    }
    let holding = |f: &Fixture, text: &str| {
        let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        f.ledger.database().tables_holding(&Control::default(), &holds).expect("searched")
    };
    let (tables, searched) = holding(&f, "2 of 서울");
    assert_eq!(tables, ["memories"]);
    assert!(searched > 15, "{searched}");
    assert!(holding(&f, "3 of 서울").0.is_empty() && holding(&other, "of 서울").0.is_empty());
}

#[test]
fn a_failed_write_leaves_nothing() {
    let Some(database) = TestDatabase::new() else { return };
    let f = Fixture::on(ledger(&database, "local"));
    let head = f.read(|r| r.head());
    let failed: Result<(), _> = f.write(|w| {
        store(w, &f.memory("half done"))?;
        Err(StoreError::Invalid("no".into()))
    });
    assert!(failed.is_err());
    assert_eq!(f.read(|r| r.head()).seq, head.seq);
    let zero = f.remember(&f.memory("a\0b"));
    assert!(matches!(zero, Err(StoreError::Invalid(_))), "{zero:?}");
    assert_eq!(f.read(|r| r.head()).seq, head.seq);
    f.remember(&f.memory("whole")).expect("stored");
}

/// Statements that nobody waits for go out with the next that is waited for, at the latest with the commit.
#[test]
fn what_was_posted_is_seen_by_the_next_and_a_failure_among_it_undoes_all() {
    let Some(database) = TestDatabase::new() else { return };
    let f = Fixture::on(ledger(&database, "local"));
    let control = Control::default();
    let count = |tx: &Transaction<'_>| {
        let sql = "SELECT count(*) FROM tombstones WHERE tenant = $1";
        tx.query_one(sql, params!["local"], |row| row.get::<i64>(0)).map(Option::unwrap_or_default)
    };
    let post = |tx: &Transaction<'_>, number: i64| {
        tx.post(
            "INSERT INTO tombstones (tenant, kind, number, id, at, seq) VALUES ($1, 'memory', $2, $3, 0, 0)",
            params!["local", number, &format!("id {number}")],
        )
    };
    // More than wait at a time, so that some go out on their own.
    let seen = f.ledger.database().write(&control, |tx| {
        (0..600).try_for_each(|number| post(tx, number))?;
        count(tx)
    });
    assert_eq!(seen.expect("written"), 600);
    let twice: Result<(), _> = f.ledger.database().write(&control, |tx| {
        post(tx, 1_000)?;
        post(tx, 7)?;
        post(tx, 1_001)
    });
    let error = twice.expect_err("it is there already").to_string();
    assert!(error.contains("tombstones"), "the first failure is told, not what follows from it: {error}");
    let told: Result<i64, _> = f.ledger.database().write(&control, |tx| {
        post(tx, 7)?;
        count(tx)
    });
    assert!(told.expect_err("it is there already").to_string().contains("tombstones"));
    assert_eq!(f.ledger.database().read(&control, count).expect("read"), 600);
}

#[test]
fn tenants_do_not_see_each_other() {
    let Some(database) = TestDatabase::new() else { return };
    let role = format!("{}_app", database.name());
    database.as_admin(&[&format!("CREATE ROLE {role} LOGIN")]);
    let ann = Fixture::on(ledger(&database, "ann"));
    ann.ledger.database().admit(&Control::default(), &role).expect("granted");
    let app = |tenant: &str| {
        let server = strata_store::Server::parse(&database.url(Some(&role)), tenant).expect("well formed");
        Ledger::on_server(server, FaultPlan::none())
    };
    // The other role makes a tenant, but no schema.
    let ben = Fixture::on(app("ben"));
    let (of_ann, of_ben) = (ann.memory("of ann"), ben.memory("of ben"));
    assert_eq!(of_ann.id, of_ben.id, "ids are the tenant's own");
    ann.remember(&of_ann).expect("stored");
    ben.remember(&of_ben).expect("stored");
    assert_eq!(ben.read(|r| r.memory(of_ben.id.as_str())).expect("there").body, "of ben");
    assert_eq!(
        app("ann")
            .read(&Control::default(), |r| r.memory(of_ann.id.as_str()))
            .expect("read")
            .expect("there")
            .body,
        "of ann"
    );
    // A connection without a tenant sees nothing, one of another tenant nothing of this one.
    let config = database.url(Some(&role)).parse().expect("well formed");
    let count = format!("SELECT count(*) FROM {NAMESPACE}.memories");
    assert_eq!(crate::postgres_support::run(&config, &[&count]), [[Some("0".to_owned())]]);
    let as_carl = crate::postgres_support::run(&config, &["SET strata.tenant = 'carl'", &count]);
    assert_eq!(as_carl, [[Some("0".to_owned())]]);
    let both = crate::postgres_support::run(&database.url(None).parse().expect("well formed"), &[&count]);
    assert_eq!(both, [[Some("2".to_owned())]], "the administrator of the server sees all");
    let open = format!(
        "SELECT relname FROM pg_class WHERE relnamespace = '{NAMESPACE}'::regnamespace AND relkind = 'r'
         AND NOT (relrowsecurity AND relforcerowsecurity)"
    );
    assert_eq!(database.ask(&open), [[Some("schema_migrations".to_owned())]]);
    drop((ben, ann));
    database.ask(&format!("DROP OWNED BY {role}"));
    database.as_admin(&[&format!("DROP ROLE {role}")]);
}

#[test]
fn one_writes_at_a_time_and_the_others_wait_or_say_that_it_is_busy() {
    let Some(database) = TestDatabase::new() else { return };
    let f = Fixture::on(ledger(&database, "local"));
    let other = ledger(&database, "local");
    let now = f.now();
    f.write(|w| {
        audited(w, "first", "x")?;
        let busy = other.write(&impatient(), now, |w| audited(w, "second", "x").map(drop));
        assert!(
            matches!(busy, Err(StoreError::Busy { waited }) if waited >= Duration::from_millis(200)),
            "{busy:?}"
        );
        other.read(&impatient(), |r| r.head()).map(drop)
    })
    .expect("written");
    other.write(&impatient(), now, |w| audited(w, "second", "x").map(drop)).expect("written");
    let many: Vec<_> = (0..4)
        .map(|_| {
            let ledger = ledger(&database, "local");
            std::thread::spawn(move || {
                for _ in 0..20 {
                    ledger
                        .write(&Control::default(), now, |w| audited(w, "many", "x").map(drop))
                        .expect("written");
                }
            })
        })
        .collect();
    many.into_iter().for_each(|thread| thread.join().expect("ends"));
    let report = f.read(|r| r.verify_audit(&[], None));
    assert!(report.findings.is_empty(), "{report:?}");
    assert_eq!(f.read(|r| r.head()).seq, 82);
}
