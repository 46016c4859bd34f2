//! Work on all tables of a schema, outside any transaction.

use std::collections::BTreeMap;

use super::{
    Store,
    connection::Connection,
    names::{literal, quoted},
    objects,
};
use crate::{
    error::StoreError,
    sql::{Control, Transaction},
};

impl Store {
    /// The server keeps its own log.
    pub(crate) fn checkpoint(&self, control: &Control) -> Result<(), StoreError> {
        control.check()
    }

    /// Rewrites the tables without what was deleted, where this role may; else leaves it to the server to
    /// use that space again. The server's log and its backups are its administrator's.
    pub(crate) fn compact(&self, control: &Control) -> Result<(), StoreError> {
        let mut lease = self.0.connections.lease(control, || self.open_for_writing(control))?;
        let connection = self.living(&mut lease, control)?;
        for (table, own) in self.tables(connection, control)? {
            let how = if own { "VACUUM (FULL, ANALYZE)" } else { "VACUUM" };
            connection.batch(control, &format!("{how} {table}"))?;
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

    /// The schema's tables in quotes, each with whether this role may do everything with it.
    fn tables(&self, connection: &Connection, control: &Control) -> Result<Vec<(String, bool)>, StoreError> {
        let rows = connection.texts(
            control,
            &format!(
                "SELECT c.oid::regclass::text, pg_catalog.pg_has_role(c.relowner, 'USAGE')
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
