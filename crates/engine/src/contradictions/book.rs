//! Which contradictions were asked about before, and how many questions about each memory wait, as the review queue
//! stands at one place of the audit.

use std::collections::HashMap;

use serde::Deserialize;
use strata_core::chain::Head;
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, ReviewRow, ReviewStatus},
};

use crate::review::CONFLICT;

/// See the module. It is read once, outside of any write, and follows what changed after.
#[derive(Debug)]
pub(super) struct Book {
    /// The place of the audit that it was read at.
    head: Head,
    /// By the lesser id of a pair, then by the greater.
    asked: HashMap<String, HashMap<String, Asked>>,
    /// By memory.
    waiting: HashMap<String, usize>,
}

/// A question about a pair.
#[derive(Debug, Clone)]
struct Asked {
    review: String,
    waits: bool,
}

impl Default for Book {
    /// Of a queue in which nobody has asked anything.
    fn default() -> Self {
        Self { head: Head::GENESIS, asked: HashMap::new(), waiting: HashMap::new() }
    }
}

impl Book {
    /// Brings it up to the ledger. One that is no longer the same, because a backup was restored, is read anew.
    pub(super) fn follow(&mut self, r: &LedgerRead<'_>) -> Result<(), StoreError> {
        if !self.is_of(r)? {
            *self = Self::default();
        }
        for review in r.reviews_changed_since(CONFLICT, self.head.seq)? {
            self.note(&review);
        }
        self.head = r.head()?;
        Ok(())
    }

    /// Whether nothing was asked or decided since it was read.
    pub(super) fn is_current(&self, r: &LedgerRead<'_>) -> Result<bool, StoreError> {
        Ok(r.head()? == self.head
            || (self.is_of(r)? && !r.is_review_changed_since(CONFLICT, self.head.seq)?))
    }

    /// Whether the ledger has the line of the audit that it was read at.
    fn is_of(&self, r: &LedgerRead<'_>) -> Result<bool, StoreError> {
        Ok(self.head == Head::GENESIS || r.hash_at(self.head.seq)? == Some(self.head.hash))
    }

    /// The review of a pair, waiting or decided.
    pub(super) fn review(&self, a: &str, b: &str) -> Option<&str> {
        Some(self.asked.get(a.min(b))?.get(a.max(b))?.review.as_str())
    }

    /// How many questions about a memory wait.
    pub(super) fn waiting(&self, memory: &str) -> usize {
        self.waiting.get(memory).copied().unwrap_or(0)
    }

    /// Enters questions that were filed in one transaction, after which the audit ended at `head`.
    pub(super) fn enter<'q>(
        &mut self,
        filed: impl IntoIterator<Item = (&'q [String; 2], &'q str)>,
        head: Head,
    ) {
        for (pair, review) in filed {
            self.set(pair, Asked { review: review.to_owned(), waits: true });
        }
        self.head = head;
    }

    /// A question that a purge emptied names no memory any more.
    fn note(&mut self, review: &ReviewRow) {
        #[derive(Deserialize)]
        struct Sides {
            a: String,
            b: String,
        }
        if let Ok(Sides { a, b }) = serde_json::from_str(&review.proposal) {
            let waits = review.status == ReviewStatus::Pending;
            self.set(&[a, b], Asked { review: review.id.clone(), waits });
        }
    }

    fn set(&mut self, pair: &[String; 2], asked: Asked) {
        let (lesser, greater) = (pair.iter().min(), pair.iter().max());
        let (Some(lesser), Some(greater)) = (lesser, greater) else { return };
        let waits = asked.waits;
        let before = self.asked.entry(lesser.clone()).or_default().insert(greater.clone(), asked);
        for memory in pair {
            let count = self.waiting.entry(memory.clone()).or_default();
            match (before.as_ref().is_some_and(|before| before.waits), waits) {
                (false, true) => *count += 1,
                (true, false) => *count = count.saturating_sub(1),
                _ => {}
            }
        }
    }
}
