-- What the audit has the hash of. Raw events and questions that were stored before have no digest and stay
-- uncovered. A purge takes the salt and leaves the digest, so that the rest of a batch can still be checked.

ALTER TABLE episodes ADD COLUMN salt BLOB;
ALTER TABLE episodes ADD COLUMN digest BLOB;

-- Of a purged event: its digest, and the change that stored it.
ALTER TABLE tombstones ADD COLUMN digest BLOB;
ALTER TABLE tombstones ADD COLUMN stored_seq INTEGER;

ALTER TABLE reviews ADD COLUMN salt BLOB;
ALTER TABLE reviews ADD COLUMN digest BLOB;

CREATE INDEX reviews_digest ON reviews (tenant, digest);
