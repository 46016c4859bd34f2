//! Every table has a tenant, and it leads every key and every index: no two tenants can touch each other's rows by
//! a key, and each tenant's rows lie together.

use std::path::Path;

use rusqlite::Connection;
use strata_store::{Control, faults::FaultPlan, index::Index};

fn strings(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).expect("a query");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.collect::<Result<_, _>>().expect("strings")
}

/// What of the file's schema is not led by the tenant.
fn not_led(file: &Path) -> Vec<String> {
    let connection = Connection::open(file).expect("opened");
    let tables = strings(
        &connection,
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('schema_migrations') ORDER BY name",
    );
    assert!(tables.len() >= 13, "{tables:?}");
    let mut wrong = Vec::new();
    for table in tables {
        let first = |list: &str, of: &str, order: &str| {
            strings(&connection, &format!("SELECT name FROM {list}('{of}') {order}"))
        };
        if !strings(
            &connection,
            &format!("SELECT name FROM pragma_table_info('{table}') WHERE \"notnull\" = 1"),
        )
        .contains(&"tenant".to_owned())
        {
            wrong.push(format!("{table} has rows without a tenant"));
        }
        let key = first("pragma_table_info", &table, "WHERE pk > 0 ORDER BY pk");
        if key.first().map(String::as_str) != Some("tenant") {
            wrong.push(format!("the primary key of {table} is {key:?}"));
        }
        for index in first("pragma_index_list", &table, "") {
            let columns = first("pragma_index_info", &index, "ORDER BY seqno");
            if columns.first().map(String::as_str) != Some("tenant") {
                wrong.push(format!("{index} on {table} is over {columns:?}"));
            }
        }
        let references =
            strings(&connection, &format!("SELECT \"from\" FROM pragma_foreign_key_list('{table}')"));
        if !references.is_empty() && !references.contains(&"tenant".to_owned()) {
            wrong.push(format!("a reference of {table} lacks the tenant"));
        }
    }
    wrong
}

#[test]
fn the_tenant_leads_every_key_of_ledger_and_index() {
    let ledger = crate::fixture::Fixture::new();
    assert_eq!(not_led(ledger.ledger.database().path()), [""; 0]);
    let home = tempfile::tempdir().expect("a home");
    let index = Index::new(home.path(), 1, FaultPlan::none());
    index.database().create(&Control::default()).expect("made");
    assert_eq!(not_led(index.path()), [""; 0]);
}

#[test]
fn a_key_without_the_tenant_is_found() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("x.db");
    let connection = Connection::open(&file).expect("made");
    let mut sql = String::new();
    for table in 0..13 {
        sql.push_str(&format!(
            "CREATE TABLE t{table} (tenant TEXT NOT NULL, a TEXT, PRIMARY KEY (tenant, a));"
        ));
    }
    sql.push_str(
        "CREATE TABLE u (a TEXT PRIMARY KEY, tenant TEXT NOT NULL); CREATE INDEX i ON t1 (a, tenant);",
    );
    connection.execute_batch(&sql).expect("made");
    drop(connection);
    let wrong = not_led(&file);
    assert_eq!(wrong.len(), 3, "{wrong:?}");
    assert!(wrong.iter().any(|line| line.contains("i on t1")), "{wrong:?}");
}
