-- Named places in the order of changes. A row is never changed, but that a purge blanks a label that repeats
-- what it erases.

CREATE TABLE snapshots (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    seq INTEGER NOT NULL,
    label TEXT NOT NULL,
    who TEXT NOT NULL,
    at INTEGER NOT NULL,
    live INTEGER NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX snapshots_seq ON snapshots (tenant, seq);

-- What a purge took out of a snapshot: the hash of the memory as the snapshot holds it, so that the snapshot's
-- own hash can still be checked.
CREATE TABLE snapshot_losses (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    number INTEGER NOT NULL,
    hash BLOB NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, name, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX memories_predecessor ON memories (tenant, supersedes) WHERE supersedes IS NOT NULL;
