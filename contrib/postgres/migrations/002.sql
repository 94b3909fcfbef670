-- The functions do without sequential scans: a connection keeps a plan that was made when a table
-- was small, also when it has grown.

-- A row of the ledger holds the head after it, so that an append is one INSERT: of two processes
-- that append to one head, the primary key lets one do so.
ALTER TABLE lookleap.ledger RENAME COLUMN number TO last;
ALTER TABLE lookleap.ledger ADD COLUMN first bigint, ADD COLUMN digest text NOT NULL DEFAULT '';
UPDATE lookleap.ledger l SET first = p.first FROM (
	SELECT owner, last, 1 + coalesce(lag(last) OVER (PARTITION BY owner ORDER BY last), 0) AS first FROM lookleap.ledger
) p WHERE p.owner = l.owner AND p.last = l.last;
UPDATE lookleap.ledger l SET digest = h.digest FROM lookleap.heads h WHERE h.owner = l.owner AND h.number = l.last;
ALTER TABLE lookleap.ledger DROP CONSTRAINT ledger_pkey, ADD PRIMARY KEY (owner, first);
DROP TABLE lookleap.heads;

-- Appends if the head is the expected one, and returns the head after it. If another process appends
-- at the same moment, it returns the head before.
CREATE OR REPLACE FUNCTION lookleap.append(o bytea, from_number bigint, from_digest text, data bytea, to_number bigint, to_digest text)
RETURNS TABLE (number bigint, digest text) LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
	SELECT l.last, l.digest INTO number, digest FROM lookleap.ledger l WHERE l.owner = o ORDER BY l.first DESC LIMIT 1;
	number := coalesce(number, 0);
	digest := coalesce(digest, '');
	IF number = from_number AND digest = from_digest THEN
		INSERT INTO lookleap.ledger VALUES (o, to_number, data, from_number + 1, to_digest) ON CONFLICT DO NOTHING;
		IF FOUND THEN
			number := to_number;
			digest := to_digest;
		END IF;
	END IF;
	RETURN NEXT;
END $$;

-- The uses of a key have the numbers first_n to last_n, so that they need no index by time.
ALTER TABLE lookleap.limits ADD COLUMN first_n bigint NOT NULL DEFAULT 1;
UPDATE lookleap.limits l SET first_n = coalesce((SELECT min(n) FROM lookleap.uses u WHERE u.key = l.key), last_n + 1);
ALTER TABLE lookleap.uses DROP CONSTRAINT uses_key_fkey;
DROP INDEX lookleap.uses_key_at_idx;

-- Counts a use unless the rate or a hold does not permit it, and returns the wait. It looks at the
-- use that must have left the window. If the clock was set back, it goes on from the last use.
-- Uses that have left all windows are deleted 64 at a time, at each 16th use.
CREATE OR REPLACE FUNCTION lookleap.take(k bytea, most bigint, win bigint, counted boolean)
RETURNS bigint LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
	s record;
	used bigint;
	here bigint;
	wait bigint;
	kept bigint;
	gone bigint := 0;
BEGIN
	IF counted AND most > 0 AND win > 0 THEN
		LOOP
			SELECT * INTO s FROM lookleap.limits WHERE key = k FOR UPDATE;
			EXIT WHEN FOUND;
			INSERT INTO lookleap.limits (key) VALUES (k) ON CONFLICT DO NOTHING;
		END LOOP;
	ELSE
		SELECT * INTO s FROM lookleap.limits WHERE key = k;
	END IF;
	here := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
	wait := greatest(coalesce(s.held, 0) - here, 0);
	IF most <= 0 OR win <= 0 THEN
		RETURN wait;
	END IF;
	here := greatest(here, coalesce(s.last_at, 0));
	IF s.last_n - s.first_n + 1 >= most THEN
		SELECT at INTO used FROM lookleap.uses WHERE key = k AND n = s.last_n - most + 1;
		IF used > here - win THEN
			wait := greatest(wait, used + win - here);
		END IF;
	END IF;
	IF wait = 0 AND counted THEN
		INSERT INTO lookleap.uses VALUES (k, s.last_n + 1, here);
		kept := greatest(s.longest, win);
		IF s.last_n % 16 = 0 THEN
			DELETE FROM lookleap.uses WHERE key = k AND n >= s.first_n AND n < s.first_n + 64 AND at <= here - kept;
			GET DIAGNOSTICS gone = ROW_COUNT;
		END IF;
		UPDATE lookleap.limits SET last_n = s.last_n + 1, first_n = s.first_n + gone, last_at = here, longest = kept WHERE key = k;
	END IF;
	RETURN wait;
END $$;
