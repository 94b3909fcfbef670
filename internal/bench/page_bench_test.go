package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/beevik/etree"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/lookleaptest"
)

// undecided is a prompter whose user has not decided, so that a call is prepared and
// nothing is sent.
type undecided struct{}

func (undecided) PromptConsent(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
}

// servicePage returns a document of about 100 KB with an action that has 32 asks.
func servicePage() (document string, profile agent.Fields) {
	var asks, body strings.Builder
	profile = agent.Fields{}
	for i := range 32 {
		field := fmt.Sprintf("example.com/field-%d", i)
		fmt.Fprintf(&asks, `<ask field="%s" action="book" purpose="to book the tour, part %d"/>`, field, i)
		profile[field] = agent.Value{Text: fmt.Sprintf("value number %d", i)}
	}
	for i := 0; body.Len() < 94<<10; i++ {
		fmt.Fprintf(&body, `<section id="day-%d"><heading>Day %d</heading>The boat leaves the harbour at nine and returns in the evening.<link href="/map/%d" label="map"/></section>`, i, i, i)
	}
	return `<?xml version="1.0" encoding="UTF-8"?><anml xmlns="` + anml.Namespace + `" version="1.0" role="service"><head><title>Tours</title></head>` +
		`<interact><action id="book" method="POST" endpoint="/book"/></interact><knowledge>` + asks.String() + `</knowledge><body>` + body.String() + `</body></anml>`, profile
}

// BenchmarkOpenPage opens an ANML page of 100 KB in a new session, decides its 32 asks
// and prepares one call.
func BenchmarkOpenPage(b *testing.B) {
	net := lookleaptest.ForTest(b)
	document, profile := servicePage()
	net.Site("tours.example").File("/page", anml.MediaTypeXML, document)
	b.Run("lookleap", func(b *testing.B) {
		host := net.StubHost()
		host.Prompter, host.Asking = undecided{}, lookleap.AskLimits{Prompts: -1}
		shared := agent.New(host, agent.Options{})
		b.ReportAllocs()
		for b.Loop() {
			session, err := shared.NewSession(agent.User{Profile: profile})
			if err != nil {
				b.Fatal(err)
			}
			page, err := session.Open(b.Context(), "https://tours.example/page")
			if err != nil {
				b.Fatal(err)
			}
			if got := len(page.Decide(b.Context())); got != 32 {
				b.Fatal(got)
			}
			if _, err := page.Do(b.Context(), agent.Call{Action: "book"}); !errors.Is(err, lookleap.ErrConsentPending) {
				b.Fatal(err)
			}
			_ = session.Close()
		}
	})
	b.Run("bare=GET+etree", func(b *testing.B) {
		client := &http.Client{Transport: net.Unguarded()}
		b.ReportAllocs()
		for b.Loop() {
			resp, err := client.Get("https://tours.example/page")
			if err != nil {
				b.Fatal(err)
			}
			tree := etree.NewDocument()
			_, err = tree.ReadFrom(resp.Body)
			_ = resp.Body.Close()
			if asks := tree.FindElements("//ask"); err != nil || len(asks) != 32 {
				b.Fatal(err, len(asks))
			}
		}
	})
}

// BenchmarkToldSession reports the memory that a session holds after a service told it
// 1,000 informs of about 100 bytes.
func BenchmarkToldSession(b *testing.B) {
	net := lookleaptest.ForTest(b)
	var informs strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&informs, "<inform>The boat number %d leaves the harbour at nine in the morning and returns in the evening at six.</inform>", i)
	}
	net.Site("tours.example").File("/page", anml.MediaTypeXML, `<anml xmlns="`+anml.Namespace+`" version="1.0" role="service"><head><title>Tours</title></head><knowledge>`+informs.String()+`</knowledge></anml>`)
	shared := agent.New(net.StubHost(), agent.Options{})
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		session, err := shared.NewSession(agent.User{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := session.Open(b.Context(), "https://tours.example/page"); err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(session)
	}
	b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc)), "B/session")
}
