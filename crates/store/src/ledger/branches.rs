//! Branches that memories stand on, and what was last seen of each.

use strata_core::memory::Status;

use super::{
    LedgerRead, LedgerWrite, MemoryRow,
    memories::{STATE_COLUMNS, TEXT_COLUMNS},
};
use crate::{error::StoreError, params};

/// What was last seen of a branch in a repository. Empty texts say that there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BranchSeen {
    /// Its latest commit.
    pub tip: String,
    /// Its latest commit that was not on the mainline when it was seen.
    pub own_tip: String,
    /// What it was last judged by: the same again needs no second judgement.
    pub judged: String,
    /// The review that asks what became of it.
    pub review: String,
}

/// A memory that stood on a branch when it was archived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedOnBranch {
    /// The branch.
    pub branch: String,
    /// The memory's id.
    pub id: String,
    /// Why, as the audit says it.
    pub reason: String,
}

impl LedgerRead<'_> {
    /// The branches of a project that live memories stand on, by name.
    pub fn branches_of(&self, project: &str) -> Result<Vec<String>, StoreError> {
        self.transaction.query(
            "SELECT DISTINCT branch FROM memories WHERE tenant = $1 AND project = $2 AND branch <> ''
                 AND status IN ('active', 'stale', 'needs_review', 'candidate') ORDER BY branch",
            params![self.tenant, project],
            |row| row.get(0),
        )
    }

    /// The memories of a branch that are live or wait to be, oldest first, in every namespace.
    pub fn memories_of_branch(&self, project: &str, branch: &str) -> Result<Vec<MemoryRow>, StoreError> {
        let sql = format!(
            "SELECT {TEXT_COLUMNS}, {STATE_COLUMNS} FROM memories m
             WHERE m.tenant = $1 AND m.project = $2 AND m.branch = $3 AND m.branch <> '' ORDER BY m.number"
        );
        let rows =
            self.transaction.query(&sql, params![self.tenant, project, branch], |r| self.memory_from(r))?;
        let stands = |row: &MemoryRow| row.state.status.is_live() || row.state.status == Status::Candidate;
        Ok(rows.into_iter().filter(stands).collect())
    }

    /// The memories of a project that were archived on a branch by one of these two `actions`, by branch, the latest
    /// first, in every namespace.
    pub fn archived_on_branches(
        &self,
        project: &str,
        actions: [&str; 2],
    ) -> Result<Vec<ArchivedOnBranch>, StoreError> {
        self.transaction.query(
            "SELECT m.branch, m.id, a.reason FROM memories m
             JOIN audit a ON a.tenant = m.tenant AND a.seq = m.state_seq
             WHERE m.tenant = $1 AND m.project = $2 AND m.branch <> '' AND m.status = 'archived'
                 AND a.action IN ($3, $4) ORDER BY m.branch, m.state_seq DESC, m.number DESC",
            params![self.tenant, project, actions[0], actions[1]],
            |row| Ok(ArchivedOnBranch { branch: row.get(0)?, id: row.get(1)?, reason: row.get(2)? }),
        )
    }

    /// What was last seen of a branch.
    pub fn branch_seen(&self, project: &str, branch: &str) -> Result<Option<BranchSeen>, StoreError> {
        self.transaction.query_one(
            "SELECT tip, own_tip, judged, review FROM branches_seen
             WHERE tenant = $1 AND project = $2 AND branch = $3",
            params![self.tenant, project, branch],
            |row| {
                Ok(BranchSeen {
                    tip: row.get(0)?,
                    own_tip: row.get(1)?,
                    judged: row.get(2)?,
                    review: row.get(3)?,
                })
            },
        )
    }
}

impl LedgerWrite<'_> {
    /// Notes what was seen of a branch. Nothing follows from it, so it needs no audit row.
    pub fn note_branch(&self, project: &str, branch: &str, seen: &BranchSeen) -> Result<(), StoreError> {
        self.transaction.post(
            "INSERT INTO branches_seen (tenant, project, branch, tip, own_tip, judged, review)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (tenant, project, branch) DO UPDATE SET tip = excluded.tip, own_tip = excluded.own_tip,
                 judged = excluded.judged, review = excluded.review",
            params![self.tenant, project, branch, &seen.tip, &seen.own_tip, &seen.judged, &seen.review],
        )?;
        Ok(())
    }

    /// Forgets what was seen of a branch.
    pub fn forget_branch(&self, project: &str, branch: &str) -> Result<(), StoreError> {
        self.transaction.post(
            "DELETE FROM branches_seen WHERE tenant = $1 AND project = $2 AND branch = $3",
            params![self.tenant, project, branch],
        )?;
        Ok(())
    }
}
