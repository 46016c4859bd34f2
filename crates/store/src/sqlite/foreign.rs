//! Opening a database of another program without leaving a trace.

use std::{fs, path::Path};

use rusqlite::{OpenFlags, types::ValueRef};
use tempfile::TempDir;

use super::{
    open::{Connection, READER_SETTINGS, beside, has_database_header},
    session::{Row, Session},
};
use crate::{
    error::{NOT_A_DATABASE, StoreError},
    faults::FaultPlan,
    files::explain_io,
    foreign::{Cell, LONGEST_TEXT},
    sql::{Control, Transaction},
};

/// Where in the header a database says that it keeps a write-ahead log.
const READ_VERSION: usize = 19;

/// A database of another program, open for reading.
pub(crate) struct Foreign {
    connection: Connection,
    locked: bool,
    faults: FaultPlan,
    _copy: Option<TempDir>,
}

impl Foreign {
    /// Opens it in the one way that changes nothing and makes no file beside it.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let (connection, locked, copy) = match standing(path)? {
            Standing::Shared => (Connection::open(path, flags, true)?, true, None),
            Standing::AtRest => (Connection::open(path, flags, false)?, false, None),
            Standing::LogAlone => {
                let copy = copy_of(path)?;
                let connection = Connection::open(&copy.path().join(COPY), flags, true)?;
                (connection, false, Some(copy))
            }
        };
        Ok(Self { connection, locked, faults: FaultPlan::default(), _copy: copy })
    }

    /// Whether the owner's writes and this reader keep out of each other's way. If not, the reader has to look
    /// whether the file stayed as it was.
    pub(crate) const fn is_locked_by_its_own_rules(&self) -> bool {
        self.locked
    }

    /// Runs `job` on one snapshot.
    pub(crate) fn snapshot<T>(
        &mut self,
        control: &Control,
        job: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.connection.watch(control)?;
        self.connection.set(READER_SETTINGS)?;
        let session = Session {
            connection: &self.connection.inner,
            control,
            path: &self.connection.path,
            faults: &self.faults,
        };
        session.begin_read()?;
        let outcome = job(&Transaction::sqlite(&session));
        session.roll_back();
        outcome
    }
}

impl Row<'_> {
    /// What a cell holds, whatever it is.
    pub(crate) fn cell(&self, index: usize) -> Result<Cell, StoreError> {
        Ok(match self.value(index)? {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(value) => Cell::Integer(value),
            ValueRef::Real(value) => Cell::Real(value),
            ValueRef::Text(bytes) if bytes.len() > LONGEST_TEXT => Cell::TooLong(bytes.len()),
            ValueRef::Text(bytes) => {
                std::str::from_utf8(bytes).map_or(Cell::NotUtf8, |text| Cell::Text(text.to_owned()))
            }
            ValueRef::Blob(bytes) => Cell::Bytes(bytes.len()),
        })
    }
}

/// How a database can be read without a trace.
enum Standing {
    /// With its own locks: what they need is there, or is not kept in files.
    Shared,
    /// As a file that nobody has open. Opening it the ordinary way would make its log anew.
    AtRest,
    /// A log without its index, as a copied or crashed database leaves it: reading would make the index.
    LogAlone,
}

fn standing(path: &Path) -> Result<Standing, StoreError> {
    let metadata = fs::metadata(path).map_err(|error| explain_io("read", path, &error))?;
    if !metadata.is_file() {
        return Err(StoreError::Invalid(format!("`{}` is not a regular file", path.display())));
    }
    let not_a_database = || StoreError::Corrupt { path: path.to_path_buf(), detail: NOT_A_DATABASE.into() };
    if metadata.len() == 0 || !has_database_header(path)? {
        return Err(not_a_database());
    }
    let header = header(path)?;
    if header.get(READ_VERSION).copied().ok_or_else(not_a_database)? < 2 {
        return Ok(Standing::Shared);
    }
    let log = fs::metadata(beside(path, "-wal")).ok();
    let index = fs::metadata(beside(path, "-shm")).ok();
    Ok(match (log, index) {
        (Some(_), Some(_)) => Standing::Shared,
        (Some(log), None) if log.len() > 0 => Standing::LogAlone,
        _ => Standing::AtRest,
    })
}

fn header(path: &Path) -> Result<Vec<u8>, StoreError> {
    use std::io::Read;
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(100).read_to_end(&mut start));
    read.map_err(|error| explain_io("read", path, &error))?;
    Ok(start)
}

const COPY: &str = "copy.db";

/// The database and its log in a folder of their own.
fn copy_of(path: &Path) -> Result<TempDir, StoreError> {
    let explain = |error: std::io::Error| explain_io("copy", path, &error);
    let folder = TempDir::with_prefix("strata-").map_err(explain)?;
    let copy = folder.path().join(COPY);
    fs::copy(path, &copy).map_err(explain)?;
    fs::copy(beside(path, "-wal"), beside(&copy, "-wal")).map_err(explain)?;
    Ok(folder)
}
