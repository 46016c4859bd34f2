-- A text is searched for the labels of entities as a dictionary is: in the order of their keys. Of an entity with very
-- many relations only the first are read.

CREATE INDEX entities_key ON entities (tenant, label_key);
CREATE INDEX relations_leaving ON relations (tenant, source, number) WHERE to_seq = 9223372036854775807;
CREATE INDEX relations_entering ON relations (tenant, target, number) WHERE to_seq = 9223372036854775807;
