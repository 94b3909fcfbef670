package aiuri_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/internal/test/vectors"
)

// side names a subtest for the register.
func side(requirement string, reason lookleap.Code, name string) string {
	if reason == "" {
		return requirement + "/accept-vector-" + name
	}
	return requirement + "/reject-vector-" + name
}

func TestVectorURIs(t *testing.T) {
	for _, c := range vectors.Read[struct {
		Name, Requirement, URI, IRI, Normal, Authority string
		Reason                                         lookleap.Code
		Offset                                         int
	}](t, "uris.json", aiuri.Draft) {
		t.Run(side(c.Requirement, c.Reason, c.Name), func(t *testing.T) {
			read, text := aiuri.Parse, c.URI
			if c.IRI != "" {
				read, text = aiuri.FromIRI, c.IRI
			}
			u, err := read(text)
			switch {
			case lookleap.CodeOf(err) != want(c.Reason):
				t.Fatalf("got %q, %v", u, err)
			case c.Reason == "" && (u.Normalize().String() != c.Normal || c.IRI == "" && u.Authority() != c.Authority):
				t.Errorf("got %q with authority %q", u.Normalize(), u.Authority())
			case c.Reason != "" && c.IRI == "" && err.(*lookleap.Error).Position.Offset != c.Offset:
				t.Errorf("the place is %+v", err.(*lookleap.Error).Position)
			}
		})
	}
}

func want(reason lookleap.Code) lookleap.Code {
	if reason == "" {
		return lookleap.CodeOK
	}
	return reason
}

func TestVectorGateway(t *testing.T) {
	for _, c := range vectors.Read[struct {
		Name, Requirement, Base, URI, URL string
		Reason                            lookleap.Code
	}](t, "gateway.json", aiuri.Draft) {
		t.Run(side(c.Requirement, c.Reason, c.Name), func(t *testing.T) {
			m, err := aiuri.NewMapping(c.Base)
			if err == nil && c.URI != "" {
				var url string
				if url, err = m.URL(parse(t, c.URI)); url != c.URL {
					t.Errorf("got %q", url)
				}
			}
			if err == nil && c.URL != "" {
				var u aiuri.URI
				if u, err = m.Split(c.URL); u.String() != c.URI {
					t.Errorf("got %q", u)
				}
			}
			if lookleap.CodeOf(err) != want(c.Reason) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestVectorLinks(t *testing.T) {
	for _, c := range vectors.Read[struct {
		Name, Requirement, Page string
		Link, Targets           []string
	}](t, "links.json", aiuri.Draft) {
		reason := lookleap.Code("")
		if len(c.Targets) == 0 {
			reason = aiuri.CodeNoEndpoint
		}
		t.Run(side(c.Requirement, reason, c.Name), func(t *testing.T) {
			got := aiuri.LinkTargets(c.Link)
			if c.Page != "" {
				got = aiuri.ElementTargets([]byte(c.Page))
			}
			if !slices.Equal(got, c.Targets) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestVectorDocuments(t *testing.T) {
	for _, c := range vectors.Read[struct {
		Name, Requirement, Origin, Document, Endpoint, JWKS, Auth string
		Scopes                                                    []string
		MTLS                                                      bool
		Finding, Reason                                           lookleap.Code
	}](t, "documents.json", aiuri.Draft) {
		t.Run(side(c.Requirement, c.Reason, c.Name), func(t *testing.T) {
			d, err := aiuri.ParseDescriptor([]byte(c.Document), c.Origin)
			if lookleap.CodeOf(err) != want(c.Reason) {
				t.Fatalf("got %+v, %v", d, err)
			}
			if c.Reason != "" {
				return
			}
			if d.Endpoint.String() != c.Endpoint || d.JWKS != c.JWKS || d.Policy.Auth != c.Auth || d.Policy.MTLS != c.MTLS || !slices.Equal(d.Scopes, c.Scopes) {
				t.Errorf("got %+v", d)
			}
			if found := len(d.Findings) == 1 && d.Findings[0].Code == c.Finding; found != (c.Finding != "") {
				t.Errorf("the findings are %v", d.Findings)
			}
		})
	}
}

func TestVectorResults(t *testing.T) {
	var all struct {
		Now  int64
		Keys json.RawMessage
	}
	for _, c := range vectors.Read[struct {
		Name, Requirement, JWS, Payload, Key string
		Body                                 *string
		Expect                               struct {
			Endpoint, Audience, Request string
			Scopes, Require             []string
		}
		Reason lookleap.Code
	}](t, "results.json", aiuri.Draft, &all) {
		t.Run(side(c.Requirement, c.Reason, c.Name), func(t *testing.T) {
			keys, err := aiuri.ParseKeySet(all.Keys)
			if err != nil || len(keys.Findings()) != 0 {
				t.Fatal(err, keys.Findings())
			}
			r := aiuri.SignedResult{JWS: c.JWS}
			if c.Body != nil {
				r.Body = []byte(*c.Body)
			}
			x := aiuri.Expectation{Audience: c.Expect.Audience, Request: c.Expect.Request, Scopes: c.Expect.Scopes, Require: c.Expect.Require}
			if c.Expect.Endpoint != "" {
				x.Endpoint = parse(t, c.Expect.Endpoint)
			}
			v, err := aiuri.VerifyResult(r, keys, time.Unix(all.Now, 0), x)
			switch {
			case lookleap.CodeOf(err) != want(c.Reason):
				t.Errorf("got %+v, %v", v, err)
			case c.Reason == "" && (string(v.Payload) != c.Payload || v.KeyID != c.Key):
				t.Errorf("got %q by %q", v.Payload, v.KeyID)
			}
		})
	}
}
