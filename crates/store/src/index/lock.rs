//! The index lock: one process at a time changes an index. It is only ever tried for, never waited
//! for, because whoever holds it indexes everyone's rows.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::Path,
};

use crate::{
    database::{Database, TenantLock},
    error::StoreError,
    files::explain_io,
    sql::Control,
};

/// Held until dropped; the operating system or the server frees it when the process dies.
#[derive(Debug)]
pub(crate) enum IndexLock<'d> {
    /// Of a file beside the database.
    File { _file: File },
    /// Of the tenant's rows on a server.
    Server { _lock: Box<TenantLock<'d>> },
}

impl<'d> IndexLock<'d> {
    /// Takes the lock of `database`, or answers `None` when somebody has it.
    pub(crate) fn try_take(database: &'d Database, control: &Control) -> Result<Option<Self>, StoreError> {
        match database.place().file() {
            Some(path) => Ok(lock_beside(path)?.map(|file| Self::File { _file: file })),
            None => {
                Ok(database.try_lock(control, "index")?.map(|lock| Self::Server { _lock: Box::new(lock) }))
            }
        }
    }
}

fn lock_beside(database: &Path) -> Result<Option<File>, StoreError> {
    let path = database.with_extension("lock");
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&path).map_err(|error| explain_io("lock", &path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(explain_io("lock", &path, &error)),
    }
}
