package dvs

import (
	"slices"
	"testing"

	"github.com/lookleap/lookleap/internal/domain"
)

// TestDefaultsOfRows holds the limits that a row states in numbers.
func TestDefaultsOfRows(t *testing.T) {
	l := Limits{}.withDefaults()
	for _, c := range []struct {
		row       string
		got, want []int
	}{
		{"DVS-3.1-27", []int{domain.DefaultMaxLength}, []int{8192}},
		{"DVS-3.2-10", []int{l.SitemapURLs, l.Sitemap, l.SitemapChildren, l.Candidates}, []int{50_000, 52_428_800, 10, 10_000}},
		{"DVS-3.2-22", []int{l.Index, maxIndexEntries}, []int{1 << 20, 1000}},
	} {
		t.Run(c.row+"/accept-default-limits", func(t *testing.T) {
			if !slices.Equal(c.got, c.want) {
				t.Errorf("got %v, want %v", c.got, c.want)
			}
		})
	}
}
