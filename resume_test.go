package lookleap_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// The second process is this test binary again, with these variables set.
const (
	resumeDir   = "LOOKLEAP_TEST_RESUME_DIR"   // holds the sealed state and the ledger
	resumeToken = "LOOKLEAP_TEST_RESUME_TOKEN" // what travelled through hands that are not trusted
	resumeWord  = "LOOKLEAP_TEST_RESUME_WORD"  // digest and approved ids, comma-separated
)

var resumeKey = []byte("0123456789abcdef0123456789abcdef")

// TestResumeProcess is the second process: it knows nothing but its variables.
func TestResumeProcess(t *testing.T) {
	dir := os.Getenv(resumeDir)
	if dir == "" {
		return // an ordinary run: TestResumeElsewhere starts this in a process of its own
	}
	err := resume(dir, os.Getenv(resumeToken), strings.Split(os.Getenv(resumeWord), ","))
	fmt.Printf("outcome=%s\n", lookleap.CodeOf(err))
}

func resume(dir, token string, word []string) error {
	state, err := lookleap.Keys{resumeKey}.Unseal(token)
	if err != nil {
		return err
	}
	plan, err := lookleap.ParsePlan(state)
	if err != nil {
		return err
	}
	store, err := lookleap.OpenStore(filepath.Join(dir, "ledger"))
	if err != nil {
		return err
	}
	defer store.Close()
	h := &lookleap.Host{Plans: store, Now: func() time.Time { return planTime }}
	defer h.Close()
	approval, err := plan.Approve(lookleap.ConsentDecision{Digest: word[0], Approved: word[1:]}, h.Time())
	if err != nil {
		return err
	}
	return commitTo(h, context.Background(), approval, func(_ context.Context, bytes []byte) error {
		return appendLine(filepath.Join(dir, "effects"), bytes)
	})
}

func appendLine(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s\n", data)
	return errors.Join(err, f.Close())
}

// TestResumeElsewhere prepares a plan that needs two consents in this process
// and resumes it in others.
func TestResumeElsewhere(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "ledger"), 0o700); err != nil {
		t.Fatal(err)
	}
	suspend := func(effect string) (*lookleap.PendingError, string) {
		p, err := lookleap.NewPlan(lookleap.ConsentRequest{
			Kind: lookleap.ConsentAct, Origin: "https://shop.example", Summary: "pay and tell the shop who you are",
			Items: []lookleap.ConsentItem{
				{ID: "pay", Summary: "pay 10 EUR", Recipient: "https://shop.example", Digest: lookleap.Digest([]byte(effect))},
				{ID: "name", Summary: "tell your name", Recipient: "https://shop.example", Digest: lookleap.Digest([]byte("Alice"))},
			},
		}, []byte(effect), planTime)
		if err != nil {
			t.Fatal(err)
		}
		h := &lookleap.Host{Now: func() time.Time { return planTime }, Prompter: prompterFunc(
			func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
			})}
		defer h.Close()
		_, err = h.Ask(t.Context(), p)
		var pending *lookleap.PendingError
		if !errors.As(err, &pending) {
			t.Fatal(err)
		}
		token, err := lookleap.Keys{resumeKey}.Seal(pending.State)
		if err != nil {
			t.Fatal(err)
		}
		return pending, token
	}
	elsewhere := func(token string, word ...string) lookleap.Code {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestResumeProcess$", "-test.v")
		cmd.Env = append(os.Environ(), resumeDir+"="+dir, resumeToken+"="+token, resumeWord+"="+strings.Join(word, ","))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		_, after, ok := strings.Cut(string(out), "outcome=")
		if !ok {
			t.Fatalf("no outcome:\n%s", out)
		}
		code, _, _ := strings.Cut(after, "\n")
		return lookleap.Code(code)
	}
	effects := func() string {
		data, err := os.ReadFile(filepath.Join(dir, "effects"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return string(data)
	}

	pending, token := suspend("POST /pay amount=10")
	other, otherToken := suspend("POST /pay amount=1000")
	digest := pending.Request.Digest

	for _, c := range []struct {
		name  string
		token string
		word  []string
		want  lookleap.Code
	}{
		{"one-consent-missing", token, []string{digest, "pay"}, lookleap.CodeConsentRefused},
		{"nothing-approved", token, []string{digest}, lookleap.CodeConsentRefused},
		{"other-digest", token, []string{other.Request.Digest, "pay", "name"}, lookleap.CodeConsentMismatch},
		{"other-plan-same-word", otherToken, []string{digest, "pay", "name"}, lookleap.CodeConsentMismatch},
		{"other-bytes", flip(token), []string{digest, "pay", "name"}, lookleap.CodeSealBroken},
		{"unsealed-state", string(pending.State), []string{digest, "pay", "name"}, lookleap.CodeSealBroken},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := elsewhere(c.token, c.word...); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if done := effects(); done != "" {
				t.Fatalf("it happened: %s", done)
			}
		})
	}
	t.Run("both-consents", func(t *testing.T) {
		if got := elsewhere(token, digest, "pay", "name"); got != lookleap.CodeOK {
			t.Fatalf("got %s", got)
		}
		if done := effects(); done != "POST /pay amount=10\n" {
			t.Fatalf("effects: %q", done)
		}
	})
	t.Run("replay", func(t *testing.T) {
		if got := elsewhere(token, digest, "pay", "name"); got != lookleap.CodePlanDone {
			t.Errorf("got %s", got)
		}
		if done := effects(); done != "POST /pay amount=10\n" {
			t.Fatalf("it happened again: %q", done)
		}
	})
}

// flip changes one character in the middle of a token.
func flip(token string) string {
	b := []byte(token)
	if i := len(b) / 2; b[i] == 'A' {
		b[i] = 'B'
	} else {
		b[i] = 'A'
	}
	return string(b)
}
