//! The driver's errors as the store's.

use std::{io, path::Path, time::Duration};

use rustls::{AlertDescription, CertificateError};

use tokio_postgres::{
    Error,
    error::{DbError, SqlState},
};

use crate::error::{StoreError, TlsFailure};

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
            if let Some(why) = of_tls(error) {
                return StoreError::NotEncrypted { place: place.to_path_buf(), why };
            }
            let detail = cause(error);
            if detail.contains("channel binding") {
                let why = TlsFailure::NotBound { detail };
                return StoreError::NotEncrypted { place: place.to_path_buf(), why };
            }
            if let Some(detail) = of_stranger(error) {
                return StoreError::NotPostgres { place: place.to_path_buf(), detail };
            }
            // The driver has no kind for a password that the server wants and the address lacks.
            if detail.contains("password missing") || detail.contains("authentication") {
                return StoreError::NotAdmitted { place: place.to_path_buf(), detail };
            }
            unreachable(place, &detail)
        }
    }
}

/// What somebody did who took the connection and did not answer as PostgreSQL does.
fn of_stranger(error: &Error) -> Option<String> {
    // The driver keeps the kind of its errors to itself, but for these words.
    let told = error.to_string();
    let broken = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    let is_cut = broken.is_some_and(|broken| {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
        [BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof].contains(&broken.kind())
    });
    let of_exchange = ["communicating with the server", "unexpected message", "parsing response"];
    if error.is_closed() || (is_cut && told.contains(of_exchange[0])) {
        return Some("it closed the connection without a word".into());
    }
    of_exchange.iter().any(|words| told.contains(words)).then(|| "its answer is of another kind".into())
}

/// Whether a server that refused a connection may take one that is encrypted, or one that is not, instead.
pub(super) fn wants_otherwise(error: &Error) -> bool {
    match error.as_db_error() {
        // Poolers have no word of their own for it and call it a violation of the protocol.
        Some(said) => [SqlState::INVALID_AUTHORIZATION_SPECIFICATION, SqlState::PROTOCOL_VIOLATION]
            .contains(said.code()),
        None => of_tls(error).is_some(),
    }
}

/// Which of two refusals says more: the server's own word on the later attempt, else what came first.
pub(super) fn clearer<'a>(earlier: &'a Error, later: &'a Error) -> &'a Error {
    let both_said = earlier.as_db_error().is_some() && later.as_db_error().is_some();
    if both_said || !wants_otherwise(later) { later } else { earlier }
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
        "57014" => StoreError::Stopped { place: path, detail },
        "53100" => StoreError::Full { path },
        "53300" => StoreError::TooManyConnections { place: path },
        "25006" => StoreError::ReadOnly { path, reason: "the server takes no writes".into() },
        "42501" => StoreError::Forbidden { place: path, detail },
        "3D000" => unreachable(place, &detail),
        // The schema, or a table of it, is not there: not yet, or somebody dropped it.
        "3F000" | "42P01" => StoreError::NotInitialized { path },
        "22021" | "22P05" => StoreError::Invalid(format!("the database cannot hold this text: {detail}")),
        "54000" => StoreError::Invalid("a text is larger than the database can hold".into()),
        "XX001" | "XX002" => StoreError::Corrupt { path, detail },
        "58030" => StoreError::Io { doing: "read or write", path, detail },
        other if other.starts_with("28") && wants_encryption(&detail) => {
            StoreError::NotEncrypted { place: path, why: TlsFailure::Wanted { detail } }
        }
        other if other.starts_with("28") => StoreError::NotAdmitted { place: path, detail },
        other if other.starts_with("08") || *code == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => {
            disconnected(place)
        }
        "57P01" | "57P02" | "57P03" | "57P05" => disconnected(place),
        other => StoreError::Internal(format!("{detail} ({other})")),
    }
}

/// Whether a server that lets nobody in says that this was for want of encryption: its rules know nobody who comes so.
/// A server that speaks another language says it in other words, and the hint is then the general one.
fn wants_encryption(said: &str) -> bool {
    said.contains("no encryption") || said.contains("SSL off")
}

/// What went wrong with encryption, if that is what did.
fn of_tls(error: &Error) -> Option<TlsFailure> {
    let source = std::error::Error::source(error);
    let broken = source
        .and_then(|source| source.downcast_ref::<io::Error>())
        .and_then(io::Error::get_ref)
        .and_then(|inner| inner.downcast_ref::<rustls::Error>());
    if let Some(broken) = broken {
        return Some(of_handshake(broken));
    }
    // The driver keeps the kind of its errors to itself, but for these words.
    let of_tls = error.to_string().contains("TLS handshake");
    of_tls.then(|| match source.map(ToString::to_string).unwrap_or_default() {
        said if said.contains("does not support TLS") => TlsFailure::NotOffered,
        detail => TlsFailure::Handshake { detail },
    })
}

fn of_handshake(error: &rustls::Error) -> TlsFailure {
    match error {
        rustls::Error::InvalidCertificate(found) => match found {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => TlsFailure::UnknownIssuer,
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => TlsFailure::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                TlsFailure::NotYetValid
            }
            CertificateError::NotValidForName => TlsFailure::OtherName { names: Vec::new() },
            CertificateError::NotValidForNameContext { presented, .. } => {
                TlsFailure::OtherName { names: presented.clone() }
            }
            other => TlsFailure::Unsuitable { detail: other.to_string() },
        },
        rustls::Error::AlertReceived(alert) if is_of_client(*alert) => {
            TlsFailure::ClientRefused { detail: format!("{alert:?}") }
        }
        other => TlsFailure::Handshake { detail: other.to_string() },
    }
}

/// Whether a server's alert is about the certificate that we gave, or did not give.
const fn is_of_client(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateRequired
            | AlertDescription::NoCertificate
            | AlertDescription::AccessDenied
            | AlertDescription::DecryptError
    )
}

fn is_of_network(error: &Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<std::io::Error>())
}

/// The driver's own words say what it was doing; their source says what went wrong.
fn cause(error: &Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}
