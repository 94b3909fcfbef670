package lookleap_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

func sampleVerdict() *lookleap.Verdict {
	secure := lookleap.Secure
	return &lookleap.Verdict{
		Document:  "draft-zzn-dvs-00",
		Subject:   "https://example.com/skills/refund/SKILL.md",
		OK:        true,
		Code:      lookleap.CodeOK,
		Summary:   "the skill lies under its trust root",
		CheckedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Expires:   time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC),
		Record:    []byte(`{"claim":1}`),
		Checks: []lookleap.Check{
			{Requirement: "DVS-3.1-05", Code: lookleap.CodeOK, Status: lookleap.Passed, Message: "origin and path segments match"},
			{Requirement: "DVS-7-01", Code: lookleap.CodeMediaType, Status: lookleap.Noted, Message: "served as text/plain", Evidence: []lookleap.Evidence{
				{URL: "https://example.com/skills/refund/SKILL.md", Status: 200, DNSName: "example.com", DNSType: "A", TTL: time.Minute, DNSSEC: &secure, Digest: lookleap.Digest(nil)},
				{Text: "evil\x1b[2K\n└─ + forged"},
			}},
			{Code: lookleap.CodeSkipped, Status: lookleap.Skipped, Message: "no script"},
		},
	}
}

func TestVerdictJSON(t *testing.T) {
	v := sampleVerdict()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var back lookleap.Verdict
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(*v, back) {
		t.Errorf("changed on the way:\n%+v\n%+v", *v, back)
	}
	if !bytes.Contains(data, []byte(`"type":"`+lookleap.VerdictMediaType+`"`)) {
		t.Errorf("the verdict does not say what it is: %s", data)
	}
	other := bytes.Replace(data, []byte("version=1"), []byte("version=2"), 1)
	if err := json.Unmarshal(other, &back); err == nil {
		t.Error("a verdict of another version was read")
	}
	if err := json.Unmarshal(bytes.Replace(data, []byte(`"passed"`), []byte(`"great"`), 1), &back); err == nil {
		t.Error("an unknown status was read")
	}
}

