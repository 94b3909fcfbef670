package dvs_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/lab"
)

// watch collects everything that a host reports, in words.
type watch struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *watch) observe(ctx context.Context, e lookleap.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	lookleap.LogEvents(slog.New(slog.NewTextHandler(&w.text, nil)))(ctx, e)
	if e.Verdict != nil {
		data, _ := json.Marshal(e.Verdict)
		w.text.Write(data)
		w.text.Write(e.Verdict.Record)
	}
	if e.Finding != nil {
		w.text.WriteString(e.Finding.String() + e.Finding.Message + e.Finding.Path)
	}
}

// TestEventsHoldNoSecrets puts a secret into every URL that a user, a document or
// a server can write.
func TestEventsHoldNoSecrets(t *testing.T) {
	const secret = "s3cr3t"
	const skill = "https://shop.example/s/a/SKILL.md"
	decorated := map[string]string{"query": "?q=" + secret, "fragment": "#" + secret, "query-and-fragment": "?q#" + secret}
	users := map[string]string{"user": "https://" + secret + "@shop.example/s/a/SKILL.md", "password": "https://u:" + secret + "@shop.example/s/a/SKILL.md",
		"other-scheme": "http://u:" + secret + "@shop.example/?" + secret, "data": "data:text/markdown," + secret}
	urls := make(map[string]string)
	for name, tail := range decorated {
		urls[name] = skill + tail
	}
	for name, url := range users {
		urls[name] = url
	}
	for name, run := range map[string]func(ctx context.Context, l *dvs.Loader, url string){
		"load":     func(ctx context.Context, l *dvs.Loader, url string) { _, _ = l.Load(ctx, url) },
		"register": func(ctx context.Context, l *dvs.Loader, url string) { _, _ = l.Register(ctx, url) },
		"discover": func(ctx context.Context, l *dvs.Loader, url string) {
			for _, err := range l.Discover(ctx, url) {
				l.Roots().Rules() // the error is the caller's
				_ = err
			}
		},
		"under": func(ctx context.Context, l *dvs.Loader, url string) {
			_, _ = l.LoadUnder(ctx, url, must(dvs.ParseTrustRoot("https://shop.example/s/", dvs.Rules{})))
		},
		"resource": func(ctx context.Context, l *dvs.Loader, url string) {
			if s, err := l.Load(ctx, skill); err == nil {
				_, _ = s.Resource(ctx, url)
				_, _ = s.Resource(ctx, strings.Replace(url, "shop.example", "other.example", 1))
				_, _ = s.Approve(ctx, dvs.Invocation{Script: url})
				_, _ = s.LoadRef(ctx, url)
				_, _ = s.LoadRef(ctx, "more.md?"+secret)
			}
		},
		"redirect": func(ctx context.Context, l *dvs.Loader, url string) {
			_, _ = l.Load(ctx, "https://shop.example/hop/SKILL.md")
			_, _ = l.Load(ctx, "https://shop.example/away/SKILL.md")
		},
	} {
		for kind, url := range urls {
			for _, side := range []string{"strict", "queries"} {
				t.Run("O52/reject-"+name+"-"+kind+"-"+side, func(t *testing.T) {
					net := lab.ForTest(t)
					net.Site("shop.example").Body("*", "text/markdown", refund).Redirect("/hop/SKILL.md", "/s/a/SKILL.md?"+secret).Redirect("/away/SKILL.md", url)
					net.Site("other.example").Body("*", "text/markdown", "more")
					seen := new(watch)
					host := net.Host()
					host.Observe, host.Prompter = seen.observe, &prompter{decide: agree}
					loader := dvs.NewLoader(host, dvs.Options{Roots: dvs.NewRoots(dvs.Rules{AllowQuery: side == "queries"})})
					if _, err := loader.Roots().Register("https://shop.example/", dvs.ByHost); err != nil {
						t.Fatal(err)
					}
					run(t.Context(), loader, url)
					text := seen.text.String()
					if side == "queries" { // a query is part of the identity there, and of the record that is judged again
						text, _, _ = strings.Cut(text, `"claim"`)
					}
					if at := strings.Index(text, secret); at >= 0 {
						t.Errorf("an event has the secret: …%s", text[max(0, at-300):at+len(secret)])
					}
				})
			}
		}
	}
	t.Run("O52/accept-judged-again", func(t *testing.T) {
		for kind, url := range urls {
			v := dvs.Decide(dvs.Claim{URL: url, Root: "https://shop.example/", Source: dvs.ByHost}, dvs.Evidence{Status: 200, Type: "text/markdown", Content: lookleap.CodeOK}, time.Unix(0, 0), dvs.Rules{})
			again, err := dvs.Rejudge(v, time.Unix(0, 0), dvs.Rules{})
			if err != nil || again.Code != v.Code || again.OK != v.OK || again.Subject != v.Subject {
				t.Errorf("%s: %s and then %s, %v", kind, v.Code, again.Code, err)
			}
		}
	})
}
