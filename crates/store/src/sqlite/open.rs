//! How a database file is recognised and opened.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{OpenFlags, config::DbConfig};

use super::{create::create, errors::classify, network::refuse_network, session::Session};
use crate::{
    error::StoreError,
    faults::FaultPlan,
    files::{directory_of, explain_io},
    migrate::{self, Durability, Schema, Standing},
    retry::patiently,
    sql::{Control, Creation, DatabaseOptions, Transaction},
};

/// SQLite before 3.51.3 can corrupt a write-ahead log that several processes share.
const OLDEST_SAFE_SQLITE: i32 = 3_051_003;
/// Virtual machine steps between two looks at the cancel flag: a fraction of a millisecond.
const STEPS_BETWEEN_LOOKS: i32 = 4_000;
const STATEMENTS_KEPT: usize = 128;
/// One memory changes some 40 pages, spread by its ids and fingerprints. At SQLite's own 1000 pages
/// one write in 25 paid for a checkpoint, which showed in the 95th percentile.
const PAGES_BETWEEN_CHECKPOINTS: i32 = 4_000;

pub(super) const READER_SETTINGS: &str =
    "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
         PRAGMA temp_store = MEMORY; PRAGMA cache_size = -4096; PRAGMA mmap_size = 0;";

/// An open connection.
pub(super) struct Connection {
    pub(super) inner: rusqlite::Connection,
    pub(super) path: PathBuf,
    reusable: bool,
}

impl Connection {
    /// Interrupts statements once `control` says so.
    pub(super) fn watch(&mut self, control: &Control) -> Result<(), StoreError> {
        let control = control.clone();
        self.inner
            .progress_handler(STEPS_BETWEEN_LOOKS, Some(move || control.check().is_err()))
            .map_err(|error| classify(&error, &self.path))
    }

    /// Stops watching.
    pub(super) fn unwatch(&mut self) -> Result<(), StoreError> {
        self.inner.progress_handler(0, None::<fn() -> bool>).map_err(|error| classify(&error, &self.path))
    }

    /// Whether another job may use it: no transaction was left open, and it sees later changes.
    pub(super) fn is_reusable(&self) -> bool {
        self.reusable && self.inner.is_autocommit()
    }

    pub(super) fn session<'s>(&'s self, control: &'s Control, faults: &'s FaultPlan) -> Session<'s> {
        Session { connection: &self.inner, control, path: &self.path, faults }
    }

    pub(super) fn open(path: &Path, flags: OpenFlags, reusable: bool) -> Result<Self, StoreError> {
        if rusqlite::version_number() < OLDEST_SAFE_SQLITE {
            return Err(StoreError::Internal(format!("SQLite {} is not safe", rusqlite::version())));
        }
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let inner = if reusable {
            rusqlite::Connection::open_with_flags(path, flags)
        } else {
            rusqlite::Connection::open_with_flags(immutable_uri(path), flags | OpenFlags::SQLITE_OPEN_URI)
        };
        let inner = inner.map_err(|error| classify(&error, path))?;
        inner.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
        // The driver's own waiting, 5 s by default, hears neither cancellation nor patience.
        inner.busy_timeout(Duration::ZERO).map_err(|error| classify(&error, path))?;
        for (setting, on) in [
            // No plan here rests on values: without this a kept statement is compiled anew for each new value, which took a tenth
            // of a write.
            (DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true),
            (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
            (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        ] {
            inner.set_db_config(setting, on).map_err(|error| classify(&error, path))?;
        }
        Ok(Self { inner, path: path.to_path_buf(), reusable })
    }

    pub(super) fn close(self) -> Result<(), StoreError> {
        self.inner.close().map_err(|(_, error)| classify(&error, &self.path))
    }

    pub(super) fn set(&self, pragmas: &str) -> Result<(), StoreError> {
        self.inner.execute_batch(pragmas).map_err(|error| classify(&error, &self.path))
    }

    /// Fails when a newer binary has changed what a write must keep since the file was opened.
    pub(super) fn refuse_newer(&self, options: &DatabaseOptions) -> Result<(), StoreError> {
        let (schema, known) = (options.schema.name, options.schema.latest());
        if self.pragma("user_version")? <= known {
            return Ok(());
        }
        let control = Control::default();
        let session = self.session(&control, &options.faults);
        match migrate::standing(&options.schema, &migrate::applied(&Transaction::sqlite(&session))?)? {
            Standing::ReadableOnly(found) => Err(StoreError::Newer { schema, found, known, action: "write" }),
            Standing::Behind | Standing::Current => Ok(()),
        }
    }

    fn pragma(&self, name: &str) -> Result<i64, StoreError> {
        self.inner
            .query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
            .map_err(|error| classify(&error, &self.path))
    }
}

/// Which file a path names, and how long it is.
#[derive(Debug, Clone)]
pub(super) struct FileIdentity {
    device: u64,
    inode: u64,
    pub(super) length: u64,
}

impl FileIdentity {
    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let metadata = fs::metadata(path).ok()?;
        Some(Self { device: metadata.dev(), inode: metadata.ino(), length: metadata.len() })
    }

    /// Open files cannot be replaced on Windows, so presence is all there is to know.
    #[cfg(not(unix))]
    pub(super) fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self { device: 0, inode: 0, length: metadata.len() })
    }

    pub(super) fn same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// Opens the writing connection.
