package agent

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// reuse: an explicit consent is used again while the user and the document let it.
func reuse(t *testing.T) {
	limited := func(seconds string) string {
		return strings.Replace(rule("email", "explicit-consent"), "/>", ` valid-for="`+seconds+`"/>`, 1)
	}
	hour := start.Add(time.Hour)
	for name, c := range map[string]struct {
		doc   string
		until time.Time
		after time.Duration
		then  string // another document
		user  func(*stand)
		want  string
	}{
		"within":           {booking(rule("email", "explicit-consent"), askFor("email")), hour, 59 * time.Minute, "", nil, "allow consent-held explicit"},
		"once":             {booking(rule("email", "explicit-consent"), askFor("email")), time.Time{}, 0, "", nil, "prompt explicit-consent"},
		"too-late":         {booking(rule("email", "explicit-consent"), askFor("email")), hour, time.Hour, "", nil, "prompt explicit-consent"},
		"valid-for":        {booking(limited("600"), askFor("email")), hour, 599 * time.Second, "", nil, "allow consent-held explicit"},
		"valid-for-over":   {booking(limited("600"), askFor("email")), hour, 600 * time.Second, "", nil, "prompt explicit-consent"},
		"valid-for-zero":   {booking(limited("0"), askFor("email")), hour, 0, "", nil, "prompt explicit-consent"},
		"valid-for-broken": {booking(limited("soon"), askFor("email")), hour, 0, "", nil, "prompt explicit-consent"},
		"other-purpose":    {booking(rule("email", "explicit-consent"), askFor("email")), hour, 0, booking(rule("email", "explicit-consent"), askFor("email", `purpose="to sell it"`)), nil, "prompt explicit-consent"},
		"now-sensitive":    {booking(rule("email", "explicit-consent"), askFor("email")), hour, 0, booking(rule("email", "explicit-consent"), askFor("email", `purpose="health"`)), nil, "prompt sensitive"},
		"other-endpoint":   {booking(rule("email", "explicit-consent"), askFor("email")), hour, 0, strings.Replace(booking(rule("email", "explicit-consent"), askFor("email")), `"/book"`, `"https://api.shop.example/book"`, 1), nil, "prompt explicit-consent"},
		"unrecognised":     {booking("", askFor("acme:tier")), hour, 0, "", nil, "prompt unrecognised-field"},
		"sensitive":        {booking("", askFor("email", `purpose="payment"`)), hour, 0, "", nil, "prompt sensitive"},
		"other-value": {booking("", askFor("email")), hour, 0, "", func(st *stand) { st.s.user.Profile = Fields{"email": {Text: "new@example.org"}} },
			"prompt needs-consent"},
		"withdrawn": {booking("", askFor("email")), hour, 0, "", func(st *stand) {
			list, err := st.s.Consents(st.Context())
			must(st, err)
			if len(list) != 1 || list[0].Field != "email" || list[0].Recipient != "shop.example" || !list[0].Until.Equal(hour) || !list[0].Granted.Equal(start) {
				st.Fatalf("%+v", list)
			}
			ok, err := st.s.Withdraw(st.Context(), list[0].ID)
			must(st, err)
			if !ok {
				st.Error("not there")
			}
			if ok, _ := st.s.Withdraw(st.Context(), list[0].ID); ok {
				st.Error("withdrawn twice")
			}
		}, "prompt needs-consent"},
		"forgotten": {booking("", askFor("email")), hour, 0, "", func(st *stand) {
			f, err := st.s.Forget(st.Context(), "shop.example")
			must(st, err)
			if f.Consents != 1 {
				st.Errorf("%+v", f)
			}
		}, "prompt needs-consent"},
		"user-asks": {booking("", askFor("email")), hour, 0, "", func(st *stand) {
			must(st, st.user.Policy.Set(StandingRule{Field: "email", Domain: "*", Effect: EffectAsk}))
		}, "prompt user-rule"},
		"clock-back": {booking("", askFor("email")), hour, -time.Minute, "", nil, "prompt needs-consent"},
	} {
		for _, kept := range []bool{false, true} {
			t.Run(name+map[bool]string{true: "-in-a-store"}[kept], func(t *testing.T) {
				st := newStand(t, labprompt.Deny())
				if kept {
					st.user.Store = NewMemoryStore()
				}
				x := st.prepares(st.page(c.doc), Call{})
				if _, _, err := x.settle(all, c.until); err != nil {
					t.Fatal(err)
				}
				st.net.Clock().Advance(c.after)
				if c.user != nil {
					c.user(st)
				}
				if kept && c.user == nil {
					st.s = nil // another session of the same user
				}
				doc := c.then
				if doc == "" {
					doc = c.doc
				}
				if d := pageFor(t, st.net, st.session(), "https://shop.example/again", doc).Decide(t.Context())[0]; brief(d) != c.want {
					t.Errorf("got %s, want %s", brief(d), c.want)
				}
			})
		}
	}
}

