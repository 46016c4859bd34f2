//! Finding what changed in a project's files, and having it indexed.
//!
//! A look walks the project and compares size and time with what is on record; only what differs is read, and only what has other
//! bytes is recorded. What was recorded is indexed before more is read, so that little is ever waited for. What describes the
//! project comes first. Of several processes one works at a time; the others find nothing left to do.

mod pass;

use std::{
    sync::MutexGuard,
    thread,
    time::{Duration, Instant},
};

use serde::Serialize;
use strata_core::{
    cancel::Cancel,
    memory::Layer,
    policy::Action,
    principal::{Face, Principal, PrincipalKind},
    scope::Scope,
    time::Timestamp,
};
use strata_store::sql::Access;

use self::pass::{Outcome, Pass};
use super::{
    Gate, Rules, root_name,
    state::{Now, Phase},
};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    maintain::reindex::renew,
    operation::Call,
    project::layout::{self, human},
    vcs::{self, Repository},
};

/// Changes that a call waits for where others go on in the background.
const FEW: usize = 32;

/// How long a call waits for what describes the project.
const PATIENCE: Duration = Duration::from_secs(2);

/// A look that is this quick is taken at every call.
const QUICK: Duration = Duration::from_millis(5);

/// Pauses between two looks in the background: so many times what one takes, and at most so long. The settings say the least, and win.
const PAUSE: (u32, Duration) = (25, Duration::from_secs(60));

/// How long the background waits without seeing whether it is to end; who ends it wakes it.
const SLICE: Duration = Duration::from_secs(2);

/// How long to wait until another thread may be done.
const MOMENT: Duration = Duration::from_millis(5);

/// How long to wait until another process may be done.
const AGAIN: Duration = Duration::from_millis(50);

/// What a look found and what became of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Files that were not known.
    pub new: usize,
    /// Files with other bytes than before.
    pub changed: usize,
    /// Files that are gone, or not for reading any more.
    pub deleted: usize,
    /// Files that are as they were.
    pub unchanged: usize,
}

impl Changes {
    /// How many files were read into the index.
    pub fn ingested(&self) -> usize {
        self.new + self.changed
    }
}

/// The project that a call is made on, as far as its files go.
pub(crate) struct Place {
    /// The way to its files.
    pub(crate) gate: Gate,
    /// Its root in `sources`.
    pub(crate) root: String,
}

impl Place {
    /// `None` when the caller stands in no project, or nobody told where its files are.
    ///
    /// # Errors
    /// The root is not there; a pattern of the project's settings cannot be read.
    pub(crate) fn of(engine: &Engine, call: &Call<'_>) -> Result<Option<Self>, Error> {
        let Some(root) = engine.settings().project_root.as_deref().filter(|_| call.scope.project.is_some())
        else {
            return Ok(None);
        };
        let gate = Gate::new(root, &rules(engine))?;
        let root = root_name(gate.root());
        Ok(Some(Self { gate, root }))
    }

    /// The kind of the jobs that index its files.
    pub(crate) fn job(&self) -> String {
        format!("files:{}", self.digest())
    }

    /// The name under which the commit is noted that was indexed last.
    pub(crate) fn setting(&self) -> String {
        format!("files_commit:{}", self.digest())
    }

    fn digest(&self) -> String {
        blake3::hash(self.root.as_bytes()).to_hex()[..16].to_owned()
    }

    /// The commit that is checked out; `""` without one.
    fn commit(&self) -> String {
        let head = Repository::open(self.gate.root()).and_then(|repository| repository.head());
        head.ok().and_then(|head| head.commit).unwrap_or_default()
    }

    /// The same for an operation that is about nothing else.
    ///
    /// # Errors
    /// Also that there is no project.
    pub(crate) fn required(engine: &Engine, call: &Call<'_>) -> Result<Self, Error> {
        Self::of(engine, call)?.ok_or_else(|| Error::Conflict {
            message: "there is no project here".to_owned(),
            hint: "run it in a project's folder, or name one with `--project-root`".to_owned(),
        })
    }
}

