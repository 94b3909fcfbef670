package agent

import (
	"bufio"
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// victim is what the process that is killed is told, in its environment.
type victim struct {
	Store          string
	DNS, Door, CAs string
	Run            int
}

const victimEnv = "LEDGER_VICTIM"

var victimKey = []byte("the key of values in the test's ledger")

// counting is a profile that never returns the same value twice.
type counting struct {
	mu     sync.Mutex
	run, n int
}

func (c *counting) Value(context.Context, Question) (Value, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return Value{Text: fmt.Sprintf("r%dn%d@example.org", c.run, c.n)}, nil
}

// TestLedgerVictim is the process that discloses until it is killed.
func TestLedgerVictim(t *testing.T) {
	config := os.Getenv(victimEnv)
	if config == "" {
		t.Skip("runs in a process of its own, started by TestLedgerKilled")
	}
	var v victim
	if err := json.Unmarshal([]byte(config), &v); err != nil {
		t.Fatal(err)
	}
	host := hostElsewhere(t, v.DNS, v.Door, v.CAs)
	host.Prompter = labprompt.New(t, labprompt.Approve())
	defer host.Close()
	store, err := lookleap.OpenStore(v.Store)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Limits: Limits{Executions: 1 << 20, Burst: 1 << 20}}
	s, err := New(host, o).NewSession(User{Profile: &counting{run: v.Run}, LedgerKey: victimKey, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.Open(t.Context(), "https://shop.example/a")
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := page.Do(t.Context(), Call{Action: "book"}); err != nil {
			t.Fatal(err)
		}
	}
}

// arrivals is what a service got to know.
type arrivals struct {
	mu     sync.Mutex
	values []string
	more   chan struct{}
}

func (a *arrivals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := anml.ParseXML(readAll(r), anml.ReadOptions{Role: anml.RoleAgentResponse})
	if err == nil {
		a.mu.Lock()
		for answer := range body.Knowledge().Answers() {
			a.values = append(a.values, answer.Value())
		}
		a.mu.Unlock()
		select {
		case a.more <- struct{}{}:
		default:
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

func readAll(r *http.Request) []byte {
	var all []byte
	in := bufio.NewReader(r.Body)
	for {
		b, err := in.ReadByte()
		if err != nil {
			return all
		}
		all = append(all, b)
	}
}

// A process that discloses is killed at random moments, again and again, and each
// time another one goes on with the same files. Whatever arrived at the service is
// in the ledger, and the chain is whole.
func TestLedgerKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	internet := lab.ForTest(t)
	got := &arrivals{more: make(chan struct{}, 1)}
	shop := internet.Site("shop.example")
	shop.Body("/a", anml.MediaTypeXML, service(booking("", askFor("email"))))
	shop.Handle("/book", got)
	door, err := internet.Loopback()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(uint64(os.Getpid()), 0))
	const kills = 24
	for run := range kills {
		v, err := json.Marshal(victim{dir, door.DNS, door.Door, door.CAFile, run})
		if err != nil {
			t.Fatal(err)
		}
		child := exec.CommandContext(t.Context(), exe, "-test.run=^TestLedgerVictim$")
		child.Env = append(os.Environ(), victimEnv+"="+string(v))
		out := new(syncBuffer)
		child.Stdout, child.Stderr = out, out
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- child.Wait() }()
		for range 1 + r.IntN(4) {
			select {
			case <-got.more:
			case err := <-ended:
				t.Fatalf("the process ended by itself: %v\n%s", err, out)
			}
		}
		spin(time.Duration(r.IntN(20_000)) * time.Microsecond)
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-ended
	}

	ledger := NewLedger(openStore(t, dir))
	s := newSession(t, internet, User{LedgerKey: victimKey}, Options{})
	recorded := make(map[string]bool)
	for e, err := range ledger.Entries(t.Context()) {
		if err != nil {
			t.Error(err)
		}
		if e.Kind == EntryDisclosed {
			recorded[e.ValueHash] = true
		}
	}
	got.mu.Lock()
	defer got.mu.Unlock()
	for _, value := range got.values {
		if !recorded[s.valueHash("email", value)] {
			t.Errorf("%s left, and the ledger does not have it", value)
		}
	}
	if len(got.values) < kills || len(recorded) > len(got.values)+kills {
		t.Errorf("%d values arrived and %d are recorded", len(got.values), len(recorded))
	}
	if _, err := VerifyLedger(t.Context(), ledger, Head{}, Head{}); err != nil {
		t.Error(err)
	}
	t.Logf("%d values arrived, %d are recorded", len(got.values), len(recorded))
}

// spin waits without the scheduler's coarse steps, for a random moment.
func spin(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
	}
}

// syncBuffer is what a process says.
type syncBuffer struct {
	mu   sync.Mutex
	text []byte
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	return len(p), nil
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}

// hostElsewhere is the host of another process, which reaches a lab through its
// loopback: the address of its DNS, its door, and the file of its authorities.
func hostElsewhere(t *testing.T, dns, door, authorities string) *lookleap.Host {
	t.Helper()
	pem, err := os.ReadFile(authorities)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	resolver := lookleap.NetResolver(&net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, dns)
	}})
	return &lookleap.Host{
		Resolver: resolver,
		Fetcher:  lookleap.NewFetcher(lookleap.FetcherOptions{Resolver: resolver, RootCAs: roots, Dial: lab.Via(door)}),
	}
}
