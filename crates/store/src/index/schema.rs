//! The index's tables. They are derived: a change here raises [`FORMAT`], which names another file,
//! and the old file is left to the binaries that know it.

/// Version of the index's tables and packings; part of the file's name.
pub const FORMAT: u32 = 4;

/// Codes of a segment's state.
pub(crate) mod state {
    /// Postings are being written; readers do not see it.
    pub(crate) const BUILDING: i64 = 0;
    /// Readers use it.
    pub(crate) const PUBLISHED: i64 = 1;
    /// Merged into another; its postings are being removed.
    pub(crate) const RETIRED: i64 = 2;
}

/// The tables. The tenant leads every key, as it does in the ledger; ids are numbered within a tenant.
///
/// - `tenants`: how far the ledger has been followed, which vector set answers searches, and the last id
///   given to a collection or set. An id is never given twice, so that what a process remembers of one
///   cannot pass for another.
/// - `collections`: `slots` passages so far, of which the first `folded` lie in blocks and segments;
///   `revision` rises with every change a reader can see. `birth` is drawn when a collection is made: after the whole
///   index was taken away and made anew, ids and revisions begin again, and births do not. A collection that a rebuild replaced is
///   `retired` under its own id until its rows are gone.
/// - `passages`: where each source's passages are. Its second index holds all that is asked of a source, because
///   SQLite, which reckons that a tenant has ten rows, would rather read all of them than look each up. `tails`: attributes and terms of what is not folded
///   yet. `ends`: which passages of a block are dead, and since when.
pub(crate) const TABLES: &str = "
CREATE TABLE tenants (
    tenant TEXT NOT NULL, epoch TEXT NOT NULL, seq BIGINT NOT NULL, ordinal BIGINT NOT NULL,
    hash BLOB NOT NULL, active_set BIGINT, last_id BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant)
) WITHOUT ROWID;
CREATE TABLE collections (
    tenant TEXT NOT NULL, id BIGINT NOT NULL, namespace TEXT NOT NULL, project TEXT NOT NULL,
    retired BIGINT NOT NULL DEFAULT 0, revision BIGINT NOT NULL DEFAULT 0, slots BIGINT NOT NULL DEFAULT 0,
    folded BIGINT NOT NULL DEFAULT 0, segments BIGINT NOT NULL DEFAULT 0, birth BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX collections_place ON collections (tenant, namespace, project, retired);
CREATE TABLE labels (
    tenant TEXT NOT NULL, collection BIGINT NOT NULL, space BIGINT NOT NULL, number BIGINT NOT NULL,
    word TEXT NOT NULL,
    PRIMARY KEY (tenant, collection, space, number)
) WITHOUT ROWID;
CREATE UNIQUE INDEX label_words ON labels (tenant, collection, space, word);
CREATE TABLE passages (
    tenant TEXT NOT NULL, collection BIGINT NOT NULL, slot BIGINT NOT NULL, source_kind BIGINT NOT NULL,
    source BIGINT NOT NULL, part BIGINT NOT NULL, from_seq BIGINT NOT NULL, to_seq BIGINT NOT NULL,
    PRIMARY KEY (tenant, collection, slot)
) WITHOUT ROWID;
CREATE INDEX passages_of_source ON passages (tenant, source_kind, source, to_seq, from_seq);
CREATE TABLE texts (
    tenant TEXT NOT NULL, collection BIGINT NOT NULL, slot BIGINT NOT NULL, title TEXT NOT NULL,
    body TEXT NOT NULL, place TEXT NOT NULL,
    PRIMARY KEY (tenant, collection, slot)
) WITHOUT ROWID;
CREATE TABLE tails (
    tenant TEXT NOT NULL, collection BIGINT NOT NULL, slot BIGINT NOT NULL, attributes BLOB NOT NULL,
    terms BLOB NOT NULL,
    PRIMARY KEY (tenant, collection, slot)
) WITHOUT ROWID;
CREATE TABLE blocks (
    tenant TEXT NOT NULL, collection BIGINT NOT NULL, block BIGINT NOT NULL, attributes BLOB NOT NULL,
    PRIMARY KEY (tenant, collection, block)
) WITHOUT ROWID;
CREATE TABLE ends (
    tenant TEXT NOT NULL, collection BIGINT NOT NULL, block BIGINT NOT NULL, revision BIGINT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (tenant, collection, block)
) WITHOUT ROWID;
CREATE TABLE vector_sets (
    tenant TEXT NOT NULL, id BIGINT NOT NULL, model TEXT NOT NULL, dimension BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX vector_sets_model ON vector_sets (tenant, model);
CREATE TABLE tail_vectors (
    tenant TEXT NOT NULL, collection BIGINT NOT NULL, vector_set BIGINT NOT NULL, slot BIGINT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (tenant, collection, vector_set, slot)
) WITHOUT ROWID;
CREATE TABLE vector_blocks (
    tenant TEXT NOT NULL, collection BIGINT NOT NULL, vector_set BIGINT NOT NULL, block BIGINT NOT NULL,
    revision BIGINT NOT NULL, missing BIGINT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (tenant, collection, vector_set, block)
);
CREATE TABLE segments (
    tenant TEXT NOT NULL, collection BIGINT NOT NULL, id BIGINT NOT NULL, first_slot BIGINT NOT NULL,
    slots BIGINT NOT NULL, level BIGINT NOT NULL, state BIGINT NOT NULL,
    PRIMARY KEY (tenant, collection, id)
) WITHOUT ROWID;
CREATE TABLE postings (
    tenant TEXT NOT NULL, collection BIGINT NOT NULL, segment BIGINT NOT NULL, term TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (tenant, collection, segment, term)
) WITHOUT ROWID;
";
