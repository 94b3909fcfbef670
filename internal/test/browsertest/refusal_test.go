package browsertest

import (
	"errors"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestRefusalHolds refuses a skill in the browser. The loader keeps the refusal in its trust store:
// for the version that was shown, or for every version, as the user chose.
func TestRefusalHolds(t *testing.T) {
	const skill = "https://shop.example/s/a/SKILL.md"
	for name, c := range map[string]struct {
		button string
		later  lookleap.Code // of the next version; CodeOK: the user is asked, and agrees
	}{
		"this-version":  {"refuse", lookleap.CodeOK},
		"every-version": {"refuse-all", dvs.CodeRefusedBefore},
	} {
		t.Run(name, func(t *testing.T) {
			d, b, net := newDesk(t), newTab(t, false), lookleaptest.ForTest(t)
			publish := func(body string) {
				net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", "---\nname: a\ndescription: A test.\n---\n"+body)
			}
			store := lookleap.NewMemoryStore()
			load := func() <-chan error { // as a new process does
				host := net.StubHost()
				host.Prompter = d
				done := make(chan error, 1)
				go func() {
					_, err := dvs.NewLoader(host, dvs.Options{Trust: store}).Load(t.Context(), skill)
					done <- err
				}()
				return done
			}
			publish("Ask for the order number.\n")
			b.open(d.link())
			asked := load()
			b.waitText("Review and decide")
			b.review()
			b.accessible("skill")
			b.shoot("consent-skill")
			b.click("button[value=" + c.button + "]")
			if err := <-asked; !errors.Is(err, lookleap.ErrConsentRefused) {
				t.Fatal(err)
			}
			if err := <-load(); lookleap.CodeOf(err) != dvs.CodeRefusedBefore {
				t.Errorf("the same version: %v", err)
			}
			publish("Ask for the card number.\n")
			net.Clock().Advance(48 * time.Hour) // soon after a question, the loader does not ask again
			asked = load()
			if c.later == lookleap.CodeOK {
				b.click("a") // back to the list
				b.waitText("Review and decide")
				b.review()
				b.click("#item1")
				b.click("button[value=approve]")
			}
			if err := <-asked; lookleap.CodeOf(err) != c.later {
				t.Errorf("the next version: %v, want %s", err, c.later)
			}
		})
	}
}
