//! Relations between entities. One that is removed ends; its row stays.

use strata_core::{
    graph::{Direction, Origin},
    id::Id,
    scope::Scope,
    time::Timestamp,
};

use super::{LedgerRead, LedgerWrite, OPEN, Seq, filter::Conditions, memories::scope_from};
use crate::{
    error::StoreError,
    params,
    rows::{LIST, padded, tabled},
    sql::Row,
};

/// A relation to be stored.
#[derive(Debug, Clone)]
pub struct NewRelation {
    /// Its id, drawn by the caller.
    pub id: Id,
    /// The number of the entity it starts from.
    pub source: i64,
    /// Its type.
    pub relation: String,
    /// The number of the entity it leads to.
    pub target: i64,
    /// A JSON object of texts, as text.
    pub properties: String,
    /// Where it was said.
    pub scope: Scope,
    /// Whether somebody said so.
    pub origin: Origin,
    /// How sure that is, 0 to 1.
    pub confidence: f64,
    /// Who said so: a principal, as text.
    pub writer: String,
    /// When.
    pub created_at: Timestamp,
}

/// A relation as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct RelationRow {
    /// Its place in the order of all relations.
    pub number: i64,
    /// Its id.
    pub id: String,
    /// The number of the entity it starts from.
    pub source: i64,
    /// Its type.
    pub relation: String,
    /// The number of the entity it leads to.
    pub target: i64,
    /// A JSON object of texts, as text.
    pub properties: String,
    /// Where it was said.
    pub scope: Scope,
    /// Whether somebody said so.
    pub origin: Origin,
    /// How sure that is.
    pub confidence: f64,
    /// Who said so.
    pub writer: String,
    /// When.
    pub created_at: Timestamp,
    /// When it was taken back.
    pub ended_at: Option<Timestamp>,
    /// The change that brought it.
    pub from_seq: i64,
    /// The change that ended it; [`OPEN`] while it holds.
    pub to_seq: i64,
    /// Why it ended; empty while it holds.
    pub reason: String,
}

impl RelationRow {
    /// Whether it holds.
    pub fn holds(&self) -> bool {
        self.to_seq == OPEN
    }
}

/// A step of a walk: a relation that holds, seen from one of its ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// The relation's place in the order of all relations.
    pub number: i64,
    /// The relation's id.
    pub id: String,
    /// Its type.
    pub relation: String,
    /// The entity the step leaves.
    pub near: i64,
    /// The entity it reaches.
    pub far: i64,
    /// That entity's id.
    pub far_id: String,
    /// What that is called.
    pub far_label: String,
    /// What that is.
    pub far_kind: String,
}

/// Which relations to list, oldest first.
#[derive(Debug, Clone, Default)]
pub struct RelationFilter {
    /// What a reader standing here sees. `None` is everything.
    pub visible_from: Option<Scope>,
    /// Only those that touch this entity.
    pub touching: Option<i64>,
    /// Only this type.
    pub relation: Option<String>,
    /// Also those that ended.
    pub ended: bool,
    /// Only numbers above this: the next page.
    pub after: i64,
    /// At most this many.
    pub limit: usize,
}

const COLUMNS: &str = "r.number, r.id, r.source, r.type, r.target, r.properties, r.namespace, r.project, r.branch, \
                       r.origin, r.confidence, r.writer, r.created_at, r.ended_at, r.from_seq, r.to_seq, r.reason";

