package agentstxt_test

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/internal/test/zerotest"
)

func TestZeroValues(t *testing.T) {
	zerotest.Run(t, []reflect.Type{
		reflect.TypeFor[agentstxt.Action](), reflect.TypeFor[agentstxt.Response](), reflect.TypeFor[agentstxt.Client](),
		reflect.TypeFor[agentstxt.Decision](), reflect.TypeFor[agentstxt.Directive](),
		reflect.TypeFor[agentstxt.Limits](), reflect.TypeFor[agentstxt.HashMismatch](), reflect.TypeFor[agentstxt.Options](),
		reflect.TypeFor[agentstxt.Param](), reflect.TypeFor[agentstxt.Policy](), reflect.TypeFor[agentstxt.Report](),
		reflect.TypeFor[agentstxt.State](), reflect.TypeFor[agentstxt.Transport](),
		reflect.TypeFor[agentstxt.Unlisted](), reflect.TypeFor[agentstxt.Foreign](), reflect.TypeFor[agentstxt.Robots](),
		reflect.TypeFor[agentstxt.RobotsFile](), reflect.TypeFor[agentstxt.Preference](), reflect.TypeFor[agentstxt.Usage](),
	}, map[string]any{
		"Fetch": agentstxt.Fetch, "Format": agentstxt.Format, "Guard": agentstxt.Guard, "Judge": agentstxt.Judge, "Lint": agentstxt.Lint,
		"NewClient": agentstxt.NewClient, "NewHandler": agentstxt.NewHandler, "Parse": agentstxt.Parse,
		"PolicyURL": agentstxt.PolicyURL, "Sign": agentstxt.Sign,
		"ParseContentSignal": agentstxt.ParseContentSignal, "ParseContentUsage": agentstxt.ParseContentUsage,
		"ParseRobots": agentstxt.ParseRobots, "UsageFrom": agentstxt.UsageFrom, "TraceUsage": agentstxt.TraceUsage, "Web": agentstxt.Web,
	})
}

func TestNoHost(t *testing.T) {
	const page = "https://example.com/"
	request, _ := http.NewRequest(http.MethodGet, page, nil)
	for name, c := range map[string]*agentstxt.Client{"nil-client": nil, "zero-client": {}, "nil-host": agentstxt.NewClient(nil, agentstxt.Options{})} {
		t.Run("O27/reject-"+name, func(t *testing.T) {
			_, policyErr := c.Policy(t.Context(), page)
			_, decideErr := c.Decide(t.Context(), page)
			_, checkErr := c.Guard().Check(request)
			_, sendErr := c.Guard().RoundTrip(request)
			_, robotsErr := c.Robots(t.Context(), page)
			for _, err := range []error{robotsErr, policyErr, decideErr, checkErr, sendErr} {
				if lookleap.CodeOf(err) != lookleap.CodeUsage {
					t.Errorf("got %v", err)
				}
			}
			if c.Generation(page) != 0 || c.Guard().Time().IsZero() {
				t.Error("it knows a policy, or no time")
			}
		})
	}
	t.Run("O27/reject-package-functions", func(t *testing.T) {
		_, fetchErr := agentstxt.Fetch(t.Context(), nil, page)
		_, sendErr := agentstxt.Guard(nil).RoundTrip(request)
		_, nilErr := agentstxt.Guard(&lookleap.Host{}).RoundTrip(nil)
		for _, err := range []error{fetchErr, sendErr, nilErr} {
			if lookleap.CodeOf(err) != lookleap.CodeUsage {
				t.Errorf("got %v", err)
			}
		}
	})
}
