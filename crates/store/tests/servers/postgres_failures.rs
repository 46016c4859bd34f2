//! What goes wrong between the store and its server is told by kind, leaves nothing half done, and takes no
//! connection with it.

use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use crate::fixture::{Fixture, audited, birth, store};
use crate::postgres_support::{TestDatabase, run};
use strata_core::{cancel::Cancel, error::ErrorKind};
use strata_store::{
    Control, Server, StoreError, error::UnfitRole, faults::FaultPlan, ledger::Ledger, sql::Access,
};

fn ledger(database: &TestDatabase) -> Ledger {
    Ledger::on_server(database.server("local"), FaultPlan::none())
}

/// Ends every other connection to the database.
fn cut_off(database: &TestDatabase) {
    database.ask(&format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid()",
        database.name()
    ));
}

/// Connections that are in a transaction.
fn at_work(database: &TestDatabase) -> String {
    let rows = database.ask(&format!(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid() AND state <> 'idle'",
        database.name()
    ));
    rows[0][0].clone().expect("a number")
}

#[test]
fn a_connection_that_breaks_at_work_is_told_and_replaced() {
    let Some(database) = TestDatabase::new() else { return };
    let f = Fixture::on(ledger(&database));
    let head = f.read(|r| r.head()).seq;
    let broken: Result<(), _> = f.write(|w| {
        store(w, &f.memory("half done"))?;
        cut_off(&database);
        audited(w, "after", "x").map(drop)
    });
    assert!(matches!(broken, Err(StoreError::Disconnected { unknown: false, .. })), "{broken:?}");
    assert_eq!(f.read(|r| r.head()).seq, head, "nothing of it was kept");
    let waiting: Result<(), _> = f.write(|w| {
        store(w, &f.memory("not sent yet"))?;
        cut_off(&database);
        Ok(())
    });
    assert!(matches!(waiting, Err(StoreError::Disconnected { unknown: false, .. })), "{waiting:?}");
    assert_eq!(f.read(|r| r.head()).seq, head, "the commit was not come to");
    let unknown: Result<(), _> = f.write(|w| {
        store(w, &f.memory("at the end"))?;
        // The server has answered everything but the commit.
        w.head()?;
        cut_off(&database);
        Ok(())
    });
    let error = unknown.expect_err("the commit found no server");
    assert!(matches!(error, StoreError::Disconnected { unknown: true, .. }), "{error:?}");
    assert!(error.to_string().contains("not known") && !error.hint().is_empty());
    // Broken while idle: nobody notices.
    cut_off(&database);
    f.remember(&f.memory("whole")).expect("stored on another connection");
    cut_off(&database);
    f.read(|r| r.head());
    cut_off(&database);
    assert_eq!(f.ledger.access(&Control::default()).expect("looks"), Access::ReadWrite);
    cut_off(&database);
    f.ledger.database().data_version(&Control::default()).expect("a number");
}

#[test]
fn a_withdrawn_call_and_a_deadline_stop_the_statement_in_flight() {
    let Some(database) = TestDatabase::new() else { return };
    let f = Fixture::on(ledger(&database));
    let cancel = Cancel::default();
    let flag = cancel.clone();
    let raised = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        flag.cancel();
    });
    let slow = |control: &Control| {
        let started = Instant::now();
        let outcome = f.ledger.database().read(control, |tx| tx.batch("SELECT pg_sleep(30)"));
        (outcome.expect_err("it was stopped"), started.elapsed())
    };
    let (error, took) = slow(&Control::with_cancel(&cancel));
    assert!(matches!(error, StoreError::Cancelled), "{error:?}");
    assert!(took < Duration::from_secs(5), "{took:?}");
    let (error, took) = slow(&Control::default().ending_in(Duration::from_millis(300)));
    assert!(matches!(error, StoreError::Deadline), "{error:?}");
    assert!(took < Duration::from_secs(5), "{took:?}");
    raised.join().expect("ends");
    assert_eq!(at_work(&database), "0", "no statement goes on behind our back");
    f.remember(&f.memory("afterwards")).expect("stored");
}

