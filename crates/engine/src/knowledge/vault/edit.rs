//! The one way in which files of the vault change.

use std::{sync::Arc, time::Duration};

use strata_core::{memory::Layer, policy::Action, principal::Principal, time::Timestamp};
use strata_store::{
    error::{Conflict, StoreError},
    files::Prepared,
    ledger::{LedgerWrite, NewAudit, NewGeneration, Origin, Seq, VaultChange, VaultHead},
};

use super::{Event, FileHead, MAX_FILE, ParsedFile, Place, held::Held};
use crate::{authority, engine::Engine, error::Error, knowledge::changelog, operation::Call};

/// How often an edit is made on what hands saved meanwhile; other writers wait for the file.
const TRIES: u64 = 5;
/// The same on a server, where writers do not wait for each other but make their edits anew.
const TRIES_ON_SERVER: u64 = 60;
/// The longest pause before the second try on a server, in milliseconds; it grows with each.
const PAUSE: u64 = 8;

/// Who asks for a change and by which right.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// What the policy is asked: `Remember` for new knowledge, `Update`, `Forget` for deletions, `Restore`.
    pub action: Action,
    /// The tool, as the changelog names it: `inject_knowledge`.
    pub tool: &'a str,
    /// Who asks, as they call themselves.
    pub agent_id: Option<&'a str>,
    /// What it rests on.
    pub source_ref: Option<&'a str>,
    /// Where the text comes from. A deletion is on record as one whatever this says.
    pub origin: Origin,
}

impl<'a> Change<'a> {
    /// An update by a tool.
    pub fn new(tool: &'a str) -> Self {
        Self { action: Action::Update, tool, agent_id: None, source_ref: None, origin: Origin::Tool }
    }
}

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Edited {
    /// Nothing. There is no event, no generation, no audit row.
    Keep,
    /// It shall hold this text, all of it. The text it holds already is the same as [`Edited::Keep`].
    Write(String, Event),
    /// It shall be gone.
    Delete(Event),
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Where it lies.
    pub place: Place,
    /// The file before; `None` when there was none.
    pub before: Option<FileHead>,
    /// The file now; `None` when there is none and never was one.
    pub after: Option<FileHead>,
    /// Its text now; `None` when there is none.
    pub text: Option<String>,
    /// The change on record; `None` when nothing changed.
    pub seq: Option<i64>,
    /// Why the index does not have the change yet; `None` when every search finds it there, words and vectors alike.
    pub unindexed: Option<String>,
}

impl Written {
    /// Whether anything changed.
    pub fn is_changed(&self) -> bool {
        self.seq.is_some()
    }
}

/// Changes one file. `f` is given its text (`None`: there is no file) while nobody else can write it, and says what
/// shall become of it; it is called again when somebody saved the file meanwhile, so it must have no effect but on what it
/// captures. What `f` puts into the text passed the gate before ([`super::admit`]). An error of `f` leaves everything
/// as it is.
///
/// # Errors
/// Refusals by the policy; what `f` returns; a file that cannot be read or written; a conflict when others keep changing it.
pub fn edit(
    engine: &Engine,
    call: &Call<'_>,
    place: &Place,
    change: &Change<'_>,
    f: &mut dyn FnMut(Option<&str>) -> Result<Edited, Error>,
) -> Result<Written, Error> {
    let mut one = |texts: &[Option<&str>]| Ok(vec![f(texts.first().copied().flatten())?]);
    let written = edit_all(engine, call, std::slice::from_ref(place), change, &mut one)?;
    written.into_iter().next().ok_or_else(|| Error::Internal("an edit of one file gave none".into()))
}

/// What makes texts of several files of what they hold.
pub type EditAll<'f> = dyn FnMut(&[Option<&str>]) -> Result<Vec<Edited>, Error> + 'f;

