-- What a memory of kind rule has beside its state: append-only but for the end of the open row, like
-- memory_states. A rule without a row has the defaults: priority 100, no condition, enabled.

CREATE TABLE rules (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL,
    from_seq INTEGER NOT NULL,
    to_seq INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    condition TEXT,
    enabled INTEGER NOT NULL,
    PRIMARY KEY (tenant, number, from_seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX rules_from ON rules (tenant, from_seq, number);
