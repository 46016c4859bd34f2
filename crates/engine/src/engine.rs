//! The engine: one home, opened when first needed.

use std::{
    path::Path,
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use strata_core::{duplicate::Readings, route::Router, time::Timestamp, vocabulary::Vocabulary};
use strata_embed::Embedder;
use strata_store::{
    error::StoreError,
    faults::FaultPlan,
    files::make_private_directory,
    index::CaughtUp,
    ledger::{AccessRow, Birth, Ledger, LedgerRead},
    sql::Control,
};

use crate::{
    authority::hexadecimal,
    clock::{Clock, IdSource, SystemClock, SystemIds},
    error::Error,
    job,
    judge::{self, Judge},
    knowledge::{access, l0, routing::words::Words, vault::VaultState, vectors},
    operation::Call,
    project::{branches, files, identity, retrieve},
    searcher::Searcher,
    settings::Settings,
    usage::{Batch, Uses},
};

/// How long a read or write works on the index before it goes on with what there is.
const FOLLOW_BUDGET: Duration = Duration::from_millis(100);

/// How long closing an engine waits to write down what was used.
const CLOSING: Duration = Duration::from_millis(250);

/// One home and what it takes to work on it. Cheap to make: no file is touched until a call needs it.
pub struct Engine {
    settings: Settings,
    clock: Box<dyn Clock>,
    ids: Box<dyn IdSource>,
    ledger: Ledger,
    searcher: Searcher,
    uses: Uses,
    accesses: access::Waiting,
    index_entries: l0::Kept,
    section_vectors: vectors::Kept,
    readings: Readings,
    vault: VaultState,
    packs: retrieve::Kept,
    uncommitted: retrieve::Looked,
    files: files::state::State,
    judge: OnceLock<Option<Box<dyn Judge>>>,
    words: OnceLock<Words>,
    branches: branches::Kept,
    made: AtomicBool,
    home_made: OnceLock<()>,
    born: OnceLock<()>,
    fresh_salt: OnceLock<[u8; 16]>,
    seen_project: Mutex<identity::Seen>,
    unended: job::Unended,
    jobs_cleared: OnceLock<()>,
}

impl Engine {
    /// An engine on the machine's clock and random generator.
    pub fn new(settings: Settings) -> Self {
        Self::with_sources(settings, Box::new(SystemClock), Box::new(SystemIds))
    }

    /// An engine on given sources of time and randomness.
    pub fn with_sources(settings: Settings, clock: Box<dyn Clock>, ids: Box<dyn IdSource>) -> Self {
        Self::with_faults(settings, clock, ids, &FaultPlan::default())
    }

    /// An engine whose store fails where `faults` say so, for tests.
    pub fn with_faults(
        settings: Settings,
        clock: Box<dyn Clock>,
        ids: Box<dyn IdSource>,
        faults: &FaultPlan,
    ) -> Self {
        let ledger = match &settings.store {
            None => Ledger::new(&settings.home, faults.clone()),
            Some(server) => Ledger::on_server(server.clone(), faults.clone()),
        };
        let searcher = Searcher::new(&settings, faults.clone());
        let vault = VaultState::new(&settings, faults);
        Self {
            settings,
            clock,
            ids,
            ledger,
            searcher,
            uses: Uses::default(),
            accesses: access::Waiting::default(),
            index_entries: l0::Kept::default(),
            section_vectors: vectors::Kept::default(),
            readings: Readings::default(),
            vault,
            packs: retrieve::Kept::default(),
            uncommitted: retrieve::Looked::default(),
            files: files::state::State::default(),
            judge: OnceLock::new(),
            words: OnceLock::new(),
            branches: branches::Kept::default(),
            made: AtomicBool::new(false),
            home_made: OnceLock::new(),
            born: OnceLock::new(),
            fresh_salt: OnceLock::new(),
            seen_project: Mutex::default(),
            unended: job::Unended::default(),
            jobs_cleared: OnceLock::new(),
        }
    }

    /// The same engine, embedding with `model` instead of the one that is configured.
    #[must_use]
    pub fn with_embedder(mut self, model: Box<dyn Embedder>) -> Self {
        self.searcher.embed_with(model);
        self
    }

    /// What the face told us.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The directory of the store.
    pub fn home(&self) -> &Path {
        &self.settings.home
    }

    /// The clock.
    pub fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// The source of random bits.
    pub fn ids(&self) -> &dyn IdSource {
        &*self.ids
    }

    /// The ledger, made now if this is the home's first use. What is asked for it is about to be written in a project
    /// whose directory we are in, so what that is recognised by is noted. The first time, jobs that dead processes left
    /// open are ended.
    pub fn ledger(&self, call: &Call<'_>) -> Result<&Ledger, Error> {
        let ledger = self.opened(call)?;
        identity::note(self, call);
        if self.jobs_cleared.set(()).is_ok() {
            // Nothing depends on it: whoever starts the next job does it, too.
            drop(job::clear(self, &self.control(call).ending_in(CLOSING)));
        }
        Ok(ledger)
    }

    /// Ends of jobs that this process has still to put down.
    pub(crate) fn unended(&self) -> &job::Unended {
        &self.unended
    }

    fn opened(&self, call: &Call<'_>) -> Result<&Ledger, Error> {
        if !self.is_initialised()? {
            self.initialise(call)?;
        }
        self.make_home()?;
        Ok(&self.ledger)
    }

    /// What is known of the project in whose directory we are.
    pub(crate) fn seen_project(&self) -> MutexGuard<'_, identity::Seen> {
        self.seen_project.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ledger as it is, for calls that must create nothing.
    pub fn existing_ledger(&self) -> Result<&Ledger, Error> {
        if self.is_initialised()? {
            return Ok(&self.ledger);
        }
        Err(Error::NotInitialized { home: self.place() })
    }

    /// The ledger whether it is there or not, for a move that puts one there.
    pub(crate) fn store(&self) -> &Ledger {
        &self.ledger
    }

    /// Runs `job` against one snapshot of the ledger, for calls that must create nothing and have an answer all the
    /// same: what a home that is not there holds is the default.
    ///
    /// # Errors
    /// Those of the store.
    pub fn read<T: Default>(
        &self,
        call: &Call<'_>,
        job: impl FnOnce(&LedgerRead<'_>) -> Result<T, StoreError>,
    ) -> Result<T, Error> {
        if !self.is_initialised()? {
            self.is_empty_place(call)?;
            return Ok(T::default());
        }
        Ok(self.ledger.read(&self.control(call), job)?)
    }

    /// Whether the store holds a ledger of this tenant.
    ///
    /// # Errors
    /// Those of connecting to a server, and that what is there is half a copy.
    pub fn is_initialised(&self) -> Result<bool, Error> {
        let control = Control::default();
        if !self.ledger.database().exists(&control)? {
            return Ok(false);
        }
        if self.born.get().is_none() {
            match self.ledger.read(&control, |r| r.is_born()) {
                Ok(true) => drop(self.born.set(())),
                Ok(false) => {
                    let path = self.ledger.database().path().to_path_buf();
                    return Err(StoreError::CutOff { path }.into());
                }
                // It is there, and whoever reads it hears what is wrong with it.
                Err(
                    StoreError::Corrupt { .. }
                    | StoreError::Foreign { .. }
                    | StoreError::Newer { .. }
                    | StoreError::MigrationChanged { .. }
                    | StoreError::ReadOnly { .. },
                ) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// That nothing is stored is an answer where something can be: not on a server that nobody has set up, where it
    /// may be the wrong database as well.
    ///
    /// # Errors
    /// `NotInitialized` there, and those of connecting.
    pub(crate) fn is_empty_place(&self, call: &Call<'_>) -> Result<(), Error> {
        if self.ledger.database().is_made(&self.control(call))? {
            return Ok(());
        }
        Err(Error::NotInitialized { home: self.place() })
    }

    /// The salt for a passphrase that is not set yet; the same for as long as this engine lives.
    pub(crate) fn fresh_salt(&self) -> [u8; 16] {
        *self.fresh_salt.get_or_init(|| {
            let mut salt = [0; 16];
            self.ids.fill(&mut salt);
            salt
        })
    }

    /// The same, if one was asked for.
    pub(crate) fn drawn_salt(&self) -> Option<[u8; 16]> {
        self.fresh_salt.get().copied()
    }

    /// Where the store is, for people: the home, or the server's user, host and database.
    pub fn place(&self) -> String {
        match &self.settings.store {
            None => self.home().display().to_string(),
            Some(server) => server.to_string(),
        }
    }

    /// Whose memory it is; a home has one tenant only.
    pub fn tenant(&self) -> &str {
        self.ledger.tenant()
    }

    /// Whether this engine made the ledger.
    pub fn has_made_ledger(&self) -> bool {
        self.made.load(Ordering::Relaxed)
    }

    /// A store in the home makes it; one on a server leaves it to us, for the files that lie beside it.
    fn make_home(&self) -> Result<(), Error> {
        if self.settings.store.is_some() && self.home_made.get().is_none() {
            make_private_directory(self.home())?;
            self.home_made.get_or_init(|| ());
        }
        Ok(())
    }

    /// Makes the ledger unless it is there; tells whether this call made it.
    pub fn initialise(&self, call: &Call<'_>) -> Result<bool, Error> {
        let mut store_key = [0; 32];
        self.ids.fill(&mut store_key);
        let mut epoch = [0; 8];
        self.ids.fill(&mut epoch);
        let birth = Birth { epoch: hexadecimal(&epoch), store_key, at: self.clock.now() };
        let made = self.ledger.initialise(&self.control(call), &birth)?;
        self.made.fetch_or(made, Ordering::Relaxed);
        self.make_home()?;
        Ok(made)
    }

    /// Who may be asked for advice; `None` unless configured. Nobody is asked by this.
    ///
    /// # Errors
    /// `Argument` when the settings name a judge that cannot be made.
    pub fn judge(&self) -> Result<Option<&dyn Judge>, Error> {
        if self.judge.get().is_none() {
            // Of two threads that come first both make one; the second's is dropped.
            drop(self.judge.set(judge::configured(&self.settings)?));
        }
        Ok(self.judge.get().and_then(|judge| judge.as_deref()))
    }

    /// The same engine with this judge, whatever the settings say.
    pub fn with_judge(mut self, judge: Box<dyn Judge>) -> Self {
        self.judge = OnceLock::from(Some(judge));
        self
    }

    /// The router and the scan for states, with the words of the configuration.
    pub(crate) fn words(&self) -> &Words {
        self.words.get_or_init(|| Words::new(&self.settings.config))
    }

    /// What finds statements that are open or resolved, with the words of the configuration: for
    /// [`strata_core::knowledge::state::scan`].
    pub fn states(&self) -> (&Router, &Vocabulary) {
        let words = self.words();
        (&words.states, &words.state_words)
    }

    /// What the last look at the repository found.
    pub(crate) fn branches(&self) -> &branches::Kept {
        &self.branches
    }

    /// Search.
    pub fn searcher(&self) -> &Searcher {
        &self.searcher
    }

    /// What the store needs to know of a call: its cancel flag and how long it may take.
    pub fn control(&self, call: &Call<'_>) -> Control {
        let control = Control::with_cancel(call.cancel);
        if call.deadline == Timestamp::MAX {
            return control;
        }
        let left = call.deadline.0.saturating_sub(self.clock.now().0);
        control.ending_in(Duration::from_micros(u64::try_from(left).unwrap_or(0)))
    }

    /// Brings the index up to the ledger within a small budget; what remains takes part in searches all
    /// the same.
    pub fn follow_truth(&self, call: &Call<'_>) -> Result<CaughtUp, Error> {
        self.follow_truth_for(call, FOLLOW_BUDGET)
    }

    /// The same behind a change that is stored already. The change stands whatever becomes of the index:
    /// the next search catches up, and says so when it cannot.
    pub fn index_what_was_stored(&self, call: &Call<'_>) {
        drop(self.follow_truth(call));
    }

    /// The same with a budget of the caller's.
    pub fn follow_truth_for(&self, call: &Call<'_>, budget: Duration) -> Result<CaughtUp, Error> {
        self.searcher.follow(self.opened(call)?, &self.control(call), budget, self.clock.now())
    }

    /// Counts uses of memories, as (number, times); see [`crate::usage`].
    pub fn note_usage(&self, call: &Call<'_>, recalled: &[(i64, i64)], inspected: &[(i64, i64)]) {
        if self.uses.add(recalled, inspected) {
            self.write_down(&self.uses.take(), &self.control(call));
        }
    }

    /// The files of the vault, and what is known of them.
    pub(crate) fn vault(&self) -> &VaultState {
        &self.vault
    }

    /// Answers to tasks that were given before.
    pub(crate) fn packs(&self) -> &retrieve::Kept {
        &self.packs
    }

    /// What was last seen of changes that are not committed.
    pub(crate) fn uncommitted(&self) -> &retrieve::Looked {
        &self.uncommitted
    }

    /// The files of the project, and how far they are followed.
    pub(crate) fn files(&self) -> &files::state::State {
        &self.files
    }

    /// Uses that the ledger does not know of yet.
    pub fn uses(&self) -> &Uses {
        &self.uses
    }

    /// Notes accesses to knowledge; see [`access`].
    pub(crate) fn note_accesses(&self, rows: Vec<AccessRow>) {
        if self.accesses.add(rows) {
            self.write_down_accesses(access::PATIENCE);
        }
    }

    /// Writes down the accesses that wait. What the ledger does not take within `patience` waits on.
    pub(crate) fn write_down_accesses(&self, patience: Duration) {
        let rows = self.accesses.take();
        if rows.is_empty() {
            return;
        }
        let control = Control::default().ending_in(patience);
        if self.ledger.write(&control, self.clock.now(), |w| w.add_accesses(&rows)).is_err() {
            self.accesses.give_back(rows);
        }
    }

    /// Entries of the index of knowledge that were read.
    pub(crate) fn index_entries(&self) -> &l0::Kept {
        &self.index_entries
    }

    /// Sections that were compared with others lately.
    pub(crate) fn readings(&self) -> &Readings {
        &self.readings
    }

    /// Vectors of sections of knowledge.
    pub(crate) fn section_vectors(&self) -> &vectors::Kept {
        &self.section_vectors
    }

    /// Accesses that the ledger does not know of yet.
    pub(crate) fn accesses(&self) -> &access::Waiting {
        &self.accesses
    }

    /// Statistics only: a failure is passed over.
    fn write_down(&self, batch: &Batch, control: &Control) {
        let (recalled, inspected) = (batch.recalled(), batch.inspected());
        let written = self.ledger.write(control, self.clock.now(), |w| w.count_usage(&recalled, &inspected));
        drop(written);
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let batch = self.uses.take();
        if !batch.is_empty() {
            self.write_down(&batch, &Control::default().ending_in(CLOSING));
        }
        self.write_down_accesses(access::PATIENCE);
        if !self.unended.is_empty() {
            drop(job::clear(self, &Control::default().ending_in(CLOSING)));
        }
    }
}