/// Runs `meanwhile` while nobody can read or write a table.
fn locked(database: &TestDatabase, table: &str, meanwhile: impl FnOnce()) {
    database.ask("DROP TABLE IF EXISTS public.released");
    database.ask("CREATE TABLE public.released (n INTEGER)");
    let locking = format!(
        "BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE;
         DO $$ BEGIN FOR n IN 1..1000 LOOP
             EXIT WHEN EXISTS (SELECT 1 FROM public.released);
             PERFORM pg_sleep(0.02);
         END LOOP; END $$;
         COMMIT"
    );
    let held = format!(
        "SELECT count(*) FROM pg_locks
         WHERE mode = 'AccessExclusiveLock' AND granted AND relation = '{table}'::regclass"
    );
    std::thread::scope(|scope| {
        scope.spawn(|| database.ask(&locking));
        while database.ask(&held) != [[Some("1".to_owned())]] {
            std::thread::sleep(Duration::from_millis(10));
        }
        meanwhile();
        database.ask("INSERT INTO public.released VALUES (1)");
    });
}

/// What became of it, and whether it took about as long as a caller of this patience waits.
fn in_time<T: std::fmt::Debug>(
    patience: Duration,
    call: impl FnOnce() -> Result<T, StoreError>,
) -> StoreError {
    let started = Instant::now();
    let error = call().expect_err("a table is locked");
    let took = started.elapsed();
    assert!(took >= patience && took < patience + Duration::from_millis(900), "{took:?}: {error:?}");
    error
}

#[test]
fn who_locks_a_table_keeps_nobody_longer_than_the_callers_patience_or_deadline() {
    let Some(database) = TestDatabase::new() else { return };
    let f = Fixture::on(ledger(&database));
    f.remember(&f.memory("granite")).expect("stored");
    let patience = Duration::from_millis(700);
    let impatient = Control { patience, ..Control::default() };
    for table in ["strata_ledger.audit", "strata_ledger.memories"] {
        locked(&database, table, || {
            let read =
                in_time(patience, || f.ledger.read(&impatient, |r| Ok((r.head()?, r.memory_counts()?))));
            assert!(matches!(read, StoreError::Busy { waited } if waited >= patience), "{read:?}");
            assert!(read.kind() == ErrorKind::Busy && !read.hint().is_empty());
            // Its own lock and the table's are waited for with one patience.
            let write = in_time(patience, || {
                f.ledger.write(&impatient, f.now(), |w| store(w, &f.memory("not stored")))
            });
            assert!(matches!(write, StoreError::Busy { waited } if waited >= patience), "{write:?}");
            let sooner = Duration::from_millis(300);
            let late = in_time(sooner, || {
                let hurried = Control::default().ending_in(sooner);
                f.ledger.read(&hurried, |r| Ok((r.head()?, r.memory_counts()?)))
            });
            assert!(matches!(late, StoreError::Deadline | StoreError::Busy { .. }), "{late:?}");
        });
    }
    // What is read at opening is no exception.
    for table in ["strata_ledger.schema_migrations", "strata_ledger.commits"] {
        locked(&database, table, || {
            let opened = in_time(patience, || ledger(&database).read(&impatient, |r| r.head()));
            assert!(matches!(opened, StoreError::Busy { .. }), "{opened:?}");
        });
    }
    f.remember(&f.memory("slate")).expect("stored when the locks are gone");
}

#[test]
fn who_waited_for_another_writer_waits_the_less_for_a_table() {
    let Some(database) = TestDatabase::new() else { return };
    let (f, other) = (Fixture::on(ledger(&database)), ledger(&database));
    let patience = Duration::from_millis(1_500);
    let impatient = Control { patience, ..Control::default() };
    locked(&database, "strata_ledger.memories", || {
        std::thread::scope(|scope| {
            let (begun, is_begun) = std::sync::mpsc::channel();
            scope.spawn(move || {
                let holding = other.write(&Control::default(), birth().at, |w| {
                    w.head()?;
                    begun.send(()).expect("heard");
                    std::thread::sleep(Duration::from_millis(1_000));
                    Ok(())
                });
                holding.expect("nothing but a pause");
            });
            is_begun.recv().expect("the other has the lock of writers");
            in_time(patience, || f.ledger.write(&impatient, f.now(), |w| store(w, &f.memory("not stored"))));
        });
    });
}

