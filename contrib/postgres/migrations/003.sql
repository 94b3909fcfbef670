-- The records of plans are those of a store, and a user has one store.
ALTER TABLE lookleap.records ADD COLUMN drop_at timestamptz;
CREATE INDEX ON lookleap.records (drop_at) WHERE drop_at IS NOT NULL;
UPDATE lookleap.records SET kind = 'store' WHERE kind = 'trust';
DROP TABLE lookleap.plans;

-- So are the entries of a ledger of disclosures.
INSERT INTO lookleap.records (kind, owner, key, value)
	SELECT 'store', owner, convert_to('ledger/' || lpad(first::text, 16, '0'), 'UTF8'), entries FROM lookleap.ledger;
DROP FUNCTION lookleap.append;
DROP TABLE lookleap.ledger;
