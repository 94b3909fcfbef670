package agent

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

func TestAdvise(t *testing.T) {
	code := func(c lookleap.Code) error { return &lookleap.Error{Code: c, Message: "x"} }
	busy := &lookleap.ResponseError{Status: http.StatusServiceUnavailable, RetryAfter: 90 * time.Second, Err: errors.New("busy")}
	for name, c := range map[string]struct {
		err  error
		want Remedy
		wait time.Duration
	}{
		"no-error":  {nil, "", 0},
		"busy":      {busy, RemedyRetry, 90 * time.Second},
		"in-doubt":  {inDoubt(busy), RemedyAskUser, 0},
		"pending":   {lookleap.ErrConsentPending, RemedyAskUser, 0},
		"refused":   {&lookleap.Error{Code: lookleap.CodeConsentRefused, Err: lookleap.ErrConsentRefused}, RemedyStop, 0},
		"no-value":  {code(CodeNoValue), RemedyAskUser, 0},
		"parameter": {code(anml.CodeParamInvalid), RemedyArguments, 0},
		"forbidden": {code(lookleap.CodeDenied), RemedyStop, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := Advise(c.err)
			data := a.Data()
			if a.Remedy != c.want || a.Wait != c.wait || a.Text != ErrorText(c.err) || data["code"] != string(a.Code) {
				t.Errorf("%+v", a)
			}
			if wait, ok := data["waitSeconds"]; ok != (c.want == RemedyRetry) || ok && wait != c.wait.Seconds() {
				t.Errorf("%v", data)
			}
		})
	}
}