#[test]
fn a_limit_that_the_administrator_set_is_named_and_is_not_our_deadline() {
    let Some(database) = TestDatabase::new() else { return };
    let f = Fixture::on(ledger(&database));
    database.as_admin(&[&format!("ALTER DATABASE {} SET statement_timeout = '400ms'", database.name())]);
    cut_off(&database);
    let slow = |control: &Control| {
        let outcome = f.ledger.database().read(control, |tx| tx.batch("SELECT pg_sleep(20)"));
        outcome.expect_err("it was stopped")
    };
    let stopped = slow(&Control::default());
    assert!(matches!(stopped, StoreError::Stopped { .. }), "{stopped:?}");
    let told = format!("{stopped}; {}", stopped.hint());
    assert!(told.contains("`statement_timeout` is 400ms") && told.contains("administrator"), "{told}");
    assert_eq!(stopped.kind(), ErrorKind::Deadline);
    let own = slow(&Control::default().ending_in(Duration::from_millis(100)));
    assert!(matches!(own, StoreError::Deadline), "{own:?}");
    f.remember(&f.memory("quickly stored")).expect("stored");
}

/// A server that refuses everybody as one does that is full, and counts them.
fn full_server() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            count.fetch_add(1, Ordering::Relaxed);
            drop(client.read(&mut [0; 1024]));
            let fields = b"SFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0\0";
            let mut answer = vec![b'E'];
            answer.extend_from_slice(&u32::try_from(fields.len() + 4).expect("short").to_be_bytes());
            answer.extend_from_slice(fields);
            drop(client.write_all(&answer));
        }
    });
    (port, asked)
}

#[test]
fn a_full_server_is_asked_again_a_few_times_and_not_hundreds() {
    let (port, asked) = full_server();
    let url = format!("postgres://ann@127.0.0.1:{port}/notes?sslmode=disable");
    let ledger = Ledger::on_server(Server::parse(&url, "local").expect("well formed"), FaultPlan::none());
    let patience = Duration::from_secs(3);
    let control = Control { patience, ..Control::default() };
    let full = in_time(patience, || ledger.read(&control, |r| r.head()));
    assert!(matches!(full, StoreError::TooManyConnections { .. }), "{full:?}");
    let times = asked.load(Ordering::Relaxed);
    assert!((5..=20).contains(&times), "asked {times} times in 3 s");
    // A long nap hears that the call was withdrawn.
    let cancel = Cancel::default();
    let flag = cancel.clone();
    let raised = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(1_700));
        flag.cancel();
    });
    let started = Instant::now();
    let withdrawn = ledger.read(&Control::with_cancel(&cancel), |r| r.head()).expect_err("withdrawn");
    assert!(matches!(withdrawn, StoreError::Cancelled), "{withdrawn:?}");
    assert!(started.elapsed() < Duration::from_millis(1_900), "{:?}", started.elapsed());
    raised.join().expect("ends");
}

#[test]
fn what_a_process_keeps_idle_makes_room_for_what_it_needs() {
    let Some(database) = TestDatabase::new() else { return };
    let role = format!("{}_one", database.name());
    database.as_admin(&[&format!("CREATE ROLE {role} LOGIN CONNECTION LIMIT 1")]);
    let f = Fixture::on(ledger(&database));
    f.ledger.database().admit(&Control::default(), &role).expect("granted");
    let server = Server::parse(&database.url(Some(&role)), "local").expect("well formed");
    let (one, two) =
        (Ledger::on_server(server.clone(), FaultPlan::none()), Ledger::on_server(server, FaultPlan::none()));
    let control = Control { patience: Duration::from_secs(2), ..Control::default() };
    for _ in 0..3 {
        one.read(&control, |r| r.head()).expect("read");
        two.read(&control, |r| r.head()).expect("read by the only connection there may be");
    }
    drop((one, two));
    database.ask(&format!("DROP OWNED BY {role}"));
    drop(f);
    database.as_admin(&[&format!("DROP ROLE {role}")]);
}

#[test]
fn a_database_without_writes_is_read_and_says_why() {
    let Some(database) = TestDatabase::new() else { return };
    let f = Fixture::on(ledger(&database));
    let kept = f.memory("kept");
    f.remember(&kept).expect("stored");
    let set = |value: &str| {
        database.as_admin(&[&format!(
            "ALTER DATABASE {} SET default_transaction_read_only = {value}",
            database.name()
        )]);
        cut_off(&database);
    };
    set("on");
    assert!(matches!(f.ledger.access(&Control::default()).expect("looks"), Access::ReadOnly(_)));
    assert_eq!(f.read(|r| r.memory(kept.id.as_str())).expect("there").body, "kept");
    let refused = f.remember(&f.memory("more")).expect_err("no writes");
    assert!(matches!(refused, StoreError::ReadOnly { .. }), "{refused:?}");
    assert_eq!(refused.kind(), ErrorKind::Unavailable);
    set("off");
    f.remember(&f.memory("more")).expect("stored again");
}

