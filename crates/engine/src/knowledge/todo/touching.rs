//! Open todos that a task touches, for the pack that an agent begins with.

use strata_core::{
    analysis::content_terms,
    knowledge::todo::{Status, touches},
};
use strata_store::ledger::{TodoFilter, TodoRow};

use super::view::TodoView;
use crate::{
    engine::Engine,
    error::Error,
    operation::Call,
    render::{Record, shortened},
};

/// Todos looked at: the most pressing, then the newest.
const LOOKED_AT: usize = 300;
/// Todos shown.
const SHOWN: usize = 5;
/// Bytes of a content that are compared with the task.
const COMPARED: usize = 2_000;
/// Characters of a content that are shown.
const CONTENT: usize = 300;

/// Those that share words with `task`, blockers first.
pub(crate) fn touching(engine: &Engine, call: &Call<'_>, task: &str) -> Result<Vec<Record>, Error> {
    let filter = TodoFilter {
        visible_from: Some(call.scope.clone()),
        statuses: Status::ALL.into_iter().filter(|status| status.is_open()).collect(),
        limit: LOOKED_AT,
        ..TodoFilter::default()
    };
    let open = engine.read(call, |r| r.todos(&filter))?;
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let task = content_terms(task);
    let mut found: Vec<(usize, TodoRow)> =
        open.into_iter().filter_map(|row| Some((shared(&task, &row)?, row))).collect();
    // They come by priority and age; among the equally pressing the one that shares most goes first.
    found.sort_by_key(|(shared, row)| (row.version.priority, std::cmp::Reverse(*shared)));
    Ok(found.into_iter().take(SHOWN).map(|(_, row)| record(row)).collect())
}

/// How many words it shares with the task, if they say that it is about the same.
fn shared(task: &[String], row: &TodoRow) -> Option<usize> {
    let version = &row.version;
    let title = content_terms(&version.title);
    let end = version.content.floor_char_boundary(COMPARED);
    let content = content_terms(&version.content[..end]);
    let holds = |term: &&String| title.binary_search(term).is_ok() || content.binary_search(term).is_ok();
    let shared = task.iter().filter(holds).count();
    touches(shared, task.len(), title.len()).then_some(shared)
}

fn record(row: TodoRow) -> Record {
    let mut record = TodoView::from(row).record();
    record.attributes.insert(0, "todo".to_owned());
    record.text = shortened(&record.text, CONTENT);
    record
}
