//! The todos of an older home.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use strata_core::{
    id::IdKind,
    knowledge::todo::{Priority, Stamps, Status, TodoId},
    scope::Scope,
    time::Timestamp,
};
use strata_store::foreign::{self, ForeignRow};

use super::{OlderHome, is_file};
use crate::{
    engine::Engine,
    error::Error,
    gate::add_families,
    import::{SOURCE_LAYERED, cells::Fields, incoming::RowKey},
    knowledge::todo::bring::{Known, OlderTodo, Ready, bring},
    operation::Call,
};

const FILE: &str = "data/todos.db";
const TABLE: &str = "todos";
const COLUMNS: &[&str] = &[
    "id",
    "domain",
    "title",
    "content",
    "blocked_by",
    "priority",
    "status",
    "source_session_id",
    "notes",
    "created_at",
    "updated_at",
    "completed_at",
    "cancelled_at",
];
/// Remarks listed of each sort.
const LISTED: usize = 50;

/// What came of the todos.
#[derive(Debug, Default, Serialize)]
pub struct TodoReport {
    /// Todos stored now.
    pub added: usize,
    /// Todos that were here before, whatever became of them here.
    pub known: usize,
    /// Todos that were purged here; they stay out.
    pub purged: usize,
    /// Rows that were left out.
    pub left_out: usize,
    /// The first of them, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Details that were taken in otherwise than they stood.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub adjustments: Vec<String>,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
}

impl TodoReport {
    fn leave_out(&mut self, row: &str, reason: &str) {
        self.left_out += 1;
        if self.problems.len() < LISTED {
            self.problems.push(format!("{row}: {reason}"));
        }
    }

    fn adjust(&mut self, row: &str, what: &str) {
        if self.adjustments.len() < LISTED {
            self.adjustments.push(format!("{row}: {what}"));
        }
    }
}

/// Takes over the todos, with their dates and states.
pub(in crate::import) fn take(
    engine: &Engine,
    call: &Call<'_>,
    home: &OlderHome,
    dry_run: bool,
) -> Result<TodoReport, Error> {
    let mut report = TodoReport::default();
    let path = home.file(FILE);
    if !is_file(&path) {
        return Ok(report);
    }
    let rows = foreign::read(&path, &engine.control(call), |reader| reader.rows(TABLE, COLUMNS, None));
    let rows = match rows {
        Ok(rows) => rows,
        Err(error) => {
            report.leave_out(FILE, &error.to_string());
            return Ok(report);
        }
    };
    let scope = Scope::user();
    let ready = prepare(engine, &scope, &rows, &mut report);
    let known = engine.read(call, |r| Known::of(r, ready.iter().map(Ready::id)))?;
    report.known = known.here.len();
    report.purged = known.purged.len();
    let is_new = |todo: &Ready| !known.here.contains(todo.id()) && !known.purged.contains(todo.id());
    let new: Vec<Ready> = ready.into_iter().filter(is_new).collect();
    add_families(&mut report.redacted, new.iter().flat_map(|todo| todo.redacted.iter().copied()));
    report.added = if dry_run {
        new.len()
    } else {
        let there = Call { scope: &scope, ..*call };
        bring(engine, &there, &new, "imported from layered-memory")?
    };
    Ok(report)
}

/// The rows that can become todos.
fn prepare(engine: &Engine, scope: &Scope, rows: &[ForeignRow], report: &mut TodoReport) -> Vec<Ready> {
    let now = engine.clock().now();
    let mut read: Vec<(String, OlderTodo)> = Vec::new();
    let mut ids: HashMap<String, String> = HashMap::new();
    for row in rows {
        let fields = Fields { names: COLUMNS, row };
        let name = row_name(&fields, row.place);
        match older(&fields, scope, now, (&name, report)) {
            Ok((older_id, todo)) => {
                ids.insert(older_id, todo.id.to_string());
                read.push((name, todo));
            }
            Err(reason) => report.leave_out(&name, &reason),
        }
    }
    let mut ready = Vec::new();
    let mut met: HashSet<String> = HashSet::new();
    let mut waits: HashMap<String, Vec<String>> = HashMap::new();
    for (name, mut todo) in read {
        let own = todo.id.to_string();
        if !met.insert(own.clone()) {
            report.leave_out(&name, "another row has the same id");
            continue;
        }
        let asked = std::mem::take(&mut todo.blocked_by);
        for older in &asked {
            match ids.get(older).filter(|id| **id != own) {
                Some(id) if todo.blocked_by.contains(id) => {}
                Some(id) if leads_to(&waits, id, &own) => {
                    report
                        .adjust(&name, &format!("`{older}` waits for it already; it does not wait for that"));
                }
                Some(id) => {
                    todo.blocked_by.push(id.clone());
                    waits.entry(own.clone()).or_default().push(id.clone());
                }
                None => report.adjust(&name, &format!("it waits for `{older}`, which is not there")),
            }
        }
        match todo.ready(engine, scope) {
            Ok(todo) => {
                if todo.moved {
                    report.adjust(&name, "its domain cannot be one; it is in `general`");
                }
                ready.push(todo);
            }
            Err(error) => report.leave_out(&name, &error.to_string()),
        }
    }
    ready
}

