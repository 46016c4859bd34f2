-- Which knowledge was looked for and read: statistics, not audited, kept for a while. And the entries of the index of
-- knowledge that somebody wrote by hand; the others are made of the files.

CREATE TABLE accesses (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    reader TEXT NOT NULL,
    namespace TEXT NOT NULL,
    path TEXT NOT NULL,
    kind TEXT NOT NULL,
    query TEXT,
    rank INTEGER,
    score REAL,
    PRIMARY KEY (tenant, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX accesses_at ON accesses (tenant, at);
CREATE INDEX accesses_path ON accesses (tenant, namespace, path, at);

CREATE TABLE l0_entries (
    tenant TEXT NOT NULL,
    namespace TEXT NOT NULL,
    path TEXT NOT NULL,
    summary TEXT NOT NULL,
    writer TEXT NOT NULL,
    at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    salt BLOB NOT NULL,
    PRIMARY KEY (tenant, namespace, path)
) STRICT, WITHOUT ROWID;
