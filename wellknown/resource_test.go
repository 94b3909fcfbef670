package wellknown_test

import (
	"testing"

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
