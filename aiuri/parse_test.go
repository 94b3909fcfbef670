package aiuri_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// han is a host whose A-label is shorter than its UTF-8.
var han = strings.Repeat("中", 20) + ".example"

func TestFromIRI(t *testing.T) {
	for _, c := range []struct{ id, in, want string }{
		{"AIU-7-02/accept-path", "ai://bank/é", "ai://bank/%C3%A9"},
		{"AIU-7-02/accept-query-and-fragment", "ai://bank/?é#é", "ai://bank/?%C3%A9#%C3%A9"},
		{"AIU-7-02/accept-absolute", "ai:/é", "ai:/%C3%A9"},
		{"AIU-7-03/accept-u-label", "ai://bücher.example/", "ai://xn--bcher-kva.example/"},
		{"AIU-7-03/accept-upper-case", "ai://BÜCHER.example:1/", "ai://xn--bcher-kva.example:1/"},
		{"AIU-7-03/accept-a-label", "ai://xn--bcher-kva.example/", "ai://xn--bcher-kva.example/"},
	} {
		t.Run(c.id, func(t *testing.T) {
			if u, err := aiuri.FromIRI(c.in); err != nil || u.String() != c.want {
				t.Errorf("got %q, %v", u, err)
			}
		})
	}
	t.Run("AIU-2-14/accept-longest-iri", func(t *testing.T) {
		path := "/" + strings.Repeat("x", 8192-len("ai://"+han+"/"))
		if u, err := aiuri.FromIRI("ai://" + han + path); err != nil || u.Path() != path {
			t.Errorf("got %d bytes of path, %v", len(u.Path()), err)
		}
	})
	for _, c := range []struct {
		id, in string
		code   lookleap.Code
		offset int
	}{
		{"AIU-7-02/reject-invalid-utf8", "ai://bank/\xff", "non-ascii", 0},
		{"AIU-7-03/reject-compatibility", "ai://ⓑank.example/", "bad-authority", 5},
	} {
		t.Run(c.id, func(t *testing.T) {
			u, err := aiuri.FromIRI(c.in)
			var e *lookleap.Error
			if !u.IsZero() || !errors.As(err, &e) || e.Code != c.code || e.Position.Offset != c.offset {
				t.Errorf("got %q, %v", u, err)
			}
		})
	}
}

// TestPlacesOfIRI: a place is one of the text that was given, whatever was converted.
func TestPlacesOfIRI(t *testing.T) {
	for text, at := range map[string]string{
		"ai://bücher.example/éé%zz": "%zz", "ai://bücher.example:e/": "e/", "ai://bank.example/é%": "%",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := aiuri.FromIRI(text)
			var e *lookleap.Error
			if want := strings.Index(text, at); !errors.As(err, &e) || e.Position.Offset < want || e.Position.Offset >= want+len(at) {
				t.Errorf("%v is not at %d", err, want)
			}
		})
	}
}
