package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestUnrelatedServices runs one agent against services of which neither code nor test data is
// shared: it opens the document, takes the first tool, calls it with values for the parameters that
// the schema requires, and shows what comes back.
func TestUnrelatedServices(t *testing.T) {
	services := map[string]struct{ url, document, path, said, want string }{
		"tea-shop": {"https://tea.example/menu", `<head><title>Tea</title></head>
			<interact><action id="stock" method="GET" endpoint="/stock"><param name="sort" required="true"/></action></interact>
			<knowledge><ask field="lang" action="stock" purpose="to answer in your language"/></knowledge>`,
			"/stock", `<body>Green tea: 12 kg</body>`, "12 kg"},
		"library": {"https://books.example/", `<head><title>Books</title></head><constraints><disclosure field="email" requires="explicit-consent"/></constraints>
			<knowledge><ask field="email" action="hold" required="true" purpose="to tell you when the book is there"/></knowledge>
			<interact><action id="hold" method="POST" endpoint="/holds"/></interact>`,
			"/holds", `<status code="held" result="success"/><body>Copy 3 is held for you.</body>`, "Copy 3 is held for you."},
	}
	for name, c := range services {
		t.Run("ANML-15.3-01/accept-"+name, func(t *testing.T) {
			net := newLab(t)
			site := net.Site(strings.Split(c.url, "/")[2])
			site.Handle(c.path, answering(200, anml.MediaTypeXML, service(c.said)))
			host := net.StubHost()
			host.Prompter = lookleaptest.NewPrompter(t, lookleaptest.Approve())
			session, err := New(host, Options{}).NewSession(User{Profile: Fields{"lang": {Text: "de"}, "email": {Text: "ann@example.org"}}})
			must(t, err)
			defer session.Close()
			tool := pageFor(t, net, session, c.url, c.document).Tools()[0]
			var schema struct{ Required []string }
			if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
				t.Fatalf("%s: %v", tool.InputSchema, err)
			}
			values := map[string]string{}
			for _, parameter := range schema.Required {
				values[parameter] = "price"
			}
			input, err := json.Marshal(values)
			must(t, err)
			result, err := tool.Call(t.Context(), input)
			must(t, err)
			if text := result.Text(anml.TextOptions{}); !strings.Contains(text, c.want) {
				t.Errorf("got %s", text)
			}
		})
	}
}
