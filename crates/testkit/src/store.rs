//! Where the homes of tests keep their memory: in the home, or in a database of its own on a real PostgreSQL.
//!
//! `STRATA_TEST_STORE` chooses (`sqlite`, `postgres`, `pgvector`), so that the same tests run on each.
//! `cargo xtask test` starts the servers and says where they are. A test that wants a server says so with
//! [`TestStore::is_there`].

use std::{
    env,
    sync::atomic::{AtomicU64, Ordering},
};

use tokio::runtime::Runtime;
use tokio_postgres::{Client, Error, NoTls, SimpleQueryMessage, error::SqlState};

use crate::template;

/// The role that owns every test's database. No superuser: that would see through row security.
pub(crate) const OWNER: &str = "strata_test";

/// Where a test's memory lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestStore {
    /// Files in the home.
    Sqlite,
    /// A PostgreSQL without pgvector.
    Postgres,
    /// A PostgreSQL with pgvector.
    Pgvector,
}

impl TestStore {
    /// What `STRATA_TEST_STORE` asks for; SQLite when it says nothing.
    ///
    /// # Panics
    /// It asks for something else.
    pub fn chosen() -> Self {
        match env::var("STRATA_TEST_STORE").as_deref() {
            Err(_) | Ok("" | "sqlite") => Self::Sqlite,
            Ok("postgres") => Self::Postgres,
            Ok("pgvector") => Self::Pgvector,
            Ok(other) => panic!("STRATA_TEST_STORE is `{other}`; it may be sqlite, postgres, pgvector"),
        }
    }

    /// How often a test does something: `usual`, or on a server, where each time talks over a connection, `there`.
    pub fn times<T>(usual: T, there: T) -> T {
        if Self::chosen() == Self::Sqlite { usual } else { there }
    }

    /// Whether a test can have it: a test that says no ends there, with a notice. Where a server is required
    /// (`STRATA_TEST_REQUIRE_POSTGRES`) its absence is a failure.
    ///
    /// # Panics
    /// It is required and not there.
    pub fn is_there(self) -> bool {
        let Some(variable) = self.variable() else { return true };
        let there = self.administrator().is_some();
        assert!(there || !required(), "{variable} names no server, and the tests require one");
        if !there {
            say(&format!("left out: {variable} names no server; `cargo xtask test` starts one"));
        }
        there
    }

    /// A fresh database there with nothing in it; none for SQLite, which needs none.
    ///
    /// # Panics
    /// There is no such server, or it refuses.
    pub fn database(self) -> Option<TestDatabase> {
        self.variable()
            .map(|_| TestDatabase::create(self.administrator_who_must_be(), self == Self::Pgvector, None))
    }

    /// The same with every table in it and no tenant.
    ///
    /// # Panics
    /// There is no such server, or it refuses.
    pub fn database_with_tables(self) -> Option<TestDatabase> {
        let with_pgvector = self == Self::Pgvector;
        let template = template::name(with_pgvector);
        self.variable()
            .map(|_| TestDatabase::create(self.administrator_who_must_be(), with_pgvector, Some(&template)))
    }

    fn administrator_who_must_be(self) -> String {
        self.administrator().unwrap_or_else(|| {
            let variable = self.variable().unwrap_or_default();
            panic!("{variable} names no server; `cargo xtask test` and `cargo xtask postgres` start one")
        })
    }

    const fn variable(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some("STRATA_TEST_POSTGRES"),
            Self::Pgvector => Some("STRATA_TEST_PGVECTOR"),
        }
    }

    fn administrator(self) -> Option<String> {
        env::var(self.variable()?).ok().filter(|url| !url.is_empty())
    }
}

/// A database of one test on a real server. It is dropped with this, whoever is still connected.
#[derive(Debug)]
pub struct TestDatabase {
    administrator: String,
    name: String,
}

impl TestDatabase {
    fn create(administrator: String, with_pgvector: bool, template: Option<&str>) -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let name = format!("strata_test_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let database = Self { administrator, name };
        Administrator::with(&database.administrator, |administrator| {
            database.create_by(administrator, with_pgvector, template);
        });
        if with_pgvector && template.is_none() {
            database.administer("CREATE EXTENSION vector");
        }
        database
    }

