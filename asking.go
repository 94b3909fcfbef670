package lookleap

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/plugin"
)

// AskLimits limit how often and for how long users are asked, so that a site cannot ask
// until the user agrees to stop it. The zero AskLimits are the defaults. A negative number turns a
// limit off.
//
// The limits hold for each user of a [Host]. A user is named by [WithUser];
// requests without a name belong to one unnamed user.
type AskLimits struct {
	// Refusal is how long a "no" also applies to identical requests, which show the same
	// to the user; default: 5 minutes.
	Refusal time.Duration
	// Prompts is how often one trust root may ask without success within Interval;
	// default: 30. All trust roots whose paths begin with the same segment, such as
	// those of one owner on a code host, may together ask twice as often. Everyone on
	// one registrable domain may together ask four times as often. A request that the
	// user approves counts a tenth, unless the same one was shown within Interval
	// before.
	Prompts  int
	Interval time.Duration // default: 10 minutes
	// Dialogue is how long an open dialogue keeps the next one waiting; default: 10
	// minutes. The user can answer it afterwards, too.
	Dialogue time.Duration
}

func (l AskLimits) withDefaults() AskLimits {
	return AskLimits{
		Refusal: cmp.Or(l.Refusal, 5*time.Minute), Prompts: cmp.Or(l.Prompts, 30), Interval: cmp.Or(l.Interval, 10*time.Minute),
		Dialogue: cmp.Or(l.Dialogue, 10*time.Minute),
	}
}

type userKey struct{}

// WithUser names the user of the work under the context. The name
// keeps the dialogues of several users of one [Host] apart. Any text that is
// unique to the user will do; it is neither shown, logged nor sent.
func WithUser(ctx context.Context, user string) context.Context {
	return context.WithValue(ctx, userKey{}, user)
}

func userOf(ctx context.Context) string {
	user, _ := ctx.Value(userKey{}).(string)
	return user
}

// asking records for one Host which users are being asked, and what they were asked.
type asking struct {
	dialogues flight.Turns[string] // a user has one open dialogue at a time

	mu      sync.Mutex
	refused map[question]refusedQuestion
	asked   map[asker][]*prompt
}

// refusedQuestion is a "no", which also applies to identical requests for a time.
type refusedQuestion struct {
	until  time.Time
	reason string // the end of an error's message
}

// question identifies a request that a user was asked or refused.
type question struct{ user, shown string }

// asker is a trust root, or several of them together, that asks a user.
type asker struct {
	user, name string
	share      int // how often it may ask, in multiples of AskLimits.Prompts
}

// prompt is a request that a user was shown.
type prompt struct {
	at   time.Time
	cost int // of the prompts that an asker has: costInVain, or costApproved
	what question
}

func (p *prompt) olderThan(interval time.Duration, now time.Time) bool {
	return now.Sub(p.at).Abs() >= interval
}

const (
	costInVain   = 10
	costApproved = 1
)

// maxRemembered bounds the refused questions, and the askers, of a Host.
const maxRemembered = 10_000

// questionOf identifies a request by everything that it shows and by the digests of its
// items. Two plans with the same effect have the same question.
func questionOf(user string, r *ConsentRequest) question {
	shown := *r
	shown.ID, shown.Again = "", ""
	shown.Digest = ""
	shown.Effect = ""
	shown.Expires = time.Time{}
	shown.Verdict = nil
	data, _ := json.Marshal(shown) // texts, numbers and bytes can always be written
	return question{user, Digest(data)}
}

// askersOf returns the askers of a request, the trust root first. They prevent that one
// owner on a shared host uses up the prompts of the others, or gets more prompts by using
// more trust roots.
func askersOf(user string, r *ConsentRequest) []asker {
	host, _ := hostOf(r.Origin)
	site := siteOf(host)
	if ip, _ := netip.ParseAddr(strings.Trim(host, "[]")); ip.Is6() { // one server has a whole network of them
		network, _ := ip.Prefix(64)
		site = network.String()
	}
	_, root, _ := strings.Cut(r.TrustRoot, "://")
	_, path, _ := strings.Cut(root, "/")
	path = strings.Trim(path, "/")
	owner, _, _ := strings.Cut(path, "/")
	return []asker{{user, site + "/" + path, 1}, {user, site + "/" + owner, 2}, {user, site, 4}}
}

