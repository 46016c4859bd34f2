//! `purge`: erases a memory, a raw event, an entity or a todo for good, and proves that it is gone.

mod files;
mod repeated;
mod report;
mod resting;
mod target;
mod telling;
mod vault;

use schemars::JsonSchema;
use serde::Deserialize;
use strata_core::{policy::Action, principal::Principal};
use strata_store::{
    Rewrite,
    ledger::{NewAudit, OpenPurge},
};

pub(super) use self::files::other_index_files;
use self::{
    files::{Backups, erase_from_backups, erase_from_index},
    repeated::Said,
    target::{Named, Target, find, target_id, tombstone},
    telling::telling_fragments,
};
use super::purged;
use crate::{
    authority,
    context::hot::recent,
    engine::Engine,
    error::Error,
    gate::Gate,
    knowledge::l0,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    wiki,
};

pub use self::report::Response;

/// See the module.
pub struct Purge;

/// What to erase.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The whole id of a memory (mem_... or #number), a raw event (ep_...), an entity (ent_...) or a todo (todo_...); of the vault a file (vault:shared/infra.md) or a section (doc_...).
    pub id: String,
    /// Also rewrite the backups, so that they do not hold it either.
    pub backups: Option<bool>,
    /// Why, for the audit. Do not repeat the text here: the audit is never erased.
    pub reason: Option<String>,
}

impl Operation for Purge {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "purge",
        cli: &["purge"],
        positional: &["id"],
        title: "Erase for good",
        about: "Erases a memory, raw event, entity or todo from the ledger, the index and their logs, so that no byte of its text is left, \
                and looks through every file of the home, and every table of a server, to prove it. Cannot be undone; only the fact that it was purged \
                stays on record, so that no restore brings it back. Digests that quote it go with it. For people with the \
                passphrase only. To take something out of use, `forget` is enough.",
        effect: Effect::Destroy,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        if let Some(wanted) = vault::named(engine, call, &request.id)? {
            return vault::erase(engine, call, &wanted, &request);
        }
        let id = target_id(engine, call, &request.id)?;
        let resting = resting::find(engine, call, &id)?;
        let erased = resting::erase(engine, call, &resting, request.backups)?;
        let mut response = one(engine, call, &id, &request, Material::StaysDistilled)?;
        response.digests_kept = resting.others;
        response.digests_erased = erased;
        Ok(response)
    }
}

/// What becomes of the raw material of a digest that is erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Material {
    /// It is not distilled a second time.
    StaysDistilled,
    /// It is distilled anew.
    IsFreed,
}

/// Erases one thing and looks for what is left of it.
fn one(
    engine: &Engine,
    call: &Call<'_>,
    id: &Named,
    request: &Request,
    material: Material,
) -> Result<Response, Error> {
    let reason = Gate::default().field("reason", request.reason.as_deref())?.unwrap_or_default();
    let target = find(engine, call, id)?;
    let actor = authority::authorise(engine, call, Action::Purge, target.layer, &id.id)?;
    let repeated = repeated::take_out(engine, call, &Said::new(target.bodies()), None)?;
    let fragments = telling_fragments(engine, call, &target, &repeated.kept)?;
    let open = open(engine, call, &target, request.backups.unwrap_or(false))?;
    erase(engine, call, &actor, (&target, material), &open, &reason)?;
    let Finished { indexes, backups, left } = finish(engine, call, &actor, &target, &open)?;
    let mut response = Response {
        id: target.id.clone(),
        kind: target.kind.as_str(),
        number: target.number,
        completed_earlier: target.already,
        backups_rewritten: backups.rewritten,
        backups_damaged: backups.damaged,
        index_files_removed: indexes,
        verified: false,
        files_scanned: 0,
        fragments: fragments.len(),
        remaining: Vec::new(),
        remaining_backups: Vec::new(),
        unreadable: Vec::new(),
        other_versions: target.other_versions,
        digests_erased: Vec::new(),
        digests_kept: Vec::new(),
        store: None,
        left_to_owner: left,
        repeated: repeated.gone,
    };
    response.prove(engine.home(), &fragments)?;
    response.prove_on_server(engine, call, &fragments)?;
    Ok(response)
}

/// The note of this purge; one that was cut short keeps what it was to do.
fn open(engine: &Engine, call: &Call<'_>, target: &Target, backups: bool) -> Result<OpenPurge, Error> {
    let known = engine.existing_ledger()?.read(&engine.control(call), |r| r.open_purges())?;
    let earlier = known.iter().any(|p| p.id == target.id && p.backups);
    Ok(OpenPurge { kind: target.kind, id: target.id.clone(), backups: backups || earlier })
}

/// What a purge did beside the ledger.
struct Finished {
    /// Indexes of other versions that were removed.
    indexes: usize,
    backups: Backups,
    /// Statements that the server's owner is left to run.
    left: Vec<String>,
}

/// Removes from all files what the ledger has given up. Can be done again at any point.
fn finish(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    target: &Target,
    open: &OpenPurge,
) -> Result<Finished, Error> {
    let control = engine.control(call);
    purged::add(engine.home(), &control, target.kind, &target.id, engine.clock().now())?;
    // What an earlier process removed is not known in this one.
    let rewritten = if target.already { Rewrite::Everything } else { Rewrite::Changed };
    let indexes = erase_from_index(engine, call, target)?;
    let ledger = engine.existing_ledger()?;
    let mut left = ledger.database().rewrite(&control, rewritten)?;
    left.extend(indexes.left);
    let backups = if open.backups {
        erase_from_backups(engine, call, actor, target, &Said::new(target.bodies()))?
    } else {
        Backups::default()
    };
    if wiki::exists(engine) {
        wiki::compile_own(engine, call)?;
    }
    l0::sync_everything(engine, call)?;
    recent::forget(engine.home())?;
    ledger.write(&control, engine.clock().now(), |w| w.close_purge(&target.id))?;
    Ok(Finished { indexes: indexes.removed, backups, left })
}

/// Completes a purge that was cut short; false if what it names is in the ledger (again).
pub(super) fn complete(engine: &Engine, call: &Call<'_>, open: &OpenPurge) -> Result<bool, Error> {
    let control = engine.control(call);
    let Some(target) = engine.existing_ledger()?.read(&control, |r| tombstone(r, open.kind, &open.id))?
    else {
        return Ok(false);
    };
    finish(engine, call, call.principal, &target, open)?;
    Ok(true)
}

fn call_goes_on(call: &Call<'_>) -> Result<(), Error> {
    if call.cancel.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}

fn erase(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    (target, material): (&Target, Material),
    open: &OpenPurge,
    reason: &str,
) -> Result<(), Error> {
    let row = NewAudit {
        layer: Some(target.layer),
        reason,
        before_hash: target.hash,
        ..NewAudit::new(actor, call.face, Action::Purge.as_str(), &target.id)
    };
    engine.accesses().forget_queries();
    engine.existing_ledger()?.write(&engine.control(call), engine.clock().now(), |w| {
        w.open_purge(open)?;
        if target.already {
            return Ok(());
        }
        let seq = w.record(&row)?;
        w.purge(target.kind, &target.id, seq)?;
        if material == Material::IsFreed {
            w.release_digest(target.number)?;
        }
        authority::seal(w, call, actor)
    })?;
    Ok(())
}
