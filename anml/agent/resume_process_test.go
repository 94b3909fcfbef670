package agent

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// visitor is what a process that resumes a call is told, in its environment.
type visitor struct {
	Dir, Token     string
	DNS, Door, CAs string
	Digest         string
	Approved       []string
}

const visitorEnv = "LOOKLEAP_TEST_AGENT_VISITOR"

var resumeKey = []byte("0123456789abcdef0123456789abcdef")

// TestResumingProcess is the second process: it knows nothing but its variable.
func TestResumingProcess(t *testing.T) {
	config := os.Getenv(visitorEnv)
	if config == "" {
		t.Skip("runs in a process of its own, started by TestTwoProcesses")
	}
	var v visitor
	must(t, json.Unmarshal([]byte(config), &v))
	host := hostElsewhere(t, v.DNS, v.Door, v.CAs)
	plans, err := lookleap.OpenStore(v.Dir)
	must(t, err)
	defer plans.Close()
	host.Plans = plans
	defer host.Close()
	session, err := New(host, Options{}).NewSession(User{Ledger: plans})
	must(t, err)
	defer session.Close()
	state, err := lookleap.Keys{resumeKey}.Unseal(v.Token)
	if err == nil {
		_, err = session.Resume(t.Context(), state, lookleap.ConsentDecision{Digest: v.Digest, Approved: v.Approved})
	}
	fmt.Printf("outcome=%s\n", lookleap.CodeOf(err))
}

// TestTwoProcesses suspends a call in this process and commits it in others. Each
// load of the page has a token of its own, and only the last one is good.
func TestTwoProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir := t.TempDir()
	var mu sync.Mutex // guards what the service counts
	var loads int
	var booked []string
	s := newStage(t, setting{doc: asking, user: User{Profile: ada}, replies: []lookleaptest.Reply{pendingReply}})
	s.shop.HandleFunc("/fresh", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		loads++
		w.Header().Set("Content-Type", "application/anml+xml")
		fmt.Fprint(w, service(strings.ReplaceAll(asking, `endpoint="/book"`, fmt.Sprintf(`endpoint="/book/%d"`, loads))))
	})
	s.shop.HandleFunc("/book/*", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path != fmt.Sprintf("/book/%d", loads) {
			w.WriteHeader(http.StatusConflict)
			return
		}
		booked = append(booked, r.URL.Path)
		w.WriteHeader(http.StatusNoContent)
	})
	page, err := s.session.Open(t.Context(), s.shop.URL("/fresh"))
	must(t, err)
	s.page = page
	s.net.Journal().Clear()
	pending, declined := s.suspended(Call{Action: "book"}), s.suspended(Call{Action: "book"})
	token, err := lookleap.Keys{resumeKey}.Seal(pending.State)
	must(t, err)
	declinedToken, err := lookleap.Keys{resumeKey}.Seal(declined.State)
	must(t, err)
	loop, err := s.net.OpenDoor()
	must(t, err)
	elsewhere := func(token, digest string, approved ...string) lookleap.Code {
		config, err := json.Marshal(visitor{Dir: dir, Token: token, DNS: loop.DNS, Door: loop.Addr, CAs: loop.CAFile, Digest: digest, Approved: approved})
		must(t, err)
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestResumingProcess$", "-test.v")
		cmd.Env = append(os.Environ(), visitorEnv+"="+string(config))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		_, after, _ := strings.Cut(string(out), "outcome=")
		code, _, _ := strings.Cut(after, "\n")
		return lookleap.Code(code)
	}
	var all []string
	for _, item := range pending.Request.Items {
		all = append(all, item.ID)
	}
	flipped := []byte(token)
	flipped[len(flipped)/2] ^= 1
	for _, c := range []struct {
		name, token, digest string
		approved            []string
		want                lookleap.Code
		sent                int
	}{
		{"ANML-13.4-04/reject-nothing-approved", declinedToken, declined.Request.Digest, nil, lookleap.CodeConsentRefused, 0},
		{"ANML-13.4-04/reject-approved-after-no", declinedToken, declined.Request.Digest, all, lookleap.CodeConsentRefused, 0},
		{"ANML-13.4-04/reject-other-digest", token, "sha256:00", all, lookleap.CodeConsentMismatch, 0},
		{"ANML-13.4-04/reject-broken-seal", string(flipped), pending.Request.Digest, all, lookleap.CodeSealBroken, 0},
		{"ANML-9.2-01/accept-in-another-process", token, pending.Request.Digest, all, lookleap.CodeOK, 1},
		{"ANML-9.2-01/reject-a-second-time", token, pending.Request.Digest, all, lookleap.CodePlanDone, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := elsewhere(c.token, c.digest, c.approved...); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(booked) != c.sent || loads != 1 {
				t.Errorf("booked %q, the page was loaded %d times", booked, loads)
			}
		})
	}
}

// hostElsewhere is the host of another process, which reaches a lab through its
// loopback: the address of its DNS, its door, and the file of its authorities.
func hostElsewhere(t *testing.T, dns, door, authorities string) *lookleap.Host {
	t.Helper()
	pem, err := os.ReadFile(authorities)
	must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	resolver := lookleap.NetResolver(&net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, dns)
	}})
	return &lookleap.Host{
		Resolver: resolver,
		Fetcher:  lookleap.NewFetcher(lookleap.FetcherOptions{Resolver: resolver, RootCAs: roots, Dial: lookleaptest.Via(door)}),
	}
}