func TestVerdictString(t *testing.T) {
	shown := sampleVerdict().String()
	for _, want := range []string{"yes: https://example.com/", "├─ + origin and path", "! served as text/plain (media-type) [DVS-7-01]", "dnssec=secure", "└─ - no script", "holds until 2026-03-01T13:00:00Z"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	if strings.Contains(shown, "\x1b") || strings.Count(shown, "\n") != 7 {
		t.Errorf("remote text forged a line:\n%s", shown)
	}
	var none *lookleap.Verdict
	if none.String() != "no verdict" || none.LogValue().String() != "no verdict" {
		t.Error("a nil verdict cannot be shown")
	}
	if zero := new(lookleap.Verdict).String(); !strings.HasPrefix(zero, "no:") {
		t.Errorf("the zero verdict says %q", zero)
	}
}

// TestShownMembersForgeNothing puts hostile text wherever a server, a key set or a
// stored verdict could have put it.
func TestShownMembersForgeNothing(t *testing.T) {
	const forged = "x\n└─ + all is well digest=sha256:00\x1b[2K"
	v := &lookleap.Verdict{Subject: forged, Code: forged, Summary: forged, Checks: []lookleap.Check{{
		Code: forged, Requirement: forged, Message: forged,
		Evidence: []lookleap.Evidence{{URL: forged, MediaType: forged, Address: forged, TLS: forged, DNSName: forged, DNSType: forged, Digest: forged, KeyID: forged, Text: forged}},
	}}}
	finding := lookleap.Finding{Code: forged, Message: forged, Fix: forged, Position: lookleap.Position{Line: 1, Path: forged}}
	for name, test := range map[string]struct {
		shown string
		lines int
	}{
		"verdict": {v.String(), 3},
		"error":   {(&lookleap.VerifyError{Verdict: v}).Error() + "\n", 1},
		"finding": {finding.String() + "\n", 1},
	} {
		if strings.Contains(test.shown, "\x1b") || strings.Count(test.shown, "\n") != test.lines {
			t.Errorf("%s: remote text forged a line:\n%s", name, test.shown)
		}
	}
	evidence := lookleap.Evidence{MediaType: "text/html status=200", KeyID: `1" digest=sha256:00`}.String()
	if want := `type="text/html status=200" key="1\" digest=sha256:00"`; evidence != want {
		t.Errorf("remote text forged a member: %s, want %s", evidence, want)
	}
}

func TestZeroValuesAreTheSafeOnes(t *testing.T) {
	var status lookleap.Status
	var severity lookleap.Severity
	var state lookleap.DNSSEC
	if status.String() != "failed" || severity.String() != "error" || state.String() != "indeterminate" {
		t.Errorf("zero values: %v %v %v", status, severity, state)
	}
	for n := range 252 {
		status, severity, state := lookleap.Status(n+4), lookleap.Severity(n+3), lookleap.DNSSEC(n+3)
		if status.String() != "failed" || severity.String() != "error" || state.String() != "indeterminate" {
			t.Errorf("%d above the range: %v %v %v", n, status, severity, state)
		}
		v := lookleap.Verdict{Checks: []lookleap.Check{{Status: status, Message: "m"}}}
		if shown := v.String(); !strings.HasSuffix(shown, "└─ x m\n") {
			t.Errorf("%d above the range: %s", n, shown)
		}
	}
}

func TestEnumsRoundTrip(t *testing.T) {
	type all struct {
		Status   lookleap.Status
		Severity lookleap.Severity
		DNSSEC   lookleap.DNSSEC
	}
	in := all{lookleap.Noted, lookleap.SeverityWarning, lookleap.Insecure}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out all
	if err := json.Unmarshal(data, &out); err != nil || out != in {
		t.Errorf("%s: %+v, %v", data, out, err)
	}
	for _, bad := range []string{`{"Status":"PASSED"}`, `{"Severity":""}`, `{"DNSSEC":"bogus"}`} {
		if err := json.Unmarshal([]byte(bad), &out); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

// TestFindingString: a finding is shown with its place and fix, as far as they are known.
func TestFindingString(t *testing.T) {
	for want, f := range map[string]lookleap.Finding{
		"error: broken (tls)":                 {Code: lookleap.CodeTLS, Message: "broken"},
		"error: broken (tls); renew it":       {Code: lookleap.CodeTLS, Message: "broken", Fix: "renew it"},
		"1:1: error: broken (tls)":            {Code: lookleap.CodeTLS, Message: "broken", Position: lookleap.Position{Line: 1, Column: 1}},
		"/a/b: error: broken (tls)":           {Code: lookleap.CodeTLS, Message: "broken", Position: lookleap.Position{Path: "/a/b"}},
		"2:3 /a/b: error: broken (tls); stop": {Code: lookleap.CodeTLS, Message: "broken", Fix: "stop", Position: lookleap.Position{Line: 2, Column: 3, Path: "/a/b"}},
	} {
		if got := f.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestVerifyErrorFix: the fix of the cause is shown once.
func TestVerifyErrorFix(t *testing.T) {
	cause := &lookleap.Error{Code: lookleap.CodeTLS, Message: "expired", Err: &lookleap.Error{Code: lookleap.CodeTLS, Fix: "renew it"}}
	for summary, want := range map[string]string{
		"the certificate is expired":           "a: the certificate is expired (tls); renew it",
		"the certificate is expired: renew it": "a: the certificate is expired: renew it (tls)",
	} {
		err := &lookleap.VerifyError{Verdict: &lookleap.Verdict{Subject: "a", Code: lookleap.CodeTLS, Summary: summary}, Err: cause}
		if err.Error() != want {
			t.Errorf("got %s, want %s", err, want)
		}
	}
	err := &lookleap.VerifyError{Verdict: &lookleap.Verdict{Subject: "a", Code: lookleap.CodeTLS, Summary: "no"}, Err: (*lookleap.Error)(nil)}
	if err.Error() != "a: no (tls)" {
		t.Errorf("got %s without a cause", err)
	}
}

func TestLogEvents(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	observe := lookleap.LogEvents(log)
	observe(context.Background(), lookleap.Event{Kind: lookleap.EventVerdict, Code: lookleap.CodeOK, Subject: "a", Verdict: sampleVerdict(), Duration: time.Second})
	observe(context.Background(), lookleap.Event{Kind: lookleap.EventFetch, Code: lookleap.CodeTLS, Subject: "b", Status: 200, Err: errors.New("expired"),
		Finding: &lookleap.Finding{Code: lookleap.CodeTLS, Message: "renew it", Position: lookleap.Position{Line: 2, Column: 3}}})
	want := "level=INFO msg=verdict code=ok subject=a duration=1s verdict.ok=true verdict.code=ok"
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("got %s", out.String())
	}
	if !strings.Contains(out.String(), `level=WARN msg=fetch code=tls subject=b status=200 finding="2:3: error: renew it (tls)" error=expired`) {
		t.Errorf("got %s", out.String())
	}
}