// admit returns an error if a request may not be shown now, and counts it if it
// may and counts is set.
func (a *asking) admit(r *ConsentRequest, q question, limits AskLimits, now time.Time, counts bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	no := a.refused[q]
	if left := no.until.Sub(now); left > 0 && left <= limits.Refusal {
		return consentError(CodeConsentRefused, fmt.Sprintf("the user refused the same request; it is asked again after %s%s",
			no.until.UTC().Format(time.TimeOnly+" UTC"), no.reason), nil)
	}
	if limits.Prompts < 0 {
		return nil
	}
	askers := askersOf(q.user, r)
	for _, by := range askers {
		cost := 0
		recent := slices.DeleteFunc(a.asked[by], func(p *prompt) bool { return p.olderThan(limits.Interval, now) })
		for _, p := range recent {
			cost += p.cost
		}
		if len(recent) > 0 {
			a.asked[by] = recent
		} else {
			delete(a.asked, by)
		}
		if cost > (limits.Prompts*by.share-1)*costInVain {
			who := quote(by.name, 260)
			if r.Origin == RecipientAgent { // which has no site
				who = "the agent"
			}
			return consentError(CodeConsentTooOften, fmt.Sprintf("%s has asked %d times within %s", who, len(recent), limits.Interval), nil)
		}
	}
	if !counts {
		return nil
	}
	shown := &prompt{now, costInVain, q}
	for _, by := range askers {
		a.asked = room(a.asked, func(ps []*prompt) bool { return ps[len(ps)-1].olderThan(limits.Interval, now) })
		a.asked[by] = append(a.asked[by], shown)
	}
	return nil
}

// approve makes the last showing of a request cheap, if it was the only one.
func (a *asking) approve(r *ConsentRequest, q question) {
	a.mu.Lock()
	defer a.mu.Unlock()
	same := slices.DeleteFunc(slices.Clone(a.asked[askersOf(q.user, r)[0]]), func(p *prompt) bool { return p.what != q })
	if len(same) == 1 {
		same[0].cost = costApproved
	}
}

// refuse records a "no".
func (a *asking) refuse(q question, reason string, limits AskLimits, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused = room(a.refused, func(no refusedQuestion) bool { return !now.Before(no.until) })
	a.refused[q] = refusedQuestion{now.Add(limits.Refusal), reason}
}

// room returns a map with room for one more entry. It removes old entries from a full
// map, or any entries if none is old.
func room[K comparable, V any](m map[K]V, old func(V) bool) map[K]V {
	if m == nil {
		return make(map[K]V)
	}
	if len(m) < maxRemembered {
		return m
	}
	for k, v := range m {
		if old(v) {
			delete(m, k)
		}
	}
	for k := range m {
		if len(m) < maxRemembered {
			break
		}
		delete(m, k)
	}
	return m
}

// PromptConsent asks the user through the Host's [ConsentPrompter] and returns the
// decision about this request. It returns an [ErrConsentPending] if the user has not
// decided yet, and an [*Error] if no one can be asked, the prompter fails or decides
// about another request, or the context ends.
//
// A user has one dialogue at a time: the next request waits until its context ends.
// [Host.Asking] limits how often a user is asked.
func (h *Host) PromptConsent(ctx context.Context, req *ConsentRequest) (ConsentDecision, error) {
	if req == nil {
		return ConsentDecision{}, consentError(CodeUsage, "there is no request", nil)
	}
	return h.promptConsent(ctx, req.clone())
}

// promptConsent is PromptConsent for a request that does not change.
func (h *Host) promptConsent(ctx context.Context, req *ConsentRequest) (decision ConsentDecision, err error) {
	ctx = h.enter(ctx)
	start := h.Time()
	defer func() {
		h.Report(ctx, Event{Kind: EventConsent, Code: CodeOf(err), Subject: req.ID, Shown: req.Digest, Duration: h.Time().Sub(start), Err: err})
	}()
	now, clock := h.clock()
	unusable := h.usable()
	switch {
	case unusable != nil:
		return ConsentDecision{}, consentError(CodeOf(unusable), "no one can be asked", unusable)
	case h.Prompter == nil:
		return ConsentDecision{}, consentError(CodeConsentNoPrompter, "no prompter is configured, so the user cannot be asked", nil)
	case !req.Kind.known():
		return ConsentDecision{}, consentError(CodeConsentUnknown,
			"the kind of the request, "+quote(string(req.Kind), 40)+", is unknown", nil)
	case ctx.Err() != nil:
		return ConsentDecision{}, callerLeft(ctx)
	case clock != nil:
		return ConsentDecision{}, clockFailed(clock)
	case ctx.Value(dialogueKey{}) == h:
		return ConsentDecision{}, consentError(CodeConsentFailed, "a prompter asks for consent while it asks for consent", nil)
	}
	q, limits := questionOf(userOf(ctx), req), h.Asking.withDefaults()
	if err := h.asking.admit(req, q, limits, now, false); err != nil {
		return ConsentDecision{}, err
	}
	leave, err := h.asking.dialogues.Wait(ctx, q.user)
	if err != nil {
		return ConsentDecision{}, callerLeft(ctx)
	}
	err = plugin.PromptCheck(ctx) // an earlier answer may have decided this request
	if err == nil {
		err = h.asking.admit(req, q, limits, h.Time(), true)
	}
	if err != nil {
		leave()
		return ConsentDecision{}, err
	}
	decision, err = h.prompt(ctx, req, q, limits.Dialogue, leave)
	switch {
	case errors.Is(err, ErrConsentPending):
		return ConsentDecision{}, err
	case ctx.Err() != nil:
		return ConsentDecision{}, callerLeft(ctx)
	case err != nil:
		return ConsentDecision{}, consentError(CodeConsentFailed, "asking the user failed", err)
	case decision.Digest != req.Digest:
		return ConsentDecision{}, consentError(CodeConsentMismatch, "the decision is about another request", nil)
	}
	return decision, nil
}

