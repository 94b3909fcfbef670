package lookleap_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/dvs"
)

var codeForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func TestCodeTable(t *testing.T) {
	for code, title := range lookleap.Codes() {
		if !codeForm.MatchString(string(code)) {
			t.Errorf("%q is not kebab-case", code)
		}
		if title == "" || strings.HasSuffix(title, ".") || strings.ContainsAny(title, "\n\t") {
			t.Errorf("%s: the title %q is not a bare sentence", code, title)
		}
	}
	last, known := lookleap.Code(""), 0
	for code, title := range lookleap.Codes() {
		known++
		if code <= last || code.Title() != title || !code.Known() {
			t.Errorf("%s is out of order or unknown", code)
		}
		last = code
	}
	if known < 100 {
		t.Errorf("%d codes", known)
	}
	for range lookleap.Codes() {
		break // which a function with a yield must obey
	}
	if lookleap.Code("no-such-code").Known() || lookleap.Code("no-such-code").Title() != "no-such-code" {
		t.Error("an unknown code is known")
	}
}

func TestCodeOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want lookleap.Code
	}{
		{nil, lookleap.CodeOK},
		{errors.New("anything"), lookleap.CodeInternal},
		{fmt.Errorf("asking: %w", &lookleap.BogusError{Zone: "example"}), lookleap.CodeDNSSECBogus},
		{fmt.Errorf("guard: %w", lookleap.ErrDenied), lookleap.CodeDenied},
		{&lookleap.VerifyError{Verdict: &lookleap.Verdict{Code: lookleap.CodeMediaType}, Err: lookleap.ErrDenied}, lookleap.CodeMediaType},
		{&lookleap.VerifyError{}, lookleap.CodeInternal},
		{&lookleap.Error{Code: lookleap.CodePlanExpired, Err: lookleap.ErrConsentRefused}, lookleap.CodePlanExpired},
		{&lookleap.PendingError{Request: &lookleap.ConsentRequest{}}, lookleap.CodeConsentPending},
		{lookleap.ErrCacheForged, lookleap.CodeCacheForged},
		{fs.ErrNotExist, lookleap.CodeInternal},
		{context.Canceled, lookleap.CodeCancelled},
		{fmt.Errorf("asking: %w", context.Canceled), lookleap.CodeCancelled},
		{fmt.Errorf("asking: %w", context.DeadlineExceeded), lookleap.CodeTimeout},
		{fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), lookleap.CodeTruncated},
		{&fs.PathError{Op: "open", Path: "a", Err: fs.ErrPermission}, lookleap.CodeIO},
		{&os.LinkError{Op: "link", Old: "a", New: "b", Err: fs.ErrExist}, lookleap.CodeIO},
		{textCode(lookleap.CodeTLS), lookleap.CodeTLS},
		{textCode("of-another-module"), lookleap.CodeInternal},
	} {
		if got := lookleap.CodeOf(c.err); got != c.want {
			t.Errorf("CodeOf(%v) = %s, want %s", c.err, got, c.want)
		}
	}
}

// textCode is an error of another module that has a code, too.
type textCode string

func (c textCode) Error() string      { return "it has the code " + string(c) }
func (c textCode) ReasonCode() string { return string(c) }

// exchangeError says what an exchange knows about its error, as those of package fetch do.
type exchangeError struct {
	cause *lookleap.Error
	retry time.Duration
}

func (e exchangeError) Error() string            { return "an exchange" }
func (e exchangeError) Unwrap() error            { return e.cause }
func (e exchangeError) AsError() *lookleap.Error { return e.cause }
func (e exchangeError) RetryIn() time.Duration   { return e.retry }

// second returns the error of a call with a result.
func second[T any](_ T, err error) error { return err }

