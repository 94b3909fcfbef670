package dvs

import (
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// TestResourceLocation: the URL that responded is located by the rules, whatever was checked before
// the request was sent.
func TestResourceLocation(t *testing.T) {
	for _, c := range []struct {
		id, url string
		kind    Kind
		want    lookleap.Code
	}{
		{"accept-script-inside", "https://shop.example/s/a/x.sh", Script, lookleap.CodeOK},
		{"accept-instructions-elsewhere", "https://shop.example/x.md", Instructions, lookleap.CodeOK},
		{"accept-template-elsewhere", "https://shop.example/x.html", Template, lookleap.CodeOK},
		{"reject-data-elsewhere", "https://shop.example/x.csv", Data, CodeDataOutside},
		{"reject-script-elsewhere", "https://shop.example/x.sh", Script, CodeScriptOutside},
		{"reject-instructions-on-a-host-that-is-never-trusted", "https://web.archive.org/x.md", Instructions, CodeNeverTrusted},
	} {
		t.Run("DVS-4.5.2-01/"+c.id, func(t *testing.T) {
			u, err := domain.Rules{}.Parse(c.url)
			if err != nil {
				t.Fatal(err)
			}
			got := (&Resource{Kind: c.kind}).location(Rules{}, &document{final: u}, "https://shop.example/s/a/")
			if got.Code != c.want || (got.Status == lookleap.Failed) != (c.want != lookleap.CodeOK) {
				t.Errorf("got %+v", got)
			}
		})
	}
}
