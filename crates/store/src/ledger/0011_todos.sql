-- What is to be done. A row is one version of a todo; a change ends the open row and begins another, like
-- memory_states. Id, scope, session and time of creation are the same in all of them. blocked_by: a JSON list of
-- ids. A deleted todo has a last version that says when.

CREATE TABLE todos (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL,
    from_seq INTEGER NOT NULL,
    to_seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    namespace TEXT NOT NULL,
    project TEXT NOT NULL DEFAULT '',
    branch TEXT NOT NULL DEFAULT '',
    session TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    domain TEXT NOT NULL,
    title TEXT NOT NULL,
    content TEXT NOT NULL,
    blocked_by TEXT NOT NULL,
    priority TEXT NOT NULL,
    status TEXT NOT NULL,
    notes TEXT NOT NULL,
    completed_at INTEGER,
    cancelled_at INTEGER,
    deleted_at INTEGER,
    updated_at INTEGER NOT NULL,
    writer TEXT NOT NULL,
    salt BLOB NOT NULL,
    PRIMARY KEY (tenant, number, from_seq)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX todos_id ON todos (tenant, id) WHERE to_seq = 9223372036854775807;
CREATE INDEX todos_from ON todos (tenant, from_seq);
CREATE INDEX todos_status ON todos (tenant, status, number) WHERE to_seq = 9223372036854775807;
