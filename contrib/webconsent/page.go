package webconsent

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/webpage"
)

//go:embed page.html
var pageText string

//go:embed script.js
var script string

var (
	listPage = webpage.Parse(nil, pageText+`{{define "main"}}{{template "list" .}}{{end}}`)
	planPage = webpage.Parse(nil, pageText+`{{define "main"}}{{template "plan" .}}{{end}}`)
)

// pages returns the handler behind the door.
func (p *Prompter) pages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.showList)
	mux.HandleFunc("GET /plan/{id}", p.showPlan)
	mux.HandleFunc("POST /plan/{id}", p.takeDecision)
	mux.HandleFunc("GET /events", p.streamEvents)
	return mux
}

// waiting is a request on the page: a live one, or one of a suspended plan.
type waiting struct {
	request *lookleap.ConsentRequest
	since   time.Time
	live    *livePrompt // nil: stored
}

// waiting returns the requests that have no decision, the oldest first, and how many
// records could not be read.
func (p *Prompter) waiting(ctx context.Context) (all []waiting, unreadable int, err error) {
	ids, err := p.vault.ids(ctx, planPrefix)
	if err != nil {
		return nil, 0, err
	}
	now := p.options.Now()
	for _, id := range ids {
		w, err := p.find(ctx, id)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, lookleap.ErrAlreadyDone):
		case err != nil:
			unreadable++
		case now.Before(w.request.Expires):
			all = append(all, w)
		}
	}
	p.mu.Lock()
	for _, l := range p.live {
		if l.decision == nil && now.Before(l.request.Expires) && !slices.Contains(ids, l.request.ID) {
			all = append(all, waiting{l.request, l.since, l})
		}
	}
	p.mu.Unlock()
	slices.SortStableFunc(all, func(a, b waiting) int { return a.since.Compare(b.since) })
	return all, unreadable, nil
}

// find returns the request of a plan that has no decision. The error is fs.ErrNotExist if
// there is no such plan, and lookleap.ErrAlreadyDone if it was decided.
func (p *Prompter) find(ctx context.Context, id string) (waiting, error) {
	p.mu.Lock()
	for _, l := range p.live {
		if l.request.ID == id && l.decision == nil {
			p.mu.Unlock()
			return waiting{l.request, l.since, l}, nil
		}
	}
	p.mu.Unlock()
	plan, err := p.vault.plan(ctx, id)
	if err != nil {
		return waiting{}, err
	}
	if _, err := p.vault.decision(ctx, id); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = lookleap.ErrAlreadyDone
		}
		return waiting{}, err
	}
	return waiting{plan.request, plan.Since, nil}, nil
}

// recentOutcome is a decision that the page still shows.
type recentOutcome struct {
	Headline lineView
	Outcome  string
}

func outcomeOf(req *lookleap.ConsentRequest, d lookleap.ConsentDecision) string {
	switch {
	case d.AllVersions:
		return "Refused, every version"
	case len(d.Approved) == 0:
		return "Refused"
	}
	return fmt.Sprintf("Approved: %d of %d", len(d.Approved), len(req.Items))
}

const maxRecent = 10

type listView struct {
	IDs        string
	Plans      []listEntry
	Recent     []recentOutcome
	Unreadable int
}

type listEntry struct {
	ID       string
	Headline lineView
	Expires  clockView
}

func (p *Prompter) showList(w http.ResponseWriter, r *http.Request) {
	all, unreadable, err := p.waiting(r.Context())
	if err != nil {
		webpage.Message(w, http.StatusInternalServerError, "The store cannot be read", err.Error(),
			webpage.Anchor{URL: "./", Text: "Try again"})
		return
	}
	view := listView{IDs: idsOf(all), Unreadable: unreadable}
	for _, each := range all {
		view.Plans = append(view.Plans, listEntry{each.request.ID, headlineOf(each.request), p.clock(each.request.Expires)})
	}
	p.mu.Lock()
	view.Recent = slices.Clone(p.recent)
	p.mu.Unlock()
	title := "Nothing to decide"
	if n := len(all); n > 0 {
		title = fmt.Sprintf("(%d) Requests to decide", n)
	}
	webpage.Write(w, http.StatusOK, listPage, webpage.Page{Title: title, Script: script, Data: view})
}