#[test]
fn who_is_not_let_in_or_finds_no_place_is_told_so() {
    let Some(database) = TestDatabase::new() else { return };
    let role = format!("{}_few", database.name());
    database.as_admin(&[&format!("CREATE ROLE {role} LOGIN CONNECTION LIMIT 1")]);
    let f = Fixture::on(ledger(&database));
    f.ledger.database().admit(&Control::default(), &role).expect("granted");
    let few = || {
        let server = Server::parse(&database.url(Some(&role)), "local").expect("well formed");
        Ledger::on_server(server, FaultPlan::none())
    };
    let first = few();
    let impatient = Control { patience: Duration::from_millis(100), ..Control::default() };
    first
        .read(&impatient, |r| {
            let full = few().read(&impatient, |r| r.head()).expect_err("no place");
            assert!(matches!(full, StoreError::TooManyConnections { .. }), "{full:?}");
            assert_eq!(full.kind(), ErrorKind::Busy);
            r.head()
        })
        .expect("read");
    drop(first);
    few().read(&Control::default(), |r| r.head()).expect("the place is free again");

    let at = |url: &str| {
        let server = Server::parse(url, "local").expect("well formed");
        Ledger::on_server(server, FaultPlan::none()).read(&impatient, |r| r.head()).expect_err(url)
    };
    let nobody = at(&database.url(Some("nobody_at_all")));
    assert!(matches!(nobody, StoreError::NotAdmitted { .. }), "{nobody:?}");
    let closed = at("postgres://ann:secret@127.0.0.1:1/notes");
    assert!(matches!(closed, StoreError::Unreachable { .. }), "{closed:?}");
    let missing = at(&database.url(None).replace(database.name(), "no_such_database"));
    assert!(matches!(missing, StoreError::Unreachable { .. }), "{missing:?}");
    for error in [nobody, closed, missing] {
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(!error.to_string().contains("secret") && !error.hint().is_empty(), "{error}");
    }
    database.ask(&format!("DROP OWNED BY {role}"));
    drop(f);
    database.as_admin(&[&format!("DROP ROLE {role}")]);
}

/// Listens, takes one client, says `greeting`, and once the client has spoken says `answer` and hangs up, or stays silent.
fn stranger(greeting: &'static [u8], answer: Option<&'static [u8]>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        stream.write_all(greeting).ok();
        stream.read_exact(&mut [0; 8]).ok();
        match answer {
            Some(answer) => drop(stream.write_all(answer)),
            None => std::thread::sleep(Duration::from_secs(30)),
        }
    });
    port
}

