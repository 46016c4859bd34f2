//! Which files were changed and not committed, as of a moment ago.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::{engine::Engine, operation::Call, vcs::Repository};

/// For how many times as long as a look took its answer is good.
const GOOD_FOR: u32 = 10;

/// The last look of an engine: when it was, how long it took, and what it found.
#[derive(Default)]
pub(crate) struct Looked(Mutex<Option<(Instant, Duration, Vec<String>)>>);

/// The files of the caller's project that git has otherwise, by path. None where the settings want no look, and where git does
/// not tell.
pub(super) fn files(engine: &Engine, call: &Call<'_>) -> Vec<String> {
    let settings = engine.settings();
    if !settings.config.project.runtime.check_git_status_on_retrieval || call.scope.project.is_none() {
        return Vec::new();
    }
    let Some(root) = settings.project_root.as_deref() else { return Vec::new() };
    let mut last = engine.uncommitted().0.lock().unwrap_or_else(PoisonError::into_inner);
    let is_good = |(at, took, _): &&(Instant, Duration, _)| at.elapsed() < *took * GOOD_FOR;
    if let Some((_, _, files)) = last.as_ref().filter(is_good) {
        return files.clone();
    }
    let began = Instant::now();
    let found = Repository::open(root).and_then(|repository| repository.changed()).unwrap_or_default();
    *last = Some((began, began.elapsed(), found.clone()));
    found
}
