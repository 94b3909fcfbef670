package schematest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/contrib/receipt"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

const schemas = "../../../docs/schemas"

func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	s, err := c.Compile(filepath.Join(schemas, name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// valid validates a document, and then shows that the schema refuses it without each of its
// members that must be there.
func valid(t *testing.T, s *jsonschema.Schema, data []byte) {
	t.Helper()
	parse := func() any {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		return v
	}
	if err := s.Validate(parse()); err != nil {
		t.Errorf("%v\n%s", err, data)
	}
	for _, name := range s.Required {
		object := parse().(map[string]any)
		delete(object, name)
		if s.Validate(object) == nil {
			t.Errorf("without %q it is valid too", name)
		}
	}
	object := parse().(map[string]any)
	object["surprise"] = true
	if s.Validate(object) == nil {
		t.Error("a member that is not documented is valid")
	}
}

// every schema of the directory compiles.
func TestSchemasCompile(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(schemas, "*.json"))
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		schema(t, filepath.Base(f))
	}
}

const skill = "---\nname: refund\ndescription: Refunds an order.\n---\nAsk for the number of the order, and run scripts/a.sh.\n"

func internet(t *testing.T) *lookleaptest.Internet {
	net := lookleaptest.NewInternet()
	t.Cleanup(net.Close)
	net.Site("shop.example").File("/skills/refund/SKILL.md", "text/markdown", skill)
	return net
}

const skillURL = "https://shop.example/skills/refund/SKILL.md"

// verdicts returns one that accepts and one that refuses.
func verdicts(t *testing.T, host *lookleap.Host) []*lookleap.Verdict {
	t.Helper()
	loader := dvs.NewLoader(host, dvs.Options{})
	loaded, err := loader.Load(t.Context(), skillURL)
	if err != nil {
		t.Fatal(err)
	}
	_, err = loader.Load(t.Context(), "https://shop.example/skills/none/SKILL.md")
	var no *lookleap.VerifyError
	if !errors.As(err, &no) {
		t.Fatal(err)
	}
	return []*lookleap.Verdict{loaded.Verdict, no.Verdict}
}

func TestVerdict(t *testing.T) {
	net := internet(t)
	host := net.Host()
	host.Prompter = lookleaptest.NewPrompter(t, lookleaptest.Approve())
	s := schema(t, "verdict.json")
	for _, v := range verdicts(t, host) {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		valid(t, s, data)
	}
}

func TestEvent(t *testing.T) {
	net := internet(t)
	var log bytes.Buffer
	host := net.Host()
	host.Prompter = lookleaptest.NewPrompter(t, lookleaptest.Approve())
	host.Observe = lookleap.LogEvents(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	verdicts(t, host)
	s := schema(t, "event.json")
	n := 0
	for line := range bytes.Lines(log.Bytes()) {
		n++
		valid(t, s, line)
	}
	if n < 3 {
		t.Errorf("%d events", n)
	}
}

func TestReceipt(t *testing.T) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := aiuri.NewKeyRing(aiuri.SigningKey{ID: "1", Private: private}, aiuri.KeyRingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	log := receipt.NewLog(lookleap.NewMemoryStore(), ring)
	host := internet(t).Host()
	host.Record = log.Record
	host.Prompter = lookleaptest.NewPrompter(t, lookleaptest.Approve(), lookleaptest.Refuse())
	pay, err := gate.New(host, gate.Options{User: "kim"}).Tool(gate.Tool{Name: "pay",
		Run: func(context.Context, gate.Call) ([]byte, error) { return []byte("paid"), nil }})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, _ = pay.Call(t.Context(), []byte("{}"))
	}
	s, n := schema(t, "receipt.json"), 0
	for jws, err := range log.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		payload, err := base64.RawURLEncoding.DecodeString(strings.Split(jws, ".")[1])
		if err != nil {
			t.Fatal(err)
		}
		valid(t, s, payload)
		n++
	}
	if n != 3 {
		t.Errorf("%d receipts", n)
	}
}

func TestLockfile(t *testing.T) {
	data, err := os.ReadFile("../../../cmd/lookleap/testdata/skills/skills.lock")
	if err != nil {
		t.Fatal(err)
	}
	valid(t, schema(t, "lockfile.json"), data)
}

// later has not decided yet.
type later struct{}

func (later) PromptConsent(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
}

func TestPlan(t *testing.T) {
	host := &lookleap.Host{Prompter: later{}}
	defer host.Close()
	plan, err := lookleap.NewPlan(lookleap.ConsentRequest{
		Kind: lookleap.ConsentAct, Origin: "https://shop.example", Summary: "order one lamp",
		Items: []lookleap.ConsentItem{{ID: "order", Summary: "send the order", Recipient: "https://shop.example",
			Values: []lookleap.ConsentValue{{Label: "body", Text: `{"item":"lamp"}`, Detail: true}}}},
	}, []byte(`{"item":"lamp"}`), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	_, err = host.Ask(t.Context(), plan)
	var pending *lookleap.PendingError
	if !errors.As(err, &pending) {
		t.Fatal(err)
	}
	valid(t, schema(t, "plan.json"), pending.State)

	approved, err := plan.Approve(lookleap.ConsentDecision{Digest: plan.Request().Digest, Approved: []string{"order"}}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	_, err = host.Commit(t.Context(), approved, func(context.Context, []byte) ([]byte, error) { return nil, io.ErrUnexpectedEOF })
	if err == nil {
		t.Fatal("the effect failed")
	}
	again, err := host.Again(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	state, err := again.State()
	if err != nil {
		t.Fatal(err)
	}
	valid(t, schema(t, "plan.json"), state)
}

// TestOutput validates what each command prints with --json in the scripts of cmd/lookleap.
func TestOutput(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "lookleap")
	if out, err := exec.Command("go", "build", "-C", "../../..", "-o", binary, "./cmd/lookleap").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := schema(t, "output.json")
	for _, line := range []string{
		"code ok nope", "url https://example.com/ http://x/ https://example.com/%2e%2e/", "record v=anml1;",
		"aiuri ai://bank.example/pay", "lock testdata/skills/refund --check testdata/skills/skills.lock",
		"replay testdata/trust-forger.json", "skill testdata/skills/refund", "doctor --dns 127.0.0.1:9 https://example.com",
	} {
		cmd := exec.Command(binary, append([]string{"--json"}, strings.Fields(line)...)...)
		cmd.Dir = "../../../cmd/lookleap"
		out, err := cmd.Output()
		if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
			t.Fatalf("%s: %v", line, err)
		}
		for result := range bytes.Lines(out) {
			valid(t, s, result)
		}
	}
}
