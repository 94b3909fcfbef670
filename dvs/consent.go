package dvs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/planowner"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// plannedFetch is one URL outside the root.
type plannedFetch struct {
	loadTerms
	URL string `json:"url"`
}

// request begins a consent request in the words that every kind has. The domain and the root are
// fields of their own, which nothing of the skill's can forge (section 5.2).
func (s *Loaded) request(kind lookleap.ConsentKind, summary string) lookleap.ConsentRequest {
	return lookleap.ConsentRequest{Kind: kind, Origin: s.Root.url.Origin(), TrustRoot: s.Root.String(), Verdict: s.Verdict,
		Summary: summary + provenance(s.Chain, s.Source, s.ServingHost())}
}

// provenance says how a skill was reached, who declared its root, and which host served it.
func provenance(chain []string, source RootSource, servingHost string) string {
	var b strings.Builder
	for i, id := range chain {
		word := ", reached through "
		if i > 0 {
			word = ", then "
		}
		b.WriteString(word + plaintext.Quote(id, 200))
	}
	root := source.String()
	if source == DefaultOrigin {
		root = "the default one, the whole site"
	}
	fmt.Fprintf(&b, "; that trust root is %s; the bytes come from %s", root, plaintext.Host(servingHost))
	return b.String()
}

// external fetches one URL outside the root if the user agrees to it. Nothing
// raises its trust, and the root does not move (section 5.1).
func (s *Loaded) external(ctx context.Context, t Target) (*Resource, error) {
	l := s.loader
	refused := l.targetVerdict(t.URL)
	refused.Code, refused.Summary = t.Code, t.Code.Title()
	refused.Checks = []lookleap.Check{about("DVS-5.1-04", failed(t.Code, t.Code.Title(), lookleap.Evidence{URL: t.URL},
		lookleap.Evidence{URL: s.Root.String()}))}
	planned := &plannedFetch{loadTerms: s.loadTerms(), URL: t.URL}
	req := s.request(lookleap.ConsentExternal, fmt.Sprintf("read something that is outside the trust root of the skill %s",
		quoteName(s.ID.String())))
	req.Items = []lookleap.ConsentItem{{ID: "fetch", Recipient: t.place.page.Origin(), Digest: lookleap.Digest([]byte(t.URL)),
		Summary: fmt.Sprintf("read %s from %s, as untrusted data", plaintext.Quote(t.URL, len(t.URL)),
			plaintext.Host(t.place.page.Host()))}}
	plan, err := l.plan(req, &plannedEffect{Type: effectFetch, Fetch: planned})
	if err != nil {
		return nil, err
	}
	approval, err := l.approve(ctx, plan, consentKey{effectFetch, planned.Skill, planned.Root + "\n" + planned.URL})
	if err != nil {
		if _, pending := err.(*lookleap.PendingError); pending {
			return nil, err
		}
		return nil, l.refuse(ctx, refused, err)
	}
	return l.commitFetch(ctx, approval, planned)
}

func (l *Loader) commitFetch(ctx context.Context, approval *lookleap.Approval, planned *plannedFetch) (r *Resource, err error) {
	u, err := l.roots.Rules().urls().Parse(planned.URL)
	if err != nil {
		return nil, badURL(planned.URL, err)
	}
	t := Target{URL: planned.URL, Kind: KindOf(strings.TrimPrefix(unescape(u.Path()), "/"), nil),
		place: place{page: u, served: u, file: true}}
	_, err = l.host.Commit(ctx, approval, func(ctx context.Context, _ []byte) ([]byte, error) {
		if err := l.checkTerms(ctx, planned.loadTerms); err != nil {
			return nil, lookleap.NothingSent(err)
		}
		if refused := l.refusalAt(u, planned.URL); refused != nil {
			return nil, lookleap.NothingSent(l.refuseTarget(ctx, planned.URL, refused))
		}
		r, err = l.fetchResource(ctx, planned.Skill, TrustRoot{}, "", Claim{RequireSecure: l.options.RequireSecure}, t)
		return nil, err
	})
	return r, err
}

// agreeTo asks the user for what a skill does. A refusal has the verdict of the skill.
func (s *Loaded) agreeTo(ctx context.Context, req lookleap.ConsentRequest, effect *plannedEffect,
	key consentKey) (*lookleap.Approval, error) {
	plan, err := s.loader.plan(req, effect)
	if err != nil {
		return nil, s.loader.refuseConsent(ctx, s.Verdict, err)
	}
	approval, err := s.loader.approve(ctx, plan, key)
	if err != nil {
		return nil, s.loader.refuseConsent(ctx, s.Verdict, err)
	}
	return approval, nil
}

