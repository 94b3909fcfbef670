package webconsent_test

import (
	"context"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/webconsent"
)

// suspended returns a served Prompter on which a plan waits, and a browser.
func suspended(t *testing.T, req lookleap.ConsentRequest) (served, *browser, *lookleap.Plan) {
	t.Helper()
	s := serve(t, webconsent.Options{})
	plan := newPlan(t, req)
	if err := s.Suspend(t.Context(), pending(t, plan)); err != nil {
		t.Fatal(err)
	}
	return s, s.open(t), plan
}

// hostile are the texts of others that a page has to show as what they are.
var hostile = map[string]string{
	"script":    `<script>document.title="owned"</script>`,
	"attribute": `"><img src=x onerror=alert(1)>`,
	"style":     `</style><style>body{display:none}</style>`,
	"comment":   `<!-- <form action="https://evil.example/">`,
	"template":  `{{.Token}}`,
	"E04":       "\x1b[2K\x1b[1A Trust Root: https://bank.example/",
	"E05":       "\nTrust root: https://good.example/\n[Y/n] y",
	"bidi":      "\u202eelpmaxe.knab\u202c",
}

func TestHostileTexts(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			req := request()
			req.Items[0].ID = text
			req.Items[0].Values[0].Text, req.Items[0].Values[0].Name = text, text
			req.Items[0].Remote = []lookleap.RemoteText{{Source: "shop.example", Label: "button", Text: text}}
			req.Items[1].Recipient = text
			_, b, plan := suspended(t, req)
			for _, body := range []string{b.get(b.home).body, b.get(b.home + "plan/" + plan.ID()).body} {
				if name != "template" && strings.Contains(strings.ReplaceAll(body, `value="`+text, ""), text) {
					t.Errorf("raw in %s", body)
				}
				if n := strings.Count(body, "<script"); n != 1 {
					t.Errorf("%d scripts", n)
				}
				if strings.Contains(body, "<img") || strings.Count(body, "<style") != 1 || strings.Count(body, "<form") > 1 {
					t.Errorf("foreign elements in %s", body)
				}
			}
			if got := b.decide(plan.ID(), text); got.status != http.StatusOK {
				t.Errorf("the item cannot be approved: %d", got.status)
			}
		})
	}
}

