//! The embedding model of a home, asked in a way that no fault of it goes further than one answer.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, MutexGuard, PoisonError},
};

use strata_core::time::Timestamp;
use strata_embed::{EmbedError, Embedder, checked};
use strata_store::index::WINDOW;

/// A model that did not answer is left alone for this long, in microseconds: it may be what takes the time.
const REST: i64 = 30_000_000;

/// A model and the key of its vectors.
pub(crate) struct Model {
    embedder: Box<dyn Embedder>,
    key: String,
    failure: Mutex<Option<Failure>>,
}

/// What the model said last, when that was no answer.
struct Failure {
    error: EmbedError,
    at: Timestamp,
}

impl Model {
    pub(crate) fn new(embedder: Box<dyn Embedder>) -> Self {
        // Conversation turns are embedded behind the turns before them; the key says how many.
        let key = format!("{};window={WINDOW}", embedder.model());
        Self { embedder, key, failure: Mutex::new(None) }
    }

    /// What its vectors are keyed by.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// How many components its vectors have.
    pub(crate) fn dimension(&self) -> usize {
        self.embedder.model().dimension()
    }

    /// Why it gave no answer when it was asked last.
    pub(crate) fn failure(&self) -> Option<EmbedError> {
        self.noted().as_ref().map(|failure| failure.error.clone())
    }

    /// Lets it be asked again at once.
    pub(crate) fn wake(&self) {
        *self.noted() = None;
    }

    /// The vector of a stored text at `now`.
    ///
    /// # Errors
    /// It gives no answer, or none that is a vector of its kind, or gave none a moment ago.
    pub(crate) fn passage(&self, text: &str, now: Timestamp) -> Result<Option<Vec<f32>>, EmbedError> {
        self.ask(now, |embedder| embedder.embed_passage(text))
    }

    /// The vector of a query at `now`.
    ///
    /// # Errors
    /// As for a stored text.
    pub(crate) fn query(&self, text: &str, now: Timestamp) -> Result<Option<Vec<f32>>, EmbedError> {
        self.ask(now, |embedder| embedder.embed_query(text))
    }

    fn ask(
        &self,
        now: Timestamp,
        question: impl FnOnce(&dyn Embedder) -> Result<Option<Vec<f32>>, EmbedError>,
    ) -> Result<Option<Vec<f32>>, EmbedError> {
        if let Some(failure) = self.noted().as_ref().filter(|failure| failure.is_fresh(now)) {
            return Err(failure.error.clone());
        }
        // A model that somebody else brought must not take a call, or the thread that indexes, with it.
        let answer = catch_unwind(AssertUnwindSafe(|| question(&*self.embedder)))
            .unwrap_or_else(|_| Err(EmbedError::Unanswered("it panicked".to_owned())))
            .and_then(|vector| vector.map(|vector| checked(self.embedder.model(), vector)).transpose());
        *self.noted() = answer.as_ref().err().map(|error| Failure { error: error.clone(), at: now });
        answer
    }

    fn noted(&self) -> MutexGuard<'_, Option<Failure>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Failure {
    /// Whether it is too early to ask again. A clock that was set back does not make the rest longer.
    fn is_fresh(&self, now: Timestamp) -> bool {
        now.0.abs_diff(self.at.0) < REST.unsigned_abs()
    }
}