func idsOf(all []waiting) string {
	ids := make([]string, len(all))
	for i, w := range all {
		ids[i] = w.request.ID
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

func (p *Prompter) showPlan(w http.ResponseWriter, r *http.Request) {
	found, err := p.find(r.Context(), r.PathValue("id"))
	if err != nil || !p.options.Now().Before(found.request.Expires) {
		notWaiting(w, err)
		return
	}
	p.writePlan(w, r, http.StatusOK, found.request, "", nil)
}

func (p *Prompter) writePlan(w http.ResponseWriter, r *http.Request, status int, req *lookleap.ConsentRequest, fault string, ticked []string) {
	query := r.URL.Query()
	view := viewOf(req, query.Has("complete"), query.Get("tick") == "all", ticked)
	view.Fault, view.Expires = fault, p.clock(req.Expires)
	view.Token = webpage.FormToken(r, "decide", req.ID, req.Digest)
	webpage.Write(w, status, planPage, webpage.Page{Title: "Decide: " + req.Origin, Script: script, Data: view})
}

func notWaiting(w http.ResponseWriter, err error) {
	back := webpage.Anchor{URL: "../", Text: "Back to the list"}
	switch {
	case err == nil:
		webpage.Message(w, http.StatusGone, "The request has expired", "It is too late to decide about it. Nothing is done.", back)
	case errors.Is(err, lookleap.ErrAlreadyDone):
		webpage.Message(w, http.StatusConflict, "The request was decided", "The first decision counts.", back)
	case errors.Is(err, fs.ErrNotExist):
		webpage.Message(w, http.StatusNotFound, "The request no longer waits", "It was decided, or the program no longer asks.", back)
	default:
		webpage.Message(w, http.StatusInternalServerError, "The request cannot be shown", err.Error(), back)
	}
}

func (p *Prompter) takeDecision(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		webpage.Message(w, http.StatusBadRequest, "The form cannot be read", err.Error(),
			webpage.Anchor{URL: "../", Text: "Back to the list"})
		return
	}
	id, form := r.PathValue("id"), r.PostForm
	// The token depends on the digest that was shown, so both are checked before the plan is
	// looked up.
	if !webpage.FormTokenValid(r, form.Get("token"), "decide", id, form.Get("digest")) {
		webpage.Message(w, http.StatusForbidden, "The form is not valid",
			"It belongs to another session or another request. Nothing was decided.", webpage.Anchor{URL: "../", Text: "Back to the list"})
		return
	}
	found, err := p.find(r.Context(), id)
	if err != nil || !p.options.Now().Before(found.request.Expires) {
		notWaiting(w, err)
		return
	}
	if found.request.Digest != form.Get("digest") {
		webpage.Message(w, http.StatusConflict, "The request has changed",
			"The decision is about other bytes than those that wait. Nothing was decided.", webpage.Anchor{URL: "../", Text: "Back to the list"})
		return
	}
	decision, fault := decisionOf(found.request, form)
	if fault != "" {
		p.writePlan(w, r, http.StatusUnprocessableEntity, found.request, fault, form["item"])
		return
	}
	if err := p.decide(r.Context(), found, decision); err != nil {
		notWaiting(w, err)
		return
	}
	// Not a redirect: the program may end now, and the user should see that the decision was taken.
	webpage.Message(w, http.StatusOK, outcomeOf(found.request, decision),
		"Your decision was recorded, and the program continues with it.", webpage.Anchor{URL: "../", Text: "Back to the list"})
}

// decisionOf returns the decision of a form, or what is wrong with it.
func decisionOf(req *lookleap.ConsentRequest, form url.Values) (d lookleap.ConsentDecision, fault string) {
	d.Digest = req.Digest
	switch do := form.Get("do"); {
	case do == "refuse":
		d.Reason = form.Get("reason")
		return d, ""
	case do == "refuse-all" && hasVersions(req):
		d.AllVersions, d.Reason = true, form.Get("reason")
		return d, ""
	case do != "approve":
		return d, "Choose one of the buttons."
	}
	for _, item := range req.Items {
		switch {
		case slices.Contains(form["item"], item.ID):
			d.Approved = append(d.Approved, item.ID)
		case !item.Optional:
			return d, "Without every item that is needed nothing can be done. Tick them, or refuse."
		}
	}
	if len(d.Approved) == 0 {
		return d, "Nothing is ticked. Tick what you agree to, or refuse."
	}
	if len(d.Approved) != len(form["item"]) {
		return d, "The form approves something that was not asked."
	}
	return d, ""
}

// decide records a decision. The first one counts.
func (p *Prompter) decide(ctx context.Context, w waiting, d lookleap.ConsentDecision) error {
	if w.live == nil {
		err := p.vault.decide(ctx, storedDecision{w.request.ID, p.options.Now().UTC(), d})
		if errors.Is(err, lookleap.ErrConflict) {
			return lookleap.ErrAlreadyDone
		}
		if err != nil {
			return storeError("the decision could not be stored", err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.live != nil {
		if w.live.decision != nil {
			return lookleap.ErrAlreadyDone
		}
		if !slices.Contains(p.live, w.live) {
			return fs.ErrNotExist
		}
		w.live.decision = &d
		close(w.live.decided)
	}
	p.recent = slices.Insert(p.recent, 0, recentOutcome{headlineOf(w.request), outcomeOf(w.request, d)})
	p.recent = p.recent[:min(len(p.recent), maxRecent)]
	p.announce()
	return nil
}
