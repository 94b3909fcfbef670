package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
	"github.com/lookleap/lookleap/internal/zerotest"
)

// wayOut is one way for something to leave a session.
type wayOut struct {
	class   string                          // which outcomes it has, see wayOutcomes
	through []string                        // functions that send, of those in exitsOfPackage
	call    func(v outValue) Call           // of an action at b.example; nil: see run
	run     func(*stand, *Page) (err error) // what the session does that has no place for a value
	do      func(*stand, *Page, Call) error // how the call is made; nil: by Page.Do
	waits   bool                            // the user decides later, and the session resumes
	answers func() http.Handler             // of b.example
}

// outValue is a value that might leave, and what makes it what it is.
type outValue struct {
	id     string // of the cells
	text   string
	field  string // that answers it
	before func(*stand)
}

// wayOutcomes says what becomes of each kind of value on each class of way: it is
// told, asked about and then told, or refused; "cannot carry" is that there is no
// place for it.
var wayOutcomes = map[string]map[string]string{
	"profile":    {"answer": "asked", "argument": "asked", "words": "asked"},
	"allowed":    {"answer": "told", "argument": "told", "words": "asked"},
	"denied":     {"answer": "refused", "argument": "refused", "words": "refused"},
	"sensitive":  {"answer": "asked", "argument": "asked", "words": "asked"},
	"other":      {"answer": "asked", "argument": "asked", "words": "asked"},
	"restricted": {"answer": "refused", "argument": "refused", "words": "refused"},
	"private":    {"answer": "refused", "argument": "refused", "words": "refused"},
	"cut":        {"answer": "asked", "argument": "asked", "words": "asked"},
	"ordinary":   {"answer": "asked", "argument": "told", "words": "asked"},
}

func toldByA(confidentiality string) func(*stand) {
	return func(st *stand) {
		pageFor(st.T, st.net, st.session(), "https://a.example/a", titled+`<knowledge><inform `+confidentiality+`>Member 4711-8822</inform></knowledge>`)
	}
}

var outValues = map[string]outValue{
	"profile": {id: "O02", text: "ann@example.org", field: "email"},
	"allowed": {id: "O02", text: "ann@example.org", field: "email", before: func(st *stand) { st.allow("email", "*") }},
	"denied": {id: "O02", text: "ann@example.org", field: "email", before: func(st *stand) {
		must(st.T, st.user.Policy.Set(StandingRule{Field: "e-mail", Domain: "*", Effect: EffectDeny}))
	}},
	"sensitive": {id: "O02", text: "hay fever", field: "diagnosis"},
	"other": {id: "O03", text: "4711-8822", field: "member", before: func(st *stand) {
		pageFor(st.T, st.net, st.session(), "https://a.example/a", saying("4711-8822")["body"])
	}},
	"restricted": {id: "ANML-14.1-07", text: "4711-8822", field: "member", before: toldByA(`confidentiality="restricted"`)},
	"private":    {id: "ANML-14.1-07", text: "4711-8822", field: "member", before: toldByA(`confidentiality="private"`)},
	"cut": {id: "O03", text: "4711-8822", field: "member", before: func(st *stand) { // no one verified the site
		pageFor(st.T, st.net, st.session(), "https://a.example/a", `<site domain="bank.example"><head><title>Bank</title></head><body>Account 4711-8822</body></site>`)
	}},
	"ordinary": {id: "ANML-13.4-05", text: "green tea", field: "topic"},
}

const sendsAction = "submission.once"

