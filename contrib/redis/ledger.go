package redisengine

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/lookleap/lookleap/anml/agent"
)

// Ledger returns the disclosure ledger of a user: a list with one element for each Append.
func (e *Engine) Ledger(user string) agent.DisclosureLedger {
	return &ledger{Engine: e, list: e.key("ledger", user, ""), headKey: e.key("ledger", user, "head")}
}

type ledger struct {
	*Engine
	list, headKey string

	mu   sync.Mutex
	head agent.Head // that this process saw last; the script verifies it
}

// appendScript appends if the head is the expected one. Otherwise it returns the head.
var appendScript = redis.NewScript(`
local head = redis.call('HMGET', KEYS[2], 'number', 'digest')
local number, digest = head[1] or '0', head[2] or ''
if number ~= ARGV[1] or digest ~= ARGV[2] then return {0, number, digest} end
redis.call('RPUSH', KEYS[1], ARGV[3])
redis.call('HSET', KEYS[2], 'number', ARGV[4], 'digest', ARGV[5])
return {1}`)

func (l *ledger) Append(ctx context.Context, entries ...agent.Entry) error {
	if len(entries) == 0 {
		return ctx.Err()
	}
	l.mu.Lock()
	head := l.head
	l.mu.Unlock()
	for {
		chained, next, err := head.Extend(entries...)
		if err != nil {
			return err
		}
		data, err := json.Marshal(chained)
		if err != nil {
			return err
		}
		got, err := l.run(ctx, appendScript, []string{l.list, l.headKey},
			strconv.FormatInt(head.Number, 10), head.Digest, data, strconv.FormatInt(next.Number, 10), next.Digest).Slice()
		if err != nil {
			return err
		}
		there := next
		if len(got) == 3 {
			number, err := strconv.ParseInt(text(got, 1), 10, 64)
			if err != nil {
				return fmt.Errorf("the head of the ledger is damaged: %w", err)
			}
			there = agent.Head{Number: number, Digest: text(got, 2)}
		}
		l.mu.Lock()
		l.head = there
		l.mu.Unlock()
		if there == next { // also if the response to the first attempt was lost
			return nil
		}
		head = there // another process was faster
	}
}

// page is how many elements are read at once.
const page = 256

func (l *ledger) Entries(ctx context.Context) iter.Seq2[agent.Entry, error] {
	return func(yield func(agent.Entry, error) bool) {
		end, err := l.client.LLen(ctx, l.list).Result()
		for from := int64(0); err == nil && from < end; from += page {
			var elements []string
			elements, err = l.client.LRange(ctx, l.list, from, min(from+page, end)-1).Result()
			for i, element := range elements {
				var entries []agent.Entry
				if json.Unmarshal([]byte(element), &entries) != nil {
					if !yield(agent.Entry{}, fmt.Errorf("element %d of the ledger is damaged", from+int64(i))) {
						return
					}
					continue
				}
				for _, e := range entries {
					if !yield(e, nil) {
						return
					}
				}
			}
		}
		if err != nil {
			yield(agent.Entry{}, err)
		}
	}
}
