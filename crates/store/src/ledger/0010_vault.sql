-- The Markdown files of the vault: which generation of each holds, and every generation with its bytes. A file's
-- number is that of its row in sources. A generation without hash is a deletion; one with a hash and without salt was
-- purged, and has no id either; one without content but with a salt was thinned out.

CREATE TABLE vault_files (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    path TEXT NOT NULL,
    path_key TEXT NOT NULL,
    generation INTEGER NOT NULL,
    mtime INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, number)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX vault_files_place ON vault_files (tenant, namespace, path);
CREATE INDEX vault_files_key ON vault_files (tenant, namespace, path_key);

CREATE TABLE vault_generations (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    id TEXT,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    origin TEXT NOT NULL,
    state TEXT NOT NULL,
    writer TEXT NOT NULL,
    size INTEGER NOT NULL,
    hash BLOB,
    salt BLOB,
    content BLOB,
    PRIMARY KEY (tenant, number, generation)
) STRICT;

CREATE INDEX vault_generations_seq ON vault_generations (tenant, seq);
CREATE UNIQUE INDEX vault_generations_id ON vault_generations (tenant, id);

-- What the changelog says of a change to the vault or to the index of it, beside its audit row. Never a body.

CREATE TABLE vault_changes (
    tenant TEXT NOT NULL,
    seq INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    operation TEXT NOT NULL,
    namespace TEXT NOT NULL,
    domain TEXT NOT NULL,
    number INTEGER,
    section TEXT,
    agent_id TEXT,
    tool TEXT NOT NULL,
    summary TEXT NOT NULL,
    reason TEXT NOT NULL,
    source_ref TEXT,
    before_token TEXT,
    after_token TEXT,
    metadata TEXT NOT NULL,
    PRIMARY KEY (tenant, seq, ordinal)
) STRICT;

CREATE INDEX vault_changes_operation ON vault_changes (tenant, namespace, operation);
CREATE UNIQUE INDEX vault_changes_id ON vault_changes (tenant, id);
CREATE INDEX vault_changes_at ON vault_changes (tenant, at);
CREATE INDEX vault_changes_number ON vault_changes (tenant, number) WHERE number IS NOT NULL;