// waysOut are all of them. Argument ways exist for each method and encoding.
func waysOut() map[string]wayOut {
	answer := func(v outValue) Call {
		return Call{Action: "book", Reply: &Reply{Values: map[string]Value{v.field: {Text: v.text}}, Omit: others(v.field)}}
	}
	words := func(r func(text string) Reply) func(outValue) Call {
		return func(v outValue) Call {
			reply := r(v.text)
			reply.Omit = others("")
			return Call{Action: "book", Reply: &reply}
		}
	}
	argument := func(action string) func(outValue) Call {
		return func(v outValue) Call { return Call{Action: action, Args: map[string]string{"q": "it is " + v.text}} }
	}
	open := func(url string) func(*stand, *Page) error {
		return func(st *stand, _ *Page) error { _, err := st.s.Open(st.Context(), url); return err }
	}
	by := []string{sendsAction}
	ways := map[string]wayOut{
		"answer":              {class: "answer", through: by, call: answer},
		"counter-ask-field":   {class: "words", through: by, call: words(func(t string) Reply { return Reply{Asks: []Counter{{t, "to compare"}}} })},
		"counter-ask-purpose": {class: "words", through: by, call: words(func(t string) Reply { return Reply{Asks: []Counter{{"price", "for " + t}}} })},
		"inform":              {class: "words", through: by, call: words(func(t string) Reply { return Reply{Informs: []Told{{Text: "it is " + t}}} })},
		"json-arguments": {class: "argument", through: by, call: func(v outValue) Call {
			args, _ := json.Marshal(map[string]string{"q": v.text})
			return Call{Action: "POST-application/json", ArgsJSON: args}
		}},
		"tool": {class: "argument", through: by, call: argument("POST-application/json"), do: func(st *stand, p *Page, c Call) error {
			tools := p.Tools()
			args, _ := json.Marshal(c.Args)
			_, err := tools[slices.IndexFunc(tools, func(tool Tool) bool { return tool.Action == c.Action })].Call(st.Context(), args)
			return err
		}},
		"resumed-argument": {class: "argument", through: by, call: argument("POST-"), waits: true},
		"resumed-answer":   {class: "answer", through: by, call: answer, waits: true},
		"percent-encoded": {class: "argument", through: by, call: func(v outValue) Call {
			var text strings.Builder
			for _, c := range []byte(v.text) {
				fmt.Fprintf(&text, "%%%02X", c)
			}
			return Call{Action: "GET-", Args: map[string]string{"q": text.String()}}
		}},
		"url-template":   {class: "argument", through: by, call: argument("template")}, // templates are not filled in
		"redirect":       {class: "argument", through: by, call: argument("POST-"), answers: func() http.Handler { return scripted(307, "", "Location", "/again") }},
		"redirect-away":  {class: "argument", through: by, call: argument("POST-"), answers: func() http.Handler { return scripted(307, "", "Location", "https://c.example/x") }},
		"redirect-other": {class: "argument", through: by, call: argument("GET-"), answers: func() http.Handler { return scripted(303, "", "Location", "/again") }},
		"retry": {class: "argument", through: by, call: argument("GET-"),
			answers: func() http.Handler { return lab.Sequence(lab.Status(500), lab.Status(204)) }},

		"page-fetch":  {class: "none", through: []string{"Session.retrieve"}, run: open("https://b.example/other")},
		"site-ref":    {class: "none", through: []string{"Page.fetchRef"}, run: open("https://b.example/refs")},
		"next-page":   {class: "none", through: []string{"Session.readPage"}, run: func(st *stand, p *Page) error { _, err := p.Pager().Next(st.Context(), PageWanted); return err }},
		"medium":      {class: "none", through: []string{"Page.load"}, run: func(st *stand, p *Page) error { _, err := p.LoadMedium(st.Context(), p.Media()[0]); return err }},
		"discovery":   {class: "none", through: []string{"Session.retrieve", "Session.lookup"}, run: func(st *stand, _ *Page) error { _, _ = st.s.Discover(st.Context(), "https://none.example"); return nil }},
		"trust":       {class: "none", through: []string{"Session.confirmTrust", "Page.identify"}, run: open("https://b.example/claims")},
		"no-argument": {class: "none", through: by, run: func(st *stand, p *Page) error { _, err := p.Do(st.Context(), Call{Action: "GET-"}); return err }},
		"result-text": {class: "none", through: by, run: func(st *stand, p *Page) error {
			r, err := p.Do(st.Context(), Call{Action: "GET-"})
			return carriesNothing(r.Text(anml.TextOptions{}), err)
		}},
		"ledger-export": {class: "none", through: []string{"Session.record"}, run: func(st *stand, p *Page) error {
			_, _ = p.Do(st.Context(), Call{Action: "book"})
			var text strings.Builder
			_, err := Filter{}.Export(st.Context(), st.s.Ledger(), &text)
			st.net.Journal().Clear() // what that call told is another cell
			return carriesNothing(text.String(), err)
		}},
	}
	for _, a := range outActions {
		ways["argument-"+a] = wayOut{class: "argument", through: by, call: argument(a)}
	}
	return ways
}

var (
	outFields  = []string{"email", "member", "diagnosis", "topic"}
	outActions = func() (list []string) {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "DELETE", "POST", "PUT", "PATCH"} {
			list = append(list, method+"-")
			if hasBody(method) {
				list = append(list, method+"-application/json", method+"-multipart/form-data")
			}
		}
		return list
	}()
	outTexts = []string{"annexampleorg", "hayfever", "47118822"} // as they are compared
)

