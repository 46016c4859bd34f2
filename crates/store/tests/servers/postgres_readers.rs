//! Who reads from before something was removed keeps it in the server's files: a rewriting waits for him, also where this
//! role is not shown what he reads, and says what is left when he stays.

use std::time::{Duration, Instant};

use crate::fixture::Fixture;
use crate::postgres_support::TestDatabase;
use strata_store::{Control, Rewrite, Server, faults::FaultPlan, ledger::Ledger, params};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls};

/// Somebody in a transaction that sees what was there when it began.
struct Reader(Runtime, Client);

impl Reader {
    fn begin(url: &str) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("connects");
            drop(tokio::spawn(connection));
            client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1").await.expect("begins");
            client
        });
        Self(runtime, client)
    }

    fn end(self) {
        self.0.block_on(self.1.batch_execute("COMMIT")).expect("ends");
    }
}

#[test]
fn a_rewriting_waits_for_who_reads_from_before_and_says_what_is_left_when_he_stays() {
    let Some(database) = TestDatabase::new() else { return };
    let owner = format!("{}_owns", database.name());
    database.as_admin(&[
        &format!("CREATE ROLE {owner} LOGIN"),
        &format!("ALTER DATABASE {} OWNER TO {owner}", database.name()),
    ]);
    let server = Server::parse(&database.url(Some(&owner)), "local").expect("well formed");
    let f = Fixture::on(Ledger::on_server(server, FaultPlan::none()));
    // The owner is shown what he himself reads from, and nothing of the administrator's.
    for role in [Some(&*owner), None] {
        let removed = || {
            let memory = f.memory("soon gone");
            f.remember(&memory).expect("stored");
            let reader = Reader::begin(&database.url(role));
            let gone = f.ledger.database().write(&Control::default(), |tx| {
                tx.execute(
                    "DELETE FROM memories WHERE tenant = $1 AND id = $2",
                    params!["local", memory.id.as_str()],
                )
            });
            assert_eq!(gone.expect("removed"), 1);
            reader
        };
        let rewrite =
            |control: &Control| f.ledger.database().rewrite(control, Rewrite::Changed).expect("rewritten");

        let reader = removed();
        let started = Instant::now();
        let while_he_goes = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(150));
                reader.end();
            });
            rewrite(&Control::default())
        });
        assert!(
            while_he_goes.is_empty() && started.elapsed() >= Duration::from_millis(150),
            "{while_he_goes:?}"
        );

        let reader = removed();
        let while_he_stays = rewrite(&Control { patience: Duration::from_millis(50), ..Control::default() });
        let memories = "VACUUM (FULL, ANALYZE) \"strata_ledger\".\"memories\";";
        assert!(while_he_stays.iter().any(|left| left == memories), "{role:?}: {while_he_stays:?}");
        reader.end();
        let behind_him =
            f.ledger.database().rewrite(&Control::default(), Rewrite::Everything).expect("rewritten");
        assert!(behind_him.is_empty(), "{behind_him:?}");
    }
    drop(f);
    database.as_admin(&[&format!("ALTER DATABASE {} OWNER TO CURRENT_USER", database.name())]);
    database.ask(&format!("DROP OWNED BY {owner} CASCADE"));
    database.as_admin(&[&format!("DROP ROLE {owner}")]);
}
