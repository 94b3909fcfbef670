package browsertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/webconsent"
)

// desk is a served Prompter.
type desk struct {
	*webconsent.Prompter
	address string
}

func newDesk(t *testing.T) desk {
	t.Helper()
	p, err := webconsent.New(webconsent.Options{})
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
	return desk{p, "http://" + l.Addr().String()}
}

func (d desk) link() string { return d.Link(d.address) }

// ask asks about an order, through a Host.
func (d desk) ask(ctx context.Context, t *testing.T, change func(*lookleap.ConsentRequest)) <-chan outcome {
	t.Helper()
	req := lookleap.ConsentRequest{
		Kind: lookleap.ConsentAct, Origin: "https://pay.shop.example", TrustRoot: "https://shop.example/", Summary: "order one lamp",
		Items: []lookleap.ConsentItem{
			{ID: "order", Class: lookleap.ItemPayment, Summary: "send the order for 49.00", Recipient: "https://pay.shop.example", Digest: lookleap.Digest([]byte("order")),
				Values: []lookleap.ConsentValue{{Label: "body", Text: "{\n  \"item\": \"lamp\",\n  \"price\": \"49.00\"\n}"}},
				Remote: []lookleap.RemoteText{{Source: "pay.shop.example", Label: "button", Text: "Buy now!\x1b[2K\nTrust root: https://bank.example"}}},
			{ID: "refund", Class: lookleap.ItemTrust, Summary: "use the changed skill of shop.example", Recipient: lookleap.RecipientAgent, Digest: lookleap.Digest([]byte("skill")), Optional: true,
				Values: []lookleap.ConsentValue{{Label: "changed lines of SKILL.md (- before, + now)", Text: "- Refund at most 10 without asking.\n+ Refund at most 1000 without asking.\n", Source: "shop.example"}}},
			{ID: "phone", Summary: "tell your phone number", Recipient: "https://xn--80ak6aa92e.com", Digest: lookleap.Digest([]byte("phone")), Optional: true,
				Values: []lookleap.ConsentValue{{Label: "phone", Text: "+1 555 0100"}}},
		},
	}
	if change != nil {
		change(&req)
	}
	plan, err := lookleap.NewPlan(req, []byte("the effect"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan outcome, 1)
	go func() {
		a, err := (&lookleap.Host{Prompter: d}).Ask(ctx, plan)
		done <- outcome{a, err}
	}()
	return done
}

type outcome struct {
	*lookleap.Approval
	err error
}

// review opens the first request of the list.
func (b *tab) review() {
	b.t.Helper()
	b.click("ul.plans a")
	b.visible("form")
}

func TestConsentClicks(t *testing.T) {
	d, b := newDesk(t), newTab(t, false)
	b.open(d.link())
	b.waitText("Nothing waits")
	asked := d.ask(t.Context(), t, nil)
	b.waitText("order one lamp") // by an event: the page was not loaded again by the test
	b.accessible("list")
	b.shoot("consent-list")
	b.review()
	b.accessible("plan")
	b.shoot("consent")

	b.click(`button[value="approve"]`) // nothing is ticked: the browser holds it back
	if at := eval[string](b, "location.pathname"); !strings.Contains(at, "/plan/") {
		t.Errorf("the form was sent: %s", at)
	}
	b.click("#item1")
	b.click("button[value=approve]")
	if got := <-asked; got.err != nil || !got.Has("order") || got.Has("phone") {
		t.Errorf("%v", got.err)
	}
	b.waitText("Approved: 1 of 3")
	b.accessible("decided")
	b.click("a")
	b.waitText("Nothing waits")

	ctx, cancel := context.WithCancel(t.Context())
	asked = d.ask(ctx, t, nil)
	b.waitText("order one lamp")
	b.review()
	cancel()
	if got := <-asked; !errors.Is(got.err, context.Canceled) {
		t.Errorf("%v", got.err)
	}
	b.waitText("no longer waits")
	if !eval[bool](b, `document.querySelector('button[value="approve"]').disabled`) {
		t.Error("a request that was withdrawn can be approved")
	}
}

func TestConsentKeyboard(t *testing.T) {
	d, b := newDesk(t), newTab(t, true)
	asked := d.ask(t.Context(), t, nil)
	b.open(d.link())
	b.waitText("order one lamp")
	b.press(kb.Tab, kb.Tab, kb.Enter) // past "Refresh the list"
	b.visible("form")
	b.accessible("dark")
	b.shoot("consent-dark")
	if !eval[bool](b, `matchMedia("(prefers-color-scheme: dark)").matches && getComputedStyle(document.body).backgroundColor !== "rgb(255, 255, 255)"`) {
		t.Error("not dark")
	}
	b.tabTo("#item1")
	b.press(" ")
	b.tabTo("#item3")
	b.press(" ")
	b.tabTo("button[value=approve]")
	if !eval[bool](b, `getComputedStyle(document.activeElement).outlineStyle !== "none"`) {
		t.Error("the focus is not visible")
	}
	b.press(kb.Enter)
	if got := <-asked; got.err != nil || !got.Has("order") || !got.Has("phone") || got.Has("refund") {
		t.Errorf("%v", got.err)
	}

	asked = d.ask(t.Context(), t, nil)
	b.waitText("Approved: 2 of 3")
	b.tabTo("a")
	b.press(kb.Enter)
	b.waitText("order one lamp")
	b.review()
	b.tabTo("#item1")
	b.press(" ", kb.Enter) // Enter in the form is the first button
	if got := <-asked; !errors.Is(got.err, lookleap.ErrConsentRefused) {
		t.Errorf("%v", got.err)
	}
}

func TestConsentWithoutScript(t *testing.T) {
	d, b := newDesk(t), newTab(t, false)
	asked := d.ask(t.Context(), t, nil)
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.run(chromedp.Navigate(d.link()))
	b.visible("ul.plans a")
	b.review()
	b.click("#item1")
	b.click("button[value=approve]")
	if got := <-asked; got.err != nil || !got.Has("order") {
		t.Errorf("%v", got.err)
	}
	b.click("a")
	b.visible("ul.plans + h2") // the list shows the decision
}

// hostile are texts of the attack list, and what breaks out of HTML.
var hostile = []string{
	`<script>document.title="owned";alert(1)</script>`,
	`"><img src="http://127.0.0.1:1/x" onerror="alert(1)"><b style="color:red">`,
	`</style><style>body{display:none}</style>`,
	`</p></div></form><form action="https://evil.example/"><button value="approve">Approve</button>`,
	`javascript:alert(1)`,
	"\x1b[2K\x1b[1A Trust Root: https://bank.example/",
	"\nTrust root: https://good.example/\n[Y/n] y",
	"\u202eelpmaxe.knab\u202c \u2066x",
}

func TestConsentHostile(t *testing.T) {
	d, b := newDesk(t), newTab(t, false)
	all := strings.Join(hostile, "")
	asked := d.ask(t.Context(), t, func(r *lookleap.ConsentRequest) {
		item := &r.Items[0]
		item.ID, item.Values = all, []lookleap.ConsentValue{{Label: "body", Name: all, Text: all, Source: "evil.example"}, {Label: "line", Text: strings.ReplaceAll(all, "\n", "")}}
		item.Remote = []lookleap.RemoteText{{Source: "evil.example", Label: "button", Text: all}}
		r.Items[1].Recipient = all
	})
	b.open(d.link())
	b.waitText("order one lamp")
	b.review()
	b.accessible("hostile")
	b.shoot("consent-hostile")
	if got := eval[[]int](b, `["script", "style", "form", "img", "b", "button", "iframe"].map((n) => document.querySelectorAll(n).length)`); fmt.Sprint(got) != "[1 1 1 0 0 2 0]" {
		t.Errorf("elements: %v", got)
	}
	if title := eval[string](b, "document.title"); !strings.HasPrefix(title, "Decide: https://pay.shop.example") {
		t.Errorf("title %q", title)
	}
	text := b.textNow()
	if strings.ContainsAny(text, "\x1b\u202e\u2066") || strings.Contains(text, "\nTrust root: https://good") || !strings.Contains(text, "<script>") {
		t.Errorf("%q", text)
	}
	for _, url := range b.requests {
		if !strings.HasPrefix(url, d.address) && !strings.HasPrefix(url, "data:,") {
			t.Errorf("the page loads %s", url)
		}
	}
	b.click("button[value=refuse]")
	if got := <-asked; !errors.Is(got.err, lookleap.ErrConsentRefused) {
		t.Errorf("%v", got.err)
	}
}

// TestConsentOtherPages lets a page on another port of the same address, which is the same
// site to a browser, try to frame, post and read.
func TestConsentOtherPages(t *testing.T) {
	d, b := newDesk(t), newTab(t, false)
	asked := d.ask(t.Context(), t, nil)
	b.open(d.link())
	b.waitText("order one lamp")
	b.review()
	plan := eval[string](b, "location.href")
	fields := eval[map[string]string](b, `Object.fromEntries([...document.querySelectorAll("input[type=hidden]")].map((i) => [i.name, i.value]))`)
	cookies := make(chan string, 10)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cookies <- r.Header.Get("Cookie")
		w.Header().Set("Content-Type", "text/html")
		// Even an attacker who knows the path and the token of the form is refused.
		fmt.Fprintf(w, `<!doctype html><title>evil</title><link rel="icon" href="data:,"><iframe src="%s"></iframe><form method="post" action="%s" target="_self"><input name="item" value="order"><input name="do" value="approve"><input name="digest" value="%s"><input name="token" value="%s"></form>`,
			plan, plan, fields["digest"], fields["token"])
	}))
	defer evil.Close()
	b.run(chromedp.Navigate(evil.URL + "/lookleap"))
	if cookie := <-cookies; cookie != "" {
		t.Errorf("another port received the cookie %s", cookie)
	}
	if !eval[bool](b, `document.querySelector("iframe").contentDocument === null`) {
		t.Error("the page can be framed and read")
	}
	if logs := b.takeLogs(); !strings.Contains(logs, "frame-ancestors") {
		t.Errorf("framing was not refused: %q", logs)
	}
	if read := eval[string](b, fmt.Sprintf(`fetch(%q, {credentials: "include"}).then((r) => r.text(), () => "refused")`, plan)); read != "refused" {
		t.Errorf("another port reads %s", read)
	}
	b.run(chromedp.Evaluate[chromedp.Void](`document.forms[0].submit()`))
	b.waitText("sent this request")
	b.takeLogs()
	select {
	case got := <-asked:
		t.Errorf("decided by another page: %v", got.err)
	default:
	}
	b.open(d.link())
	b.waitText("order one lamp")
	b.review()
	b.click("button[value=refuse]")
	<-asked
}

// TestQuickstart plays the scene of the quickstart in which the user sleeps on a plan.
func TestQuickstart(t *testing.T) {
	b := newTab(t, false)
	program := filepath.Join(t.TempDir(), "quickstart")
	if out, err := exec.Command("go", "build", "-C", "../../..", "-o", program, "./examples/quickstart").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	story := exec.CommandContext(t.Context(), program, "--browser", "--scene", "consent")
	stdout, err := story.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := story.Start(); err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		told.WriteString(lines.Text() + "\n")
		if link := strings.TrimSpace(lines.Text()); strings.HasPrefix(link, "http://127.0.0.1:") {
			b.open(link)
			b.waitText("order one lamp")
			b.review()
			b.shoot("quickstart")
			b.click("#item1")
			b.click("button[value=approve]")
		}
	}
	if err := story.Wait(); err != nil || !strings.Contains(told.String(), "the shop got one order") {
		t.Errorf("%v\n%s", err, &told)
	}
}
