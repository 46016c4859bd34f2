//! The kinds of failure that every crate's errors fall into, so that faces can map them to exit
//! codes and wire codes in one place.

use std::fmt;

/// What sort of failure an error is. Exit codes and MCP error codes derive from this alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request itself is wrong; the same request can never succeed.
    Invalid,
    /// What the request names does not exist, or is not visible from its scope.
    NotFound,
    /// The policy forbids it to this principal. Refusals are audited.
    Refused,
    /// It needs a human's approval with the secret; the hint is the command to run.
    ApprovalRequired,
    /// Somebody else changed the thing first; read again and retry.
    Conflict,
    /// A limit on size or number was exceeded.
    TooLarge,
    /// The store or the server is busy beyond its patience; retry later.
    Busy,
    /// The call's deadline passed.
    Deadline,
    /// The caller cancelled the call.
    Cancelled,
    /// The home has not been initialised.
    NotInitialized,
    /// The home cannot be written (read-only, full disk) or a file cannot be reached.
    Unavailable,
    /// The store was written by a newer Strata than this one understands.
    Newer,
    /// Stored data contradicts itself.
    Corrupt,
    /// A fault of Strata's own.
    Internal,
}

impl ErrorKind {
    /// Every kind, in documentation order.
    pub const ALL: [Self; 14] = [
        Self::Invalid,
        Self::NotFound,
        Self::Refused,
        Self::ApprovalRequired,
        Self::Conflict,
        Self::TooLarge,
        Self::Busy,
        Self::Deadline,
        Self::Cancelled,
        Self::NotInitialized,
        Self::Unavailable,
        Self::Newer,
        Self::Corrupt,
        Self::Internal,
    ];

    /// The stable code shown on every face.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::NotFound => "not_found",
            Self::Refused => "refused",
            Self::ApprovalRequired => "approval_required",
            Self::Conflict => "conflict",
            Self::TooLarge => "too_large",
            Self::Busy => "busy",
            Self::Deadline => "deadline",
            Self::Cancelled => "cancelled",
            Self::NotInitialized => "not_initialized",
            Self::Unavailable => "unavailable",
            Self::Newer => "newer_schema",
            Self::Corrupt => "corrupt",
            Self::Internal => "internal",
        }
    }

    /// The exit code of the command line for this kind. 0 is success and 2 is usage (with `Invalid`).
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Internal => 1,
            Self::Invalid | Self::TooLarge => 2,
            Self::Refused | Self::ApprovalRequired => 3,
            Self::NotFound => 4,
            Self::Conflict => 5,
            Self::Busy | Self::Deadline | Self::Cancelled => 6,
            Self::NotInitialized => 7,
            Self::Unavailable | Self::Newer => 8,
            Self::Corrupt => 9,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// A value that does not parse into a domain type: names the field's type, what was given and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is not {} {what}", shown(given), article(what))]
pub struct ParseError {
    /// The domain word, e.g. `layer`.
    pub what: &'static str,
    /// The offending text, shortened.
    pub given: String,
    /// What is allowed, as a phrase for the hint: "use P0, P1, ...".
    pub allowed: String,
}

fn shown(given: &str) -> String {
    if given.is_empty() { "an empty text".to_owned() } else { format!("`{given}`") }
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

impl ParseError {
    /// Builds the error, keeping at most 60 characters of the offending text.
    pub fn new(what: &'static str, given: &str, allowed: impl Into<String>) -> Self {
        let given = given.chars().filter(|c| !c.is_control()).take(60).collect();
        Self { what, given, allowed: allowed.into() }
    }
}
