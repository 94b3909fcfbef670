package dvs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/lab"
)

// resumeEdited suspends the question about a skill, changes the plan as someone could who stores it,
// and resumes it. The user agrees to the items of the edited plan that are named.
func resumeEdited(t *testing.T, url, before, after string, agreed ...string) (*dvs.Resumed, error) {
	t.Helper()
	net := lab.ForTest(t)
	net.Site("shop.example").Body("/s/a/SKILL.md", "text/markdown", refund)
	github(net, "/example-org/skills/main/a/SKILL.md", refund)
	host := net.Host()
	host.Prompter = &prompter{decide: suspend}
	_, err := dvs.NewLoader(host, dvs.Options{}).Load(t.Context(), url)
	plan, err := lookleap.ParsePlan(pendingOf(t, err).State)
	if err != nil {
		t.Fatal(err)
	}
	effect := strings.Replace(string(plan.Effect()), before, after, 1)
	if before != after && effect == string(plan.Effect()) {
		t.Fatalf("the plan has no %s:\n%s", before, effect)
	}
	edited, err := lookleap.NewPlan(*plan.Request(), []byte(effect), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	state, err := edited.State()
	if err != nil {
		t.Fatal(err)
	}
	return dvs.NewLoader(net.Host(), dvs.Options{}).Resume(t.Context(), state, lookleap.ConsentDecision{Digest: edited.Request().Digest, Approved: agreed})
}

// TestResumeReadsAgain resumes plans in which the claim or the evidence was changed. What the file
// itself says is read from the file.
func TestResumeReadsAgain(t *testing.T) {
	t.Run("O65/accept-the-digest-of-the-file", func(t *testing.T) {
		got, err := resumeEdited(t, trustedAt, dvs.DigestOf([]byte(refund)).String(), dvs.DigestOf(nil).String(), "skill")
		if err != nil || got.Loaded.Digest != dvs.DigestOf([]byte(refund)) {
			t.Errorf("%+v, %v", got, err)
		}
	})
	for name, c := range map[string]struct {
		url, before, after string
		code               lookleap.Code
		says               string
	}{
		"reject-another-scheme":            {trustedAt, `"url":"https:`, `"url":"http:`, lookleap.CodeNotHTTPS, ""},
		"reject-a-root-that-was-not-shown": {trustedAt, `"root":"https://shop.example/"`, `"root":"https://github.com/"`, dvs.CodeConsentStale, ""},
		"reject-a-redirect-that-is-no-url": {platformSkill, `"evidence":{`, `"evidence":{"hops":["x"],`, dvs.CodeNeedsRoot, "was derived from the URL and not confirmed"},
		"reject-a-redirect-elsewhere":      {trustedAt, `"evidence":{`, `"evidence":{"hops":["https://evil.example/s/a/SKILL.md"],`, dvs.CodeRedirectOutside, ""},
	} {
		t.Run("O65/"+name, func(t *testing.T) {
			got, err := resumeEdited(t, c.url, c.before, c.after, "skill")
			if got != nil || lookleap.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestResumeOfAnotherKind resumes plans whose kind is not that of what they contain.
func TestResumeOfAnotherKind(t *testing.T) {
	const kind = `"type":"dvs/skill"`
	for _, after := range []string{`"type":""`, `"type":"dvs/other"`, `"type":"dvs/fetch"`, `"type":"dvs/script"`, `"type":"dvs/files"`, `"type":"dvs/action"`,
		`"type":"x","fetch":{}`, `"type":"x","script":{}`, `"type":"x","files":{}`, `"type":"x","action":{}`} {
		t.Run("DVS-5.2-09/reject-"+after, func(t *testing.T) {
			if got, err := resumeEdited(t, trustedAt, kind, after, "skill"); got != nil || lookleap.CodeOf(err) != lookleap.CodePlanInvalid {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	t.Run("DVS-5.2-09/reject-nothing-to-use", func(t *testing.T) {
		if got, err := resumeEdited(t, trustedAt, `"skill":{`, `"other":{`, "skill"); got != nil || lookleap.CodeOf(err) != lookleap.CodePlanInvalid {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestResumeStaysStrict: what the first loader demanded is still demanded by a milder one, and the
// verdict says so.
func TestResumeStaysStrict(t *testing.T) {
	w := newAdmissionWorld(t)
	w.raw.Body("/o/r/main/a/SKILL.md", "text/markdown", refund)
	for _, name := range []string{"github.com", "raw.githubusercontent.com"} {
		w.net.Name(name).DNSSEC(lookleap.Secure)
	}
	w.user.decide = suspend
	_, err := dvs.NewLoader(w.host, dvs.Options{Strict: true, RequireSecure: true}).Load(t.Context(), hubSkill)
	p := pendingOf(t, err)
	decision, _ := agree(p.Request)
	got, err := dvs.NewLoader(w.host, dvs.Options{}).Resume(t.Context(), p.State, decision)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"strict":true`, `"requireSecure":true`} {
		if !strings.Contains(string(got.Loaded.Verdict.Record), part) {
			t.Errorf("%s is not in %s", part, got.Loaded.Verdict.Record)
		}
	}
}
