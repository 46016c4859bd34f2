//! The todos' lines of an export.

use strata_core::scope::Scope;
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, TodoOrigin, TodoRow},
};

use super::{PAGE, origin};
use crate::{
    error::Error,
    maintain::transfer::{Line, TodoLine, TodoVersionLine},
};

/// Adds the todos of the chosen scopes, each with all its versions, and tells how many.
pub(super) fn collect(
    r: &LedgerRead<'_>,
    chosen: &impl Fn(&Scope) -> bool,
    mut add: impl FnMut(&Line) -> Result<(), Error>,
) -> Result<usize, Error> {
    let (mut count, mut after) = (0, (0, 0));
    // The versions of one todo follow each other, and a page may end among them.
    let mut begun: Option<TodoLine> = None;
    loop {
        let page = r.todo_versions_after(after, PAGE)?;
        let Some(last) = page.last() else { break };
        after = (last.number, last.from_seq);
        for row in page.into_iter().filter(|row| chosen(&row.origin.scope)) {
            if begun.as_ref().is_none_or(|line| line.number != row.number) {
                count += 1;
                let next = line(row.number, &row.origin);
                if let Some(whole) = begun.replace(next) {
                    add(&Line::Todo(Box::new(whole)))?;
                }
            }
            if let Some(line) = &mut begun {
                line.versions.push(version(r, row)?);
            }
        }
    }
    if let Some(whole) = begun {
        add(&Line::Todo(Box::new(whole)))?;
    }
    Ok(count)
}

fn line(number: i64, origin: &TodoOrigin) -> TodoLine {
    TodoLine {
        number,
        id: origin.id.clone(),
        scope: (&origin.scope).into(),
        session: origin.session.clone(),
        created_at: origin.created_at.0,
        versions: Vec::new(),
    }
}

fn version(r: &LedgerRead<'_>, row: TodoRow) -> Result<TodoVersionLine, StoreError> {
    let (since, by) = origin(r, row.from_seq)?;
    let version = row.version;
    Ok(TodoVersionLine {
        since,
        by,
        domain: version.domain,
        title: version.title,
        content: version.content,
        blocked_by: version.blocked_by,
        priority: version.priority.as_str().to_owned(),
        status: version.status.as_str().to_owned(),
        notes: version.notes,
        completed_at: version.stamps.completed_at.map(|at| at.0),
        cancelled_at: version.stamps.cancelled_at.map(|at| at.0),
        deleted_at: version.deleted_at.map(|at| at.0),
        updated_at: version.updated_at.0,
        writer: version.writer,
    })
}