// approve asks for a plan unless the user agreed to an identical one for a period (DVS-5.2-06 to
// DVS-5.2-09).
func (l *Loader) approve(ctx context.Context, plan *lookleap.Plan, key consentKey) (*lookleap.Approval, error) {
	if l.remembered(key) {
		req := plan.Request()
		again := lookleap.ConsentDecision{Digest: req.Digest}
		for _, item := range req.Items {
			again.Approved = append(again.Approved, item.ID)
		}
		return plan.Approve(again, l.host.Time())
	}
	approval, err := l.host.Ask(planowner.Context(ctx, l.options.User), plan)
	if err != nil {
		return nil, err
	}
	l.rememberUntil(key, approval.Until())
	return approval, nil
}

// consentKey is what the user agreed to: everything that was shown.
type consentKey struct {
	effect string // what may be done, such as effectFetch
	skill  string // identity of the skill
	shown  string // the rest, or its digest
}

func (k consentKey) digest() Digest {
	return DigestOf([]byte(k.effect + "\n" + k.skill + "\n" + k.shown))
}

// consent says how long the user's agreement lasts.
type consent struct {
	until   time.Time
	skill   Digest // of the identity
	forFile bool   // bound to the bytes of the SKILL.md, so a changed skill does not end it
}

// maxConsents bounds what is remembered; the user is asked again for what is forgotten.
const maxConsents = 4096

// remembered reports whether the user agreed to exactly this before.
func (l *Loader) remembered(key consentKey) bool {
	now := l.clock.Now() // a clock that is set back ends all consents
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Before(l.consents[key.digest()].until)
}

// rememberUntil keeps what the user agreed to for a while, at most a day.
func (l *Loader) rememberUntil(key consentKey, until time.Time) {
	now := l.clock.Now()
	if most := now.Add(l.limits.Kept); until.After(most) {
		until = most
	}
	if !until.After(now) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.consents) >= maxConsents {
		clear(l.consents)
	}
	l.consents[key.digest()] = consent{until: until, skill: DigestOf([]byte(key.skill)), forFile: key.effect == effectSkill}
}

func (l *Loader) forgetConsents() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.consents)
}

// forgetSkill ends the consents for what a skill does.
func (l *Loader) forgetSkill(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	skill := DigestOf([]byte(id))
	maps.DeleteFunc(l.consents, func(_ Digest, c consent) bool { return c.skill == skill && !c.forFile })
}

// Resumed is the result of a suspended operation. Only the field of its kind is set.
type Resumed struct {
	Registration *Registration
	Loaded       *Loaded
	Resource     *Resource
	Script       *ApprovedScript
	Confirmed    bool // an action may be done, once; or changed files may be used: load them again
}

