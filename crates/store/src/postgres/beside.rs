//! Schemas beside this one that other versions made: what they hold of the tenant, whether anybody writes to them,
//! and how they go.

use super::{
    Store,
    names::{literal, quoted},
};
use crate::{error::StoreError, sql::Control};

/// A schema beside ours that was made for the same purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// Its name.
    pub namespace: String,
    /// Rows that were ever written, changed or removed in it, by anybody, as the server counts them.
    pub writes: i64,
    /// Whether this role may use it.
    pub reachable: bool,
    /// Whether this role may remove it.
    pub owned: bool,
    /// Whether it holds the tenant. False where that cannot be seen.
    pub holds: bool,
}

/// How long a removal waits for others who use the schema, who wait behind it.
const WAIT: &str = "SET lock_timeout = '1s'";

impl Store {
    /// The schemas whose names are `prefix` and two numbers, but for our own.
    pub(crate) fn beside(&self, control: &Control, prefix: &str) -> Result<Vec<Beside>, StoreError> {
        let connection = self.connect(control)?;
        let rows = connection.texts(
            control,
            &format!(
                "SELECT n.nspname, pg_catalog.has_schema_privilege(n.oid, 'USAGE')
                        AND to_regclass(quote_ident(n.nspname) || '.commits') IS NOT NULL,
                        pg_catalog.pg_has_role(n.nspowner, 'USAGE'),
                        (SELECT coalesce(sum(s.n_tup_ins + s.n_tup_upd + s.n_tup_del), 0)::bigint
                         FROM pg_catalog.pg_stat_all_tables s WHERE s.schemaname = n.nspname)
                 FROM pg_catalog.pg_namespace n
                 WHERE n.nspname ~ {} AND n.nspname <> {} ORDER BY n.nspname",
                literal(&format!("^{prefix}_[0-9]+_[0-9]+$")),
                literal(self.namespace())
            ),
        )?;
        let mut found = Vec::new();
        for row in rows {
            let mut row = row.into_iter().map(Option::unwrap_or_default);
            let mut next = || row.next().unwrap_or_default();
            let (namespace, reachable, owned) = (next(), next() == "t", next() == "t");
            let writes = next().parse().unwrap_or(0);
            let holds = reachable && {
                let own = format!(
                    "{}; SELECT 1 FROM {}.commits WHERE tenant = {}; ROLLBACK",
                    self.begin_read(control),
                    quoted(&namespace),
                    literal(self.tenant())
                );
                connection.once(control, &own)?.len() > 1
            };
            found.push(Beside { namespace, writes, reachable, owned, holds });
        }
        Ok(found)
    }

    /// Removes the tenant's rows from another schema.
    pub(crate) fn empty_beside(&self, control: &Control, namespace: &str) -> Result<(), StoreError> {
        self.at(namespace).erase_tenant(control)
    }

    /// Rewrites all tables of another schema; see [`Self::rewrite`].
    pub(crate) fn rewrite_beside(
        &self,
        control: &Control,
        namespace: &str,
    ) -> Result<Vec<String>, StoreError> {
        self.at(namespace).rewrite(control, super::upkeep::Rewrite::Everything)
    }

    /// Removes another schema with everything in it, of all tenants.
    pub(crate) fn drop_beside(&self, control: &Control, namespace: &str) -> Result<(), StoreError> {
        let connection = self.connect(control)?;
        connection.batch(control, WAIT)?;
        connection.batch(control, &format!("DROP SCHEMA IF EXISTS {} CASCADE", quoted(namespace)))
    }

    fn at(&self, namespace: &str) -> Self {
        Self::new(self.0.server.clone(), namespace.to_owned(), self.options().clone())
    }
}
