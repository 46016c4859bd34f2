//! SQLite behind the seam: one writer and up to four read-only readers per process, write-ahead log.

mod create;
mod errors;
mod foreign;
mod network;
mod open;
mod session;
mod turn;
mod upkeep;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

pub(crate) use create::Seed;
pub(crate) use foreign::Foreign;
pub(crate) use network::refuse_network;
pub(crate) use open::beside;
pub(crate) use session::{Row, Session};

use crate::{
    error::StoreError,
    faults::FaultPoint,
    pool::{Lendable, Pool},
    retry::patiently,
    sql::{Access, Control, DatabaseOptions, Transaction},
};
use open::{Connection, FileIdentity};
use turn::Turn;

const READERS: usize = 4;

/// The connections of one process to one database file.
#[derive(Clone)]
pub(crate) struct Store(Arc<Inner>);

struct Inner {
    path: PathBuf,
    options: DatabaseOptions,
    writer: Pool<Connection>,
    readers: Pool<Connection>,
    /// Sees the commits of every process, this one's included; never writes.
    watcher: Mutex<Option<Connection>>,
    /// What the connections above are open on, and how often that changed.
    current: Mutex<Current>,
}

#[derive(Default)]
struct Current {
    identity: Option<FileIdentity>,
    generation: i64,
    read_only: Option<String>,
}

impl Lendable for Connection {
    fn is_reusable(&self) -> bool {
        self.is_reusable()
    }
}

impl Store {
    pub(crate) fn new(path: PathBuf, options: DatabaseOptions) -> Self {
        Self(Arc::new(Inner {
            path,
            options,
            writer: Pool::new(1),
            readers: Pool::new(READERS),
            watcher: Mutex::new(None),
            current: Mutex::new(Current::default()),
        }))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    pub(crate) fn exists(&self) -> bool {
        open::is_present(self.path())
    }

    pub(crate) fn create(&self, control: &Control, seed: Seed<'_>) -> Result<bool, StoreError> {
        self.follow_file();
        create::create(self.path(), &self.0.options, control, seed)
    }

    pub(crate) fn access(&self, control: &Control) -> Result<Access, StoreError> {
        self.follow_file();
        if !self.exists() {
            return Ok(Access::Absent);
        }
        drop(self.0.readers.lease(control, || self.open_reader(control))?);
        match self.current().read_only.clone() {
            Some(reason) => Ok(Access::ReadOnly(reason)),
            None => Ok(open::writable(self.path()).map_or_else(Access::ReadOnly, |()| Access::ReadWrite)),
        }
    }

    pub(crate) fn write<T>(
        &self,
        control: &Control,
        mut job: impl FnMut(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        control.check()?;
        self.follow_file();
        let mut connection = self.0.writer.lease(control, || self.open_writer(control))?;
        let connection = connection.get()?;
        connection.watch(control)?;
        let mut turn = Turn::new(self.path());
        let outcome = patiently(control, || {
            if turn.has_come() {
                self.attempt(connection, control, &mut job)
            } else {
                Err(StoreError::Busy { waited: Duration::ZERO })
            }
        });
        connection.unwatch()?;
        outcome
    }

    /// One try of a write, from `BEGIN IMMEDIATE` to the commit.
    fn attempt<T>(
        &self,
        connection: &Connection,
        control: &Control,
        job: &mut impl FnMut(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let session = connection.session(control, &self.0.options.faults);
        self.fault(FaultPoint::Begin)?;
        session.begin_write()?;
        let may_write = connection.refuse_newer(&self.0.options);
        let outcome = may_write.and_then(|()| job(&Transaction::sqlite(&session))).and_then(|value| {
            self.fault(FaultPoint::BeforeCommit)?;
            session.commit()?;
            Ok(value)
        });
        if outcome.is_err() {
            session.roll_back();
        } else {
            self.fault(FaultPoint::AfterCommit)?;
        }
        outcome
    }

    pub(crate) fn read<T>(
        &self,
        control: &Control,
        job: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        control.check()?;
        self.follow_file();
        let mut connection = self.0.readers.lease(control, || self.open_reader(control))?;
        let connection = connection.get()?;
        connection.watch(control)?;
        let session = connection.session(control, &self.0.options.faults);
        patiently(control, || session.begin_read().inspect_err(|_| session.roll_back()))?;
        let outcome = job(&Transaction::sqlite(&session));
        session.roll_back();
        connection.unwatch()?;
        outcome
    }

    pub(crate) fn data_version(&self, control: &Control) -> Result<i64, StoreError> {
        self.follow_file();
        let mut watcher = self.0.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        if watcher.is_none() {
            *watcher = Some(self.open_reader(control)?);
        }
        let Some(connection) = watcher.as_mut() else {
            return Err(StoreError::Internal("the watching connection was not opened".into()));
        };
        let version = connection.session(control, &self.0.options.faults).data_version()?;
        drop(watcher);
        Ok((self.current().generation << 32) | version)
    }

    pub(crate) fn close(&self) {
        self.0.writer.clear();
        self.0.readers.clear();
        *self.0.watcher.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Lets go of connections to a file that was replaced or removed since they were opened.
    fn follow_file(&self) {
        let now = FileIdentity::of(self.path());
        let mut current = self.current();
        let same = match (&current.identity, &now) {
            (Some(before), Some(now)) => before.same_file(now),
            (None, None) => true,
            _ => false,
        };
        if same {
            return;
        }
        let had_one = current.identity.is_some();
        current.identity = now;
        current.generation += 1;
        current.read_only = None;
        drop(current);
        if had_one {
            self.close();
        }
    }

    fn open_writer(&self, control: &Control) -> Result<Connection, StoreError> {
        self.fault(FaultPoint::Open)?;
        let connection = open::writer(self.path(), &self.0.options, control)?;
        self.adopt_identity();
        Ok(connection)
    }

    fn open_reader(&self, control: &Control) -> Result<Connection, StoreError> {
        self.fault(FaultPoint::Open)?;
        let (connection, read_only) = open::reader(self.path(), &self.0.options, control)?;
        self.adopt_identity();
        self.current().read_only = read_only;
        Ok(connection)
    }

    /// Remembers the file when it came into being after the last look.
    fn adopt_identity(&self) {
        let mut current = self.current();
        if current.identity.is_none() {
            current.identity = FileIdentity::of(self.path());
        }
    }

    fn current(&self) -> std::sync::MutexGuard<'_, Current> {
        self.0.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fault(&self, point: FaultPoint) -> Result<(), StoreError> {
        self.0.options.faults.visit(point, self.path())
    }
}
