//! The queue of what waits for a decision.

use strata_core::{
    error::ParseError,
    id::{Id, PartialId},
    scope::Scope,
    time::Timestamp,
};

use super::{
    LedgerRead, LedgerWrite, Seq,
    filter::Conditions,
    lookup::{BEHIND_IDS, CANDIDATES},
};
use crate::{
    error::{Conflict, StoreError},
    params,
    rows::Rows,
    sql::Row,
};

/// Where a review stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewStatus {
    /// Waiting.
    Pending,
    /// Approved and applied.
    Approved,
    /// Turned down.
    Rejected,
    /// Overtaken: what it was about is gone or was decided elsewhere.
    Withdrawn,
}

impl ReviewStatus {
    const ALL: [Self; 4] = [Self::Pending, Self::Approved, Self::Rejected, Self::Withdrawn];

    /// The stored word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// Parses the word, ignoring ASCII case.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let wanted = text.trim();
        Self::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(wanted)).ok_or_else(|| {
            ParseError::new("review status", text, "use pending, approved, rejected or withdrawn")
        })
    }
}

/// A question to be put into the queue.
#[derive(Debug, Clone)]
pub struct NewReview {
    /// Its id, drawn by the caller.
    pub id: Id,
    /// What is asked: `candidate`, `conflict`, `amendment`, ...
    pub kind: String,
    /// What it is about: an id, or empty.
    pub target: String,
    /// What would be done: a JSON object, as text.
    pub proposal: String,
    /// Why it was asked.
    pub reason: String,
    /// Who asked: a principal, as text.
    pub proposer: String,
    /// When.
    pub created_at: Timestamp,
    /// Sixteen random bytes. They salt its digest and are destroyed by a purge.
    pub salt: [u8; 16],
}

/// What came of a review that another store exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewDecision {
    /// Where it stood.
    pub status: ReviewStatus,
    /// When it was decided.
    pub at: Option<Timestamp>,
    /// Who decided.
    pub by: Option<String>,
    /// What was said about it.
    pub note: Option<String>,
}

impl Default for ReviewDecision {
    /// None yet: it waits.
    fn default() -> Self {
        Self { status: ReviewStatus::Pending, at: None, by: None, note: None }
    }
}

/// A review as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewRow {
    /// Its id.
    pub id: String,
    /// What is asked.
    pub kind: String,
    /// Where it stands.
    pub status: ReviewStatus,
    /// What it is about.
    pub target: String,
    /// What would be done: a JSON object, as text.
    pub proposal: String,
    /// Why it was asked.
    pub reason: String,
    /// Who asked.
    pub proposer: String,
    /// When it was asked.
    pub created_at: Timestamp,
    /// When it was decided.
    pub decided_at: Option<Timestamp>,
    /// Who decided.
    pub decided_by: Option<String>,
    /// What was said about it.
    pub decision_note: Option<String>,
    /// The latest change: asked or decided.
    pub seq: i64,
}

/// Which reviews to list, oldest first.
#[derive(Debug, Clone)]
pub struct ReviewFilter {
    /// Only these that stand so.
    pub status: Option<ReviewStatus>,
    /// Only this kind.
    pub kind: Option<String>,
    /// Only those about this target.
    pub target: Option<String>,
    /// Only those about a memory that a reader standing here sees. `None` is everything.
    pub visible_from: Option<Scope>,
    /// At most this many.
    pub limit: usize,
}

impl Default for ReviewFilter {
    /// The fifty that wait longest.
    fn default() -> Self {
        Self { status: Some(ReviewStatus::Pending), kind: None, target: None, visible_from: None, limit: 50 }
    }
}

const COLUMNS: &str = "id, kind, status, target, proposal, reason, proposer, created_at, decided_at, decided_by, \
                       decision_note, seq";

const REVIEWS: Rows = Rows::new(
    "INSERT INTO reviews (tenant, id, kind, status, target, proposal, reason, proposer, created_at, seq, salt, digest)",
    12,
);