// Resume continues an operation that returned a [*lookleap.PendingError], in this or another
// process, after the user has decided. It does not load the skill again, but it checks the trust
// by the registry and options of this loader: it returns an error if the root was unregistered,
// blocked or revoked, or if this loader is stricter than the one that made the plan.
func (l *Loader) Resume(ctx context.Context, state json.RawMessage, decision lookleap.ConsentDecision) (*Resumed, error) {
	if err := l.ready(); err != nil {
		return nil, err
	}
	if err := l.refreshTrust(ctx); err != nil {
		return nil, err
	}
	plan, err := lookleap.ParsePlan(state)
	if err != nil {
		return nil, err
	}
	effect, err := decodeEffect(plan.Effect())
	if err != nil {
		return nil, err
	}
	err = planowner.Check(effect.User, l.options.User, "resume it with a loader that has the user's id in Options.User")
	if err != nil {
		return nil, err
	}
	approval, err := l.host.Decide(planowner.Context(ctx, l.options.User), plan, decision)
	if err != nil {
		l.keepResumedRefusal(ctx, effect, decision, err)
		return nil, err
	}
	r := new(Resumed)
	switch {
	case effect.Type == effectSkill && effect.Skill != nil:
		var got loading
		got, err = l.resumeSkill(ctx, approval, effect.Skill)
		r.Registration, r.Loaded = got.registration, got.loaded
	case effect.Type == effectFetch && effect.Fetch != nil:
		r.Resource, err = l.commitFetch(ctx, approval, effect.Fetch)
	case effect.Type == effectScript && effect.Script != nil:
		r.Script, err = l.resumeScript(ctx, approval, effect.Script)
	case effect.Type == effectFiles && effect.Files != nil:
		r.Confirmed, err = true, l.commitFiles(ctx, approval, effect.Files)
	case effect.Type == effectAction && effect.Action != nil:
		r.Confirmed, err = true, l.commitAction(ctx, approval, effect.Action)
	default:
		err = &lookleap.Error{Code: lookleap.CodePlanInvalid, Message: "the plan is not one of this package",
			Fix: "resume it with the package that made it", Err: lookleap.ErrPlanInvalid}
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// keepResumedRefusal stores the refusal of a suspended question about a skill.
func (l *Loader) keepResumedRefusal(ctx context.Context, effect *plannedEffect, d lookleap.ConsentDecision, err error) {
	if p := effect.Files; p != nil {
		l.keepRefusal(ctx, d, err, p.Skill, p.Bundle)
	}
	if p := effect.Skill; p != nil {
		if u, parseErr := ParseArtifactURL(p.Claim.URL, p.Claim.Artifact, l.roots.Rules()); parseErr == nil {
			l.keepRefusal(ctx, d, err, u.String(), p.Document.digest())
		}
	}
}

// plannedEffect is the effect of a plan: exactly one of its members is set.
type plannedEffect struct {
	Type   string         `json:"type"`
	User   string         `json:"user,omitempty"` // mark of the user who may resume the plan
	Skill  *plannedSkill  `json:"skill,omitempty"`
	Fetch  *plannedFetch  `json:"fetch,omitempty"`
	Script *plannedScript `json:"script,omitempty"`
	Action *plannedAction `json:"action,omitempty"`
	Files  *plannedFiles  `json:"files,omitempty"`
}

const (
	effectSkill  = "dvs/skill"
	effectFetch  = "dvs/fetch"
	effectScript = "dvs/script"
	effectAction = "dvs/action"
	effectFiles  = "dvs/files"
)

// contents lists the files, in the order in which they stand.
func (e *plannedEffect) contents() []*content {
	switch {
	case e.Skill != nil && e.Skill.Document != nil:
		return e.Skill.Document.contents()
	case e.Script != nil:
		all := []*content{&e.Script.Script.content}
		for i := range e.Script.Files {
			all = append(all, &e.Script.Files[i].content)
		}
		return all
	}
	return nil
}

func (l *Loader) plan(req lookleap.ConsentRequest, e *plannedEffect) (*lookleap.Plan, error) {
	e.User = planowner.Mark(l.options.User)
	data, err := encodeContents(e)
	if err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeInternal, Message: "the plan could not be written", Err: err}
	}
	return lookleap.NewPlan(req, data, l.host.Time())
}

func decodeEffect(data []byte) (*plannedEffect, error) {
	e := new(plannedEffect)
	if err := decodeContents(data, e); err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodePlanInvalid, Message: "the plan cannot be read",
			Err: coded.Classify(lookleap.ErrPlanInvalid, err)}
	}
	return e, nil
}

// content is a file in a plan or a cache.
type content struct {
	Bytes []byte `json:"-"`
	Size  int    `json:"size"`
}

// fileContainer is a JSON value with files. It is written as one line, and the bytes of its files
// follow. As JSON strings, the files would be a third larger and copied several times.
type fileContainer interface {
	contents() []*content // in the order in which they stand
}

func encodeContents(h fileContainer) ([]byte, error) {
	header, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	size := len(header) + 1
	for _, c := range h.contents() {
		size += len(c.Bytes)
	}
	data := append(append(make([]byte, 0, size), header...), '\n')
	for _, c := range h.contents() {
		data = append(data, c.Bytes...)
	}
	return data, nil
}

var errContents = errors.New("the files are not those that it speaks of")

// decodeContents reads what encodeContents wrote; the files are parts of data.
func decodeContents(data []byte, h fileContainer) error {
	header, rest, _ := bytes.Cut(data, []byte{'\n'})
	if err := strictjson.Decode(header, h); err != nil {
		return err
	}
	for _, c := range h.contents() {
		if c.Size < 0 || c.Size > len(rest) {
			return errContents
		}
		c.Bytes, rest = rest[:c.Size:c.Size], rest[c.Size:]
	}
	if len(rest) > 0 {
		return errContents
	}
	return nil
}
