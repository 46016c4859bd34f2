//! The handle to one database, whichever driver is behind it.

use std::{path::Path, sync::Arc};

use crate::{
    copying::{self, Present},
    error::StoreError,
    faults::FaultPlan,
    files::explain_io,
    migrate::{Applied, Schema},
    place::Place,
    postgres,
    sql::{Control, Transaction},
    sqlite,
};

/// When a database file comes into being.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    /// Only by [`Database::create`]; a write before that is [`StoreError::NotInitialized`].
    OnRequest,
    /// By the first write.
    OnFirstWrite,
}

/// How a database is opened.
#[derive(Debug, Clone)]
pub struct DatabaseOptions {
    /// Where it lies.
    pub place: Place,
    /// What is in it.
    pub schema: Schema,
    /// When the file comes into being.
    pub creation: Creation,
    /// Scripted failures; [`FaultPlan::none`] outside tests.
    pub faults: FaultPlan,
}

pub use crate::postgres::Isolation;
pub(crate) use crate::postgres::SessionLock as TenantLock;
pub use crate::postgres::{Beside, Rewrite};

/// Whether a database can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Nothing is stored there yet.
    Absent,
    /// It can be read and written.
    ReadWrite,
    /// It can only be read, for this reason.
    ReadOnly(String),
}

/// A handle to one database; clones share its connections. Making one touches nothing: the file is
/// opened by the first job.
#[derive(Clone)]
pub struct Database {
    driver: Driver,
    place: Arc<Place>,
}

#[derive(Clone)]
enum Driver {
    Sqlite(sqlite::Store),
    Postgres(postgres::Store),
}

/// Hands a call on to whichever driver it is.
macro_rules! either {
    ($database:expr, $store:ident => $call:expr) => {
        match &$database.driver {
            Driver::Sqlite($store) => $call,
            Driver::Postgres($store) => $call,
        }
    };
}

impl Database {
    /// A handle to the database described by `options`.
    pub fn new(options: DatabaseOptions) -> Self {
        let place = Arc::new(options.place.clone());
        let driver = match options.place.clone() {
            Place::File(path) => Driver::Sqlite(sqlite::Store::new(path, options)),
            Place::Server { server, namespace } => {
                Driver::Postgres(postgres::Store::new(server, namespace, options))
            }
        };
        Self { driver, place }
    }

    /// Where it lies.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The database file, or the server without any password: for messages. A file's path is that of
    /// [`Place::file`].
    pub fn path(&self) -> &Path {
        self.place.shown()
    }

    /// Whose rows are read and written.
    pub fn tenant(&self) -> &str {
        self.place.tenant()
    }

    /// Whether the database exists. It appears whole: schema, and the rows it was created with.
    ///
    /// # Errors
    /// Those of connecting to a server.
    pub fn exists(&self, control: &Control) -> Result<bool, StoreError> {
        match &self.driver {
            Driver::Sqlite(store) => Ok(store.exists()),
            Driver::Postgres(store) => store.exists(control),
        }
    }

    /// Makes the database if it is missing and brings its schema up to date.
    pub fn create(&self, control: &Control) -> Result<(), StoreError> {
        either!(self, store => store.create(control, &|_| Ok(())).map(drop))
    }