    /// Tries what nearly always works, and sees to what stood in the way.
    fn create_by(&self, administrator: &Administrator<'_>, with_pgvector: bool, template: Option<&str>) {
        // An empty database's few files are copied in a third of the time that the log takes, which is the default; the
        // many small ones of the template take four times as long as the log.
        let from = template.map_or_else(|| "template0 STRATEGY file_copy".to_owned(), str::to_owned);
        let sql = format!("CREATE DATABASE {} OWNER {OWNER} TEMPLATE {from}", self.name);
        for _ in 0..4 {
            let Err(error) = administrator.attempt(&sql) else { return };
            match error.code() {
                Some(&SqlState::UNDEFINED_OBJECT) => make_owner(administrator),
                // Of a process that had our number and was killed.
                Some(&SqlState::DUPLICATE_DATABASE) => {
                    administrator.run(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
                }
                Some(&SqlState::INVALID_CATALOG_NAME) => template::make(administrator, &from, with_pgvector),
                _ => panic!("{sql}: {error:?}"),
            }
        }
        panic!("{sql}: something stands in the way again and again");
    }

    /// The connection of its owner.
    pub fn url(&self) -> String {
        owners_url(&self.administrator, &self.name)
    }

    /// Its name on the server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs statements in it as the server's administrator.
    ///
    /// # Panics
    /// The server refuses.
    pub fn administer(&self, statements: &str) {
        run(&self.administrator_here(), statements);
    }

    /// What the administrator is told by a query in it: the first column of each row, an empty text for NULL.
    ///
    /// # Panics
    /// The server refuses.
    pub fn ask(&self, query: &str) -> Vec<String> {
        Administrator::with(&self.administrator_here(), |administrator| administrator.run(query))
    }

    /// Waits until nobody of ours is at work in it or holds a lock there, and no more than `kept` connections are open.
    ///
    /// # Panics
    /// That does not come within five seconds.
    pub fn wait_for_rest(&self, kept: usize) {
        let of_ours =
            format!("FROM pg_stat_activity WHERE datname = current_database() AND usename = '{OWNER}'");
        let locks = "FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                     WHERE d.datname = current_database() AND l.locktype = 'advisory'";
        let resting = format!(
            "SELECT NOT EXISTS (SELECT 1 {of_ours} AND state <> 'idle') AND NOT EXISTS (SELECT 1 {locks})
                    AND (SELECT count(*) {of_ours}) <= {kept}"
        );
        for _ in 0..100 {
            if self.ask(&resting) == ["t"] {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("something is left: {:?}", self.ask(&format!("SELECT query {of_ours}")));
    }

    /// The schemas of indexes in it.
    pub fn index_schemas(&self) -> Vec<String> {
        self.ask(
            "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, 'strata_index_') ORDER BY nspname",
        )
    }

    /// For every table with a tenant its name, how many rows `tenant` has there, and a digest of them.
    pub fn digests_of(&self, tenant: &str) -> Vec<String> {
        let tables = self.ask(
            "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant' AND NOT a.attisdropped
             WHERE n.nspname LIKE 'strata%' AND c.relkind IN ('r', 'p') ORDER BY 1",
        );
        let digest = |table: &String| {
            self.ask(&format!(
                "SELECT concat_ws(' ', '{table}', count(*), md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')))
                 FROM {table} t WHERE tenant = '{tenant}'"
            ))
        };
        tables.iter().flat_map(digest).collect()
    }

    /// Runs statements on the server as its administrator, outside of this database.
    ///
    /// # Panics
    /// The server refuses.
    pub fn administer_outside(&self, statements: &str) {
        run(&self.administrator, statements);
    }

    /// The administrator's connection to this database.
    pub fn administrator_here(&self) -> String {
        at_database(&self.administrator, &self.name)
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        // The server is thrown away after the tests; what cannot be dropped goes then.
        attempt(&self.administrator, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name)).ok();
    }
}

/// Whether a test that finds no server fails.
pub(crate) fn required() -> bool {
    env::var("STRATA_TEST_REQUIRE_POSTGRES").is_ok_and(|v| v == "1")
}

#[expect(clippy::print_stdout, reason = "the notice of a test that is left out")]
pub(crate) fn say(line: &str) {
    println!("{line}");
}

/// The URL with another database.
pub(crate) fn at_database(url: &str, name: &str) -> String {
    let (place, options) = url.split_once('?').map_or((url, None), |(place, options)| (place, Some(options)));
    let server = place.rsplit_once('/').map_or(place, |(server, _)| server);
    options.map_or_else(|| format!("{server}/{name}"), |options| format!("{server}/{name}?{options}"))
}

/// The address of a database for its owner.
pub(crate) fn owners_url(administrator: &str, database: &str) -> String {
    let (_, place) = administrator.split_once('@').expect("an administrator's URL has a user");
    format!("postgres://{OWNER}:{OWNER}@{}", at_database(place, database))
}

/// Makes the owner's role; many processes may do so at once.
fn make_owner(administrator: &Administrator<'_>) {
    let sql = format!("CREATE ROLE {OWNER} LOGIN PASSWORD '{OWNER}' NOSUPERUSER NOBYPASSRLS NOCREATEDB");
    match administrator.attempt(&sql) {
        Err(error) if !is_taken(&error) => panic!("{sql}: {error:?}"),
        _ => {}
    }
}

/// Whether a name is in use, also by somebody who took it at the same moment.
fn is_taken(error: &Error) -> bool {
    error.code().is_some_and(|code| [SqlState::DUPLICATE_OBJECT, SqlState::UNIQUE_VIOLATION].contains(code))
}

fn run(url: &str, statements: &str) {
    attempt(url, statements).unwrap_or_else(|error| panic!("{statements}: {error:?}"));
}

/// Asks at an address: the first column of each row.
pub(crate) fn ask(url: &str, query: &str) -> Result<Vec<String>, Error> {
    attempt(url, query)
}

fn attempt(url: &str, statements: &str) -> Result<Vec<String>, Error> {
    Administrator::try_with(url, |administrator| administrator.attempt(statements))?
}

/// A connection of a server's administrator.
pub(crate) struct Administrator<'u> {
    url: &'u str,
    runtime: Runtime,
    client: Client,
}

impl<'u> Administrator<'u> {
    /// Connects for a job.
    ///
    /// # Panics
    /// There is no such server, or it refuses.
    pub(crate) fn with<T: Send>(url: &'u str, job: impl FnOnce(&Administrator<'_>) -> T + Send) -> T {
        Self::try_with(url, job).unwrap_or_else(|error| panic!("{url}: {error:?}"))
    }

