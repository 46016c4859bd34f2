//! The one path to the files of the vault: [`locate`] says where a domain lies, [`list`] and [`read`] show what is
//! there, [`edit`] changes it.
//!
//! In a home the files are the truth: whatever hands did to them is noticed and kept before anything else happens. On
//! a server the rows of the ledger are the files. Callers see no difference.

mod edit;
mod event;
mod following;
mod held;
mod joined;
mod look;
mod place;
mod read;
mod record;
mod state;
mod store;
mod upkeep;

use strata_core::{
    knowledge::name::{Name, VaultPath},
    time::Timestamp,
};
use strata_store::ledger::VaultHead;

pub(crate) use edit::edit_alone;
pub use edit::{Change, EditAll, Edited, Written, edit, edit_all};
pub use event::Event;
pub(crate) use following::follow;
pub(crate) use joined::Joined;
pub(crate) use look::visible;
pub use look::{Problem, Seen, known, list, look, look_around, look_everywhere, notice};
pub use place::{Place, locate, namespaces, own_namespace};
pub(crate) use place::{is_secret, unreadable};
pub(crate) use place::{locate_among, locate_existing};
pub use read::{FileText, ParsedFile, generation_text, history, parsed, read};
pub use record::record;
pub(crate) use record::{record_where, record_with};
pub use state::VaultState;
pub(crate) use upkeep::{ABANDONED, abandoned, clear_abandoned, materialise, thin};

pub use strata_store::{
    ledger::{GenerationRow, Origin},
    vault::MAX_FILE,
};

use crate::{error::Error, gate::Gate};

/// A file as it was last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHead {
    /// The namespace it belongs to.
    pub namespace: Name,
    /// Where it lies below the namespace: `infra/proxy.md`.
    pub path: VaultPath,
    /// Names it within the ledger.
    pub number: i64,
    /// The generation that holds.
    pub generation: i64,
    /// Bytes.
    pub size: u64,
    /// When it was last changed.
    pub mtime: Timestamp,
    /// The salted hash of its bytes; `None` when it is gone.
    pub hash: Option<[u8; 32]>,
    /// The change that brought this generation.
    pub seq: i64,
    /// Whether it can be read.
    pub state: FileState,
}

impl FileHead {
    /// The domain: the file's name without `.md`.
    pub fn domain(&self) -> &str {
        self.path.domain()
    }

    /// Whether it is there and can be read.
    pub fn is_present(&self) -> bool {
        self.state == FileState::Present
    }

    /// Where it lies.
    pub fn place(&self) -> Place {
        Place {
            namespace: self.namespace.clone(),
            path: self.path.clone(),
            exists: self.state != FileState::Gone,
        }
    }

    fn of(head: &VaultHead) -> Result<Self, Error> {
        let unreadable = |what: &str| Error::Internal(format!("the ledger holds the {what} of no file"));
        let state = if head.is_present() { FileState::Present } else { FileState::Gone };
        Ok(Self {
            namespace: Name::parse(&head.namespace).map_err(|_| unreadable("namespace"))?,
            path: VaultPath::parse(&head.path).map_err(|_| unreadable("path"))?,
            number: head.number,
            generation: head.generation,
            size: u64::try_from(head.size).unwrap_or(0),
            mtime: head.mtime,
            hash: head.hash,
            seq: head.seq,
            state,
        })
    }
}

/// Whether a file can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    /// It is there.
    Present,
    /// It was deleted. Its generations stay.
    Gone,
    /// It, or its folder, could not be looked at. This says nothing about whether it is there.
    Unavailable(String),
    /// It is there and is no text of the vault: not UTF-8, too large, a link.
    Unreadable(String),
}

/// Lets a text through the gate that will become a file, or a part of one, of at most [`MAX_FILE`] bytes. Whatever a
/// caller brings passes here, or [`Gate`] itself, before an edit puts it between what is there already.
///
/// # Errors
/// `TooLarge`; an argument error when nothing remains to store.
pub fn admit(gate: &mut Gate, field: &str, text: &str) -> Result<String, Error> {
    gate.text(field, text, usize::try_from(MAX_FILE).unwrap_or(usize::MAX))
}
