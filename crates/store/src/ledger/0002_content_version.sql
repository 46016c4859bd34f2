-- By which formula content_hash was made. Memories stored before keep the first one.

ALTER TABLE memories ADD COLUMN content_version INTEGER NOT NULL DEFAULT 1;
