//! `apply_safe_knowledge_cleanup`: does what a plan calls safe. Every action is looked at again, on what is there now.
//!
//! Nothing here changes what the knowledge says: no line of a file is written or removed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strata_core::knowledge::{
    cleanup::{Asked, Judgement, MarkerTodo, Work, judge},
    todo::TodoId,
};

use super::{Survey, backups, shown, standing::vectors_are_whole};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{
        files::Readable,
        l0::sync::{self, SyncL0Index},
        reindex::{self, ReindexVectorStore},
        room::{REPLY, keep_fitting},
        todo::{self, NewTodo},
    },
    maintain::due::{self, Maintain},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct ApplySafeKnowledgeCleanup;

/// The most actions of one call.
const MOST_ACTIONS: usize = 500;
/// The task of the upkeep that makes what the search index lacks.
const INDEX_TASK: &str = "index";
/// The list of a plan that may be sent as a whole.
const SAFE_LIST: &str = "safe_auto_fixes";

/// What is to be done.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Items of a plan's safe_auto_fixes.
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub actions: Vec<Value>,
    /// Default true: only say what would be done.
    pub dry_run: Option<bool>,
}

/// An action as it is sent; what else a plan says of it does not count.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Sent {
    action: String,
    file: Option<String>,
    line: Option<usize>,
    line_hash: Option<String>,
    remove_source: bool,
    force: bool,
}

/// What came of it.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// Whether nothing failed.
    pub success: bool,
    /// Whether this was only a look.
    pub dry_run: bool,
    /// What was done.
    pub applied: Vec<Outcome>,
    /// What would be done.
    pub would_apply: Vec<Outcome>,
    /// What no longer fits what is there, or was done before.
    pub skipped: Vec<Outcome>,
    /// What is never done here.
    pub rejected: Vec<Outcome>,
    /// What failed.
    pub errors: Vec<Outcome>,
    /// How many of each.
    pub summary: Summary,
}

/// How many.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// What was done.
    pub applied: usize,
    /// What would be done.
    pub would_apply: usize,
    /// What was passed over.
    pub skipped: usize,
    /// What is never done here.
    pub rejected: usize,
    /// What failed.
    pub errors: usize,
    /// Whether some are not listed.
    #[serde(skip_serializing_if = "is_default")]
    pub truncated: bool,
}

/// What came of one action.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Outcome {
    /// Its position among those that were sent, from 0.
    pub index: usize,
    /// Its name.
    pub action: String,
    /// The file of a marker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of a marker, as it is numbered now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The todo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todo_id: Option<String>,
    /// What was done, or why not.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What to do then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Operation for ApplySafeKnowledgeCleanup {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "apply_safe_knowledge_cleanup",
        cli: &["knowledge", "apply"],
        positional: &["actions"],
        title: "Do what a cleanup plan calls safe",
        about: "Does safe actions of plan_knowledge_cleanup; a dry run unless dry_run is false. Never changes a text.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const OLDER_TOOLS: &'static [&'static str] = &["apply_safe_knowledge_cleanup_tool"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let dry_run = request.dry_run.unwrap_or(true);
        let sent = flattened(request.actions);
        if sent.len() > MOST_ACTIONS {
            let message = format!("has {} entries; at most {MOST_ACTIONS} are taken", sent.len());
            return Err(Error::argument("actions", message, "send several calls"));
        }
        let files = Survey::of(engine, call)?.files;
        let mut response = Response { dry_run, ..Response::default() };
        let total = sent.len() as u64;
        for (index, value) in sent.into_iter().enumerate() {
            (call.progress)(index as u64, total);
            attend(engine, call, &files, (index, value), &mut response);
        }
        response.conclude();
        Ok(response)
    }
}

/// The actions one by one: a plan, or its list, may be sent as it is or as its JSON text.
fn flattened(values: Vec<Value>) -> Vec<Value> {
    let mut actions = Vec::new();
    for value in values {
        let value = match value {
            Value::String(text) => serde_json::from_str(&text)
                .ok()
                .filter(|read: &Value| read.is_object() || read.is_array())
                .unwrap_or_else(|| serde_json::json!({ "action": text })),
            other => other,
        };
        match value {
            Value::Array(list) => actions.extend(list),
            Value::Object(mut plan) if !plan.contains_key("action") && plan.contains_key(SAFE_LIST) => {
                match plan.remove(SAFE_LIST) {
                    Some(Value::Array(list)) => actions.extend(list),
                    Some(other) => actions.push(other),
                    None => {}
                }
            }
            other => actions.push(other),
        }
    }
    actions
}

