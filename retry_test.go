package lookleap_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

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
