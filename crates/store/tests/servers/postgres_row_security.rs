//! On a server no tenant gets at another's rows: not by a connection that names nobody, not by the application's role,
//! and not by a key that leaves the tenant out. What there is to look at is read from the server's own catalogue, so
//! that a new table is looked at too.

use crate::fixture::Fixture;
use crate::postgres_support::{TestDatabase, run};
use strata_store::{Control, Server, faults::FaultPlan, index::Index, ledger::Ledger};
use tokio_postgres::{Config, NoTls};

/// The one table that is of the schema and of no tenant.
const MIGRATIONS: &str = "schema_migrations";

/// A database with both schemas, a tenant with a memory, and a role for applications.
struct Shared {
    database: TestDatabase,
    role: String,
    fixture: Option<Fixture>,
}

impl Shared {
    fn new() -> Option<Self> {
        let database = TestDatabase::new()?;
        let role = format!("{}_app", database.name());
        database.as_admin(&[&format!("CREATE ROLE {role} LOGIN NOSUPERUSER NOBYPASSRLS")]);
        let fixture = Fixture::on(Ledger::on_server(database.server("ann"), FaultPlan::none()));
        fixture.remember(&fixture.memory("of ann")).expect("stored");
        let index = Index::on_server(database.server("ann"), 1, FaultPlan::none());
        index.database().create(&Control::default()).expect("made");
        for admitting in [fixture.ledger.database(), index.database()] {
            admitting.admit(&Control::default(), &role).expect("granted");
        }
        Some(Self { database, role, fixture: Some(fixture) })
    }

    /// The application's connection.
    fn application(&self) -> Config {
        self.database.url(Some(&self.role)).parse().expect("well formed")
    }

    fn names(&self, sql: &str) -> Vec<String> {
        self.database.ask(sql).into_iter().filter_map(|row| row.into_iter().next()?).collect()
    }

    /// Every table of a tenant, with its schema.
    fn tables(&self) -> Vec<String> {
        let tables = self.names(&format!(
            "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname LIKE 'strata%' AND c.relkind IN ('r', 'p') AND c.relname <> '{MIGRATIONS}' ORDER BY 1"
        ));
        assert!(tables.len() >= 35, "those of the ledger and of the index: {tables:?}");
        assert!(tables.iter().any(|table| table.starts_with("strata_index")), "{tables:?}");
        tables
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.fixture.take();
        self.database.ask(&format!("DROP OWNED BY {}", self.role));
        self.database.as_admin(&[&format!("DROP ROLE {}", self.role)]);
    }
}

/// What a server says to a statement that it refuses; `None` when it does not.
fn refusal(config: &Config, statements: &[&str]) -> Option<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (client, connection) = config.connect(NoTls).await.expect("connects");
        let task = tokio::spawn(connection);
        let outcome = client.batch_execute(&statements.join(";")).await;
        drop(client);
        task.await.expect("ends").expect("without error");
        outcome
            .err()
            .map(|error| error.as_db_error().map_or_else(|| error.to_string(), |e| e.message().to_owned()))
    })
}

#[test]
fn who_names_no_tenant_sees_nothing_and_stores_nothing_in_any_table() {
    let Some(shared) = Shared::new() else { return };
    let application = shared.application();
    for table in shared.tables() {
        let count = format!("SELECT count(*) FROM {table}");
        assert_eq!(run(&application, &[&count]), [[Some("0".to_owned())]], "{table}");
        let changed = format!("WITH gone AS (DELETE FROM {table} RETURNING 1) SELECT count(*) FROM gone");
        assert_eq!(run(&application, &[&changed]), [[Some("0".to_owned())]], "{table}");
        // The row is refused before its other columns are looked at.
        let insert = format!("INSERT INTO {table} (tenant) VALUES ('ann')");
        let refused = refusal(&application, &[&insert]).unwrap_or_else(|| panic!("{table} took a row"));
        assert!(refused.contains("row-level security"), "{table}: {refused}");
        let as_ben = refusal(&application, &["SET strata.tenant = 'ben'", &insert]);
        assert!(as_ben.is_some_and(|refused| refused.contains("row-level security")), "{table}");
    }
    let memories = shared.database.ask("SELECT count(*) FROM strata_ledger.memories");
    assert_eq!(memories, [[Some("1".to_owned())]], "what was there is there");
    let own = ["SET strata.tenant = 'ann'", "SELECT count(*) FROM strata_ledger.memories"];
    assert_eq!(run(&application, &own), [[Some("1".to_owned())]], "its own is seen");
}

