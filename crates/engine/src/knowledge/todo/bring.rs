//! Todos of an older store on their way in, with the dates and states that they have there.

use std::collections::HashSet;

use strata_core::{
    knowledge::todo::{self, Priority, Stamps, Status, TodoId},
    policy::Action,
    scope::Scope,
    time::Timestamp,
};
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, TodoOrigin, TodoVersion},
};

use super::{ADD, DEFAULT_DOMAIN, LAYER, domain, in_one, prose, record};
use crate::{authority, engine::Engine, error::Error, gate::Gate, operation::Call};

/// A todo as the older store has it.
#[derive(Debug, Clone)]
pub(crate) struct OlderTodo {
    /// The id that it has here.
    pub(crate) id: TodoId,
    /// The domain it belongs to; blank is the default.
    pub(crate) domain: String,
    /// One line; made from the content when there is none.
    pub(crate) title: Option<String>,
    /// What is to be done.
    pub(crate) content: String,
    /// Ids, as they are here, of what has to be done before.
    pub(crate) blocked_by: Vec<String>,
    /// How pressing it is.
    pub(crate) priority: Priority,
    /// Where it stands.
    pub(crate) status: Status,
    /// What else was noted.
    pub(crate) notes: Option<String>,
    /// The session it comes from.
    pub(crate) session: Option<String>,
    /// When it was made.
    pub(crate) created_at: Timestamp,
    /// When it was last changed.
    pub(crate) updated_at: Timestamp,
    /// When it was done or given up.
    pub(crate) stamps: Stamps,
}

/// A todo that may be stored.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    origin: TodoOrigin,
    version: TodoVersion,
    /// Families of secrets that were blacked out.
    pub(crate) redacted: Vec<&'static str>,
    /// Whether its domain was none and it has the default one now.
    pub(crate) moved: bool,
}

impl OlderTodo {
    /// Lets its texts through the gate.
    ///
    /// # Errors
    /// What the gate says of its title or content.
    pub(crate) fn ready(&self, engine: &Engine, scope: &Scope) -> Result<Ready, Error> {
        let mut gate = Gate::default();
        let content = gate.body("content", &self.content)?;
        let title = gate.field("title", self.title.as_deref())?.unwrap_or_else(|| todo::title(&content));
        let named = domain(&mut gate, &self.domain).ok();
        let version = TodoVersion {
            domain: named.clone().unwrap_or_else(|| DEFAULT_DOMAIN.to_owned()),
            title,
            content,
            blocked_by: self.blocked_by.clone(),
            priority: self.priority,
            status: self.status,
            notes: prose(&mut gate, "notes", self.notes.as_deref())?,
            stamps: self.stamps,
            deleted_at: None,
            updated_at: self.updated_at,
            writer: String::new(),
            salt: engine.ids().salt(),
        };
        let session = gate.field("source_session_id", self.session.as_deref())?.unwrap_or_default();
        let origin = TodoOrigin {
            id: self.id.to_string(),
            scope: scope.whole_project(),
            session,
            created_at: self.created_at,
        };
        Ok(Ready { origin, version, redacted: gate.redacted, moved: named.is_none() })
    }
}

impl Ready {
    /// Its id here.
    pub(crate) fn id(&self) -> &str {
        &self.origin.id
    }
}

/// What is known of some ids.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Those of todos that are here, deleted ones too.
    pub(crate) here: HashSet<String>,
    /// Those of todos that were purged here.
    pub(crate) purged: HashSet<String>,
}

impl Known {
    /// Looks for them.
    pub(crate) fn of<'i>(
        r: &LedgerRead<'_>,
        ids: impl IntoIterator<Item = &'i str>,
    ) -> Result<Self, StoreError> {
        let mut known = Self::default();
        for id in ids {
            if r.todo(id)?.is_some() {
                known.here.insert(id.to_owned());
            } else if r.is_purged(id)? {
                known.purged.insert(id.to_owned());
            }
        }
        Ok(known)
    }

    fn has(&self, id: &str) -> bool {
        self.here.contains(id) || self.purged.contains(id)
    }
}

/// Stores todos, all of them or none, and says how many were new.
///
/// # Errors
/// Refusals by the policy.
pub(crate) fn bring(engine: &Engine, call: &Call<'_>, todos: &[Ready], reason: &str) -> Result<usize, Error> {
    if todos.is_empty() {
        return Ok(0);
    }
    let actor = authority::authorise_as(engine, call, Action::Remember, ADD, LAYER, "")?;
    in_one(engine, call, |w| {
        let known = Known::of(w, todos.iter().map(Ready::id))?;
        let mut added = 0;
        for todo in todos.iter().filter(|todo| !known.has(todo.id())) {
            let version = TodoVersion { writer: actor.to_string(), ..todo.version.clone() };
            let seq = record(w, call, &actor, (ADD, reason), (&todo.origin, None, &version))?;
            w.insert_todo(&todo.origin, &version, seq)?;
            added += 1;
        }
        if added > 0 {
            authority::seal(w, call, &actor)?;
        }
        Ok(added)
    })
}
