package dvs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/serve"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// WithdrawalsMediaType is the type of [Withdrawals] in JSON.
const WithdrawalsMediaType = "application/vnd.lookleap.dvs-withdrawals+json;version=1"

// Withdrawals is a revocation feed: what must not be used any longer. Its JSON Schema is
// docs/schemas/withdrawals.json. Entries are only added: loaders keep each entry that they saw.
type Withdrawals struct {
	Sequence int64        `json:"sequence"` // grows with each change
	Updated  time.Time    `json:"updated"`
	Entries  []Withdrawal `json:"withdrawn"`
}

// Withdrawal is one entry of a feed.
type Withdrawal struct {
	Kind   WithdrawalKind `json:"kind"`
	Value  string         `json:"value"`
	Reason string         `json:"reason"` // shown to people, quoted
	Time   time.Time      `json:"time"`
}

// WithdrawalKind says what a [Withdrawal] names.
type WithdrawalKind string

// The kinds of withdrawal.
const (
	WithdrawnRoot   WithdrawalKind = "root"   // a trust root with everything below it, or a host with its subdomains
	WithdrawnSkill  WithdrawalKind = "skill"  // one skill, by its URL
	WithdrawnDigest WithdrawalKind = "digest" // a SKILL.md, an archive or another file, by its digest
	WithdrawnKey    WithdrawalKind = "key"    // a signing key, by its kid: feeds signed with it are refused
)

// Bounds of a feed.
const (
	maxFeed        = 4 << 20 // bytes
	maxWithdrawals = 10_000
	maxReason      = 500 // bytes
)

// ParseWithdrawals reads a feed. Unknown and duplicate members, an invalid URL, digest or time, and
// an entry that is there twice are errors with line, column and fix.
func ParseWithdrawals(data []byte) (*Withdrawals, error) {
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	var feed struct {
		Type     string    `json:"type"`
		Schema   string    `json:"$schema"`
		Sequence int64     `json:"sequence"`
		Updated  time.Time `json:"updated"`
		Entries  []struct {
			Kind   WithdrawalKind `json:"kind"`
			Value  string         `json:"value"`
			Reason *string        `json:"reason"`
			Time   time.Time      `json:"time"`
		} `json:"withdrawn"`
	}
	if len(data) > maxFeed {
		return nil, refuse(codeBadFeed, "revocation feed", fmt.Sprintf("the feed is larger than %d bytes", maxFeed), "withdraw whole roots")
	}
	if err := strictjson.Decode(data, &feed); err != nil {
		return nil, badFeed(err)
	}
	fail := func(message, fix string, at ...any) (*Withdrawals, error) {
		return nil, badFeed((&jsonFault{message, fix, at}).in(data, codeBadFeed))
	}
	switch {
	case feed.Type != WithdrawalsMediaType:
		return fail(fmt.Sprintf("the type is %s, this reads %s", plaintext.Quote(feed.Type, 100), WithdrawalsMediaType), "", "type")
	case feed.Sequence < 1:
		return fail("the sequence is not a number from 1", "begin with 1 and add 1 for each change", "sequence")
	case feed.Updated.IsZero():
		return fail("the time is missing", "write it as 2026-01-31T12:00:00Z", "updated")
	case feed.Entries == nil:
		return fail("the list of entries is missing", "write [] if there are none", "withdrawn")
	case len(feed.Entries) > maxWithdrawals:
		return fail(fmt.Sprintf("the feed has more than %d entries", maxWithdrawals), "withdraw whole roots", "withdrawn")
	}
	w := &Withdrawals{Sequence: feed.Sequence, Updated: feed.Updated}
	seen := map[withdrawalKey]bool{}
	for i, e := range feed.Entries {
		if e.Reason == nil {
			return fail("the reason is missing", "write a reason, or an empty text", "withdrawn", i, "reason")
		}
		one := Withdrawal{e.Kind, e.Value, *e.Reason, e.Time}
		switch err := one.check(); {
		case err != nil:
			return fail(sentence(err), "", "withdrawn", i, "value")
		case e.Time.IsZero():
			return fail("the time is missing", "write it as 2026-01-31T12:00:00Z", "withdrawn", i, "time")
		case seen[one.key()]:
			return fail("the entry is there twice", "list it once", "withdrawn", i, "value")
		}
		seen[one.key()] = true
		w.Entries = append(w.Entries, one)
	}
	return w, nil
}

func badFeed(err error) error { return badJSON(codeBadFeed, "revocation feed", err) }

// check returns an error for an entry that no loader could apply.
func (w *Withdrawal) check() error {
	if len(w.Reason) > maxReason || len(w.Value) > 8192 {
		return refuse(lookleap.CodeLimit, "", "the reason or the value is too long", "shorten it")
	}
	switch w.Kind {
	case WithdrawnRoot:
		_, err := compilePolicy(&Policy{Deny: []string{w.Value}}, Rules{})
		return err
	case WithdrawnSkill:
		_, err := ParseSkillURL(w.Value, Rules{})
		return err
	case WithdrawnDigest:
		_, err := ParseDigest(w.Value)
		return err
	case WithdrawnKey:
		if w.Value == "" {
			return usageError("the kid is empty", "write the kid of the key")
		}
		return nil
	}
	return refuse(codeBadFeed, string(w.Kind), "the kind of entry is unknown", "use root, skill, digest or key")
}

