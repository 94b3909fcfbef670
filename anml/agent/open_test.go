package agent

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap/internal/domain"
)

func TestOpenReads(t *testing.T) {
	net := newLab(t)
	s := newSession(t, net, User{}, Options{})
	p := pageFor(t, net, s, "https://shop.example.com/a", "<head><title>Tea</title></head>")
	if p.Document().Head().Title() != "Tea" || p.ServingDomain() != "example.com" {
		t.Error(p.URL(), p.ServingDomain())
	}
}

// mustParse is a canonical URL.
func mustParse(t testing.TB, raw string) domain.URL {
	t.Helper()
	u, err := domain.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// first is the first candidate: its path, or its URL when it is not the shop's.
func first(found []candidate) string {
	if len(found) == 0 {
		return ""
	}
	return strings.TrimPrefix(found[0].url.String(), "https://shop.example")
}
