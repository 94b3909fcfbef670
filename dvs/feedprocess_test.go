package dvs_test

import (
	"bufio"
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// The variables of a process that TestFeedWithdrawsProcesses starts.
const (
	feedProcessStore = "LOOKLEAP_TEST_FEED_STORE" // directory of the trust store
	feedProcessDoor  = "LOOKLEAP_TEST_FEED_DOOR"  // of the lab
	feedProcessDNS   = "LOOKLEAP_TEST_FEED_DNS"
	feedProcessCA    = "LOOKLEAP_TEST_FEED_CA"
)

// TestFeedProcess is an agent that uses one skill. It reads lines with a time and an action, acts at
// that time of its own clock, and writes the code of the result.
func TestFeedProcess(t *testing.T) {
	dir := os.Getenv(feedProcessStore)
	if dir == "" {
		t.Skip("runs in a process of its own, started by TestFeedWithdrawsProcesses")
	}
	pem, err := os.ReadFile(os.Getenv(feedProcessCA))
	if err != nil {
		t.Fatal(err)
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(pem)
	resolver := lookleap.NetResolver(&net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, os.Getenv(feedProcessDNS))
	}})
	var now time.Time // lines are worked off one after another
	host := &lookleap.Host{Resolver: resolver, Prompter: &prompter{decide: agree}, Now: func() time.Time { return now },
		Fetcher: lookleap.NewFetcher(lookleap.FetcherOptions{Resolver: resolver, RootCAs: authorities, Dial: lookleaptest.Via(os.Getenv(feedProcessDoor))})}
	defer host.Close()
	loader := dvs.NewLoader(host, dvs.Options{Trust: openTrust(t, dir), Roots: registry(t, "https://shop.example/"),
		Feeds: []dvs.FeedOptions{{URL: feedAt}}, Runner: &runner{sandbox: dvs.Sandbox{Name: "cage"}}})
	var registration *dvs.Registration
	var skill *dvs.Loaded
	var script *dvs.ApprovedScript
	approve := func() (*dvs.ApprovedScript, error) {
		return skill.Approve(t.Context(), dvs.Invocation{Script: "scripts/x.sh"})
	}
	actions := map[string]func() error{
		"start": func() (err error) {
			if registration, err = loader.Register(t.Context(), trustedAt); err != nil {
				return err
			}
			if skill, err = registration.Activate(t.Context()); err != nil {
				return err
			}
			script, err = approve()
			return err
		},
		"resource":       func() error { _, err := skill.Resource(t.Context(), "notes.txt"); return err },
		"instructions":   func() error { _, err := skill.ContextText(); return err },
		"run-script":     func() error { _, err := script.Run(t.Context()); return err },
		"approve-script": func() error { _, err := approve(); return err },
		"activate":       func() error { _, err := registration.Activate(t.Context()); return err },
		"load":           func() error { _, err := loader.Load(t.Context(), trustedAt); return err },
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		at, action, _ := strings.Cut(lines.Text(), " ")
		if now, err = time.Parse(time.RFC3339Nano, at); err != nil {
			t.Fatal(err)
		}
		err := actions[action]()
		fmt.Printf("code=%s\n", lookleap.CodeOf(err))
	}
}

// feedProcess is a TestFeedProcess that runs.
type feedProcess struct {
	t      *testing.T
	name   string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Scanner
}