impl LedgerRead<'_> {
    /// The relation with this whole id.
    pub fn relation(&self, id: &str) -> Result<Option<RelationRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM relations r WHERE r.tenant = $1 AND r.id = $2");
        self.transaction.query_one(&sql, params![self.tenant, id], relation_from)
    }

    /// The relations that hold between two entities and are of this type, whatever their scope.
    pub fn relations_between(
        &self,
        source: i64,
        relation: &str,
        target: i64,
    ) -> Result<Vec<RelationRow>, StoreError> {
        // Asked for in order, the database reads all relations by number rather than the few between the two.
        let sql = format!(
            "SELECT {COLUMNS} FROM relations r WHERE r.tenant = $1 AND r.source = $2 AND r.type = $3
             AND r.target = $4 AND r.to_seq = {OPEN}"
        );
        let place = params![self.tenant, source, relation, target];
        let mut found = self.transaction.query(&sql, place, relation_from)?;
        found.sort_by_key(|row| row.number);
        Ok(found)
    }

    /// Lists relations, oldest first. A reader sees one when they see it and both its ends.
    pub fn relations(&self, filter: &RelationFilter) -> Result<Vec<RelationRow>, StoreError> {
        let mut all = Conditions::new("r.tenant", self.tenant);
        if let Some(scope) = &filter.visible_from {
            for table in ["r.", "s.", "t."] {
                all.visible_from(table, scope);
            }
        }
        if let Some(entity) = filter.touching {
            all.and("(r.source =", entity, "");
            let place = all.params.len();
            all.sql.push_str(&format!(" OR r.target = ${place})"));
        }
        all.any_of("r.type", filter.relation.as_deref());
        if !filter.ended {
            // In words, for the indexes of live relations are found by it, and not by a value that is bound.
            all.sql.push_str(&format!(" AND r.to_seq = {OPEN}"));
        }
        all.and("r.number >", filter.after, "");
        all.sql.push_str(" ORDER BY r.number");
        all.limit(filter.limit);
        let sql = format!(
            "SELECT {COLUMNS} FROM relations r
             LEFT JOIN entities s ON s.tenant = r.tenant AND s.number = r.source
             LEFT JOIN entities t ON t.tenant = r.tenant AND t.number = r.target WHERE {}",
            all.sql
        );
        self.transaction.query(&sql, &all.params, relation_from)
    }

    /// How many relations of these types hold at each of `nodes` in one direction, whoever sees them, counted up to
    /// `most`. No types are all types.
    pub fn degrees(
        &self,
        nodes: &[i64],
        direction: Direction,
        types: &[&str],
        most: usize,
    ) -> Result<Vec<(i64, usize)>, StoreError> {
        let (near, _) = ends(direction);
        let mut degrees = Vec::with_capacity(nodes.len());
        for chunk in nodes.chunks(LIST) {
            let mut all = Conditions::new("c.tenant", self.tenant);
            let table = tabled(&mut all.params, chunk.iter().copied());
            all.any_of("c.type", types.iter().copied());
            all.limit(most);
            let sql = format!(
                "WITH nodes (number) AS ({table}) SELECT n.number, (SELECT count(*) FROM (SELECT 1 FROM relations c
                 WHERE c.tenant = $1 AND c.{near} = n.number AND c.to_seq = {OPEN} AND {}) held) FROM nodes n",
                all.sql
            );
            degrees.extend(self.transaction.query(&sql, &all.params, |row| Ok((row.get(0)?, row.get(1)?)))?);
        }
        Ok(degrees)
    }

    /// The steps that a reader in `scope` can take from any of `nodes` in one direction, by relation number;
    /// no types are all types.
    pub fn edges(
        &self,
        nodes: &[i64],
        direction: Direction,
        types: &[&str],
        scope: &Scope,
    ) -> Result<Vec<Edge>, StoreError> {
        let (near, _) = ends(direction);
        let mut edges = Vec::new();
        for chunk in nodes.chunks(LIST) {
            let mut all = Conditions::new("r.tenant", self.tenant);
            all.any_of(&format!("r.{near}"), padded(chunk).copied());
            all.any_of("r.type", types.iter().copied());
            edges.extend(self.seen_edges(all, direction, scope, "", None)?);
        }
        edges.sort_unstable_by_key(|edge| edge.number);
        Ok(edges)
    }

    /// The first of the steps from one node, by relation number, at most `most`.
    pub fn first_edges(
        &self,
        node: i64,
        direction: Direction,
        types: &[&str],
        scope: &Scope,
        most: usize,
    ) -> Result<Vec<Edge>, StoreError> {
        let (near, _) = ends(direction);
        let mut all = Conditions::new("r.tenant", self.tenant);
        all.and(&format!("r.{near} ="), node, "");
        // As an expression, or SQLite would go by an index of types and sort all that the node has.
        all.any_of("r.type || ''", types.iter().copied());
        self.seen_edges(all, direction, scope, " ORDER BY r.number", Some(most))
    }

    fn seen_edges<'p>(
        &'p self,
        mut all: Conditions<'p>,
        direction: Direction,
        scope: &'p Scope,
        order: &str,
        most: Option<usize>,
    ) -> Result<Vec<Edge>, StoreError> {
        let (near, far) = ends(direction);
        all.visible_from("r.", scope);
        all.visible_from("e.", scope);
        all.sql.push_str(order);
        if let Some(most) = most {
            all.limit(most);
        }
        let sql = format!(
            "SELECT r.number, r.id, r.type, r.{near}, r.{far}, e.id, e.label, e.kind
             FROM relations r JOIN entities e ON e.tenant = r.tenant AND e.number = r.{far}
             WHERE r.to_seq = {OPEN} AND {}",
            all.sql
        );
        self.transaction.query(&sql, &all.params, edge_from)
    }
}

