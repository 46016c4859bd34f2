//! Todos: what is to be done, in the ledger. Every version of one is kept; only a purge erases.

pub mod add;
pub(crate) mod bring;
pub mod delete;
pub mod list;
pub mod restore;
pub mod stats;
pub(crate) mod touching;
pub mod update;
pub mod view;
pub mod whole;

use strata_core::{
    knowledge::{
        name::Name,
        todo::{self, Priority, Stamps, Status, TodoId},
    },
    memory::Layer,
    policy::Action,
    principal::Principal,
};
use strata_store::ledger::{LedgerRead, LedgerWrite, NewAudit, Seq, TodoOrigin, TodoRow, TodoVersion};

use crate::{
    authority, engine::Engine, error::Error, gate::Gate, memory::reference::sees_scope, operation::Call,
};

/// The layer whose writers keep todos: that of knowledge.
pub const LAYER: Layer = Layer::P5;
/// The domain of a todo that was given none.
pub const DEFAULT_DOMAIN: &str = "general";

/// A todo to be stored where the caller stands.
#[derive(Debug, Clone, Default)]
pub struct NewTodo {
    /// An id made from what it was found by; the same id is stored once. Without one an id is drawn.
    pub id: Option<TodoId>,
    /// The domain of knowledge that it belongs to. Blank is [`DEFAULT_DOMAIN`].
    pub domain: String,
    /// One line; made from the content if there is none.
    pub title: Option<String>,
    /// What is to be done.
    pub content: String,
    /// Todos that have to be done before, by id or `#number`.
    pub blocked_by: Vec<String>,
    /// How pressing it is.
    pub priority: Priority,
    /// What else is to be noted.
    pub notes: Option<String>,
    /// The session it comes from.
    pub session: Option<String>,
}

/// What became of a [`NewTodo`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    /// Its id.
    pub id: String,
    /// Its number; none of one that was purged.
    pub number: Option<i64>,
    /// Whether there was a todo of that id before, deleted and purged ones too: then nothing was stored.
    pub existed: bool,
    /// Families of secrets that were blacked out.
    pub redacted: Vec<&'static str>,
}

/// Stores a todo, through the gate and past the policy.
///
/// # Errors
/// `Argument` for a name that cannot be a domain and for a blocker that is not there; what the gate and the policy say.
pub fn create(engine: &Engine, call: &Call<'_>, new: &NewTodo) -> Result<Created, Error> {
    let mut gate = Gate::default();
    let mut version = draft(engine, &mut gate, new)?;
    let session = gate.field("source_session_id", new.session.as_deref())?.unwrap_or_default();
    let asked = gate.list("blocked_by", &new.blocked_by)?;
    let actor = authority::authorise_as(engine, call, Action::Remember, ADD, LAYER, "")
        .map_err(|e| e.with_command("strata todo add TEXT"))?;
    version.writer = actor.to_string();
    let id = new.id.clone().unwrap_or_else(|| TodoId::from_bits(engine.ids().bits()));
    in_one(engine, call, |w| {
        let known = w.todo(id.as_str())?.map(|row| row.number);
        if known.is_some() || w.is_purged(id.as_str())? {
            let (id, redacted) = (id.to_string(), gate.redacted.clone());
            return Ok(Created { id, number: known, existed: true, redacted });
        }
        version.blocked_by = blockers(w, call, None, &asked)?;
        version.updated_at = w.now();
        let scope = call.scope.whole_project();
        let origin = TodoOrigin { id: id.to_string(), scope, session: session.clone(), created_at: w.now() };
        let seq = record(w, call, &actor, (ADD, ""), (&origin, None, &version))?;
        let number = w.insert_todo(&origin, &version, seq)?;
        authority::seal(w, call, &actor)?;
        Ok(Created { id: origin.id, number: Some(number), existed: false, redacted: gate.redacted.clone() })
    })
}

/// The first version, but for what only the transaction knows.
fn draft(engine: &Engine, gate: &mut Gate, new: &NewTodo) -> Result<TodoVersion, Error> {
    let content = gate.body("content", &new.content)?;
    let title = gate.field("title", new.title.as_deref())?;
    Ok(TodoVersion {
        domain: domain(gate, &new.domain)?,
        title: title.unwrap_or_else(|| todo::title(&content)),
        content,
        blocked_by: Vec::new(),
        priority: new.priority,
        status: Status::Pending,
        notes: prose(gate, "notes", new.notes.as_deref())?,
        stamps: Stamps::default(),
        deleted_at: None,
        updated_at: engine.clock().now(),
        writer: String::new(),
        salt: engine.ids().salt(),
    })
}

/// Actions as they go on record.
const ADD: &str = "todo_add";
const UPDATE: &str = "todo_update";
const DELETE: &str = "todo_delete";
const RESTORE: &str = "todo_restore";

/// A text that may be long, or absent.
fn prose(gate: &mut Gate, field: &str, text: Option<&str>) -> Result<String, Error> {
    match text.filter(|text| !text.trim().is_empty()) {
        Some(text) => gate.body(field, text),
        None => Ok(String::new()),
    }
}

/// The domain that somebody named: what could name a file of the vault.
fn domain(gate: &mut Gate, text: &str) -> Result<String, Error> {
    let Some(passed) = gate.field("domain", Some(text))? else { return Ok(DEFAULT_DOMAIN.to_owned()) };
    let name = Name::domain(&passed).map_err(|e| {
        let message = format!("`{}` cannot name a domain: {e}", crate::render::shortened(&passed, 60));
        Error::argument("domain", message, "use a short name such as infrastructure")
    })?;
    Ok(name.as_str().to_owned())
}

