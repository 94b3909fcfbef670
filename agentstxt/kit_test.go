package agentstxt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// vector is the hash line of the three directives of section 3.
const vector = "*e37fd0bbf5b647010a78772b8755ffa92efe6aa07b2bb0d373b2a61adfc9435a"

const vectorFile = vector + "\n/status ALLOW\n/dashboard ALLOW limit=50\n/admin DISALLOW\n"

// signed puts the right hash line before lines, whatever they are.
func signed(lines ...string) string {
	text := strings.Join(lines, "\n")
	return hashOf(text) + "\n" + text + "\n"
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "*" + hex.EncodeToString(sum[:])
}

func mustParse(t testing.TB, o Options, lines ...string) *Policy {
	t.Helper()
	p, err := Parse([]byte(signed(lines...)), o)
	if err != nil {
		t.Fatalf("parsing %q: %v", lines, err)
	}
	return p
}

// wantDenied fails unless the policy denies everything but its own file.
func wantDenied(t testing.TB, p *Policy) {
	t.Helper()
	for _, path := range []string{"/", "", "/status", "/robots.txt", "/.well-known/x", "/agents.txt/x", "/Agents.txt", "//agents.txt"} {
		if d := p.Decide(path); d.Allowed || d.Code != CodeRestricted {
			t.Errorf("Decide(%q) = %v, want a denial for restriction", path, d)
		}
	}
	for _, path := range []string{"/agents.txt", "/agents.txt?x=1", "/%61gents.txt", "/./agents.txt"} {
		if d := p.Decide(path); !d.Allowed || d.Code != codePolicyFile {
			t.Errorf("Decide(%q) = %v, want the policy file to stay readable", path, d)
		}
	}
}

// hasFinding returns the first finding with a code.
func hasFinding(p *Policy, code lookleap.Code) (lookleap.Finding, bool) {
	for _, f := range p.Findings() {
		if f.Code == code {
			return f, true
		}
	}
	return lookleap.Finding{}, false
}

const plainText = "text/plain; charset=utf-8"

// world is a site in an internet, and a client that asks it.
type world struct {
	testing.TB
	net    *lookleaptest.Internet
	host   *lookleap.Host
	site   *lookleaptest.Site
	client *Client
}

// inWorld runs a test in a bubble, where hours pass at once.
func inWorld(t *testing.T, name string, o Options, test func(w *world)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			net := lookleaptest.NewInternet()
			defer net.Close()
			host := net.StubHost()
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

// refusal returns the verdict of a refusal, and fails for other errors. A refusal is an
// ErrDenied unless it may end by itself.
func refusal(t testing.TB, err error) *lookleap.Verdict {
	t.Helper()
	var no *lookleap.VerifyError
	if !errors.As(err, &no) {
		t.Fatalf("no refusal: %v", err)
	}
	if _, temporary := lookleap.Retryable(err); errors.Is(err, lookleap.ErrDenied) == temporary {
		t.Errorf("%s is temporary and an ErrDenied, or neither", no.Verdict.Code)
	}
	return no.Verdict
}