/// Judges an action that was sent, does it where it is safe, and tells what came of it.
fn attend(
    engine: &Engine,
    call: &Call<'_>,
    files: &[Readable],
    (index, value): (usize, Value),
    response: &mut Response,
) {
    let sent: Sent = match serde_json::from_value(value) {
        Ok(sent) => sent,
        Err(error) => {
            let reason = shown(&format!("is no action: {error}"));
            response.rejected.push(Outcome { index, reason, ..Outcome::default() });
            return;
        }
    };
    let file = sent.file.as_deref().map(str::trim);
    let known = file.and_then(|path| files.iter().find(|file| file.head.path.to_string() == path));
    let asked = Asked {
        action: &sent.action,
        file,
        line: sent.line,
        line_hash: sent.line_hash.as_deref().map(str::trim),
        remove_source: sent.remove_source,
        force: sent.force,
    };
    let (states, words) = engine.states();
    let outcome = |said: String| Outcome {
        index,
        action: shown(sent.action.trim()),
        file: file.map(shown),
        line: sent.line,
        reason: shown(&said),
        ..Outcome::default()
    };
    match judge(&asked, known.map(|file| file.file.text()), states, words) {
        Judgement::Reject(reason) => response.rejected.push(outcome(reason.to_string())),
        Judgement::Skip(reason) => response.skipped.push(outcome(reason.to_string())),
        Judgement::Do(work) => {
            let line = if let Work::CreateTodo(made) = &work { Some(made.line) } else { None };
            let done = perform(engine, call, &work, known, response.dry_run);
            response.tell(done, |said| Outcome { line, ..outcome(said) });
        }
    }
}

/// What was done, or would be.
struct Done {
    said: String,
    is_skipped: bool,
    todo_id: Option<String>,
}

impl Done {
    fn new(said: impl Into<String>) -> Self {
        Self { said: said.into(), is_skipped: false, todo_id: None }
    }

    fn skipped(said: impl Into<String>) -> Self {
        Self { is_skipped: true, ..Self::new(said) }
    }
}

fn perform(
    engine: &Engine,
    call: &Call<'_>,
    work: &Work,
    file: Option<&Readable>,
    dry_run: bool,
) -> Result<Done, Error> {
    match work {
        Work::MigrateLegacyBackups => migrate(engine, call, dry_run),
        Work::SyncL0Index => sync(engine, call, dry_run),
        Work::ReindexVectorStore { force } => reindex(engine, call, *force, dry_run),
        Work::CreateTodo(made) => {
            let domain = file.map(|file| file.head.domain()).unwrap_or_default();
            create_todo(engine, call, made, domain, dry_run)
        }
    }
}

fn migrate(engine: &Engine, call: &Call<'_>, dry_run: bool) -> Result<Done, Error> {
    let count = backups::found(engine, call)?.len();
    if count == 0 {
        return Ok(Done::skipped("no copies lie beside the files"));
    }
    let destination = backups::destination(engine);
    if dry_run {
        return Ok(Done::new(format!("copies that would be moved to {}: {count}", destination.display())));
    }
    let (moved, stayed) = backups::migrate(engine, call)?;
    let stay =
        if stayed.is_empty() { String::new() } else { format!("; left in place: {}", stayed.join(", ")) };
    let said = format!("copies moved to {}: {}{stay}", destination.display(), moved.len());
    Ok(if moved.is_empty() { Done::skipped(said) } else { Done::new(said) })
}

fn sync(engine: &Engine, call: &Call<'_>, dry_run: bool) -> Result<Done, Error> {
    let report = SyncL0Index::run(engine, call, sync::Request { format: None, dry_run: Some(dry_run) })?;
    Ok(Done::new(format!("entries added: {}, removed: {}", report.entries_added, report.entries_removed)))
}