#[test]
fn what_is_no_postgresql_is_told_and_nobody_waits_for_it() {
    let at = |port: u16| {
        let url = format!("postgres://ann:secret@127.0.0.1:{port}/notes?connect_timeout=1");
        let server = Server::parse(&url, "local").expect("well formed");
        let started = Instant::now();
        let error = Ledger::on_server(server, FaultPlan::none())
            .database()
            .exists(&Control::default())
            .expect_err("no database");
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(!error.to_string().contains("secret"), "{error}");
        error
    };
    for (greeting, answer) in [
        (&b""[..], &b""[..]),
        (b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        (b"J\0\0\0\x0a8.0.33\0aaaaaaaaaaaaaaaa", b""),
    ] {
        let error = at(stranger(greeting, Some(answer)));
        assert!(matches!(error, StoreError::NotPostgres { .. }), "{answer:?}: {error:?}");
        assert!(error.hint().contains("5432"), "{}", error.hint());
    }
    let silent = at(stranger(b"", None));
    assert!(matches!(silent, StoreError::Unreachable { .. }), "{silent:?}");
    assert!(silent.to_string().contains("connect_timeout"), "{silent}");
}

#[test]
fn tables_that_were_dropped_are_missed_by_every_call_in_the_same_words() {
    let Some(database) = TestDatabase::new() else { return };
    let f = Fixture::on(ledger(&database));
    f.remember(&f.memory("kept")).expect("stored");
    f.read(|r| r.head());
    database.ask("DROP SCHEMA strata_ledger CASCADE");
    let control = Control::default();
    let told = |error: StoreError| {
        assert!(matches!(error, StoreError::NotInitialized { .. }), "{error:?}");
        format!("{error}; {}", error.hint())
    };
    // On a connection that knew the tables, and then on one that never saw them.
    let first = told(f.ledger.read(&control, |r| r.head()).map(drop).expect_err("gone"));
    let write = |f: &Fixture| f.remember(&f.memory("more")).map(drop).expect_err("gone");
    assert_eq!(told(write(&f)), first);
    assert_eq!(told(f.ledger.read(&control, |r| r.head()).map(drop).expect_err("gone")), first);
    assert_eq!(f.ledger.access(&control).expect("looks"), Access::Absent);
    assert!(!f.ledger.database().exists(&control).expect("looks"));
    assert!(!f.ledger.database().is_made(&control).expect("looks"));
    f.ledger.initialise(&control, &birth()).expect("made anew");
    f.remember(&f.memory("anew")).expect("stored");
}

#[test]
fn a_table_that_was_dropped_is_damage_and_no_store_that_is_not_there() {
    let Some(database) = TestDatabase::new() else { return };
    let f = Fixture::on(ledger(&database));
    f.remember(&f.memory("kept")).expect("stored");
    database.ask("DROP TABLE strata_ledger.memories");
    let control = Control::default();
    let written = f.remember(&f.memory("more")).map(drop);
    for outcome in [written, f.ledger.read(&control, |r| r.memory_counts()).map(drop)] {
        let error = outcome.expect_err("half a ledger");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error:?}");
        assert!(error.to_string().contains("the table `memories` is not there"), "{error}");
    }
    assert_eq!(f.ledger.access(&control).expect("looks"), Access::ReadWrite);
}

#[test]
fn a_role_that_may_only_read_is_read_and_says_whose_work_it_is_to_change_that() {
    let Some(database) = TestDatabase::new() else { return };
    let f = Fixture::on(ledger(&database));
    let kept = f.memory("kept");
    f.remember(&kept).expect("stored");
    let role = format!("{}_reads", database.name());
    database.as_admin(&[&format!("CREATE ROLE {role} LOGIN")]);
    database.ask(&format!(
        "GRANT USAGE ON SCHEMA strata_ledger TO {role}; GRANT SELECT ON ALL TABLES IN SCHEMA strata_ledger TO {role}"
    ));
    let server = Server::parse(&database.url(Some(&role)), "local").expect("well formed");
    let mut reader = Fixture::on(ledger(&database));
    reader.ledger = Ledger::on_server(server, FaultPlan::none());
    let control = Control::default();
    let access = reader.ledger.access(&control).expect("looks");
    assert!(matches!(&access, Access::ReadOnly(reason) if reason.contains("--app-role")), "{access:?}");
    assert_eq!(reader.read(|r| r.memory(kept.id.as_str())).expect("there").body, "kept");
    let refused = reader.remember(&f.memory("more")).expect_err("no right");
    assert!(matches!(&refused, StoreError::ReadOnly { reason, .. } if reason.contains(&role)), "{refused:?}");
    f.ledger.database().admit(&control, &role).expect("granted");
    reader.remember(&f.memory("more")).expect("stored by the same process");
    database.ask(&format!("DROP OWNED BY {role}"));
    drop((reader, f));
    database.as_admin(&[&format!("DROP ROLE {role}")]);
}

