//! What the operating system says about the directory that a store lies in.

use std::path::Path;

use crate::{error::StoreError, sqlite};

/// Fails with [`StoreError::NetworkFilesystem`] when `directory` lies where the database's locks are not safe.
pub fn check_filesystem(directory: &Path) -> Result<(), StoreError> {
    sqlite::refuse_network(directory)
}

/// Bytes that this user may still write to the disk that holds `directory`; `None` where that is not known.
pub fn free_space(directory: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let disk = rustix::fs::statvfs(directory).ok()?;
        disk.f_bavail.checked_mul(disk.f_frsize)
    }
    #[cfg(not(unix))]
    {
        let _ = directory;
        None
    }
}

/// Whether users other than the owner may read or write what `path` names; false where that is not known.
pub fn is_open_to_others(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}