// others are the fields that a call leaves out.
func others(field string) (list []string) {
	return slices.DeleteFunc(slices.Clone(outFields), func(f string) bool { return f == field })
}

func carriesNothing(text string, err error) error {
	for _, reading := range readings(text) {
		for _, secret := range outTexts {
			if strings.Contains(fold(reading).text, fold(secret).text) {
				return fmt.Errorf("it holds %q: %s", secret, text)
			}
		}
	}
	return err
}

// outPage is the document at b.example that asks for everything.
func outPage() string {
	var actions, asks strings.Builder
	for _, a := range outActions {
		method, enctype, _ := strings.Cut(a, "-")
		fmt.Fprintf(&actions, `<action id="%s" method="%s" endpoint="/do" idempotent="true" enctype="%s"><param name="q" description="what to look for"/></action>`, a, method, enctype)
	}
	for _, field := range outFields {
		asks.WriteString(askFor(field))
	}
	return titled + `<constraints>` + rule("email", "none") + `</constraints><interact>` + actions.String() +
		`<action id="template" method="GET" endpoint="/do/%7Bq%7D"><param name="q" description="what to look for"/></action><action id="book" method="POST" endpoint="/do"/></interact>` +
		`<knowledge>` + asks.String() + `</knowledge><body><nav next="/page2"/><img src="/a.png" alt="x"/></body>`
}

// leave sends a value by a way, with a user who agrees to everything or to the act
// alone, and says what became of it.
func leave(t *testing.T, way wayOut, v outValue, agrees bool) (outcome string) {
	t.Helper()
	st := asker(t)
	var agreed []string // to everything
	if !agrees {
		agreed = []string{itemAct}
	}
	reply := labprompt.Approve(agreed...)
	if way.waits {
		reply = labprompt.Pending()
	}
	st.ask = labprompt.New(t, slices.Repeat([]labprompt.Reply{reply}, 8)...)
	st.user.Language, st.user.Ledger = v.text, NewMemoryDisclosureLedger()
	if v.before != nil {
		v.before(st)
	}
	answers := document(titled + `<body>Thank you.</body>`)
	if way.answers != nil {
		answers = way.answers()
	}
	b := st.net.Site("b.example")
	for _, path := range []string{"/other", "/page2", "/again"} {
		b.Handle(path, document(titled+`<body>`+path+`</body>`))
	}
	b.Handle("/refs", document(`<head><title>x</title><site-ref domain="c.example" canonical="https://c.example/own"/></head>`))
	b.Handle("/claims", document(`<site domain="c.example"><head><title>x</title><trust/></head></site>`))
	st.net.Site("c.example").Handle("*", document(titled))
	p := pageFor(t, st.net, st.session(), "https://b.example/b", outPage())
	b.Handle("*", answers)
	st.net.Journal().Clear()

	var err error
	switch {
	case way.run != nil:
		if err = way.run(st, p); err != nil {
			t.Errorf("it could not be walked: %v", err)
		}
	case way.do != nil:
		err = way.do(st, p, way.call(v))
	default:
		_, err = p.Do(t.Context(), way.call(v))
	}
	if pending := new(lookleap.PendingError); errors.As(err, &pending) {
		_, err = st.s.Resume(t.Context(), pending.State, labprompt.Decide(pending.Request, agreed...))
	}
	var sent strings.Builder
	for _, r := range st.net.Journal().Requests() {
		fmt.Fprintf(&sent, "%s %s\n%s\n%s\n", r.Method, r.Target, r.Header, r.Body)
		if r.Host == "c.example" && way.call != nil {
			t.Error("another origin got a request")
		}
	}
	asked := slices.ContainsFunc(st.ask.Requests(), func(r lookleap.ConsentRequest) bool {
		return slices.ContainsFunc(r.Items, func(item lookleap.ConsentItem) bool {
			return item.ID != itemAct && slices.ContainsFunc(readings(item.Summary), func(s string) bool { return strings.Contains(fold(s).text, fold(v.text).text) })
		})
	})
	left := slices.ContainsFunc(readings(strings.ReplaceAll(sent.String(), "%25", "%")), func(s string) bool { return strings.Contains(fold(s).text, fold(v.text).text) })
	if left && err == nil || left && way.answers != nil {
		entries := ledgerOf(t, st.user.Ledger)
		if asked && !slices.ContainsFunc(entries, func(e string) bool { return strings.HasPrefix(e, "disclosed ") }) {
			t.Errorf("the ledger does not tell: %q", entries)
		}
	}
	switch {
	case left && asked:
		return "asked"
	case left:
		return "told"
	case way.class == "none":
		return "cannot carry"
	}
	return "refused"
}

