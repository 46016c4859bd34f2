//! The todos of an export on their way in.

use strata_core::{
    knowledge::todo::{Priority, Stamps, Status, TodoId},
    time::Timestamp,
};
use strata_store::{
    error::StoreError,
    ledger::{NewAudit, PurgedKind, TodoOrigin, TodoVersion},
};

use super::{
    incoming::{scope, writer},
    loading::Loading,
};
use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    knowledge::todo::LAYER,
    maintain::transfer::{LOAD, TodoLine, TodoVersionLine, record_of},
};

/// A todo through the gate.
pub(super) struct IncomingTodo {
    number: i64,
    pub(super) origin: TodoOrigin,
    /// What it said, and the record of how it came to.
    pub(super) versions: Vec<(TodoVersion, String)>,
}

pub(super) fn incoming(engine: &Engine, gate: &mut Gate, line: &TodoLine) -> Result<IncomingTodo, Error> {
    let origin = TodoOrigin {
        id: whole_id(&line.id)?.to_string(),
        scope: scope(gate, &line.scope)?,
        session: gate.field("session", Some(&line.session))?.unwrap_or_default(),
        created_at: Timestamp(line.created_at),
    };
    let versions: Vec<_> =
        line.versions.iter().map(|said| version(engine, gate, said)).collect::<Result<_, _>>()?;
    if versions.is_empty() {
        return Err(Error::argument("versions", "is empty", "export the file again"));
    }
    Ok(IncomingTodo { number: line.number, origin, versions })
}

pub(super) fn whole_id(text: &str) -> Result<TodoId, Error> {
    TodoId::parse(text).map_err(|e| Error::parse("id", &e))
}

fn version(engine: &Engine, gate: &mut Gate, line: &TodoVersionLine) -> Result<(TodoVersion, String), Error> {
    let known = |field: &str, word: &str| {
        Error::argument(field, format!("there is no {field} `{word}`"), "export the file again")
    };
    let record = gate.field("by", Some(&record_of(line.since, &line.by)))?.unwrap_or_default();
    let mut ids = Vec::with_capacity(line.blocked_by.len());
    for id in &line.blocked_by {
        ids.push(whole_id(id)?.to_string());
    }
    let version = TodoVersion {
        domain: gate.field("domain", Some(&line.domain))?.unwrap_or_default(),
        title: gate.field("title", Some(&line.title))?.unwrap_or_default(),
        content: gate.body("content", &line.content)?,
        blocked_by: ids,
        priority: Priority::parse(&line.priority).ok_or_else(|| known("priority", &line.priority))?,
        status: Status::parse(&line.status).ok_or_else(|| known("status", &line.status))?,
        notes: if line.notes.is_empty() { String::new() } else { gate.body("notes", &line.notes)? },
        stamps: Stamps {
            completed_at: line.completed_at.map(Timestamp),
            cancelled_at: line.cancelled_at.map(Timestamp),
        },
        deleted_at: line.deleted_at.map(Timestamp),
        updated_at: Timestamp(line.updated_at),
        writer: writer(gate, &line.writer)?,
        salt: engine.ids().salt(),
    };
    Ok((version, record))
}

impl Loading<'_> {
    /// Stores what is not here yet, with its history.
    pub(super) fn todos(&mut self, todos: &[IncomingTodo]) -> Result<(), StoreError> {
        let mut keyed = Vec::with_capacity(todos.len());
        for todo in todos {
            let id = todo.origin.id.as_str();
            let known = self.w.todo(id)?.is_some();
            if self.is_wanted(id, known)? {
                keyed.push((self.is_taken(PurgedKind::Todo, todo.number)?, todo));
            }
        }
        // Those whose number is free come first, so that nobody else is given it.
        keyed.sort_by_key(|(taken, _)| *taken);
        for (_, todo) in keyed {
            // A file may say the same thing twice.
            if self.w.todo(&todo.origin.id)?.is_some() {
                self.loaded.known += 1;
                continue;
            }
            let mut versions = Vec::with_capacity(todo.versions.len());
            for (version, record) in &todo.versions {
                let seq = self.w.record(&NewAudit {
                    layer: Some(LAYER),
                    reason: record,
                    after_hash: Some(version.digest(&todo.origin)),
                    ..NewAudit::new(&self.actors.owner, self.call.face, LOAD, &todo.origin.id)
                })?;
                versions.push((seq, version.clone()));
            }
            let number = self.number(PurgedKind::Todo, todo.number)?;
            self.w.load_todo(number, &todo.origin, &versions)?;
            self.loaded.todos += 1;
        }
        Ok(())
    }
}
