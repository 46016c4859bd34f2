//! The index's tables. They are derived: a change here raises [`FORMAT`], which names another file,
//! and the old file is left to the binaries that know it.

/// Version of the index's tables and packings; part of the file's name.
pub const FORMAT: u32 = 1;

/// Codes of a segment's state.
pub(crate) mod state {
    /// Postings are being written; readers do not see it.
    pub(crate) const BUILDING: i64 = 0;
    /// Readers use it.
    pub(crate) const PUBLISHED: i64 = 1;
    /// Merged into another; its postings are being removed.
    pub(crate) const RETIRED: i64 = 2;
}

/// The tables.
///
/// - `tenants`: how far the ledger has been followed, and which vector set answers searches.
/// - `collections`: `slots` passages so far, of which the first `folded` lie in blocks and segments;
///   `revision` rises with every change a reader can see. A collection that a rebuild replaced is
///   `retired` under its own id until its rows are gone.
/// - `passages`: where each source's passages are. `tails`: attributes and terms of what is not folded
///   yet. `ends`: which passages of a block are dead, and since when.
pub(crate) const TABLES: &str = "
CREATE TABLE tenants (
    tenant TEXT PRIMARY KEY, epoch TEXT NOT NULL, seq BIGINT NOT NULL, ordinal BIGINT NOT NULL,
    hash BLOB NOT NULL, active_set BIGINT
) WITHOUT ROWID;
CREATE TABLE collections (
    id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, namespace TEXT NOT NULL, project TEXT NOT NULL,
    retired BIGINT NOT NULL DEFAULT 0, revision BIGINT NOT NULL DEFAULT 0, slots BIGINT NOT NULL DEFAULT 0,
    folded BIGINT NOT NULL DEFAULT 0, segments BIGINT NOT NULL DEFAULT 0,
    UNIQUE (tenant, namespace, project, retired)
);
CREATE TABLE labels (
    collection BIGINT NOT NULL, space BIGINT NOT NULL, number BIGINT NOT NULL, word TEXT NOT NULL,
    PRIMARY KEY (collection, space, number)
) WITHOUT ROWID;
CREATE UNIQUE INDEX label_words ON labels (collection, space, word);
CREATE TABLE passages (
    collection BIGINT NOT NULL, slot BIGINT NOT NULL, source_kind BIGINT NOT NULL, source BIGINT NOT NULL,
    part BIGINT NOT NULL, from_seq BIGINT NOT NULL, to_seq BIGINT NOT NULL,
    PRIMARY KEY (collection, slot)
) WITHOUT ROWID;
CREATE INDEX passages_of_source ON passages (source_kind, source);
CREATE TABLE texts (
    collection BIGINT NOT NULL, slot BIGINT NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (collection, slot)
) WITHOUT ROWID;
CREATE TABLE tails (
    collection BIGINT NOT NULL, slot BIGINT NOT NULL, attributes BLOB NOT NULL, terms BLOB NOT NULL,
    PRIMARY KEY (collection, slot)
) WITHOUT ROWID;
CREATE TABLE blocks (
    collection BIGINT NOT NULL, block BIGINT NOT NULL, attributes BLOB NOT NULL,
    PRIMARY KEY (collection, block)
) WITHOUT ROWID;
CREATE TABLE ends (
    collection BIGINT NOT NULL, block BIGINT NOT NULL, revision BIGINT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (collection, block)
) WITHOUT ROWID;
CREATE TABLE vector_sets (
    id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, model TEXT NOT NULL, dimension BIGINT NOT NULL,
    UNIQUE (tenant, model)
);
CREATE TABLE tail_vectors (
    collection BIGINT NOT NULL, vector_set BIGINT NOT NULL, slot BIGINT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (collection, vector_set, slot)
) WITHOUT ROWID;
CREATE TABLE vector_blocks (
    collection BIGINT NOT NULL, vector_set BIGINT NOT NULL, block BIGINT NOT NULL, revision BIGINT NOT NULL,
    missing BIGINT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (collection, vector_set, block)
);
CREATE TABLE segments (
    collection BIGINT NOT NULL, id BIGINT NOT NULL, first_slot BIGINT NOT NULL, slots BIGINT NOT NULL,
    level BIGINT NOT NULL, state BIGINT NOT NULL,
    PRIMARY KEY (collection, id)
) WITHOUT ROWID;
CREATE TABLE postings (
    collection BIGINT NOT NULL, segment BIGINT NOT NULL, term TEXT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (collection, segment, term)
) WITHOUT ROWID;
";