// TestWaysOut walks every way out of a session with every kind of value.
func TestWaysOut(t *testing.T) {
	for name, way := range waysOut() {
		for kind, v := range outValues {
			want, ok := wayOutcomes[kind][way.class]
			if way.class == "none" {
				want, ok = "cannot carry", true
			}
			if !ok {
				t.Fatalf("no outcome of %s by %s", kind, name)
			}
			side := map[string]string{"told": "accept", "asked": "accept", "refused": "reject", "cannot carry": "reject"}[want]
			walk := func(t *testing.T) {
				if got := leave(t, way, v, true); got != want {
					t.Errorf("%s, want %s", got, want)
				}
				if want == "asked" {
					if got := leave(t, way, v, false); got != "refused" {
						t.Errorf("the user said no: %s", got)
					}
				}
			}
			t.Run(fmt.Sprintf("%s/%s-%s-%s", v.id, side, name, kind), func(t *testing.T) {
				synctest.Test(t, walk) // nothing is too late on a slow machine
			})
		}
	}
}

// exitsOfPackage are the calls by which anything leaves a session: to a server, to a
// verifier, to a resolver or into a ledger.
var exitsOfPackage = map[string]bool{"Do": true, "RoundTrip": true, "Lookup": true, "LookupFresh": true, "Append": true, "Verify": true, "VerifyFresh": true, "VerifyDocument": true}

// noExits are calls with the same names that send nothing.
var noExits = []string{"NewReceipt Verify", "SignedHead.Verify Verify", "Page.Tools Do", "pageCache.load Do"}

// passages are the functions between what a caller can use and the exits. One that is not listed
// could pass on a value that no one judged.
var passages = strings.Fields(`Page.LoadMedia Page.LoadMedium Page.followRef Pager.Next Session.admit Session.recordOutcome Session.trusted Session.turnDown
	Session.untransferred discovery.byDNS execution.prepare newContext pageCache.get pageCache.load submission.renew submission.run`)

// door is an exported function by which a caller can make a session send something.
type door struct {
	parameters string
	ways       string // of TestWaysOut
}

var doors = map[string]door{
	"Page.Do":             {"(ctx context.Context, c Call) (*CallResult, error)", "answer argument-GET- json-arguments inform counter-ask-field"},
	"Tool.Call":           {"(ctx context.Context, args json.RawMessage) (*CallResult, error)", "tool"},
	"Session.Resume":      {"(ctx context.Context, state json.RawMessage, d lookleap.ConsentDecision) (*CallResult, error)", "resumed-argument resumed-answer"},
	"Session.Open":        {"(ctx context.Context, url string) (*Page, error)", "page-fetch site-ref trust"},
	"Session.Discover":    {"(ctx context.Context, origin string, seen ...WebPage) (*Page, error)", "discovery"},
	"Page.LoadMedium":     {"(ctx context.Context, m Medium) (*MediaContent, error)", "medium"},
	"Page.LoadMedia":      {"(ctx context.Context, policy MediaPolicy) iter.Seq2[Medium, MediaResult]", "medium"},
	"Pager.Next":          {"(ctx context.Context, why PageReason) (*Page, error)", "next-page"},
	"Session.ResumePager": {"(ctx context.Context, state json.RawMessage, d lookleap.ConsentDecision) (*Pager, error)", "next-page"},
	"Filter.Export":       {"(ctx context.Context, l DisclosureLedger, w io.Writer) (n int, err error)", "ledger-export"},
	"CallResult.Text":     {"(o anml.TextOptions) string", "result-text"},
}

// staysInside are the other exported functions that take a context, or that belong to what holds a
// session. They read and change what this process and its store know, and AuthorizeTransfer asks the
// user.
var staysInside = strings.Fields(`Context.Delete Context.Informs Context.Supplied Context.Training DirStore.Create DirStore.Delete DirStore.Get DirStore.Keys DirStore.Put
	Fields.FieldNames Fields.Value FileDisclosureLedger.Append FileDisclosureLedger.Entries FileDisclosureLedger.Prune Filter.Entries Interaction
	JudgePurpose NewReceipt NoProfile.FieldNames NoProfile.Value VerifyLedger Page.Aesthetic Page.Allowed Page.Decide Page.Document
	Page.EffectiveUsage Page.Explain Page.Findings Page.Flow Page.Media Page.OffersJSON Page.Owner Page.Pager Page.Parties Page.Persona
	Page.RequiredMedia Page.ServingDomain Page.Session Page.SiteRefs Page.Text Page.ToolFindings Page.Tools Page.Trace Page.URL Pager.Cursor Pager.More Pager.Pages
	Pager.Total Session.AllowDomain Session.Allowed Session.Close Session.Consents Session.Context Session.Forget Session.ForgetDiscovery
	Session.Ledger Session.Notices Session.RefuseDomain Session.RefusedDomains Session.ResetActions Session.Withdraw
	Page.AuthorizeTransfer Session.ResumeTransfer CallResult.Data Tool.Definition Tool.NameFor Tool.Schema`)

