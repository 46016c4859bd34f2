//! The pages that this process showed lately, so that it can tell what changed since.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use strata_core::scope::Scope;

use super::Page;

/// Pages that are remembered.
const MOST: usize = 64;

/// See the module. They may be forgotten at any time: then the whole page is shown again.
#[derive(Debug, Default)]
pub struct Recent(Mutex<VecDeque<(Scope, Page)>>);

impl Recent {
    /// Remembers what a reader standing in `scope` was shown.
    pub(super) fn keep(&self, scope: &Scope, page: &Page) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|(place, kept)| place != scope || kept.revision != page.revision);
        pages.push_back((scope.clone(), page.clone()));
        if pages.len() > MOST {
            pages.pop_front();
        }
    }

    /// The page with this revision, if a reader there was shown it lately.
    pub(super) fn find(&self, scope: &Scope, revision: &str) -> Option<Page> {
        let pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = pages.iter().find(|(place, page)| place == scope && page.revision == revision);
        found.map(|(_, page)| page.clone())
    }
}
