package agent

import (
	"errors"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// The rows about what is asked for, and what an answer is read as (sections 6.3, 7
// and 7.4).

func TestNegotiation(t *testing.T) {
	for name, c := range map[string]struct {
		format *anml.Format
		want   string
	}{
		"xml-first":  {nil, "application/anml+xml, application/anml+json;q=0.9"},
		"json-first": {new(anml.JSON), "application/anml+xml;q=0.9, application/anml+json;q=1.0"},
	} {
		for _, id := range []string{"ANML-6.3-02", "ANML-7-03", "ANML-7.4-02"} {
			t.Run(id+"/accept-"+name, func(t *testing.T) {
				f := newFinding(t, func(_ *User, o *Options) { o.Format = c.format })
				f.site.Handle(wellKnownPath, document(titled)).Handle("/a", document(titled))
				f.finds(f.s, "Shop")
				if _, err := f.s.Open(t.Context(), shopOrigin+"/a"); err != nil {
					t.Fatal(err)
				}
				for _, r := range f.net.Journal().Requests("shop.example") {
					if got := r.Header.Values("Accept"); len(got) != 1 || got[0] != c.want {
						t.Errorf("Accept %q", got)
					}
					for _, name := range []string{"Accept-Language", "Cookie", "Authorization", "Referer", "From"} {
						if r.Header.Get(name) != "" {
							t.Errorf("%s: %s", name, r.Header.Get(name))
						}
					}
				}
			})
		}
	}
	twin := `{"anml":"1.0","role":"service","head":{"title":"Shop"}}`
	t.Run("ANML-7-04/accept-what-the-type-says", func(t *testing.T) {
		f := newFinding(t)
		f.site.Body(wellKnownPath, anml.MediaTypeJSON+"; charset=utf-8", twin)
		if p := f.finds(f.s, "Shop"); p.Document().Format() != anml.JSON {
			t.Error(p.Document().Format())
		}
	})
	t.Run("ANML-7-04/reject-another-body", func(t *testing.T) {
		f := newFinding(t)
		f.site.Body("/a", anml.MediaTypeXML, twin).Body("/b", anml.MediaTypeJSON, service(titled))
		for _, path := range []string{"/a", "/b"} {
			_, err := f.s.Open(t.Context(), shopOrigin+path)
			if !errors.Is(err, anml.ErrNotWellFormed) {
				t.Error(err)
			}
		}
	})
	t.Run("ANML-6.3-03/accept-generic-types", func(t *testing.T) {
		f := newFinding(t)
		f.site.Body(wellKnownPath, "application/xml", service(titled)).Body("/a", "application/json", twin)
		f.finds(f.s, "Shop")
		_, err := f.s.Open(t.Context(), shopOrigin+"/a")
		f.wants(err, lookleap.CodeMediaType)
		s := f.session(func(_ *User, o *Options) { o.Read.AcceptGenericTypes = true })
		if _, err := s.Open(t.Context(), shopOrigin+"/a"); err != nil {
			t.Error(err)
		}
	})
	for name, header := range map[string][]string{
		"html": {"Content-Type", "text/html"}, "plain": {"Content-Type", "text/plain"}, "octets": {"Content-Type", "application/octet-stream"},
		"none": {"Content-Type", ""}, "two": {"Content-Type", anml.MediaTypeXML, "Content-Type", "text/html"}, "xml": {"Content-Type", "text/xml"},
	} {
		t.Run("ANML-6.3-03/reject-"+name, func(t *testing.T) {
			f := newFinding(t)
			f.site.Handle("/a", scripted(200, service(titled), header...))
			_, err := f.s.Open(t.Context(), shopOrigin+"/a")
			f.wants(err, lookleap.CodeMediaType)
			if !errors.Is(err, anml.ErrNotANML) || len(f.told) != 0 {
				t.Error(err, f.told)
			}
		})
	}
	t.Run("ANML-6.3-03/reject-generic-without-proof", func(t *testing.T) {
		for body, mediaType := range map[string]string{
			"<html/>": "application/xml", "<anml role='service'><head><title>x</title></head></anml>": "text/xml",
			`{"error":"not found"}`: "application/json", "oops": "application/json",
		} {
			f := newFinding(t, func(_ *User, o *Options) { o.Read.AcceptMissingNamespace = true })
			f.site.Body(wellKnownPath, mediaType, body)
			f.fails(f.s, CodeNoANML)
			if len(f.told) != 0 {
				t.Error(body, f.told)
			}
		}
	})
	t.Run("ANML-7.4-01/accept-as-a-hint", func(t *testing.T) {
		for name, want := range map[string]bool{"Accept-Patch": true, "Alternates": true, "X-Other": false} {
			f := newFinding(t)
			f.site.Handle(wellKnownPath, document(titled, name, `{"a" 1.0 {type application/anml+json}}`))
			if p := f.finds(f.s, "Shop"); p.OffersJSON() != want || p.opened.accept != nil {
				t.Error(name, p.OffersJSON())
			}
		}
	})
}
