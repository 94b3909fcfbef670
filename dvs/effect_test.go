package dvs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/lab"
)

// TestResumeHoldsFiles resumes plans that somebody wrote together with a user's
// decision: what files they have is exactly what they say they have.
func TestResumeHoldsFiles(t *testing.T) {
	host := lab.ForTest(t).Host()
	loader := dvs.NewLoader(host, dvs.Options{Roots: registry(t, "https://shop.example/")})
	const script = `{"type":"dvs/script","script":{"skill":"https://shop.example/s/a/SKILL.md","root":"https://shop.example/","script":{"name":"x.sh","digest":"","size":%}}}` + "\n"
	with := func(size, files string) string {
		return script[:len(script)-5] + size + script[len(script)-4:] + files
	}
	for name, c := range map[string]struct {
		effect string
		want   error
	}{
		"accept-its-file":      {with("3", "abc"), nil},
		"reject-too-short":     {with("4", "abc"), lookleap.ErrPlanInvalid},
		"reject-too-long":      {with("2", "abc"), lookleap.ErrPlanInvalid},
		"reject-negative":      {with("-1", "abc"), lookleap.ErrPlanInvalid},
		"reject-no-json":       {"abc", lookleap.ErrPlanInvalid},
		"reject-other-type":    {`{"type":"dvs/other"}` + "\n", lookleap.ErrPlanInvalid},
		"reject-files-of-none": {`{"type":"dvs/fetch","fetch":{"skill":"","root":"","url":""}}` + "\nabc", lookleap.ErrPlanInvalid},
	} {
		t.Run("DVS-5.2-09/"+name, func(t *testing.T) {
			req := lookleap.ConsentRequest{Kind: lookleap.ConsentScript, Origin: "https://shop.example", Summary: "run", Items: []lookleap.ConsentItem{{ID: "run", Summary: "run"}}}
			plan, err := lookleap.NewPlan(req, []byte(c.effect), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			state, err := plan.State()
			if err != nil {
				t.Fatal(err)
			}
			shown := plan.Request()
			decision, _ := agree(shown)
			got, err := loader.Resume(t.Context(), state, decision)
			if !errors.Is(err, c.want) || c.want == nil && string(got.Script.Command().Script) != "abc" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestCostOfConsent loads as large a skill as there may be, which waits for its
// user: the plan has the file once.
func TestCostOfConsent(t *testing.T) {
	const size, at = 1 << 20, "https://shop.example/s/a/SKILL.md"
	net := lab.ForTest(t)
	net.Site("shop.example").Body("/s/a/SKILL.md", "text/markdown", string(filled(size, "---\nname: a\ndescription: b\n---\n", "Do this.\n", "")))
	host := net.Host()
	asked := 0
	host.Prompter = &prompter{decide: func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		asked++
		return agree(req)
	}}
	used := costOf(func() {
		if _, err := dvs.NewLoader(host, dvs.Options{}).Load(context.Background(), at); err != nil {
			t.Fatal(err)
		}
	})
	if used > 8*size || asked != 3 {
		t.Errorf("%.1f times the size, asked %d times", float64(used)/size, asked)
	}
	t.Logf("%.1f times the size", float64(used)/size)
}
