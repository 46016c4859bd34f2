//! Everything that can go wrong below the engine, as one type.

use std::{path::PathBuf, time::Duration};

use strata_core::error::{ErrorKind, ParseError};

/// Somebody else got there first, or the change contradicts what is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// The memory already has a successor.
    #[error("`{id}` was already replaced by `{by}`")]
    AlreadySuperseded {
        /// The memory that was to be replaced.
        id: String,
        /// Its present successor.
        by: String,
    },
    /// The successor is among the ancestors of what it would replace.
    #[error("`{by}` cannot replace `{id}`: it is part of that memory's own history")]
    Cycle {
        /// The memory that was to be replaced.
        id: String,
        /// The successor that was offered.
        by: String,
    },
    /// Another live memory of the same scope holds the topic key.
    #[error("topic `{topic}` already belongs to `{by}` in this scope")]
    TopicTaken {
        /// The topic key.
        topic: String,
        /// The memory that holds it.
        by: String,
    },
    /// Another live memory of the same scope has the same content.
    #[error("the same content is already stored as `{by}`")]
    ContentTaken {
        /// The memory that holds it.
        by: String,
    },
    /// The id drawn for something new names something already, or once did.
    #[error("the id `{id}` is in use")]
    IdTaken {
        /// The id.
        id: String,
    },
    /// The caller acted on a state that has changed since.
    #[error("`{id}` changed at sequence {found}; the caller had seen {expected}")]
    StateMoved {
        /// The memory.
        id: String,
        /// The sequence of the state the caller saw.
        expected: i64,
        /// The sequence of the present state.
        found: i64,
    },
    /// The caller compared something with memories of a project that have changed since, or become more.
    #[error("memories of the project changed after sequence {seen}, where the caller had looked")]
    Overtaken {
        /// The last sequence that the caller saw.
        seen: i64,
    },
    /// A job is held by another worker.
    #[error("job `{id}` is held by {owner}")]
    Leased {
        /// The job.
        id: String,
        /// Who holds it.
        owner: String,
    },
    /// A review was decided already.
    #[error("review `{id}` is already {status}")]
    Decided {
        /// The review.
        id: String,
        /// What was decided.
        status: String,
    },
    /// Something is stored where a ledger was to be put.
    #[error("{place} holds a ledger of tenant `{tenant}` already")]
    Occupied {
        /// Where.
        place: String,
        /// Whose.
        tenant: String,
    },
    /// A file changed between reading and writing it.
    #[error("`{}` changed while it was being edited", path.display())]
    FileMoved {
        /// The file.
        path: PathBuf,
    },
    /// A restore would overwrite newer data.
    #[error("the ledger holds sequence {live}, the backup ends at {backup}")]
    NewerData {
        /// Last sequence of the live ledger.
        live: i64,
        /// Last sequence of the backup.
        backup: i64,
    },
}

/// Why there is no encrypted connection to a server as the address asks for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsFailure {
    /// The server does not encrypt.
    #[error("the server offers no TLS")]
    NotOffered,
    /// Nobody who is trusted stands behind its certificate.
    #[error("the server's certificate is signed by nobody who is trusted here")]
    UnknownIssuer,
    /// Its certificate is somebody else's.
    #[error("the server's certificate is not for this host{}", of_names(names))]
    OtherName {
        /// The names it is for.
        names: Vec<String>,
    },
    /// Its certificate is too old.
    #[error("the server's certificate has expired")]
    Expired,
    /// Its certificate is too new.
    #[error("the server's certificate is not valid yet")]
    NotYetValid,
    /// Its certificate proves nothing for another reason.
    #[error("the server's certificate cannot be used: {detail}")]
    Unsuitable {
        /// Why.
        detail: String,
    },
    /// It wants another certificate of ours.
    #[error("the server does not take the client's certificate: {detail}")]
    ClientRefused {
        /// What it said.
        detail: String,
    },
    /// A file that the address names is missing or holds something else.
    #[error("`{option}` names `{}`, which cannot be used: {detail}", path.display())]
    File {
        /// The option.
        option: &'static str,
        /// What it names.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// It does not let this user in unencrypted, which is what was tried last.
    #[error("the server does not let this user in without encryption: {detail}")]
    Wanted {
        /// What it said.
        detail: String,
    },
    /// It cannot bind the password to this connection, as the address asks for.
    #[error("the password cannot be bound to this connection: {detail}")]
    NotBound {
        /// Why.
        detail: String,
    },
    /// Both sides found no common ground.
    #[error("the TLS handshake failed: {detail}")]
    Handshake {
        /// Why.
        detail: String,
    },
}

