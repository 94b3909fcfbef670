package dvs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

const feedAt = "https://feed.example/withdrawn.json"

// feedWorld is a trustWorld with a revocation feed.
type feedWorld struct {
	*trustWorld
	feed    *dvs.Withdrawals
	options dvs.Options
}

func newFeedWorld(t *testing.T) *feedWorld {
	w := &feedWorld{trustWorld: newFilesWorld(t)}
	w.options = dvs.Options{Roots: registry(t, "https://shop.example/"), Feeds: []dvs.FeedOptions{{URL: feedAt}}, Runner: &runner{sandbox: dvs.Sandbox{Name: "cage"}}}
	w.withdraw(dvs.WithdrawnRoot, "other.example")
	return w
}

// withdraw publishes the feed with one more entry.
func (w *feedWorld) withdraw(kind dvs.WithdrawalKind, value string) {
	w.t.Helper()
	next, err := w.feed.Add(dvs.Withdrawal{Kind: kind, Value: value, Reason: "taken over", Time: w.net.Clock().Now()}, w.net.Clock().Now())
	if err != nil {
		w.t.Fatal(err)
	}
	w.feed = next
	w.serve(marshal(w.t, next))
}

func (w *feedWorld) serve(data []byte) {
	w.t.Helper()
	h, err := dvs.NewWithdrawalsHandler(data)
	if err != nil {
		w.t.Fatal(err)
	}
	w.net.Site("feed.example").Handle("/withdrawn.json", h)
}

func (w *feedWorld) requests() int { return len(w.net.Journal().Requests("feed.example")) }

