//! The driver's errors as the store's.

use std::{path::Path, time::Duration};

use rusqlite::{Error, ErrorCode};

use crate::error::StoreError;

/// What an error of the driver means for the database at `path`.
pub(super) fn classify(error: &Error, path: &Path) -> StoreError {
    let path = path.to_path_buf();
    let detail = error.to_string();
    let Some(code) = error.sqlite_error_code() else { return StoreError::Internal(detail) };
    if error.sqlite_error().is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE) {
        // Growing the log's shared memory fails for no other reason.
        return StoreError::Full { path };
    }
    match code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::SchemaChanged => {
            StoreError::Busy { waited: Duration::ZERO }
        }
        ErrorCode::OperationInterrupted => StoreError::Cancelled,
        ErrorCode::DiskFull => StoreError::Full { path },
        ErrorCode::ReadOnly => {
            StoreError::ReadOnly { path, reason: "the file or its directory is write-protected".into() }
        }
        ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied => {
            StoreError::ReadOnly { path, reason: "permission denied".into() }
        }
        ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::NoLargeFileSupport => {
            StoreError::Io { doing: "read or write", path, detail }
        }
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => StoreError::Corrupt { path, detail },
        ErrorCode::TooBig => StoreError::Invalid("a text is larger than the database can hold".into()),
        _ => StoreError::Internal(detail),
    }
}
