package wellknown_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/wellknown"
)

func TestStateNames(t *testing.T) {
	for s, want := range map[wellknown.State]string{wellknown.Unavailable: "unavailable", wellknown.Forbidden: "forbidden",
		wellknown.Absent: "absent", wellknown.Present: "present", wellknown.Present + 1: "unavailable", 255: "unavailable"} {
		if got := s.String(); got != want {
			t.Errorf("%d: %s, want %s", s, got, want)
		}
	}
}

func TestStatusNames(t *testing.T) {
	for s, want := range map[wellknown.Status]string{wellknown.Unregistered: "unregistered", wellknown.Provisional: "provisional",
		wellknown.Permanent: "permanent", wellknown.Permanent + 1: "unregistered", 255: "unregistered"} {
		if got := s.String(); got != want {
			t.Errorf("%d: %s, want %s", s, got, want)
		}
	}
}

// Programs in other languages read results, so times are those of HTTP.
func TestResultJSON(t *testing.T) {
	when := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		retry time.Duration
		want  string
	}{
		{"none", 0, ""},
		{"whole", 2 * time.Minute, `,"retryAfter":120`},
		{"rounded-up", 1500 * time.Millisecond, `,"retryAfter":2`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &wellknown.Resource{
				Code: lookleap.CodeUnavailable, Origin: "https://site.example", URL: "https://site.example/.well-known/x", Status: 503,
				Body: []byte("not shown"), RetryAfter: c.retry, Fetched: when, Expires: when.Add(time.Minute),
			}
			want := `{"state":"unavailable","code":"unavailable","origin":"https://site.example","url":"https://site.example/.well-known/x","status":503,` +
				`"fetched":"2026-05-01T12:00:00Z","expires":"2026-05-01T12:01:00Z"` + c.want + `}`
			if got, err := json.Marshal(r); err != nil || string(got) != want {
				t.Errorf("%s, %v\nwant %s", got, err, want)
			}
		})
	}
}