// TestCodeOfBadInput calls exported functions of all packages with bad input:
// each error has a code of the table, and none is "internal".
func TestCodeOfBadInput(t *testing.T) {
	host := &lookleap.Host{}
	defer host.Close()
	for name, err := range map[string]error{
		"lookleap.Seal":                  second(lookleap.Keys(nil).Seal(nil)),
		"lookleap.Open":                  second(lookleap.Keys{nil}.Unseal("")),
		"lookleap.Open broken":           second(lookleap.Keys{resumeKey}.Unseal("x")),
		"lookleap.SealedCache":           second(lookleap.SealedCache(nil, resumeKey)),
		"lookleap.SealedCache key":       second(lookleap.SealedCache(lookleap.NewMemoryCache(1), nil)),
		"lookleap.OpenStore":             second(lookleap.OpenStore("")),
		"lookleap.ParsePlan":             second(lookleap.ParsePlan([]byte("{"))),
		"lookleap.NewPlan":               second(lookleap.NewPlan(lookleap.ConsentRequest{}, nil, planTime)),
		"lookleap.NewPlan without parts": second(lookleap.NewPlan(lookleap.ConsentRequest{Kind: lookleap.ConsentAct}, nil, planTime)),
		"lookleap.Host.RoundTrip":        second(host.RoundTrip(nil)),
		"lookleap.Host.Ask":              second(host.Ask(t.Context(), nil)),
		"lookleap.Host.Commit":           commitTo(host, t.Context(), nil, nil),
		"agentstxt":                      &lookleap.Error{Code: lookleap.CodeNotUTF8, Err: agentstxt.ErrMalformed},
		"aiuri.Parse":                    second(aiuri.Parse("x")),
		"aiuri.FromIRI":                  second(aiuri.FromIRI("\xff")),
		"anml.Parse xml":                 second(anml.Parse("", []byte("<x>"), anml.ReadOptions{})),
		"anml.Parse nothing":             second(anml.Parse("", nil, anml.ReadOptions{})),
		"anml.CheckValue":                anml.CheckValue(anml.TypeNumber, "x"),
		"anmltrust":                      second(anmltrust.NewVerifier(host, anmltrust.Rules{}).Verify(cancelled(t), anmltrust.Claim{})),
		"dvs.ParseSkillURL":              second(dvs.ParseSkillURL("x", dvs.Rules{})),
		"dvs.ParseTrustRoot":             second(dvs.ParseTrustRoot("x", dvs.Rules{})),
		"agent.ErrNoValue":               agent.ErrNoValue,
		"agent.ErrUsage":                 agent.ErrUsage,
		"lookleap.ErrBusy":               lookleap.ErrBusy,
		"lookleap.ErrConflict":           lookleap.ErrConflict,
	} {
		t.Run(name, func(t *testing.T) {
			if code := lookleap.CodeOf(err); err == nil || !code.Known() || code == lookleap.CodeInternal || code == lookleap.CodeOK {
				t.Errorf("%q: %v", code, err)
			}
		})
	}
	for _, err := range []error{anml.ErrType, anml.ErrParamMissing, anml.ErrParamInvalid, anml.ErrParamUnknown, anml.ErrUnsupportedEncType, anml.ErrProblem, anml.ErrRoleUnset, anml.ErrRoleContent,
		anml.ErrNoAction, anml.ErrAmbiguousAction, anml.ErrEmptyResponse, anml.ErrFlowCycle, anmltrust.ErrTrustRevoked, anmltrust.ErrTrustUnverified, aiuri.ErrNoSession} {
		if code := lookleap.CodeOf(errors.Join(err)); !code.Known() || code == lookleap.CodeInternal {
			t.Errorf("%q: %v", code, err)
		}
	}
}

