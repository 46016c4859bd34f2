//! The hash chain of the audit.
//!
//! Every entry is hashed together with the hash before it, so that no entry can be changed, removed,
//! moved or added without [`verify`] naming the first place where the chain no longer holds. What the
//! chain alone cannot see, a tail cut off or a chain recomputed as a whole, is seen by comparing it
//! with a [`Checkpoint`] that a human signed (see [`crate::signing`]).
//!
//! This module knows nothing of how entries are stored. Texts are taken as they lie in storage, so
//! that verification never depends on how a newer version would read them.

use crate::{
    error::{ErrorKind, ParseError},
    time::Timestamp,
};

/// The hash before the first entry.
pub const GENESIS: [u8; 32] = [0; 32];

/// Separates these hashes from every other use of BLAKE3. Changing the encoding needs a new context.
const CONTEXT: &str = "strata 2026-11-29 audit chain entry v1";

/// How an audited action ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It was carried out.
    Done,
    /// It was refused, and nothing changed.
    Refused,
}

impl Outcome {
    /// The stored word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
        }
    }

    /// Parses the stored word.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        match text {
            "done" => Ok(Self::Done),
            "refused" => Ok(Self::Refused),
            _ => Err(ParseError::new("outcome", text, "use done or refused")),
        }
    }
}

/// One line of the audit. Never carries a body: the hashes stand for the text before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Position in the chain: 1, 2, 3, ... without gaps.
    pub seq: i64,
    /// When it happened; never earlier than the entry before.
    pub at: Timestamp,
    /// Who acted, as text (`agent:claude-code`).
    pub principal: String,
    /// For whom, when the principal acted for another.
    pub on_behalf_of: Option<String>,
    /// The face the call came in through (`mcp`, `cli`, ...).
    pub face: String,
    /// What was done or attempted (`remember`, `forget`, ...).
    pub action: String,
    /// What it was done to: an id, a path or a name. Empty when the action has no target.
    pub target: String,
    /// The layer of the target, where it has one.
    pub layer: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it was done or refused. Empty when none was given.
    pub reason: String,
    /// Hash of the text before, where there was one.
    pub before_hash: Option<[u8; 32]>,
    /// Hash of the text after, where there is one.
    pub after_hash: Option<[u8; 32]>,
}

/// An entry with its place in the chain, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedEntry {
    /// The entry.
    pub entry: AuditEntry,
    /// The hash of the entry before, or [`GENESIS`].
    pub previous: [u8; 32],
    /// `link(&previous, &entry)`.
    pub hash: [u8; 32],
}

impl LinkedEntry {
    /// Appends `entry` to the chain that ends in `previous`.
    pub fn new(previous: &[u8; 32], entry: AuditEntry) -> Self {
        let hash = link(previous, &entry);
        Self { entry, previous: *previous, hash }
    }
}

/// The hash of `entry` in the chain that ends in `previous`: BLAKE3 in key-derivation mode over the
/// previous hash and every field. Integers are 8 bytes little-endian, texts are preceded by their
/// length in bytes, options by 0 or 1, so that no two different entries encode alike.
pub fn link(previous: &[u8; 32], entry: &AuditEntry) -> [u8; 32] {
    let mut bytes = Canonical::default();
    bytes.hash(previous).integer(entry.seq).integer(entry.at.0);
    bytes.text(&entry.principal).optional_text(entry.on_behalf_of.as_deref());
    bytes.text(&entry.face).text(&entry.action).text(&entry.target);
    bytes.optional_text(entry.layer.as_deref()).text(entry.outcome.as_str()).text(&entry.reason);
    bytes.optional_hash(entry.before_hash.as_ref()).optional_hash(entry.after_hash.as_ref());
    blake3::derive_key(CONTEXT, &bytes.0)
}

/// The end of a verified chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Position of the last entry; 0 for an empty chain.
    pub seq: i64,
    /// Its hash.
    pub hash: [u8; 32],
    /// Its time.
    pub at: Timestamp,
}

impl Head {
    /// The head of an empty chain.
    pub const GENESIS: Self = Self { seq: 0, hash: GENESIS, at: Timestamp(i64::MIN) };

    /// Verifies one more entry and moves to it. A chain too long for one pass is followed from head
    /// to head.
    pub fn follow(self, row: &LinkedEntry) -> Result<Self, Break> {
        let seq = row.entry.seq;
        let expected = self.seq.saturating_add(1);
        if seq > expected {
            return Err(Break::Gap { expected, found: seq });
        }
        if seq < expected || seq == self.seq {
            return Err(Break::Misplaced { expected, found: seq });
        }
        if row.previous != self.hash || link(&self.hash, &row.entry) != row.hash {
            return Err(Break::Tampered { seq });
        }
        if row.entry.at < self.at {
            return Err(Break::BackInTime { seq, at: row.entry.at, before: self.at });
        }
        Ok(Self { seq, hash: row.hash, at: row.entry.at })
    }

