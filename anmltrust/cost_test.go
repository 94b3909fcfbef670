package anmltrust_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/test/alloctest"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestCostOfRefusing fills manifests, answers and records up to their limits with
// what has to be refused, and lets servers send without end: that never takes
// more than three times the limit, garbage and the input included.
func TestCostOfRefusing(t *testing.T) {
	const size = 1 << 20
	filled := func(size int, head, piece, tail string) []byte {
		return []byte(head + strings.Repeat(piece, (size-len(head)-len(tail))/len(piece)) + tail)
	}
	check := func(name string, most int, refuse func() error) {
		t.Run(name, func(t *testing.T) {
			const theError = 40 << 10 // and its place, and the decoder
			alloctest.AtMost(t, most+theError, func() {
				if err := refuse(); err == nil || !lookleap.CodeOf(err).Known() {
					t.Errorf("got %v", err)
				}
			})
		})
	}
	head, tail, _ := strings.Cut(manifest("!"), "!")
	const closing = "]}"
	for name, data := range map[string][]byte{
		"flat":       filled(size, head, "1,", "1"+tail),
		"arrays":     filled(size, head, "[],", "1"+tail),
		"names":      filled(size, head, entry("a.example", 1)+",", "1"+tail),
		"objects":    filled(size, head, "{},", "{}"+tail),
		"deep":       filled(size, head, "[", ""),
		"scopes":     filled(size, head+`{"domain":"shop.example","tier":1,"scope":[`, `"body",`, `"body"]}`+closing),
		"duplicates": filled(size, `{`, `"site":"",`, `"site":""}`),
		"string":     filled(size, `{"version":"1.0","site":"`, `\u0061`, `"}`),
		"too-large":  filled(2*size, head, " ", tail),
	} {
		check("H28/reject-manifest-"+name, 2*size, func() error {
			_, err := anmltrust.ParseManifest(data)
			return err
		})
	}
	for name, data := range map[string][]byte{
		"flat":   filled(anmltrust.MaxQueryResponse, `{"authorized":[`, "1,", "1]}"),
		"scopes": filled(anmltrust.MaxQueryResponse, `{"authorized":true,"tier":1,"scope":[`, `"body",`, `1],"expires":"2026-06-20T00:00:00Z"}`),
		"string": filled(anmltrust.MaxQueryResponse, `{"authorized":true,"tier":"`, `\u0061`, `"}`),
	} {
		check("H11/reject-answer-"+name, 2*anmltrust.MaxQueryResponse, func() error {
			_, err := anmltrust.ParseQueryResponse(data)
			return err
		})
	}
	record := string(filled(anmltrust.MaxRecord, "v=anml1;", "x=1;", ""))
	check("G08/reject-record", 2*anmltrust.MaxRecord, func() error {
		_, err := anmltrust.ParseRecord(record)
		return err
	})
	check("H28/reject-manifest-without-end", 5*size, func() error { // what the server in this process takes included
		w := newWorld(t, manifestOnly).willing()
		w.brand.Fault(manifestPath, lookleaptest.Endless())
		_, err := w.v.Verify(context.Background(), shopClaim)
		return err
	})
}
