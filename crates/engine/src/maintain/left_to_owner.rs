//! What is left to the owner of a server's tables, and how it is told.

use crate::render::{Block, Document, Mark};

/// Lists the statements under `why`, if there are any.
pub(super) fn told(document: Document, why: &str, statements: &[String]) -> Document {
    if statements.is_empty() {
        return document;
    }
    let text = format!("{why}; as the owner of the server's tables, when others can wait");
    let rows = statements.iter().map(|statement| vec![statement.clone()]).collect();
    document.note(Mark::Warning, text).with(Block::Table { columns: vec!["statement".into()], rows })
}