    /// Compares this head with one that was signed. Call it when the chain has been followed to
    /// `signed.seq`, or to its end when that comes earlier; a head beyond the checkpoint says nothing
    /// about it and passes.
    pub fn check(&self, signed: &Checkpoint) -> Result<(), Break> {
        if self.seq < signed.seq {
            return Err(Break::CutTail { last: self.seq, signed: signed.seq });
        }
        if self.seq == signed.seq && self.hash != signed.hash {
            return Err(Break::Rewritten { seq: signed.seq });
        }
        Ok(())
    }
}

/// A head that a human signed earlier; see [`crate::signing::PublicKey::verify_head`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    /// Position of the signed entry.
    pub seq: i64,
    /// Hash of the signed entry.
    pub hash: [u8; 32],
}

/// Verifies a whole chain from its first entry and returns its head.
pub fn verify<'a>(rows: impl IntoIterator<Item = &'a LinkedEntry>) -> Result<Head, Break> {
    rows.into_iter().try_fold(Head::GENESIS, Head::follow)
}

/// Verifies a whole chain and that it still contains every signed head.
pub fn verify_signed<'a>(
    rows: impl IntoIterator<Item = &'a LinkedEntry>,
    signed: &[Checkpoint],
) -> Result<Head, Break> {
    let mut head = Head::GENESIS;
    for row in rows {
        head = head.follow(row)?;
        for checkpoint in signed.iter().filter(|c| c.seq == head.seq) {
            head.check(checkpoint)?;
        }
    }
    signed.iter().try_for_each(|checkpoint| head.check(checkpoint))?;
    Ok(head)
}

/// The first place where a chain does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Break {
    /// Entries are missing.
    #[error("audit entries {expected} to {} are missing", .found.saturating_sub(1))]
    Gap {
        /// The position that should have come next.
        expected: i64,
        /// The position that came.
        found: i64,
    },
    /// An entry stands where it does not belong: repeated, added or moved.
    #[error("audit entry {found} stands where entry {expected} belongs")]
    Misplaced {
        /// The position that should have come next.
        expected: i64,
        /// The position that came.
        found: i64,
    },
    /// The entry, or the link to the one before, is not what was hashed.
    #[error("audit entry {seq} was changed after it was written")]
    Tampered {
        /// Its position.
        seq: i64,
    },
    /// The entry is older than the one before.
    #[error("audit entry {seq} is dated {}, before its predecessor ({})", .at.to_rfc3339(), .before.to_rfc3339())]
    BackInTime {
        /// Its position.
        seq: i64,
        /// Its time.
        at: Timestamp,
        /// The time of the entry before.
        before: Timestamp,
    },
    /// The chain ends before a head that was signed.
    #[error("the audit ends at entry {last}, but entry {signed} was signed: its tail was cut off")]
    CutTail {
        /// The last position there is.
        last: i64,
        /// The position that was signed.
        signed: i64,
    },
    /// The chain holds, but it is not the one that was signed.
    #[error("audit entry {seq} differs from what was signed: the chain was recomputed")]
    Rewritten {
        /// The position that was signed.
        seq: i64,
    },
}

impl Break {
    /// Always corruption.
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Corrupt
    }

    /// What to do next.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Gap { .. } | Self::CutTail { .. } => {
                "compare with a backup: `strata backup list`; entries before the break are intact"
            }
            Self::Misplaced { .. } | Self::Tampered { .. } | Self::Rewritten { .. } => {
                "somebody edited the database: compare with a backup (`strata backup list`) and find out who can write to the home"
            }
            Self::BackInTime { .. } => {
                "the writer did not keep the clock rule; check which version of Strata wrote this entry"
            }
        }
    }

    /// The position in the chain where it breaks.
    pub const fn seq(&self) -> i64 {
        match *self {
            Self::Gap { expected, .. } | Self::Misplaced { expected, .. } => expected,
            Self::Tampered { seq } | Self::BackInTime { seq, .. } | Self::Rewritten { seq } => seq,
            Self::CutTail { last, .. } => last.saturating_add(1),
        }
    }
}

/// Bytes that say where each field ends, for hashes and signatures.
#[derive(Default)]
pub(crate) struct Canonical(pub(crate) Vec<u8>);

impl Canonical {
    pub(crate) fn integer(&mut self, value: i64) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(&(text.len() as u64).to_le_bytes());
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    pub(crate) fn hash(&mut self, hash: &[u8; 32]) -> &mut Self {
        self.0.extend_from_slice(hash);
        self
    }

    fn optional_text(&mut self, text: Option<&str>) -> &mut Self {
        self.0.push(u8::from(text.is_some()));
        if let Some(text) = text {
            self.text(text);
        }
        self
    }

    fn optional_hash(&mut self, hash: Option<&[u8; 32]>) -> &mut Self {
        self.0.push(u8::from(hash.is_some()));
        if let Some(hash) = hash {
            self.hash(hash);
        }
        self
    }
}
