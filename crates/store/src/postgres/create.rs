//! How a store comes into being on a server and is brought up to date.
//!
//! One schema of the database holds the tables of all tenants. A tenant exists once its row in `commits` does,
//! which is written in the same transaction as its first rows.

use std::time::Instant;

use super::{
    Store,
    connection::Connection,
    ddl, milliseconds,
    names::{key, literal, quoted},
    objects,
    session::Session,
    waited,
};
use crate::{
    error::{StoreError, UnfitRole},
    faults::{FaultPlan, FaultPoint},
    migrate::{self, Standing},
    sql::{Control, Row, Transaction},
};

/// The database's clock, in microseconds.
const NOW: &str = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)";

/// How many transactions have changed something of a tenant's.
const COMMITS: &str =
    "CREATE TABLE IF NOT EXISTS commits (tenant TEXT COLLATE \"C\" PRIMARY KEY, number BIGINT NOT NULL)";

/// The schema whose users may use the others too.
const FIRST_SCHEMA: &str = "strata_ledger";

/// Writes the first rows of a tenant.
pub(crate) type Seed<'s> = &'s dyn Fn(&Transaction<'_>) -> Result<(), StoreError>;

impl Store {
    /// Makes the schema if it is missing, else applies the migrations that are; one process at a time. `seed`
    /// writes the first rows of a new tenant. Returns whether this call made the tenant.
    pub(crate) fn create(&self, control: &Control, seed: Seed<'_>) -> Result<bool, StoreError> {
        let connection = self.connect(control)?;
        if let Some(reason) = connection.obstacle.borrow().clone() {
            return Err(self.read_only(reason));
        }
        let _guard = CreationLock::take(self, &connection, control)?;
        self.bring_up_to_date(&connection, control)?;
        self.in_transaction(&connection, control, |transaction| self.guard(transaction))?;
        let born = self.is_born(&connection, control)?;
        if !born {
            self.give_birth(&connection, control, seed)?;
        }
        Ok(!born)
    }

    fn give_birth(
        &self,
        connection: &Connection,
        control: &Control,
        seed: Seed<'_>,
    ) -> Result<(), StoreError> {
        // The script of faults counts the statements of jobs and not those of a birth.
        let no_faults = FaultPlan::none();
        connection.begin(control, &self.begin_write(control)).map_err(|error| self.unless_newer(error))?;
        let session = Session::new(connection, control, &no_faults);
        let outcome = seed(&Transaction::postgres(&session))
            .and_then(|()| session.commit(&format!("{}; COMMIT", self.count_commit())));
        connection.roll_back();
        outcome
    }

    /// Applies what is missing of the schema, one process at a time. Makes no tenant: a schema may be behind because
    /// whoever made it died before the first rows.
    pub(super) fn migrate(&self, connection: &Connection, control: &Control) -> Result<(), StoreError> {
        let _guard = CreationLock::take(self, connection, control)?;
        self.bring_up_to_date(connection, control)
    }

    /// Applies what is missing of the schema.
    pub(super) fn bring_up_to_date(
        &self,
        connection: &Connection,
        control: &Control,
    ) -> Result<(), StoreError> {
        if !self.has_schema(connection, control)? {
            self.in_transaction(connection, control, |transaction| {
                transaction.batch(&format!("CREATE SCHEMA IF NOT EXISTS {}", quoted(self.namespace())))?;
                transaction.batch(&ddl::render(migrate::TABLE))?;
                transaction.batch(COMMITS)?;
                self.secure(transaction)
            })
            .map_err(|error| match error {
                StoreError::AwaitsOwner { place, detail, .. } => {
                    StoreError::AwaitsOwner { place, detail, made: false }
                }
                error => error,
            })?;
        }
        while self.in_transaction(connection, control, |transaction| self.migrate_one(transaction))? {}
        Ok(())
    }

    /// Applies the next missing migration; false when there is none.
    fn migrate_one(&self, transaction: &Transaction<'_>) -> Result<bool, StoreError> {
        let schema = &self.options().schema;
        let applied = migrate::applied(transaction)?;
        if migrate::standing(schema, &applied)? != Standing::Behind {
            return Ok(false);
        }
        let Some(migration) = migrate::next(schema, &applied) else { return Ok(false) };
        migrate::apply(transaction, migration, &ddl::render(migration.sql), NOW)?;
        self.secure(transaction)?;
        self.options().faults.visit(FaultPoint::Migrate, self.place())?;
        Ok(true)
    }

    /// Every table with a tenant shows a transaction its own tenant's rows alone, the owner's included; and the
    /// roles that may use the schema may use its tables.
    fn secure(&self, transaction: &Transaction<'_>) -> Result<(), StoreError> {
        let text = |row: &Row<'_>| row.get::<String>(0);
        let schema = quoted(self.namespace());
        self.guard(transaction)?;
        for role in transaction.query(&users_of_schemas(self.namespace()), &[], text)? {
            transaction.batch(&grants(&schema, &role))?;
        }
        Ok(())
    }

    /// Whether `role` can be an application's role: one that is there, and that row security binds.
    pub(crate) fn check_role(&self, control: &Control, role: &str) -> Result<(), StoreError> {
        let connection = self.connect(control)?;
        let question = format!(
            "SELECT r.rolsuper, r.rolbypassrls, pg_catalog.pg_has_role(r.oid, coalesce(n.nspowner, o.oid), 'USAGE')
             FROM pg_catalog.pg_roles r JOIN pg_catalog.pg_roles o ON o.rolname = current_user
             LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = {} WHERE r.rolname = {}",
            literal(self.namespace()),
            literal(role)
        );
        let rows = connection.texts(control, &question)?;
        let why = match rows.first() {
            None => UnfitRole::Missing,
            Some(row) => {
                let is = |at: usize| row.get(at).is_some_and(|fact| fact.as_deref() == Some("t"));
                match (is(0), is(1), is(2)) {
                    (true, ..) => UnfitRole::Superuser,
                    (_, true, _) => UnfitRole::PassesOver,
                    (_, _, true) => UnfitRole::Owner,
                    _ => return Ok(()),
                }
            }
        };
        Err(StoreError::UnfitRole { role: role.to_owned(), why })
    }

    /// Lets another role read and write, but not change the schema.
    pub(crate) fn admit(&self, control: &Control, role: &str) -> Result<(), StoreError> {
        let connection = self.connect(control)?;
        let _guard = CreationLock::take(self, &connection, control)?;
        self.bring_up_to_date(&connection, control)?;
        self.in_transaction(&connection, control, |transaction| {
            self.guard(transaction)?;
            transaction.batch(&grants(&quoted(self.namespace()), role))
        })
    }

    /// The tables of a schema that is there which are not there themselves, in words; none of one that is not there.
    pub(super) fn lost_tables(&self, control: &Control) -> Result<Vec<String>, StoreError> {
        let connection = self.connect(control)?;
        if !self.has_schema(&connection, control)? {
            return Ok(Vec::new());
        }
        self.in_transaction(&connection, control, |transaction| {
            objects::lost_tables(transaction, self.namespace(), &self.options().schema)
        })
    }

    /// Makes what is derived anew: without the tenant's rows, and where tables of the schema are gone without the
    /// schema, which the next write makes again. Only its owner can do that.
    pub(crate) fn make_anew(&self, control: &Control) -> Result<(), StoreError> {
        let lost = self.lost_tables(control)?.join(", ");
        if lost.is_empty() {
            return self.erase_tenant(control);
        }
        self.close();
        let connection = self.connect(control)?;
        let _guard = CreationLock::take(self, &connection, control)?;
        let dropped = connection.batch(control, &format!("DROP SCHEMA {} CASCADE", quoted(self.namespace())));
        dropped.map_err(|error| match error {
            StoreError::Forbidden { .. } => {
                self.damaged(&format!("{lost}; the schema's owner makes it anew with `strata reindex`"))
            }
            error => error,
        })
    }

    /// Removes the tenant's rows of every table, and with them the tenant.
    pub(crate) fn erase_tenant(&self, control: &Control) -> Result<(), StoreError> {
        self.close();
        let connection = self.connect(control)?;
        let _guard = CreationLock::take(self, &connection, control)?;
        let schema = quoted(self.namespace());
        let tables = format!(
            "SELECT c.relname FROM pg_catalog.pg_class c
             JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant' AND NOT a.attisdropped
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = {} AND c.relkind IN ('r', 'p')",
            literal(self.namespace())
        );
        let no_faults = FaultPlan::none();
        connection.begin(control, &self.begin_write(control)).map_err(|error| self.unless_newer(error))?;
        let session = Session::new(&connection, control, &no_faults);
        let transaction = Transaction::postgres(&session);
        let emptied = transaction.query(&tables, &[], |row| row.get::<String>(0)).and_then(|tables| {
            let own = literal(self.tenant());
            tables.iter().try_for_each(|table| {
                transaction.batch(&format!("DELETE FROM {schema}.{} WHERE tenant = {own}", quoted(table)))
            })
        });
        let outcome = emptied.and_then(|()| session.commit("COMMIT"));
        connection.roll_back();
        outcome
    }

    pub(super) fn in_transaction<T>(
        &self,
        connection: &Connection,
        control: &Control,
        job: impl Fn(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let (no_faults, started) = (FaultPlan::none(), Instant::now());
        connection.begin(control, "BEGIN")?;
        let session = Session::new(connection, control, &no_faults);
        let outcome =
            job(&Transaction::postgres(&session)).and_then(|value| session.commit("COMMIT").map(|()| value));
        connection.roll_back();
        waited(started, outcome).map_err(|error| match error {
            StoreError::Forbidden { place, detail } => StoreError::AwaitsOwner { place, detail, made: true },
            error => error,
        })
    }
}

fn grants(schema: &str, role: &str) -> String {
    let role = quoted(role);
    format!(
        "GRANT USAGE ON SCHEMA {schema} TO {role};
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role};
         GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {role};
         REVOKE INSERT, UPDATE, DELETE ON {schema}.schema_migrations FROM {role}"
    )
}

/// The roles, beside the owner, that may use the schema or the first of the schemas.
fn users_of_schemas(namespace: &str) -> String {
    format!(
        "SELECT DISTINCT r.rolname FROM pg_catalog.pg_namespace n
         CROSS JOIN LATERAL pg_catalog.aclexplode(n.nspacl) a JOIN pg_catalog.pg_roles r ON r.oid = a.grantee
         WHERE n.nspname IN ({}, {}) AND a.privilege_type = 'USAGE' AND a.grantee <> n.nspowner
           AND r.rolname <> current_user",
        literal(FIRST_SCHEMA),
        literal(namespace)
    )
}

/// Held while a schema is made or changed. The server frees it when the connection ends.
struct CreationLock<'c> {
    connection: &'c Connection,
    key: i64,
}

impl<'c> CreationLock<'c> {
    fn take(store: &Store, connection: &'c Connection, control: &Control) -> Result<Self, StoreError> {
        let key = key(&["create", store.namespace()]);
        let patience = milliseconds(control.longest_wait());
        let sql = format!("SET lock_timeout = '{patience}ms'; SELECT pg_catalog.pg_advisory_lock({key})");
        waited(Instant::now(), connection.batch(control, &sql))?;
        Ok(Self { connection, key })
    }
}

impl Drop for CreationLock<'_> {
    fn drop(&mut self) {
        let free = format!("SELECT pg_catalog.pg_advisory_unlock({})", self.key);
        self.connection.batch(&Control::default(), &free).ok();
    }
}