func (w *feedWorld) hasEvent(code lookleap.Code) bool {
	return w.events.Has(code)
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestFeedCheckLocked: files that a program has already are refused as if it had fetched them.
func TestFeedCheckLocked(t *testing.T) {
	files := map[string][]byte{"SKILL.md": skillText("Run scripts/x.sh.\n"), "scripts/x.sh": []byte("#!/bin/sh\n")}
	pins := func(of []byte) *dvs.Policy {
		return &dvs.Policy{Pins: []dvs.PolicyPin{{Skill: trustedAt, Pin: dvs.Pin{Digest: dvs.DigestOf(of)}}}}
	}
	for name, c := range map[string]struct {
		kind   dvs.WithdrawalKind
		value  string
		policy *dvs.Policy
		code   lookleap.Code
	}{
		"nothing":        {dvs.WithdrawnRoot, "another.example", &dvs.Policy{}, ""},
		"root":           {dvs.WithdrawnRoot, "shop.example", &dvs.Policy{}, dvs.CodeWithdrawn},
		"skill":          {dvs.WithdrawnSkill, trustedAt, &dvs.Policy{}, dvs.CodeWithdrawn},
		"digest":         {dvs.WithdrawnDigest, dvs.DigestOf(files["scripts/x.sh"]).String(), &dvs.Policy{}, dvs.CodeWithdrawn},
		"pinned":         {dvs.WithdrawnRoot, "another.example", pins(files["SKILL.md"]), ""},
		"pinned-another": {dvs.WithdrawnRoot, "another.example", pins([]byte("x")), dvs.CodePolicyDenied},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFeedWorld(t)
			w.withdraw(c.kind, c.value)
			w.options.Policies = []*dvs.Policy{c.policy}
			locked := &dvs.LockedSkill{URL: trustedAt, Root: "https://shop.example/", Directory: "x"}
			err := w.process(w.options).CheckLocked(t.Context(), locked, files)
			if (err == nil) != (c.code == "") || err != nil && lookleap.CodeOf(err) != c.code {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestFeedWithdraws withdraws what three processes use. Each refuses within a minute after one
// of them has seen it, and only one of them asks the feed.
func TestFeedWithdraws(t *testing.T) {
	for name, c := range map[string]struct {
		kind  dvs.WithdrawalKind
		value string
	}{
		"root":         {dvs.WithdrawnRoot, "https://shop.example/"},
		"host":         {dvs.WithdrawnRoot, "shop.example"},
		"parent-host":  {dvs.WithdrawnRoot, "https://shop.example/s/"},
		"skill":        {dvs.WithdrawnSkill, trustedAt},
		"digest":       {dvs.WithdrawnDigest, dvs.DigestOf(skillText("See [more](ADVANCED.md) and [notes](notes.txt). Run scripts/x.sh.\n")).String()},
		"other-digest": {dvs.WithdrawnDigest, dvs.DigestOf([]byte("x")).String()},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFeedWorld(t)
			var skills []*dvs.Loaded
			var scripts []*dvs.ApprovedScript
			for range 3 {
				s := w.load(w.options, lookleap.CodeOK, 0)
				script, err := s.Approve(t.Context(), dvs.Invocation{Script: "scripts/x.sh"})
				if err != nil {
					t.Fatal(err)
				}
				skills, scripts = append(skills, s), append(scripts, script)
			}
			if w.requests() != 1 {
				t.Fatalf("%d requests for three processes", w.requests())
			}
			w.withdraw(c.kind, c.value)
			w.net.Clock().Advance(15 * time.Minute)
			want := dvs.CodeWithdrawn
			if name == "other-digest" {
				want = lookleap.CodeOK
			}
			check := func(what string, err error) {
				t.Helper()
				if lookleap.CodeOf(err) != want {
					t.Errorf("%s: %v", what, err)
				}
			}
			_, err := skills[0].Resource(t.Context(), "notes.txt")
			check("a resource of the first process", err)
			w.net.Clock().Advance(31 * time.Second)
			_, err = skills[1].Resource(t.Context(), "notes.txt")
			check("a resource of the second process", err)
			_, err = scripts[2].Run(t.Context())
			check("a script of the third process", err)
			_, err = skills[2].ContextText()
			check("the instructions of the third process", err)
			_, err = w.process(w.options).Load(t.Context(), trustedAt)
			check("a new process", err)
			if w.requests() != 2 || !w.hasEvent(dvs.CodeWithdrawn) {
				t.Errorf("%d requests, events %v", w.requests(), w.hasEvent(dvs.CodeWithdrawn))
			}
		})
	}
	t.Run("a-file-by-its-digest", func(t *testing.T) {
		w := newFeedWorld(t)
		w.withdraw(dvs.WithdrawnDigest, dvs.DigestOf([]byte("#!/bin/sh\necho done\n")).String())
		s := w.load(w.options, lookleap.CodeOK, 0)
		if _, err := s.Approve(t.Context(), dvs.Invocation{Script: "scripts/x.sh"}); lookleap.CodeOf(err) != dvs.CodeWithdrawn {
			t.Error(err)
		}
		if _, err := s.Resource(t.Context(), "notes.txt"); err != nil {
			t.Error(err)
		}
	})
}

// TestFeedFailures damages the feed, its server and the clock.
func TestFeedFailures(t *testing.T) {
	seen := func(t *testing.T) *feedWorld { // the withdrawal of the skill was seen once
		w := newFeedWorld(t)
		w.withdraw(dvs.WithdrawnSkill, "https://shop.example/s/b/SKILL.md")
		w.load(w.options, lookleap.CodeOK, 0)
		return w
	}
	b := func(w *feedWorld) lookleap.Code {
		_, err := w.process(w.options).Load(w.t.Context(), "https://shop.example/s/b/SKILL.md")
		return lookleap.CodeOf(err)
	}
	for name, c := range map[string]struct {
		damage func(*feedWorld)
		event  lookleap.Code
	}{
		"shortened": {func(w *feedWorld) {
			w.feed.Entries, w.feed.Sequence = nil, w.feed.Sequence+1
			w.serve(marshal(w.t, w.feed))
		}, "feed-backwards"},
		"replayed": {func(w *feedWorld) {
			w.feed.Entries, w.feed.Sequence = nil, 1
			w.serve(marshal(w.t, w.feed))
		}, "feed-unusable"},
		"other-tag": {func(w *feedWorld) {
			w.net.Site("feed.example").HandleFunc("/withdrawn.json", func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("ETag", `"other"`)
				rw.WriteHeader(http.StatusNotModified)
			})
		}, "feed-unusable"},
		"gone":       {func(w *feedWorld) { w.net.Site("feed.example").Status("/withdrawn.json", 404) }, "feed-unusable"},
		"no-json":    {func(w *feedWorld) { w.net.Site("feed.example").File("/withdrawn.json", "text/html", "<html>") }, "feed-unusable"},
		"redirected": {func(w *feedWorld) { w.net.Site("feed.example").Redirect("/withdrawn.json", "https://shop.example/f") }, "feed-unusable"},
		"100-MB": {func(w *feedWorld) {
			w.net.Site("feed.example").HandleFunc("/withdrawn.json", func(rw http.ResponseWriter, _ *http.Request) {
				for range 100 {
					_, _ = rw.Write([]byte(strings.Repeat(" ", 1<<20)))
				}
			})
		}, "feed-unusable"},
		"wrong-certificate": {func(w *feedWorld) { w.net.Site("feed.example").Certificate(lookleaptest.CertificateWrongName) }, "feed-unusable"},
	} {
		t.Run(name, func(t *testing.T) {
			w := seen(t)
			c.damage(w)
			w.net.Clock().Advance(15 * time.Minute)
			w.load(w.options, lookleap.CodeOK, 0) // the last copy still counts
			if b(w) != dvs.CodeWithdrawn {
				t.Error("an entry that was seen once is gone:", b(w))
			}
			told := slices.ContainsFunc(w.events.All(), func(e lookleap.Event) bool {
				return e.Code == c.event && (name != "replayed" || strings.Contains(e.Err.Error(), "the sequence 1, and 2 was seen before")) && (slices.Contains([]string{"gone", "other-tag", "redirected"}, name) == (lookleap.CodeOf(e.Err) == lookleap.CodeBadStatus))
			})
			if !told {
				t.Error("no event tells of it")
			}
			w.net.Clock().Advance(16 * time.Minute)
			code := dvs.CodeFeedStale
			if name == "shortened" {
				code = lookleap.CodeOK // the feed can be read
			}
			w.load(w.options, code, 0)
			w.options.Feeds[0].Stale = 24 * time.Hour
			w.load(w.options, lookleap.CodeOK, 0)
			w.net.Clock().Advance(24 * time.Hour)
			w.load(w.options, code, 0)
		})
	}
	t.Run("never-read", func(t *testing.T) {
		w := newFeedWorld(t)
		w.net.Site("feed.example").Status("/withdrawn.json", 500)
		for range 3 {
			w.load(w.options, dvs.CodeFeedStale, 0)
		}
		if w.requests() != 1 {
			t.Error(w.requests(), "requests within a minute")
		}
		w.withdraw(dvs.WithdrawnSkill, "https://shop.example/s/b/SKILL.md")
		w.net.Clock().Advance(time.Minute)
		w.load(w.options, lookleap.CodeOK, 0)
	})
	t.Run("not-modified", func(t *testing.T) {
		w := seen(t)
		w.net.Clock().Advance(14 * time.Minute)
		w.load(w.options, lookleap.CodeOK, 0)
		if w.requests() != 1 {
			t.Error("asked before its time")
		}
		for range 4 {
			w.net.Clock().Advance(15 * time.Minute)
			w.load(w.options, lookleap.CodeOK, 0)
		}
		if b(w) != dvs.CodeWithdrawn || w.requests() != 5 {
			t.Error(b(w), w.requests())
		}
	})
	t.Run("clock-back", func(t *testing.T) {
		w := seen(t)
		w.net.Clock().Advance(-30 * 24 * time.Hour)
		w.load(w.options, lookleap.CodeOK, 0)
		if b(w) != dvs.CodeWithdrawn || w.requests() != 2 {
			t.Error(b(w), w.requests())
		}
	})
	t.Run("signed", func(t *testing.T) {
		w := newFeedWorld(t)
		w.options.Feeds[0].Verify = func(data []byte, withdrawn func(string) bool) ([]byte, error) {
			payload, ok := strings.CutPrefix(string(data), "signed by a:")
			if !ok || withdrawn("a") {
				return []byte(payload), errors.New("it is not signed with a key that is in force")
			}
			return []byte(payload), nil
		}
		w.load(w.options, dvs.CodeFeedStale, 0) // unsigned
		signed := func() {
			w.net.Site("feed.example").File("/withdrawn.json", "application/jose", "signed by a:"+string(marshal(t, w.feed)))
		}
		signed()
		w.net.Clock().Advance(time.Minute)
		w.load(w.options, lookleap.CodeOK, 0)
		w.withdraw(dvs.WithdrawnKey, "a")
		signed()
		w.net.Clock().Advance(15 * time.Minute)
		l := w.process(w.options)
		if _, err := l.Load(t.Context(), trustedAt); err != nil {
			t.Error(err)
		}
		w.net.Clock().Advance(31 * time.Minute) // the key has withdrawn itself: it signs no more
		w.load(w.options, dvs.CodeFeedStale, 0)
	})
	t.Run("bad-url", func(t *testing.T) {
		w := newFeedWorld(t)
		w.options.Feeds[0].URL = "http://feed.example/withdrawn.json"
		if _, err := w.process(w.options).Load(t.Context(), trustedAt); lookleap.CodeOf(err) != dvs.CodeFeedStale || !strings.Contains(err.Error(), "the URL of the revocation feed is invalid") || len(w.net.Journal().Requests()) != 0 {
			t.Error(err)
		}
	})
	t.Run("without-a-store", func(t *testing.T) {
		w := newFeedWorld(t)
		w.withdraw(dvs.WithdrawnSkill, "https://shop.example/s/b/SKILL.md")
		host := w.net.StubHost()
		host.Observe = w.events.Observe
		l := dvs.NewLoader(host, w.options)
		for url, code := range map[string]lookleap.Code{trustedAt: lookleap.CodeOK, "https://shop.example/s/b/SKILL.md": dvs.CodeWithdrawn} {
			if _, err := l.Load(t.Context(), url); lookleap.CodeOf(err) != code {
				t.Errorf("%s: %v", url, err)
			}
		}
		if w.requests() != 1 || w.hasEvent(dvs.CodeTrustNotKept) {
			t.Errorf("%d requests", w.requests())
		}
	})
}

// TestParseWithdrawals refuses what loaders could not apply.
func TestParseWithdrawals(t *testing.T) {
	entry := func(kind, value string) string {
		return fmt.Sprintf(`{"kind":%q,"value":%q,"reason":"r","time":"2026-01-01T00:00:00Z"}`, kind, value)
	}
	feed := func(entries ...string) string {
		return `{"type":"` + dvs.WithdrawalsMediaType + `","sequence":1,"updated":"2026-01-01T00:00:00Z","withdrawn":[` + strings.Join(entries, ",") + "]}"
	}
	many := make([]string, 10_001)
	for i := range many {
		many[i] = entry("key", strconv.Itoa(i))
	}
	const archive = "https://a.example/.well-known/agent-skills/s.tar.gz"
	for name, c := range map[string]struct{ text, want string }{
		"accept-empty":         {feed(), ""},
		"accept-all-kinds":     {feed(entry("root", "https://a.example/"), entry("root", "a.example"), entry("skill", "https://a.example/s/SKILL.md"), entry("skill", archive), entry("digest", dvs.DigestOf(nil).String()), entry("key", "k1")), ""},
		"accept-10000":         {feed(many[:10_000]...), ""},
		"reject-10001":         {feed(many...), "more than 10000 entries"},
		"reject-no-json":       {"<html>", "1:1"},
		"reject-no-kind":       {strings.Replace(feed(entry("key", "a")), `"kind":"key",`, "", 1), "kind of entry is unknown"},
		"reject-comment":       {strings.Replace(feed(entry("key", "a")), `"kind"`, `"comment":"x","kind"`, 1), `member "comment" is unknown`},
		"reject-bad-skill":     {feed(entry("skill", "http://a.example/s/SKILL.md")), "https"},
		"reject-no-number":     {strings.Replace(feed(), `"sequence":1`, `"sequence":"1"`, 1), "/sequence"},
		"reject-no-sequence":   {strings.Replace(feed(), `"sequence":1,`, "", 1), "not a number from 1"},
		"reject-empty-kid":     {feed(entry("key", "")), "kid is empty"},
		"reject-twice":         {feed(entry("key", "a"), entry("key", "b"), entry("key", "a")), "twice"},
		"reject-unknown-kind":  {feed(entry("user", "a")), "kind of entry is unknown"},
		"reject-bad-root":      {feed(entry("root", "https://a.example/*")), "/withdrawn/0/value"},
		"reject-bad-digest":    {feed(entry("digest", "sha256:1")), "not a digest"},
		"reject-unknown-key":   {strings.Replace(feed(), `"sequence"`, `"comment":"x","sequence"`, 1), `member "comment" is unknown`},
		"reject-duplicate-key": {strings.Replace(feed(), `"sequence":1`, `"sequence":1,"sequence":2`, 1), `"sequence"`},
		"reject-sequence-0":    {strings.Replace(feed(), `"sequence":1`, `"sequence":0`, 1), "not a number from 1"},
		"reject-other-type":    {strings.Replace(feed(), "version=1", "version=2", 1), "the type is"},
		"reject-no-time":       {strings.Replace(feed(entry("key", "a")), "T00:00:00Z\"}", "\"}", 1), "/withdrawn/0/time"},
		"accept-reason-of-500": {strings.Replace(feed(entry("key", "a")), `"r"`, `"`+strings.Repeat("r", 500)+`"`, 1), ""},
		"reject-long-reason":   {strings.Replace(feed(entry("key", "a")), `"r"`, `"`+strings.Repeat("r", 501)+`"`, 1), "too long"},
		"reject-long-value":    {feed(entry("key", strings.Repeat("k", 8193))), "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := dvs.ParseWithdrawals([]byte(c.text))
			var same struct{ Feed dvs.Withdrawals }
			if other := json.Unmarshal([]byte(`{"Feed":`+c.text+`}`), &same); (other == nil) != (err == nil) || len(same.Feed.Entries) > 0 && w == nil {
				t.Errorf("json.Unmarshal: %v, %+v", other, same)
			}
			if c.want != "" {
				if w != nil || lookleap.CodeOf(err) != "bad-feed" || !strings.Contains(err.Error(), c.want) {
					t.Errorf("want %s, got %v, %v", c.want, w, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			again, err := dvs.ParseWithdrawals(marshal(t, w))
			if err != nil || len(again.Entries) != len(w.Entries) {
				t.Error(again, err)
			}
		})
	}
}

// TestWithdrawalsAdd adds entries to a feed. Those that no loader could apply are refused.
func TestWithdrawalsAdd(t *testing.T) {
	var feed *dvs.Withdrawals
	for i, value := range []string{"b.example", "a.example"} {
		next, err := feed.Add(dvs.Withdrawal{Kind: dvs.WithdrawnKey, Value: value, Reason: "r", Time: noon}, noon.Add(time.Hour))
		if err != nil || next.Sequence != int64(i+1) || len(next.Entries) != i+1 || !next.Updated.Equal(noon.Add(time.Hour)) {
			t.Fatal(next, err)
		}
		feed = next
	}
	t.Run("accept-again-changes-nothing", func(t *testing.T) {
		if next, err := feed.Add(dvs.Withdrawal{Kind: dvs.WithdrawnKey, Value: "a.example", Reason: "other", Time: noon}, noon); err != nil || next != feed {
			t.Error(next, err)
		}
	})
	t.Run("accept-same-value-of-another-kind", func(t *testing.T) {
		if next, err := feed.Add(dvs.Withdrawal{Kind: dvs.WithdrawnRoot, Value: "a.example", Time: noon}, noon); err != nil || len(next.Entries) != 3 || len(feed.Entries) != 2 {
			t.Error(next, err)
		}
	})
	t.Run("reject-too-long", func(t *testing.T) {
		for n, code := range map[int]lookleap.Code{8192: lookleap.CodeOK, 8193: lookleap.CodeLimit} {
			if _, err := (*dvs.Withdrawals)(nil).Add(dvs.Withdrawal{Kind: dvs.WithdrawnKey, Value: strings.Repeat("k", n)}, time.Unix(0, 0)); lookleap.CodeOf(err) != code {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
	})
	t.Run("reject-what-no-loader-applies", func(t *testing.T) {
		if next, err := feed.Add(dvs.Withdrawal{Kind: dvs.WithdrawnDigest, Value: "x", Time: noon}, noon); err == nil || next != nil {
			t.Error(next, err)
		}
	})
	t.Run("accept-sorted-in-JSON", func(t *testing.T) {
		text := string(marshal(t, feed))
		if a, b := strings.Index(text, `"value":"a.example"`), strings.Index(text, `"value":"b.example"`); a < 0 || b < a {
			t.Error(text)
		}
		if none := string(must((*dvs.Withdrawals)(nil).MarshalJSON())); !strings.Contains(none, `"withdrawn":[]`) {
			t.Error(none)
		}
	})
}

// TestWithdrawalsHandler serves a feed as JSON and as JWS.
func TestWithdrawalsHandler(t *testing.T) {
	plain := string(marshal(t, &dvs.Withdrawals{Sequence: 1, Updated: noon}))
	dotted := string(marshal(t, must(new(dvs.Withdrawals).Add(dvs.Withdrawal{Kind: dvs.WithdrawnRoot, Value: "a.b.example", Time: noon}, noon))))
	for name, c := range map[string]struct{ feed, want string }{
		"accept-json":           {plain, "application/json"},
		"accept-json-with-dots": {" " + dotted, "application/json"},
		"accept-jws":            {"e30.e30.c2ln", "application/jose"},
		"reject-bad-json":       {"{}", ""},
		"reject-three-dots":     {"e30.e30.c2ln.c2ln", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := dvs.NewWithdrawalsHandler([]byte(c.feed))
			if c.want == "" {
				if h != nil || lookleap.CodeOf(err) != "bad-feed" {
					t.Error(h, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, httptest.NewRequest("GET", "/", nil))
			if header := rec.Header(); header.Get("Content-Type") != c.want || header.Get("Cache-Control") != "max-age=900" || header.Get("ETag") == "" || rec.Body.String() != c.feed {
				t.Error(rec.Header(), rec.Body)
			}
		})
	}
}

func TestParseFeedURL(t *testing.T) {
	for raw, want := range map[string]string{
		"https://Feed.Example:443/w.json":  "https://feed.example/w.json",
		"http://feed.example/w.json":       "",
		"https://feed.example/w.json#part": "",
		"feed.example/w.json":              "",
	} {
		if got, err := dvs.ParseFeedURL(raw); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", raw, got, err)
		}
	}
}

func FuzzParseWithdrawals(f *testing.F) {
	f.Add([]byte(`{"type":"` + dvs.WithdrawalsMediaType + `","sequence":1,"updated":"2026-01-01T00:00:00Z","withdrawn":[{"kind":"key","value":"a","reason":"","time":"2026-01-01T00:00:00Z"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := dvs.ParseWithdrawals(data)
		if err != nil {
			return
		}
		again, err := dvs.ParseWithdrawals(marshal(t, w))
		if err != nil || len(again.Entries) != len(w.Entries) || again.Sequence != w.Sequence {
			t.Fatal(again, err)
		}
	})
}