fn of_names(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(" but for {}", names.join(", ")) }
}

impl TlsFailure {
    /// What to do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NotOffered => {
                "let the administrator turn `ssl` on; where nobody can listen, `sslmode=disable` without \
                 `channel_binding=require` does"
            }
            Self::UnknownIssuer => "name the file of the authority's certificate with `sslrootcert`",
            Self::OtherName { .. } => {
                "name the host as its certificate does among its alternative names; `sslmode=verify-ca` takes any name"
            }
            Self::Expired | Self::NotYetValid => {
                "let the administrator renew it, and look whether this machine's clock is right"
            }
            Self::Unsuitable { .. } => {
                "let the administrator give the server a certificate of version 3 with the host among its alternative names"
            }
            Self::ClientRefused { .. } => {
                "name a certificate that the server trusts with `sslcert` and `sslkey`"
            }
            Self::File { .. } => "correct the option in the address or the environment, or the file",
            Self::Wanted { .. } => {
                "write `sslmode=require`, or better `verify-full`, into the address; if that is refused too, the administrator \
                 lets user, database and host in (pg_hba.conf)"
            }
            Self::NotBound { .. } => {
                "`channel_binding=require` needs TLS and a password kept as SCRAM (`password_encryption = scram-sha-256`, \
                 then set it again); without it write `channel_binding=prefer`"
            }
            Self::Handshake { .. } => {
                "the server must speak TLS 1.2 or 1.3; what it thinks stands in its log"
            }
        }
    }
}

