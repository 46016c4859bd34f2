//! What keeps the tenants of a server apart: every table's own policy, bound to its owner too, and roles that cannot
//! pass over it.

use super::{
    Store,
    names::{literal, quoted},
};
use crate::{
    error::StoreError,
    sql::{Control, Transaction},
};

/// The policy that every table with a tenant has.
const POLICY: &str = "own_tenant";
/// What it says.
const OWN: &str = "tenant = current_setting('strata.tenant', true)";
/// The same in the words in which every server shows it.
const OWN_AS_SHOWN: &str = "(tenant = current_setting('strata.tenant'::text, true))";

/// How the tenants of a server are kept apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Isolation {
    /// What lets somebody at another tenant's rows, or keeps a tenant from its own, each with what puts it right.
    pub gaps: Vec<(String, String)>,
    /// Tables that were looked at.
    pub tables: usize,
    /// The role of this connection.
    pub role: String,
    /// Whether that role may change the tables and their policies.
    pub is_owner: bool,
    /// Other roles that were let in and that row security binds.
    pub admitted: Vec<String>,
}

/// A table, and what of its protection is as it is made.
struct Guarded {
    table: String,
    is_on: bool,
    is_forced: bool,
    has_policy: bool,
    is_as_made: bool,
}

impl Store {
    /// Looks at tables, policies and roles of the schema; none where it is not made. On a connection of its own, which
    /// needs nothing to be visible.
    pub(crate) fn isolation(&self, control: &Control) -> Result<Option<Isolation>, StoreError> {
        let connection = self.connect(control)?;
        if !self.has_schema(&connection, control)? {
            return Ok(None);
        }
        self.in_transaction(&connection, control, |transaction| {
            let guarded = guarded(transaction, self.namespace())?;
            let mut found = Isolation { tables: guarded.len(), ..Isolation::default() };
            found.gaps.extend(guarded.iter().filter_map(Guarded::gap));
            found.gaps.extend(foreign_policies(transaction, self.namespace())?);
            roles(transaction, self.namespace(), &mut found)?;
            Ok(Some(found))
        })
    }

    /// Protects every table that is not protected as it should be: makes what is missing and puts back what was
    /// changed. Tables that are as they should be are left alone, so that whoever does not own them may call this.
    pub(super) fn guard(&self, transaction: &Transaction<'_>) -> Result<(), StoreError> {
        for Guarded { table, .. } in
            guarded(transaction, self.namespace())?.into_iter().filter(|one| one.gap().is_some())
        {
            let table = format!("{}.{}", quoted(self.namespace()), quoted(&table));
            transaction.batch(&format!(
                "ALTER TABLE {table} ENABLE ROW LEVEL SECURITY; ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
                 DROP POLICY IF EXISTS {POLICY} ON {table};
                 CREATE POLICY {POLICY} ON {table} USING ({OWN}) WITH CHECK ({OWN})"
            ))?;
        }
        Ok(())
    }
}

impl Guarded {
    fn gap(&self) -> Option<(String, String)> {
        let table = &self.table;
        let what = match self {
            Self { is_on: false, .. } => format!("row security of the table `{table}` is off"),
            Self { is_forced: false, .. } => {
                format!("row security of the table `{table}` does not bind its owner")
            }
            Self { has_policy: false, .. } => format!("the table `{table}` has no policy `{POLICY}`"),
            Self { is_as_made: false, .. } => {
                format!("the policy `{POLICY}` of the table `{table}` is not the one that Strata makes")
            }
            _ => return None,
        };
        Some((what, "the schema's owner runs `strata init` again, which puts it back".to_owned()))
    }
}

fn guarded(transaction: &Transaction<'_>, namespace: &str) -> Result<Vec<Guarded>, StoreError> {
    let (schema, own) = (literal(namespace), literal(OWN_AS_SHOWN));
    let question = format!(
        "SELECT c.relname::text, c.relrowsecurity, c.relforcerowsecurity, p.oid IS NOT NULL,
                coalesce(p.polpermissive AND p.polcmd = '*' AND p.polroles = '{{0}}'
                         AND pg_catalog.pg_get_expr(p.polqual, p.polrelid) = {own}
                         AND pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) = {own}, false)
         FROM pg_catalog.pg_class c
         JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
         JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant' AND NOT a.attisdropped
         LEFT JOIN pg_catalog.pg_policy p ON p.polrelid = c.oid AND p.polname = '{POLICY}'
         WHERE n.nspname = {schema} AND c.relkind IN ('r', 'p') ORDER BY c.relname"
    );
    transaction.query(&question, &[], |row| {
        Ok(Guarded {
            table: row.get(0)?,
            is_on: row.get(1)?,
            is_forced: row.get(2)?,
            has_policy: row.get(3)?,
            is_as_made: row.get(4)?,
        })
    })
}

/// Policies of other names. One that permits something opens what ours closes.
fn foreign_policies(
    transaction: &Transaction<'_>,
    namespace: &str,
) -> Result<Vec<(String, String)>, StoreError> {
    let schema = literal(namespace);
    let question = format!(
        "SELECT p.polname::text, c.relname::text FROM pg_catalog.pg_policy p
         JOIN pg_catalog.pg_class c ON c.oid = p.polrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname = {schema} AND p.polname <> '{POLICY}' ORDER BY c.relname, p.polname"
    );
    transaction.query(&question, &[], |row| {
        let (policy, table) = (row.text(0)?, row.text(1)?);
        let what = format!("the policy `{policy}` of the table `{table}` is not one that Strata makes");
        let whose = format!("{}.{}", quoted(namespace), quoted(table));
        Ok((what, format!("the schema's owner runs: DROP POLICY {} ON {whose}", quoted(policy))))
    })
}

/// This connection's role, and those that were let in beside the owner.
fn roles(transaction: &Transaction<'_>, namespace: &str, found: &mut Isolation) -> Result<(), StoreError> {
    let schema = literal(namespace);
    let question = format!(
        "SELECT r.rolname::text, r.rolname = current_user, r.rolsuper, r.rolbypassrls,
                pg_catalog.pg_has_role(r.oid, n.nspowner, 'USAGE')
         FROM pg_catalog.pg_roles r JOIN pg_catalog.pg_namespace n ON n.nspname = {schema}
         WHERE r.rolname = current_user OR r.oid IN
               (SELECT a.grantee FROM pg_catalog.aclexplode(n.nspacl) a
                WHERE a.privilege_type = 'USAGE' AND a.grantee <> n.nspowner)
         ORDER BY r.rolname"
    );
    transaction.for_each(&question, &[], |row| {
        let (role, is_own): (String, bool) = (row.get(0)?, row.get(1)?);
        let (is_super, passes_over, is_owner): (bool, bool, bool) = (row.get(2)?, row.get(3)?, row.get(4)?);
        let name = quoted(&role);
        if is_super || passes_over {
            let why = if is_super { "is a superuser" } else { "has BYPASSRLS" };
            let what = format!("the role `{role}` {why}, so row security does not bind it");
            let remedy = format!(
                "connect as another role, or the administrator runs: ALTER ROLE {name} NOSUPERUSER NOBYPASSRLS"
            );
            found.gaps.push((what, remedy));
        } else if is_owner && !is_own {
            let what = format!("the application's role `{role}` has the rights of the schema's owner and can lift row security");
            found.gaps.push((what, format!("the administrator takes the owner's role from {name}: REVOKE")));
        }
        if is_own {
            found.role = role;
            found.is_owner = is_owner;
        } else if !(is_super || passes_over || is_owner) {
            found.admitted.push(role);
        }
        Ok(())
    })
}
