//! A database of its own on the server that `STRATA_TEST_POSTGRES` names, dropped afterwards.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(
    clippy::print_stderr,
    clippy::panic,
    reason = "a test says that it is skipped, and fails by panicking"
)]

use std::sync::atomic::{AtomicU32, Ordering};

use strata_store::Server;
use tokio_postgres::{Config, NoTls};

/// The server's address for the tests; `None` skips them, unless they must not be skipped.
pub(crate) fn admin_url() -> Option<String> {
    let url = std::env::var("STRATA_TEST_POSTGRES").ok().filter(|url| !url.is_empty());
    if url.is_none() {
        let required = std::env::var("STRATA_TEST_REQUIRE_POSTGRES").is_ok_and(|value| value == "1");
        assert!(!required, "STRATA_TEST_POSTGRES must name a server");
        eprintln!("skipped: STRATA_TEST_POSTGRES names no server");
    }
    url
}

/// See the module.
pub(crate) struct TestDatabase {
    admin: Config,
    name: String,
}

static NEXT: AtomicU32 = AtomicU32::new(0);

impl TestDatabase {
    pub(crate) fn new() -> Option<Self> {
        let admin: Config = admin_url()?.parse().expect("a well-formed address");
        let name = format!("strata_t_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let database = Self { admin, name };
        database
            .as_admin(&[&format!("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'", database.name)]);
        Some(database)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The address of the database for `user`, or for the administrator.
    pub(crate) fn url(&self, user: Option<&str>) -> String {
        let host = self.admin.get_hosts().first().expect("a host");
        let tokio_postgres::config::Host::Tcp(host) = host else {
            panic!("the tests' server is reached by TCP")
        };
        let port = self.admin.get_ports().first().copied().unwrap_or(5432);
        let own = self.admin.get_user().unwrap_or("postgres");
        let password = self.admin.get_password().map(|word| String::from_utf8_lossy(word).into_owned());
        let password = password.map(|word| format!(":{word}")).unwrap_or_default();
        format!("postgres://{}{password}@{host}:{port}/{}", user.unwrap_or(own), self.name)
    }

    pub(crate) fn server(&self, tenant: &str) -> Server {
        Server::parse(&self.url(None), tenant).expect("a well-formed address")
    }

    /// Runs statements on the administrator's own database, one by one.
    pub(crate) fn as_admin(&self, statements: &[&str]) {
        run(&self.admin, statements);
    }

    /// Runs statements in this database and returns the texts of their rows.
    pub(crate) fn ask(&self, statement: &str) -> Vec<Vec<Option<String>>> {
        run(&self.url(None).parse().expect("well-formed"), &[statement])
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        self.as_admin(&[&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name)]);
    }
}

/// Runs statements on a connection of their own.
pub(crate) fn run(config: &Config, statements: &[&str]) -> Vec<Vec<Option<String>>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (client, connection) = config.connect(NoTls).await.expect("connects");
        let task = tokio::spawn(connection);
        let mut rows = Vec::new();
        for statement in statements {
            for message in client.simple_query(statement).await.expect(statement) {
                if let tokio_postgres::SimpleQueryMessage::Row(row) = message {
                    rows.push((0..row.len()).map(|at| row.get(at).map(str::to_owned)).collect());
                }
            }
        }
        drop(client);
        task.await.expect("ends").expect("without error");
        rows
    })
}