#[test]
fn a_schema_of_a_newer_binary_is_read_and_not_written_also_by_who_was_at_work_before() {
    let Some(database) = TestDatabase::new() else { return };
    let (f, control) = (Fixture::on(ledger(&database)), Control::default());
    let kept = f.memory("kept");
    f.remember(&kept).expect("stored");
    database.ask(
        "INSERT INTO strata_ledger.schema_migrations (version, name, checksum, applied_at, min_reader, min_writer)
         VALUES (999, 'future', 'x', 0, 1, 999)",
    );
    let mut later = Fixture::on(ledger(&database));
    later.ledger = ledger(&database);
    for (who, f) in [("at work before", &f), ("begun later", &later)] {
        // Twice: what a connection knows of the schema outlasts a look at the server.
        for _ in 0..2 {
            assert_eq!(f.read(|r| r.memory(kept.id.as_str())).expect("there").body, "kept", "{who}");
            let refused = f.remember(&f.memory("more")).expect_err(who);
            assert!(
                matches!(refused, StoreError::Newer { found: 999, action: "write", .. }),
                "{who}: {refused:?}"
            );
        }
    }
    let access = later.ledger.access(&control).expect("looks");
    assert!(matches!(&access, Access::ReadOnly(reason) if reason.contains("newer")), "{access:?}");
    let stranger = Ledger::on_server(database.server("newcomer"), FaultPlan::none());
    let refused = stranger.initialise(&control, &birth()).expect_err("nothing is begun there either");
    assert!(matches!(refused, StoreError::Newer { .. }), "{refused:?}");
}

#[test]
fn a_role_that_row_security_does_not_bind_is_not_let_in_and_nothing_is_made() {
    let Some(database) = TestDatabase::new() else { return };
    let control = Control::default();
    let owner = format!("{}_owns", database.name());
    let (over, member, plain) =
        (format!("{owner}_over"), format!("{owner}_member"), format!("{owner}_plain"));
    database.as_admin(&[
        &format!("CREATE ROLE {owner} LOGIN"),
        &format!("CREATE ROLE {over} LOGIN BYPASSRLS"),
        &format!("CREATE ROLE {member} LOGIN IN ROLE {owner}"),
        &format!("CREATE ROLE {plain} LOGIN"),
        &format!("ALTER DATABASE {} OWNER TO {owner}", database.name()),
    ]);
    let server = Server::parse(&database.url(Some(&owner)), "local").expect("well formed");
    let own = Ledger::on_server(server, FaultPlan::none());
    for made in [false, true] {
        for (role, expected) in [
            ("no_such_role", Some(UnfitRole::Missing)),
            ("postgres", Some(UnfitRole::Superuser)),
            (&*over, Some(UnfitRole::PassesOver)),
            (&*owner, Some(UnfitRole::Owner)),
            (&*member, Some(UnfitRole::Owner)),
            (&*plain, None),
        ] {
            let found = own.database().check_role(&control, role).err();
            let why = found.as_ref().map(|error| match error {
                StoreError::UnfitRole { why, .. } => *why,
                other => panic!("{role}: {other:?}"),
            });
            assert_eq!(why, expected, "{role}");
            assert!(found.is_none_or(|error| error.kind() == ErrorKind::Invalid && !error.hint().is_empty()));
        }
        assert_eq!(own.database().is_made(&control).expect("looks"), made);
        own.initialise(&control, &birth()).expect("made");
    }
    own.database().admit(&control, &plain).expect("granted");
    // One that became what it must not be is no advice any more.
    let admitted = |own: &Ledger| own.database().isolation(&control).expect("looks").expect("made").admitted;
    assert_eq!(admitted(&own), std::slice::from_ref(&plain));
    database.as_admin(&[&format!("ALTER ROLE {plain} BYPASSRLS")]);
    assert!(admitted(&own).is_empty());
    drop(own);
    database.as_admin(&[&format!("ALTER DATABASE {} OWNER TO CURRENT_USER", database.name())]);
    database.ask(&format!("DROP OWNED BY {plain}, {member}, {over}, {owner} CASCADE"));
    database.as_admin(&[&format!("DROP ROLE {plain}, {member}, {over}, {owner}")]);
}

#[test]
fn a_role_without_rights_is_told_whose_work_the_schema_is() {
    let Some(database) = TestDatabase::new() else { return };
    let role = format!("{}_none", database.name());
    database.as_admin(&[&format!("CREATE ROLE {role} LOGIN")]);
    let server = Server::parse(&database.url(Some(&role)), "local").expect("well formed");
    let none = Ledger::on_server(server, FaultPlan::none());
    let error = none.initialise(&Control::default(), &birth()).expect_err("not its work");
    assert!(matches!(&error, StoreError::AwaitsOwner { made: false, .. }), "{error:?}");
    assert_eq!(error.kind(), ErrorKind::NotInitialized);
    assert!(error.hint().contains("owner") && error.hint().contains("strata init"), "{}", error.hint());
    // The schema is there, and the role may not even look at it.
    let f = Fixture::on(ledger(&database));
    for error in [
        none.read(&Control::default(), |r| r.head()).map(drop).expect_err("not its to read"),
        none.access(&Control::default()).map(drop).expect_err("not its to look at"),
    ] {
        assert!(matches!(&error, StoreError::Forbidden { .. }), "{error:?}");
        assert!(!error.hint().contains("reading works"), "{}", error.hint());
    }
    drop((none, f));
    database.as_admin(&[&format!("DROP ROLE {role}")]);
}

