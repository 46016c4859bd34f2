-- How memories stand to each other beside the line of versions: what rests on what, what contradicts what, what a
-- compaction was made of. source and target are numbers of memories. No text.

CREATE TABLE memory_relations (
    tenant TEXT NOT NULL,
    source INTEGER NOT NULL,
    relation TEXT NOT NULL,
    target INTEGER NOT NULL,
    at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, source, relation, target)
) STRICT, WITHOUT ROWID;

CREATE INDEX memory_relations_target ON memory_relations (tenant, target, relation, source);