/// Whether `from` waits for `to`, at whatever distance.
fn leads_to(waits: &HashMap<String, Vec<String>>, from: &str, to: &str) -> bool {
    let mut seen = HashSet::from([from]);
    let mut open = vec![from];
    while let Some(id) = open.pop() {
        if id == to {
            return true;
        }
        open.extend(
            waits.get(id).into_iter().flatten().map(String::as_str).filter(|next| seen.insert(*next)),
        );
    }
    false
}

fn row_name(fields: &Fields<'_>, place: i64) -> String {
    match fields.text("id") {
        Ok(Some(id)) => format!("todo {}", crate::render::shortened(id.trim(), 60)),
        _ => format!("todo in row {place}"),
    }
}

/// One row, and the id that it has in its store.
fn older(
    fields: &Fields<'_>,
    scope: &Scope,
    now: Timestamp,
    (name, report): (&str, &mut TodoReport),
) -> Result<(String, OlderTodo), String> {
    let older_id = fields.needed("id")?.trim().to_owned();
    let title = fields.text("title")?;
    let content = fields.text("content")?.or_else(|| title.clone()).ok_or("it says nothing")?;
    let mut notes = fields.text("notes")?;
    let (id, is_made) = id_of(fields, &older_id, scope);
    if is_made {
        // Whoever knows it by its older id finds that in its notes.
        let told = format!("layered-memory id: {older_id}");
        notes = Some(notes.map_or_else(|| told.clone(), |notes| format!("{notes}\n\n{told}")));
    }
    let status = word(fields, "status", Status::Pending, Status::parse, (name, report))?;
    let priority = word(fields, "priority", Priority::Medium, Priority::parse, (name, report))?;
    let (created_at, updated_at, stamps) = times(fields, status, now, (name, report));
    let todo = OlderTodo {
        id,
        domain: fields.text("domain")?.unwrap_or_default(),
        title: title.filter(|title| title.trim() != "Untitled"),
        content,
        blocked_by: blockers(fields, (name, report))?,
        priority,
        status,
        notes,
        session: fields.text("source_session_id")?,
        created_at,
        updated_at,
        stamps,
    };
    Ok((older_id, todo))
}

/// The id that a todo has here, and whether it was made for it: an older one that cannot be an id of ours always becomes
/// the same.
fn id_of(fields: &Fields<'_>, older: &str, scope: &Scope) -> (TodoId, bool) {
    if let Ok(id) = TodoId::parse(older) {
        return (id, false);
    }
    let created = fields.date_as_written("created_at");
    let key = RowKey { table: TABLE, id: older.to_owned(), created };
    (key.id(IdKind::Todo, SOURCE_LAYERED, scope, "").into(), true)
}

/// When it was made, when it was last changed, and when it was closed.
fn times(
    fields: &Fields<'_>,
    status: Status,
    now: Timestamp,
    (name, report): (&str, &mut TodoReport),
) -> (Timestamp, Timestamp, Stamps) {
    let created = fields.date("created_at").unwrap_or_else(|undated| {
        report.adjust(name, &undated.0);
        now
    });
    let updated = fields.date("updated_at").unwrap_or(created);
    let closed = |column: &str| Some(fields.date(column).unwrap_or(updated));
    let stamps = match status {
        Status::Completed => Stamps { completed_at: closed("completed_at"), cancelled_at: None },
        Status::Cancelled => Stamps { completed_at: None, cancelled_at: closed("cancelled_at") },
        Status::Pending | Status::InProgress => Stamps::default(),
    };
    (created, updated, stamps)
}

/// A word of a fixed set; another one becomes the default and is told.
fn word<T>(
    fields: &Fields<'_>,
    column: &str,
    default: T,
    parse: impl Fn(&str) -> Option<T>,
    (name, report): (&str, &mut TodoReport),
) -> Result<T, String> {
    let Some(text) = fields.text(column)? else { return Ok(default) };
    Ok(parse(text.trim().to_lowercase().as_str()).unwrap_or_else(|| {
        let shown = crate::render::shortened(text.trim(), 40);
        report.adjust(name, &format!("there is no {column} `{shown}`; it has the usual one"));
        default
    }))
}

/// The older ids of what has to be done before.
fn blockers(fields: &Fields<'_>, (name, report): (&str, &mut TodoReport)) -> Result<Vec<String>, String> {
    let Some(text) = fields.text("blocked_by")? else { return Ok(Vec::new()) };
    match serde_json::from_str::<Vec<String>>(&text) {
        Ok(ids) => Ok(ids.into_iter().map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()).collect()),
        Err(_) => {
            report.adjust(name, "what it waits for is no list of ids");
            Ok(Vec::new())
        }
    }
}