/// A priority by its word.
fn priority(word: &str) -> Result<Priority, Error> {
    Priority::parse(word.trim())
        .ok_or_else(|| unknown("priority", word, &Priority::ALL.map(Priority::as_str)))
}

/// A status by its word.
fn status(word: &str) -> Result<Status, Error> {
    Status::parse(word.trim()).ok_or_else(|| unknown("status", word, &Status::ALL.map(Status::as_str)))
}

fn unknown(field: &str, word: &str, words: &[&str]) -> Error {
    let message = format!("there is no {field} `{}`", crate::render::shortened(word, 60));
    Error::argument(field, message, format!("use one of {}", words.join(", ")))
}

/// What a caller wrote for a todo.
enum Reference {
    Id(TodoId),
    Number(i64),
}

impl Reference {
    fn read(field: &str, text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let digits = text.strip_prefix('#').unwrap_or(text);
        if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
            return digits.parse().map(Self::Number).map_err(|_| missing(text));
        }
        TodoId::parse(text).map(Self::Id).map_err(|e| Error::parse(field, &e))
    }

    /// The todo, deleted or not, if the caller sees it.
    fn find(&self, r: &LedgerRead<'_>, call: &Call<'_>) -> Result<Option<TodoRow>, Error> {
        let row = match self {
            Self::Id(id) => r.todo(id.as_str())?,
            Self::Number(number) => r.todo_by_number(*number)?,
        };
        Ok(row.filter(|row| sees_scope(call, &row.origin.scope)))
    }
}

fn missing(id: &str) -> Error {
    Error::NotFound {
        what: "todo",
        id: id.to_owned(),
        hint: "`list_todos` and `strata todo list` show ids; deleted ones have the status deleted".into(),
    }
}

/// The todo that a change names: one that is not deleted or, with `deleted`, one that is.
fn find(r: &LedgerRead<'_>, call: &Call<'_>, id: &str, deleted: bool) -> Result<TodoRow, Error> {
    let found = Reference::read("todo_id", id)?.find(r, call)?;
    found.filter(|row| row.version.deleted_at.is_some() == deleted).ok_or_else(|| missing(id))
}

/// The ids of what has to be done before `own`, each there, each once, and none waiting for `own` itself.
fn blockers(
    r: &LedgerRead<'_>,
    call: &Call<'_>,
    own: Option<&TodoRow>,
    asked: &[String],
) -> Result<Vec<String>, Error> {
    let mut ids = Vec::with_capacity(asked.len());
    for text in asked {
        let found = Reference::read("blocked_by", text)?.find(r, call)?;
        let Some(row) = found.filter(|row| row.version.deleted_at.is_none()) else {
            let message = format!("no todo `{}` is visible from here", crate::render::shortened(text, 60));
            return Err(Error::argument("blocked_by", message, "send a list of ids from `list_todos`"));
        };
        if !ids.contains(&row.origin.id) {
            ids.push(row.origin.id);
        }
    }
    if let Some(own) = own {
        refuse_cycle(r, &own.origin.id, &ids)?;
    }
    Ok(ids)
}

/// Follows what waits for what from `ids` on; `own` must not be among it.
fn refuse_cycle(r: &LedgerRead<'_>, own: &str, ids: &[String]) -> Result<(), Error> {
    let mut seen: std::collections::HashSet<String> = ids.iter().cloned().collect();
    let mut waiting: Vec<String> = ids.to_vec();
    while let Some(id) = waiting.pop() {
        if id == own {
            let message = format!("{own} would wait for itself");
            return Err(Error::argument("blocked_by", message, "leave out what already waits for it"));
        }
        let next = r.todo(&id)?.map(|row| row.version.blocked_by).unwrap_or_default();
        waiting.extend(next.into_iter().filter(|id| seen.insert(id.clone())));
    }
    Ok(())
}

/// Ends what a todo says and begins `version`, on record as `action`.
fn revise(
    w: &LedgerWrite<'_>,
    call: &Call<'_>,
    actor: &Principal,
    (action, reason): (&str, &str),
    (seen, version): (&TodoRow, &TodoVersion),
) -> Result<(), Error> {
    let before = seen.version.digest(&seen.origin);
    let seq = record(w, call, actor, (action, reason), (&seen.origin, Some(before), version))?;
    w.revise_todo(seen, version, seq)?;
    Ok(authority::seal(w, call, actor)?)
}

fn record(
    w: &LedgerWrite<'_>,
    call: &Call<'_>,
    actor: &Principal,
    (action, reason): (&str, &str),
    (origin, before_hash, version): (&TodoOrigin, Option<[u8; 32]>, &TodoVersion),
) -> Result<Seq, Error> {
    Ok(w.record(&NewAudit {
        layer: Some(LAYER),
        reason,
        before_hash,
        after_hash: Some(version.digest(origin)),
        ..NewAudit::new(actor, call.face, action, &origin.id)
    })?)
}

/// The version that follows `seen`, as it stands.
fn next(engine: &Engine, w: &LedgerWrite<'_>, actor: &Principal, seen: &TodoRow) -> TodoVersion {
    TodoVersion {
        updated_at: w.now(),
        writer: actor.to_string(),
        salt: engine.ids().salt(),
        ..seen.version.clone()
    }
}

/// Runs a change whose conditions are looked at in its own transaction. They are looked at before the first write,
/// so a refusal leaves nothing behind; what the store could not do is for it to repeat.
fn in_one<T>(
    engine: &Engine,
    call: &Call<'_>,
    mut job: impl FnMut(&LedgerWrite<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let ledger = engine.ledger(call)?;
    ledger.write(&engine.control(call), engine.clock().now(), |w| match job(w) {
        Err(Error::Store(error)) => Err(error),
        other => Ok(other),
    })?
}
