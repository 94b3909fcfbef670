package webconsent_test

import (
	"bufio"
	"context"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/webconsent"
)

// served is a Prompter behind a real server on the loopback interface.
type served struct {
	*webconsent.Prompter
	url string
}

func serve(t *testing.T, o webconsent.Options) served {
	t.Helper()
	p, err := webconsent.New(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return served{p, "http://" + l.Addr().String()}
}

// browser is a client with a session: what a browser sends, without a browser.
type browser struct {
	t    *testing.T
	http http.Client
	home string // the URL of the list
}

// open opens a one-time link.
func (s served) open(t *testing.T) *browser {
	t.Helper()
	jar, _ := cookiejar.New(nil)
	b := &browser{t: t, http: http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	link := s.Link(s.url)
	if got := b.get(link); got.status != http.StatusOK || got.header.Get("Refresh") == "" {
		t.Fatalf("the link: %d %s", got.status, got.body)
	}
	b.home = link[:strings.Index(link, "open?")]
	return b
}

type page struct {
	status int
	header http.Header
	body   string
}

func (b *browser) get(url string, header ...string) page { return b.do("GET", url, "", header...) }

func (b *browser) do(method, url, body string, header ...string) page {
	b.t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		} else {
			req.Header.Set(header[i], header[i+1])
		}
	}
	resp, err := b.http.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return page{resp.StatusCode, resp.Header, string(text)}
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`)

// form returns the fields of the form on the page of a plan.
func (b *browser) form(id string) url.Values {
	b.t.Helper()
	form := url.Values{}
	got := b.get(b.home + "plan/" + id)
	for _, m := range hiddenField.FindAllStringSubmatch(got.body, -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	if len(form) != 2 {
		b.t.Fatalf("%d: no form in %s", got.status, got.body)
	}
	return form
}

func (b *browser) origin() string { u, _ := url.Parse(b.home); return u.Scheme + "://" + u.Host }

// post sends a form as a browser does.
func (b *browser) post(id string, form url.Values, header ...string) page {
	b.t.Helper()
	all := append([]string{"Content-Type", "application/x-www-form-urlencoded", "Origin", b.origin(), "Sec-Fetch-Site", "same-origin"}, header...)
	return b.do("POST", b.home+"plan/"+id, form.Encode(), all...)
}

// decide approves items, or refuses without any.
func (b *browser) decide(id string, items ...string) page {
	b.t.Helper()
	form := b.form(id)
	form.Set("do", "refuse")
	if len(items) > 0 {
		form.Set("do", "approve")
		form["item"] = items
	}
	return b.post(id, form)
}

// watch sends how many requests the page shows, after each change, until the stream ends.
func (b *browser) watch(seen chan<- int) {
	resp, err := b.http.Get(b.home + "events")
	if err != nil {
		return
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			seen <- len(strings.Fields(strings.Trim(data, `"`)))
		}
	}
}

// waitFor returns once the list shows n requests. It listens to the events, so it does not poll.
func (b *browser) waitFor(n int) (ids []string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, "GET", b.home+"events", nil)
	resp, err := b.http.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		b.t.Fatalf("events: %d %s", resp.StatusCode, got)
	}
	var text strings.Builder
	buf := make([]byte, 4096)
	for {
		n2, err := resp.Body.Read(buf)
		text.Write(buf[:n2])
		for block := range strings.SplitSeq(text.String(), "\n\n") {
			data, ok := strings.CutPrefix(block, "event: waiting\ndata: ")
			if ids = strings.Fields(strings.Trim(data, `"`)); ok && len(ids) == n {
				return ids
			}
		}
		if err != nil {
			b.t.Fatalf("events ended: %v after %q", err, text.String())
		}
	}
}

// request is what a shop asks, with one item that is needed and one that is not.
func request() lookleap.ConsentRequest {
	return lookleap.ConsentRequest{
		Kind: lookleap.ConsentAct, Origin: "https://pay.shop.example", Summary: "order one lamp",
		Items: []lookleap.ConsentItem{
			{ID: "order", Class: lookleap.ItemPayment, Summary: "send the order for 49.00", Recipient: "https://pay.shop.example", Digest: lookleap.Digest([]byte("order")),
				Values: []lookleap.ConsentValue{{Label: "body", Text: `{"item":"lamp","price":"49.00"}`}}},
			{ID: "phone", Summary: "tell your phone number", Recipient: "https://ads.example", Digest: lookleap.Digest([]byte("phone")), Optional: true,
				Values: []lookleap.ConsentValue{{Label: "phone", Text: "+1 555 0100"}}},
		},
	}
}

func newPlan(t *testing.T, req lookleap.ConsentRequest) *lookleap.Plan {
	t.Helper()
	plan, err := lookleap.NewPlan(req, []byte("the effect"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return plan
}
