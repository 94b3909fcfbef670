package dvs

import (
	"context"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// agreement is what the user said about the use of a skill. The zero agreement: nothing yet.
type agreement struct {
	given bool      // the user agreed just now
	file  Digest    // to a file with this digest; zero: before the file was asked for
	only  bool      // to the skill, and not to its derived root
	known bool      // it is from before
	until time.Time // as long it holds in this session
}

// covers reports whether the user agreed to a file just now.
func (a agreement) covers(doc *document) bool { return a.given && doc != nil && a.file == doc.digest() }

// consentToAsk asks the user before the first request, if another origin named the skill: its URL can
// disclose what that one knows.
func (l *Loader) consentToAsk(ctx context.Context, at *located, ok agreement) (agreement, error) {
	if ok != (agreement{}) {
		return ok, nil
	}
	if at.parent != nil {
		at.parent.reportCrossing(ctx, at)
	}
	if !at.namedElsewhere() {
		return ok, nil
	}
	if only, before := l.agreedBefore(at, nil); before {
		return agreement{known: true, only: only}, nil
	}
	verdict := l.judgeOf(at, ok).decide(true)
	if r := at.kept.record; r != nil && !at.Claim.Listed.IsZero() {
		// It is looked at again when the file is there.
		if is, _ := r.standing(at.Claim.Listed, Digest{}, activated, at.now, l.policies.maxTrust); is == approvedSkill {
			return ok, nil
		}
	}
	return l.ask(ctx, at, nil, nil, verdict, nil)
}

// namedElsewhere reports whether an origin named a skill that is not under its roots.
func (at *located) namedElsewhere() bool {
	switch declared := at.Claim.Source.Registered(); {
	case at.parent != nil:
		return at.namesBytes() || !at.parent.Root.Covers(at.skill) && !declared
	default:
		return at.Hint.foreign() && !declared
	}
}

// namesBytes reports whether a skill named the host of another skill's bytes. The root covers the page
// but was not meant for this URL, so the user is asked (DVS-3.1-45 to DVS-3.1-48).
func (at *located) namesBytes() bool {
	u, err := at.rules.urls().Parse(at.Claim.URL)
	return err == nil && len(at.Chain) > 0 && u.Host() == at.skill.ServingHost() && u.Host() != at.skill.Host()
}

// consentToUse asks the user about a file that needs it.
func (l *Loader) consentToUse(ctx context.Context, at *located, doc *document, file *reading, verdict *lookleap.Verdict, ok agreement) (agreement, error) {
	if ok.covers(doc) {
		return ok, nil
	}
	is, known, err := l.consultTrust(at, file)
	if err != nil {
		return ok, l.refuseTrust(ctx, verdict, err)
	}
	var change *Change
	if is == changedSkill {
		c := compareVersions(known.comparable(), file.version(known))
		change = &c
	}
	if ok.given { // before the file was there
		if is == changedSkill {
			return l.ask(ctx, at, doc, file, verdict, change) // the user has not seen the difference yet
		}
		l.rememberUntil(at.key(doc.digest()), ok.until)
		return ok, nil
	}
	if is == approvedSkill && known.SkillOnly && !l.options.Strict && at.Claim.Source == Derived && !ok.only {
		return agreement{known: true, only: true}, nil
	}
	source := at.Claim.Source
	if source.Registered() && at.namesBytes() {
		source = DefaultOrigin
	}
	if !is.asks(source, at.Level) {
		return ok, nil
	}
	switch only, before := l.agreedBefore(at, doc); {
	case before && is != approvedSkill && only:
		return agreement{known: true, only: true}, nil
	case before && is != approvedSkill:
		return ok, nil
	}
	return l.ask(ctx, at, doc, file, verdict, change)
}

// key returns what the consent to use a skill under a root is bound to, with the digest of its file
// or, before that was asked for, the one that an index states.
func (at *located) key(file Digest) consentKey {
	if file.IsZero() {
		file = at.Claim.Listed
	}
	return consentKey{effectSkill, at.skill.String(), at.Claim.Root + "\n" + file.String()}
}

// agreedBefore reports whether the user agreed to use a skill in this session, and whether that
// excluded its derived root.
func (l *Loader) agreedBefore(at *located, doc *document) (only, ok bool) {
	if at.Claim.Source != Derived {
		return false, l.remembered(at.key(doc.digest()))
	}
	narrow := *at
	directory, ok := at.rules.directoryRoot(at.skill, doc.hops())
	narrow.Claim.Root = directory.String()
	ok = ok && l.remembered(narrow.key(doc.digest())) // a strict loader asks for the root as well
	return ok, ok
}

// plannedSkill is a skill about which the user is asked: what is asked for, and what came.
type plannedSkill struct {
	wish
	Document *document `json:"document,omitempty"` // nil: the file was not asked for
}

// ask asks the user about a skill, and does what the user agreed to.
func (l *Loader) ask(ctx context.Context, at *located, doc *document, file *reading, verdict *lookleap.Verdict, change *Change) (agreement, error) {
	if l.trust != nil {
		if err := l.mayAsk(ctx, at.skill.String(), at.kept.others, doc.digest(), verdict); err != nil {
			return agreement{}, err
		}
	}
	req := l.skillRequest(at, file, change)
	req.Verdict = verdict
	plan, err := l.plan(req, &plannedEffect{Type: effectSkill, Skill: &plannedSkill{at.wish, doc}})
	if err != nil {
		return agreement{}, err
	}
	approval, err := l.askUser(ctx, plan, at.skill.String(), doc.digest())
	if err != nil {
		return agreement{}, l.refuseConsent(ctx, verdict, err)
	}
	return l.agree(ctx, approval, at.wish, doc, l.host.Time().Add(l.limits.Kept))
}

// agree spends the user's approval of a skill: it registers the root, if the user trusts that, and
// remembers the consent in this session.
func (l *Loader) agree(ctx context.Context, approval *lookleap.Approval, w wish, doc *document, until time.Time) (ok agreement, err error) {
	_, err = l.host.CommitApproved(ctx, approval, lookleap.Effect{Send: func(ctx context.Context, a *lookleap.Approval) ([]byte, error) {
		at := l.locate(w, doc, agreement{})
		ok = agreement{given: true, file: doc.digest(), until: until}
		switch source := at.Claim.Source; {
		case at.Claim.Revoked, at.Claim.Blocked:
			at.Claim.Source = ByUser // whatever the user said about the root
			return nil, lookleap.NothingSent(l.refuse(ctx, l.judgeOf(&at, ok).decide(true), nil))
		case source.Registered():
		case at.Claim.Root != w.Claim.Root:
			return nil, lookleap.NothingSent(refuse(CodeConsentStale, w.Claim.URL, "the trust root of the skill is no longer the one that the user was shown", "load the skill again"))
		case source != Derived:
		case !a.Has(itemRoot) || l.policies.registrar != RegisterUser:
			ok.only = true
		default:
			if err := l.trustRoot(ctx, at.Claim.Root); err != nil {
				return nil, err
			}
		}
		at = l.locate(w, doc, ok)
		l.rememberUntil(at.key(doc.digest()), until)
		return nil, nil
	}})
	return ok, err
}

func (l *Loader) trustRoot(ctx context.Context, root string) error {
	if _, err := l.roots.Register(root, ByUser); err != nil {
		return err
	}
	if l.trust != nil && l.keepTrustedRoot(ctx, declaredByUser{Root: root}) {
		return l.noteTrustedRoot(ctx, root)
	}
	return nil
}

// resumeSkill continues a suspended question about a skill. The consent is remembered only until the
// time that the user chose.
func (l *Loader) resumeSkill(ctx context.Context, approval *lookleap.Approval, p *plannedSkill) (loading, error) {
	doc := p.Document
	if doc != nil {
		doc.Evidence.Digest = DigestOf(doc.Body.Bytes) // whatever the plan says
	}
	ok, err := l.agree(ctx, approval, p.wish, doc, approval.Until())
	if err != nil {
		return loading{}, err
	}
	return l.proceed(ctx, p.wish, doc, ok, nil)
}

// The items of a request to admit a skill.
const (
	itemSkill = "skill"
	itemRoot  = "root"
)

// skillRequest asks to use a skill, and where its root is derived, whether to trust that root too.
// Without the root, the skill's directory is its root. A strict loader, which accepts only registered
// roots, asks for both. Before the file was asked for, file is nil.
func (l *Loader) skillRequest(at *located, file *reading, change *Change) lookleap.ConsentRequest {
	host, id := at.root.HostingDomain(), at.skill.String()
	item := lookleap.ConsentItem{ID: itemSkill}
	what := "use a skill"
	if file == nil { // the URL in full, since the server receives it
		item.Recipient, item.Digest = host, lookleap.Digest([]byte(id))
		item.Summary = "ask for " + plaintext.Quote(id, len(id)+1) + ", and use its instructions, which were not read yet"
		if at.Hint.foreign() {
			item.Summary += "; " + plaintext.Quote(at.Hint.Origin, 300) + " lists it"
			if listed := at.Claim.Listed; !listed.IsZero() {
				item.Summary += " with the digest " + listed.String()
			}
		}
	} else {
		item.Recipient, item.Digest = lookleap.RecipientAgent, file.evidence.Digest.String()
		item.Summary = "use the instructions of " + plaintext.Quote(id, 400)
		may := file.capable()
		if change != nil {
			what = "use a skill that changed since it was approved"
			may, item.Values = nil, change.values("changed lines of SKILL.md", file.servingHost(at.skill))
		}
		item.Values = append(item.Values, may.values("may ")...)
		if len(may) > 0 || change.capable() {
			item.Summary += "; " + capabilitySentence
		}
		item.Remote = []lookleap.RemoteText{{Source: host, Label: "name", Text: file.skill.Name},
			{Source: host, Label: "description", Text: file.skill.Description}}
	}
	if at.Hint.foreign() { // who named a skill of another origin
		what = "use a skill of " + plaintext.Quote(at.skill.page.Origin(), 300) + " that " + plaintext.Quote(at.Hint.Origin, 300) + " lists"
	}
	req := lookleap.ConsentRequest{Kind: lookleap.ConsentSkill, Origin: at.root.url.Origin(), TrustRoot: at.root.String(),
		Summary: what + provenance(at.Chain, at.Claim.Source, file.servingHost(at.skill)), Items: []lookleap.ConsentItem{item}}
	if at.Claim.Source == Derived && l.policies.registrar == RegisterUser {
		var hops []string
		if file != nil {
			hops = file.evidence.Hops
		}
		_, optional := at.rules.directoryRoot(at.skill, hops)
		root := lookleap.ConsentItem{ID: itemRoot, Class: lookleap.ItemTrust, Recipient: lookleap.RecipientAgent,
			Digest:   lookleap.Digest([]byte(at.Claim.Root)),
			Summary:  "trust every skill under " + plaintext.Quote(at.Claim.Root, 400) + " from now on",
			Optional: optional && !l.options.Strict}
		if root.Optional {
			root.Summary += "; without this, only this skill and the files in its directory are used"
		}
		req.Kind, req.Items = lookleap.ConsentTrustRoot, append(req.Items, root)
	}
	return req
}
