//! Todos: what is to be done, now and in every version that it had.
//!
//! `todos` is append-only but for the end of the open row, as `memory_states` is. The audit row of a change carries
//! the digest of the version that it brought ([`TodoVersion::digest`]), so that nobody edits one unseen.

use strata_core::{
    knowledge::todo::{Priority, Stamps, Status},
    scope::Scope,
    time::Timestamp,
};

use super::{LedgerRead, LedgerWrite, OPEN, PurgedKind, Seq, filter::Conditions, memories::scope_from};
use crate::{
    error::{Conflict, StoreError},
    params,
    sql::{Param, Row},
};

/// What is the same in all versions of a todo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoOrigin {
    /// Its id.
    pub id: String,
    /// Where it belongs.
    pub scope: Scope,
    /// The session it comes from; empty if none was named.
    pub session: String,
    /// When it was stored.
    pub created_at: Timestamp,
}

/// What a todo says from one change to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoVersion {
    /// The domain of knowledge that it belongs to.
    pub domain: String,
    /// One line.
    pub title: String,
    /// What is to be done.
    pub content: String,
    /// Ids of what has to be done before.
    pub blocked_by: Vec<String>,
    /// How pressing it is.
    pub priority: Priority,
    /// Where it stands.
    pub status: Status,
    /// What was noted beside it; may be empty.
    pub notes: String,
    /// When it was done or given up.
    pub stamps: Stamps,
    /// When it was deleted, if it was.
    pub deleted_at: Option<Timestamp>,
    /// When this version was written.
    pub updated_at: Timestamp,
    /// Who wrote it: a principal, as text.
    pub writer: String,
    /// Sixteen random bytes of this version's own. They salt its digest and are destroyed by a purge.
    pub salt: [u8; 16],
}

impl TodoVersion {
    /// Whether there is still something to do.
    pub fn is_open(&self) -> bool {
        self.deleted_at.is_none() && self.status.is_open()
    }
}

/// A version of a todo as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoRow {
    /// Its place in the order of all todos.
    pub number: i64,
    /// The change that brought this version.
    pub from_seq: i64,
    /// The change that ended it; [`OPEN`] while it is the present one.
    pub to_seq: i64,
    /// What never changes.
    pub origin: TodoOrigin,
    /// What it says.
    pub version: TodoVersion,
}

/// Which todos to list: what is open before what is closed, then the most pressing, then the newest. An empty list
/// does not restrict.
#[derive(Debug, Clone, Default)]
pub struct TodoFilter {
    /// What a reader standing here sees. `None` is everything.
    pub visible_from: Option<Scope>,
    /// Any of these statuses.
    pub statuses: Vec<Status>,
    /// Any of these domains, as they are stored.
    pub domains: Vec<String>,
    /// Only this priority.
    pub priority: Option<Priority>,
    /// Those that were deleted, instead of those that were not.
    pub deleted: bool,
    /// At most this many.
    pub limit: usize,
    /// So many are passed over.
    pub offset: usize,
}

/// How many todos agree in all of this. Deleted ones are not counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoCount {
    /// Where they stand.
    pub status: Status,
    /// How pressing they are.
    pub priority: Priority,
    /// Their domain.
    pub domain: String,
    /// How many.
    pub count: i64,
}

pub(super) const COLUMNS: &str = "number, from_seq, to_seq, id, namespace, project, branch, session, created_at, \
                                  domain, title, content, blocked_by, priority, status, notes, completed_at, \
                                  cancelled_at, deleted_at, updated_at, writer, salt";

/// The order of [`TodoFilter`].
const ORDER: &str =
    " ORDER BY CASE WHEN status IN ('pending', 'in_progress') THEN 0 ELSE 1 END, CASE priority
     WHEN 'blocker' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 WHEN 'low' THEN 3 ELSE 4 END,
     created_at DESC, number DESC";

