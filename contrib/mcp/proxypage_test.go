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
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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
	t.Run("accept-page-for-a-client-that-asks-only-by-url", func(t *testing.T) {
		e := newEvil()
		o, _ := pageWith(t, lookleap.NewMemoryStore())
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			Capabilities:       &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}},
			ElicitationHandler: (&person{accept: true}).answer,
		}).Connect(t.Context(), e.proxy(t, gate.Options{}, o), &mcp.ClientSessionOptions{ProtocolVersion: protocols["old"]})
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		if r := (&client{session, t, nil}).call("pay", nil); r.Meta["lookleap/code"] != string(lookleap.CodeConsentPending) || e.ran.Load() != 0 {
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

// TestProxyPageOnce: a call has one question on the page, and what is known of it is not lost.
func TestProxyPageOnce(t *testing.T) {
	onPage := func(t *testing.T, store lookleap.Store) int {
		t.Helper()
		all, err := store.Keys(t.Context(), "webconsent-plan/")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	pending := func(t *testing.T, r *mcp.CallToolResult, words ...string) {
		t.Helper()
		if !r.IsError || r.Meta["lookleap/code"] != string(lookleap.CodeConsentPending) || !has(text(r), words...) {
			t.Fatalf("%s", text(r))
		}
	}
	t.Run("accept-repeated-calls-that-do-not-count-as-questions", func(t *testing.T) {
		e, store := newEvil(), lookleap.NewMemoryStore()
		o, open := pageWith(t, store)
		o.Wait = time.Millisecond
		c := connect(t, e.proxy(t, gate.Options{}, o), "", nil, false)
		page := open()
		for i := range 40 {
			args := map[string]any{"n": i}
			for range 3 {
				pending(t, c.call("pay", args))
			}
			page.decide("approve")
			r := c.call("pay", args)
			for range 100 { // the page may need longer than a call waits
				if r.IsError {
					r = c.call("pay", args)
				}
			}
			if r.IsError {
				t.Fatalf("call %d: %s", i, text(r))
			}
		}
	})
	t.Run("accept-one-question-for-the-same-call-at-once", func(t *testing.T) {
		e, store := newEvil(), lookleap.NewMemoryStore()
		var both sync.WaitGroup
		both.Add(2)
		e.list = func() []*mcp.Tool { // both calls have their definition before one of them asks
			both.Done()
			both.Wait()
			return []*mcp.Tool{{Name: "pay", InputSchema: objectSchema}}
		}
		o, _ := pageWith(t, store)
		c := connect(t, e.proxy(t, gate.Options{}, o), "", nil, false)
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() { _, _ = c.CallTool(t.Context(), &mcp.CallToolParams{Name: "pay"}) })
		}
		all.Wait()
		if n := onPage(t, store); n != 1 {
			t.Errorf("%d questions", n)
		}
	})
	t.Run("accept-question-that-the-page-lost", func(t *testing.T) {
		e, store := newEvil(), lookleap.NewMemoryStore()
		o, open := pageWith(t, store)
		c := connect(t, e.proxy(t, gate.Options{}, o), "", nil, false)
		pending(t, c.call("pay", nil))
		all, _ := store.Keys(t.Context(), "webconsent-plan/")
		for _, key := range all {
			if err := store.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		pending(t, c.call("pay", nil))
		open().decide("approve")
		if r := c.call("pay", nil); text(r) != "ran" || e.ran.Load() != 1 {
			t.Errorf("%s", text(r))
		}
	})
	t.Run("reject-call-in-doubt-until-the-person-says-once-more", func(t *testing.T) {
		e, store := newEvil(), lookleap.NewMemoryStore()
		e.call = func() (*mcp.CallToolResult, error) { // fails at first
			if e.ran.Load() == 1 {
				return nil, &jsonrpc.Error{Code: -32005, Message: "rejected by transport"}
			}
			return said("ran"), nil
		}
		o, open := pageWith(t, store)
		c := connect(t, e.proxy(t, gate.Options{}, o), "", nil, false)
		c.call("pay", nil)
		page := open()
		page.decide("approve")
		pending(t, c.call("pay", nil), "it is not known whether it was done", "the page")
		pending(t, c.call("pay", nil))
		if shown := page.decide("approve"); !strings.Contains(shown, "once more, although the first time may have worked") || e.ran.Load() != 1 || onPage(t, store) != 1 {
			t.Errorf("ran %d times: %s", e.ran.Load(), shown)
		}
		if r := c.call("pay", nil); r.IsError || text(r) != "ran" || e.ran.Load() != 2 || onPage(t, store) != 0 {
			t.Errorf("ran %d times: %s", e.ran.Load(), text(r))
		}
	})
	t.Run("reject-second-question-while-the-call-runs", func(t *testing.T) {
		e, store := newEvil(), lookleap.NewMemoryStore()
		began, release := make(chan struct{}), make(chan struct{})
		end := sync.OnceFunc(func() { close(release) })
		defer end()
		e.call = func() (*mcp.CallToolResult, error) {
			close(began)
			<-release
			return said("ran"), nil
		}
		o, open := pageWith(t, store)
		c := connect(t, e.proxy(t, gate.Options{}, o), "", nil, false)
		c.call("pay", nil)
		open().decide("approve")
		first := make(chan *mcp.CallToolResult, 1)
		go func() {
			r, _ := c.CallTool(context.Background(), &mcp.CallToolParams{Name: "pay"})
			first <- r
		}()
		<-began
		for range 2 {
			pending(t, c.call("pay", nil), "the same call still runs", "it is not known whether it was done")
		}
		if keys, _ := store.Keys(t.Context(), "mcp-call/"); len(keys) != 1 || onPage(t, store) != 1 {
			t.Errorf("%q, %d questions", keys, onPage(t, store))
		}
		end()
		if r := <-first; r == nil || text(r) != "ran" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("accept-first-result-if-the-record-of-the-call-stays", func(t *testing.T) {
		e, store := newEvil(), &faultyStore{Store: lookleap.NewMemoryStore()}
		o, open := pageWith(t, store)
		c := connect(t, e.proxy(t, gate.Options{}, o), "", nil, false)
		c.call("pay", nil)
		open().decide("approve")
		store.keeps.Store("mcp-call/")
		c.call("pay", nil)
		if r := c.call("pay", nil); text(r) != "ran" || r.Meta["lookleap/code"] != string(lookleap.CodePlanDone) || e.ran.Load() != 1 || onPage(t, store) != 1 {
			t.Errorf("ran %d times: %s", e.ran.Load(), text(r))
		}
	})
}
