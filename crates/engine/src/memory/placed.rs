//! What `remember` does where the router's decision holds: a todo becomes a todo, and what passes is not kept.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_core::{
    knowledge::todo::Status,
    memory::Layer,
    route::{Decision, Item, Route},
};
use strata_store::ledger::TodoFilter;

use super::{
    draft::Draft,
    remember::{Request, Response},
};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{
        routing::reasons,
        todo::{self, NewTodo},
    },
    operation::Call,
};

/// Open todos among which the same one is looked for.
const LOOKED_AT: usize = 1000;

/// What a caller says about the router's decision before it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoutingOverride {
    /// let the router decide
    None,
    /// a memory, whatever the router says
    ForceL1,
}

/// What was stored instead of a memory, if the configuration lets the router decide and it says so. What replaces a memory stays one,
/// and so does what was given a place other than knowledge.
///
/// # Errors
/// `Argument` for what is not worth keeping; those of storing a todo.
pub(super) fn elsewhere(
    engine: &Engine,
    call: &Call<'_>,
    request: &Request,
    draft: &Draft,
) -> Result<Option<Response>, Error> {
    let is_free = request.supersedes.is_none()
        && request.routing_override != Some(RoutingOverride::ForceL1)
        && draft.layer == Layer::P5;
    if !is_free || !engine.settings().config.routing.holds_memories() {
        return Ok(None);
    }
    let item = Item { content: &draft.text, section: draft.title.as_deref(), kind: Some(&draft.kind) };
    let decision = engine.words().router.classify(&item);
    match decision.route {
        Route::Todo => as_todo(engine, call, draft, &decision).map(Some),
        Route::Ephemeral => Err(Error::argument(
            "text",
            format!("is not worth keeping beyond the session ({}); nothing was stored", reasons(&decision)),
            "store what will still be true later, in your own words, or pass `routing_override` force_l1",
        )),
        _ => Ok(None),
    }
}

fn as_todo(engine: &Engine, call: &Call<'_>, draft: &Draft, decision: &Decision) -> Result<Response, Error> {
    let told = |id: String, number: i64, status, redacted: &[&'static str]| Response {
        id,
        number,
        status,
        kind: "todo".into(),
        layer: Layer::P5.to_string(),
        scope: call.scope.whole_project().to_string(),
        superseded: None,
        similar: None,
        contradicts: None,
        redacted: redacted.to_vec(),
        route: Some(format!("{}: {}", Route::Todo.as_str(), reasons(decision))),
        is_todo: true,
    };
    if let Some((id, number)) = same_todo(engine, call, &draft.text)? {
        return Ok(told(id, number, "unchanged", &draft.redacted));
    }
    let created = todo::create(
        engine,
        call,
        &NewTodo {
            title: draft.title.clone(),
            content: draft.text.clone(),
            notes: notes(draft),
            session: draft.session.clone(),
            ..NewTodo::default()
        },
    )?;
    // Its id was drawn, so that nothing of that id was there before.
    let number = created.number.unwrap_or_default();
    Ok(told(created.id, number, "todo", &draft.redacted))
}

/// The open todo of the caller's scope that says the same.
fn same_todo(engine: &Engine, call: &Call<'_>, text: &str) -> Result<Option<(String, i64)>, Error> {
    let scope = call.scope.whole_project();
    let filter = TodoFilter {
        visible_from: Some(scope.clone()),
        statuses: Status::ALL.into_iter().filter(|status| status.is_open()).collect(),
        limit: LOOKED_AT,
        ..TodoFilter::default()
    };
    let open = engine.read(call, |r| r.todos(&filter))?;
    let same = open.into_iter().find(|row| row.version.content == text && row.origin.scope == scope);
    Ok(same.map(|row| (row.origin.id, row.number)))
}

/// What the memory would have said beside its text.
fn notes(draft: &Draft) -> Option<String> {
    let mut lines: Vec<String> = draft.source.iter().map(|source| format!("from {source}")).collect();
    lines.extend(draft.evidence.iter().cloned());
    (!lines.is_empty()).then(|| lines.join("\n"))
}
