//! What a schema is made of, against what the migrations make. By name: a server keeps no text of a table or an
//! index that could be compared.

use std::collections::BTreeSet;

use super::names::literal;
use crate::{
    error::StoreError,
    migrate::{self, Schema},
    sql::Transaction,
};

/// Kind and name of what somebody can put into a schema.
type Object = (String, String);

/// What is said of what the migrations made and somebody has removed.
const LOST: &str = "is not there";

/// The tables that are made beside the migrations.
const OWN_TABLES: [&str; 2] = ["commits", "schema_migrations"];

/// What the migrations of `schema` did not make in `namespace`, and what they made and is not there. A trigger
/// or a rule that somebody else put there would change what every later write says. Policies are looked at by
/// [`super::isolation`].
pub(super) fn that_differ(
    transaction: &Transaction<'_>,
    namespace: &str,
    schema: &Schema,
) -> Result<Vec<String>, StoreError> {
    let applied = migrate::applied(transaction)?;
    // What a newer binary has made here is its own affair.
    if applied.last().map(|last| last.version) != Some(schema.latest()) {
        return Ok(Vec::new());
    }
    let known: BTreeSet<Object> = made_by_migrations(schema);
    let found = transaction.query(&question(namespace), &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let found: BTreeSet<Object> = found.into_iter().collect();
    let named = |(kind, name): &Object, what: &str| format!("the {kind} `{name}` {what}");
    let strange = found.difference(&known).map(|o| named(o, "is not one that Strata makes"));
    let lost = known.difference(&found).map(|o| named(o, LOST));
    Ok(strange.chain(lost).collect())
}

/// The tables among what is lost.
pub(super) fn lost_tables(
    transaction: &Transaction<'_>,
    namespace: &str,
    schema: &Schema,
) -> Result<Vec<String>, StoreError> {
    let mut differing = that_differ(transaction, namespace, schema)?;
    differing.retain(|said| said.starts_with("the table ") && said.ends_with(LOST));
    Ok(differing)
}

fn made_by_migrations(schema: &Schema) -> BTreeSet<Object> {
    let named = |sql: &'static str, words: &str, kind: &str| -> Vec<Object> {
        let names = sql.split(words).skip(1).filter_map(|rest| rest.split([' ', '(']).next());
        names.map(|name| (kind.to_owned(), name.to_owned())).collect()
    };
    let tables = OWN_TABLES.map(|name| ("table".to_owned(), name.to_owned()));
    let made = schema.migrations.iter().flat_map(|migration| {
        let kinds =
            [("CREATE TABLE ", "table"), ("CREATE INDEX ", "index"), ("CREATE UNIQUE INDEX ", "index")];
        kinds.into_iter().flat_map(move |(words, kind)| named(migration.sql, words, kind))
    });
    tables.into_iter().chain(made).collect()
}

/// Asks for everything in the schema but what comes with a table of itself: the indexes of its keys, its number
/// sequence, its policies.
fn question(namespace: &str) -> String {
    let schema = literal(namespace);
    format!(
        "WITH own AS (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = {schema}),
              held AS (SELECT c.oid, c.relname, c.relkind FROM pg_catalog.pg_class c
                            WHERE c.relnamespace = (SELECT oid FROM own))
         SELECT CASE WHEN relkind IN ('r', 'p', 'f') THEN 'table' WHEN relkind IN ('v', 'm') THEN 'view'
                     WHEN relkind IN ('i', 'I') THEN 'index' WHEN relkind = 'S' THEN 'sequence' ELSE 'type' END,
                relname::text
         FROM held r
         WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_constraint k WHERE k.conindid = r.oid)
           AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass
                           AND d.objid = r.oid AND d.deptype = 'i' AND r.relkind = 'S')
         UNION ALL
         SELECT 'trigger', t.tgname::text FROM pg_catalog.pg_trigger t JOIN held r ON r.oid = t.tgrelid
         WHERE NOT t.tgisinternal
         UNION ALL
         SELECT 'rule', w.rulename::text FROM pg_catalog.pg_rewrite w JOIN held r ON r.oid = w.ev_class
         WHERE w.rulename <> '_RETURN'
         UNION ALL
         SELECT 'function', f.proname::text FROM pg_catalog.pg_proc f
         WHERE f.pronamespace = (SELECT oid FROM own)"
    )
}
