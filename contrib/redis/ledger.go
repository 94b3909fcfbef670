package redisengine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/internal/ledgerhead"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Ledger returns the disclosure ledger of a user: a list with one element for each Append. An
// element begins with a line that holds the head after it, so that an append is one write.
func (e *Engine) Ledger(user string) agent.DisclosureLedger {
	return &ledger{Engine: e, list: e.key("ledger", user, "")}
}

type ledger struct {
	*Engine
	list string
	head ledgerhead.Head // the script verifies it
}

// appendScript appends if the head is the expected one. Otherwise it returns the head.
var appendScript = redis.NewScript(`
local last = redis.call('LINDEX', KEYS[1], -1)
local head = last and (string.match(last, '^[^\n]*\n') or 'damaged') or '0 \n'
if head == ARGV[1] then
  redis.call('RPUSH', KEYS[1], ARGV[2])
  return ''
end
return head`)

// headLine returns the line that an element begins with.
func headLine(h agent.Head) string { return fmt.Sprintf("%d %s\n", h.Number, h.Digest) }

func (l *ledger) Append(ctx context.Context, entries ...agent.Entry) error {
	return l.head.Append(ctx, entries, func(from, to agent.Head, data []byte) (there agent.Head, err error) {
		got, err := l.run(ctx, appendScript, []string{l.list}, headLine(from), append([]byte(headLine(to)), data...)).Text()
		if err != nil || got == "" {
			return to, err
		}
		number, digest, ok := strings.Cut(strings.TrimSuffix(got, "\n"), " ")
		there.Number, err = strconv.ParseInt(number, 10, 64)
		if !ok || err != nil {
			return there, errors.New("the last element of the ledger is damaged")
		}
		there.Digest = digest
		return there, nil
	})
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
				_, data, _ := strings.Cut(element, "\n")
				if strictjson.Decode([]byte(data), &entries) != nil {
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
