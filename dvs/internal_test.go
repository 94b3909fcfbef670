package dvs

import (
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// TestDefaultsOfRows holds the limits that a row states in numbers.
func TestDefaultsOfRows(t *testing.T) {
	l := Limits{}.withDefaults()
	for _, c := range []struct {
		row       string
		got, want []int
	}{
		{"DVS-3.1-27", []int{l.URL}, []int{8192}},
		{"DVS-3.2-10", []int{l.SitemapURLs, l.Sitemap, l.SitemapChildren, l.Candidates}, []int{50_000, 52_428_800, 10, 10_000}},
		{"DVS-3.2-22", []int{l.Index, l.IndexEntries}, []int{1 << 20, 1000}},
	} {
		t.Run(c.row+"/accept-default-limits", func(t *testing.T) {
			if !slices.Equal(c.got, c.want) {
				t.Errorf("got %v, want %v", c.got, c.want)
			}
		})
	}
}

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

// TestListValue: a consent item has ten names of a list and says how many more there are.
func TestListValue(t *testing.T) {
	names := strings.Fields("a b c d e f g h i j k l")
	for n, want := range map[int]string{0: "", 10: "files", 12: "files (the first 10; and 2 more)"} {
		got := listValue("files", names[:n])
		if n == 0 && got != nil || n > 0 && (len(got) != 1 || got[0].Label != want || got[0].Text != strings.Join(names[:10], "\n")) {
			t.Errorf("%d: %+v", n, got)
		}
	}
}
