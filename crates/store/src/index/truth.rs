//! What the index asks of the ledger: an ordered stream of changes, and the neighbours of a turn.

use strata_core::memory::Layer;

use crate::error::StoreError;

/// The ledger as the index follows it. Implemented over one snapshot or over live tables: a change
/// that is delivered twice does no harm. It is read by one thread while another one writes what it told before.
pub trait TruthReader: Sync {
    /// The ledger's epoch. Another epoch than the cursor's rebuilds the index.
    fn epoch(&self) -> Result<String, StoreError>;

    /// The last sequence of the ledger; 0 when nothing was written yet.
    fn head(&self) -> Result<i64, StoreError>;

    /// The audit hash at `seq`, `None` when there is no such row. A cursor whose hash differs follows
    /// another history, and rebuilds.
    fn hash_at(&self, seq: i64) -> Result<Option<Vec<u8>>, StoreError>;

    /// The same together, and the hash at the head.
    fn standing(&self, seq: i64) -> Result<Standing, StoreError> {
        let (epoch, head) = (self.epoch()?, self.head()?);
        let (hash, head_hash) = (self.hash_at(seq)?, self.hash_at(head)?);
        Ok(Standing { epoch, head, head_hash: head_hash.unwrap_or_default(), hash })
    }

    /// At most `limit` changes after `mark`, ascending by mark; none only when no more follow. Fewer when no more follow, or when
    /// these are as much as should be held at a time. A source appears at most once per sequence; a source that has changed again since may be left out or shown as it was then. When a
    /// turn is purged, the [`WINDOW`] turns after it change at the same sequence.
    fn changes(&self, after: Mark, limit: usize) -> Result<Vec<Change>, StoreError>;

    /// The same for somebody who waits: what takes long to read is left out.
    fn changes_at_hand(&self, after: Mark, limit: usize) -> Result<Vec<Change>, StoreError> {
        self.changes(after, limit)
    }

    /// The last changes of memories behind `after`, at most `limit`, in order.
    fn latest_of_memories(&self, after: Mark, limit: usize) -> Result<Vec<Change>, StoreError>;

    /// How many changes [`TruthReader::changes`] would still deliver after `mark`.
    fn pending(&self, after: Mark) -> Result<u64, StoreError>;

    /// The turns of `session` in `collection` from [`WINDOW`] turns before `first` to [`WINDOW`] turns
    /// after `last`, inclusive, in order of (order, source number), as the ledger has them now.
    fn session_span(
        &self,
        collection: &CollectionKey,
        session: &str,
        first: Turn,
        last: Turn,
    ) -> Result<Vec<Change>, StoreError>;
}

/// Where a ledger stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Its epoch.
    pub epoch: String,
    /// Its last sequence; 0 when nothing was written yet.
    pub head: i64,
    /// The audit hash there; empty when nothing was written yet.
    pub head_hash: Vec<u8>,
    /// The audit hash at the sequence that was asked for, `None` when there is no such row.
    pub hash: Option<Vec<u8>>,
}

/// Turns before a turn that its vector also covers, and so turns after it that a late insert re-indexes.
pub const WINDOW: usize = 2;

/// A turn's place in its session: (order key, source number).
pub type Turn = (i64, i64);

/// A place in the stream of changes: after everything up to and including it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Mark {
    /// Ledger sequence.
    pub seq: i64,
    /// Orders the changes of one sequence, [`i64::MAX`] being behind them all: the source's number, with
    /// its table above it where one sequence changes several tables.
    pub ordinal: i64,
}

/// The collection of one (tenant, namespace, project); project `""` is the user level.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectionKey {
    /// Tenant, `local` on SQLite.
    pub tenant: String,
    /// Namespace.
    pub namespace: String,
    /// Project key, or `""`.
    pub project: String,
}

impl CollectionKey {
    /// Names a collection.
    pub fn new(tenant: &str, namespace: &str, project: &str) -> Self {
        Self { tenant: tenant.into(), namespace: namespace.into(), project: project.into() }
    }
}

/// What sort of thing a passage points back at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceKind {
    /// A memory of the ledger.
    Memory,
    /// An episode of the ledger.
    Episode,
    /// An indexed file.
    Document,
}

impl SourceKind {
    /// Every kind, by code.
    pub const ALL: [Self; 3] = [Self::Memory, Self::Episode, Self::Document];

    /// The code in the index's tables.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The kind with this code.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

/// A thing of truth: its kind and its number in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source {
    /// Which table of truth.
    pub kind: SourceKind,
    /// Its number there.
    pub number: i64,
}

/// One source as it stands from a sequence on.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Where in the stream.
    pub mark: Mark,
    /// What changed.
    pub source: Source,
    /// Its searchable state; `None` when it is out of every search.
    pub subject: Option<Subject>,
}

/// The order of a source whose place in its group is not known.
pub(super) const UNPLACED: i64 = i64::MIN;

/// How a source's passages relate to others.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Group {
    /// It stands alone; the parts of a long body are a group of their own.
    #[default]
    Alone,
    /// A turn of a session.
    Session(String),
    /// It comes from a session, but its place there is not known.
    From(String),
    /// A chunk of a document; `order` places it.
    Document(String),
}

/// A piece of text under a title.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Section {
    /// Title or heading path, searched with every part of the body; may be empty.
    pub title: String,
    /// The text.
    pub body: String,
    /// What the caller wants to know again of a section that comes from a file: where it stands there, what it is.
    /// Neither searched nor embedded. Once such a section is dead, its text is removed: its file has another by then.
    pub place: String,
}

/// Everything about a source that search needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// Where it is searched.
    pub collection: CollectionKey,
    /// What it says: one section for a turn or a memory, one per heading for a document.
    pub sections: Vec<Section>,
    /// What it belongs to.
    pub group: Group,
    /// Place within the group: microseconds for turns, position for chunks.
    pub order: i64,
    /// Who said or wrote it; may be empty.
    pub owner: String,
    /// When it happened, microseconds UTC.
    pub at: i64,
    /// Its layer.
    pub layer: Layer,
    /// Its kind.
    pub kind: String,
    /// Its branch, or `""`.
    pub branch: String,
    /// 0 to 1.
    pub confidence: f32,
    /// 0 to 1.
    pub importance: f32,
    /// Whether the text is source code.
    pub is_code: bool,
    /// Marks of the caller's, matched by [`super::Filter`]: the low 24 bits are kept.
    pub marks: u32,
    /// Whether the index must keep the text, because no table of truth has it.
    pub keep_text: bool,
    /// Whether its titles are `domain > heading`, with headings that are embedded without the numbers, dates and versions
    /// in them: those say nothing of what a section is about, but whoever names one looks for it.
    pub has_numbered_titles: bool,
}
