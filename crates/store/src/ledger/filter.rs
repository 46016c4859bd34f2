//! Listing memories by what is true of them, now or at a sequence.

use strata_core::{
    memory::{Kind, Layer, Status, Tier},
    scope::{SHARED, Scope},
    time::TimeRange,
};

use super::{
    LedgerRead, MemoryRow,
    memories::{STATE_COLUMNS, TEXT_COLUMNS},
};
use crate::{error::StoreError, sql::Param};

/// Which memories to list. An empty list does not restrict.
#[derive(Debug, Clone)]
pub struct MemoryFilter {
    /// What a reader standing here sees: its scope and those above. `None` is everything.
    pub visible_from: Option<Scope>,
    /// Only memories of exactly this scope.
    pub exactly: Option<Scope>,
    /// Any of these layers.
    pub layers: Vec<Layer>,
    /// Any of these kinds.
    pub kinds: Vec<Kind>,
    /// Any of these statuses.
    pub statuses: Vec<Status>,
    /// Neither rules nor anything of P0 and P1.
    pub knowledge: bool,
    /// Only this tier.
    pub tier: Option<Tier>,
    /// Only pinned ones, or only others.
    pub pinned: Option<bool>,
    /// All of these tags.
    pub tags: Vec<String>,
    /// Only those of at least this importance, 0 to 1.
    pub least_importance: Option<f64>,
    /// Only this writer, as text.
    pub writer: Option<String>,
    /// Only this session.
    pub session: Option<String>,
    /// Written in this time.
    pub created: TimeRange,
    /// As the ledger was at this sequence, instead of now.
    pub as_of: Option<i64>,
    /// Only numbers below this: the next page.
    pub before: Option<i64>,
    /// At most this many.
    pub limit: usize,
}

impl Default for MemoryFilter {
    /// The newest fifty live memories of every scope.
    fn default() -> Self {
        Self {
            visible_from: None,
            exactly: None,
            layers: Vec::new(),
            kinds: Vec::new(),
            statuses: Status::ALL.iter().copied().filter(|status| status.is_live()).collect(),
            knowledge: false,
            tier: None,
            pinned: None,
            tags: Vec::new(),
            least_importance: None,
            writer: None,
            session: None,
            created: TimeRange::ALL,
            as_of: None,
            before: None,
            limit: 50,
        }
    }
}

impl MemoryFilter {
    /// The newest fifty memories of every scope and every status.
    pub fn of_any_status() -> Self {
        Self { statuses: Status::ALL.to_vec(), ..Self::default() }
    }
}

/// Memories read at a time by [`LedgerRead::for_each_memory`].
const PAGE: usize = 500;

/// A condition in the making.
pub(super) struct Conditions<'p> {
    pub(super) sql: String,
    pub(super) params: Vec<Param<'p>>,
}

impl<'p> Conditions<'p> {
    pub(super) fn new(tenant_column: &str, tenant: &'p str) -> Self {
        Self { sql: format!("{tenant_column} = $1"), params: vec![tenant.into()] }
    }

    /// Adds `AND <before> $n <after>`.
    pub(super) fn and(&mut self, before: &str, value: impl Into<Param<'p>>, after: &str) {
        let place = self.bind(value);
        self.sql.push_str(&format!(" AND {before} {place}{after}"));
    }

    /// Adds `AND column IN (...)` unless there are no values.
    pub(super) fn any_of<V: Into<Param<'p>>>(&mut self, column: &str, values: impl IntoIterator<Item = V>) {
        let places: Vec<String> = values.into_iter().map(|value| self.bind(value)).collect();
        if !places.is_empty() {
            self.sql.push_str(&format!(" AND {column} IN ({})", places.join(", ")));
        }
    }

    /// Adds what a reader standing in `scope` sees; `table` is the prefix of the columns.
    pub(super) fn visible_from(&mut self, table: &str, scope: &'p Scope) {
        self.any_of(&format!("{table}namespace"), [SHARED, scope.namespace.as_str()]);
        self.any_of(&format!("{table}project"), [""].into_iter().chain(scope.project.as_deref()));
        self.any_of(&format!("{table}branch"), [""].into_iter().chain(scope.branches()));
    }

    /// Adds the scope itself.
    pub(super) fn exactly(&mut self, table: &str, scope: &'p Scope) {
        self.and(&format!("{table}namespace ="), &scope.namespace, "");
        self.and(&format!("{table}project ="), scope.project.as_deref().unwrap_or(""), "");
        self.and(&format!("{table}branch ="), scope.branch.as_deref().unwrap_or(""), "");
    }

    /// Adds `from <= column < to`, leaving out ends that exclude nothing.
    pub(super) fn within(&mut self, column: &str, range: &TimeRange) {
        if range.from > TimeRange::ALL.from {
            self.and(&format!("{column} >="), range.from, "");
        }
        if range.to < TimeRange::ALL.to {
            self.and(&format!("{column} <"), range.to, "");
        }
    }

    pub(super) fn limit(&mut self, limit: usize) {
        let place = self.bind(i64::try_from(limit).unwrap_or(i64::MAX));
        self.sql.push_str(&format!(" LIMIT {place}"));
    }

    /// After [`Self::limit`] only.
    pub(super) fn offset(&mut self, offset: usize) {
        if offset > 0 {
            let place = self.bind(i64::try_from(offset).unwrap_or(i64::MAX));
            self.sql.push_str(&format!(" OFFSET {place}"));
        }
    }

    fn bind(&mut self, value: impl Into<Param<'p>>) -> String {
        self.params.push(value.into());
        format!("${}", self.params.len())
    }
}