impl LedgerRead<'_> {
    /// The present version of the todo with this whole id, also of a deleted one.
    pub fn todo(&self, id: &str) -> Result<Option<TodoRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM todos WHERE tenant = $1 AND id = $2 AND to_seq = {OPEN}");
        self.transaction.query_one(&sql, params![self.tenant, id], |row| self.todo_from(row))
    }

    /// The present version of the todo with this number, also of a deleted one.
    pub fn todo_by_number(&self, number: i64) -> Result<Option<TodoRow>, StoreError> {
        let sql =
            format!("SELECT {COLUMNS} FROM todos WHERE tenant = $1 AND number = $2 AND to_seq = {OPEN}");
        self.transaction.query_one(&sql, params![self.tenant, number], |row| self.todo_from(row))
    }

    /// All versions of a todo, oldest first.
    pub fn todo_history(&self, number: i64) -> Result<Vec<TodoRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM todos WHERE tenant = $1 AND number = $2 ORDER BY from_seq");
        self.transaction.query(&sql, params![self.tenant, number], |row| self.todo_from(row))
    }

    /// Present versions.
    pub fn todos(&self, filter: &TodoFilter) -> Result<Vec<TodoRow>, StoreError> {
        let mut all = self.todo_conditions(filter);
        all.sql.push_str(ORDER);
        all.limit(filter.limit);
        all.offset(filter.offset);
        let sql = format!("SELECT {COLUMNS} FROM todos WHERE {}", all.sql);
        self.transaction.query(&sql, &all.params, |row| self.todo_from(row))
    }

    /// How many todos a filter lets through, whatever its limit.
    pub fn todo_count(&self, filter: &TodoFilter) -> Result<i64, StoreError> {
        let all = self.todo_conditions(filter);
        let sql = format!("SELECT count(*) FROM todos WHERE {}", all.sql);
        Ok(self.transaction.query_one(&sql, &all.params, |row| row.get(0))?.unwrap_or(0))
    }

    /// The todos that a reader in `scope` sees, counted.
    pub fn todo_counts(&self, scope: Option<&Scope>) -> Result<Vec<TodoCount>, StoreError> {
        let filter = TodoFilter { visible_from: scope.cloned(), ..TodoFilter::default() };
        let all = self.todo_conditions(&filter);
        let sql = format!(
            "SELECT status, priority, domain, count(*) FROM todos WHERE {}
             GROUP BY status, priority, domain ORDER BY status, priority, domain",
            all.sql
        );
        self.transaction.query(&sql, &all.params, |row| {
            Ok(TodoCount {
                status: self.todo_status(row.text(0)?)?,
                priority: self.todo_priority(row.text(1)?)?,
                domain: row.get(2)?,
                count: row.get(3)?,
            })
        })
    }

    /// The domains of the todos that a filter lets through, each once.
    pub fn todo_domains(&self, filter: &TodoFilter) -> Result<Vec<String>, StoreError> {
        let all = self.todo_conditions(filter);
        let sql = format!("SELECT DISTINCT domain FROM todos WHERE {} ORDER BY domain", all.sql);
        self.transaction.query(&sql, &all.params, |row| row.get(0))
    }

    /// Versions of all todos behind `after`, which is a number and the change that brought a version: a page of at
    /// most `limit`, by number, oldest first.
    pub fn todo_versions_after(&self, after: (i64, i64), limit: usize) -> Result<Vec<TodoRow>, StoreError> {
        let mut all = Conditions::new("tenant", self.tenant);
        all.params.extend_from_slice(params![after.0, after.1]);
        all.sql.push_str(" AND (number, from_seq) > ($2, $3) ORDER BY number, from_seq");
        all.limit(limit);
        let sql = format!("SELECT {COLUMNS} FROM todos WHERE {}", all.sql);
        self.transaction.query(&sql, &all.params, |row| self.todo_from(row))
    }

    fn todo_conditions<'p>(&'p self, filter: &'p TodoFilter) -> Conditions<'p> {
        let mut all = Conditions::new("tenant", self.tenant);
        all.sql.push_str(&format!(" AND to_seq = {OPEN} AND deleted_at IS "));
        all.sql.push_str(if filter.deleted { "NOT NULL" } else { "NULL" });
        if let Some(scope) = &filter.visible_from {
            all.visible_from("", scope);
        }
        all.any_of("status", filter.statuses.iter().map(|status| status.as_str()));
        all.any_of("domain", filter.domains.iter().map(String::as_str));
        all.any_of("priority", filter.priority.map(Priority::as_str));
        all
    }

    pub(super) fn todo_from(&self, row: &Row<'_>) -> Result<TodoRow, StoreError> {
        let salt =
            row.blob(21)?.try_into().map_err(|_| self.corrupt("the salt of a todo is not 16 bytes"))?;
        let blocked_by = serde_json::from_str(row.text(12)?);
        Ok(TodoRow {
            number: row.get(0)?,
            from_seq: row.get(1)?,
            to_seq: row.get(2)?,
            origin: TodoOrigin {
                id: row.get(3)?,
                scope: scope_from(row, 4)?,
                session: row.get(7)?,
                created_at: row.get(8)?,
            },
            version: TodoVersion {
                domain: row.get(9)?,
                title: row.get(10)?,
                content: row.get(11)?,
                blocked_by: blocked_by.map_err(|_| self.corrupt("what blocks a todo is no list"))?,
                priority: self.todo_priority(row.text(13)?)?,
                status: self.todo_status(row.text(14)?)?,
                notes: row.get(15)?,
                stamps: Stamps { completed_at: row.get(16)?, cancelled_at: row.get(17)? },
                deleted_at: row.get(18)?,
                updated_at: row.get(19)?,
                writer: row.get(20)?,
                salt,
            },
        })
    }

    fn todo_status(&self, word: &str) -> Result<Status, StoreError> {
        Status::parse(word).ok_or_else(|| self.corrupt("a todo has a status that there is not"))
    }

    fn todo_priority(&self, word: &str) -> Result<Priority, StoreError> {
        Priority::parse(word).ok_or_else(|| self.corrupt("a todo has a priority that there is not"))
    }
}