/// Changes several files in one transaction: all of them or none. `f` is given their texts in the order of `places`, and
/// gives as many answers.
///
/// # Errors
/// As for [`edit`]; an argument error when a place is named twice.
pub fn edit_all(
    engine: &Engine,
    call: &Call<'_>,
    places: &[Place],
    change: &Change<'_>,
    f: &mut EditAll<'_>,
) -> Result<Vec<Written>, Error> {
    let target = if let [place] = places { place.target() } else { String::new() };
    let actor = authority::authorise(engine, call, change.action, Layer::P5, &target)?;
    let on_server = engine.vault().disk().is_none();
    for attempt in 0..if on_server { TRIES_ON_SERVER } else { TRIES } {
        if on_server && attempt > 0 {
            pause(engine, call, attempt)?;
        }
        let held = take_all(engine, call, places)?;
        let texts: Vec<Option<&str>> = held.iter().map(|held| held.text.as_deref()).collect();
        let edits = f(&texts)?;
        if edits.len() != held.len() {
            return Err(Error::Internal("an edit gave another number of answers than files".into()));
        }
        let steps = held.into_iter().zip(edits).map(|(held, edited)| Step::new(engine, change, held, edited));
        let steps = steps.collect::<Result<Vec<_>, _>>()?;
        if let Some(mut written) = store(engine, call, &actor, change, steps)? {
            let unindexed = index(engine, call);
            if written.iter().any(Written::is_changed) {
                changelog::follow(engine, call);
            }
            let changed = written.iter_mut().filter(|written| written.is_changed());
            changed.for_each(|written| written.unindexed.clone_from(&unindexed));
            return Ok(written);
        }
    }
    Err(Error::Conflict {
        message: "others keep changing the file".into(),
        hint: "try again in a moment".into(),
    })
}

/// Brings the index up to what was stored, and says why it could not. The change stands whatever becomes of the index: the
/// next search catches up.
fn index(engine: &Engine, call: &Call<'_>) -> Option<String> {
    match engine.follow_truth(call) {
        Ok(caught_up) if caught_up.behind == 0 => None,
        Ok(caught_up) => {
            Some(format!("changes not indexed yet: {}; they are searched directly", caught_up.behind))
        }
        Err(error) => Some(error.to_string()),
    }
}

/// Puts on record what the changelog says of something beside the files, such as the index of them: each with its
/// audit row, all in one transaction. `about` are namespace and file.
///
/// # Errors
/// Refusals by the policy.
pub fn record(
    engine: &Engine,
    call: &Call<'_>,
    change: &Change<'_>,
    about: &[(Place, Event)],
) -> Result<(), Error> {
    record_where(engine, call, change, about, &|_, _| Ok(true))
}

/// Whether an event is still to be recorded.
type IsWanted<'a> = &'a dyn Fn(&LedgerWrite<'_>, &(Place, Event)) -> Result<bool, StoreError>;

/// The same of those that are still wanted when it is their turn: others may have recorded them meanwhile.
pub(crate) fn record_where(
    engine: &Engine,
    call: &Call<'_>,
    change: &Change<'_>,
    about: &[(Place, Event)],
    is_wanted: IsWanted<'_>,
) -> Result<(), Error> {
    if about.is_empty() {
        return Ok(());
    }
    let actor = authority::authorise(engine, call, change.action, Layer::P5, "")?;
    let rows: Vec<(&(Place, Event), VaultChange)> = about
        .iter()
        .map(|pair| Ok((pair, pair.1.row(engine, change, &pair.0)?)))
        .collect::<Result<_, Error>>()?;
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        for (pair, row) in &rows {
            if !is_wanted(w, pair)? {
                continue;
            }
            let (target, operation) = (pair.0.target(), pair.1.operation.as_str());
            let audit = NewAudit {
                layer: Some(Layer::P5),
                reason: &row.reason,
                ..NewAudit::new(&actor, call.face, operation, &target)
            };
            let seq = w.record(&audit)?;
            w.record_vault_change(row, 0, seq)?;
        }
        authority::seal(w, call, &actor)
    })?;
    changelog::follow(engine, call);
    Ok(())
}

