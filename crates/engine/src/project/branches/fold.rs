//! Memories of a branch that has come to an end: folded into the mainline, archived, or asked about.

use serde_json::{Value, json};
use strata_core::{
    id::{Id, IdKind},
    memory::Status,
    policy::Action,
    principal::{Principal, PrincipalKind},
    scope::Scope,
    time::Timestamp,
};
use strata_store::{
    error::StoreError,
    ledger::{
        BranchSeen, LedgerRead, LedgerWrite, MemoryRow, NewAudit, NewReview, ReviewRow, ReviewStatus, State,
    },
};

use super::{
    CURRENT_BRANCH, Git, MAINLINE, follows_branches,
    judge::{Fate, judge},
    observed,
};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    memory::{draft::Draft, write},
    operation::Call,
    review,
};

/// The kind of a review that asks what became of a branch.
pub(crate) const BRANCH: &str = "branch";
/// The word on record of a memory that comes to the mainline with its branch.
const FOLDED: &str = "branch_fold";
/// The word on record of a memory whose branch has another name.
const MOVED: &str = "branch_rename";
/// The word on record of a memory whose branch was given up.
const ABANDONED: &str = "branch_abandon";

/// Says in a review that the branch was merged, and some of its memories stayed behind.
const MERGED: &str = "merged";

/// Microseconds that a call has for branches that changed. What is left is done by the next one.
const PATIENCE: i64 = 250_000;

/// Where memories of a branch go.
pub(super) enum Target<'a> {
    /// The mainline.
    Mainline,
    /// Another branch.
    Branch(&'a str),
}

/// What became of the memories of a branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Folded {
    /// The ids that stand in the new place now.
    pub(super) moved: Vec<String>,
    /// The ids that stayed, because something there says otherwise or only a person may move them.
    pub(super) left: Vec<String>,
}

/// Judges every branch that has changed since it was judged, and does what follows. A branch that cannot be judged stays
/// as it is; so does one whose memories cannot be written. Says whether it came to the end in the time that a call has for it.
pub(super) fn follow(
    engine: &Engine,
    call: &Call<'_>,
    git: &Git,
    project: &str,
    branches: &[String],
) -> bool {
    let start = engine.clock().now().0;
    for branch in branches.iter().filter(|branch| !git.mainline.is(branch)) {
        if engine.clock().now().0 - start > PATIENCE {
            return false;
        }
        drop(follow_one(engine, call, git, project, branch));
    }
    true
}

fn follow_one(engine: &Engine, call: &Call<'_>, git: &Git, project: &str, branch: &str) -> Result<(), Error> {
    let ledger = engine.existing_ledger()?;
    let control = engine.control(call);
    let before = ledger.read(&control, |r| r.branch_seen(project, branch))?.unwrap_or_default();
    let now = git.tip(branch)?;
    let judged = blake3::hash(format!("{now:?} {:?}", git.mainline.tips).as_bytes()).to_hex().to_string();
    if before.judged == judged {
        return Ok(());
    }
    let fate = judge(git, branch, &before, now.as_deref())?;
    let seen = BranchSeen { judged, ..observed(git, &before, now) };
    let place = (project, branch);
    match fate {
        Fate::Open => {}
        Fate::Abandoned if keeps_abandoned(engine) => {}
        Fate::Abandoned => {
            archive_all(engine, call, place, "it was deleted, and nothing has its commits")?;
        }
        Fate::Unsure(why) => {
            return ask(engine, call, place, &seen, (&format!("branch `{branch}`: {why}"), false));
        }
        Fate::Merged(why) => {
            let why = format!("branch `{branch}` was merged: {why}");
            let folded = move_all(engine, call, place, &Target::Mainline, &why)?;
            if !folded.left.is_empty() {
                return ask(engine, call, place, &seen, (&format!("{why}; not all could be folded"), true));
            }
            return Ok(ledger.write(&control, engine.clock().now(), |w| w.forget_branch(project, branch))?);
        }
        Fate::Renamed(name) => {
            let why = format!("branch `{branch}` is called `{name}` now");
            let folded = move_all(engine, call, place, &Target::Branch(&name), &why)?;
            if !folded.left.is_empty() {
                return ask(engine, call, place, &seen, (&format!("{why}; not all could be moved"), false));
            }
            let of_name = BranchSeen { judged: String::new(), ..seen };
            return Ok(ledger.write(&control, engine.clock().now(), |w| {
                w.forget_branch(project, branch)?;
                w.note_branch(project, &name, &of_name)
            })?);
        }
    }
    Ok(ledger.write(&control, engine.clock().now(), |w| w.note_branch(project, branch, &seen))?)
}

