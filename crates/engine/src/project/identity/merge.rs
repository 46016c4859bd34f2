//! `project_merge`: one project of two.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{memory::Status, scope::Scope};
use strata_store::{
    error::StoreError,
    ledger::{MemoryRow, NewAudit},
};

use super::{FOR_PEOPLE, key_of, people_only};
use crate::{
    engine::Engine,
    error::Error,
    memory::{draft::Draft, write},
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    project::storable,
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct Merge;

/// Which two.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The project that goes, by its key or a name it has.
    pub from: String,
    /// The project that stays. The one at hand by default.
    pub into: Option<String>,
    /// Do it. Without, it is only told what would be done.
    #[serde(default)]
    pub apply: bool,
}

/// What was done, or would be.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// The key of the project that goes.
    pub from: String,
    /// The key of the one that stays.
    pub into: String,
    /// Whether it was done.
    pub applied: bool,
    /// Memories that are carried over; each replaces the one it comes from.
    pub carried: u64,
    /// Those of them that said what the other project knows already.
    pub known: u64,
    /// Memories that stay where they are, with the reason.
    pub left: Vec<Left>,
}

/// A memory that stays where it is.
#[derive(Debug, Serialize)]
pub struct Left {
    /// Its id.
    pub id: String,
    /// Why.
    pub reason: String,
}

impl Operation for Merge {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "project_merge",
        cli: &["project", "merge"],
        positional: &["from", "into"],
        title: "Make one project of two",
        about: "Makes one project of two that were taken for different ones: the names of the first name the second, and its \
                memories are carried over, each replacing the one it comes from. Rules and identity take the passphrase. Raw events, todos and the \
                graph stay under the old key, where `--project KEY` reaches them. Shows what it would do; `apply` does it. Once more \
                after an interruption carries over the rest.",
        effect: Effect::Write,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        people_only(engine, call, Self::SPEC.tool, FOR_PEOPLE)?;
        let ledger = engine.existing_ledger()?;
        let (from, into, rows) = ledger.read(&engine.control(call), |r| {
            let key = |name: &str| -> Result<Option<String>, StoreError> {
                let name = storable(name);
                let used = r.is_project_used(&name)?;
                // The key of a project that was merged names the other one, and may still hold something.
                Ok(if used { Some(name) } else { r.project_key(&name)? })
            };
            let from = key(&request.from)?;
            let into = match &request.into {
                Some(name) => key(name)?,
                None => call.scope.project.clone(),
            };
            let numbers =
                from.as_deref().map(|from| r.live_of_project(from)).transpose()?.unwrap_or_default();
            Ok((from, into, r.memories_by_numbers(&numbers)?))
        })?;
        let (from, into) = (key_of(from, Some(&request.from))?, key_of(into, request.into.as_deref())?);
        if from == into {
            return Err(Error::argument("from", format!("both are the project {into}"), "name two projects"));
        }
        let mut merging = Response { from, into, applied: request.apply, ..Response::default() };
        for (n, row) in rows.iter().enumerate() {
            (call.progress)(n as u64, rows.len() as u64);
            merging.carry(engine, call, row)?;
        }
        if request.apply {
            ledger.write(&engine.control(call), engine.clock().now(), |w| {
                let row = NewAudit::new(call.principal, call.face, Self::SPEC.tool, &merging.into);
                w.record(&NewAudit { reason: &merging.from, ..row })?;
                w.join_projects(&merging.from, &merging.into)
            })?;
        }
        Ok(merging)
    }
}

impl Response {
    fn carry(&mut self, engine: &Engine, call: &Call<'_>, row: &MemoryRow) -> Result<(), Error> {
        if call.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        if row.state.status != Status::Active {
            self.leave(row, format!("it is {}", row.state.status.as_str()));
            return Ok(());
        }
        if !self.applied {
            self.carried += 1;
            return Ok(());
        }
        match self.store(engine, call, row) {
            Ok(is_new) => {
                self.carried += 1;
                self.known += u64::from(!is_new);
            }
            Err(error @ (Error::Conflict { .. } | Error::Store(_) | Error::Refused { .. })) => {
                self.leave(row, error.to_string());
            }
            Err(error) => {
                return Err(
                    error.with_command(format!("strata project merge {} {} --apply", self.from, self.into))
                );
            }
        }
        Ok(())
    }

    fn store(&self, engine: &Engine, call: &Call<'_>, row: &MemoryRow) -> Result<bool, Error> {
        let scope = Scope { project: Some(self.into.clone()), ..row.scope.clone() };
        let ledger = engine.existing_ledger()?;
        let (evidence, topic) = ledger.read(&engine.control(call), |r| {
            let topic = match &row.topic_key {
                Some(topic) => r.live_by_topic(&scope, topic)?,
                None => None,
            };
            Ok((r.evidence(row.number)?, topic))
        })?;
        let mut draft = Draft::version_of(row, row.body.clone(), &row.state, evidence);
        draft.scope = scope;
        draft.supersede_reason = Some(format!("carried over from the project {}", self.from));
        // One memory of a project is about a topic, and the one that is there stays.
        if topic.is_some() {
            draft.topic_key = None;
        }
        let there = Call { scope: &row.scope, ..copy(call) };
        Ok(write::store(engine, &there, &draft)?.new)
    }

    fn leave(&mut self, row: &MemoryRow, reason: String) {
        self.left.push(Left { id: row.id.clone(), reason });
    }
}

/// The same call.
fn copy<'a>(call: &Call<'a>) -> Call<'a> {
    Call {
        principal: call.principal,
        scope: call.scope,
        face: call.face,
        deadline: call.deadline,
        cancel: call.cancel,
        progress: call.progress,
        secret: call.secret,
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let Self { from, into, carried, known, .. } = self;
        let said = if self.applied {
            format!("{from} is {into} now. Memories carried over: {carried}; known there already: {known}.")
        } else {
            format!("{from} would become {into}. Memories to carry over: {carried}. Pass `--apply` to do it.")
        };
        let mark = if self.applied { Mark::Good } else { Mark::Info };
        let document = Document::new().note(mark, said);
        if self.left.is_empty() {
            return document;
        }
        let rows = self.left.iter().map(|left| vec![left.id.clone(), left.reason.clone()]).collect();
        let columns = vec!["stays".to_owned(), "because".to_owned()];
        document.with(Block::Table { columns, rows })
    }
}
