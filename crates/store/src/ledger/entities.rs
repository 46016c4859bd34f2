//! Entities: what memories speak of and relations join. A scope has one entity of a label.

use strata_core::{
    graph::{Origin, label},
    id::Id,
    scope::Scope,
    time::Timestamp,
};

use super::{LedgerRead, LedgerWrite, Seq, filter::Conditions, memories::scope_from};
use crate::{error::StoreError, params, sql::Row};

/// An entity to be stored.
#[derive(Debug, Clone)]
pub struct NewEntity {
    /// Its id, drawn by the caller.
    pub id: Id,
    /// What it is called.
    pub label: String,
    /// What it is: tool, incident, pattern, ...
    pub kind: String,
    /// A JSON object of texts, as text.
    pub properties: String,
    /// Where it belongs.
    pub scope: Scope,
    /// Whether somebody said so.
    pub origin: Origin,
    /// How sure that is, 0 to 1.
    pub confidence: f64,
    /// Who brought it in: a principal, as text.
    pub writer: String,
    /// When.
    pub created_at: Timestamp,
}

/// An entity as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityRow {
    /// Shown as `#n`.
    pub number: i64,
    /// Its id.
    pub id: String,
    /// What it is called.
    pub label: String,
    /// What it is.
    pub kind: String,
    /// A JSON object of texts, as text.
    pub properties: String,
    /// Where it belongs.
    pub scope: Scope,
    /// Whether somebody said so.
    pub origin: Origin,
    /// How sure that is.
    pub confidence: f64,
    /// Who brought it in.
    pub writer: String,
    /// When.
    pub created_at: Timestamp,
    /// The latest change to it.
    pub seq: i64,
}

/// What may change of an entity.
#[derive(Debug, Clone, Copy)]
pub struct EntityChange<'a> {
    /// What it is called: another spelling of the same label.
    pub label: &'a str,
    /// What it is.
    pub kind: &'a str,
    /// A JSON object of texts, as text.
    pub properties: &'a str,
    /// Whether somebody said so.
    pub origin: Origin,
    /// How sure that is.
    pub confidence: f64,
}

/// Which entities to list, oldest first.
#[derive(Debug, Clone, Default)]
pub struct EntityFilter {
    /// What a reader standing here sees. `None` is everything.
    pub visible_from: Option<Scope>,
    /// Only those whose label holds this text, as labels are compared.
    pub holding: Option<String>,
    /// Only this kind.
    pub kind: Option<String>,
    /// Only this origin.
    pub origin: Option<Origin>,
    /// Only numbers above this: the next page.
    pub after: i64,
    /// At most this many.
    pub limit: usize,
}

pub(super) const COLUMNS: &str = "e.number, e.id, e.label, e.kind, e.properties, e.namespace, e.project, e.branch, \
                                  e.origin, e.confidence, e.writer, e.created_at, e.seq";

/// How many columns [`COLUMNS`] names.
pub(super) const WIDTH: usize = 13;

/// No label's key is longer, in bytes: its 200 characters become 18 of 4 bytes at most. A database takes no pattern
/// of any length.
const LONGEST_KEY: usize = 16 << 10;