impl LedgerRead<'_> {
    /// Lists memories, newest first.
    pub fn memories(&self, filter: &MemoryFilter) -> Result<Vec<MemoryRow>, StoreError> {
        let conditions = self.conditions(filter);
        let sql = if filter.as_of.is_some() {
            format!(
                "SELECT {TEXT_COLUMNS}, s.from_seq, s.status, s.tier, s.layer, s.confidence, s.importance, s.pinned
                 FROM memories m JOIN memory_states s ON s.tenant = m.tenant AND s.number = m.number
                 WHERE {}",
                conditions.sql
            )
        } else {
            format!("SELECT {TEXT_COLUMNS}, {STATE_COLUMNS} FROM memories m WHERE {}", conditions.sql)
        };
        let mut rows = self.transaction.query(&sql, &conditions.params, |row| self.memory_from(row))?;
        if filter.as_of.is_some() {
            // The link to a successor came with the state `superseded`, so it is not yet known before.
            for row in rows.iter_mut().filter(|row| row.state.status != Status::Superseded) {
                row.superseded_by = None;
                row.superseded_reason = None;
            }
        }
        Ok(rows)
    }

    /// Visits every memory that `filter` lets through, newest first. They are read in pages; the filter's own
    /// `before` and `limit` do not count.
    pub fn for_each_memory(
        &self,
        filter: &MemoryFilter,
        mut visit: impl FnMut(MemoryRow) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut page = MemoryFilter { before: None, limit: PAGE, ..filter.clone() };
        loop {
            let rows = self.memories(&page)?;
            let Some(last) = rows.last() else { return Ok(()) };
            page.before = Some(last.number);
            rows.into_iter().try_for_each(&mut visit)?;
        }
    }

    fn conditions<'p>(&'p self, filter: &'p MemoryFilter) -> Conditions<'p> {
        let mut all = Conditions::new("m.tenant", self.tenant);
        let state = if filter.as_of.is_some() { "s" } else { "m" };
        if let Some(seq) = filter.as_of {
            all.and("s.from_seq <=", seq, "");
            all.and("s.to_seq >", seq, "");
        }
        if let Some(scope) = &filter.visible_from {
            all.visible_from("m.", scope);
        }
        if let Some(scope) = &filter.exactly {
            all.exactly("m.", scope);
        }
        all.any_of(&format!("{state}.layer"), filter.layers.iter().map(|layer| layer.as_str()));
        all.any_of("m.kind", filter.kinds.iter().map(Kind::as_str));
        all.any_of(&format!("{state}.status"), filter.statuses.iter().map(|status| status.as_str()));
        if filter.knowledge {
            all.sql.push_str(&format!(" AND {state}.layer NOT IN ('P0', 'P1') AND m.kind <> 'rule'"));
        }
        all.any_of(&format!("{state}.tier"), filter.tier.map(Tier::as_str));
        all.any_of(&format!("{state}.pinned"), filter.pinned);
        if let Some(least) = filter.least_importance {
            all.and(&format!("{state}.importance >="), least, "");
        }
        for tag in &filter.tags {
            let before = "EXISTS (SELECT 1 FROM memory_tags t WHERE t.tenant = m.tenant AND t.number = m.number \
                          AND t.tag =";
            all.and(before, tag, ")");
        }
        all.any_of("m.writer", filter.writer.as_deref());
        all.any_of("m.session", filter.session.as_deref());
        all.within("m.created_at", &filter.created);
        if let Some(before) = filter.before {
            all.and("m.number <", before, "");
        }
        // A few memories are of a layer. The sign keeps SQLite from walking all of them from the newest on, for the order's sake.
        let by_layer = filter.as_of.is_none() && filter.visible_from.is_some() && !filter.layers.is_empty();
        all.sql.push_str(if by_layer { " ORDER BY +m.number DESC" } else { " ORDER BY m.number DESC" });
        all.limit(filter.limit);
        all
    }
}
