//! `project_merge`: one project of two.

use std::collections::{BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    id::{Id, IdKind},
    policy::Action,
    scope::Scope,
};
use strata_store::{
    error::StoreError,
    ledger::{
        BranchSeen, LedgerRead, LedgerWrite, MemoryRelation, MemoryRow, NewAudit, NewReview, ReviewFilter,
        Seq,
    },
};

use super::{FOR_PEOPLE, key_of, people_only};
use crate::{
    engine::Engine,
    error::Error,
    memory::{
        draft::Draft,
        write::{self, Judged},
    },
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    project::storable,
    render::{Block, Document, Mark, Render},
    review,
};

/// Versions of a memory that are followed.
const MAX_VERSIONS: usize = 1_000;

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
    /// Questions that wait for a decision, asked anew.
    pub questions: u64,
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
                memories are carried over, of whatever status, each replacing the one it comes from, with what they rest on, how they stand to \
                each other and what is asked about them. Rules and identity take the passphrase. Raw events, todos and the \
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
                from.as_deref().map(|from| r.numbers_of_project(from)).transpose()?.unwrap_or_default();
            let mut rows = r.memories_by_numbers(&numbers)?;
            // What was replaced stays behind what replaced it.
            rows.retain(|row| row.superseded_by.is_none());
            Ok((from, into, rows))
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
            merging.questions =
                engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
                    let row = NewAudit::new(call.principal, call.face, Self::SPEC.tool, &merging.into);
                    let seq = w.record(&NewAudit { reason: &merging.from, ..row })?;
                    w.join_projects(&merging.from, &merging.into)?;
                    Joining::read(w, &merging.from, &merging.into)?.finish(engine, call, w, seq)
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

    /// Stores a memory in the other project in the place of the one that it comes from, with its status, writer and evidence.
    fn store(&self, engine: &Engine, call: &Call<'_>, row: &MemoryRow) -> Result<bool, Error> {
        let scope = Scope { project: Some(self.into.clone()), ..row.scope.clone() };
        let ledger = engine.existing_ledger()?;
        let (evidence, topic, parent) = ledger.read(&engine.control(call), |r| {
            let topic = match &row.topic_key {
                Some(topic) => r.live_by_topic(&scope, topic)?,
                None => None,
            };
            let parent = row.parent.as_deref().map(|id| latest(r, id)).transpose()?;
            Ok((r.evidence(row.number)?, topic, parent))
        })?;
        let mut draft = Draft::version_of(row, row.body.clone(), &row.state, evidence);
        draft.scope = scope;
        draft.writer = Some(row.writer.clone());
        draft.placing.parent = parent;
        // One memory of a project is about a topic, and the one that is there stays.
        if topic.is_some() {
            draft.topic_key = None;
        }
        let there = Call { scope: &row.scope, ..*call };
        let why = format!("carried over from the project {}", self.from);
        let judged = Judged { predecessor: Some(row.clone()), status: row.state.status, ..Judged::new(&why) };
        Ok(write::store_judged(engine, &there, &draft, judged, &|_, _| Ok(()))?.new)
    }

    fn leave(&mut self, row: &MemoryRow, reason: String) {
        self.left.push(Left { id: row.id.clone(), reason });
    }
}

/// The id of the version that a memory has come to.
fn latest(r: &LedgerRead<'_>, id: &str) -> Result<String, StoreError> {
    let mut id = id.to_owned();
    for _ in 0..MAX_VERSIONS {
        match r.memory(&id)?.and_then(|row| row.superseded_by) {
            Some(by) => id = by,
            None => break,
        }
    }
    Ok(id)
}

/// What stands between memories that were carried over, and what is asked about them.
struct Joining<'a> {
    from: &'a str,
    into: &'a str,
    /// Memories as they were, and as they are now.
    carried: Vec<(MemoryRow, MemoryRow)>,
}