/// Why a role is no application's role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnfitRole {
    /// There is none of that name.
    #[error("is not there")]
    Missing,
    /// It sees every row.
    #[error("is a superuser, whom row security does not bind")]
    Superuser,
    /// The same.
    #[error("has BYPASSRLS, so row security does not bind it")]
    PassesOver,
    /// It can lift row security.
    #[error("owns the schema or has its owner's rights, and can lift row security")]
    Owner,
}

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The write lock or a connection could not be had in time.
    #[error("the store was busy for {} ms", waited.as_millis())]
    Busy {
        /// How long was waited.
        waited: Duration,
    },
    /// The call's deadline passed while the store was at work.
    #[error("the deadline passed before the store had answered")]
    Deadline,
    /// The server ended a statement of its own accord, or by somebody else's: a limit of its administrator's.
    #[error("`{}` ended a statement by itself: {detail}", place.display())]
    Stopped {
        /// User, host and database.
        place: PathBuf,
        /// What the server said, and the limit that is set for this role.
        detail: String,
    },
    /// The caller withdrew the call.
    #[error("the call was cancelled")]
    Cancelled,
    /// No connection to the server could be made.
    #[error("`{}` cannot be reached: {detail}", place.display())]
    Unreachable {
        /// User, host and database.
        place: PathBuf,
        /// What was answered, if anything.
        detail: String,
    },
    /// The server does not let this user in.
    #[error("`{}` does not let this user in: {detail}", place.display())]
    NotAdmitted {
        /// User, host and database.
        place: PathBuf,
        /// What the server said.
        detail: String,
    },
    /// The connection is not encrypted as the address asks for it. The password was not sent.
    #[error("no safe connection to `{}`: {why}", place.display())]
    NotEncrypted {
        /// User, host and database.
        place: PathBuf,
        /// Why not.
        why: TlsFailure,
    },
    /// Something answers there that is no PostgreSQL.
    #[error("what listens at `{}` does not answer as PostgreSQL does: {detail}", place.display())]
    NotPostgres {
        /// User, host and database.
        place: PathBuf,
        /// What it did.
        detail: String,
    },
    /// An address asks for something that there is not.
    #[error("the store's address has an option `{name}`, which Strata does not know")]
    UnknownOption {
        /// The option.
        name: String,
    },
    /// The server's owner has not given this role the right.
    #[error("`{}` does not allow this to its user: {detail}", place.display())]
    Forbidden {
        /// User, host and database.
        place: PathBuf,
        /// What the server said.
        detail: String,
    },
    /// The tables on the server are missing or older than this binary, and this role may not make them.
    #[error(
        "{} {}: {detail}", if *made { "this role may not bring up to date" } else { "no Strata store, and this role may not make one, at" },
        place.display()
    )]
    AwaitsOwner {
        /// User, host and database.
        place: PathBuf,
        /// Whether the schema is there.
        made: bool,
        /// What the server said.
        detail: String,
    },
    /// A role that cannot be the application's.
    #[error("the role `{role}` {why}")]
    UnfitRole {
        /// The role.
        role: String,
        /// Why.
        why: UnfitRole,
    },
    /// The server, or this role's share of it, has no connection left.
    #[error("`{}` has no connection left", place.display())]
    TooManyConnections {
        /// User, host and database.
        place: PathBuf,
    },
    /// The connection broke while the store was at work.
    #[error("the connection to `{}` broke{}", place.display(), if *unknown { " during the commit; whether the change was made is not known" } else { "; nothing was changed" })]
    Disconnected {
        /// User, host and database.
        place: PathBuf,
        /// Whether a commit was on its way, so that the change may have been made.
        unknown: bool,
    },
    /// Nothing is stored at this place yet.
    #[error("no Strata store at {}", path.display())]
    NotInitialized {
        /// Where the database would be.
        path: PathBuf,
    },
    /// A move or a restore to this place ended before it was complete.
    #[error("`{}` was to receive a memory, and that was cut off before it was complete", path.display())]
    CutOff {
        /// The database.
        path: PathBuf,
    },
    /// The place can be read but not written.
    #[error("`{}` is open read-only: {reason}", path.display())]
    ReadOnly {
        /// The database or file.
        path: PathBuf,
        /// Why, in a phrase.
        reason: String,
    },
    /// The disk or the quota is full. Nothing was changed.
    #[error("no space left for `{}`", path.display())]
    Full {
        /// The database or file.
        path: PathBuf,
    },
    /// The operating system refused to read or write. Nothing was changed.
    #[error("cannot {doing} `{}`: {detail}", path.display())]
    Io {
        /// What was attempted, as a verb phrase: "write", "lock".
        doing: &'static str,
        /// The database or file.
        path: PathBuf,
        /// What the operating system said.
        detail: String,
    },
    /// The database would lie on a network or shared file system, where its locks do not hold.
    #[error("`{}` lies on a {filesystem} file system, where the database's locks are not safe", path.display())]
    NetworkFilesystem {
        /// The directory.
        path: PathBuf,
        /// The file system's name.
        filesystem: String,
    },
    /// The database was written by a newer Strata.
    #[error("the {schema} has schema version {found}, which this version (schema {known}) cannot {action}")]
    Newer {
        /// Which database: `ledger` or `index`.
        schema: &'static str,
        /// Version found on disk.
        found: i64,
        /// Newest version this binary knows.
        known: i64,
        /// `read` or `write`.
        action: &'static str,
    },
    /// A migration that was applied is not the one this binary knows under that version.
    #[error("migration {version} ({name}) of the {schema} is not the one that was applied to this database")]
    MigrationChanged {
        /// Which database.
        schema: &'static str,
        /// The migration's version.
        version: i64,
        /// The migration's name.
        name: String,
    },
    /// The file is a database of something else.
    #[error("`{}` is not a Strata {schema}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What was expected.
        schema: &'static str,
    },
    /// Stored data contradicts itself.
    #[error("`{}` is damaged: {detail}", path.display())]
    Corrupt {
        /// The database or file.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// A copy is not like what it was made of. It was removed; what it was made of is as it was.
    #[error("the copy at `{}` is not the same: {detail}; it was removed, and nothing changed at the old place", place.display())]
    CopyDiffers {
        /// Where the copy was.
        place: PathBuf,
        /// What differs.
        detail: String,
    },
    /// Somebody else changed things first.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// No such thing.
    #[error("there is no {what} `{key}`")]
    NotFound {
        /// The kind of thing: `memory`, `episode`.
        what: &'static str,
        /// What was looked for.
        key: String,
    },
    /// An id prefix fits several things.
    #[error("`{prefix}` fits {}", candidates.join(", "))]
    Ambiguous {
        /// The prefix given.
        prefix: String,
        /// Ids that it fits, at most ten.
        candidates: Vec<String>,
    },
    /// The request can never succeed as it stands.
    #[error("{0}")]
    Invalid(String),
    /// A stored word that this version does not know, or a malformed id.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// A statement of Strata's own is wrong.
    #[error("internal database error: {0}")]
    Internal(String),
}