/// The columns of the end that a step leaves and of the one that it reaches.
const fn ends(direction: Direction) -> (&'static str, &'static str) {
    match direction {
        Direction::Out => ("source", "target"),
        Direction::In => ("target", "source"),
    }
}

impl LedgerWrite<'_> {
    /// Stores a relation that holds from now on, and returns its number.
    pub fn insert_relation(&self, new: &NewRelation, seq: Seq) -> Result<i64, StoreError> {
        self.refuse_used_id("relations", new.id.as_str())?;
        self.load_relation(new, None, seq)
    }

    /// Stores a relation as it was where it comes from; `ended` is when and why it ended.
    pub fn load_relation(
        &self,
        new: &NewRelation,
        ended: Option<(Timestamp, &str)>,
        seq: Seq,
    ) -> Result<i64, StoreError> {
        let number = self.transaction.query_one(
            "SELECT COALESCE(max(number), 0) + 1 FROM relations WHERE tenant = $1",
            params![self.tenant],
            |row| row.get(0),
        )?;
        let number: i64 = number.unwrap_or(1);
        let place = self.place(seq)?;
        self.transaction.post(
            "INSERT INTO relations (tenant, number, id, source, type, target, properties, namespace, project, branch,
                 origin, confidence, writer, created_at, ended_at, from_seq, to_seq, reason)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
            params![
                self.tenant,
                number,
                new.id.as_str(),
                new.source,
                &new.relation,
                new.target,
                &new.properties,
                &new.scope.namespace,
                new.scope.project.as_deref().unwrap_or(""),
                new.scope.branch.as_deref().unwrap_or(""),
                new.origin.as_str(),
                new.confidence,
                &new.writer,
                new.created_at,
                ended.map(|(at, _)| at),
                place,
                if ended.is_some() { place } else { OPEN },
                ended.map_or("", |(_, why)| why)
            ],
        )?;
        Ok(number)
    }

    /// Replaces what is known of a relation that holds.
    pub fn describe_relation(&self, id: &str, properties: &str, confidence: f64) -> Result<(), StoreError> {
        self.transaction.post(
            "UPDATE relations SET properties = $3, confidence = $4, origin = 'stated' WHERE tenant = $1 AND id = $2",
            params![self.tenant, id, properties, confidence],
        )?;
        Ok(())
    }

    /// Ends a relation that holds; false if it had ended before.
    pub fn end_relation(&self, id: &str, reason: &str, seq: Seq) -> Result<bool, StoreError> {
        let sql = format!(
            "UPDATE relations SET to_seq = $3, ended_at = $4, reason = $5
             WHERE tenant = $1 AND id = $2 AND to_seq = {OPEN}"
        );
        let place = self.place(seq)?;
        Ok(self.transaction.execute(&sql, params![self.tenant, id, place, self.now, reason])? > 0)
    }
}

fn edge_from(row: &Row<'_>) -> Result<Edge, StoreError> {
    Ok(Edge {
        number: row.get(0)?,
        id: row.get(1)?,
        relation: row.get(2)?,
        near: row.get(3)?,
        far: row.get(4)?,
        far_id: row.get(5)?,
        far_label: row.get(6)?,
        far_kind: row.get(7)?,
    })
}

fn relation_from(row: &Row<'_>) -> Result<RelationRow, StoreError> {
    Ok(RelationRow {
        number: row.get(0)?,
        id: row.get(1)?,
        source: row.get(2)?,
        relation: row.get(3)?,
        target: row.get(4)?,
        properties: row.get(5)?,
        scope: scope_from(row, 6)?,
        origin: Origin::parse(row.text(9)?)?,
        confidence: row.get(10)?,
        writer: row.get(11)?,
        created_at: row.get(12)?,
        ended_at: row.get(13)?,
        from_seq: row.get(14)?,
        to_seq: row.get(15)?,
        reason: row.get(16)?,
    })
}
