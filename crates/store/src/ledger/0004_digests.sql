-- Which raw material a digest was made of. What stands here is consolidated. kind: 'episode' or 'memory';
-- quoted: whether words of it stand in the digest. No text, so a purge keeps the rows of a purged digest.

CREATE TABLE digests (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    source INTEGER NOT NULL,
    quoted INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, number, kind, source)
) STRICT, WITHOUT ROWID;

CREATE INDEX digests_source ON digests (tenant, kind, source, number);
