package anml_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/kit"
	"github.com/lookleap/lookleap/internal/test/vectors"
)

// documentVector is a document in both serializations and what follows from it.
type documentVector struct {
	Name        string        `json:"name"`
	Requirement string        `json:"requirement"`
	XML         string        `json:"xml"`
	JSON        string        `json:"json"`
	Errors      []string      `json:"errors"`
	Decisions   kit.Decisions `json:"decisions"`
}

// refusalVector is a document that is refused as a whole.
type refusalVector struct {
	Name        string `json:"name"`
	Requirement string `json:"requirement"`
	ContentType string `json:"contentType"`
	Role        string `json:"role,omitempty"`
	File        string `json:"file,omitempty"`
	Base64      []byte `json:"base64,omitempty"`
	Repeat      int    `json:"repeat,omitempty"`
	Class       string `json:"class"`
	Code        string `json:"code"`
}

// valueVector is a text that is, or is no, value of a type.
type valueVector struct {
	Name        string `json:"name"`
	Requirement string `json:"requirement"`
	Type        string `json:"type"`
	Text        string `json:"text"`
	Valid       bool   `json:"valid"`
}

func TestVectorDocuments(t *testing.T) {
	for _, c := range vectors.Read[documentVector](t, "documents.json", anml.Draft) {
		t.Run(c.Requirement+"/accept-vector-"+c.Name, func(t *testing.T) {
			x, err := anml.ParseXML([]byte(c.XML), anml.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			j, err := anml.ParseJSON([]byte(c.JSON), anml.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !anml.Equal(x, j) {
				t.Error("the serializations are not one document")
			}
			for _, d := range []*anml.Document{x, j} {
				if got := kit.DecisionsOf(d); !reflect.DeepEqual(got, c.Decisions) {
					t.Errorf("%s\ngot  %+v\nwant %+v", d.Format(), got, c.Decisions)
				}
				if got := kit.Faults(d); !slices.Equal(got, c.Errors) {
					t.Errorf("%s: errors %v, want %v", d.Format(), got, c.Errors)
				}
			}
			if out, err := anml.MarshalJSON(x, anml.WriteOptions{Verbatim: true}); err != nil || strings.TrimSuffix(string(out), "\n") != c.JSON {
				t.Errorf("written as %s, %v", out, err)
			}
		})
	}
}

func TestVectorRefusals(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range vectors.Read[refusalVector](t, "refusals.json", anml.Draft) {
		seen[c.Class] = true
		t.Run(c.Requirement+"/reject-vector-"+c.Name, func(t *testing.T) {
			data := []byte(kit.Unfold(c.File, c.Repeat))
			if c.Base64 != nil {
				data = c.Base64
			}
			var e *lookleap.Error
			d, err := anml.Parse(c.ContentType, data, anml.ReadOptions{Role: kit.Roles[c.Role]})
			if d != nil || !errors.As(err, &e) || string(e.Code) != c.Code || kit.RefusalClasses[c.Class] == nil || !errors.Is(err, kit.RefusalClasses[c.Class]) {
				t.Errorf("%v, %v", d, err)
			}
		})
	}
	for class := range kit.RefusalClasses {
		if !seen[class] {
			t.Errorf("no case of class %s", class)
		}
	}
}

func TestVectorValues(t *testing.T) {
	for _, c := range vectors.Read[valueVector](t, "values.json", anml.Draft) {
		name := "/accept-vector-"
		if !c.Valid {
			name = "/reject-vector-"
		}
		t.Run(c.Requirement+name+c.Name, func(t *testing.T) {
			if err := anml.CheckValue(anml.ParseType(c.Type), c.Text); (err == nil) != c.Valid || anml.ParseType(c.Type).String() != c.Type {
				t.Errorf("%s %q: %v", c.Type, c.Text, err)
			}
		})
	}
}