    /// Makes the database if it is missing, with what `seed` writes. Many processes may do so at
    /// once; the first one's seed counts. Returns whether this call made it.
    pub fn create_with(
        &self,
        control: &Control,
        seed: &dyn Fn(&Transaction<'_>) -> Result<(), StoreError>,
    ) -> Result<bool, StoreError> {
        either!(self, store => store.create(control, seed))
    }

    /// Whether there are tables for a tenant to come into: always so in a file, which has no other tenant.
    ///
    /// # Errors
    /// Those of connecting to a server.
    pub fn is_made(&self, control: &Control) -> Result<bool, StoreError> {
        match &self.driver {
            Driver::Sqlite(_) => Ok(true),
            Driver::Postgres(store) => store.is_made(control),
        }
    }

    /// Whether a role of the server can be let in by [`Self::admit`]. Changes nothing.
    ///
    /// # Errors
    /// [`StoreError::UnfitRole`]; [`StoreError::Invalid`] for a file.
    pub fn check_role(&self, control: &Control, role: &str) -> Result<(), StoreError> {
        match &self.driver {
            Driver::Sqlite(_) => Err(StoreError::Invalid("a file has no roles".into())),
            Driver::Postgres(store) => store.check_role(control, role),
        }
    }

    /// Lets another role of the server read and write every tenant's rows, each under its tenant's name, but not
    /// change the schema. The schema is made if it is missing.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] for a file; [`StoreError::AwaitsOwner`] when this role is not the schema's owner.
    pub fn admit(&self, control: &Control, role: &str) -> Result<(), StoreError> {
        match &self.driver {
            Driver::Sqlite(_) => Err(StoreError::Invalid("a file has no roles".into())),
            Driver::Postgres(store) => store.admit(control, role),
        }
    }

    /// Takes the lock called `name` of the tenant's rows on a server, or answers `None` when somebody has it. A
    /// file has no such locks.
    pub(crate) fn try_lock(
        &self,
        control: &Control,
        name: &str,
    ) -> Result<Option<TenantLock<'_>>, StoreError> {
        match &self.driver {
            Driver::Sqlite(_) => Err(StoreError::Internal("files are locked beside the database".into())),
            Driver::Postgres(store) => store.try_lock(control, name),
        }
    }

    /// Which tables of a server hold, in one of the tenant's rows, bytes that `holds` knows, and how many tables were
    /// searched. A file has no such rows: its bytes are searched.
    pub fn tables_holding(
        &self,
        control: &Control,
        holds: &dyn Fn(&[u8]) -> bool,
    ) -> Result<(Vec<String>, usize), StoreError> {
        match &self.driver {
            Driver::Sqlite(_) => Ok((Vec::new(), 0)),
            Driver::Postgres(store) => store.tables_holding(control, holds),
        }
    }

    /// Opens the database and says what can be done with it.
    pub fn access(&self, control: &Control) -> Result<Access, StoreError> {
        either!(self, store => store.access(control))
    }

    /// The migrations that were applied, oldest first.
    pub fn applied(&self, control: &Control) -> Result<Vec<Applied>, StoreError> {
        self.read(control, crate::migrate::applied)
    }