impl LedgerWrite<'_> {
    /// Stores a todo and returns its number. The audit row of `seq` must have the digest as its `after_hash`.
    pub fn insert_todo(
        &self,
        origin: &TodoOrigin,
        version: &TodoVersion,
        seq: Seq,
    ) -> Result<i64, StoreError> {
        self.refuse_used_id("todos", &origin.id)?;
        let number = self.next_number("todos", PurgedKind::Todo.as_str())?;
        self.open_todo(number, origin, version, seq)?;
        Ok(number)
    }

    /// Ends the present version of a todo and begins another. `seen` is the version that the caller decided on;
    /// another one by now is a conflict.
    pub fn revise_todo(&self, seen: &TodoRow, version: &TodoVersion, seq: Seq) -> Result<(), StoreError> {
        let id = &seen.origin.id;
        let present = self.todo(id)?;
        let present = present.ok_or_else(|| StoreError::NotFound { what: "todo", key: id.clone() })?;
        if present.from_seq != seen.from_seq {
            let (expected, found) = (seen.from_seq, present.from_seq);
            return Err(Conflict::StateMoved { id: id.clone(), expected, found }.into());
        }
        self.end_todo(present.number, seq)?;
        self.open_todo(present.number, &present.origin, version, seq)
    }

    /// Stores a todo with all its versions, oldest first, under a number from [`Self::free_number`]. The audit row
    /// of each sequence must have the digest of its version.
    pub fn load_todo(
        &self,
        number: i64,
        origin: &TodoOrigin,
        versions: &[(Seq, TodoVersion)],
    ) -> Result<(), StoreError> {
        for (seq, version) in versions {
            self.end_todo(number, *seq)?;
            self.open_todo(number, origin, version, *seq)?;
        }
        Ok(())
    }

    fn end_todo(&self, number: i64, seq: Seq) -> Result<(), StoreError> {
        self.transaction.post(
            "UPDATE todos SET to_seq = $3 WHERE tenant = $1 AND number = $2 AND to_seq = $4",
            params![self.tenant, number, self.place(seq)?, OPEN],
        )?;
        Ok(())
    }

    fn open_todo(
        &self,
        number: i64,
        origin: &TodoOrigin,
        version: &TodoVersion,
        seq: Seq,
    ) -> Result<(), StoreError> {
        let blocked_by = blocked_by_text(&version.blocked_by);
        let scope = &origin.scope;
        let values: &[Param<'_>] = params![
            self.tenant,
            number,
            self.place(seq)?,
            OPEN,
            &origin.id,
            &scope.namespace,
            scope.project.as_deref().unwrap_or(""),
            scope.branch.as_deref().unwrap_or(""),
            &origin.session,
            origin.created_at,
            &version.domain,
            &version.title,
            &version.content,
            &blocked_by,
            version.priority.as_str(),
            version.status.as_str(),
            &version.notes,
            version.stamps.completed_at,
            version.stamps.cancelled_at,
            version.deleted_at,
            version.updated_at,
            &version.writer,
            &version.salt
        ];
        self.transaction.post(
            "INSERT INTO todos (tenant, number, from_seq, to_seq, id, namespace, project, branch, session, created_at,
                 domain, title, content, blocked_by, priority, status, notes, completed_at, cancelled_at, deleted_at,
                 updated_at, writer, salt)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
                 $22, $23)",
            values,
        )?;
        Ok(())
    }
}

/// The list of ids as it is stored and digested.
pub(super) fn blocked_by_text(ids: &[String]) -> String {
    // A list of texts is JSON whatever it holds.
    serde_json::to_string(ids).unwrap_or_default()
}