#[test]
fn the_applications_role_cannot_open_what_keeps_tenants_apart() {
    let Some(shared) = Shared::new() else { return };
    let application = shared.application();
    let policies = shared.names(
        "SELECT format('%I ON %I.%I', policyname, schemaname, tablename) FROM pg_policies
         WHERE schemaname LIKE 'strata%' ORDER BY 1",
    );
    let tables = shared.tables();
    assert_eq!(policies.len(), tables.len(), "one for each table: {policies:?}");
    let of_tables = tables.iter().flat_map(|table| {
        [
            format!("ALTER TABLE {table} DISABLE ROW LEVEL SECURITY"),
            format!("ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY"),
            format!("ALTER TABLE {table} ADD COLUMN more TEXT"),
            format!("CREATE POLICY everyone ON {table} USING (true)"),
            format!("DROP TABLE {table}"),
            format!("TRUNCATE {table}"),
        ]
    });
    let of_others = [
        format!("ALTER ROLE {} BYPASSRLS", shared.role),
        "CREATE TABLE strata_ledger.mine (tenant TEXT)".to_owned(),
        "CREATE VIEW strata_ledger.all_of_it AS SELECT * FROM strata_ledger.memories".to_owned(),
        "SET SESSION AUTHORIZATION postgres".to_owned(),
        format!("UPDATE strata_ledger.{MIGRATIONS} SET checksum = checksum"),
        // An error instead of fewer rows: the policy holds all the same.
        "SET row_security = off; SELECT * FROM strata_ledger.memories".to_owned(),
    ];
    let dropped = policies.iter().map(|policy| format!("DROP POLICY {policy}"));
    for statement in of_tables.chain(dropped).chain(of_others) {
        assert!(refusal(&application, &[&statement]).is_some(), "allowed: {statement}");
    }
    let unsafe_functions = shared.names(
        "SELECT proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
         WHERE n.nspname LIKE 'strata%' AND p.prosecdef",
    );
    assert_eq!(unsafe_functions, Vec::<String>::new(), "functions with their owner's rights");
}

#[test]
fn the_tenant_leads_every_key_constraint_and_index_of_the_server() {
    let Some(shared) = Shared::new() else { return };
    let looked_at = shared.names(&format!(
        "SELECT i.indexrelid::regclass::text FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
         JOIN pg_namespace n ON n.oid = t.relnamespace
         WHERE n.nspname LIKE 'strata%' AND t.relname <> '{MIGRATIONS}'"
    ));
    assert!(looked_at.len() >= shared.tables().len(), "each table has a key: {looked_at:?}");
    let not_led = |relation: &str| {
        shared.names(&format!(
            "SELECT format('%s of %s', i.indexrelid::regclass, t.relname)
             FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
             LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
             WHERE n.nspname LIKE '{relation}' AND t.relname <> '{MIGRATIONS}' AND a.attname IS DISTINCT FROM 'tenant'"
        ))
    };
    assert_eq!(not_led("strata%"), Vec::<String>::new());
    let without_key = shared.names(&format!(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname LIKE 'strata%' AND c.relkind = 'r' AND c.relname <> '{MIGRATIONS}' AND NOT EXISTS
         (SELECT 1 FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p')"
    ));
    assert_eq!(without_key, Vec::<String>::new());
    let foreign = shared.names(
        "SELECT conname FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace
         WHERE n.nspname LIKE 'strata%' AND k.contype = 'f' AND NOT EXISTS
         (SELECT 1 FROM pg_attribute a WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey) AND a.attname = 'tenant')",
    );
    assert_eq!(foreign, Vec::<String>::new());
    // The question finds what it looks for.
    shared.database.ask("CREATE SCHEMA wrong; CREATE TABLE wrong.t (a TEXT PRIMARY KEY, tenant TEXT)");
    assert_eq!(not_led("wrong"), ["wrong.t_pkey of t"]);
}

#[test]
fn a_tenant_that_was_made_to_measure_goes_without_a_trace() {
    let Some(shared) = Shared::new() else { return };
    let server = Server::parse(&shared.database.url(None), "ann").expect("well formed");
    let server = server.for_tenant("bench-1").expect("a name");
    assert!(server.for_tenant("a/b").is_err());
    let f = Fixture::on(Ledger::on_server(server, FaultPlan::none()));
    f.remember(&f.memory("of the measurement")).expect("stored");
    f.ledger.database().erase_tenant(&Control::default()).expect("erased");
    assert!(!f.ledger.database().exists(&Control::default()).expect("looks"));
    for table in shared.tables() {
        let left = shared.database.ask(&format!("SELECT count(*) FROM {table} WHERE tenant = 'bench-1'"));
        assert_eq!(left, [[Some("0".to_owned())]], "{table}");
    }
    let others = shared.database.ask("SELECT count(*) FROM strata_ledger.memories WHERE tenant = 'ann'");
    assert_eq!(others, [[Some("1".to_owned())]], "the others stay");
    let file = tempfile::tempdir().expect("a directory");
    let in_file = Ledger::new(file.path(), FaultPlan::none());
    assert!(in_file.database().erase_tenant(&Control::default()).is_err());
}
