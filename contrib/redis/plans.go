package redisengine

import (
	"context"
	"io/fs"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lookleap/lookleap"
)

// Plans returns the ledger of plans. A record is a hash, and expires a week after its plan.
func (e *Engine) Plans() lookleap.PlanLedger { return plans{e} }

type plans struct{ *Engine }

// keepPlans is how long a record stays after its plan has expired, in milliseconds.
const keepPlans = int64(7 * lookleap.PlanLifetime / time.Millisecond)

// The scripts apply the rules of lookleap.PlanRecord; a test compares them with it. A record
// without a state that they know, after damage, can be neither claimed nor changed.
var claimScript = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local r = redis.call('HMGET', KEYS[1], 'state', 'owner', 'at')
local state, owner, at = r[1], r[2], tonumber(r[3])
local free = state == false and redis.call('EXISTS', KEYS[1]) == 0
if state == 'failed' and owner ~= ARGV[2] then free = true end
if state == 'claimed' then
  if owner == ARGV[2] then return {1} end
  if at and math.abs(now - at) >= tonumber(ARGV[4]) then free = true end
end
if not free then return {0} end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'id', ARGV[1], 'owner', ARGV[2], 'state', 'claimed', 'expires', ARGV[3], 'at', string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.max(tonumber(ARGV[5]) - now, 0) + tonumber(ARGV[6])))
return {1}`)

var recordScript = redis.NewScript(`
local r = redis.call('HMGET', KEYS[1], 'state', 'owner', 'receipt')
local state, owner, receipt, new = r[1], r[2], r[3] or '', ARGV[2]
if not owner or owner == '' or owner ~= ARGV[1] then return 0 end
if state == new and receipt == ARGV[3] then return 1 end
local next = (new == 'sent' or new == 'refused') and state == 'claimed'
  or (new == 'done' or new == 'unknown') and state == 'sent'
  or new == 'failed' and (state == 'claimed' or state == 'sent')
if not next then return 0 end
local t = redis.call('TIME')
redis.call('HSET', KEYS[1], 'state', new, 'receipt', ARGV[3], 'at', string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000)))
return 1`)

func (p plans) Claim(ctx context.Context, c lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	expires := c.Expires.UTC()
	got, err := p.run(ctx, claimScript, []string{p.key("plan", c.ID, "")},
		c.ID, c.Owner, expires.Format(time.RFC3339Nano), lookleap.PlanLease.Milliseconds(), clamp(expires), keepPlans).Int64Slice()
	if err != nil {
		return lookleap.PlanRecord{}, err
	}
	if len(got) == 1 && got[0] == 1 {
		return lookleap.PlanRecord{ID: c.ID, Owner: c.Owner, State: lookleap.PlanClaimed, Expires: c.Expires, At: time.Now()}, nil
	}
	r, err := p.Plan(ctx, c.ID)
	if err != nil {
		return lookleap.PlanRecord{ID: c.ID, State: lookleap.PlanUnknown}, lookleap.ErrAlreadyDone
	}
	return r, lookleap.ErrAlreadyDone
}

// clamp returns a time in milliseconds that the server can expire keys at.
func clamp(t time.Time) int64 {
	if t.Year() < 1970 {
		return 0
	}
	return min(t.UnixMilli(), 1<<47)
}

func (p plans) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	switch o.State {
	case lookleap.PlanSent, lookleap.PlanDone, lookleap.PlanFailed, lookleap.PlanUnknown, lookleap.PlanClaimed, lookleap.PlanRefused:
	default:
		return lookleap.ErrClaimLost
	}
	if len(o.Receipt) > lookleap.MaxReceipt {
		return lookleap.ErrClaimLost
	}
	ok, err := p.run(ctx, recordScript, []string{p.key("plan", id, "")}, owner, string(o.State), o.Receipt).Bool()
	if err == nil && !ok {
		return lookleap.ErrClaimLost
	}
	return err
}

func (p plans) Plan(ctx context.Context, id string) (lookleap.PlanRecord, error) {
	fields, err := p.client.HGetAll(ctx, p.key("plan", id, "")).Result()
	if err != nil {
		return lookleap.PlanRecord{}, err
	}
	if len(fields) == 0 {
		return lookleap.PlanRecord{}, fs.ErrNotExist
	}
	expires, err := time.Parse(time.RFC3339Nano, fields["expires"])
	state := lookleap.PlanState(fields["state"])
	switch state {
	case lookleap.PlanClaimed, lookleap.PlanSent, lookleap.PlanDone, lookleap.PlanFailed, lookleap.PlanUnknown, lookleap.PlanRefused:
	default:
		state = lookleap.PlanUnknown
	}
	if err != nil || fields["id"] != id {
		state = lookleap.PlanUnknown // damaged: the effect may have happened
	}
	r := lookleap.PlanRecord{ID: id, Owner: fields["owner"], State: state, Expires: expires, At: milliseconds(fields["at"])}
	if receipt := fields["receipt"]; receipt != "" {
		r.Receipt = []byte(receipt)
	}
	return r, nil
}