// TestHeldConsentIsLookedAtAgain: between preparing and sending, a consent may
// end, in every way in which it can.
func TestHeldConsentIsLookedAtAgain(t *testing.T) {
	doc := booking(strings.Replace(rule("email", "explicit-consent"), "/>", ` valid-for="1800"/>`, 1), askFor("email"))
	for name, end := range map[string]func(*stand){
		"until":     func(st *stand) { st.net.Clock().Advance(time.Hour) },
		"valid-for": func(st *stand) { st.net.Clock().Advance(30 * time.Minute) },
		"withdrawn": func(st *stand) {
			list, _ := st.s.Consents(st.Context())
			_, err := st.s.Withdraw(st.Context(), list[0].ID)
			must(st, err)
		},
		"refused": func(st *stand) { must(st, st.user.Policy.RefuseDomain("shop.example")) },
		"denied": func(st *stand) {
			must(st, st.user.Policy.Set(StandingRule{Field: "*", Domain: "*", Effect: EffectDeny}))
		},
		"asks": func(st *stand) {
			must(st, st.user.Policy.Set(StandingRule{Field: "email", Domain: "*", Effect: EffectAsk}))
		},
		"forgotten": func(st *stand) { _, err := st.s.Forget(st.Context(), "shop.example"); must(st, err) },
	} {
		t.Run(name, func(t *testing.T) {
			st := newStand(t, labprompt.Deny())
			p := st.page(doc)
			if _, _, err := st.prepares(p, Call{}).settle(all, start.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			x := st.prepares(p, Call{})
			if len(x.items) != 0 {
				t.Fatal(x.items)
			}
			entries := x.sends(none, `consent="explicit" consent-granted="2026-06-01T12:00:00Z"`)
			if entries[0].Reference != "plan#answer-1" {
				t.Error(entries[0].Reference)
			}
			end(st)
			entries = x.sends(none, `<refuse field="email" reason="user-denied"`, "!"+annsEmail)
			if entries[0].Kind != EntryRefused || entries[0].Basis != "" {
				t.Errorf("%+v", entries[0])
			}
		})
	}
}

// TestConsentsThatAreNotKept: for sensitive and unrecognised fields, and for what
// another service told, there is no consent for longer than once.
func TestConsentsThatAreNotKept(t *testing.T) {
	for name, doc := range map[string]string{
		"sensitive": booking("", askFor("email", `purpose="payment"`)), "unrecognised": booking("", askFor("acme:tier")),
		"limited-to-zero": booking(strings.Replace(rule("email", "explicit-consent"), "/>", ` valid-for="0"/>`, 1), askFor("email")),
		"own-words":       booking("", askFor("acme:tier")),
	} {
		t.Run(name, func(t *testing.T) {
			st := newStand(t, labprompt.Deny())
			x := st.prepares(st.page(doc), Call{Reply: &Reply{Informs: []Told{{Text: "likes tea"}}}})
			if _, _, err := x.settle(all, start.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			if list, err := st.s.Consents(t.Context()); err != nil || len(list) != 0 {
				t.Error(list, err)
			}
		})
	}
	c := transfers(t, "", labprompt.Deny())
	if _, _, err := c.prepares(c.b, Call{}).settle(all, start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if list, err := c.s.Consents(t.Context()); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}

// TestStoreThatFails: nothing is decided for the field, and nothing is sent.
func TestStoreThatFails(t *testing.T) {
	doc := booking(rule("email", "none"), askFor("email"))
	st := newStand(t, labprompt.Deny()).allow("email", "*")
	broken := &downStore{Store: NewMemoryStore()}
	st.user.Store = broken
	p := st.page(doc)
	x := st.prepares(p, Call{})
	broken.down = true
	if d := p.Decide(t.Context())[0]; d.Verb != VerbRefuse || d.Code != lookleap.CodeIO {
		t.Error(brief(d))
	}
	if _, _, err := x.settle(all, time.Time{}); err == nil {
		t.Error("settled")
	}
	broken.down = false
	x.sends(none, annsEmail)
}

type downStore struct {
	Store
	down bool
}

func (b *downStore) Get(ctx context.Context, key string) ([]byte, error) {
	if b.down {
		return nil, errDown
	}
	return b.Store.Get(ctx, key)
}

func (b *downStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	if b.down {
		return nil, errDown
	}
	return b.Store.Keys(ctx, prefix)
}

// TestSensitiveSticks: what was told for a sensitive purpose is asked about
// elsewhere, whatever the purpose there.
func TestSensitiveSticks(t *testing.T) {
	st := newStand(t, labprompt.Deny()).allow("tel", "*")
	st.user.Store = NewMemoryStore()
	x := st.prepares(st.page(booking(rule("tel", "none"), askFor("tel", `purpose="health intake"`))), Call{})
	x.sends(all, `field="tel"`)
	for range 2 {
		p := pageFor(t, st.net, st.session(), "https://b.example/a", booking(rule("tel", "none"), askFor("tel")))
		if d := p.Decide(t.Context())[0]; brief(d) != "prompt sensitive" {
			t.Error(brief(d))
		}
		st.s = nil // the next session remembers
	}
	keys, err := st.user.Store.Keys(t.Context(), keySensitive)
	if err != nil || !slices.Equal(keys, []string{keySensitive + "tel"}) {
		t.Error(keys, err)
	}
}
