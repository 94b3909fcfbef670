-- The records of plans are those of a store, and a user has one store.
ALTER TABLE lookleap.records ADD COLUMN drop_at timestamptz;
CREATE INDEX ON lookleap.records (drop_at) WHERE drop_at IS NOT NULL;
UPDATE lookleap.records SET kind = 'store' WHERE kind = 'trust';
DROP TABLE lookleap.plans;