/// What is wrong with a file that somebody named by mistake.
pub(crate) const NOT_A_DATABASE: &str = "it does not begin as a SQLite database does";

impl StoreError {
    /// What sort of failure it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Busy { .. } => ErrorKind::Busy,
            Self::Deadline | Self::Stopped { .. } => ErrorKind::Deadline,
            Self::Cancelled => ErrorKind::Cancelled,
            Self::NotInitialized { .. } | Self::CutOff { .. } | Self::AwaitsOwner { made: false, .. } => {
                ErrorKind::NotInitialized
            }
            Self::TooManyConnections { .. } => ErrorKind::Busy,
            Self::Unreachable { .. }
            | Self::NotAdmitted { .. }
            | Self::NotEncrypted { .. }
            | Self::NotPostgres { .. }
            | Self::Forbidden { .. }
            | Self::AwaitsOwner { made: true, .. }
            | Self::Disconnected { .. }
            | Self::ReadOnly { .. }
            | Self::Full { .. }
            | Self::Io { .. }
            | Self::NetworkFilesystem { .. } => ErrorKind::Unavailable,
            Self::Newer { .. } => ErrorKind::Newer,
            Self::MigrationChanged { .. }
            | Self::Foreign { .. }
            | Self::Corrupt { .. }
            | Self::CopyDiffers { .. } => ErrorKind::Corrupt,
            Self::Conflict(_) => ErrorKind::Conflict,
            Self::NotFound { .. } => ErrorKind::NotFound,
            Self::Ambiguous { .. }
            | Self::Invalid(_)
            | Self::UnknownOption { .. }
            | Self::UnfitRole { .. }
            | Self::Parse(_) => ErrorKind::Invalid,
            Self::Internal(_) => ErrorKind::Internal,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Busy { .. } => {
                "try again; if it stays busy, look for a stuck process with `strata doctor`".into()
            }
            Self::Deadline => "ask for less, or allow more time".into(),
            Self::Stopped { .. } => {
                "let the administrator raise `statement_timeout` of the role or the database, or ask for less".into()
            }
            Self::Cancelled => "nothing was changed; call again when wanted".into(),
            Self::NotInitialized { .. } => "run `strata init`, or just store something".into(),
            Self::Unreachable { .. } => {
                "check that the server runs and that host, port and database of the address are right".into()
            }
            Self::NotAdmitted { detail, .. } if detail.contains("pg_hba.conf") => {
                "let the administrator let user, database and host in (pg_hba.conf), encrypted or not as the message says".into()
            }
            Self::NotAdmitted { .. } => {
                "check the user and the password of the address, and what the server's administrator allows".into()
            }
            Self::NotEncrypted { why, .. } => why.hint().into(),
            Self::NotPostgres { .. } => {
                "check host and port of the address, and that PostgreSQL is what listens there, usually on port 5432; a proxy before \
                 a server that is down does the same"
                    .into()
            }
            Self::UnknownOption { .. } => {
                "leave it out; there are sslmode, sslrootcert, sslcert, sslkey, channel_binding, connect_timeout, \
                 application_name, host, hostaddr"
                    .into()
            }
            Self::Forbidden { .. } => {
                "let the schema's owner give the role its rights: `strata init --store ... --app-role ROLE`".into()
            }
            Self::AwaitsOwner { .. } => {
                "let the database's owner run `strata init --store ... --app-role ROLE`, with this role's name for ROLE".into()
            }
            Self::UnfitRole { why: UnfitRole::Missing, role } => {
                format!("let the administrator make it: CREATE ROLE {role} LOGIN NOSUPERUSER NOBYPASSRLS; then run this again")
            }
            Self::UnfitRole { .. } => {
                "nothing was changed; name a role of its own, or leave it out: the owner uses the store without it".into()
            }
            Self::CutOff { .. } => {
                "run the same `strata migrate-store` again: it begins anew, and the old place is as it was; or run \
                 `strata init` to begin with an empty store here"
                    .into()
            }
            Self::TooManyConnections { .. } => {
                "try again; if it stays so, let the administrator raise `max_connections` or the role's limit".into()
            }
            Self::Disconnected { unknown: true, .. } => "look whether the change is there before repeating it".into(),
            Self::Disconnected { .. } => "try again".into(),
            Self::ReadOnly { .. } => {
                "reading works; to write, make the store writable or choose another with `--home` or `--store`".into()
            }
            Self::Full { .. } => "free some space and try again; nothing was changed".into(),
            Self::Io { path, .. } if path.starts_with("postgres:") => {
                "let the server's administrator look at its disk and its log".into()
            }
            Self::Io { .. } => {
                "check the disk and the permissions of the home, then run `strata doctor`".into()
            }
            Self::NetworkFilesystem { .. } => {
                "set `STRATA_HOME` to a directory on a local disk; the vault may stay on the share".into()
            }
            Self::Newer { .. } => "update Strata; the data is untouched".into(),
            Self::MigrationChanged { .. } => {
                "use the version of Strata that wrote this database, or restore a backup".into()
            }
            Self::Foreign { .. } => "choose another home, or move that file away".into(),
            Self::Corrupt { detail, .. } if detail == NOT_A_DATABASE => {
                "name the database; this is another file".into()
            }
            Self::Corrupt { .. } => "run `strata doctor`; restore the newest backup if it agrees".into(),
            Self::CopyDiffers { .. } => {
                "end what writes to either place and try again; if it comes back, run `strata doctor --full` on the old \
                 place and look for triggers or rules on the new one's tables"
                    .into()
            }
            Self::Conflict(Conflict::Leased { .. }) => "wait until the other worker has finished".into(),
            Self::Conflict(Conflict::Occupied { .. }) => {
                "name an empty place; `export` there and `load` here put two memories together".into()
            }
            Self::Conflict(Conflict::NewerData { .. }) => {
                "make a backup of what is stored now, then restore with `force`".into()
            }
            Self::Conflict(Conflict::IdTaken { .. }) => "draw another id and try again".into(),
            Self::Conflict(Conflict::ContentTaken { by }) => {
                format!("forget `{by}` first if this shall take its place, then try again")
            }
            Self::Conflict(_) => "read it again and decide anew".into(),
            Self::NotFound { .. } => "check the id; deleted things are shown by their whole id only".into(),
            Self::Ambiguous { .. } => "give more characters of the id".into(),
            Self::Parse(wrong) => wrong.allowed.clone(),
            Self::Invalid(_) => "correct the request and send it again".into(),
            Self::Internal(_) => "this is a fault of Strata; report it".into(),
        }
    }

    /// Whether the same job may succeed if it is simply run again.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Busy { .. })
    }
}
