//! The driver's errors as the store's.

use std::{path::Path, time::Duration};

use tokio_postgres::{
    Error,
    error::{DbError, SqlState},
};

use crate::error::StoreError;

/// What an error of the driver means, once a connection was made, for the store at `place`.
pub(super) fn classify(error: &Error, place: &Path) -> StoreError {
    match error.as_db_error() {
        Some(said) => of_server(said, place),
        None if error.is_closed() || is_of_network(error) => disconnected(place),
        None => StoreError::Internal(cause(error)),
    }
}

/// What it means that no connection could be made.
pub(super) fn classify_connect(error: &Error, place: &Path) -> StoreError {
    match error.as_db_error() {
        Some(said) => match of_server(said, place) {
            StoreError::Disconnected { .. } | StoreError::Internal(_) => unreachable(place, said.message()),
            error => error,
        },
        None => {
            let detail = cause(error);
            // The driver has no kind for a password that the server wants and the address lacks.
            if detail.contains("password missing") || detail.contains("authentication") {
                return StoreError::NotAdmitted { place: place.to_path_buf(), detail };
            }
            unreachable(place, &detail)
        }
    }
}

pub(super) fn disconnected(place: &Path) -> StoreError {
    StoreError::Disconnected { place: place.to_path_buf(), unknown: false }
}

pub(super) fn unreachable(place: &Path, detail: &str) -> StoreError {
    StoreError::Unreachable { place: place.to_path_buf(), detail: detail.to_owned() }
}

fn of_server(said: &DbError, place: &Path) -> StoreError {
    let path = place.to_path_buf();
    let detail = said.message().to_owned();
    let code = said.code();
    match code.code() {
        "55P03" | "40001" | "40P01" => StoreError::Busy { waited: Duration::ZERO },
        "57014" => StoreError::Cancelled,
        "53100" => StoreError::Full { path },
        "53300" => StoreError::TooManyConnections { place: path },
        "25006" => StoreError::ReadOnly { path, reason: "the server takes no writes".into() },
        "42501" => StoreError::ReadOnly { path, reason: detail },
        "3D000" => unreachable(place, &detail),
        "22021" | "22P05" => StoreError::Invalid(format!("the database cannot hold this text: {detail}")),
        "54000" => StoreError::Invalid("a text is larger than the database can hold".into()),
        "XX001" | "XX002" => StoreError::Corrupt { path, detail },
        "58030" => StoreError::Io { doing: "read or write", path, detail },
        other if other.starts_with("28") => StoreError::NotAdmitted { place: path, detail },
        other if other.starts_with("08") || *code == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => {
            disconnected(place)
        }
        "57P01" | "57P02" | "57P03" | "57P05" => disconnected(place),
        other => StoreError::Internal(format!("{detail} ({other})")),
    }
}

fn is_of_network(error: &Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<std::io::Error>())
}

/// The driver's own words say what it was doing; their source says what went wrong.
fn cause(error: &Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}
