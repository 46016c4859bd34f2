//! A todo with everything it ever said.

use serde::Serialize;
use strata_core::knowledge::todo::TodoId;
use strata_store::ledger::{LedgerRead, TodoRow};

use super::{Reference, missing, view::TodoView};
use crate::{
    error::Error,
    operation::Call,
    render::{Block, Document, Trust},
};

/// A todo, deleted or not, and how it came to say what it says.
#[derive(Debug, Serialize)]
pub struct TodoWhole {
    /// What it says.
    #[serde(flatten)]
    pub todo: TodoView,
    /// All its versions, oldest first.
    pub versions: Vec<Said>,
}

/// What a todo said from one change to the next.
#[derive(Debug, Serialize)]
pub struct Said {
    /// Since when.
    pub at: String,
    /// Who wrote it.
    pub by: String,
    /// Where it stood.
    pub status: &'static str,
    /// How pressing it was.
    pub priority: &'static str,
    /// One line.
    pub title: String,
    /// What was to be done.
    pub content: String,
    /// Whether it was deleted.
    pub deleted: bool,
}

impl From<TodoRow> for Said {
    fn from(row: TodoRow) -> Self {
        let version = row.version;
        Self {
            at: version.updated_at.to_rfc3339(),
            by: version.writer,
            status: version.status.as_str(),
            priority: version.priority.as_str(),
            title: version.title,
            content: version.content,
            deleted: version.deleted_at.is_some(),
        }
    }
}

/// The todo with this id, if the caller sees it.
pub(crate) fn whole(r: &LedgerRead<'_>, call: &Call<'_>, id: &TodoId) -> Result<TodoWhole, Error> {
    let found = Reference::Id(id.clone()).find(r, call)?;
    let row = found.ok_or_else(|| missing(id.as_str()))?;
    let versions = r.todo_history(row.number)?.into_iter().map(Said::from).collect();
    Ok(TodoWhole { todo: row.into(), versions })
}

impl TodoWhole {
    /// The record, then its versions.
    pub fn render(&self) -> Document {
        let row = |said: &Said| {
            let status = if said.deleted { "deleted".to_owned() } else { said.status.replace('_', " ") };
            vec![said.at.clone(), said.by.clone(), status, said.priority.to_owned(), said.title.clone()]
        };
        let columns = ["since", "by", "status", "priority", "title"].map(str::to_owned).to_vec();
        Document::new()
            .with(Block::Records { trust: Trust::Data, records: vec![self.todo.record()] })
            .with(Block::Heading("Versions".to_owned()))
            .with(Block::Table { columns, rows: self.versions.iter().map(row).collect() })
    }
}
