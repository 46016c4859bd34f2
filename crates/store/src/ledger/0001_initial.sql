-- Truth. tenant leads every key; instants are microseconds UTC; '' means "none" in scope columns.

CREATE TABLE meta (
    tenant TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
    tenant TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE memories (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    birth_layer TEXT NOT NULL,
    namespace TEXT NOT NULL,
    project TEXT NOT NULL DEFAULT '',
    branch TEXT NOT NULL DEFAULT '',
    branch_scope TEXT NOT NULL DEFAULT '',
    commit_id TEXT,
    module_path TEXT,
    parent TEXT,
    topic_key TEXT,
    tags TEXT NOT NULL,
    writer TEXT NOT NULL,
    source TEXT NOT NULL,
    session TEXT,
    created_at INTEGER NOT NULL,
    valid_from INTEGER,
    valid_to INTEGER,
    supersedes TEXT,
    superseded_by TEXT,
    superseded_reason TEXT,
    content_key BLOB NOT NULL,
    salt BLOB NOT NULL,
    content_hash BLOB NOT NULL,
    metadata TEXT NOT NULL,
    seq INTEGER NOT NULL,
    state_seq INTEGER NOT NULL,
    status TEXT NOT NULL,
    tier TEXT NOT NULL,
    layer TEXT NOT NULL,
    confidence REAL NOT NULL,
    importance REAL NOT NULL,
    pinned INTEGER NOT NULL,
    PRIMARY KEY (tenant, number)
) STRICT;

CREATE UNIQUE INDEX memories_id ON memories (tenant, id);
CREATE UNIQUE INDEX memories_live_topic ON memories (tenant, namespace, project, branch, topic_key)
    WHERE topic_key IS NOT NULL AND status IN ('active', 'stale', 'needs_review');
CREATE UNIQUE INDEX memories_live_content ON memories (tenant, namespace, project, branch, content_key)
    WHERE status IN ('active', 'stale', 'needs_review');
CREATE INDEX memories_content ON memories (tenant, content_key);
CREATE INDEX memories_standing ON memories (tenant, namespace, project, branch, layer, kind, status);
CREATE INDEX memories_successor ON memories (tenant, superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE memory_states (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL,
    from_seq INTEGER NOT NULL,
    to_seq INTEGER NOT NULL,
    status TEXT NOT NULL,
    tier TEXT NOT NULL,
    layer TEXT NOT NULL,
    confidence REAL NOT NULL,
    importance REAL NOT NULL,
    pinned INTEGER NOT NULL,
    PRIMARY KEY (tenant, number, from_seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX memory_states_from ON memory_states (tenant, from_seq, number);

CREATE TABLE memory_tags (
    tenant TEXT NOT NULL, tag TEXT NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (tenant, tag, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX memory_tags_number ON memory_tags (tenant, number);

CREATE TABLE bands (
    tenant TEXT NOT NULL, band INTEGER NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (tenant, band, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE evidence (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    kind TEXT NOT NULL,
    reference TEXT NOT NULL,
    note TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (tenant, number, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL,
    recalled INTEGER NOT NULL,
    inspected INTEGER NOT NULL,
    last_recalled_at INTEGER,
    last_inspected_at INTEGER,
    PRIMARY KEY (tenant, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE episodes (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    external_id TEXT,
    session TEXT NOT NULL,
    at INTEGER NOT NULL,
    speaker TEXT NOT NULL,
    role TEXT NOT NULL,
    text TEXT NOT NULL,
    metadata TEXT NOT NULL,
    namespace TEXT NOT NULL,
    project TEXT NOT NULL DEFAULT '',
    branch TEXT NOT NULL DEFAULT '',
    source TEXT NOT NULL,
    writer TEXT NOT NULL,
    seq INTEGER NOT NULL,
    content_key BLOB NOT NULL,
    PRIMARY KEY (tenant, number)
) STRICT;

CREATE UNIQUE INDEX episodes_id ON episodes (tenant, id);
CREATE UNIQUE INDEX episodes_content ON episodes (tenant, content_key);
CREATE INDEX episodes_session ON episodes (tenant, namespace, project, session, at, number);
CREATE INDEX episodes_seq ON episodes (tenant, seq, number);

CREATE TABLE tombstones (
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, kind, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX tombstones_seq ON tombstones (tenant, seq, number);
CREATE INDEX tombstones_id ON tombstones (tenant, id);

CREATE TABLE audit (
    tenant TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    principal TEXT NOT NULL,
    on_behalf_of TEXT,
    face TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    layer TEXT,
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,
    before_hash BLOB,
    after_hash BLOB,
    previous BLOB NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (tenant, seq)
) STRICT;

CREATE INDEX audit_target ON audit (tenant, target, seq);
CREATE INDEX audit_at ON audit (tenant, at);

CREATE TABLE audit_heads (
    tenant TEXT NOT NULL,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    epoch TEXT NOT NULL,
    at INTEGER NOT NULL,
    public_key BLOB NOT NULL,
    signature BLOB NOT NULL,
    PRIMARY KEY (tenant, seq, epoch)
) STRICT, WITHOUT ROWID;

CREATE TABLE refusals (
    tenant TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    first_seq INTEGER NOT NULL,
    count INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, fingerprint)
) STRICT, WITHOUT ROWID;

CREATE TABLE reviews (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    target TEXT NOT NULL,
    proposal TEXT NOT NULL,
    reason TEXT NOT NULL,
    proposer TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    decided_at INTEGER,
    decided_by TEXT,
    decision_note TEXT,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;

CREATE INDEX reviews_status ON reviews (tenant, status, created_at);
CREATE INDEX reviews_target ON reviews (tenant, target);

CREATE TABLE jobs (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    lease_owner TEXT,
    lease_until INTEGER,
    heartbeat INTEGER,
    done INTEGER NOT NULL,
    total INTEGER NOT NULL,
    message TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    result TEXT,
    PRIMARY KEY (tenant, id)
) STRICT;

CREATE INDEX jobs_kind ON jobs (tenant, kind, state, created_at);

CREATE TABLE projects (
    tenant TEXT NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL, created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE project_aliases (
    tenant TEXT NOT NULL, alias TEXT NOT NULL, key TEXT NOT NULL,
    PRIMARY KEY (tenant, alias)
) STRICT, WITHOUT ROWID;

CREATE TABLE sources (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    project TEXT NOT NULL DEFAULT '',
    root TEXT NOT NULL,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime INTEGER NOT NULL,
    hash BLOB NOT NULL,
    state TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, number)
) STRICT;

CREATE UNIQUE INDEX sources_place ON sources (tenant, namespace, project, root, path);
CREATE INDEX sources_seq ON sources (tenant, seq, number);