impl LedgerRead<'_> {
    /// The entity with this whole id.
    pub fn entity(&self, id: &str) -> Result<Option<EntityRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM entities e WHERE e.tenant = $1 AND e.id = $2");
        self.transaction.query_one(&sql, params![self.tenant, id], entity_from)
    }

    /// The entity with this number.
    pub fn entity_by_number(&self, number: i64) -> Result<Option<EntityRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM entities e WHERE e.tenant = $1 AND e.number = $2");
        self.transaction.query_one(&sql, params![self.tenant, number], entity_from)
    }

    /// The entity of exactly this scope with the label.
    pub fn entity_of(&self, scope: &Scope, name: &str) -> Result<Option<EntityRow>, StoreError> {
        let key = label::key(name);
        let mut all = Conditions::new("e.tenant", self.tenant);
        all.exactly("e.", scope);
        all.and("e.label_key =", &key, "");
        let sql = format!("SELECT {COLUMNS} FROM entities e WHERE {}", all.sql);
        self.transaction.query_one(&sql, &all.params, entity_from)
    }

    /// The entity with the label that is nearest to a reader in `scope`.
    pub fn nearest_entity(&self, scope: &Scope, name: &str) -> Result<Option<EntityRow>, StoreError> {
        let key = label::key(name);
        let mut all = Conditions::new("e.tenant", self.tenant);
        all.visible_from("e.", scope);
        all.and("e.label_key =", &key, "");
        let sql = format!("SELECT {COLUMNS} FROM entities e WHERE {}", all.sql);
        let found = self.transaction.query(&sql, &all.params, entity_from)?;
        Ok(found.into_iter().max_by_key(|e| (e.scope.nearness(), e.number)))
    }

    /// The entities seen from `scope` whose label is, begins with or holds `text`, in this order. Only of these kinds;
    /// of all if there are none.
    pub fn find_entities(
        &self,
        scope: &Scope,
        text: &str,
        kinds: &[&str],
        limit: usize,
    ) -> Result<Vec<EntityRow>, StoreError> {
        let key = label::key(text);
        if key.len() > LONGEST_KEY {
            return Ok(Vec::new());
        }
        let escaped = escaped(&key);
        let (begins, holds) = (format!("{escaped}%"), format!("%{escaped}%"));
        let mut all = Conditions::new("e.tenant", self.tenant);
        all.visible_from("e.", scope);
        all.and("e.label_key LIKE", &holds, " ESCAPE '\\'");
        all.any_of("e.kind", kinds.iter().copied());
        let exact = all.params.len() + 1;
        all.params.push(key.as_str().into());
        all.params.push(begins.as_str().into());
        all.sql.push_str(&format!(
            " ORDER BY CASE WHEN e.label_key = ${exact} THEN 0 WHEN e.label_key LIKE ${} ESCAPE '\\' THEN 1 ELSE 2 END,
             e.label_key, e.number",
            exact + 1
        ));
        all.limit(limit);
        let sql = format!("SELECT {COLUMNS} FROM entities e WHERE {}", all.sql);
        self.transaction.query(&sql, &all.params, entity_from)
    }

    /// Lists entities, oldest first.
    pub fn entities(&self, filter: &EntityFilter) -> Result<Vec<EntityRow>, StoreError> {
        let key = filter.holding.as_deref().map(label::key);
        if key.as_ref().is_some_and(|key| key.len() > LONGEST_KEY) {
            return Ok(Vec::new());
        }
        let holds = key.map(|key| format!("%{}%", escaped(&key)));
        let mut all = Conditions::new("e.tenant", self.tenant);
        if let Some(scope) = &filter.visible_from {
            all.visible_from("e.", scope);
        }
        if let Some(holds) = &holds {
            all.and("e.label_key LIKE", holds, " ESCAPE '\\'");
        }
        all.any_of("e.kind", filter.kind.as_deref());
        all.any_of("e.origin", filter.origin.map(Origin::as_str));
        all.and("e.number >", filter.after, "");
        all.sql.push_str(" ORDER BY e.number");
        all.limit(filter.limit);
        let sql = format!("SELECT {COLUMNS} FROM entities e WHERE {}", all.sql);
        self.transaction.query(&sql, &all.params, entity_from)
    }
}

impl LedgerWrite<'_> {
    /// Stores an entity whose scope has none of its label, and returns its number.
    pub fn insert_entity(&self, new: &NewEntity, seq: Seq) -> Result<i64, StoreError> {
        self.refuse_used_id("entities", new.id.as_str())?;
        let number = self.next_number("entities", "entity")?;
        self.load_entity(number, new, seq)?;
        Ok(number)
    }

    /// Stores an entity under a number that is free.
    pub fn load_entity(&self, number: i64, new: &NewEntity, seq: Seq) -> Result<(), StoreError> {
        let key = label::key(&new.label);
        self.transaction.post(
            "INSERT INTO entities (tenant, number, id, label, label_key, label_head, kind, properties, namespace,
                 project, branch, origin, confidence, writer, created_at, seq)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
            params![
                self.tenant,
                number,
                new.id.as_str(),
                &new.label,
                &key,
                &label::head(&key),
                &new.kind,
                &new.properties,
                &new.scope.namespace,
                new.scope.project.as_deref().unwrap_or(""),
                new.scope.branch.as_deref().unwrap_or(""),
                new.origin.as_str(),
                new.confidence,
                &new.writer,
                new.created_at,
                self.place(seq)?
            ],
        )?;
        Ok(())
    }

    /// Changes what an entity is and what is known of it. Its label stays the same but for its spelling.
    pub fn change_entity(&self, number: i64, to: &EntityChange<'_>, seq: Seq) -> Result<(), StoreError> {
        self.transaction.post(
            "UPDATE entities SET label = $3, kind = $4, properties = $5, origin = $6, confidence = $7, seq = $8
             WHERE tenant = $1 AND number = $2",
            params![
                self.tenant,
                number,
                to.label,
                to.kind,
                to.properties,
                to.origin.as_str(),
                to.confidence,
                self.place(seq)?
            ],
        )?;
        Ok(())
    }

    /// Removes an entity with all that hangs on it.
    pub(super) fn erase_entity(&self, number: i64) -> Result<(), StoreError> {
        for sql in [
            "DELETE FROM entity_mentions WHERE tenant = $1 AND entity = $2",
            "DELETE FROM relations WHERE tenant = $1 AND (source = $2 OR target = $2)",
            "DELETE FROM entities WHERE tenant = $1 AND number = $2",
        ] {
            self.transaction.post(sql, params![self.tenant, number])?;
        }
        Ok(())
    }
}

/// A text as a pattern of `LIKE` that stands for itself.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

pub(super) fn entity_from(row: &Row<'_>) -> Result<EntityRow, StoreError> {
    Ok(EntityRow {
        number: row.get(0)?,
        id: row.get(1)?,
        label: row.get(2)?,
        kind: row.get(3)?,
        properties: row.get(4)?,
        scope: scope_from(row, 5)?,
        origin: Origin::parse(row.text(8)?)?,
        confidence: row.get(9)?,
        writer: row.get(10)?,
        created_at: row.get(11)?,
        seq: row.get(12)?,
    })
}
