CREATE TABLE lookleap.plans (
	id bytea PRIMARY KEY, owner bytea NOT NULL, state text NOT NULL, receipt bytea,
	expires timestamptz NOT NULL, at timestamptz NOT NULL
);

CREATE TABLE lookleap.cache (
	key bytea PRIMARY KEY, value bytea NOT NULL, expires text NOT NULL, drop_at timestamptz NOT NULL
);
CREATE INDEX ON lookleap.cache (drop_at);

CREATE TABLE lookleap.records (
	kind text, owner bytea, key bytea, value bytea NOT NULL, PRIMARY KEY (kind, owner, key)
);

CREATE TABLE lookleap.heads (owner bytea PRIMARY KEY, number bigint NOT NULL DEFAULT 0, digest text NOT NULL DEFAULT '');
CREATE TABLE lookleap.ledger (owner bytea, number bigint, entries bytea NOT NULL, PRIMARY KEY (owner, number));

-- Appends if the head is the expected one, and returns the head after it.
CREATE FUNCTION lookleap.append(o bytea, from_number bigint, from_digest text, data bytea, to_number bigint, to_digest text)
RETURNS TABLE (number bigint, digest text) LANGUAGE plpgsql AS $$
DECLARE
	head record;
BEGIN
	INSERT INTO lookleap.heads (owner) VALUES (o) ON CONFLICT DO NOTHING;
	SELECT h.number, h.digest INTO head FROM lookleap.heads h WHERE h.owner = o FOR UPDATE;
	IF head.number = from_number AND head.digest = from_digest THEN
		INSERT INTO lookleap.ledger VALUES (o, to_number, data);
		UPDATE lookleap.heads h SET number = to_number, digest = to_digest WHERE h.owner = o;
		RETURN QUERY SELECT to_number, to_digest;
	ELSE
		RETURN QUERY SELECT head.number, head.digest;
	END IF;
END $$;

-- Times are microseconds since 1970 by the clock of the server.
CREATE TABLE lookleap.limits (
	key bytea PRIMARY KEY, held bigint NOT NULL DEFAULT 0, longest bigint NOT NULL DEFAULT 0,
	last_n bigint NOT NULL DEFAULT 0, last_at bigint NOT NULL DEFAULT 0
);
CREATE TABLE lookleap.uses (
	key bytea REFERENCES lookleap.limits ON DELETE CASCADE, n bigint, at bigint NOT NULL, PRIMARY KEY (key, n)
);
CREATE INDEX ON lookleap.uses (key, at);

-- Counts a use unless the rate or a hold does not permit it, and returns the wait. It looks at the
-- use that must have left the window. If the clock was set back, it goes on from the last use.
CREATE FUNCTION lookleap.take(k bytea, most bigint, win bigint, counted boolean)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	s record;
	used bigint;
	here bigint;
	wait bigint;
BEGIN
	IF counted AND most > 0 AND win > 0 THEN
		INSERT INTO lookleap.limits (key) VALUES (k) ON CONFLICT DO NOTHING;
		SELECT * INTO s FROM lookleap.limits WHERE key = k FOR UPDATE;
	ELSE
		SELECT * INTO s FROM lookleap.limits WHERE key = k;
	END IF;
	here := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
	wait := greatest(coalesce(s.held, 0) - here, 0);
	IF most <= 0 OR win <= 0 THEN
		RETURN wait;
	END IF;
	here := greatest(here, coalesce(s.last_at, 0));
	SELECT at INTO used FROM lookleap.uses WHERE key = k AND n = s.last_n - most + 1;
	IF used > here - win THEN
		wait := greatest(wait, used + win - here);
	END IF;
	IF wait = 0 AND counted THEN
		INSERT INTO lookleap.uses VALUES (k, s.last_n + 1, here);
		UPDATE lookleap.limits SET last_n = s.last_n + 1, last_at = here, longest = greatest(longest, win) WHERE key = k;
		DELETE FROM lookleap.uses WHERE key = k AND at <= here - greatest(s.longest, win);
	END IF;
	RETURN wait;
END $$;