/// What the project lets be read.
fn rules(engine: &Engine) -> Rules {
    let files = &engine.settings().config.project.files;
    let is_everything = |pattern: &String| pattern == "**";
    Rules {
        include: if files.include.iter().any(is_everything) { Vec::new() } else { files.include.clone() },
        exclude: files.exclude.clone(),
        max_bytes: files.max_bytes(),
    }
}

/// Looks at everything and indexes what changed; waits for another process that does.
///
/// # Errors
/// `Cancelled`, and those of reading the project and of the store.
pub fn refresh(engine: &Engine, call: &Call<'_>) -> Result<Changes, Error> {
    let place = Place::required(engine, call)?;
    authority::authorise(engine, call, Action::Remember, Layer::P5, "")?;
    loop {
        // Who follows in the background may be at it for long, and the caller may leave meanwhile.
        let pause = match engine.files().try_pass() {
            Some(_pass) => match Pass::new(engine, call, &place).run(usize::MAX)? {
                Outcome::Done(changes) => {
                    clear_up(engine, call, &changes)?;
                    return Ok(changes);
                }
                Outcome::Busy => AGAIN,
            },
            None => MOMENT,
        };
        engine.control(call).check()?;
        thread::sleep(pause);
    }
}

/// Sees to it that what a call is about to read is what the files say, as far as that takes no time: a few changes are
/// indexed at once; many are left to whoever follows the files in the background, or indexed now where nobody does. A first
/// call waits a little for what describes the project, and for all of it where that is little.
///
/// # Errors
/// `Cancelled`, and those of reading the project and of the store.
pub fn attend(engine: &Engine, call: &Call<'_>) -> Result<(), Error> {
    layout::begin(engine, call);
    let state = engine.files();
    let now = state.now();
    let runtime = &engine.settings().config.project.runtime;
    if !(runtime.auto_incremental_sync && (runtime.auto_bootstrap || now.phase == Phase::Idle)) {
        return Ok(());
    }
    if now.is_followed && (now.phase < Phase::Rest || is_soon_done(&now)) {
        let enough = |now: &Now| now.phase >= Phase::Rest && !is_soon_done(now);
        state.wait(PATIENCE, |now| enough(now) || now.failure.is_some());
        return Ok(());
    }
    let is_at_work = now.is_followed && now.phase == Phase::Rest;
    let fresh = match () {
        () if now.look_took <= QUICK => Duration::ZERO,
        () => (now.look_took * 10).max(Duration::from_millis(250)),
    };
    // What was checked out meanwhile is seen at once, however long a look takes, and so is what people wrote for the
    // project: whether that is trusted is judged by what it says now.
    let is_other = || {
        let root = engine.settings().project_root.as_deref().filter(|_| runtime.git_aware_sync);
        root.and_then(vcs::stamp) != now.stamp || human::stamp(engine) != now.written
    };
    let is_fresh = now.looked.is_some_and(|looked| looked.elapsed() < fresh) && !is_other();
    if is_at_work || is_fresh || !is_writable(engine, call)? {
        return Ok(());
    }
    let Some(place) = Place::of(engine, call)? else { return Ok(()) };
    let Some(_pass) = turn(engine, call)? else { return Ok(()) };
    let most = if now.is_followed { FEW } else { usize::MAX };
    // Who reads may not write: that the index follows the files is the system's doing.
    let system = Principal::new(PrincipalKind::System, "files").on_behalf_of(call.principal);
    let as_system = Call { principal: &system, ..*call };
    match Pass::new(engine, &as_system, &place).run(most)? {
        Outcome::Busy if now.is_followed => state.wake(),
        Outcome::Busy | Outcome::Done(_) => {}
    }
    Ok(())
}

/// Whether what is going on is so little that a call waits for all of it.
fn is_soon_done(now: &Now) -> bool {
    now.phase == Phase::Rest && now.done < now.total && now.total <= FEW as u64
}

