//! Work on all tables of a schema, outside any transaction.

use super::{Store, Turn, connection::Connection, names::literal};
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

    /// Removes every row of the tenant, also the one that says that it is there.
    pub(crate) fn erase_tenant(&self, control: &Control) -> Result<(), StoreError> {
        let _turn = self.0.turns.lease(control, || Ok(Turn))?;
        let mut lease = self.0.connections.lease(control, || self.open_for_writing(control))?;
        let tables = self.tables(self.living(&mut lease, control)?, control)?;
        let connection = self.begin(&mut lease, control, &self.begin_write(control))?;
        let tenant = literal(self.tenant());
        let of_tenants = tables.iter().filter(|(table, _)| !table.ends_with("schema_migrations"));
        let outcome = of_tenants
            .map(|(table, _)| {
                connection.batch(control, &format!("DELETE FROM {table} WHERE tenant = {tenant}"))
            })
            .collect::<Result<(), _>>()
            .and_then(|()| connection.commit("COMMIT"));
        if outcome.is_err() {
            connection.roll_back();
        }
        drop(lease);
        // The connections that are kept have seen the tenant.
        self.close();
        outcome
    }

    /// Checks what can be checked by statements: that no index of the schema is marked as unfinished or broken,
    /// and that every table shows each tenant its own rows alone.
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
            let open = transaction.query(
                &format!(
                    "SELECT c.relname FROM pg_catalog.pg_class c
                     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                     WHERE n.nspname = {schema} AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_migrations'
                       AND NOT (c.relrowsecurity AND c.relforcerowsecurity) ORDER BY c.relname"
                ),
                &[],
                |row| Ok(format!("the table `{}` does not keep tenants apart", row.text(0)?)),
            )?;
            Ok(broken.into_iter().chain(open).collect())
        })
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
