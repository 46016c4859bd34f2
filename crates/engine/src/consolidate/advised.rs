//! The judge as the writer of digests.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::text::Summarise;
use crate::{
    error::Error,
    judge::{Judge, MAX_GROUP, MAX_GROUP_TEXT, MAX_TEXT, digest_of},
};

/// Failures in a row after which it is not asked any more: a model that is away would cost its whole timeout at every
/// session of the night.
const PATIENCE: usize = 3;

/// A judge that writes digests until it fails several times in a row.
#[derive(Debug)]
pub(super) struct Advised<'j> {
    judge: &'j dyn Judge,
    name: String,
    failures: AtomicUsize,
}

impl<'j> Advised<'j> {
    pub(super) fn new(judge: &'j dyn Judge) -> Self {
        Self { judge, name: judge.name(), failures: AtomicUsize::new(0) }
    }
}

impl Summarise for Advised<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn summarise(&self, _title: &str, texts: &[String]) -> Result<String, Error> {
        if self.failures.load(Ordering::Relaxed) >= PATIENCE {
            let fault = "it failed several times in a row and was not asked again".to_owned();
            return Err(Error::Remote { host: self.name.clone(), fault });
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let digest = digest_of(self.judge, &texts);
        match &digest {
            Ok(_) => self.failures.store(0, Ordering::Relaxed),
            Err(_) => drop(self.failures.fetch_add(1, Ordering::Relaxed)),
        }
        digest
    }

    fn takes(&self, lengths: &[usize]) -> usize {
        let mut room = MAX_GROUP_TEXT;
        let fits = |length: &&usize| match room.checked_sub((**length).min(MAX_TEXT)) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        };
        let most = lengths.iter().take(MAX_GROUP).take_while(fits).count();
        // Two parts of forty rather than one of sixty-four and a rest.
        let parts = lengths.len().div_ceil(MAX_GROUP).max(1);
        most.min(lengths.len().div_ceil(parts))
    }
}