// TestWaysOutAreAllWalked: a function that sends, an exported function that could make a session
// send, a kind of tell, or a member of a call or reply that the tables do not know is a way out that
// no one has reviewed.
func TestWaysOutAreAllWalked(t *testing.T) {
	walked, ways := map[string]bool{}, waysOut()
	for _, way := range ways {
		for _, f := range way.through {
			walked[f] = true
		}
	}
	functions := map[string]*ast.FuncDecl{}
	for _, file := range zerotest.Source(t) {
		for _, imported := range file.Imports {
			if path, _ := strconv.Unquote(imported.Path.Value); path == "net" || path == "os/exec" || path == "syscall" || path == "plugin" {
				t.Errorf("%s is imported: what it sends is in no table", path)
			}
		}
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				functions[nameOf(fn)] = fn
			}
		}
	}
	sends := map[string]bool{} // functions with an exit, by their last names
	same(t, "exits of the package", callersOf(functions, func(fn, callee string) bool {
		exit := exitsOfPackage[callee] && !slices.Contains(noExits, fn+" "+callee)
		if exit {
			sends[fn[strings.LastIndexByte(fn, '.')+1:]] = true
		}
		return exit
	}), slices.Sorted(maps.Keys(walked)))
	same(t, "callers of what sends", callersOf(functions, func(_, callee string) bool { return sends[callee] }), passages)

	var open []string
	for name, fn := range functions {
		owner, _, _ := strings.Cut(name, ".")
		var signature strings.Builder
		_ = printer.Fprint(&signature, token.NewFileSet(), fn.Type)
		holds := slices.Contains([]string{"Session", "Page", "Pager", "Tool", "Context", "CallResult"}, owner)
		if !token.IsExported(owner) || !fn.Name.IsExported() || !holds && !strings.Contains(signature.String(), "context.Context") {
			continue
		}
		open = append(open, name)
		if d, ok := doors[name]; ok && signature.String() != "func"+d.parameters {
			t.Errorf("%s is %s; walk what is new in TestWaysOut", name, &signature)
		}
	}
	same(t, "exported functions", open, slices.Concat(slices.Collect(maps.Keys(doors)), staysInside))
	for name, d := range doors {
		for _, way := range strings.Fields(d.ways) {
			if _, ok := ways[way]; !ok {
				t.Errorf("%s is not walked by %s", name, way)
			}
		}
	}
	// What a host or a model can put a value into.
	for _, c := range []struct {
		of    any
		known string
	}{
		{Call{}, "Site Action Args ArgsJSON Provenance Initiated Reply"}, {Reply{}, "Values Refuse Omit Informs Asks RefuseOthers"},
		{Told{}, "Text Provenance"}, {Counter{}, "Field Purpose"}, {Value{}, "Text Provenance Category"},
		{actionRequest{}, "Method Endpoint URL Reach Plain ContentType Body Response Format Expects Idempotent Says"},
		{disclosure{}, "Asker Tells Plain"},
	} {
		var names []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(c.of)) {
			names = append(names, f.Name)
		}
		if got := strings.Join(names, " "); got != c.known {
			t.Errorf("%T has %s; walk what is new in TestWaysOut", c.of, got)
		}
	}
}

// callersOf returns the functions that call something, as a method or as a function of a package.
func callersOf(functions map[string]*ast.FuncDecl, which func(fn, callee string) bool) (found []string) {
	for name, fn := range functions {
		calls := false
		ast.Inspect(fn, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && which(name, s.Sel.Name) {
				calls = true
			}
			return true
		})
		if calls {
			found = append(found, name)
		}
	}
	return found
}

// same compares lists of names in any order.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	for _, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("%s: %s is a way out that TestWaysOut does not walk", what, name)
		}
	}
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("%s: there is no %s", what, name)
		}
	}
}

// nameOf is a function's name, with its receiver's type.
func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	typ := fn.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	return typ.(*ast.Ident).Name + "." + fn.Name.Name
}
