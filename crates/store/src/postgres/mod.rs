//! PostgreSQL behind the seam: a few connections per process and schema, one writer per tenant in the whole
//! database, and tenants that cannot see each other.
//!
//! - A write takes an advisory lock of its schema and tenant first, so that the order of commits is the order of
//!   sequences, as it is in a file. Reads see one snapshot and wait for nobody.
//! - Every transaction says whose it is, and the tables' own policies show it nothing else.
//! - A connection that broke while idle is replaced; one that breaks at work is an error that says whether the
//!   change may have been made.

mod address;
mod beside;
mod connection;
mod create;
mod ddl;
mod encryption;
mod errors;
mod household;
mod isolation;
mod lock;
mod names;
mod notices;
mod objects;
mod posted;
mod readers;
mod session;
mod statements;
mod tls;
mod upkeep;

use std::{
    cell::OnceCell,
    collections::BTreeSet,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

pub(crate) use address::{Address, is_address};
pub use beside::Beside;
pub use encryption::TlsOptions;
pub(crate) use household::Household;
pub use isolation::Isolation;
pub(crate) use lock::SessionLock;
use session::Beginning;
pub(crate) use session::{Row, Session};
pub use upkeep::Rewrite;

use crate::{
    error::StoreError,
    faults::FaultPoint,
    migrate::{self, Durability, Schema, Standing},
    place::Server,
    pool::{Lease, Lendable, Pool},
    retry::patiently,
    sql::{Access, Control, Creation, DatabaseOptions, Transaction},
};
use connection::{Connection, Texts};
use names::{key, literal, quoted};

/// Connections per process and schema: one writer and four readers at once.
const CONNECTIONS: usize = 5;
/// A client that vanished in the middle of a write holds its tenant's lock no longer than this.
const LONGEST_PAUSE: &str = "60s";
/// A client that vanished in the middle of a statement, or waiting for a lock, is noticed while the statement goes on and
/// not at its end: what it holds is free in seconds. Servers on systems that cannot notice refuse the setting.
const WATCHED: &str = "DO $$ BEGIN PERFORM pg_catalog.set_config('client_connection_check_interval', '2s', false); \
                       EXCEPTION WHEN OTHERS THEN NULL; END $$";

/// What no number begins with: a write asks for one, and is told the schema's version instead when that is none of its own.
const NEWER: &str = "schema version ";

/// A time as the server's settings take it; rounded up, so that nobody gives up before the time that was agreed.
fn milliseconds(time: Duration) -> u128 {
    time.as_nanos().div_ceil(1_000_000).clamp(1, i32::MAX.unsigned_abs().into())
}

/// A lock that was not had, with how long the caller has been waiting for it in all.
fn waited<T>(started: Instant, outcome: Result<T, StoreError>) -> Result<T, StoreError> {
    outcome.map_err(|error| match error {
        StoreError::Busy { .. } => StoreError::Busy { waited: started.elapsed() },
        error => error,
    })
}

/// The connections of one process to one tenant's rows in one schema.
#[derive(Clone)]
pub(crate) struct Store(Arc<Inner>);

struct Inner {
    server: Server,
    namespace: String,
    options: DatabaseOptions,
    connections: Pool<Connection>,
    /// Writers of this process wait for each other here, and so do not use up its connections waiting.
    turns: Pool<Turn>,
    locks: Pool<Connection>,
    born: AtomicBool,
    /// Tables in which rows were changed or removed since tables were last rewritten.
    changed: Mutex<BTreeSet<String>>,
}

struct Turn;

impl Lendable for Turn {
    fn is_reusable(&self) -> bool {
        true
    }
}

impl Store {
    pub(crate) fn new(server: Server, namespace: String, options: DatabaseOptions) -> Self {
        let inner = Arc::new(Inner {
            server,
            namespace,
            options,
            connections: Pool::new(CONNECTIONS),
            turns: Pool::new(1),
            locks: Pool::new(1),
            born: AtomicBool::new(false),
            changed: Mutex::default(),
        });
        inner.server.household().add(&inner);
        Self(inner)
    }

    /// User, host and database, for messages.
    pub(crate) fn place(&self) -> &Path {
        self.0.server.address().shown()
    }

    pub(crate) fn tenant(&self) -> &str {
        self.0.server.tenant()
    }

    pub(crate) fn schema(&self) -> Schema {
        self.options().schema
    }

    fn namespace(&self) -> &str {
        &self.0.namespace
    }

    fn options(&self) -> &DatabaseOptions {
        &self.0.options
    }

    pub(crate) fn exists(&self, control: &Control) -> Result<bool, StoreError> {
        if self.0.born.load(Ordering::Relaxed) {
            return Ok(true);
        }
        match self.lease(Instant::now(), control) {
            Ok(_) => Ok(true),
            Err(StoreError::NotInitialized { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether the schema is there, whoever has something in it.
    pub(crate) fn is_made(&self, control: &Control) -> Result<bool, StoreError> {
        self.has_schema(&self.connect(control)?, control)
    }

    pub(crate) fn access(&self, control: &Control) -> Result<Access, StoreError> {
        match self.lease(Instant::now(), control) {
            Ok(mut lease) => {
                let connection = self.living(&mut lease, control)?;
                let obstacle = connection.obstacle.borrow().clone();
                Ok(obstacle.map_or(Access::ReadWrite, Access::ReadOnly))
            }
            Err(StoreError::NotInitialized { .. }) => Ok(Access::Absent),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn write<T>(
        &self,
        control: &Control,
        mut job: impl FnMut(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        control.check()?;
        let started = Instant::now();
        let _turn = self.0.turns.lease(control, || Ok(Turn))?;
        self.unless_dropped(control, || self.write_in_turn(started, control, &mut job))
    }

    fn write_in_turn<T>(
        &self,
        started: Instant,
        control: &Control,
        job: &mut impl FnMut(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let opening = || self.open_for_writing(&control.since(started));
        let mut lease = waited(started, self.0.connections.lease(&control.since(started), opening))?;
        let control = &control.since(started);
        if let Some(found) = lease.get()?.newer.get() {
            return Err(self.newer(found));
        }
        if lease.get()?.obstacle.borrow().is_some() {
            // What stood in the way when it was opened may be gone: a replica becomes a primary.
            self.look(self.living(&mut lease, control)?, control)?;
            if let Some(reason) = lease.get()?.obstacle.borrow().clone() {
                return Err(self.read_only(reason));
            }
        }
        let begun = Instant::now();
        let attempt = || self.attempt(&mut lease, &control.since(begun), job);
        waited(started, patiently(control, attempt))
    }

    /// Does a job. When it finds that tables are gone, what is known of them and every connection that was opened
    /// to them goes too: the next job looks anew. Where only some are gone, nobody has begun anything anew: that is damage.
    fn unless_dropped<T>(
        &self,
        control: &Control,
        job: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let outcome = job();
        if !matches!(outcome, Err(StoreError::NotInitialized { .. })) {
            return outcome;
        }
        let was_there = self.0.born.load(Ordering::Relaxed);
        self.close();
        match was_there.then(|| self.lost_tables(control)).transpose()? {
            Some(lost) if !lost.is_empty() => Err(self.damaged(&lost.join(", "))),
            _ => outcome,
        }
    }

    /// One try of a write, from its beginning to the commit.
    fn attempt<T>(
        &self,
        lease: &mut Lease<'_, Connection>,
        control: &Control,
        job: &mut impl FnMut(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.fault(FaultPoint::Begin)?;
        let spare = OnceCell::new();
        let reopen = || self.open(control);
        let beginning = Beginning { sql: self.begin_write(control), reopen: &reopen, spare: &spare };
        let session = Session::new(lease.get()?, control, &self.options().faults).beginning(beginning);
        let outcome = job(&Transaction::postgres(&session)).and_then(|value| {
            self.fault(FaultPoint::BeforeCommit)?;
            self.commit(&session)?;
            Ok(value)
        });
        if outcome.is_err() {
            session.connection().roll_back();
        }
        drop(session);
        spare.into_inner().map_or(Ok(()), |fresh| lease.replace(|| Ok(fresh)))?;
        if outcome.is_ok() {
            self.fault(FaultPoint::AfterCommit)?;
        }
        outcome.map_err(|error| self.unless_newer(error))
    }

    fn commit(&self, session: &Session<'_>) -> Result<(), StoreError> {
        if session.has_failed() {
            return Err(StoreError::Internal("a statement of the transaction had failed".into()));
        }
        if !session.has_changed() {
            return session.commit("COMMIT");
        }
        let sql = format!("{}; COMMIT", self.count_commit());
        match self.options().schema.durability {
            Durability::Full => session.commit(&sql)?,
            Durability::Normal => session.commit_with_posted(&sql)?,
        }
        self.0.born.store(true, Ordering::Relaxed);
        self.0.changed.lock().unwrap_or_else(PoisonError::into_inner).extend(session.emptied());
        Ok(())
    }

    pub(crate) fn read<T>(
        &self,
        control: &Control,
        job: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        control.check()?;
        self.unless_dropped(control, || self.read_at_once(control, job))
    }

    fn read_at_once<T>(
        &self,
        control: &Control,
        job: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let started = Instant::now();
        let mut lease = waited(started, self.lease(started, control))?;
        let control = &control.since(started);
        let spare = OnceCell::new();
        let reopen = || self.open(control);
        let beginning = Beginning { sql: self.begin_read(control), reopen: &reopen, spare: &spare };
        let session = Session::new(lease.get()?, control, &self.options().faults).beginning(beginning);
        let outcome = job(&Transaction::postgres(&session))
            // A change that is tried here is refused, not forgotten.
            .and_then(|value| session.send_posted().map(|()| value));
        session.connection().let_go();
        drop(session);
        spare.into_inner().map_or(Ok(()), |fresh| lease.replace(|| Ok(fresh)))?;
        waited(started, outcome)
    }

    /// A connection of the pool's, for who has been waiting since `started`.
    fn lease(&self, started: Instant, control: &Control) -> Result<Lease<'_, Connection>, StoreError> {
        self.0.connections.lease(control, || self.open(&control.since(started)))
    }

    pub(crate) fn data_version(&self, control: &Control) -> Result<i64, StoreError> {
        let mut lease = self.lease(Instant::now(), control)?;
        let mut rows = self.version(lease.get()?, control);
        if matches!(rows, Err(StoreError::Disconnected { .. })) {
            lease.replace(|| self.open(control))?;
            rows = self.version(lease.get()?, control);
        }
        let number = |row: &Texts, at: usize| {
            row.get(at).and_then(|text| text.as_ref()?.parse::<i64>().ok()).unwrap_or(0)
        };
        // The number of a restored dump may be one that was seen before; the transaction's never is.
        Ok(rows?.map_or(0, |row| (number(&row, 1) << 31) ^ number(&row, 0)))
    }

    pub(crate) fn close(&self) {
        self.0.connections.clear();
        self.0.locks.clear();
        self.0.born.store(false, Ordering::Relaxed);
    }

    /// Connects, whatever the database holds.
    ///
    /// Every statement asks for rows of one tenant, which leads every key: a table is never read whole. A plan that was
    /// made while the table was small would go on doing so while an import fills it.
    ///
    /// Plans are made without looking at values: of a tenant that came after the last statistics the server believes
    /// that it has one row, so that one index were as good as another, and reads all that the tenant has.
    fn connect(&self, control: &Control) -> Result<Connection, StoreError> {
        self.fault(FaultPoint::Open)?;
        let started = Instant::now();
        let server = &self.0.server;
        let connection = Connection::connect(server.address(), control, &|| server.household().make_room())?;
        let control = &control.since(started);
        let synchronous = match self.options().schema.durability {
            Durability::Full => "on",
            Durability::Normal => "off",
        };
        connection.batch(
            control,
            &format!(
                "SET search_path = {}, pg_temp; SET synchronous_commit = {synchronous}; SET jit = off;
                 SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan;
                 SET standard_conforming_strings = on; SET client_min_messages = warning;
                 SET lock_timeout = {}; {WATCHED}",
                quoted(self.namespace()),
                milliseconds(control.longest_wait()),
            ),
        )?;
        self.look(&connection, control)?;
        Ok(connection)
    }

    /// Sees whether the server takes writes, and from this role.
    fn look(&self, connection: &Connection, control: &Control) -> Result<(), StoreError> {
        let facts = connection.texts(
            control,
            &format!(
                "SELECT pg_catalog.pg_is_in_recovery(), current_setting('default_transaction_read_only'),
                        current_setting('server_encoding'), current_user,
                        (SELECT pg_catalog.has_table_privilege(c.oid, 'INSERT') FROM pg_catalog.pg_class c
                         JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                         WHERE n.nspname = {} AND c.relname = 'commits'),
                        nullif(current_setting('statement_timeout'), '0')",
                literal(self.namespace())
            ),
        )?;
        let fact = |at: usize| facts.first().and_then(|row| row.get(at)?.as_deref()).unwrap_or_default();
        if fact(2) != "UTF8" {
            return Err(StoreError::Invalid(format!(
                "the database's encoding is {}; Strata needs UTF8: make a database with ENCODING 'UTF8'",
                fact(2)
            )));
        }
        let obstacle = match (fact(0), fact(1), fact(4)) {
            ("t", ..) => Some("the server is a replica, which takes no writes".to_owned()),
            (_, "on", _) => Some("the database is set to read-only transactions".to_owned()),
            _ if connection.newer.get().is_some() => Some("it was written by a newer Strata".to_owned()),
            (.., "f") => Some(format!(
                "the role `{0}` has no right to write; the schema's owner gives it with `strata init --store ... \
                 --app-role {0}`",
                fact(3)
            )),
            _ => None,
        };
        *connection.obstacle.borrow_mut() = obstacle;
        *connection.statement_timeout.borrow_mut() =
            facts.first().and_then(|row| row.get(5)?.clone()).filter(|limit| !limit.is_empty());
        Ok(())
    }

    /// Connects to a schema of this version that holds the tenant.
    fn open(&self, control: &Control) -> Result<Connection, StoreError> {
        let connection = self.connect(control)?;
        if !self.has_schema(&connection, control)? {
            return Err(self.not_initialised());
        }
        match self.standing(&connection, control)? {
            Standing::Current => {}
            Standing::ReadableOnly(found) => {
                connection.newer.set(Some(found));
                self.look(&connection, control)?;
            }
            Standing::Behind => self.catch_up(&connection, control)?,
        }
        if !self.is_born(&connection, control)? {
            return Err(self.not_initialised());
        }
        self.0.born.store(true, Ordering::Relaxed);
        Ok(connection)
    }

    fn catch_up(&self, connection: &Connection, control: &Control) -> Result<(), StoreError> {
        if let Some(reason) = connection.obstacle.borrow().as_ref() {
            let reason = format!("{reason}, and its older schema must be brought up to date first");
            return Err(self.read_only(reason));
        }
        self.migrate(connection, control)
    }

    fn open_for_writing(&self, control: &Control) -> Result<Connection, StoreError> {
        let connection = match (self.open(control), self.options().creation) {
            (Err(StoreError::NotInitialized { .. }), Creation::OnFirstWrite) => {
                self.create(control, &|_| Ok(()))?;
                self.open(control)?
            }
            (outcome, _) => outcome?,
        };
        connection.newer.get().map_or(Ok(connection), |found| Err(self.newer(found)))
    }

    fn newer(&self, found: i64) -> StoreError {
        let schema = self.options().schema;
        StoreError::Newer { schema: schema.name, found, known: schema.latest(), action: "write" }
    }

    /// What a write's beginning fails with when a newer binary has changed the schema since the connection was opened.
    fn unless_newer(&self, error: StoreError) -> StoreError {
        let found = match &error {
            StoreError::Internal(said) => said.split_once(NEWER).and_then(|(_, version)| {
                version.split(|c: char| !c.is_ascii_digit()).next()?.parse::<i64>().ok()
            }),
            _ => None,
        };
        found.map_or(error, |found| self.newer(found))
    }

    fn standing(&self, connection: &Connection, control: &Control) -> Result<Standing, StoreError> {
        let session = Session::new(connection, control, &self.options().faults);
        let applied = migrate::applied(&Transaction::postgres(&session))?;
        migrate::standing(&self.options().schema, &applied)
    }

    /// The connection, made anew if it broke while it was idle, with what is known of the server up to date.
    fn living<'l>(
        &self,
        lease: &'l mut Lease<'_, Connection>,
        control: &Control,
    ) -> Result<&'l Connection, StoreError> {
        match self.look(lease.get()?, control) {
            Err(StoreError::Disconnected { .. }) => lease.replace(|| self.open(control))?,
            outcome => outcome?,
        }
        Ok(lease.get()?)
    }

    fn has_schema(&self, connection: &Connection, control: &Control) -> Result<bool, StoreError> {
        let table = format!("{}.commits", quoted(self.namespace()));
        let sql = format!("SELECT pg_catalog.to_regclass({}) IS NOT NULL", literal(&table));
        Ok(connection.texts(control, &sql)? == [[Some("t".to_owned())]])
    }

    fn is_born(&self, connection: &Connection, control: &Control) -> Result<bool, StoreError> {
        Ok(self.version(connection, control)?.is_some())
    }

    /// The tenant's row of commits, in a transaction of its own.
    fn version(&self, connection: &Connection, control: &Control) -> Result<Option<Texts>, StoreError> {
        let sql = format!(
            "{}; SELECT number, xmin FROM commits WHERE tenant = {}; ROLLBACK",
            self.begin_read(control),
            literal(self.tenant())
        );
        connection.once(control, &sql).map(|rows| rows.into_iter().nth(1))
    }

    /// One writer per tenant: its lock comes first. Who waited for it waits the less for a table that somebody else has
    /// locked. A schema that only newer binaries may write by now ends it: that costs no round trip of its own.
    fn begin_write(&self, control: &Control) -> String {
        let key = key(&["write", self.namespace(), self.tenant()]);
        let (tenant, patience) = (literal(self.tenant()), milliseconds(control.longest_wait()));
        format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED;
             SELECT set_config('strata.tenant', {tenant}, true), set_config('lock_timeout', '{patience}ms', true),
                    set_config('idle_in_transaction_session_timeout', '{LONGEST_PAUSE}', true);
             SELECT pg_catalog.pg_advisory_xact_lock({key});
             SELECT set_config('lock_timeout', CAST(greatest(1, {patience}
                 - extract(epoch FROM clock_timestamp() - transaction_timestamp()) * 1000) AS BIGINT) || 'ms', true);
             SELECT CAST(CASE WHEN max(min_writer) > {} THEN '{NEWER}' || max(version) ELSE '0' END AS BIGINT)
             FROM schema_migrations",
            self.options().schema.latest()
        )
    }

    /// The first statement fixes the snapshot. A reader waits for nobody, but for who locks a whole table.
    fn begin_read(&self, control: &Control) -> String {
        format!(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
             SELECT set_config('strata.tenant', {}, true), set_config('lock_timeout', '{}ms', true)",
            literal(self.tenant()),
            milliseconds(control.longest_wait()),
        )
    }

    fn count_commit(&self) -> String {
        format!(
            "INSERT INTO commits (tenant, number) VALUES ({}, 1)
             ON CONFLICT (tenant) DO UPDATE SET number = commits.number + 1",
            literal(self.tenant())
        )
    }

    fn not_initialised(&self) -> StoreError {
        StoreError::NotInitialized { path: self.place().to_path_buf() }
    }

    fn damaged(&self, detail: &str) -> StoreError {
        StoreError::Corrupt { path: self.place().to_path_buf(), detail: detail.to_owned() }
    }

    fn read_only(&self, reason: String) -> StoreError {
        StoreError::ReadOnly { path: self.place().to_path_buf(), reason }
    }

    fn fault(&self, point: FaultPoint) -> Result<(), StoreError> {
        self.options().faults.visit(point, self.place())
    }
}