impl<'a> Joining<'a> {
    /// Also what an earlier attempt carried over.
    fn read(r: &LedgerRead<'_>, from: &'a str, into: &'a str) -> Result<Self, StoreError> {
        let mut carried = Vec::new();
        for old in r.memories_by_numbers(&r.numbers_of_project(from)?)? {
            let Some(new) = old.superseded_by.as_deref().map(|id| r.memory(id)).transpose()?.flatten() else {
                continue;
            };
            if new.scope.project.as_deref() == Some(into) {
                carried.push((old, new));
            }
        }
        Ok(Self { from, into, carried })
    }

    /// Carries over the rest; gives the number of questions.
    fn finish(
        &self,
        engine: &Engine,
        call: &Call<'_>,
        w: &LedgerWrite<'_>,
        seq: Seq,
    ) -> Result<u64, StoreError> {
        self.relate(w, seq)?;
        let reviews = self.ask(engine, call, w)?;
        let branches: BTreeSet<&str> =
            self.carried.iter().filter_map(|(old, _)| old.scope.branch.as_deref()).collect();
        for branch in branches {
            let Some(seen) = w.branch_seen(self.from, branch)? else { continue };
            if w.branch_seen(self.into, branch)?.is_none() {
                let review = reviews.get(&seen.review).cloned().unwrap_or_default();
                w.note_branch(self.into, branch, &BranchSeen { review, judged: String::new(), ..seen })?;
            }
            w.forget_branch(self.from, branch)?;
        }
        Ok(reviews.len() as u64)
    }

    /// What stays with a version when it is replaced is between the two as they are now.
    fn relate(&self, w: &LedgerWrite<'_>, seq: Seq) -> Result<(), StoreError> {
        let now: HashMap<i64, i64> = self.carried.iter().map(|(old, new)| (old.number, new.number)).collect();
        let old: Vec<i64> = now.keys().copied().collect();
        let end = |number: i64| now.get(&number).copied().unwrap_or(number);
        let known = w.memory_relations_of(&old)?.into_iter();
        let next = known.map(|r| MemoryRelation { source: end(r.source), target: end(r.target), ..r });
        w.relate_memories(&next.filter(|r| r.source != r.target).collect::<Vec<_>>(), seq)
    }

    /// Asks anew what waits for a decision, of the memories as they are now; gives the ids of before with those of now.
    fn ask(
        &self,
        engine: &Engine,
        call: &Call<'_>,
        w: &LedgerWrite<'_>,
    ) -> Result<HashMap<String, String>, StoreError> {
        let mut asked = HashMap::new();
        for (old, new) in &self.carried {
            let about = ReviewFilter { target: Some(old.id.clone()), ..ReviewFilter::default() };
            for known in w.reviews(&about)? {
                let before = known.clone();
                let review = NewReview {
                    id: Id::from_bits(IdKind::Review, engine.ids().bits()),
                    kind: known.kind,
                    target: new.id.clone(),
                    proposal: self.renamed(&known.proposal),
                    reason: known.reason,
                    proposer: known.proposer,
                    created_at: known.created_at,
                    salt: engine.ids().salt(),
                };
                let line = NewAudit {
                    layer: Some(new.state.layer),
                    reason: &review.reason,
                    ..NewAudit::new(call.principal, call.face, Action::Propose.as_str(), &new.id)
                };
                let seq = w.record(&line.asking(&review))?;
                w.insert_review(&review, seq)?;
                let note = format!("asked as {} in the project {}", review.id, self.into);
                review::withdraw(w, call, &before, &note)?;
                asked.insert(before.id, review.id.to_string());
            }
        }
        Ok(asked)
    }

    /// A proposal with the ids of now.
    fn renamed(&self, proposal: &str) -> String {
        let is_named = |(old, _): &&(MemoryRow, MemoryRow)| proposal.contains(&old.id);
        self.carried
            .iter()
            .filter(is_named)
            .fold(proposal.to_owned(), |text, (old, new)| text.replace(&old.id, &new.id))
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let Self { from, into, carried, known, questions, .. } = self;
        let said = if self.applied {
            format!(
                "{from} is {into} now. Memories carried over: {carried}; known there already: {known}; questions: {questions}."
            )
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
