//! Work on all tables of a schema, outside any transaction.

use std::{collections::BTreeMap, sync::PoisonError};

use super::{
    Store,
    connection::Connection,
    names::{literal, quoted},
    objects, readers,
};
use crate::{
    error::StoreError,
    sql::{Control, Transaction},
};

/// How long the tenants of a server may have to wait for one of them to have a table rewritten.
const LONGEST_REWRITE: &str = "4s";

/// How long the server may look at a table to learn what is in it.
const LONGEST_LOOK: &str = "30s";

/// Which tables are rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewrite {
    /// All of the schema.
    Everything,
    /// Those in which this handle changed or removed rows since it last asked.
    Changed,
}

/// Runs a statement that gives up after `longest`, or when others hold the table for a second. Whether it was run.
fn within(
    connection: &Connection,
    control: &Control,
    longest: &str,
    statement: &str,
) -> Result<bool, StoreError> {
    connection.batch(control, &format!("SET lock_timeout = '1s'; SET statement_timeout = '{longest}'"))?;
    match connection.batch(control, statement) {
        Ok(()) => Ok(true),
        Err(StoreError::Busy { .. } | StoreError::Stopped { .. }) => {
            control.check()?;
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

impl Store {
    /// The server keeps its own log.
    pub(crate) fn checkpoint(&self, control: &Control) -> Result<(), StoreError> {
        control.check()
    }

    /// Rewrites tables without what was deleted. All tenants wait while a table is rewritten, so that is given up
    /// after a few seconds, as it is where this role does not own the table; then the server only marks the space
    /// as free, and the bytes stay in its files until something is written over them. They also stay in a table that is
    /// rewritten while somebody reads from before they were deleted: he is waited for first, and is told of when he stays.
    ///
    /// Returns the statements that would finish it, for the owner. The server's log and its backups are its
    /// administrator's.
    pub(crate) fn rewrite(&self, control: &Control, which: Rewrite) -> Result<Vec<String>, StoreError> {
        let changed = std::mem::take(&mut *self.0.changed.lock().unwrap_or_else(PoisonError::into_inner));
        // Its settings are not those of other jobs, so it is not lent again.
        let connection = self.open_for_writing(control)?;
        if let Some(reason) = connection.obstacle.borrow().clone() {
            return Err(self.read_only(reason));
        }
        readers::outlive(&connection, control)?;
        let mut left = Vec::new();
        for (table, own) in self.tables(&connection, control)? {
            if which == Rewrite::Changed && !changed.contains(&table) {
                continue;
            }
            let table = format!("{}.{}", quoted(self.namespace()), quoted(&table));
            let rewriting = format!("VACUUM (FULL, ANALYZE, VERBOSE) {table}");
            let (rewritten, said) = connection.notices.during(|| match own {
                true => within(&connection, control, LONGEST_REWRITE, &rewriting),
                false => Ok(false),
            });
            if rewritten? && readers::nothing_was_kept(&said) {
                continue;
            }
            within(&connection, control, "0", &format!("VACUUM {table}"))?;
            left.push(format!("VACUUM (FULL, ANALYZE) {table};"));
        }
        Ok(left)
    }

    /// Lets the server look anew at what the tables hold, as far as they are this role's. Without it the server does so by
    /// itself, some time later.
    pub(crate) fn analyze(&self, control: &Control) -> Result<(), StoreError> {
        // Its settings are not those of other jobs, so it is not lent again.
        let connection = self.open(control)?;
        for (table, own) in self.tables(&connection, control)? {
            let table = format!("ANALYZE {}.{}", quoted(self.namespace()), quoted(&table));
            if own && connection.obstacle.borrow().is_none() {
                within(&connection, control, LONGEST_LOOK, &table)?;
            }
        }
        Ok(())
    }

    /// Checks what can be checked by statements: that no index of the schema is marked as unfinished or broken, and
    /// that nothing was added to the schema or taken out.
    pub(crate) fn check(&self, control: &Control, _quick: bool) -> Result<Vec<String>, StoreError> {
        let schema = literal(self.namespace());
        self.read(control, |transaction: &Transaction<'_>| {
            let broken = transaction.query(
                &format!(
                    "SELECT c.relname FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
                     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                     WHERE n.nspname = {schema} AND NOT (i.indisvalid AND i.indisready) ORDER BY c.relname"
                ),
                &[],
                |row| Ok(format!("the index `{}` is not valid", row.text(0)?)),
            )?;
            let strange = objects::that_differ(transaction, self.namespace(), &self.options().schema)?;
            Ok(broken.into_iter().chain(strange).collect())
        })
    }

    /// Which tables hold, in one of the tenant's rows, bytes that `holds` knows; and how many were searched.
    pub(crate) fn tables_holding(
        &self,
        control: &Control,
        holds: &dyn Fn(&[u8]) -> bool,
    ) -> Result<(Vec<String>, usize), StoreError> {
        self.read(control, |transaction: &Transaction<'_>| {
            let mut holding = Vec::new();
            let tables = self.columns_with_bytes(transaction)?;
            for (table, columns) in &tables {
                control.check()?;
                if self.table_holds(transaction, table, columns, holds)? {
                    holding.push(table.clone());
                }
            }
            Ok((holding, tables.len()))
        })
    }

    /// The tables that have a tenant, each with its texts and bytes as expressions.
    fn columns_with_bytes(
        &self,
        transaction: &Transaction<'_>,
    ) -> Result<BTreeMap<String, Vec<String>>, StoreError> {
        let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
        transaction.for_each(
            &format!(
                "SELECT c.relname, a.attname, a.atttypid = 'text'::regtype
                 FROM pg_catalog.pg_class c
                 JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                 JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                 WHERE n.nspname = {} AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_migrations'
                   AND a.attname <> 'tenant' AND a.atttypid IN ('text'::regtype, 'bytea'::regtype)
                 ORDER BY c.relname, a.attnum",
                literal(self.namespace())
            ),
            &[],
            |row| {
                let column = quoted(row.text(1)?);
                let is_text: bool = row.get(2)?;
                let bytes = if is_text { format!("convert_to({column}, 'UTF8')") } else { column };
                tables.entry(row.get(0)?).or_default().push(bytes);
                Ok(())
            },
        )?;
        Ok(tables)
    }

    /// Reads the tenant's rows a piece at a time, however many there are.
    fn table_holds(
        &self,
        transaction: &Transaction<'_>,
        table: &str,
        columns: &[String],
        holds: &dyn Fn(&[u8]) -> bool,
    ) -> Result<bool, StoreError> {
        transaction.batch(&format!(
            "DECLARE strata_rows NO SCROLL CURSOR FOR SELECT {} FROM {}.{} WHERE tenant = {}",
            columns.join(", "),
            quoted(self.namespace()),
            quoted(table),
            literal(self.tenant())
        ))?;
        // The statement's columns are the cursor's, so each table has a text of its own.
        let fetch = format!("FETCH 500 FROM strata_rows -- {}", table.replace('\n', " "));
        let mut found = false;
        loop {
            let mut rows = 0;
            transaction.for_each(&fetch, &[], |row| {
                rows += 1;
                for index in 0..columns.len() {
                    found = found || row.get::<Option<Vec<u8>>>(index)?.is_some_and(|bytes| holds(&bytes));
                }
                Ok(())
            })?;
            if found || rows == 0 {
                break;
            }
        }
        transaction.batch("CLOSE strata_rows")?;
        Ok(found)
    }

    /// The schema's tables, each with whether this role may do everything with it.
    fn tables(&self, connection: &Connection, control: &Control) -> Result<Vec<(String, bool)>, StoreError> {
        let rows = connection.texts(
            control,
            &format!(
                "SELECT c.relname, pg_catalog.pg_has_role(c.relowner, 'USAGE')
                 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                 WHERE n.nspname = {} AND c.relkind = 'r' ORDER BY c.relname",
                literal(self.namespace())
            ),
        )?;
        let table = |row: Vec<Option<String>>| {
            let mut row = row.into_iter().flatten();
            Some((row.next()?, row.next()? == "t"))
        };
        Ok(rows.into_iter().filter_map(table).collect())
    }
}