// MarshalJSON writes the feed with its type, entries sorted by kind and value.
func (w *Withdrawals) MarshalJSON() ([]byte, error) {
	if w == nil {
		w = new(Withdrawals)
	}
	type plain Withdrawals
	sorted := plain(*w)
	sorted.Entries = append([]Withdrawal{}, w.Entries...)
	slices.SortFunc(sorted.Entries, func(a, b Withdrawal) int {
		return strings.Compare(string(a.Kind)+" "+a.Value, string(b.Kind)+" "+b.Value)
	})
	return json.Marshal(struct {
		Type string `json:"type"`
		plain
	}{WithdrawalsMediaType, sorted})
}

// UnmarshalJSON reads a feed as [ParseWithdrawals] does.
func (w *Withdrawals) UnmarshalJSON(data []byte) error {
	if w == nil {
		return usageError("there is no feed to read into", "pass the address of one")
	}
	feed, err := ParseWithdrawals(data)
	if err == nil {
		*w = *feed
	}
	return err
}

// Add returns the feed with one more entry and the next sequence number, or an error if no loader
// could apply the entry. An entry that is there already changes nothing.
func (w *Withdrawals) Add(one Withdrawal, now time.Time) (*Withdrawals, error) {
	if err := one.check(); err != nil {
		return nil, err
	}
	next := &Withdrawals{Sequence: 1, Updated: now}
	if w != nil {
		if slices.ContainsFunc(w.Entries, func(e Withdrawal) bool { return e.key() == one.key() }) {
			return w, nil
		}
		next.Sequence, next.Entries = w.Sequence+1, slices.Clone(w.Entries)
	}
	next.Entries = append(next.Entries, one)
	return next, nil
}

// NewWithdrawalsHandler serves a feed: the JSON, or the JSON in a compact JWS. Clients may cache it
// for 15 minutes, and get 304 if it did not change.
func NewWithdrawalsHandler(feed []byte) (http.Handler, error) {
	kind := "application/json"
	if strings.Count(string(feed), ".") == 2 && !strings.HasPrefix(strings.TrimSpace(string(feed)), "{") {
		kind = "application/jose"
	} else if _, err := ParseWithdrawals(feed); err != nil {
		return nil, err
	}
	d := serve.New(feed, kind)
	d.Keep(feedInterval)
	return d, nil
}

// FeedOptions name a revocation feed that a [Loader] obeys.
type FeedOptions struct {
	URL string // https, without fragment
	// Verify returns the JSON of a feed that the server sent signed. Withdrawn reports whether a key
	// was withdrawn, by its kid. Nil: the feed is plain JSON, verified by the TLS of its origin alone.
	Verify func(data []byte, withdrawn func(kid string) bool) ([]byte, error)
	// Stale is how old the last copy may be while the feed cannot be fetched; below 30 minutes: 30
	// minutes, which is two fetches. Without a copy that is fresh enough, every skill is refused.
	Stale time.Duration
}

// ParseFeedURL checks the URL of a feed and returns it in canonical form.
func ParseFeedURL(raw string) (string, error) {
	u, err := (domain.Rules{RefuseFragment: true}).Parse(raw)
	if err != nil {
		return "", badURL(raw, err)
	}
	return u.String(), nil
}

// withdrawals is what all feeds of a loader withdrew, ready to be looked up. It is immutable.
type withdrawals struct {
	roots   *Roots
	skills  *skillTable[*Withdrawal]
	digests map[Digest]*Withdrawal
	keys    map[string]bool
}

func newWithdrawals(feeds []*feed, rules Rules) *withdrawals {
	w := &withdrawals{roots: NewRoots(rules), skills: newSkillTable[*Withdrawal](rules), digests: map[Digest]*Withdrawal{}, keys: map[string]bool{}}
	for _, f := range feeds {
		for i := range f.state.Entries {
			switch e := &f.state.Entries[i]; e.Kind {
			case WithdrawnRoot:
				_ = w.roots.deny(e.Value, rules) // checked when the feed was read
			case WithdrawnSkill:
				if u, err := ParseSkillURL(e.Value, rules); err == nil {
					w.skills.add(u.place, e)
				}
			case WithdrawnDigest:
				if d, err := ParseDigest(e.Value); err == nil {
					w.digests[d] = e
				}
			case WithdrawnKey:
				w.keys[e.Value] = true
			}
		}
	}
	return w
}

// at refuses a withdrawn place or skill.
func (w *withdrawals) at(p place, subject string) error {
	if w == nil {
		return nil
	}
	if e, ok := w.skills.find(p); ok {
		return e.refusal(subject)
	}
	if revoked, _ := w.roots.load().denial(p); revoked {
		return refuse(CodeWithdrawn, subject, "a revocation feed withdrew the trust root", "")
	}
	return nil
}

func (w *withdrawals) digest(d Digest, subject string) error {
	if w == nil {
		return nil
	}
	if e := w.digests[d]; e != nil {
		return e.refusal(subject)
	}
	return nil
}

func (w *Withdrawal) refusal(subject string) error {
	return refuse(CodeWithdrawn, subject, fmt.Sprintf("a revocation feed withdrew this %s on %s, with the reason %s",
		w.Kind, w.Time.UTC().Format(time.DateOnly), plaintext.Quote(w.Reason, 200)), "")
}
