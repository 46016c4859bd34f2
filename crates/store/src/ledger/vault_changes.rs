//! What the changelog says of changes to the vault and to the index of it, beside their audit rows.

use strata_core::{knowledge::changelog::Operation, time::Timestamp};

use super::{LedgerRead, LedgerWrite, Seq, filter::Conditions};
use crate::{error::StoreError, params, sql::Row};

/// Microseconds.
const SECOND: i64 = 1_000_000;

/// A change as the changelog tells it. Never a body.
#[derive(Debug, Clone, PartialEq)]
pub struct VaultChange {
    /// The audit row that records it.
    pub seq: i64,
    /// Which of the changes of that row it is, from 0.
    pub ordinal: i64,
    /// Names it for clients: 32 hexadecimal digits.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// What was done.
    pub operation: Operation,
    /// The namespace of the file.
    pub namespace: String,
    /// The file's name without `.md`.
    pub domain: String,
    /// The file's number; none of an entry of the index.
    pub number: Option<i64>,
    /// The section's heading.
    pub section: Option<String>,
    /// Who asked for it, as they call themselves.
    pub agent_id: Option<String>,
    /// The tool.
    pub tool: String,
    /// What happened, in a few words.
    pub summary: String,
    /// Why.
    pub reason: String,
    /// What it rests on.
    pub source_ref: Option<String>,
    /// The token of the text before.
    pub before: Option<String>,
    /// The token of the text after.
    pub after: Option<String>,
    /// Further values, as a JSON object.
    pub metadata: String,
}

/// Which changes to list, newest first.
#[derive(Debug, Clone, Default)]
pub struct VaultChangeFilter {
    /// Only those of these namespaces; empty: of all.
    pub namespaces: Vec<String>,
    /// Only those of this domain.
    pub domain: Option<String>,
    /// Only those of these operations; empty: all.
    pub operations: Vec<Operation>,
    /// Only those from this instant on.
    pub since: Option<Timestamp>,
    /// At most this many; `None`: all.
    pub limit: Option<usize>,
    /// So many of the newest are passed over when there is a limit.
    pub offset: usize,
}

impl VaultChangeFilter {
    fn conditions<'p>(&'p self, tenant: &'p str) -> Conditions<'p> {
        let mut all = Conditions::new("tenant", tenant);
        all.any_of("namespace", self.namespaces.iter().map(String::as_str));
        all.any_of("domain", self.domain.as_deref());
        all.any_of("operation", self.operations.iter().map(|operation| operation.as_str()));
        if let Some(since) = self.since {
            all.and("at >=", since, "");
        }
        all
    }
}

/// How many changes there are of one operation on one domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultChangeTotal {
    /// What was done.
    pub operation: Operation,
    /// The file's name without `.md`.
    pub domain: String,
    /// How often.
    pub count: i64,
    /// The first time.
    pub first: Timestamp,
    /// The last time.
    pub last: Timestamp,
}

const COLUMNS: &str = "seq, ordinal, id, at, operation, namespace, domain, number, section, agent_id, tool, summary, \
                       reason, source_ref, before_token, after_token, metadata";