func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestErrorText(t *testing.T) {
	const bell = "\a"
	below := &lookleap.Error{Code: lookleap.CodeTooLarge, Subject: "https://example.com/a", Message: "the body has more than 10 bytes", Fix: "raise the limit"}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"nothing":  {(*lookleap.Error)(nil), lookleap.CodeInternal.Title() + " (internal)"},
		"code":     {&lookleap.Error{Code: lookleap.CodeTLS}, lookleap.CodeTLS.Title() + " (tls)"},
		"all":      {&lookleap.Error{Code: lookleap.CodeNotUTF8, Subject: "a.md", Position: lookleap.Position{Line: 2, Column: 3}, Message: "byte 0xff", Fix: "save it as UTF-8"}, "a.md: 2:3: byte 0xff (not-utf8); save it as UTF-8"},
		"cause":    {&lookleap.Error{Code: lookleap.CodeIO, Message: "the plan cannot be recorded", Err: fs.ErrPermission}, "the plan cannot be recorded: permission denied (io)"},
		"sentinel": {&lookleap.Error{Code: lookleap.CodePlanDone, Message: "the plan was committed before", Err: lookleap.ErrAlreadyDone}, "the plan was committed before (plan-already-done)"},
		"class":    {&lookleap.Error{Code: lookleap.CodeBlockedPort, Message: "port 22 is not allowed", Err: lookleap.ErrDenied}, "port 22 is not allowed (blocked-port)"},
		"once":     {&lookleap.Error{Code: lookleap.CodeTooLarge, Subject: "https://example.com/a", Message: "the skill cannot be loaded", Err: below}, "https://example.com/a: the skill cannot be loaded: the body has more than 10 bytes (too-large); raise the limit"},
		"wrapped":  {&lookleap.Error{Code: lookleap.CodeIO, Message: "loading", Err: fmt.Errorf("reading: %w", below)}, "loading: reading: https://example.com/a: the body has more than 10 bytes (io); raise the limit"},
		"verdict": {&lookleap.Error{Code: lookleap.CodeMediaType, Message: "loading", Err: &lookleap.VerifyError{Verdict: &lookleap.Verdict{Code: lookleap.CodeMediaType, Subject: "a", Summary: "served as text/plain"}}},
			"loading: a: served as text/plain (media-type)"},
		"joined": {&lookleap.Error{Code: lookleap.CodeDNSError, Message: "no address was found", Err: errors.Join(fs.ErrClosed, &lookleap.Error{Code: lookleap.CodeTimeout, Message: "too late"}, fs.ErrClosed)},
			"no address was found: file already closed; too late; file already closed (dns-error)"},
		"joined-below-joined": {&lookleap.Error{Code: lookleap.CodeDNSError, Message: "no address was found", Err: errors.Join(errors.Join(fs.ErrClosed, fs.ErrExist), fs.ErrInvalid)},
			"no address was found: file already closed; file already exists; invalid argument (dns-error)"},
		"joined-with-words": {&lookleap.Error{Code: lookleap.CodeDNSError, Message: "no address was found", Err: fmt.Errorf("%w and %w", fs.ErrClosed, fs.ErrExist)},
			"no address was found: file already closed and file already exists (dns-error)"},
		"cause-alone": {&lookleap.Error{Code: lookleap.CodeIO, Err: fs.ErrPermission}, "permission denied (io)"},
		"place-of-the-cause": {&lookleap.Error{Code: lookleap.CodeNotUTF8, Message: "loading", Err: &lookleap.Error{Code: lookleap.CodeNotUTF8, Subject: "a.md", Position: lookleap.Position{Line: 2, Column: 3}, Message: "byte 0xff"}},
			"loading: a.md: 2:3: byte 0xff (not-utf8)"},
		"own-fix":            {&lookleap.Error{Code: lookleap.CodeTooLarge, Message: "loading", Fix: "ask for less", Err: below}, "loading: https://example.com/a: the body has more than 10 bytes (too-large); ask for less"},
		"own-fix-of-wrapped": {&lookleap.Error{Code: lookleap.CodeTooLarge, Message: "loading", Fix: "ask for less", Err: fmt.Errorf("reading: %w", below)}, "loading: reading: https://example.com/a: the body has more than 10 bytes (too-large); ask for less"},
		"exchange":           {&lookleap.Error{Code: lookleap.CodeTooLarge, Message: "loading", Err: exchangeError{cause: below}}, "loading: https://example.com/a: the body has more than 10 bytes (too-large); raise the limit"},
		"response": {&lookleap.Error{Code: lookleap.CodeBadStatus, Message: "loading", Err: &lookleap.ResponseError{Status: 503, RetryAfter: time.Minute, Err: below}},
			"loading: HTTP status 503, retry after 1m0s: https://example.com/a: the body has more than 10 bytes (bad-status); raise the limit"},
		"response-of-the-same": {&lookleap.Error{Code: lookleap.CodeTooLarge, Subject: "https://example.com/a", Message: "loading", Err: &lookleap.ResponseError{Status: 503, Err: below}},
			"https://example.com/a: loading: HTTP status 503: the body has more than 10 bytes (too-large); raise the limit"},
		"response-alone":        {&lookleap.ResponseError{Status: 503, RetryAfter: time.Nanosecond, Err: fs.ErrClosed}, "HTTP status 503, retry after 1ns: file already closed"},
		"response-of-no-status": {&lookleap.ResponseError{Err: fs.ErrClosed}, "file already closed"},
		"lowest-status":         {&lookleap.ResponseError{Status: 1}, "HTTP status 1"},
		"foreign-lines":         {&lookleap.Error{Code: lookleap.CodeIO, Subject: "a\nb", Message: "x" + bell, Err: errors.New("one\ntwo")}, `a\u{A}b: x\u{7}: one; two (io)`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.err.Error(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestRetryable(t *testing.T) {
	now := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	no := func(code lookleap.Code, expires time.Time, cause error) error {
		return fmt.Errorf("loading: %w", &lookleap.VerifyError{Verdict: &lookleap.Verdict{Code: code, CheckedAt: now, Expires: expires}, Err: cause})
	}
	coded := func(code lookleap.Code, cause error) error { return &lookleap.Error{Code: code, Err: cause} }
	for _, tt := range []struct {
		name string
		err  error
		wait time.Duration
		ok   bool
	}{
		{"nil", nil, 0, false},
		{"unknown", errors.New("x"), 0, false},
		{"cancelled", context.Canceled, 0, false},
		{"file", fs.ErrNotExist, 0, false},
		{"bad-url", coded(lookleap.CodeBadURL, nil), 0, false},
		{"parts", coded(lookleap.CodeLimit, nil), 0, false},
		{"timeout", coded(lookleap.CodeTimeout, nil), 30 * time.Second, true},
		{"deadline", context.DeadlineExceeded, 30 * time.Second, true},
		{"timeout-of-a-guard", coded(lookleap.CodeTimeout, lookleap.ErrDenied), 0, false},
		{"bogus", coded(lookleap.CodeTimeout, lookleap.ErrBogus), 0, false},
		{"status-503", coded(lookleap.CodeBadStatus, &lookleap.ResponseError{Status: 503}), 30 * time.Second, true},
		{"status-503-with-time", coded(lookleap.CodeBadStatus, &lookleap.ResponseError{Status: 503, RetryAfter: time.Hour}), time.Hour, true},
		{"status-404-with-time", coded(lookleap.CodeBadStatus, &lookleap.ResponseError{Status: 404, RetryAfter: 1}), 30 * time.Second, true},
		{"no-response", coded(lookleap.CodeBadStatus, (*lookleap.ResponseError)(nil)), 0, false},
		{"exchange-with-time", exchangeError{&lookleap.Error{Code: lookleap.CodeTimeout}, time.Hour}, time.Hour, true},
		{"no-verdict", coded(lookleap.CodeTimeout, fmt.Errorf("%w, %w", &lookleap.VerifyError{}, (*lookleap.VerifyError)(nil))), 30 * time.Second, true},
		{"nil-verdict", coded(lookleap.CodeTimeout, (*lookleap.VerifyError)(nil)), 30 * time.Second, true},
		{"verdict-that-ends-now", no(lookleap.CodeUnavailable, now.Add(1), nil), 1, true},
		{"verdict-of-requests-that-ends-now", no(lookleap.CodeLimit, now.Add(1), nil), 1, true},
		{"status-404", coded(lookleap.CodeBadStatus, &lookleap.ResponseError{Status: 404}), 0, false},
		{"verdict", no(lookleap.CodeUnavailable, now.Add(time.Minute), nil), time.Minute, true},
		{"verdict-without-end", no(lookleap.CodeUnavailable, time.Time{}, nil), 30 * time.Second, true},
		{"verdict-of-requests", no(lookleap.CodeLimit, now.Add(time.Hour), nil), time.Hour, true},
		{"verdict-below-another", no(lookleap.CodeUnavailable, time.Time{}, no(lookleap.CodeUnavailable, now.Add(time.Hour), nil)), time.Hour, true},
		{"verdict-of-parts", no(lookleap.CodeLimit, time.Time{}, nil), 0, false},
		{"verdict-that-is-final", no(lookleap.CodeBadURL, now.Add(time.Hour), nil), 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if wait, ok := lookleap.Retryable(tt.err); wait != tt.wait || ok != tt.ok {
				t.Errorf("%v, %v, want %v, %v", wait, ok, tt.wait, tt.ok)
			}
		})
	}
}
