//! What can go wrong in an operation, with the next step for whoever called.

use std::fmt::Display;

use strata_core::error::{ErrorKind, ParseError};
use strata_embed::EmbedError;
use strata_store::error::StoreError;

use crate::render::shortened;

/// Characters of what the caller named that are repeated.
const SHOWN: usize = 200;

/// A failed operation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An argument is missing, of the wrong type or out of range.
    #[error("{}{message}", prefix(field.as_deref()))]
    Argument {
        /// The argument's name, where one is at fault.
        field: Option<String>,
        /// What is wrong with it.
        message: String,
        /// What to send instead.
        hint: String,
    },
    /// The arguments could not be read; the operation did not begin.
    #[error(transparent)]
    Unread(Box<Self>),
    /// A text is larger than the store takes.
    #[error("`{field}` has {size} bytes; at most {limit} are stored")]
    TooLarge {
        /// The argument's name.
        field: String,
        /// Bytes given.
        size: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// Nothing visible has that id.
    #[error("no {what} `{}` is visible from here", shortened(id, SHOWN))]
    NotFound {
        /// The type of thing.
        what: &'static str,
        /// The id as given.
        id: String,
        /// How to find the right one.
        hint: String,
    },
    /// The policy refuses; the refusal is on record.
    #[error("layer {layer} does not allow {action} by '{principal}': {reason}; allowed: {allowed}")]
    Refused {
        /// Layer concerned.
        layer: String,
        /// What was wanted.
        action: &'static str,
        /// Who wanted it.
        principal: String,
        /// The policy's reason.
        reason: String,
        /// Principals that may.
        allowed: String,
    },
    /// A path that a client may not reach; the refusal is on record.
    #[error("`{field}`: a path outside the project and the home is not for '{principal}'")]
    Outside {
        /// The argument's name.
        field: String,
        /// Who wanted it.
        principal: String,
    },
    /// A human must approve with the secret.
    #[error("{action} needs a human's approval: {reason}")]
    ApprovalRequired {
        /// What was wanted.
        action: String,
        /// The policy's reason.
        reason: String,
        /// The command a human runs at a terminal.
        command: String,
    },
    /// Somebody else changed it first, or it is not in a state that allows this.
    #[error("{message}")]
    Conflict {
        /// What happened.
        message: String,
        /// What to do.
        hint: String,
    },
    /// The home holds no store yet.
    #[error("no Strata store at {home}")]
    NotInitialized {
        /// The home directory.
        home: String,
    },
    /// The caller withdrew the call.
    #[error("the call was cancelled")]
    Cancelled,
    /// The call ran past its deadline.
    #[error("the call ran past its deadline")]
    Deadline,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The embedding model gave no usable answer.
    #[error(transparent)]
    Embedding(#[from] EmbedError),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A service on the network gave no usable answer.
    #[error("{host}: {fault}")]
    Remote {
        /// The host that was asked.
        host: String,
        /// What went wrong.
        fault: String,
    },
    /// A fault of Strata's own.
    #[error("internal fault: {0}")]
    Internal(String),
}

/// What whoever was refused can do.
fn instead_of(action: &str, layer: &str) -> &'static str {
    match (action, layer) {
        ("remember", "P2") => {
            "keep what was learned in P5; raw events come in with `episode_record` or `strata import`"
        }
        ("update" | "rule_edit", _) => {
            "propose the change with `reflect` and the id in `amends`; a human decides"
        }
        ("remember" | "rule_add", _) => "propose it with `reflect`; a human decides",
        // There is nothing to propose: what is missing is a person.
        _ => "leave it to a person at a terminal, with the passphrase",
    }
}

/// A command as it is shown to whoever may not approve themselves.
pub(crate) fn at_a_terminal(command: impl Display) -> String {
    format!("{command} at a terminal, with the passphrase set by `strata init`")
}

fn prefix(field: Option<&str>) -> String {
    field.map(|f| format!("`{f}`: ")).unwrap_or_default()
}

impl Error {
    /// An error about one argument.
    pub fn argument(field: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Argument { field: Some(field.to_owned()), message: message.into(), hint: hint.into() }
    }

    /// An argument that does not parse into a domain type.
    pub fn parse(field: &str, error: &ParseError) -> Self {
        Self::argument(field, error.to_string(), error.allowed.clone())
    }

    /// The same, with `command` as what a human runs where approval is needed.
    pub fn with_command(self, command: impl Display) -> Self {
        match self {
            Self::ApprovalRequired { action, reason, .. } => {
                Self::ApprovalRequired { action, reason, command: at_a_terminal(command) }
            }
            other => other,
        }
    }

    /// What sort of failure it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Argument { .. } => ErrorKind::Invalid,
            Self::Unread(error) => error.kind(),
            Self::TooLarge { .. } => ErrorKind::TooLarge,
            Self::NotFound { .. } => ErrorKind::NotFound,
            Self::Refused { .. } | Self::Outside { .. } => ErrorKind::Refused,
            Self::ApprovalRequired { .. } => ErrorKind::ApprovalRequired,
            Self::Conflict { .. } => ErrorKind::Conflict,
            Self::NotInitialized { .. } => ErrorKind::NotInitialized,
            Self::Cancelled => ErrorKind::Cancelled,
            Self::Deadline => ErrorKind::Deadline,
            Self::Store(e) => e.kind(),
            Self::Embedding(e) => e.kind(),
            Self::File { .. } | Self::Remote { .. } => ErrorKind::Unavailable,
            Self::Internal(_) => ErrorKind::Internal,
        }
    }

    /// What to do next, as one short sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::Argument { hint, .. } | Self::NotFound { hint, .. } | Self::Conflict { hint, .. } => {
                hint.clone()
            }
            Self::Unread(error) => error.hint(),
            Self::TooLarge { .. } => {
                "split the text, or keep it as a file and run `strata index` on it".into()
            }
            Self::Refused { action, layer, .. } => {
                format!("{}. The refusal is on record", instead_of(action, layer))
            }
            Self::Outside { .. } => {
                "name a path inside the project, or ask a person to run the command. The refusal is on record"
                    .into()
            }
            Self::ApprovalRequired { command, .. } => format!("a human runs: {command}"),
            Self::NotInitialized { .. } => "run `strata init`, or just store something".into(),
            Self::Cancelled => "call again".into(),
            Self::Deadline => "call again, or ask for less".into(),
            Self::Store(e) => e.hint(),
            Self::Embedding(e) => e.hint().into(),
            Self::File { .. } => "check that the path exists and is readable".into(),
            Self::Remote { .. } => {
                "check the service and its table in `config.toml`; everything works without it".into()
            }
            Self::Internal(_) => "run `strata doctor`; if it persists, report the fault".into(),
        }
    }
}
