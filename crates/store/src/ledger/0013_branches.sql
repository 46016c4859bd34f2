-- What was last seen of the branches that memories stand on. It is no truth: a repository tells it again, so it has no place
-- in the order of changes and is not exported. '' means "none".

CREATE TABLE branches_seen (
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    branch TEXT NOT NULL,
    tip TEXT NOT NULL,
    own_tip TEXT NOT NULL,
    judged TEXT NOT NULL,
    review TEXT NOT NULL,
    PRIMARY KEY (tenant, project, branch)
) STRICT, WITHOUT ROWID;

CREATE INDEX memories_branch ON memories (tenant, project, branch, status) WHERE branch <> '';
