package agentstxt

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
)

const plainText = "text/plain; charset=utf-8"

// world is a site in a lab, and a client that asks it.
type world struct {
	testing.TB
	net    *lab.Internet
	host   *lookleap.Host
	site   *lab.Site
	client *Client
}

// inWorld runs a test in a bubble, where hours pass at once.
func inWorld(t *testing.T, name string, o Options, test func(w *world)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			net := lab.New()
			defer net.Close()
			host := net.Host()
			test(&world{TB: t, net: net, host: host, site: net.Site("shop.example"), client: NewClient(host, o)})
		})
	})
}

// serves sets what the site answers for its policy.
func (w *world) serves(h http.Handler) { w.site.Handle("/agents.txt", h) }

func (w *world) servesFile(file string, header ...string) { w.serves(served(file, header...)) }

// served answers with a policy and pairs of header name and value.
func served(file string, header ...string) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", plainText)
		for i := 0; i < len(header); i += 2 {
			rw.Header().Set(header[i], header[i+1])
		}
		if etag := rw.Header().Get("ETag"); etag != "" && r.Header.Get("If-None-Match") == etag {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		rw.Write([]byte(file))
	})
}

// pass lets time go by in the bubble.
func (w *world) pass(d time.Duration) {
	w.Helper()
	time.Sleep(d)
}

// want asks for the policy and checks its state and reason.
func (w *world) want(state State, reason lookleap.Code) *Policy {
	w.Helper()
	p, err := w.client.Policy(context.Background(), "https://shop.example/x")
	if err != nil {
		w.Fatal(err)
	}
	if p.State() != state || p.Reason() != reason {
		w.Fatalf("got %v, %v, want %v, %v: %v", p.State(), p.Reason(), state, reason, p.Err())
	}
	return p
}

func (w *world) wantFinding(p *Policy, code lookleap.Code) {
	w.Helper()
	if _, ok := hasFinding(p, code); !ok {
		w.Errorf("findings %v, want %s", p.Findings(), code)
	}
}

// asked checks how many requests for policies the sites have seen.
func (w *world) asked(n int) {
	w.Helper()
	if got := len(w.net.Journal().Requests()); got != n {
		w.Errorf("the sites saw %d requests, want %d", got, n)
	}
}

// refusal gives the verdict of a refusal, and fails if it is none.
func refusal(t testing.TB, err error) *lookleap.Verdict {
	t.Helper()
	var no *lookleap.VerifyError
	if !errors.As(err, &no) || !errors.Is(err, lookleap.ErrDenied) {
		t.Fatalf("no refusal: %v", err)
	}
	return no.Verdict
}