/// The same of one event whose change `job` makes, in the same transaction. `after_hash` is what the audit keeps of it.
///
/// # Errors
/// Refusals by the policy; what `job` returns.
pub(crate) fn record_with(
    engine: &Engine,
    call: &Call<'_>,
    change: &Change<'_>,
    (place, event): &(Place, Event),
    after_hash: Option<[u8; 32]>,
    job: &dyn Fn(&LedgerWrite<'_>, Seq) -> Result<(), StoreError>,
) -> Result<(), Error> {
    let target = place.target();
    let actor = authority::authorise(engine, call, change.action, Layer::P5, &target)?;
    let row = event.row(engine, change, place)?;
    let audit = NewAudit {
        layer: Some(Layer::P5),
        reason: &row.reason,
        after_hash,
        ..NewAudit::new(&actor, call.face, event.operation.as_str(), &target)
    };
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        let seq = w.record(&audit)?;
        w.record_vault_change(&row, 0, seq)?;
        job(w, seq)?;
        authority::seal(w, call, &actor)
    })?;
    Ok(())
}

/// Lets others go first for a while that nobody else draws.
fn pause(engine: &Engine, call: &Call<'_>, attempt: u64) -> Result<(), Error> {
    engine.control(call).check()?;
    let longest = (PAUSE * attempt).min(100);
    std::thread::sleep(Duration::from_millis(engine.ids().bits() % longest + 1));
    Ok(())
}

/// Takes the files in one order, whoever asks, so that nobody waits for somebody who waits for them.
fn take_all(engine: &Engine, call: &Call<'_>, places: &[Place]) -> Result<Vec<Held>, Error> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    let key = |at: &usize| (&places[*at].namespace, &places[*at].path);
    order.sort_by(|a, b| key(a).cmp(&key(b)));
    if order.windows(2).any(|pair| key(&pair[0]) == key(&pair[1])) {
        return Err(Error::Internal("an edit names a file twice".into()));
    }
    let mut held: Vec<Option<Held>> = places.iter().map(|_| None).collect();
    for at in order {
        held[at] = Some(Held::take(engine, call, &places[at])?);
    }
    Ok(held.into_iter().flatten().collect())
}

/// A file and what shall become of it.
struct Step {
    held: Held,
    /// What shall be stored; `None`: nothing.
    wanted: Option<Wanted>,
}

struct Wanted {
    /// `None` deletes.
    text: Option<String>,
    event: Event,
    row: VaultChange,
    salt: [u8; 16],
    prepared: Option<Prepared>,
    /// Set when it is stored.
    stored: Option<(i64, i64, i64, Timestamp)>,
}

impl Step {
    fn new(engine: &Engine, change: &Change<'_>, held: Held, edited: Edited) -> Result<Self, Error> {
        let (text, event) = match edited {
            Edited::Keep => return Ok(Self { held, wanted: None }),
            Edited::Write(text, event) => (Some(text), event),
            Edited::Delete(event) => (None, event),
        };
        if text == held.text {
            return Ok(Self { held, wanted: None });
        }
        let size = text.as_ref().map_or(0, String::len);
        if size as u64 > MAX_FILE {
            let limit = usize::try_from(MAX_FILE).unwrap_or(usize::MAX);
            return Err(Error::TooLarge { field: held.place.path.to_string(), size, limit });
        }
        if held.head.is_none() && super::is_secret(&held.place.path) {
            return Err(Error::argument("domain", "holds a secret", "give the file another name"));
        }
        let row = event.row(engine, change, &held.place)?;
        let prepared = match (&held.file, &text) {
            (Some(file), Some(text)) => Some(file.prepare(text)?),
            _ => None,
        };
        let wanted = Wanted { text, event, row, salt: engine.ids().salt(), prepared, stored: None };
        Ok(Self { held, wanted: Some(wanted) })
    }
}

/// Stores the steps; `None` when somebody else was faster, and they must be made anew.
fn store(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    change: &Change<'_>,
    mut steps: Vec<Step>,
) -> Result<Option<Vec<Written>>, Error> {
    if steps.iter().all(|step| step.wanted.is_none()) {
        return finish(engine, steps).map(Some);
    }
    announce(engine, call, &steps)?;
    match commit(engine, call, actor, change, &mut steps) {
        Ok(()) => {}
        Err(StoreError::Conflict(Conflict::FileMoved { .. })) => {
            conclude(&steps);
            return Ok(None);
        }
        Err(error) => {
            // What the ledger says now decides, should the commit have been made all the same.
            return Err(error.into());
        }
    }
    let alone = steps.len() == 1;
    for step in &mut steps {
        match put(step) {
            Ok(()) => {}
            // Whoever opens the file next keeps what was saved and marks our generation: we, if it is the only file.
            Err(StoreError::Conflict(Conflict::FileMoved { .. })) if alone => return Ok(None),
            Err(error) => {
                fail(engine, call, actor, step, &error)?;
                return Err(error.into());
            }
        }
    }
    finish(engine, steps).map(Some)
}