    /// On a thread of its own: some tests run inside a runtime already.
    fn try_with<T: Send>(url: &'u str, job: impl FnOnce(&Administrator<'_>) -> T + Send) -> Result<T, Error> {
        let work = || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls))?;
            drop(runtime.spawn(async move { connection.await.ok() }));
            Ok(job(&Administrator { url, runtime, client }))
        };
        std::thread::scope(|scope| {
            scope.spawn(work).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    pub(crate) const fn url(&self) -> &'u str {
        self.url
    }

    /// Runs statements; gives the first column of each row, an empty text for NULL.
    ///
    /// # Panics
    /// The server refuses.
    pub(crate) fn run(&self, statements: &str) -> Vec<String> {
        self.attempt(statements).unwrap_or_else(|error| panic!("{statements}: {error:?}"))
    }

    fn attempt(&self, statements: &str) -> Result<Vec<String>, Error> {
        let first = |message| match message {
            SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
            _ => None,
        };
        let done = self.runtime.block_on(self.client.simple_query(statements))?;
        Ok(done.into_iter().filter_map(first).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_keeps_its_options_when_the_database_changes() {
        for (url, expected) in [
            ("postgres://a@h:1/postgres", "postgres://a@h:1/new"),
            ("postgres://a@h:1/postgres?connect_timeout=3", "postgres://a@h:1/new?connect_timeout=3"),
        ] {
            assert_eq!(at_database(url, "new"), expected);
        }
    }

    #[test]
    fn a_database_with_tables_has_all_of_them_and_no_tenant() {
        for store in [TestStore::Postgres, TestStore::Pgvector] {
            if !store.is_there() {
                continue;
            }
            let made = store.database_with_tables().expect("made");
            let owners = made.ask(
                "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname LIKE 'strata%' ORDER BY tableowner",
            );
            assert_eq!(owners, [OWNER]);
            let tables = made.ask("SELECT tablename FROM pg_tables WHERE schemaname LIKE 'strata%'");
            assert!(tables.len() >= 38, "{tables:?}");
            for table in ["strata_ledger.commits", "strata_ledger.settings"] {
                assert_eq!(made.ask(&format!("SELECT tenant FROM {table}")), [""; 0], "{table}");
            }
            let others = made.ask("SELECT rolname FROM pg_roles WHERE rolname LIKE 'strata_template%'");
            assert_eq!(others, [""; 0]);
        }
    }

    #[test]
    fn each_database_is_fresh_and_gone_afterwards() {
        for store in [TestStore::Postgres, TestStore::Pgvector] {
            if !store.is_there() {
                continue;
            }
            let (one, two) = (store.database().expect("made"), store.database().expect("made"));
            assert_ne!(one.name(), two.name());
            run(&one.url(), "CREATE TABLE mine (n BIGINT)");
            run(&two.url(), "CREATE TABLE mine (n BIGINT)");
            let vectors = attempt(&one.url(), "CREATE TABLE vectors (v vector(3))");
            assert_eq!(vectors.is_ok(), store == TestStore::Pgvector);
            let url = one.url();
            drop(one);
            let error = attempt(&url, "SELECT 1").expect_err("dropped");
            assert_eq!(error.code(), Some(&SqlState::INVALID_CATALOG_NAME));
        }
    }
}