#[test]
fn all_connections_lent_is_busy_and_not_more_connections() {
    let Some(database) = TestDatabase::new() else { return };
    let f = Fixture::on(ledger(&database));
    let impatient = Control { patience: Duration::from_millis(200), ..Control::default() };
    fn nested(ledger: &Ledger, control: &Control, depth: usize) -> Result<(), StoreError> {
        if depth == 0 { Ok(()) } else { ledger.read(control, |_| nested(ledger, control, depth - 1)) }
    }
    nested(&f.ledger, &impatient, 5).expect("as many as there are");
    let busy = nested(&f.ledger, &impatient, 6).expect_err("one too many");
    assert!(busy.is_busy(), "{busy:?}");
    let open = run(
        &database.url(None).parse().expect("well formed"),
        &[&format!("SELECT count(*) FROM pg_stat_activity WHERE datname = '{}'", database.name())],
    );
    assert_eq!(open, [[Some("6".to_owned())]], "five of the store's and the one that counts");
    nested(&f.ledger, &impatient, 5).expect("all came back");
}

#[test]
fn scripted_faults_strike_on_a_server_too() {
    let Some(database) = TestDatabase::new() else { return };
    let whole = Fixture::on(ledger(&database));
    let head = whole.read(|r| r.head()).seq;
    for (script, kind) in [
        ("execute:2:full", ErrorKind::Unavailable),
        ("before-commit:1:io", ErrorKind::Unavailable),
        ("open:1:full", ErrorKind::Unavailable),
    ] {
        let plan = FaultPlan::parse(script).expect("well formed");
        let mut f = Fixture::on(ledger(&database));
        f.ledger = Ledger::on_server(database.server("local"), plan);
        let error = f.remember(&f.memory("not kept")).expect_err(script);
        assert_eq!(error.kind(), kind, "{script}: {error:?}");
        assert_eq!(whole.read(|r| r.head()).seq, head, "{script}");
    }
    let plan = FaultPlan::parse("begin:1:busy,execute:3:busy").expect("well formed");
    let mut f = Fixture::on(ledger(&database));
    f.ledger = Ledger::on_server(database.server("local"), plan);
    f.remember(&f.memory("kept at the third attempt")).expect("stored");
    assert_eq!(whole.read(|r| r.head()).seq, head + 1);
}

#[test]
fn a_copy_goes_into_a_file_and_comes_back() {
    let Some(database) = TestDatabase::new() else { return };
    let control = Control::default();
    let f = Fixture::on(ledger(&database));
    for number in 0..60 {
        f.remember(&f.memory(&format!("memory {number}, 기억"))).expect("stored");
    }
    let head = f.read(|r| r.head());
    let file = f.directory().join("ledger.db");
    f.ledger.database().copy_to(&control, &file).expect("copied");
    assert_eq!(std::fs::read_dir(f.directory()).expect("listed").count(), 1, "one file");
    let copy = Ledger::new(f.directory(), FaultPlan::none());
    let report = copy.read(&control, |r| r.verify_audit(&[], None)).expect("read");
    assert!(report.findings.is_empty(), "{report:?}");
    assert_eq!(copy.read(&control, |r| r.head()).expect("read").hash, head.hash);
    f.remember(&f.memory("later")).expect("stored");

    // Another tenant takes the copy over; this one goes back to it.
    let other = Ledger::on_server(database.server("other"), FaultPlan::none());
    for ledger in [&other, &f.ledger] {
        ledger.database().restore_from(&control, &file).expect("restored");
        let (now, wrong) =
            ledger.read(&control, |r| Ok((r.head()?, r.verify_audit(&[], None)?.findings))).expect("read");
        assert_eq!(now.hash, head.hash);
        assert!(wrong.is_empty(), "{wrong:?}");
        assert!(ledger.read(&control, |r| r.verify_memories()).expect("read").is_empty());
    }
}