/// Notes beside each file which generation it is about to get.
fn announce(engine: &Engine, call: &Call<'_>, steps: &[Step]) -> Result<(), Error> {
    for Step { held, wanted } in steps {
        if let (Some(file), Some(_)) = (&held.file, wanted) {
            let number = held.head.as_ref().map(|head| head.number);
            let next = engine.ledger(call)?.read(&engine.control(call), |r| r.next_generation(number))?;
            file.announce(next)?;
        }
    }
    Ok(())
}

fn conclude(steps: &[Step]) {
    for file in steps.iter().filter_map(|step| step.held.file.as_ref()) {
        // A note that stays does no harm: it names a generation that is not there.
        drop(file.conclude());
    }
}

fn commit(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    change: &Change<'_>,
    steps: &mut [Step],
) -> Result<(), StoreError> {
    let ledger = engine.ledger(call).map_err(|error| match error {
        Error::Store(error) => error,
        other => StoreError::Internal(other.to_string()),
    })?;
    ledger.write(&engine.control(call), engine.clock().now(), |w| {
        insert(w, call, actor, change, steps)?;
        authority::seal(w, call, actor)
    })
}

/// Stores the steps, each with its audit row and its line of the changelog, in a transaction that is going on.
fn insert(
    w: &LedgerWrite<'_>,
    call: &Call<'_>,
    actor: &Principal,
    change: &Change<'_>,
    steps: &mut [Step],
) -> Result<(), StoreError> {
    let writer = actor.to_string();
    for Step { held, wanted } in steps.iter_mut() {
        let Some(wanted) = wanted else { continue };
        let modified = wanted.prepared.as_ref().map_or(w.now(), Prepared::modified);
        let new = NewGeneration {
            namespace: held.place.namespace.as_str(),
            path: &held.place.path,
            from: held.generation(),
            origin: if wanted.text.is_none() { Origin::Delete } else { change.origin },
            writer: &writer,
            text: wanted.text.as_deref(),
            salt: wanted.salt,
            mtime: modified,
        };
        let target = held.place.target();
        let row = NewAudit {
            layer: Some(Layer::P5),
            reason: &wanted.row.reason,
            before_hash: held.head.as_ref().and_then(|head| head.hash),
            after_hash: new.hash(),
            ..NewAudit::new(actor, call.face, wanted.event.operation.as_str(), &target)
        };
        let seq = w.record(&row)?;
        let (number, generation) = w.insert_generation(&new, seq)?;
        w.record_vault_change(&VaultChange { number: Some(number), ..wanted.row.clone() }, 0, seq)?;
        wanted.stored = Some((number, generation, seq.get(), modified));
    }
    Ok(())
}

/// Files that are changed as a part of something larger, in its transaction: taken first, so that nobody changes them
/// meanwhile, stored inside it, put in place when it is over.
pub(crate) struct Joined<'c> {
    change: Change<'c>,
    held: Vec<Held>,
    steps: Vec<Step>,
}

