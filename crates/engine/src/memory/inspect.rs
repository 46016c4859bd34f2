//! `inspect`: one memory, episode or document section whole.

mod budget;
mod document;
mod episode;
mod memory;

use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    id::{Id, IdKind, PartialId},
    knowledge::todo::TodoId,
    time::Timestamp,
};

pub use self::{
    document::DocumentView,
    episode::{EpisodeView, Turn},
    memory::{AuditLine, MemoryView, Version, audit_table},
};
use super::reference::Reference;
use crate::{
    documents,
    engine::Engine,
    error::Error,
    knowledge::todo::whole::{TodoWhole, whole},
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    project::anchors,
    render::{Document, Mark, Render},
};

/// See the module.
pub struct Inspect;

/// Which one.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The id from `recall` (its first six characters after the underscore are enough), or #number.
    pub id: String,
    /// Most tokens of the reply, estimated, at least 50. What does not fit is left out in whole parts and named; the text itself always stays. Default: everything.
    #[schemars(range(min = 50))]
    pub budget_tokens: Option<u32>,
}

/// The thing, whole.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Response {
    /// A memory.
    Memory(Box<MemoryView>),
    /// A raw event with its neighbours.
    Episode(Box<EpisodeView>),
    /// A section of an indexed file.
    Document(Box<DocumentView>),
    /// A todo with all its versions.
    Todo(Box<TodoWhole>),
}

impl Operation for Inspect {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Core,
        tool: "inspect",
        cli: &["inspect"],
        positional: &["id"],
        title: "Inspect one memory",
        about: "Shows one memory whole: text, state, where it comes from, evidence, all its versions and what the audit says \
                about it. Also shows a conversation turn (ep_...) with the turns around it, a section of an indexed file (doc_...), and a todo (todo_...). Use it after `recall` when the \
                short record is not enough, and before `update` or `forget`.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let zone = &engine.settings().zone;
        let ledger = engine.existing_ledger()?;
        let control = engine.control(call);
        if let Ok(partial) = PartialId::parse(&request.id)
            && partial.kind == IdKind::Episode
        {
            let mut view = ledger.read(&control, |r| Ok(episode::episode(r, call, &partial, zone)))??;
            budget::fit(&mut view, request.budget_tokens);
            return Ok(Response::Episode(Box::new(view)));
        }
        if let Ok(id) = Id::parse(&request.id)
            && id.kind() == IdKind::Document
        {
            let number = documents::parse_id(&id).0;
            let row = ledger.read(&control, |r| Ok((r.source(number)?, r.vault_head_text(number)?)))?;
            let view = document::document(row, call, &id, zone)?;
            return Ok(Response::Document(Box::new(view)));
        }
        if let Ok(id) = TodoId::parse(&request.id) {
            let view = ledger.read(&control, |r| Ok(whole(r, call, &id)))??;
            return Ok(Response::Todo(Box::new(view)));
        }
        let reference = Reference::read("id", &request.id)?;
        let mut view = ledger.read(&control, |r| Ok(memory::memory(r, call, &reference, zone)))??;
        for (known, waiting) in view.uses.iter_mut().zip(engine.uses().of(view.number)) {
            *known += waiting;
        }
        let evidence = ledger.read(&control, |r| r.evidence_of(&[view.number]))?;
        view.code = anchors::views(engine, call, &evidence).remove(&view.number).unwrap_or_default();
        engine.note_usage(call, &[], &[(view.number, 1)]);
        budget::fit(&mut view, request.budget_tokens);
        Ok(Response::Memory(Box::new(view)))
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let document = match self {
            Self::Memory(view) => view.render(),
            Self::Episode(view) => view.render(),
            Self::Document(view) => view.render(),
            Self::Todo(view) => view.render(),
        };
        match self {
            Self::Memory(view) if view.superseded_by.is_some() => {
                document.note(Mark::Warning, "this version was replaced; see `replaced by`")
            }
            _ => document,
        }
    }
}

/// A point in time to the second in the user's zone.
fn stamp(at: Timestamp, zone: &TimeZone) -> String {
    at.to_jiff().map_or_else(
        || at.to_rfc3339(),
        |t| t.to_zoned_datetime(zone.clone()).strftime("%Y-%m-%d %H:%M:%S%:z").to_string(),
    )
}
