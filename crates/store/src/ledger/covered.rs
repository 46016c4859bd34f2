//! What the audit keeps of raw events, of questions and of todos: digests, salted by sixteen random bytes that a purge
//! destroys.
//!
//! An audit row under which events were stored has [`of_events`] over their digests as its `after_hash` and
//! the digest of no events as its `before_hash`: nothing was there before, then these. A row under which a question was
//! asked has the question's digest as its `before_hash`: nothing has changed yet, so that slot is free. A row under
//! which a todo was stored or changed has the digest of that version as its `after_hash`.

use strata_core::time::Timestamp;

use super::{NewAudit, NewEpisode, NewReview, TodoOrigin, TodoVersion, todos::blocked_by_text};

/// BLAKE3 over a name, the salt and `parts`, each preceded by its length and by whether there is a value.
pub(super) fn salted(name: &str, salt: &[u8; 16], parts: &[Option<&str>]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &[u8]| {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    };
    add(name.as_bytes());
    add(salt);
    for part in parts {
        add(&[u8::from(part.is_some())]);
        add(part.unwrap_or_default().as_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// The hash over the digests of events that one change stored, in whatever order they come.
pub fn of_events(mut digests: Vec<[u8; 32]>) -> [u8; 32] {
    digests.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"events").update(&(digests.len() as u64).to_le_bytes());
    for digest in &digests {
        hasher.update(digest);
    }
    *hasher.finalize().as_bytes()
}

/// The same over none: it marks an audit row whose events are covered.
pub(super) fn no_events() -> [u8; 32] {
    of_events(Vec::new())
}

impl NewAudit<'_> {
    /// The row of a change that stores exactly the events with these digests.
    #[must_use]
    pub fn storing(self, digests: Vec<[u8; 32]>) -> Self {
        Self { before_hash: Some(no_events()), after_hash: Some(of_events(digests)), ..self }
    }

    /// The row of a change that puts `review` into the queue.
    #[must_use]
    pub fn asking(self, review: &NewReview) -> Self {
        Self { before_hash: Some(review.digest()), ..self }
    }
}

impl NewEpisode {
    /// What the audit covers of it: everything but its number.
    pub fn digest(&self) -> [u8; 32] {
        EventParts {
            id: self.id.as_str(),
            external_id: self.external_id.as_deref(),
            session: &self.session,
            at: self.at,
            speaker: &self.speaker,
            role: &self.role,
            text: &self.text,
            metadata: &self.metadata,
            scope: [
                &self.scope.namespace,
                self.scope.project.as_deref().unwrap_or(""),
                self.scope.branch.as_deref().unwrap_or(""),
            ],
            source: &self.source,
            writer: &self.writer,
        }
        .digest(&self.salt)
    }
}

/// What the digest of an event covers.
pub(super) struct EventParts<'a> {
    pub(super) id: &'a str,
    pub(super) external_id: Option<&'a str>,
    pub(super) session: &'a str,
    pub(super) at: Timestamp,
    pub(super) speaker: &'a str,
    pub(super) role: &'a str,
    pub(super) text: &'a str,
    pub(super) metadata: &'a str,
    pub(super) scope: [&'a str; 3],
    pub(super) source: &'a str,
    pub(super) writer: &'a str,
}

impl EventParts<'_> {
    pub(super) fn digest(&self, salt: &[u8; 16]) -> [u8; 32] {
        let at = self.at.0.to_string();
        let [namespace, project, branch] = self.scope;
        let parts = [
            Some(self.id),
            self.external_id,
            Some(self.session),
            Some(&at),
            Some(self.speaker),
            Some(self.role),
            Some(self.text),
            Some(self.metadata),
            Some(namespace),
            Some(project),
            Some(branch),
            Some(self.source),
            Some(self.writer),
        ];
        salted("event", salt, &parts)
    }
}

impl NewReview {
    /// What the audit covers of it: all that is asked. How it is decided is not part of it.
    pub fn digest(&self) -> [u8; 32] {
        QuestionParts {
            id: self.id.as_str(),
            kind: &self.kind,
            target: &self.target,
            proposal: &self.proposal,
            reason: &self.reason,
            proposer: &self.proposer,
            created_at: self.created_at,
        }
        .digest(&self.salt)
    }
}

/// What the digest of a question covers.
pub(super) struct QuestionParts<'a> {
    pub(super) id: &'a str,
    pub(super) kind: &'a str,
    pub(super) target: &'a str,
    pub(super) proposal: &'a str,
    pub(super) reason: &'a str,
    pub(super) proposer: &'a str,
    pub(super) created_at: Timestamp,
}

impl QuestionParts<'_> {
    pub(super) fn digest(&self, salt: &[u8; 16]) -> [u8; 32] {
        let at = self.created_at.0.to_string();
        let texts = [self.id, self.kind, self.target, self.proposal, self.reason, self.proposer, &at];
        salted("question", salt, &texts.map(Some))
    }
}

impl TodoVersion {
    /// What the audit covers of it: all that it says, and what never changes in it.
    pub fn digest(&self, origin: &TodoOrigin) -> [u8; 32] {
        let text = |at: Timestamp| at.0.to_string();
        let (created, updated) = (text(origin.created_at), text(self.updated_at));
        let closed =
            [self.stamps.completed_at, self.stamps.cancelled_at, self.deleted_at].map(|at| at.map(text));
        let blocked_by = blocked_by_text(&self.blocked_by);
        let [completed, cancelled, deleted] = closed.each_ref().map(Option::as_deref);
        let parts = [
            Some(origin.id.as_str()),
            Some(&origin.scope.namespace),
            origin.scope.project.as_deref(),
            origin.scope.branch.as_deref(),
            Some(&origin.session),
            Some(&created),
            Some(&self.domain),
            Some(&self.title),
            Some(&self.content),
            Some(&blocked_by),
            Some(self.priority.as_str()),
            Some(self.status.as_str()),
            Some(&self.notes),
            completed,
            cancelled,
            deleted,
            Some(&updated),
            Some(&self.writer),
        ];
        salted("todo", &self.salt, &parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_hashed_in_whatever_order_and_every_one_counts() {
        let (a, b) = ([1; 32], [2; 32]);
        assert_eq!(of_events(vec![a, b]), of_events(vec![b, a]));
        assert_ne!(of_events(vec![a]), of_events(vec![a, a]));
        assert_ne!(of_events(vec![a]), no_events());
    }

    #[test]
    fn a_missing_part_is_no_empty_one_and_parts_do_not_run_together() {
        let salt = [7; 16];
        let hash = |parts: &[Option<&str>]| salted("event", &salt, parts);
        assert_ne!(hash(&[None]), hash(&[Some("")]));
        assert_ne!(hash(&[Some("ab"), Some("c")]), hash(&[Some("a"), Some("bc")]));
        assert_ne!(hash(&[Some("a")]), salted("event", &[8; 16], &[Some("a")]));
        assert_ne!(hash(&[Some("a")]), salted("question", &salt, &[Some("a")]));
    }
}
