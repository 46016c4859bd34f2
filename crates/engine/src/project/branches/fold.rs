//! Memories of a branch that has come to an end: folded into the mainline, archived, or asked about.

use serde_json::{Value, json};
use strata_core::{
    id::{Id, IdKind},
    policy::Action,
    principal::{Principal, PrincipalKind},
    scope::Scope,
    time::Timestamp,
};
use strata_store::{
    error::StoreError,
    ledger::{BranchSeen, LedgerRead, LedgerWrite, MemoryRow, NewAudit, NewReview, ReviewRow, ReviewStatus},
};

use super::{
    CURRENT_BRANCH, Git, MAINLINE, archive, follows_branches,
    judge::{Fate, judge},
    observed,
};
use crate::{
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
        Fate::Abandoned if archive::keeps_abandoned(engine) => {}
        Fate::Abandoned => {
            archive::given_up(engine, call, place, "it was deleted, and nothing has its commits")?;
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
    Ok(ledger.write(&control, engine.clock().now(), |w| put_down(w, place, &seen))?)
}

/// Notes what was seen of a branch. The question about it is the one that is on record now: another process may have
/// asked meanwhile.
fn put_down(
    w: &LedgerWrite<'_>,
    (project, branch): (&str, &str),
    seen: &BranchSeen,
) -> Result<(), StoreError> {
    let review = w.branch_seen(project, branch)?.unwrap_or_default().review;
    w.note_branch(project, branch, &BranchSeen { review, ..seen.clone() })
}

/// The system, doing what the repository shows on the caller's behalf.
pub(super) fn system(call: &Call<'_>) -> Principal {
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
        let scope = row.scope.clone();
        let as_system = Call { principal: &actor, scope: &scope, ..*call };
        match move_as_it_stands(engine, &as_system, row, target, why)? {
            Moved::To(id) => folded.moved.push(id),
            Moved::Not(id) => folded.left.push(id),
            Moved::ByOthers => {}
        }
    }
    Ok(folded)
}

/// What became of one memory of a branch.
enum Moved {
    /// It has this id now.
    To(String),
    /// It stays; its id.
    Not(String),
    /// Another process has moved it, or put it away.
    ByOthers,
}

/// Times a memory is moved that somebody else changes meanwhile.
const TRIES: usize = 3;

/// Moves a memory as it stands by now: other processes may be at the same branch.
fn move_as_it_stands(
    engine: &Engine,
    call: &Call<'_>,
    mut row: MemoryRow,
    target: &Target<'_>,
    why: &str,
) -> Result<Moved, Error> {
    for _ in 0..TRIES {
        match move_one(engine, call, &row, target, why) {
            Ok(id) => return Ok(Moved::To(id)),
            // What only this moment is in the way of is tried again, and nobody asked about it.
            Err(error) if is_of_the_moment(&error) => return Err(error),
            Err(_) => {}
        }
        let now = engine.read(call, |r| r.memory_by_number(row.number))?;
        let Some(now) = now.filter(|now| now.state.status.is_live()) else { return Ok(Moved::ByOthers) };
        if now.state_seq == row.state_seq {
            break;
        }
        row = now;
    }
    Ok(Moved::Not(row.id))
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

/// The memories in force on a branch, oldest first.
pub(super) fn of_branch(
    engine: &Engine,
    call: &Call<'_>,
    project: &str,
    branch: &str,
) -> Result<Vec<MemoryRow>, Error> {
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
    let place = (project, branch);
    let Some(latest) = rows.last() else {
        let noted = |w: &LedgerWrite<'_>| put_down(w, place, seen);
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
        let asked = w.branch_seen(project, branch)?.unwrap_or_default().review;
        if w.review(&asked)?.is_some() {
            return w.note_branch(project, branch, &BranchSeen { review: asked, ..seen.clone() });
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
