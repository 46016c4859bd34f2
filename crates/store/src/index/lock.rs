//! The index lock: one process at a time changes an index. It is only ever tried for, never waited
//! for, because whoever holds it indexes everyone's rows.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::Path,
};

use crate::{error::StoreError, files::explain_io};

/// Held until dropped; the operating system frees it when the process dies.
#[derive(Debug)]
pub(crate) struct IndexLock {
    _file: File,
}

impl IndexLock {
    /// Takes the lock beside `database`, or answers `None` when somebody has it.
    pub(crate) fn try_take(database: &Path) -> Result<Option<Self>, StoreError> {
        let path = database.with_extension("lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(|error| explain_io("lock", &path, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(explain_io("lock", &path, &error)),
        }
    }
}
