-- The knowledge graph: what is spoken of, how it hangs together, and which memories speak of it.

CREATE TABLE entities (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    label TEXT NOT NULL,
    label_key TEXT NOT NULL,
    label_head TEXT NOT NULL,
    kind TEXT NOT NULL,
    properties TEXT NOT NULL,
    namespace TEXT NOT NULL,
    project TEXT NOT NULL DEFAULT '',
    branch TEXT NOT NULL DEFAULT '',
    origin TEXT NOT NULL,
    confidence REAL NOT NULL,
    writer TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, number)
) STRICT;

CREATE UNIQUE INDEX entities_id ON entities (tenant, id);
CREATE UNIQUE INDEX entities_label ON entities (tenant, namespace, project, branch, label_key);
CREATE INDEX entities_head ON entities (tenant, label_head);

-- A relation holds from from_seq up to to_seq, which is the greatest integer while it holds.
CREATE TABLE relations (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    source INTEGER NOT NULL,
    type TEXT NOT NULL,
    target INTEGER NOT NULL,
    properties TEXT NOT NULL,
    namespace TEXT NOT NULL,
    project TEXT NOT NULL DEFAULT '',
    branch TEXT NOT NULL DEFAULT '',
    origin TEXT NOT NULL,
    confidence REAL NOT NULL,
    writer TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at INTEGER,
    from_seq INTEGER NOT NULL,
    to_seq INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (tenant, number)
) STRICT;

CREATE UNIQUE INDEX relations_id ON relations (tenant, id);
CREATE UNIQUE INDEX relations_live ON relations (tenant, source, type, target, namespace, project, branch)
    WHERE to_seq = 9223372036854775807;
CREATE INDEX relations_live_target ON relations (tenant, target, type) WHERE to_seq = 9223372036854775807;
CREATE INDEX relations_source ON relations (tenant, source);
CREATE INDEX relations_target ON relations (tenant, target);

CREATE TABLE entity_mentions (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL,
    entity INTEGER NOT NULL,
    origin TEXT NOT NULL,
    confidence REAL NOT NULL,
    PRIMARY KEY (tenant, number, entity)
) STRICT, WITHOUT ROWID;

CREATE INDEX entity_mentions_entity ON entity_mentions (tenant, entity, number);