pub(super) fn writer(
    path: &Path,
    options: &DatabaseOptions,
    control: &Control,
) -> Result<Connection, StoreError> {
    if !is_present(path) {
        match options.creation {
            Creation::OnRequest => return Err(StoreError::NotInitialized { path: path.to_path_buf() }),
            Creation::OnFirstWrite => create(path, options, control, &|_| Ok(()))?,
        };
    }
    writable(path).map_err(|reason| StoreError::ReadOnly { path: path.to_path_buf(), reason })?;
    refuse_network(directory_of(path))?;
    let connection = Connection::open(path, OpenFlags::SQLITE_OPEN_READ_WRITE, true)?;
    let standing = patiently(control, || recognise(&connection, options, control))?;
    match standing {
        Standing::Current => {}
        Standing::Behind => drop(create(path, options, control, &|_| Ok(()))?),
        Standing::ReadableOnly(found) => {
            let (schema, known) = (options.schema.name, options.schema.latest());
            return Err(StoreError::Newer { schema, found, known, action: "write" });
        }
    }
    patiently(control, || set_up_writer(&connection, &options.schema))?;
    Ok(connection)
}

/// Opens a reading connection, and says why nothing can be written if that is so.
pub(super) fn reader(
    path: &Path,
    options: &DatabaseOptions,
    control: &Control,
) -> Result<(Connection, Option<String>), StoreError> {
    if !is_present(path) {
        return Err(StoreError::NotInitialized { path: path.to_path_buf() });
    }
    refuse_network(directory_of(path))?;
    let connection = Connection::open(path, OpenFlags::SQLITE_OPEN_READ_ONLY, true)?;
    let (connection, standing, obstacle) =
        match patiently(control, || recognise(&connection, options, control)) {
            Ok(standing) => (connection, standing, writable(path).err()),
            Err(error) => unchanging(path, options, control, error)?,
        };
    let read_only = match (standing, obstacle) {
        (Standing::ReadableOnly(_), _) => Some("it was written by a newer Strata".to_owned()),
        (_, Some(reason)) => Some(reason),
        (Standing::Current, None) => None,
        (Standing::Behind, None) => {
            create(path, options, control, &|_| Ok(()))?;
            None
        }
    };
    if let (Standing::Behind, Some(reason)) = (standing, &read_only) {
        let reason = format!("{reason}, and its older schema must be brought up to date first");
        return Err(StoreError::ReadOnly { path: path.to_path_buf(), reason });
    }
    patiently(control, || connection.set(READER_SETTINGS))?;
    Ok((connection, read_only))
}

/// Opens a file that cannot be opened the ordinary way because the log's shared memory cannot be
/// made beside it: as a file that does not change while it is open, if its log holds nothing.
/// Returns also what stands in the way of writing.
fn unchanging(
    path: &Path,
    options: &DatabaseOptions,
    control: &Control,
    error: StoreError,
) -> Result<(Connection, Standing, Option<String>), StoreError> {
    let reason = match (&error, writable(path)) {
        (StoreError::Full { .. }, _) => "no space is left on its disk".to_owned(),
        (StoreError::Io { .. } | StoreError::ReadOnly { .. }, Err(reason)) => reason,
        (StoreError::Io { detail, .. }, Ok(())) => format!("its log cannot be opened ({detail})"),
        _ => return Err(error),
    };
    let log_is_empty = fs::metadata(beside(path, "-wal")).map_or(true, |log| log.len() == 0);
    if !log_is_empty {
        let reason =
            format!("{reason}, and its log holds changes that can only be read when it can be written");
        return Err(StoreError::ReadOnly { path: path.to_path_buf(), reason });
    }
    let connection = Connection::open(path, OpenFlags::SQLITE_OPEN_READ_ONLY, false)?;
    let standing = recognise(&connection, options, control)?;
    Ok((connection, standing, Some(reason)))
}

