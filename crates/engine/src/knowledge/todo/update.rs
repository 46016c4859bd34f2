//! `update_todo`: moves a todo on, or says it otherwise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    knowledge::todo::{self, Priority, Status},
    policy::Action,
};
use strata_store::ledger::{LedgerWrite, TodoRow, TodoVersion};

use super::{LAYER, UPDATE, blockers, find, in_one, next, priority, prose, revise, status};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::Gate,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct Update;

/// Which todo, and what is new. What is left out stays.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The todo.
    pub todo_id: String,
    /// pending, in_progress, completed, cancelled.
    pub status: Option<String>,
    /// blocker, high, medium, low, waiting.
    pub priority: Option<String>,
    /// One line.
    pub title: Option<String>,
    /// What is to be done.
    pub content: Option<String>,
    /// Ids to be done before; [] for none.
    pub blocked_by: Option<Vec<String>>,
    /// Remarks.
    pub notes: Option<String>,
    /// Fields to empty: title, blocked_by, notes.
    pub clear: Option<Vec<String>>,
}

/// What can be emptied. A title is then made from the content again.
const CLEARED: [&str; 3] = ["title", "blocked_by", "notes"];

/// What became of it.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// The todo.
    pub id: String,
    /// Where it stands.
    pub status: &'static str,
    /// Whether anything is other than before.
    pub changed: bool,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
}

/// What is to be new, through the gate.
#[derive(Debug, Default)]
struct Change {
    status: Option<Status>,
    priority: Option<Priority>,
    /// An empty one is made from the content.
    title: Option<String>,
    content: Option<String>,
    blocked_by: Option<Vec<String>>,
    notes: Option<String>,
}

impl Change {
    fn read(gate: &mut Gate, request: &Request) -> Result<Self, Error> {
        if let Some(word) = request.clear.iter().flatten().find(|word| !CLEARED.contains(&word.as_str())) {
            let message = format!("`{}` cannot be emptied", crate::render::shortened(word, 60));
            return Err(Error::argument("clear", message, format!("use one of {}", CLEARED.join(", "))));
        }
        let clears = |what: &str| request.clear.iter().flatten().any(|cleared| cleared == what);
        let mut change = Self {
            status: request.status.as_deref().map(status).transpose()?,
            priority: request.priority.as_deref().map(priority).transpose()?,
            title: gate.field("title", request.title.as_deref())?,
            ..Self::default()
        };
        if let Some(content) = request.content.as_deref() {
            change.content = Some(gate.body("content", content)?);
        }
        if let Some(ids) = &request.blocked_by {
            change.blocked_by = Some(gate.list("blocked_by", ids)?);
        }
        let notes = prose(gate, "notes", request.notes.as_deref())?;
        change.notes = (!notes.is_empty()).then_some(notes);
        let [title, blocked_by, notes] = CLEARED.map(clears);
        let has_blockers = change.blocked_by.as_ref().is_some_and(|ids| !ids.is_empty());
        if title && change.title.is_some() || blocked_by && has_blockers || notes && change.notes.is_some() {
            let message = "names what is also given a new value";
            return Err(Error::argument("clear", message, "either clear it or give it a value"));
        }
        if title {
            change.title = Some(String::new());
        }
        if blocked_by {
            change.blocked_by = Some(Vec::new());
        }
        if notes {
            change.notes = Some(String::new());
        }
        Ok(change)
    }

    fn is_empty(&self) -> bool {
        self.status.is_none()
            && self.priority.is_none()
            && self.title.is_none()
            && self.content.is_none()
            && self.blocked_by.is_none()
            && self.notes.is_none()
    }

    /// What `seen` says with the change, as `next` would otherwise repeat it.
    fn apply(
        &self,
        w: &LedgerWrite<'_>,
        call: &Call<'_>,
        seen: &TodoRow,
        mut next: TodoVersion,
    ) -> Result<TodoVersion, Error> {
        let old = &seen.version;
        if let Some(status) = self.status {
            next.stamps = old.status.stamps(status, w.now(), old.stamps);
            next.status = status;
        }
        next.priority = self.priority.unwrap_or(next.priority);
        let made = old.title == todo::title(&old.content);
        if let Some(content) = &self.content {
            next.content.clone_from(content);
        }
        match self.title.as_deref() {
            // A title that was made from the content follows it.
            None if made => next.title = todo::title(&next.content),
            None => {}
            Some("") => next.title = todo::title(&next.content),
            Some(title) => title.clone_into(&mut next.title),
        }
        if let Some(notes) = &self.notes {
            next.notes.clone_from(notes);
        }
        if let Some(asked) = &self.blocked_by {
            next.blocked_by = blockers(w, call, Some(seen), asked)?;
        }
        Ok(next)
    }
}

/// Whether two versions say the same.
fn same(a: &TodoVersion, b: &TodoVersion) -> bool {
    let as_b = TodoVersion { updated_at: b.updated_at, writer: b.writer.clone(), salt: b.salt, ..a.clone() };
    as_b == *b
}

impl Operation for Update {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "update_todo",
        cli: &["todo", "update"],
        positional: &["todo_id", "status"],
        title: "Update a todo",
        about: "Changes where a todo stands, or what it says.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const EXPLAINED: &'static [&'static str] = &["status", "priority", "clear"];
    const TEXT_FORM: TextForm = TextForm::Json;
    const IS_DAILY: bool = true;
    const ALIASES: &'static [(&'static str, &'static str)] = &[("id", "todo_id")];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let mut gate = Gate::default();
        let change = Change::read(&mut gate, &request)?;
        if change.is_empty() {
            return Err(Error::Argument {
                field: None,
                message: "nothing to change was given".into(),
                hint: "give status, priority, title, content, blocked_by, notes or clear".into(),
            });
        }
        let read = engine
            .existing_ledger()?
            .read(&engine.control(call), |r| Ok(find(r, call, &request.todo_id, false)))?;
        let id = read?.origin.id;
        let actor = authority::authorise_as(engine, call, Action::Update, UPDATE, LAYER, &id)?;
        let (status, changed) = in_one(engine, call, |w| {
            let seen = find(w, call, &id, false)?;
            let version = change.apply(w, call, &seen, next(engine, w, &actor, &seen))?;
            let changed = !same(&version, &seen.version);
            if changed {
                let (from, to) = (seen.version.status.as_str(), version.status.as_str());
                let reason = if from == to { String::new() } else { format!("{from} to {to}") };
                revise(w, call, &actor, (UPDATE, &reason), (&seen, &version))?;
            }
            Ok((version.status, changed))
        })?;
        Ok(Response { success: true, id, status: status.as_str(), changed, redacted: gate.redacted })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let what = if self.changed { "updated" } else { "unchanged:" };
        let text = format!("{what} todo {}, {}", self.id, self.status.replace('_', " "));
        let mark = if self.changed { Mark::Good } else { Mark::Info };
        Document::new().note(mark, text).note_redacted(&self.redacted)
    }
}
