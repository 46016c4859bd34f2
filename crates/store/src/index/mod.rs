//! The derived index: passages, postings and vectors, rebuilt from the ledger at any time.
//!
//! Invariants:
//! - nothing here is truth: a file that is missing, damaged or of another format is replaced by following
//!   the ledger again, and gives the same rankings;
//! - whoever holds the index lock indexes everyone's changes; nobody waits for the lock;
//! - passages are immutable: a change ends the old ones at its sequence and adds new ones;
//! - what readers see changes in single transactions: a half-built segment is invisible;
//! - this module knows the ledger only as a [`TruthReader`] and the embedder only as a function.

mod attributes;
mod batches;
mod bits;
mod catch_up;
mod cleaning;
mod columns;
mod cut;
mod documents;
mod filter;
mod fold;
mod kept_parts;
mod labels;
mod lock;
mod merge;
mod merge_policy;
mod passage;
mod postings;
mod prepare;
mod purge;
mod renew;
mod schema;
mod search;
mod slice;
mod truth;
mod unchanged;
mod unused;
mod varint;
mod vector_block;
mod vector_set;
mod view;
mod views;
mod writer;

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use crate::{
    error::StoreError,
    faults::FaultPlan,
    migrate::{Durability, Migration, Schema},
    params,
    place::{Place, Server},
    sql::{Control, Creation, Database, DatabaseOptions, Transaction},
};

pub use self::{
    catch_up::{CaughtUp, MAX_PENDING},
    cut::cut,
    filter::Filter,
    kept_parts::KeptParts,
    passage::{Part, Passages, Prepared},
    prepare::{Embedded, Embedder, Preparer},
    schema::FORMAT,
    search::{Answer, Found, QueryVector, Request},
    truth::{
        Change, CollectionKey, Group, Mark, Section, Source, SourceKind, Standing, Subject, TruthReader,
        Turn, WINDOW,
    },
    unused::{ErasedBeside, KEEP_UNUSED},
    vector_block::PackedVector,
    vector_set::{MissingVector, VectorSet},
    writer::{Cursor, IndexWriter},
};

use self::{lock::IndexLock, views::Views};

/// "STRX": the index's mark in the database file.
const APPLICATION_ID: i32 = 0x5354_5258;

pub(crate) const MIGRATIONS: &[Migration] =
    &[Migration { version: 1, name: "index", sql: schema::TABLES, min_reader: 1, min_writer: 1 }];

const SCHEMA: Schema = Schema {
    name: "index",
    application_id: APPLICATION_ID,
    // Power loss may take the last commits; the cursor goes with them, so they are made again.
    durability: Durability::Normal,
    migrations: MIGRATIONS,
};

/// The index of one home. Cheap to make: the file is opened by the first use.
#[derive(Debug)]
pub struct Index {
    pub(crate) database: Database,
    views: Views,
    /// Tenants of which this process has left nothing to merge or to remove.
    tidied: Mutex<HashSet<String>>,
}

/// Who goes on with the file that was there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// It was usable, or there was none.
    Ready,
    /// It was damaged or foreign; it lies beside the new one under this name.
    SetAside(PathBuf),
}

impl Index {
    /// The file of this binary's index in `directory`, for analyser version `analyser`.
    pub fn file(directory: &Path, analyser: u32) -> PathBuf {
        directory.join(format!("index-{FORMAT}.{analyser}.db"))
    }

    /// A handle to the index in `directory`. Touches nothing.
    pub fn new(directory: &Path, analyser: u32, faults: FaultPlan) -> Self {
        Self::at(Place::File(Self::file(directory, analyser)), faults)
    }

    /// The schema of this binary's index on a server, for analyser version `analyser`.
    pub fn namespace(analyser: u32) -> String {
        format!("strata_index_{FORMAT}_{analyser}")
    }

    /// A handle to the index on `server`. Touches nothing.
    pub fn on_server(server: Server, analyser: u32, faults: FaultPlan) -> Self {
        Self::at(Place::Server { server, namespace: Self::namespace(analyser) }, faults)
    }

    fn at(place: Place, faults: FaultPlan) -> Self {
        let options = DatabaseOptions { place, schema: SCHEMA, creation: Creation::OnFirstWrite, faults };
        Self { database: Database::new(options), views: Views::default(), tidied: Mutex::default() }
    }

    /// Whether this process has left nothing of a tenant to merge or to remove. What another one left when it died is
    /// seen to by the next fold, and by whoever starts next.
    pub(crate) fn is_tidy(&self, tenant: &str) -> bool {
        self.tidied.lock().unwrap_or_else(PoisonError::into_inner).contains(tenant)
    }