func TestPlanPage(t *testing.T) {
	req := request()
	req.Items[0].Values = append(req.Items[0].Values, lookleap.ConsentValue{Label: "changed lines of SKILL.md (- before, + now)", Text: "- refund 10\n+ refund 1000\n", Source: "shop.example"},
		lookleap.ConsentValue{Label: "note", Text: strings.Repeat("long ", lookleap.MaxShown/4) + "end"})
	_, b, plan := suspended(t, req)
	body := b.get(b.home + "plan/" + plan.ID()).body
	order := regexp.MustCompile(`(?s)pay\..*\[shop\.example\].*order one lamp.*This spends money.*49\.00.*This goes to another site.*\[ads\.example\].*which does not belong to.*555 0100.*Refuse.*Approve`)
	if !order.MatchString(body) {
		t.Errorf("the origin is not first, or something is missing: %s", body)
	}
	for _, want := range []string{`class="quote removed"`, `class="quote added"`, `href="?complete=1"`, "23 h 59 min left", `value="order" required`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if strings.Contains(body, `value="phone" required`) || strings.Contains(body, "checked") {
		t.Error("an item is ticked, or an optional one required")
	}
	if whole := b.get(b.home + "plan/" + plan.ID() + "?complete=1").body; !strings.Contains(whole, "long end") || len(whole) < len(body) {
		t.Error("the complete page is not complete")
	}
}

func TestTickAll(t *testing.T) {
	req := request()
	for _, id := range []string{"a", "b", "c", "*"} {
		req.Items = append(req.Items, lookleap.ConsentItem{ID: id, Summary: "do " + id, Recipient: "https://pay.shop.example", Digest: lookleap.Digest([]byte(id)), Optional: true})
	}
	_, b, plan := suspended(t, req)
	if body := b.get(b.home + "plan/" + plan.ID()).body; !strings.Contains(body, `href="?tick=all"`) || strings.Contains(body, " checked") {
		t.Errorf("%s", body)
	}
	if body := b.get(b.home + "plan/" + plan.ID() + "?tick=all").body; strings.Count(body, " checked") != len(req.Items) {
		t.Errorf("%s", body)
	}
	if got := b.decide(plan.ID(), "*"); strings.Count(got.body, " checked") != 1 {
		t.Errorf("an item named * ticks others: %s", got.body)
	}
}

// TestForm shows which forms decide nothing.
func TestForm(t *testing.T) {
	s, b, plan := suspended(t, request())
	other := newPlan(t, request())
	if err := s.Suspend(t.Context(), pending(t, other)); err != nil {
		t.Fatal(err)
	}
	form := b.form(plan.ID())
	form.Set("do", "approve")
	form["item"] = []string{"order"}
	change := func(name, value string) url.Values {
		changed := url.Values{}
		for k, v := range form {
			changed[k] = v
		}
		changed.Set(name, value)
		return changed
	}
	second := s.open(t)
	for name, got := range map[string]page{
		"no-token":               b.post(plan.ID(), change("token", "")),
		"token-of-other-plan":    b.post(plan.ID(), change("token", b.form(other.ID()).Get("token"))),
		"token-of-other-session": b.post(plan.ID(), change("token", second.form(plan.ID()).Get("token"))),
		"digest-of-other-plan":   b.post(plan.ID(), change("digest", other.Request().Digest)),
		"form-for-other-plan":    b.post(other.ID(), form),
		"cross-site":             b.post(plan.ID(), form, "Sec-Fetch-Site", "cross-site"),
		"same-site":              b.post(plan.ID(), form, "Sec-Fetch-Site", "same-site"),
		"other-origin":           b.post(plan.ID(), form, "Origin", "http://127.0.0.1:1"),
		"null-origin":            b.post(plan.ID(), form, "Origin", "null"),
		"no-origin":              b.post(plan.ID(), form, "Origin", ""),
		"typed":                  b.post(plan.ID(), form, "Sec-Fetch-Site", "none"),
	} {
		t.Run("reject-"+name, func(t *testing.T) {
			if got.status != http.StatusForbidden {
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	}
	if ids := b.waitFor(2); len(ids) != 2 {
		t.Errorf("%q wait", ids)
	}
	t.Run("reject-same-id-other-digest", func(t *testing.T) {
		s := serve(t, webconsent.Options{})
		b := s.open(t)
		shown := newPlan(t, request()).Request()
		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan error, 1)
		go func() { _, err := s.PromptConsent(ctx, shown); first <- err }()
		b.waitFor(1)
		form := b.form(shown.ID)
		form.Set("do", "refuse")
		cancel()
		<-first
		swapped := *shown
		swapped.Digest = lookleap.Digest([]byte("another request"))
		ctx, cancel = context.WithCancel(t.Context())
		defer cancel()
		go func() { _, err := s.PromptConsent(ctx, &swapped); first <- err }()
		b.waitFor(1)
		if got := b.post(shown.ID, form); got.status != http.StatusConflict {
			t.Errorf("%d %s", got.status, got.body)
		}
		cancel()
		<-first
	})
	t.Run("accept-own", func(t *testing.T) {
		if got := b.post(plan.ID(), form); got.status != http.StatusOK {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
}

// TestExpiredRequest: a request is shown and decided until it expires, and not from then on.
func TestExpiredRequest(t *testing.T) {
	for _, live := range []bool{false, true} {
		t.Run(map[bool]string{false: "stored", true: "live"}[live], func(t *testing.T) {
			plan := newPlan(t, request())
			end := plan.Request().Expires
			var now atomic.Int64
			now.Store(end.Add(-1).UnixNano())
			s := serve(t, webconsent.Options{Wait: time.Hour, Now: func() time.Time { return time.Unix(0, now.Load()) }})
			if live {
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				waits := *plan.Request()
				now.Store(end.Add(-time.Hour).UnixNano()) // the caller waits for so long
				go func() { _, err := s.PromptConsent(ctx, &waits); done <- err }()
				defer func() { cancel(); <-done }()
				s.open(t).waitFor(1)
				now.Store(end.Add(-1).UnixNano())
			} else if err := s.Suspend(t.Context(), pending(t, plan)); err != nil {
				t.Fatal(err)
			}
			b := s.open(t)
			form := b.form(plan.ID())
			form.Set("do", "approve")
			form["item"] = []string{"order"}
			if list := b.get(b.home).body; !strings.Contains(list, plan.ID()) || !strings.Contains(list, "(1) Requests to decide") {
				t.Errorf("the list before the end: %s", list)
			}
			now.Store(end.UnixNano())
			if list := b.get(b.home).body; strings.Contains(list, plan.ID()) || !strings.Contains(list, "Nothing to decide") {
				t.Errorf("the list after the end: %s", list)
			}
			for what, got := range map[string]page{"page": b.get(b.home + "plan/" + plan.ID()), "decision": b.post(plan.ID(), form)} {
				if got.status != http.StatusGone || !strings.Contains(got.body, "The request has expired") {
					t.Errorf("%s: %d %s", what, got.status, got.body)
				}
			}
			now.Store(end.Add(-1).UnixNano())
			if got := b.post(plan.ID(), form); got.status != http.StatusOK { // the late decision was none
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	}
}

// TestList: the oldest request is first, a decided one is gone, and a record that cannot be used is
// counted and does not hide the others.
func TestList(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Now().UnixNano())
	store := &faultyStore{Store: lookleap.NewMemoryStore(), err: errDisk}
	s := serve(t, webconsent.Options{Store: store, Keys: lookleap.Keys{key()}, Now: func() time.Time { return time.Unix(0, now.Load()) }})
	var ids []string
	for range 6 {
		plan := newPlan(t, request())
		ids = append(ids, plan.ID())
		now.Add(int64(time.Second))
		if err := s.Suspend(t.Context(), pending(t, plan)); err != nil {
			t.Fatal(err)
		}
	}
	b := s.open(t)
	list := func() (shown []string, body string) {
		body = b.get(b.home).body
		for _, link := range regexp.MustCompile(`href="plan/([^"]+)"`).FindAllStringSubmatch(body, -1) {
			shown = append(shown, link[1])
		}
		return slices.Compact(shown), body
	}
	if shown, body := list(); !slices.Equal(shown, ids) || strings.Contains(body, "cannot be shown") || strings.Count(body, " wants this agent to ") != len(ids) {
		t.Errorf("%q, want %q in %s", shown, ids, body)
	}
	if sorted := b.waitFor(len(ids)); !slices.IsSorted(sorted) {
		t.Errorf("the events have %q", sorted)
	}
	b.decide(ids[0])
	if shown, body := list(); !slices.Equal(shown, ids[1:]) || strings.Contains(body, "cannot be shown") || !strings.Contains(body, "Refused") || strings.Contains(body, "Approved") {
		t.Errorf("%q, want %q in %s", shown, ids[1:], body)
	}
	for what, want := range map[string]int{"plan/" + ids[0]: http.StatusConflict, "plan/other": http.StatusNotFound} {
		if got := b.get(b.home + what); got.status != want {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
	}
	for fails, fault := range map[string]error{"Get webconsent-plan/" + ids[1]: errDisk, "Get webconsent-decision/" + ids[1]: errDisk} {
		store.set(fails, fault)
		if shown, body := list(); !slices.Equal(shown, ids[2:]) || !strings.Contains(body, "1 stored plan cannot be shown") {
			t.Errorf("%s: %q, want %q in %s", fails, shown, ids[2:], body)
		}
		if got := b.get(b.home + "plan/" + ids[1]); got.status != http.StatusInternalServerError {
			t.Errorf("%s: %d %s", fails, got.status, got.body)
		}
	}
	store.set("Get webconsent-plan/"+ids[1], fmt.Errorf("redis: %w", fs.ErrNotExist)) // it was removed after the list was read
	if shown, body := list(); !slices.Equal(shown, ids[2:]) || strings.Contains(body, "cannot be shown") {
		t.Errorf("%q, want %q in %s", shown, ids[2:], body)
	}
	store.set("Get webconsent-decision/"+ids[1], fmt.Errorf("redis: %w", lookleap.ErrAlreadyDone))
	if shown, body := list(); !slices.Equal(shown, ids[2:]) || strings.Contains(body, "cannot be shown") {
		t.Errorf("%q, want %q in %s", shown, ids[2:], body)
	}
	if got := b.get(b.home + "plan/" + ids[1]); got.status != http.StatusConflict {
		t.Errorf("%d %s", got.status, got.body)
	}
	store.set("Keys ", errDisk)
	if got := b.get(b.home); got.status != http.StatusInternalServerError || !strings.Contains(got.body, "The store cannot be read") {
		t.Errorf("%d %s", got.status, got.body)
	}
	store.set("", nil)
	if got := b.do("POST", b.home+"plan/"+ids[1], "token=%zz", "Content-Type", "application/x-www-form-urlencoded", "Origin", b.origin(), "Sec-Fetch-Site", "same-origin"); got.status != http.StatusBadRequest {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestPageHasTheText: the page has every line of the request, in the same order and in the same words
// as a terminal, and folds the details.
func TestPageHasTheText(t *testing.T) {
	req := request()
	req.TrustRoot = "https://shop.example/"
	req.Items[0].Values = append(req.Items[0].Values, lookleap.ConsentValue{Label: "whole request", Text: "POST /orders", Detail: true})
	req.Items[1].Summary += "; no purpose stated"
	_, b, plan := suspended(t, req)
	body := b.get(b.home + "plan/" + plan.ID()).body
	body = body[strings.Index(body, "<main"):strings.Index(body, "</main>")]
	text := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body, ""))
	for _, s := range plan.Request().Sections(false) {
		for _, l := range s.Lines {
			at := strings.Index(text, l.String())
			if at < 0 {
				t.Fatalf("%q is not next in %s", l, text)
			}
			text = text[at+len(l.String()):]
		}
	}
	_, folded, _ := strings.Cut(body, `<details id="details">`)
	for _, part := range []string{"this request, sha256:", "whole request", "&#34;order&#34;"} {
		if !strings.Contains(folded, part) || strings.Count(body, part) != strings.Count(folded, part) {
			t.Errorf("%s is not folded in %s", part, body)
		}
	}
}

// TestPageShows: what a page shows of a request, and for which requests it offers more.
func TestPageShows(t *testing.T) {
	few := request()
	for _, id := range []string{"a", "b", "c"} {
		few.Items = append(few.Items, lookleap.ConsentItem{ID: id, Summary: "do " + id, Recipient: "https://pay.shop.example", Digest: lookleap.Digest([]byte(id)), Optional: true})
	}
	many := few
	many.Items = append(slices.Clone(few.Items), lookleap.ConsentItem{ID: "d", Summary: "do d", Recipient: "https://pay.shop.example", Digest: lookleap.Digest([]byte("d")), Optional: true})
	many.Verdict = &lookleap.Verdict{Summary: "the origin is the shop's own"}
	for name, c := range map[string]struct {
		req    lookleap.ConsentRequest
		offers bool
	}{"few": {few, false}, "many": {many, true}} {
		_, b, plan := suspended(t, c.req)
		url := b.home + "plan/" + plan.ID()
		body, whole := b.get(url).body, b.get(url+"?complete=1").body
		if strings.Contains(body, `href="?tick=all"`) != c.offers || strings.Contains(whole, `href="?tick=all&amp;complete=1"`) != c.offers {
			t.Errorf("%s: %s", name, body)
		}
		if strings.Contains(body, "the origin is the shop&#39;s own") != (c.req.Verdict != nil) || strings.Contains(body, "Why this origin may ask") != (c.req.Verdict != nil) {
			t.Errorf("%s: %s", name, body)
		}
		if empty := regexp.MustCompile(`<span[^>]*></span>`).FindString(body); empty != "" {
			t.Errorf("%s: an empty part %s", name, empty)
		}
		for i := range c.req.Items {
			if !strings.Contains(body, fmt.Sprintf(`id="item%d" name="item" value="%s"`, i+1, c.req.Items[i].ID)) {
				t.Errorf("%s: item %d is not in %s", name, i+1, body)
			}
		}
	}
}

// TestItems: each item has one box with its own number, next to its first line, also where a line
// about several items precedes them.
func TestItems(t *testing.T) {
	req := request()
	for _, id := range []string{"a", "b"} {
		req.Items = append(req.Items, lookleap.ConsentItem{ID: id, Summary: `add "` + id + `" to the list`, Recipient: "https://pay.shop.example", Digest: lookleap.Digest([]byte(id)), Optional: true})
	}
	_, b, plan := suspended(t, req)
	body := b.get(b.home + "plan/" + plan.ID()).body
	text := strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllStringFunc(body, func(tag string) string {
		if box := regexp.MustCompile(`id="(item\d+)".* value="(\w+)"`).FindStringSubmatch(tag); box != nil {
			return " <" + box[1] + " " + box[2] + "> "
		}
		return ""
	})), " ")
	last := 0
	for _, want := range []string{"<item1 order> 1. send the order", "<item2 phone> 2. tell your phone number", "The next 2 are alike: each is optional",
		"<item3 a> 3. add", "<item4 b> 4. add", "Refuse", "Approve", "Details", "this request, sha256:", "1. &#34;order&#34;, sha256:", "4. &#34;b&#34;, sha256:"} {
		at := strings.Index(text[last:], want)
		if at < 0 {
			t.Fatalf("no %q in %s", want, text[last:])
		}
		last += at
	}
	if n := strings.Count(text, "this request, sha256:"); n != 1 {
		t.Errorf("%d digests of the request in %s", n, text)
	}
}

// TestChangedLines: only a value whose label says so shows its lines as added and removed.
func TestChangedLines(t *testing.T) {
	for name, c := range map[string]struct {
		value lookleap.ConsentValue
		shown bool
	}{
		"accept-change":          {lookleap.ConsentValue{Label: "changed lines (- before, + now)", Text: "+ a\n- b\n"}, true},
		"reject-text":            {lookleap.ConsentValue{Label: "body", Text: "+ a\n- b\n"}, false},
		"reject-label":           {lookleap.ConsentValue{Label: "| + added (- before, + now)", Text: "a\nb\n"}, false},
		"reject-name-of-another": {lookleap.ConsentValue{Label: "body", Name: "x (- before, + now)", Text: "+ a\n- b\n"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			req := request()
			req.Items[0].Values = []lookleap.ConsentValue{c.value}
			_, b, plan := suspended(t, req)
			body := b.get(b.home + "plan/" + plan.ID()).body
			for _, class := range []string{` added"`, ` removed"`} {
				if strings.Contains(body, `class="quote`+class) != c.shown || !c.shown && strings.Contains(body, class) {
					t.Errorf("%s: %s", class, body)
				}
			}
		})
	}
}

// TestRefuseEveryVersion refuses requests about a skill, where a refusal can hold for later versions.
func TestRefuseEveryVersion(t *testing.T) {
	for name, c := range map[string]struct {
		kind    lookleap.ConsentKind
		offered bool
	}{
		"accept-skill":      {lookleap.ConsentSkill, true},
		"accept-trust-root": {lookleap.ConsentTrustRoot, true},
		"reject-script":     {lookleap.ConsentScript, false},
		"reject-act":        {lookleap.ConsentAct, false},
	} {
		t.Run(name, func(t *testing.T) {
			req := request()
			req.Kind = c.kind
			s, b, plan := suspended(t, req)
			if got := strings.Contains(b.get(b.home+"plan/"+plan.ID()).body, `value="refuse-all"`); got != c.offered {
				t.Errorf("offered %v", got)
			}
			form := b.form(plan.ID())
			form.Set("do", "refuse-all")
			got := b.post(plan.ID(), form)
			if !c.offered {
				if got.status != http.StatusUnprocessableEntity {
					t.Errorf("%d %s", got.status, got.body)
				}
				return
			}
			if got.status != http.StatusOK || !strings.Contains(got.body, "Refused, every version") {
				t.Errorf("%d %s", got.status, got.body)
			}
			for d, err := range s.Decided(t.Context()) {
				if err != nil || !d.Decision.AllVersions || len(d.Decision.Approved) != 0 {
					t.Errorf("%+v %v", d.Decision, err)
				}
				break
			}
		})
	}
}
