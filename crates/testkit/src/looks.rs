//! What tests ask a server about the tables that Strata made on it, as its administrator.

use crate::store::TestDatabase;

impl TestDatabase {
    /// Rows of a tenant in all tables of the ledger.
    pub fn row_count_of(&self, tenant: &str) -> i64 {
        let tables = self.ask(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = 'strata_ledger' AND c.relkind = 'r' AND c.relname <> 'schema_migrations'",
        );
        let count = |table: &String| {
            let sql = format!("SELECT count(*)::text FROM strata_ledger.{table} WHERE tenant = '{tenant}'");
            self.ask(&sql).first().and_then(|number| number.parse::<i64>().ok()).unwrap_or_default()
        };
        tables.iter().map(count).sum()
    }

    /// The tenants that a ledger or anything in it belongs to, in order.
    pub fn tenants(&self) -> Vec<String> {
        self.ask(
            "SELECT tenant FROM strata_ledger.meta UNION SELECT tenant FROM strata_ledger.memories
             UNION SELECT tenant FROM strata_ledger.episodes ORDER BY 1",
        )
    }

    /// Whether a ledger has come to the server, of whatever tenant.
    pub fn has_ledger(&self) -> bool {
        let made = "SELECT 1 FROM pg_class WHERE oid = to_regclass('strata_ledger.commits')";
        !self.ask(made).is_empty() && !self.ask("SELECT 1 FROM strata_ledger.commits").is_empty()
    }

    /// The schemas of indexes, in order.
    pub fn indexes(&self) -> Vec<String> {
        self.ask("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'strata_index%' ORDER BY 1")
    }

    /// The tables whose files hold a text, visible or not.
    pub fn files_holding(&self, text: &str) -> Vec<String> {
        self.administer("CHECKPOINT");
        self.ask(&format!(
            "SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname LIKE 'strata%' AND c.relkind = 'r'
               AND position('{text}'::bytea IN pg_read_binary_file(pg_relation_filepath(c.oid))) > 0 ORDER BY 1"
        ))
    }

    /// Whether the server was told to look at what this table holds, as far as it has counted that yet.
    ///
    /// # Panics
    /// When the server does not answer.
    pub fn was_analyzed(&self, table: &str) -> bool {
        let query = format!(
            "SELECT count(*) FROM pg_stat_user_tables
             WHERE last_analyze IS NOT NULL AND relid = '{table}'::regclass"
        );
        self.ask(&query) == ["1"]
    }

    /// How many rows a table has, whoever's they are.
    pub fn rows_in(&self, table: &str) -> usize {
        self.ask(&format!("SELECT count(*) FROM {table}")).concat().parse().expect("a number")
    }

    /// The file of a table; another one once it was rewritten.
    pub fn file_of(&self, table: &str) -> String {
        self.ask(&format!("SELECT pg_relation_filepath('{table}')")).concat()
    }
}