func startFeedProcess(t *testing.T, name, dir string, loop *lookleaptest.Door) *feedProcess {
	t.Helper()
	p := &feedProcess{t: t, name: name, cmd: exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFeedProcess$")}
	p.cmd.Env = append(os.Environ(), feedProcessStore+"="+dir, feedProcessDoor+"="+loop.Addr, feedProcessDNS+"="+loop.DNS, feedProcessCA+"="+loop.CAFile)
	p.cmd.Stderr = os.Stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.stdout = bufio.NewScanner(stdout)
	t.Cleanup(p.kill)
	return p
}

// kill ends the process without a chance to write anything.
func (p *feedProcess) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// do lets the process act and checks the code of the result.
func (p *feedProcess) do(at time.Time, want lookleap.Code, actions ...string) {
	p.t.Helper()
	for _, action := range actions {
		if _, err := fmt.Fprintf(p.stdin, "%s %s\n", at.Format(time.RFC3339Nano), action); err != nil {
			p.t.Fatal(err)
		}
		if got := p.code(action); got != want {
			p.t.Errorf("%s process, %s at %s: got %q, want %q", p.name, action, at.Format(time.TimeOnly), got, want)
		}
	}
}

// code returns the next code that the process writes.
func (p *feedProcess) code(action string) lookleap.Code {
	p.t.Helper()
	var said strings.Builder
	for p.stdout.Scan() {
		if code, ok := strings.CutPrefix(p.stdout.Text(), "code="); ok {
			return lookleap.Code(code)
		}
		said.WriteString(p.stdout.Text() + "\n")
	}
	p.t.Fatalf("the %s process ended at %s: %v\n%s", p.name, action, p.stdout.Err(), said.String())
	return ""
}

// TestFeedWithdrawsProcesses is TestFeedWithdraws with three processes of the operating system that
// share only the directory of the trust store. One sees the withdrawal and is killed at once. The
// others refuse everything within half a minute, and do not ask the feed for it.
func TestFeedWithdrawsProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	for name, entry := range map[string]dvs.Withdrawal{
		"root":   {Kind: dvs.WithdrawnRoot, Value: "https://shop.example/"},
		"skill":  {Kind: dvs.WithdrawnSkill, Value: trustedAt},
		"digest": {Kind: dvs.WithdrawnDigest, Value: dvs.DigestOf(skillText("See [more](ADVANCED.md) and [notes](notes.txt). Run scripts/x.sh.\n")).String()},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFeedWorld(t)
			loop, err := w.net.OpenDoor()
			if err != nil {
				t.Fatal(err)
			}
			dir, start := t.TempDir(), w.net.Clock().Now()
			after := func(d time.Duration) time.Time { return start.Add(d) }
			first := startFeedProcess(t, "first", dir, loop)
			others := []*feedProcess{startFeedProcess(t, "second", dir, loop), startFeedProcess(t, "third", dir, loop)}
			for _, p := range append(others, first) {
				p.do(start, lookleap.CodeOK, "start")
			}
			w.withdraw(entry.Kind, entry.Value)
			for _, p := range others {
				p.do(after(15*time.Minute-time.Second), lookleap.CodeOK, "resource", "approve-script", "activate")
			}
			if n := w.requests(); n != 1 {
				t.Fatalf("%d requests to the feed before its time", n)
			}
			first.do(after(15*time.Minute), dvs.CodeWithdrawn, "resource")
			first.kill()
			for i, p := range others {
				// The first action is another one in each process: each of them has to look by itself.
				actions := []string{"run-script", "approve-script", "resource", "activate", "load", "instructions"}
				p.do(after(15*time.Minute+29*time.Second), dvs.CodeWithdrawn, append(actions[2*i:], actions[:2*i]...)...)
			}
			late := startFeedProcess(t, "late", dir, loop)
			late.do(after(15*time.Minute+29*time.Second), dvs.CodeWithdrawn, "start")
			if n := w.requests(); n != 2 {
				t.Errorf("%d requests to the feed, want 2", n)
			}
		})
	}
}

// TestFeedStore shares what a feed withdrew through a store of its own, whose calls fail.
func TestFeedStore(t *testing.T) {
	const key = "feed/" + feedAt
	broken := func() ([]byte, error) { return nil, errors.New("the disk is gone") }
	damaged := func() ([]byte, error) { return []byte("{}"), nil }
	for name, c := range map[string]struct {
		at    int // call that fails
		fault fault
		code  lookleap.Code
		told  bool // that the state was not stored
	}{
		"accept-no-fault":          {},
		"reject-broken-read":       {1, broken, dvs.CodeTrustStore, false},
		"reject-damaged-record":    {1, damaged, dvs.CodeTrustStore, false},
		"accept-broken-read-later": {2, broken, "", true},
		"accept-damaged-later":     {2, damaged, "", true},
		"accept-broken-write":      {3, broken, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFeedWorld(t)
			store := &faultStore{Store: lookleap.NewMemoryStore(), at: c.at, fault: c.fault}
			w.options.FeedStore = store
			_, err := w.process(w.options).Load(t.Context(), trustedAt)
			if lookleap.CodeOf(err) != cmp.Or(c.code, lookleap.CodeOK) || w.hasEvent(dvs.CodeTrustNotKept) != c.told {
				t.Errorf("%v, told %t", err, w.hasEvent(dvs.CodeTrustNotKept))
			}
			if want := []string{"get " + key, "get " + key, "put " + key}; !slices.Equal(store.calls, want[:min(len(store.calls), cmp.Or(c.at, 3))]) || (c.code != "") != (w.requests() == 0) {
				t.Errorf("%v, %d requests", store.calls, w.requests())
			}
		})
	}
	t.Run("accept-what-another-process-stored-meanwhile", func(t *testing.T) {
		w := newFeedWorld(t)
		store := lookleap.NewMemoryStore()
		state := func(sequence int, value string) []byte {
			return []byte(fmt.Sprintf(`{"type":%q,"sequence":%d,"entries":[{"kind":"skill","value":%q,"reason":"r","time":"2026-01-01T00:00:00Z"}],"validator":{}}`, dvs.TrustMediaType, sequence, value))
		}
		w.options.FeedStore = &faultStore{Store: store, at: 2, fault: func() ([]byte, error) {
			return nil, store.Put(t.Context(), key, nil, state(9, "https://shop.example/s/b/SKILL.md"), time.Time{})
		}}
		l := w.process(w.options)
		if _, err := l.Load(t.Context(), trustedAt); err != nil {
			t.Fatal(err)
		}
		kept, err := store.Get(t.Context(), key)
		if err != nil || !strings.Contains(string(kept), "s/b/SKILL.md") || !strings.Contains(string(kept), "other.example") || !strings.Contains(string(kept), `"sequence":9`) {
			t.Errorf("%s, %v", kept, err)
		}
		if _, err := l.Load(t.Context(), "https://shop.example/s/b/SKILL.md"); lookleap.CodeOf(err) != dvs.CodeWithdrawn {
			t.Error(err)
		}
	})
}
