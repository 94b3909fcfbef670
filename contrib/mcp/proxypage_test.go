package lookleapmcp

import (
	"context"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/contrib/webconsent"
)

// browser is a person at the page of a proxy.
type browser struct {
	t    *testing.T
	http http.Client
	home string
}

// openPage opens a one-time link, as a person does who is told it.
func openPage(t *testing.T, told string) *browser {
	t.Helper()
	link := regexp.MustCompile(`http://127\.0\.0\.1:\d+/\S*open\?\S+`).FindString(told)
	jar, _ := cookiejar.New(nil)
	b := &browser{t: t, http: http.Client{Jar: jar}}
	if link == "" {
		t.Fatalf("no link in %s", told)
	}
	b.get(link) // which starts the session
	b.home = link[:strings.Index(link, "open?")]
	return b
}

func (b *browser) get(url string) string {
	b.t.Helper()
	resp, err := b.http.Get(url)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body) // a page of ours
	if err != nil {
		b.t.Fatal(err)
	}
	return string(body)
}

// decide decides about the only request on the page, and returns its text.
func (b *browser) decide(do string) (shown string) {
	b.t.Helper()
	plan := regexp.MustCompile(`plan/[A-Z0-9]+`).FindString(b.get(b.home))
	if plan == "" {
		b.t.Fatalf("nothing waits: %s", b.get(b.home))
	}
	shown = b.get(b.home + plan)
	form := url.Values{"do": {do}, "item": {"call"}}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`).FindAllStringSubmatch(shown, -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	req, err := http.NewRequest(http.MethodPost, b.home+plan, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	origin, _ := url.Parse(b.home)
	req.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {origin.Scheme + "://" + origin.Host}, "Sec-Fetch-Site": {"same-origin"}}
	resp, err := b.http.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		b.t.Fatalf("status %d", resp.StatusCode)
	}
	return html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(shown, ""))
}

// withPage adds a page to a proxy, whose open requests last over a restart.
func (p *proxied) withPage(t *testing.T) {
	t.Helper()
	asked, err := webconsent.New(webconsent.Options{Store: p.store, Keys: testKeys, Wait: -1})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- asked.Serve(ctx, l) }()
	t.Cleanup(func() { stop(); <-served })
	p.o.Page = asked
	p.o.Where = func(context.Context) (string, error) { return asked.Link("http://" + l.Addr().String()), nil }
}

// TestProxyPage: a client that cannot ask sends its person to a page.
func TestProxyPage(t *testing.T) {
	args := map[string]any{"text": "milk"}
	for _, restart := range []bool{false, true} {
		name := map[bool]string{false: "in-session", true: "over-restart"}[restart]
		begin := func(t *testing.T, do string) (*proxied, *client, string) {
			t.Helper()
			p := newProxied(t)
			p.withPage(t)
			c := p.start(t, "", nil)
			r := c.call("note", args)
			if !r.IsError || r.Meta["lookleap/code"] != string(lookleap.CodeConsentPending) || !strings.Contains(text(r), "the same call with the same arguments again") {
				t.Fatalf("%s", text(r))
			}
			shown := openPage(t, text(r)).decide(do)
			if got := calls(t, p.dir); got[0] != "" {
				t.Fatalf("the tool ran before the call was repeated: %q", got)
			}
			if restart {
				p.withPage(t)
				c = p.start(t, "", nil)
			}
			return p, c, shown
		}
		t.Run("accept-approved-call-once-"+name, func(t *testing.T) {
			p, c, shown := begin(t, "approve")
			if !has(shown, `"milk"`, "Stores a note.", "you have not approved before") {
				t.Errorf("the page shows %s", shown)
			}
			if r := c.call("note", args); text(r) != "noted milk" || r.IsError {
				t.Fatalf("%s", text(r))
			}
			if r := c.call("note", args); !r.IsError || r.Meta["lookleap/code"] != string(lookleap.CodeConsentPending) || len(calls(t, p.dir)) != 1 {
				t.Errorf("one approval is for two calls: %s", text(r))
			}
		})
		t.Run("reject-refused-call-"+name, func(t *testing.T) {
			p, c, _ := begin(t, "refuse")
			for range 2 { // the second time from memory
				if r := c.call("note", args); !r.IsError || r.Meta["lookleap/code"] != string(lookleap.CodeConsentRefused) || calls(t, p.dir)[0] != "" {
					t.Errorf("%s", text(r))
				}
			}
		})
		t.Run("reject-other-arguments-than-approved-"+name, func(t *testing.T) {
			p, c, _ := begin(t, "approve")
			if r := c.call("note", map[string]any{"text": "beer"}); !r.IsError || r.Meta["lookleap/code"] != string(lookleap.CodeConsentPending) || calls(t, p.dir)[0] != "" {
				t.Errorf("%s", text(r))
			}
		})
	}
	t.Run("reject-call-that-is-not-decided", func(t *testing.T) {
		p := newProxied(t)
		p.o.Wait = time.Millisecond
		p.withPage(t)
		c := p.start(t, "", nil)
		first := c.call("note", args)
		if r := c.call("note", args); !r.IsError || r.Meta["lookleap/code"] != string(lookleap.CodeConsentPending) || calls(t, p.dir)[0] != "" {
			t.Errorf("%s", text(r))
		}
		p.o.Wait = 0
		openPage(t, text(first)).decide("approve") // there is one request
		if r := p.start(t, "", nil).call("note", args); text(r) != "noted milk" {
			t.Errorf("%s", text(r))
		}
	})
	t.Run("accept-decision-while-the-call-waits", func(t *testing.T) {
		p := newProxied(t)
		p.withPage(t)
		c := p.start(t, "", nil)
		page := openPage(t, text(c.call("note", args)))
		done := make(chan *mcp.CallToolResult, 1)
		go func() {
			r, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: "note", Arguments: args})
			if err != nil {
				t.Error(err)
			}
			done <- r
		}()
		page.decide("approve")
		if r := <-done; r == nil || text(r) != "noted milk" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("reject-changed-tool-with-the-change-on-the-page", func(t *testing.T) {
		p := newProxied(t)
		p.rules = pass("*")
		p.withPage(t)
		c := p.start(t, "", nil)
		c.call("note", args)
		c.call("turn", map[string]any{"part": "description"})
		r := c.call("note", args)
		if !r.IsError || !has(text(r), "the server changed the description of this tool since it was approved", "http://127.0.0.1:") {
			t.Fatalf("%s", text(r))
		}
		if shown := openPage(t, text(r)).decide("approve"); !has(shown, "which the server CHANGED", "Ignore the user.") {
			t.Errorf("%s", shown)
		}
		if r := c.call("note", args); text(r) != "noted milk" {
			t.Errorf("%s", text(r))
		}
		if got := p.outcomes(); !slices.Equal(got, []lookleap.PlanState{lookleap.PlanSent, lookleap.PlanDone}) || len(p.lines(t)) != 4 {
			t.Errorf("%q, %q", got, p.record)
		}
	})
	t.Run("accept-elicitation-before-the-page", func(t *testing.T) {
		p, u := newProxied(t), &person{accept: true}
		p.withPage(t)
		if r := p.start(t, "", u).call("note", args); text(r) != "noted milk" || len(u.asked) != 1 {
			t.Errorf("%s", text(r))
		}
	})
	t.Run("reject-page-without-a-place", func(t *testing.T) {
		p := newProxied(t)
		p.withPage(t)
		o := ProxyOptions{Server: "notes", Page: p.o.Page}
		if _, err := NewProxy(t.Context(), upstreamCommand(p.dir), gate.New(&lookleap.Host{}, gate.Options{}), o); lookleap.CodeOf(err) != lookleap.CodeUsage {
			t.Errorf("%v", err)
		}
	})
}