impl<'c> Joined<'c> {
    /// Takes the files.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub(crate) fn take(
        engine: &Engine,
        call: &Call<'_>,
        places: &[Place],
        change: Change<'c>,
    ) -> Result<Self, Error> {
        Ok(Self { change, held: take_all(engine, call, places)?, steps: Vec::new() })
    }

    /// The files as rows of the ledger, in the order of the places.
    pub(crate) fn heads(&self) -> impl Iterator<Item = (&Place, Option<&VaultHead>)> {
        self.held.iter().map(|held| (&held.place, held.head.as_ref()))
    }

    /// Says what shall become of each, in the same order.
    ///
    /// # Errors
    /// A text is too large, or the disk refuses it.
    pub(crate) fn decide(
        &mut self,
        engine: &Engine,
        call: &Call<'_>,
        edits: Vec<Edited>,
    ) -> Result<(), Error> {
        let held = std::mem::take(&mut self.held);
        let change = &self.change;
        self.steps = held
            .into_iter()
            .zip(edits)
            .map(|(held, edited)| Step::new(engine, change, held, edited))
            .collect::<Result<_, _>>()?;
        announce(engine, call, &self.steps)
    }

    /// Stores what was decided.
    pub(crate) fn store(
        &mut self,
        w: &LedgerWrite<'_>,
        call: &Call<'_>,
        actor: &Principal,
    ) -> Result<(), StoreError> {
        insert(w, call, actor, &self.change, &mut self.steps)
    }

    /// Brings the files to what was stored, once the transaction is committed.
    ///
    /// # Errors
    /// The first that could not be brought there; that is on record.
    pub(crate) fn finish(mut self, engine: &Engine, call: &Call<'_>, actor: &Principal) -> Result<(), Error> {
        let mut failed = None;
        for step in &mut self.steps {
            if let Err(error) = put(step) {
                fail(engine, call, actor, step, &error)?;
                failed = failed.or(Some(error));
            }
        }
        failed.map_or(Ok(()), |error| Err(error.into()))
    }
}

/// Brings the file to what was stored.
fn put(step: &mut Step) -> Result<(), StoreError> {
    let (Some(file), Some(wanted)) = (&mut step.held.file, &mut step.wanted) else { return Ok(()) };
    match (&wanted.text, wanted.prepared.take()) {
        (Some(text), Some(prepared)) => file.put(prepared, text)?,
        (Some(text), None) => file.replace(text)?,
        (None, _) => file.remove()?,
    }
    // The change is made; a note that stays is read together with the file.
    drop(file.conclude());
    Ok(())
}

/// Puts on record that a file could not be brought to what was stored.
fn fail(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    step: &Step,
    error: &StoreError,
) -> Result<(), Error> {
    let Some((number, generation, _, _)) = step.wanted.as_ref().and_then(|wanted| wanted.stored) else {
        return Ok(());
    };
    let (target, reason) = (step.held.place.target(), error.to_string());
    let row = NewAudit {
        layer: Some(Layer::P5),
        reason: &reason,
        ..NewAudit::new(actor, call.face, "vault_failed", &target)
    };
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        let seq = w.record(&row)?;
        w.fail_generation(number, generation, seq)
    })?;
    conclude(std::slice::from_ref(step));
    Ok(())
}

fn finish(engine: &Engine, steps: Vec<Step>) -> Result<Vec<Written>, Error> {
    let written = steps.into_iter().map(Step::written).collect::<Result<Vec<_>, _>>()?;
    for one in written.iter().filter(|one| one.is_changed()) {
        if let (Some(head), Some(text)) = (&one.after, &one.text) {
            engine.vault().keep(head, &Arc::new(ParsedFile::new(text.clone())));
        }
    }
    Ok(written)
}

impl Step {
    fn written(self) -> Result<Written, Error> {
        let Self { held, wanted } = self;
        let before = held.head.as_ref().map(FileHead::of).transpose()?;
        let stored = wanted.and_then(|wanted| Some((wanted.stored?, wanted.text, wanted.salt)));
        let Some(((number, generation, seq, mtime), text, salt)) = stored else {
            return Ok(Written {
                place: held.place,
                after: before.clone(),
                before,
                text: held.text,
                seq: None,
                unindexed: None,
            });
        };
        let head = VaultHead {
            number,
            namespace: held.place.namespace.to_string(),
            path: held.place.path.to_string(),
            generation,
            size: i64::try_from(text.as_ref().map_or(0, String::len)).unwrap_or(i64::MAX),
            mtime,
            hash: text.as_ref().map(|text| strata_store::ledger::vault_hash(&salt, text.as_bytes())),
            salt: text.as_ref().map(|_| salt),
            seq,
        };
        let place = Place { exists: text.is_some(), ..held.place };
        let before = before.filter(|head| head.hash.is_some());
        let after = Some(FileHead::of(&head)?);
        Ok(Written { place, before, after, text, seq: Some(seq), unindexed: None })
    }
}