// remember records what a user decided about a request, for the limits. A decision about
// another request changes nothing.
func (h *Host) remember(r *ConsentRequest, q question, d ConsentDecision) {
	now := h.Time()
	switch _, err := r.check(d, now); CodeOf(err) {
	case CodeOK:
		h.asking.approve(r, q)
	case CodeConsentRefused:
		h.asking.refuse(q, d.reason(), h.Asking.withDefaults(), now)
	}
}

func callerLeft(ctx context.Context) error {
	return consentError(CodeOf(ctx.Err()), "the caller stopped waiting before the user decided", ctx.Err())
}

// clockFailed returns the error for a plan that may have expired.
func clockFailed(err error) error {
	return consentError(CodePlanExpired, "without a clock every plan counts as expired", err)
}

type dialogueKey struct{}

// prompt runs the prompter on another goroutine, so that prompt returns when ctx ends even
// if the prompter ignores ctx. The prompter gets a copy of the request. The next dialogue
// may open when this one is closed and its answer is recorded, or when it has been open for
// the duration long. An answer that comes after ctx ended is recorded too.
func (h *Host) prompt(ctx context.Context, req *ConsentRequest, q question, long time.Duration, leave func()) (ConsentDecision, error) {
	type outcome struct {
		decision ConsentDecision
		err      error
	}
	done := make(chan outcome, 1)
	shown := req.clone()
	if long > 0 {
		timer := time.AfterFunc(long, leave)
		defer timer.Stop()
	}
	go func() {
		o := outcome{err: partPrompter.failed("it ended its goroutine")}
		defer func() {
			leave()
			done <- o
		}()
		o.decision, o.err = h.callPrompter(ctx, shown)
		if o.err == nil {
			h.remember(req, q, o.decision)
		}
	}()
	select {
	case o := <-done:
		return o.decision, o.err
	case <-ctx.Done():
		leave()
		return ConsentDecision{}, ctx.Err()
	}
}

// callPrompter calls the prompter. A panic is an error.
func (h *Host) callPrompter(ctx context.Context, req *ConsentRequest) (d ConsentDecision, err error) {
	defer partPrompter.guard(&err)
	return h.Prompter.PromptConsent(context.WithValue(ctx, dialogueKey{}, h), req)
}

// Ask asks the user to approve a plan. It returns a [*PendingError] with the plan's state
// if the user has not decided yet, and an [*Error] if the user refused or could not be asked.
func (h *Host) Ask(ctx context.Context, p *Plan) (*Approval, error) {
	if p == nil {
		return nil, errNoPlan
	}
	decision, err := h.promptConsent(ctx, &p.request)
	if errors.Is(err, ErrConsentPending) {
		state, err := p.State()
		if err != nil {
			return nil, err
		}
		return nil, &PendingError{Request: p.Request(), State: state}
	}
	if err != nil {
		return nil, err
	}
	a, err := p.Approve(decision, h.Time())
	if CodeOf(err) == CodeConsentRefused {
		_ = h.recorded(h.enter(ctx), p, nil, PlanRefused, nil)
	}
	return a, err
}

// Decide is [Plan.Approve] with the Host's clock, for a plan that was suspended and parsed
// again. Like Ask, it records a "no", so that an identical request is not shown again
// immediately. A "no" also spends the plan: its record in [Host].Plans becomes
// [PlanRefused], and no process commits it later. If the plan was committed before, Decide
// returns an [*AlreadyDoneError] for a "no", because the "no" came too late.
func (h *Host) Decide(ctx context.Context, p *Plan, d ConsentDecision) (*Approval, error) {
	if h == nil {
		return nil, errNoHost
	}
	if p == nil {
		return nil, errNoPlan
	}
	if _, err := h.clock(); err != nil {
		return nil, clockFailed(err)
	}
	h.remember(&p.request, questionOf(userOf(ctx), &p.request), d)
	a, err := p.Approve(d, h.Time())
	if CodeOf(err) != CodeConsentRefused {
		return a, err
	}
	if late := h.refuse(context.WithoutCancel(ctx), p); late != nil {
		return nil, late
	}
	return nil, err
}

// refuse spends a plan that the user refused. It returns an error if the plan may have had its
// effect before. If the ledger fails, the plan stays as it is, and the failure is reported.
func (h *Host) refuse(ctx context.Context, p *Plan) error {
	ctx = h.enter(ctx)
	record, err := h.claim(ctx, p, rand.Text(), PlanClaimed)
	if err == nil {
		h.conclude(ctx, p, nil, record, PlanRefused, nil)
		return nil
	}
	if !errors.Is(err, ErrAlreadyDone) {
		h.Report(ctx, Event{Kind: EventFinding, Code: CodeOf(err), Subject: p.ID(), Err: err})
		return nil
	}
	if record.State == PlanRefused {
		return nil
	}
	return notCommitted(p, err)
}