    pub(crate) fn note_tidy(&self, tenant: &str, is_tidy: bool) {
        let mut tidied = self.tidied.lock().unwrap_or_else(PoisonError::into_inner);
        if is_tidy {
            tidied.insert(tenant.to_owned());
        } else {
            tidied.remove(tenant);
        }
    }

    /// Looks at the file and sets it aside when it cannot be used; the next write makes a new one.
    /// A file that somebody else is indexing into is left to them.
    pub fn open(&self, control: &Control) -> Result<Opened, StoreError> {
        match self.database.access(control) {
            Err(
                StoreError::Corrupt { .. } | StoreError::Foreign { .. } | StoreError::MigrationChanged { .. },
            ) => self.set_aside(),
            Err(error) => Err(error),
            Ok(_) => Ok(Opened::Ready),
        }
    }

    /// Moves the file out of the way, after a [`StoreError::Corrupt`] from any call. Searches then find
    /// nothing until the ledger has been followed anew.
    ///
    /// On a server there is nothing to keep it for: the tenant's rows are removed, and the whole schema where tables of it
    /// are gone.
    pub fn set_aside(&self) -> Result<Opened, StoreError> {
        let control = Control::default();
        let Some(_lock) = IndexLock::try_take(&self.database, &control)? else {
            return Err(StoreError::Busy { waited: std::time::Duration::ZERO });
        };
        let Some(path) = self.database.place().file() else {
            self.views.clear();
            self.database.make_anew(&control)?;
            return Ok(Opened::Ready);
        };
        self.database.close();
        self.views.clear();
        let aside = (1..)
            .map(|number: u64| path.with_extension(format!("damaged-{number}")))
            .find(|candidate| !candidate.exists())
            .ok_or_else(|| StoreError::Internal("no free name".into()))?;
        let moved = |from: &Path, to: &Path| {
            std::fs::rename(from, to).map_err(|error| crate::files::explain_io("move", from, &error))
        };
        for suffix in ["-wal", "-shm"] {
            let side = beside(path, suffix);
            if side.exists() {
                moved(&side, &beside(&aside, suffix))?;
            }
        }
        if path.exists() {
            moved(path, &aside)?;
        }
        Ok(Opened::SetAside(aside))
    }

    /// The right to change the index, if nobody has it. Never waits.
    pub fn writer(&self, control: &Control) -> Result<Option<IndexWriter<'_>>, StoreError> {
        // The lock's file needs the home, which the database makes with the right permissions.
        if !self.database.exists(control)? {
            self.database.create(control)?;
        }
        let lock = IndexLock::try_take(&self.database, control)?;
        Ok(lock.map(|lock| IndexWriter::new(self, control.clone(), lock)))
    }

    /// How far the tenant's ledger has been followed; the default when not at all.
    pub fn cursor(&self, tenant: &str) -> Result<Cursor, StoreError> {
        self.read(Cursor::default(), |tx| cursor(tx, tenant))
    }

    /// The file's path, or the server without any password: for messages.
    pub fn path(&self) -> &Path {
        self.database.path()
    }

    /// The file, unless the index lies on a server.
    pub fn file_path(&self) -> Option<&Path> {
        self.database.place().file()
    }

    /// The database, for integrity checks and size reports.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Runs `job` on a snapshot; an index that does not exist yet answers `absent`.
    pub(crate) fn read<T>(
        &self,
        absent: T,
        job: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.read_with(&Control::default(), absent, job)
    }

    pub(crate) fn read_with<T>(
        &self,
        control: &Control,
        absent: T,
        job: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self.database.read(control, job) {
            // A role that may not look at the index has none; it searches the ledger.
            Err(StoreError::NotInitialized { .. } | StoreError::Forbidden { .. }) => Ok(absent),
            answer => answer,
        }
    }
}

/// A collection as statements name it: ids are numbered within a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Collection<'t> {
    pub(crate) tenant: &'t str,
    pub(crate) id: i64,
}

/// Where the stream of a tenant was left.
pub(crate) fn cursor(tx: &Transaction<'_>, tenant: &str) -> Result<Cursor, StoreError> {
    let found = tx.query_one(
        "SELECT epoch, seq, ordinal, hash FROM tenants WHERE tenant = $1",
        params![tenant],
        |row| {
            let mark = Mark { seq: row.get(1)?, ordinal: row.get(2)? };
            Ok(Cursor { epoch: row.get(0)?, mark, hash: row.get(3)? })
        },
    )?;
    Ok(found.unwrap_or_default())
}

/// The error for bytes that this version cannot have written.
pub(crate) fn damaged(what: &str) -> StoreError {
    StoreError::Corrupt { path: PathBuf::from("index"), detail: format!("{what} cannot be read") }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