impl LedgerRead<'_> {
    /// The changes that a filter lets through, newest first.
    pub fn vault_changes(&self, filter: &VaultChangeFilter) -> Result<Vec<VaultChange>, StoreError> {
        let mut all = filter.conditions(self.tenant);
        all.sql.push_str(" ORDER BY seq DESC, ordinal DESC");
        if let Some(limit) = filter.limit {
            all.limit(limit);
            all.offset(filter.offset);
        }
        let sql = format!("SELECT {COLUMNS} FROM vault_changes WHERE {}", all.sql);
        self.transaction.query(&sql, &all.params, |row| self.vault_change_from(row))
    }

    /// The change with this id.
    pub fn vault_change(&self, id: &str) -> Result<Option<VaultChange>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM vault_changes WHERE tenant = $1 AND id = $2");
        self.transaction.query_one(&sql, params![self.tenant, id], |row| self.vault_change_from(row))
    }

    /// How many changes a filter lets through, whatever its limit.
    pub fn vault_change_count(&self, filter: &VaultChangeFilter) -> Result<i64, StoreError> {
        let all = filter.conditions(self.tenant);
        let sql = format!("SELECT count(*) FROM vault_changes WHERE {}", all.sql);
        Ok(self.transaction.query_one(&sql, &all.params, |row| row.get(0))?.unwrap_or(0))
    }

    /// The changes after a place in the order of changes, oldest first, at most `limit`: what a rendering that ends there
    /// lacks. The number stands in the statement, which SQLite would plan anew for each value that is bound to it.
    pub fn vault_changes_after(
        &self,
        seq: i64,
        ordinal: i64,
        limit: usize,
    ) -> Result<Vec<VaultChange>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM vault_changes
             WHERE tenant = $1 AND (seq > $2 OR (seq = $2 AND ordinal > $3)) ORDER BY seq, ordinal LIMIT {limit}"
        );
        self.transaction.query(&sql, params![self.tenant, seq, ordinal], |row| self.vault_change_from(row))
    }

    /// The place, as (seq, ordinal), of the change of the second from `at` on that clients know by `id`: they are told no parts
    /// of seconds.
    pub fn vault_change_place(&self, at: Timestamp, id: &str) -> Result<Option<(i64, i64)>, StoreError> {
        let sql =
            "SELECT seq, ordinal FROM vault_changes WHERE tenant = $1 AND at >= $2 AND at < $3 AND id = $4";
        let end = Timestamp(at.0.saturating_add(SECOND));
        let values = params![self.tenant, at, end, id];
        self.transaction.query_one(sql, values, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// How many changes there are of each operation and domain in these namespaces, and when the first and the last
    /// of them were made.
    pub fn vault_change_totals(&self, namespaces: &[String]) -> Result<Vec<VaultChangeTotal>, StoreError> {
        let filter = VaultChangeFilter { namespaces: namespaces.to_vec(), ..VaultChangeFilter::default() };
        let all = filter.conditions(self.tenant);
        let sql = format!(
            "SELECT operation, domain, count(*), min(at), max(at) FROM vault_changes WHERE {}
             GROUP BY operation, domain ORDER BY operation, domain",
            all.sql
        );
        self.transaction.query(&sql, &all.params, |row| {
            Ok(VaultChangeTotal {
                operation: self.operation(row.text(0)?)?,
                domain: row.get(1)?,
                count: row.get(2)?,
                first: row.get(3)?,
                last: row.get(4)?,
            })
        })
    }

    fn operation(&self, word: &str) -> Result<Operation, StoreError> {
        Operation::parse(word)
            .ok_or_else(|| self.corrupt(format!("`{word}` is no operation of the changelog")))
    }

    fn vault_change_from(&self, row: &Row<'_>) -> Result<VaultChange, StoreError> {
        let operation = self.operation(row.text(4)?)?;
        Ok(VaultChange {
            seq: row.get(0)?,
            ordinal: row.get(1)?,
            id: row.get(2)?,
            at: row.get(3)?,
            operation,
            namespace: row.get(5)?,
            domain: row.get(6)?,
            number: row.get(7)?,
            section: row.get(8)?,
            agent_id: row.get(9)?,
            tool: row.get(10)?,
            summary: row.get(11)?,
            reason: row.get(12)?,
            source_ref: row.get(13)?,
            before: row.get(14)?,
            after: row.get(15)?,
            metadata: row.get(16)?,
        })
    }
}

impl LedgerWrite<'_> {
    /// Stores what the changelog says of a change: the `ordinal`-th of those that `seq` records, at its time. `seq`,
    /// `ordinal` and `at` of `change` do not count.
    pub fn record_vault_change(
        &self,
        change: &VaultChange,
        ordinal: i64,
        seq: Seq,
    ) -> Result<(), StoreError> {
        self.load_vault_change(&VaultChange { at: self.head.get().at, ..change.clone() }, ordinal, seq)
    }

    /// The same at the time that `change` has: of one that comes from another home.
    pub fn load_vault_change(&self, change: &VaultChange, ordinal: i64, seq: Seq) -> Result<(), StoreError> {
        self.transaction.post(
            "INSERT INTO vault_changes (tenant, seq, ordinal, id, at, operation, namespace, domain, number, section,
                 agent_id, tool, summary, reason, source_ref, before_token, after_token, metadata)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
            params![
                self.tenant,
                self.place(seq)?,
                ordinal,
                &change.id,
                change.at,
                change.operation.as_str(),
                &change.namespace,
                &change.domain,
                change.number,
                change.section.as_deref(),
                change.agent_id.as_deref(),
                &change.tool,
                &change.summary,
                &change.reason,
                change.source_ref.as_deref(),
                change.before.as_deref(),
                change.after.as_deref(),
                &change.metadata
            ],
        )
    }
}
