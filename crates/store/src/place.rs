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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_directory_is_local_and_has_room() {
        let directory = tempfile::tempdir().expect("temporary directory");
        assert!(check_filesystem(directory.path()).is_ok());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert!(free_space(directory.path()).is_some_and(|bytes| bytes > 0));
            assert_eq!(free_space(&directory.path().join("nowhere")), None);
            for (mode, open) in [(0o700, false), (0o750, true), (0o704, true)] {
                let permissions = std::fs::Permissions::from_mode(mode);
                std::fs::set_permissions(directory.path(), permissions).expect("changed");
                assert_eq!(is_open_to_others(directory.path()), open, "{mode:o}");
            }
        }
    }
}