    /// Runs `job` inside one write transaction and commits it.
    ///
    /// The write lock is taken first. While others hold it the job waits, up to the patience of
    /// `control`. An error rolls everything back. A job may be run again if the database was busy
    /// half-way, so it must not keep effects outside the transaction from a failed run.
    pub fn write<T>(
        &self,
        control: &Control,
        job: impl FnMut(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        either!(self, store => store.write(control, job))
    }

    /// Runs `job` against one snapshot on a read-only connection.
    pub fn read<T>(
        &self,
        control: &Control,
        job: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        either!(self, store => store.read(control, job))
    }

    /// A number that changes whenever any process has committed to the database.
    /// Comparable only between calls on handles that share connections.
    pub fn data_version(&self, control: &Control) -> Result<i64, StoreError> {
        either!(self, store => store.data_version(control))
    }

    /// Moves the write-ahead log into the database and empties it.
    pub fn checkpoint(&self, control: &Control) -> Result<(), StoreError> {
        either!(self, store => store.checkpoint(control))
    }

    /// Rewrites everything, so that no deleted byte remains; see [`Self::rewrite`].
    pub fn compact(&self, control: &Control) -> Result<Vec<String>, StoreError> {
        self.rewrite(control, Rewrite::Everything)
    }

    /// Rewrites what holds deleted bytes: a file as a whole, and empties its log; of a server the tables that `which` says, for as long as
    /// its other tenants may be made to wait. Returns the statements that the server's owner is left to run.
    pub fn rewrite(&self, control: &Control, which: Rewrite) -> Result<Vec<String>, StoreError> {
        match &self.driver {
            Driver::Sqlite(store) => store.compact(control).map(|()| Vec::new()),
            Driver::Postgres(store) => store.rewrite(control, which),
        }
    }

    /// Lets a server look at what many new rows hold, so that it goes on choosing the right indexes. A file needs none of
    /// that: what is asked of it does not depend on how much it holds.
    pub fn analyze(&self, control: &Control) -> Result<(), StoreError> {
        match &self.driver {
            Driver::Sqlite(_) => Ok(()),
            Driver::Postgres(store) => store.analyze(control),
        }
    }

    /// Checks the file's structure and returns what is wrong, nothing if all is well.
    /// The quick form skips the comparison of indexes with their tables.
    pub fn check(&self, control: &Control, quick: bool) -> Result<Vec<String>, StoreError> {
        either!(self, store => store.check(control, quick))
    }

    /// What keeps the tenants of a server apart, and what does not; none where nothing is made yet, and for a file,
    /// which has one tenant.
    pub fn isolation(&self, control: &Control) -> Result<Option<Isolation>, StoreError> {
        match &self.driver {
            Driver::Sqlite(_) => Ok(None),
            Driver::Postgres(store) => store.isolation(control),
        }
    }

    /// Copies a consistent state into the new file `target`, which must not exist.
    pub fn copy_to(&self, control: &Control, target: &Path) -> Result<(), StoreError> {
        match &self.driver {
            Driver::Sqlite(store) => store.copy_to(control, target),
            Driver::Postgres(store) => copying::to_file(self, store.schema(), control, target),
        }
    }

    /// Replaces everything in the database by what the database file `source` holds, in one
    /// transaction; the database is made if it is missing. Open handles of every process see it.
    pub fn restore_from(&self, control: &Control, source: &Path) -> Result<(), StoreError> {
        match &self.driver {
            Driver::Sqlite(store) => store.restore_from(control, source),
            Driver::Postgres(store) => {
                copying::from_file(self, store.schema(), control, source, Present::Replaced)
            }
        }
    }

    /// Puts what the database file `source` holds where nothing is yet, and leaves nothing there when that fails.
    pub(crate) fn fill_from(&self, control: &Control, source: &Path) -> Result<(), StoreError> {
        match &self.driver {
            // Of several processes one makes the file, so nobody else's is written over.
            Driver::Sqlite(store) if !store.create(control, &|_| Ok(()))? => Err(copying::occupied(self)),
            Driver::Sqlite(store) => {
                store.restore_from(control, source).inspect_err(|_| drop(self.discard(control)))
            }
            Driver::Postgres(store) => {
                copying::from_file(self, store.schema(), control, source, Present::Kept)
            }
        }
    }

    /// Removes a copy that [`Self::fill_from`] made and that turned out not to be one.
    pub(crate) fn discard(&self, control: &Control) -> Result<(), StoreError> {
        let Some(path) = self.place.file() else { return self.erase_tenant(control) };
        self.close();
        for suffix in ["-wal", "-shm", ""] {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            match std::fs::remove_file(&name) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(explain_io("remove", Path::new(&name), &error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Empties what is derived, on a server, also where tables of it are gone; see [`crate::index::Index::set_aside`].
    pub(crate) fn make_anew(&self, control: &Control) -> Result<(), StoreError> {
        match &self.driver {
            Driver::Sqlite(_) => self.erase_tenant(control),
            Driver::Postgres(store) => store.make_anew(control),
        }
    }

    /// Removes everything the tenant has on a server, as if it had never been there. For tenants that were made to
    /// measure something: nothing is recorded.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] for a file, which goes as a whole.
    pub fn erase_tenant(&self, control: &Control) -> Result<(), StoreError> {
        match &self.driver {
            Driver::Sqlite(_) => Err(StoreError::Invalid("a file has one tenant: remove the file".into())),
            Driver::Postgres(store) => store.erase_tenant(control),
        }
    }

    /// The driver of a server.
    pub(crate) const fn on_server(&self) -> Option<&crate::postgres::Store> {
        match &self.driver {
            Driver::Sqlite(_) => None,
            Driver::Postgres(store) => Some(store),
        }
    }

    /// Closes the idle connections; the next job opens the file anew.
    pub fn close(&self) {
        either!(self, store => store.close());
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Database").field(&self.place).finish()
    }
}