/// Whether the file exists and holds something.
pub(super) fn is_present(path: &Path) -> bool {
    FileIdentity::of(path).is_some_and(|identity| identity.length > 0)
}

/// Whether the file is ours, and what may be done with it.
fn recognise(
    connection: &Connection,
    options: &DatabaseOptions,
    control: &Control,
) -> Result<Standing, StoreError> {
    refuse_foreign(connection, &options.schema)?;
    if connection.pragma("user_version")? == 0 {
        return Ok(Standing::Behind);
    }
    let session = connection.session(control, &options.faults);
    let applied = migrate::applied(&Transaction::sqlite(&session))?;
    migrate::standing(&options.schema, &applied)
}

pub(super) fn refuse_foreign(connection: &Connection, schema: &Schema) -> Result<(), StoreError> {
    let foreign = || StoreError::Foreign { path: connection.path.clone(), schema: schema.name };
    if !has_database_header(&connection.path)? {
        return Err(foreign());
    }
    // In this order: both come with the first migration, so that whoever sees its tables sees its id.
    let tables: i64 = connection
        .inner
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|error| classify(&error, &connection.path))?;
    let id = connection.pragma("application_id")?;
    if id == i64::from(schema.application_id) || (id == 0 && tables == 0) { Ok(()) } else { Err(foreign()) }
}

/// Whether the file is empty or begins as SQLite files do. SQLite itself takes any very short file
/// for an empty database and would write over it.
pub(super) fn has_database_header(path: &Path) -> Result<bool, StoreError> {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(16).read_to_end(&mut start));
    read.map_err(|error| explain_io("read", path, &error))?;
    Ok(start.is_empty() || start == b"SQLite format 3\0")
}

pub(super) fn set_up_writer(connection: &Connection, schema: &Schema) -> Result<(), StoreError> {
    let synchronous = match schema.durability {
        Durability::Full => "FULL",
        Durability::Normal => "NORMAL",
    };
    connection.set(&format!(
        "PRAGMA synchronous = {synchronous}; PRAGMA fullfsync = ON; PRAGMA foreign_keys = ON;
         PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA secure_delete = ON;
         PRAGMA journal_size_limit = 67108864; PRAGMA wal_autocheckpoint = {PAGES_BETWEEN_CHECKPOINTS};
         PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192; PRAGMA mmap_size = 0;"
    ))
}

/// Whether this process may write the file and make others beside it; if not, why.
pub(super) fn writable(path: &Path) -> Result<(), String> {
    #[cfg(unix)]
    for place in [path, directory_of(path)] {
        if place == path && !path.exists() {
            continue;
        }
        if let Err(error) = rustix::fs::access(place, rustix::fs::Access::WRITE_OK) {
            return Err(match error {
                rustix::io::Errno::ROFS => "the file system is mounted read-only".into(),
                _ => format!("`{}` cannot be written by this user", place.display()),
            });
        }
    }
    #[cfg(not(unix))]
    if fs::metadata(path).is_ok_and(|metadata| metadata.permissions().readonly()) {
        return Err("the file is marked read-only".into());
    }
    Ok(())
}

pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// `file:` and the path, with what means something in a URI escaped.
fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'%' | b'?' | b'#' | 0x80.. => uri.push_str(&format!("%{byte:02x}")),
            byte => uri.push(char::from(*byte)),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_sqlite_is_safe_for_many_processes() {
        assert!(rusqlite::version_number() >= OLDEST_SAFE_SQLITE, "{}", rusqlite::version());
    }

    #[test]
    fn paths_are_escaped_in_uris() {
        assert_eq!(immutable_uri(Path::new("/\u{c548}")), "file:/%ec%95%88?immutable=1");
        assert_eq!(immutable_uri(Path::new("/a b/50%?#.db")), "file:/a b/50%25%3f%23.db?immutable=1");
    }
}