/// Whether the configuration leaves the memories of a deleted branch where they are.
fn keeps_abandoned(engine: &Engine) -> bool {
    let cleanup = &engine.settings().config.project.memory_retention.branch_cleanup;
    !(cleanup.enabled && cleanup.archive_deleted_branch_memories)
}

/// The system, doing what the repository shows on the caller's behalf.
fn system(call: &Call<'_>) -> Principal {
    Principal::new(PrincipalKind::System, "branches").on_behalf_of(call.principal)
}

/// Puts the memories of a branch where it ended. Each is a new version there, and the old one stays in its history.
pub(super) fn move_all(
    engine: &Engine,
    call: &Call<'_>,
    (project, branch): (&str, &str),
    target: &Target<'_>,
    why: &str,
) -> Result<Folded, Error> {
    let rows = of_branch(engine, call, project, branch)?;
    let actor = system(call);
    let mut folded = Folded::default();
    for row in rows {
        // What a rule holds for is for a person to say.
        if !follows_branches(row.state.layer) {
            folded.left.push(row.id);
            continue;
        }
        let as_system = Call { principal: &actor, scope: &row.scope, ..*call };
        match move_one(engine, &as_system, &row, target, why) {
            Ok(id) => folded.moved.push(id),
            // What only this moment is in the way of is tried again, and nobody asked about it.
            Err(error) if is_of_the_moment(&error) => return Err(error),
            Err(_) => folded.left.push(row.id),
        }
    }
    Ok(folded)
}

fn is_of_the_moment(error: &Error) -> bool {
    match error {
        Error::Cancelled | Error::Deadline => true,
        Error::Store(error) => !matches!(error, StoreError::Conflict(_)),
        _ => false,
    }
}

/// Puts one memory elsewhere as a new version, and gives its id.
pub(super) fn move_one(
    engine: &Engine,
    call: &Call<'_>,
    row: &MemoryRow,
    target: &Target<'_>,
    why: &str,
) -> Result<String, Error> {
    let evidence = engine.existing_ledger()?.read(&engine.control(call), |r| r.evidence(row.number))?;
    let mut draft = Draft::version_of(row, row.body.clone(), &row.state, evidence);
    draft.scope = Scope {
        branch: match target {
            Target::Mainline => None,
            Target::Branch(name) => Some((*name).to_owned()),
        },
        ..row.scope.clone()
    };
    (draft.placing.branch_scope, draft.action) = match target {
        Target::Mainline => (MAINLINE.to_owned(), FOLDED),
        Target::Branch(_) => (CURRENT_BRANCH.to_owned(), MOVED),
    };
    draft.supersede_reason = Some(why.to_owned());
    draft.writer = Some(row.writer.clone());
    Ok(write::store(engine, call, &draft)?.id)
}

/// Takes the memories of a branch out of every search. They can be restored.
pub(super) fn archive_all(
    engine: &Engine,
    call: &Call<'_>,
    (project, branch): (&str, &str),
    why: &str,
) -> Result<Vec<String>, Error> {
    let mut rows = of_branch(engine, call, project, branch)?;
    // A rule does not end with a branch.
    rows.retain(|row| follows_branches(row.state.layer));
    let actor = system(call);
    let as_system = Call { principal: &actor, ..*call };
    let why = format!("branch `{branch}` was given up: {why}");
    for row in &rows {
        authority::authorise_as(engine, &as_system, Action::Update, ABANDONED, row.state.layer, &row.id)?;
    }
    engine.existing_ledger()?.write(&engine.control(call), engine.clock().now(), |w| {
        for row in &rows {
            let state = State { status: Status::Archived, ..row.state };
            let audit = NewAudit {
                layer: Some(row.state.layer),
                reason: &why,
                before_hash: Some(row.content_hash),
                after_hash: Some(state.hash(&row.content_hash)),
                ..NewAudit::new(&actor, call.face, ABANDONED, &row.id)
            };
            let seq = w.record(&audit)?;
            w.change_state(row.number, Some(row.state_seq), &state, seq)?;
        }
        Ok(())
    })?;
    engine.index_what_was_stored(call);
    Ok(rows.into_iter().map(|row| row.id).collect())
}