impl LedgerRead<'_> {
    /// The review with this whole id.
    pub fn review(&self, id: &str) -> Result<Option<ReviewRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM reviews WHERE tenant = $1 AND id = $2");
        self.transaction.query_one(&sql, params![self.tenant, id], review_from)
    }

    /// The one review whose id begins so, of those about a memory that a reader standing at `reader` sees (`None` is
    /// everything): the others count as little as if they were not there. None is `NotFound`; several are `Ambiguous`,
    /// with candidates.
    pub fn review_by_prefix(
        &self,
        prefix: &PartialId,
        reader: Option<&Scope>,
    ) -> Result<ReviewRow, StoreError> {
        let seen = ReviewFilter { status: None, visible_from: reader.cloned(), ..ReviewFilter::default() };
        let end = format!("{}{BEHIND_IDS}", prefix.text);
        let mut all = self.review_conditions(&seen);
        all.and("v.id >=", &prefix.text, "");
        all.and("v.id <", &end, "");
        let sql = format!("SELECT v.id FROM reviews v WHERE {} ORDER BY v.id LIMIT {CANDIDATES}", all.sql);
        let ids: Vec<String> = self.transaction.query(&sql, &all.params, |row: &Row<'_>| row.get(0))?;
        match ids.as_slice() {
            [] => Err(missing(&prefix.text)),
            [id] => self.review(id)?.ok_or_else(|| missing(id)),
            _ => Err(StoreError::Ambiguous { prefix: prefix.text.clone(), candidates: ids }),
        }
    }

    /// Lists reviews, oldest first.
    pub fn reviews(&self, filter: &ReviewFilter) -> Result<Vec<ReviewRow>, StoreError> {
        let mut all = self.review_conditions(filter);
        all.sql.push_str(" ORDER BY created_at, id");
        all.limit(filter.limit);
        let sql = format!("SELECT {COLUMNS} FROM reviews v WHERE {}", all.sql);
        self.transaction.query(&sql, &all.params, review_from)
    }

    /// How many reviews of each kind a filter lets through, whatever its limit.
    pub fn review_counts(&self, filter: &ReviewFilter) -> Result<Vec<(String, usize)>, StoreError> {
        let all = self.review_conditions(filter);
        let sql =
            format!("SELECT kind, count(*) FROM reviews v WHERE {} GROUP BY kind ORDER BY kind", all.sql);
        self.transaction.query(&sql, &all.params, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn review_conditions<'p>(&'p self, filter: &'p ReviewFilter) -> Conditions<'p> {
        let mut all = Conditions::new("v.tenant", self.tenant);
        all.any_of("v.status", filter.status.map(ReviewStatus::as_str));
        all.any_of("v.kind", filter.kind.as_deref());
        all.any_of("v.target", filter.target.as_deref());
        if let Some(scope) = &filter.visible_from {
            all.sql.push_str(
                " AND EXISTS (SELECT 1 FROM memories m WHERE m.tenant = v.tenant AND m.id = v.target",
            );
            all.visible_from("m.", scope);
            all.sql.push(')');
        }
        all
    }

    /// Reviews of one kind that were asked or decided after a sequence, in that order.
    pub fn reviews_changed_since(&self, kind: &str, seq: i64) -> Result<Vec<ReviewRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM reviews WHERE tenant = $1 AND kind = $2 AND seq > $3 ORDER BY seq, id"
        );
        self.transaction.query(&sql, params![self.tenant, kind, seq], review_from)
    }

    /// Whether there is any such review.
    pub fn is_review_changed_since(&self, kind: &str, seq: i64) -> Result<bool, StoreError> {
        let found = self.transaction.query_one(
            "SELECT 1 FROM reviews WHERE tenant = $1 AND kind = $2 AND seq > $3 LIMIT 1",
            params![self.tenant, kind, seq],
            |_| Ok(()),
        )?;
        Ok(found.is_some())
    }
}

impl LedgerWrite<'_> {
    /// Puts a question into the queue. The audit row of `seq` must cover it ([`super::NewAudit::asking`]).
    pub fn insert_review(&self, new: &NewReview, seq: Seq) -> Result<(), StoreError> {
        self.insert_reviews(&[(new, seq)])
    }

    /// Puts many into it, with few statements.
    pub fn insert_reviews(&self, asked: &[(&NewReview, Seq)]) -> Result<(), StoreError> {
        let ids: Vec<&str> = asked.iter().map(|(new, _)| new.id.as_str()).collect();
        if let Some(id) = self.used_ids("reviews", &ids)?.into_iter().min() {
            return Err(Conflict::IdTaken { id }.into());
        }
        let digests: Vec<_> = asked.iter().map(|(new, _)| new.digest()).collect();
        let mut values = Vec::with_capacity(asked.len() * 12);
        for ((new, seq), digest) in asked.iter().zip(&digests) {
            values.extend_from_slice(params![
                self.tenant,
                new.id.as_str(),
                &new.kind,
                ReviewStatus::Pending.as_str(),
                &new.target,
                &new.proposal,
                &new.reason,
                &new.proposer,
                new.created_at,
                self.place(*seq)?,
                &new.salt,
                digest
            ]);
        }
        REVIEWS.write(self.transaction, &values)?;
        Ok(())
    }

    /// Decides a pending review. One that was decided before is a conflict.
    pub fn decide_review(
        &self,
        id: &str,
        status: ReviewStatus,
        by: &str,
        note: &str,
        seq: Seq,
    ) -> Result<(), StoreError> {
        let review = self.review(id)?.ok_or_else(|| missing(id))?;
        if review.status != ReviewStatus::Pending {
            return Err(Conflict::Decided { id: review.id, status: review.status.as_str().to_owned() }.into());
        }
        self.transaction.post(
            "UPDATE reviews SET status = $3, decided_at = $4, decided_by = $5, decision_note = $6, seq = $7
             WHERE tenant = $1 AND id = $2",
            params![self.tenant, id, status.as_str(), self.now, by, note, self.place(seq)?],
        )?;
        Ok(())
    }
}

fn missing(key: &str) -> StoreError {
    StoreError::NotFound { what: "review", key: key.to_owned() }
}

fn review_from(row: &Row<'_>) -> Result<ReviewRow, StoreError> {
    Ok(ReviewRow {
        id: row.get(0)?,
        kind: row.get(1)?,
        status: ReviewStatus::parse(row.text(2)?)?,
        target: row.get(3)?,
        proposal: row.get(4)?,
        reason: row.get(5)?,
        proposer: row.get(6)?,
        created_at: row.get(7)?,
        decided_at: row.get(8)?,
        decided_by: row.get(9)?,
        decision_note: row.get(10)?,
        seq: row.get(11)?,
    })
}