fn reindex(engine: &Engine, call: &Call<'_>, force: bool, dry_run: bool) -> Result<Done, Error> {
    if !force && vectors_are_whole(engine)? {
        return Ok(Done::skipped("the vectors are whole; `force` makes them anew all the same"));
    }
    if dry_run {
        return Ok(Done::new("the vectors would be made"));
    }
    if force {
        let made = ReindexVectorStore::run(engine, call, reindex::Request::default())?;
        return match made.error {
            None => Ok(Done::new(format!("sections made anew: {}", made.sections))),
            Some(error) => Err(unfinished(&error)),
        };
    }
    let task = Some(INDEX_TASK.to_owned());
    let done = Maintain::run(engine, call, due::Request { task, force: Some(true), dry_run: None })?;
    let said = done.tasks.into_iter().map(|task| task.detail).collect::<Vec<_>>().join("; ");
    if done.failed > 0 { Err(unfinished(&said)) } else { Ok(Done::new(said)) }
}

fn unfinished(said: &str) -> Error {
    Error::Conflict { message: said.to_owned(), hint: "`strata doctor` says more".into() }
}

fn create_todo(
    engine: &Engine,
    call: &Call<'_>,
    made: &MarkerTodo,
    domain: &str,
    dry_run: bool,
) -> Result<Done, Error> {
    let id = TodoId::parse(&made.id).map_err(|e| Error::Internal(e.to_string()))?;
    let existed = "a todo was made of this line before";
    let with_id = |done: Done| Ok(Done { todo_id: Some(made.id.clone()), ..done });
    if engine.read(call, |r| Ok(r.todo(id.as_str())?.is_some() || r.is_purged(id.as_str())?))? {
        return with_id(Done::skipped(existed));
    }
    if dry_run {
        return with_id(Done::new("the todo would be made; the line stays"));
    }
    let new = NewTodo {
        id: Some(id),
        domain: domain.to_owned(),
        title: Some(made.title.clone()),
        content: made.content.clone(),
        ..NewTodo::default()
    };
    let created = todo::create(engine, call, &new)?;
    with_id(if created.existed { Done::skipped(existed) } else { Done::new("the line stays") })
}

impl Response {
    /// Tells what came of an action that is safe.
    fn tell(&mut self, done: Result<Done, Error>, outcome: impl Fn(String) -> Outcome) {
        match done {
            Ok(done) => {
                let list = match (done.is_skipped, self.dry_run) {
                    (true, _) => &mut self.skipped,
                    (false, true) => &mut self.would_apply,
                    (false, false) => &mut self.applied,
                };
                list.push(Outcome { todo_id: done.todo_id, ..outcome(done.said) });
            }
            Err(error) => {
                let hint = Some(error.hint().to_string());
                self.errors.push(Outcome { hint, ..outcome(error.to_string()) });
            }
        }
    }

    /// Counts, then leaves what fits into the reply.
    fn conclude(&mut self) {
        let counts = |response: &Self| {
            [
                &response.applied,
                &response.would_apply,
                &response.skipped,
                &response.rejected,
                &response.errors,
            ]
            .map(Vec::len)
        };
        let found = counts(self);
        let lists = [
            &mut self.errors,
            &mut self.rejected,
            &mut self.applied,
            &mut self.would_apply,
            &mut self.skipped,
        ];
        for list in lists {
            keep_fitting(list, REPLY / 5);
        }
        let truncated = counts(self) != found;
        let [applied, would_apply, skipped, rejected, errors] = found;
        self.summary = Summary { applied, would_apply, skipped, rejected, errors, truncated };
        self.success = errors == 0;
    }
}

impl Outcome {
    fn sentence(&self) -> String {
        let place = match (&self.file, self.line) {
            (Some(file), Some(line)) => format!(" {file}:{line}"),
            (Some(file), None) => format!(" {file}"),
            _ => String::new(),
        };
        let id = self.todo_id.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
        format!("{}{place}{id}: {}", self.action, self.reason)
    }
}

impl Render for Response {
    fn is_alarming(&self) -> bool {
        !self.success
    }

    fn render(&self) -> Document {
        let sorts = [
            ("done", Mark::Good, &self.applied),
            ("would do", Mark::Info, &self.would_apply),
            ("skipped", Mark::Info, &self.skipped),
            ("rejected", Mark::Warning, &self.rejected),
            ("failed", Mark::Bad, &self.errors),
        ];
        let mut document = Document::new();
        let mut total = 0;
        for (what, mark, outcomes) in sorts {
            total += outcomes.len();
            for outcome in outcomes {
                document = document.note(mark, format!("{what}: {}", outcome.sentence()));
            }
        }
        match (total, self.dry_run) {
            (0, _) => document.note(Mark::Info, "no action was sent"),
            (_, true) => document.note(Mark::Info, "a dry run: nothing was changed"),
            _ => document,
        }
    }
}
