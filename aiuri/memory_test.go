package aiuri_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/internal/lab"
)

// TestEntries: a discoverer keeps as many discoveries, documents and policies as its options say.
func TestEntries(t *testing.T) {
	policy := func(host, policy string) string {
		return strings.Replace(documentOf("ai://"+host+"/", "https://"+host), "{", `{"policy":`+policy+`,`, 1)
	}
	for entries, read := range map[int]int{1: 2, 2: 2, 3: 1} {
		t.Run(fmt.Sprintf("AIU-6-04/reject-more-than-%d-entries", entries), func(t *testing.T) {
			net := lab.ForTest(t)
			net.Clock().Freeze()
			d := aiuri.NewDiscoverer(net.Host(), aiuri.DiscovererOptions{Entries: entries})
			for _, host := range []string{"a.example", "b.example", "c.example", "a.example"} {
				net.Site(host).Body(documentPath, "application/json", policy(host, `{"mtls":true}`))
				if _, err := d.Discover(t.Context(), "https://"+host+"/"); err != nil {
					t.Fatal(err)
				}
			}
			seen := strings.Join(net.Journal().Paths("a.example"), "\n") + "\n"
			for _, path := range []string{"/", documentPath} {
				if n := strings.Count(seen, "GET "+path+"\n"); n != read {
					t.Errorf("%s was read %d times, want %d", path, n, read)
				}
			}
		})
		t.Run(fmt.Sprintf("AIU-6-04/reject-more-than-%d-policies", entries), func(t *testing.T) {
			net := lab.ForTest(t)
			net.Clock().Freeze()
			d := aiuri.NewDiscoverer(net.Host(), aiuri.DiscovererOptions{Entries: entries})
			for i, host := range []string{"a.example", "b.example", "c.example", "a.example"} {
				net.Site(host).Body(documentPath, "application/json", policy(host, fmt.Sprintf(`{"mtls":%t}`, i < 3)))
				_, err := d.Discover(t.Context(), "https://"+host+"/")
				if weaker := i == 3 && entries == 3; (lookleap.CodeOf(err) == aiuri.CodePolicyDowngrade) != weaker || !weaker && err != nil {
					t.Errorf("%s: %v", host, err)
				}
				net.Clock().Advance(25 * time.Hour) // everything but the policies expires
			}
		})
	}
}