/// The right to do a pass. What somebody else in this process is at is waited for, unless that takes long: it may have looked
/// before the file was written that the call is about.
fn turn<'e>(engine: &'e Engine, call: &Call<'_>) -> Result<Option<MutexGuard<'e, ()>>, Error> {
    let (state, until) = (engine.files(), Instant::now() + PATIENCE);
    loop {
        if let Some(pass) = state.try_pass() {
            return Ok(Some(pass));
        }
        let now = state.now();
        let takes_long = now.is_followed && now.phase == Phase::Rest && !is_soon_done(&now);
        if takes_long || Instant::now() >= until {
            return Ok(None);
        }
        engine.control(call).check()?;
        thread::sleep(MOMENT);
    }
}

/// Follows the files for as long as `cancel` is not raised: at once, then whenever a call finds more changes than it has time
/// for, and again and again where the settings say so, with pauses in proportion to what a look takes. `scope` tells where the project
/// is now. Nothing where the settings say that nothing is read by itself.
pub fn watch(engine: &Engine, cancel: &Cancel, scope: &dyn Fn() -> Scope) {
    let state = engine.files();
    let runtime = &engine.settings().config.project.runtime;
    if !runtime.auto_index_on_start {
        return;
    }
    let principal = Principal::new(PrincipalKind::System, "files");
    state.set(|now| now.is_followed = true);
    while !cancel.is_cancelled() {
        let call = Call {
            principal: &principal,
            scope: &scope(),
            face: Face::Library,
            deadline: Timestamp::MAX,
            cancel,
            progress: &|_, _| {},
            secret: None,
        };
        layout::begin(engine, &call);
        let failure = look(engine, &call).err().map(|error| format!("{error}; {}", error.hint()));
        state.set(|now| now.failure = failure);
        let now = state.now();
        let least = Duration::from_millis(runtime.watcher_debounce_ms.into());
        let pause = (now.look_took * PAUSE.0).min(PAUSE.1).max(least);
        // Where another process is at it, or something failed, there is more to do.
        let is_polled = runtime.optional_file_watcher || now.phase != Phase::Idle || now.failure.is_some();
        let until = is_polled.then(|| Instant::now() + pause);
        while !cancel.is_cancelled() && until.is_none_or(|until| Instant::now() < until) {
            let left =
                until.map_or(SLICE, |until| until.saturating_duration_since(Instant::now()).min(SLICE));
            if state.rest(left) {
                break;
            }
        }
    }
    state.set(|now| now.is_followed = false);
}

/// Lets [`watch`] look now, or see that it is to end.
pub fn wake(engine: &Engine) {
    engine.files().wake();
}

fn look(engine: &Engine, call: &Call<'_>) -> Result<(), Error> {
    let state = engine.files();
    let place = if is_writable(engine, call)? { Place::of(engine, call)? } else { None };
    let Some(place) = place else {
        state.set(|now| now.phase = Phase::Idle);
        return Ok(());
    };
    let _pass = state.pass();
    match Pass::new(engine, call, &place).run(usize::MAX)? {
        Outcome::Busy => {
            state.set(|now| now.phase = Phase::Rest);
            Ok(())
        }
        Outcome::Done(changes) => clear_up(engine, call, &changes),
    }
}

/// Files that changed or went leave dead passages behind; once most of the index is dead, it is made anew.
fn clear_up(engine: &Engine, call: &Call<'_>, changes: &Changes) -> Result<(), Error> {
    if changes.changed + changes.deleted > 0 { renew(engine, call) } else { Ok(()) }
}

fn is_writable(engine: &Engine, call: &Call<'_>) -> Result<bool, Error> {
    if !engine.is_initialised()? {
        return Ok(true);
    }
    Ok(matches!(engine.existing_ledger()?.access(&engine.control(call))?, Access::ReadWrite))
}
