package anmltrust

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
)

// TestExchangeFailures: which failure an error is, and which errors stop the gathering.
func TestExchangeFailures(t *testing.T) {
	denied := &lookleap.Error{Code: lookleap.CodeTLS, Err: lookleap.ErrDenied}
	for name, c := range map[string]struct {
		err  error
		want Failure
	}{
		"redirect":        {errRedirect, FailedRedirect},
		"certificate":     {errNotTheSites, FailedTLS},
		"slow":            {errSlow, FailedTransient},
		"guard":           {denied, FailedOther},
		"tls":             {&lookleap.Error{Code: lookleap.CodeTLS}, FailedTLS},
		"temporary-guard": {&fetch.Error{Code: lookleap.CodeUnreachable, Transient: true}, FailedTransient},
		"too-large":       {&lookleap.Error{Code: lookleap.CodeTooLarge}, FailedAnswer},
		"unknown":         {errors.New("x"), FailedOther},
	} {
		for _, err := range []error{c.err, fmt.Errorf("below: %w", c.err)} {
			var x Exchange
			if stop := x.end(t.Context(), nil, err, judgeNow); stop != nil || x.Failure != c.want || x.err != err || x.Cause != err.Error() || !x.At.Equal(judgeNow) {
				t.Errorf("%s: %v, %+v", name, stop, x)
			}
		}
	}
	for _, stop := range []error{errBudget, errExchanges, lookleap.ErrClosed, &lookleap.Error{Code: lookleap.CodeCancelled}} {
		for _, err := range []error{stop, fmt.Errorf("below: %w", stop)} {
			var x Exchange
			if got := x.end(t.Context(), nil, err, judgeNow); got != err || x.Failure != FailedNot || x.Cause != "" {
				t.Errorf("%v: %v, %+v", err, got, x)
			}
		}
	}
	for n, want := range map[int]string{300: strings.Repeat("x", 300), 301: strings.Repeat("x", 300) + "…"} {
		var x Exchange
		if stop := x.end(t.Context(), nil, errors.New(strings.Repeat("x", n)), judgeNow); stop != nil || x.Cause != want {
			t.Errorf("a cause of %d bytes became %q", n, x.Cause)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var x Exchange
	if got := x.end(ended, nil, errSlow, judgeNow); got != context.Canceled || x.Failure != FailedNot {
		t.Errorf("after the caller left: %v, %+v", got, x)
	}
}
