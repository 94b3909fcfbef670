package wellknown_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/wellknown"
)

var updateVectors = flag.Bool("update-vectors", false, "write the expectations of testdata/vectors anew")

const vectorFile = "testdata/vectors/uris.json"

// uriVector is a URI, and what it says or why it is none.
type uriVector struct {
	URI    string        `json:"uri"`
	Origin string        `json:"origin,omitempty"`
	Name   string        `json:"name,omitempty"`
	Rest   string        `json:"rest,omitempty"`
	Reason lookleap.Code `json:"reason,omitempty"`
}

// TestVectors takes the published URIs apart.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Specification string      `json:"specification"`
		Input         string      `json:"input"`
		Cases         []uriVector `json:"cases"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	good := 0
	for i, want := range file.Cases {
		got := uriVector{URI: want.URI}
		u, err := wellknown.Parse(want.URI)
		var bad *lookleap.Error
		switch {
		case errors.As(err, &bad):
			got.Reason = bad.Code
		case err != nil:
			t.Fatal(err)
		default:
			got.Origin, got.Name, got.Rest = u.Origin, u.Name, u.Rest
			good++
		}
		if *updateVectors {
			file.Cases[i] = got
		} else if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if good < 4 || len(file.Cases)-good < 8 {
		t.Errorf("%d of %d cases are well-known URIs", good, len(file.Cases))
	}
	if *updateVectors {
		text, err := json.MarshalIndent(file, "", "  ")
		if err == nil {
			err = os.WriteFile(vectorFile, append(text, '\n'), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
