//! The one way in which files of the vault change.

use std::time::Duration;

use strata_core::{memory::Layer, policy::Action};
use strata_store::ledger::Origin;

use super::{
    Event, FileHead, Place,
    following::follow,
    held::Held,
    store::{Step, store},
};
use crate::{authority, engine::Engine, error::Error, operation::Call};

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
    let mut written = [edit_alone(engine, call, place, change, f)?];
    follow(engine, call, &mut written, |_| ())?;
    let [written] = written;
    Ok(written)
}

/// The same, and nothing follows: the caller is to call [`follow`] before it answers, for the change is not safe from
/// power loss and is in no index.
pub(crate) fn edit_alone(
    engine: &Engine,
    call: &Call<'_>,
    place: &Place,
    change: &Change<'_>,
    f: &mut dyn FnMut(Option<&str>) -> Result<Edited, Error>,
) -> Result<Written, Error> {
    let mut one = |texts: &[Option<&str>]| Ok(vec![f(texts.first().copied().flatten())?]);
    let written = store_all(engine, call, std::slice::from_ref(place), change, &mut one)?;
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
    let mut written = store_all(engine, call, places, change, f)?;
    follow(engine, call, &mut written, |_| ())?;
    Ok(written)
}

fn store_all(
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
        let alone = held.len() == 1;
        let steps =
            held.into_iter().zip(edits).map(|(held, edited)| Step::new(engine, change, held, edited, alone));
        let steps = steps.collect::<Result<Vec<_>, _>>()?;
        if let Some(written) = store(engine, call, &actor, change, steps)? {
            return Ok(written);
        }
    }
    Err(Error::Conflict {
        message: "others keep changing the file".into(),
        hint: "try again in a moment".into(),
    })
}

/// Lets others go first for a while that nobody else draws.
fn pause(engine: &Engine, call: &Call<'_>, attempt: u64) -> Result<(), Error> {
    engine.control(call).check()?;
    let longest = (PAUSE * attempt).min(100);
    std::thread::sleep(Duration::from_millis(engine.ids().bits() % longest + 1));
    Ok(())
}

/// Takes the files in one order, whoever asks, so that nobody waits for somebody who waits for them.
pub(super) fn take_all(engine: &Engine, call: &Call<'_>, places: &[Place]) -> Result<Vec<Held>, Error> {
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