fn of_branch(engine: &Engine, call: &Call<'_>, project: &str, branch: &str) -> Result<Vec<MemoryRow>, Error> {
    let rows =
        engine.existing_ledger()?.read(&engine.control(call), |r| r.memories_of_branch(project, branch))?;
    // What waits for a decision is decided where it stands.
    Ok(rows.into_iter().filter(|row| row.state.status.is_live()).collect())
}

/// Asks once what became of a branch, in the review of its latest memory.
fn ask(
    engine: &Engine,
    call: &Call<'_>,
    (project, branch): (&str, &str),
    seen: &BranchSeen,
    (why, is_merged): (&str, bool),
) -> Result<(), Error> {
    let rows = of_branch(engine, call, project, branch)?;
    let control = engine.control(call);
    let Some(latest) = rows.last() else {
        let noted = |w: &LedgerWrite<'_>| w.note_branch(project, branch, seen);
        return Ok(engine.existing_ledger()?.write(&control, engine.clock().now(), noted)?);
    };
    let actor = system(call);
    let review = NewReview {
        id: Id::from_bits(IdKind::Review, engine.ids().bits()),
        kind: BRANCH.to_owned(),
        target: latest.id.clone(),
        proposal: json!({ "branch": branch, "memories": rows.len(), MERGED: is_merged }).to_string(),
        reason: why.to_owned(),
        proposer: actor.to_string(),
        created_at: engine.clock().now(),
        salt: engine.ids().salt(),
    };
    let audit = NewAudit {
        layer: Some(latest.state.layer),
        reason: why,
        ..NewAudit::new(&actor, call.face, Action::Propose.as_str(), &latest.id).asking(&review)
    };
    engine.existing_ledger()?.write(&control, engine.clock().now(), |w| {
        if w.review(&seen.review)?.is_some() {
            return w.note_branch(project, branch, seen);
        }
        let seq = w.record(&audit)?;
        w.insert_review(&review, seq)?;
        w.note_branch(project, branch, &BranchSeen { review: review.id.to_string(), ..seen.clone() })
    })?;
    Ok(())
}

/// Closes the question about a branch that somebody answered, if one waits.
pub(super) fn answered(
    engine: &Engine,
    call: &Call<'_>,
    (project, branch): (&str, &str),
) -> Result<(), Error> {
    close(engine, call, (project, branch), &|w, review| {
        let note = "told what became of the branch";
        let reason = review::on_record(review, note);
        let line = NewAudit::new(call.principal, call.face, "resolve", &review.target);
        let seq = w.record(&NewAudit { reason: &reason, ..line })?;
        w.decide_review(&review.id, ReviewStatus::Approved, &call.principal.to_string(), note, seq)
    })
}

/// Takes back the question about a branch on which no memory stands any more.
pub(crate) fn close_if_left_by_all(
    engine: &Engine,
    call: &Call<'_>,
    (project, branch): (&str, &str),
) -> Result<(), Error> {
    if !of_branch(engine, call, project, branch)?.is_empty() {
        return Ok(());
    }
    let note = "no memory stands on the branch any more";
    close(engine, call, (project, branch), &|w, review| review::withdraw(w, call, review, note))
}

/// Forgets what was seen of a branch, and decides the question about it, if one waits.
fn close(
    engine: &Engine,
    call: &Call<'_>,
    (project, branch): (&str, &str),
    decide: &dyn Fn(&LedgerWrite<'_>, &ReviewRow) -> Result<(), StoreError>,
) -> Result<(), Error> {
    let control = engine.control(call);
    let ledger = engine.existing_ledger()?;
    let seen = ledger.read(&control, |r| r.branch_seen(project, branch))?.unwrap_or_default();
    ledger.write(&control, engine.clock().now(), |w| -> Result<(), StoreError> {
        if let Some(review) = w.review(&seen.review)?.filter(|r| r.status == ReviewStatus::Pending) {
            decide(w, &review)?;
        }
        w.forget_branch(project, branch)
    })?;
    Ok(())
}

/// When it was seen that a branch was merged and some of its memories stayed behind; `None` where it was not.
pub(crate) fn merged_at(
    r: &LedgerRead<'_>,
    project: &str,
    branch: &str,
) -> Result<Option<Timestamp>, StoreError> {
    let Some(seen) = r.branch_seen(project, branch)? else { return Ok(None) };
    let review = r.review(&seen.review)?.filter(|review| review.kind == BRANCH);
    let is_merged = |proposal: &str| {
        serde_json::from_str::<Value>(proposal).is_ok_and(|proposal| proposal[MERGED] == Value::Bool(true))
    };
    Ok(review.filter(|review| is_merged(&review.proposal)).map(|review| review.created_at))
}
