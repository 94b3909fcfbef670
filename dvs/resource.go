package dvs

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Access says what a skill may do with a reference without its user. The zero value is Refused.
type Access uint8

const (
	// Refused: the file is never fetched, even if the user would agree.
	Refused Access = iota
	// NeedsConsent: the file is fetched only if the user agrees to exactly this URL.
	NeedsConsent
	// UnderRoot: the file is under the trust root and is fetched without asking.
	UnderRoot
	// Bundled: the file is in the skill's own directory and is fetched without asking.
	Bundled
)

var accessNames = [...]string{"refused", "needs-consent", "under-root", "bundled"}

// String returns refused, needs-consent, under-root or bundled.
func (a Access) String() string { return nameOf(accessNames[:], a) }

// Target is what a reference of a skill leads to.
type Target struct {
	URL    string // canonical, without fragment
	Name   string // path below the skill's directory, unescaped; "" outside
	Kind   Kind   // by its name alone
	Access Access
	Code   lookleap.Code // why it needs consent

	place place
}

// Resolve returns what a reference in the skill's text leads to, and what the skill may do with it
// (sections 4.4, 4.5 and 5.1). It does no I/O.
//
// A script has to be in the skill's own directory. A data file outside of it needs consent.
// Instructions and templates may be anywhere under the trust root. Everything outside the root
// needs consent for that URL. Otherwise the error has the code of the rule, such as bad-scheme,
// not-https, script-outside-skill or untrusted-ref.
func (s *Loaded) Resolve(ref string) (Target, error) {
	if err := s.ready(); err != nil {
		return Target{}, err
	}
	rules := s.loader.roots.Rules()
	if scheme, ok := schemeOf(ref); ok && scheme != "https" {
		if scheme == "http" {
			return Target{}, refuse(lookleap.CodeNotHTTPS, ref, "plain http is not supported", "use https")
		}
		return Target{}, refuse(codeBadScheme, ref, "the scheme is not supported", "use a relative path or https")
	}
	u, err := rules.urls().Resolve(s.base, ref)
	if err != nil {
		return Target{}, badURL(ref, err)
	}
	p, refused := rules.locate(u)
	if refused != nil {
		if u.Under(s.Root.url) || u.Under(s.Root.served) {
			return Target{}, refused // below the owner's path, and not the owner's
		}
		p = place{page: u, served: u, file: true}
	}
	t := Target{URL: p.page.String(), place: p, Kind: KindOf(strings.TrimPrefix(unescape(u.Path()), "/"), nil)}
	if denied := s.loader.refusalAt(u, ref); denied != nil {
		return Target{}, denied
	}
	switch {
	case !s.Root.Covers(SkillURL{place: p}), refused != nil, p.page.Host() != u.Host() && !p.alias:
		t.Access, t.Code = NeedsConsent, CodeOutsideTrustRoot
		if t.Kind == Script && path.Ext(u.Path()) != "" {
			return Target{}, refuse(CodeScriptOutside, ref, "a script has to be in the skill's own directory", "bundle the script")
		}
		t.URL, t.place = u.String(), place{page: u, served: u, file: true}
		return t, nil
	case !p.file:
		return Target{}, refuse(CodeNotContentRoute, ref, "the path does not lead to a file of a repository",
			"refer to a file of the repository")
	case p.commit != "" && !strings.EqualFold(p.commit, s.pinned()):
		return Target{}, refuse(CodeCommitRef, ref, "the revision reads as a commit, which may come from a stranger's fork",
			"refer to a branch or tag")
	}
	name, inside := below(s.directory(), p.page)
	if inside = inside && s.ID.artifact != SingleFile; inside {
		t.Name, t.Kind = name, KindOf(name, nil)
	}
	if t.Access, t.Code = accessUnderRoot(t.Kind, inside); t.Access == Refused {
		return Target{}, refuse(t.Code, ref, "a script has to be in the skill's own directory", "bundle the script")
	}
	return t, nil
}

// accessUnderRoot returns what a skill may do with a file under its trust root, by its kind and by
// whether it is in the skill's own directory (section 4.5), and the code of a refusal.
func accessUnderRoot(kind Kind, inDirectory bool) (Access, lookleap.Code) {
	switch {
	case inDirectory:
		return Bundled, ""
	case kind == Script:
		return Refused, CodeScriptOutside
	case kind == Data:
		return NeedsConsent, codeDataOutside
	}
	return UnderRoot, ""
}

// pinned returns the commit by which the skill was loaded, or "". A known digest
// covers only the SKILL.md.
func (s *Loaded) pinned() string {
	switch {
	case isFullCommit(s.claim.Pin.Commit):
		return s.claim.Pin.Commit
	case s.claim.Tip.Commit != "":
		return s.claim.Tip.Commit
	case !s.claim.Pin.Digest.IsZero():
		return s.ID.Commit()
	}
	return ""
}

func (s *Loaded) directory() string {
	text := s.base.String()
	return text[:strings.LastIndexByte(text, '/')+1]
}

// below returns the unescaped path of u below a directory's URL.
func below(directory string, u domain.URL) (string, bool) {
	name, ok := strings.CutPrefix(u.String(), directory)
	if !ok || name == "" || u.HasQuery() || strings.HasSuffix(name, "/") {
		return "", false
	}
	return unescape(name), true
}

func schemeOf(ref string) (string, bool) {
	scheme, _, ok := strings.Cut(ref, ":")
	if !ok || scheme == "" || strings.ContainsAny(scheme, "/?#") {
		return "", false
	}
	return strings.ToLower(scheme), true
}

// Resource is a file that a skill refers to. It is fetched only on demand (level 3).
type Resource struct {
	Skill    string // identity of the skill that referred to it
	URL      string // canonical
	Name     string // path below the skill's directory; "" outside
	Kind     Kind
	External bool // fetched from outside the root with the user's consent; it stays untrusted
	Digest   Digest
	Verdict  *lookleap.Verdict

	data []byte
	page bool // it was served as HTML
}

// Bytes returns the content. Do not change it. The content of a script is for tools and must
// not be shown to the model.
func (r *Resource) Bytes() []byte {
	if r == nil {
		return nil
	}
	return r.data
}

// ContextText returns the content for the model. It returns an error for a script, since only its
// output may enter the context (section 4.5.2). Every line of external content is marked as
// untrusted data, in which links, skills and commands do not count (section 7).
func (r *Resource) ContextText() (string, error) {
	if r == nil {
		return "", usageError("there is no resource", "fetch it with Loaded.Resource")
	}
	switch {
	case r.Kind == Script:
		return "", refuse(lookleap.CodeNeedsConsent, r.URL, "the source of a script never enters the context", "run it, and use its output")
	case !utf8.Valid(r.data):
		return "", refuse(lookleap.CodeNotUTF8, r.URL, "the file is not UTF-8 text", "pass it to a tool")
	case r.External:
		return "untrusted data from " + plaintext.Quote(r.URL, 400) + ", given by no instruction of the user's:\n" +
			plaintext.Block(string(r.data), len(r.data)+1) + "end of the untrusted data\n", nil
	}
	return string(r.data), nil
}

// Resource fetches a file that the skill refers to (level 3). If the file needs consent, the user
// is asked before it is fetched. A refusal is a [*lookleap.VerifyError] with the code of the rule.
func (s *Loaded) Resource(ctx context.Context, ref string) (*Resource, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	t, err := s.target(ctx, ref)
	if err != nil {
		return nil, err
	}
	if t.Access == NeedsConsent {
		return s.external(ctx, t)
	}
	r, err := s.bundledResource(ctx, t)
	if err == nil && r.Name != "" {
		err = s.checkFiles(ctx, map[string][]byte{r.Name: r.data}, false)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// bundledResource fetches a file that needs no consent.
func (s *Loaded) bundledResource(ctx context.Context, t Target) (*Resource, error) {
	r, err := s.fetchBundled(ctx, t)
	if err == nil {
		err = s.loader.checkTerms(ctx, s.loadTerms()) // trust may have ended while the file came
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// target resolves a reference of a skill that is in use.
func (s *Loaded) target(ctx context.Context, ref string) (Target, error) {
	if err := s.loader.refreshTrust(ctx); err != nil {
		return Target{}, s.loader.refuseTarget(ctx, ref, err)
	}
	if _, err := s.Skill(); err != nil {
		return Target{}, s.loader.refuseTarget(ctx, ref, err)
	}
	t, err := s.Resolve(ref)
	if err != nil {
		return Target{}, s.loader.refuseTarget(ctx, ref, err)
	}
	return t, nil
}

// fetchResource fetches a file under a root or, if the root is zero, exactly the URL that the user
// agreed to.
func (l *Loader) fetchResource(ctx context.Context, skill string, root TrustRoot, directory string, claim Claim, t Target) (*Resource, error) {
	rules := l.roots.Rules()
	doc, err := l.fetch(ctx, fileRequest{url: t.place.served, limit: l.limits.Resource, redirect: func(to domain.URL) error {
		if !root.IsZero() {
			if err := l.checkHop(root, claim, to); lookleap.CodeOf(err) != CodeRedirectOutside {
				return err
			}
		}
		return refuse(lookleap.CodeNeedsConsent, to.String(), "the redirect leads to a URL that the user did not agree to",
			"ask for the target itself")
	}}, nil)
	if err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeOf(err), Subject: domain.Redact(t.URL),
			Message: "the file was not fetched", Err: err}
	}
	r := &Resource{Skill: skill, URL: t.URL, Name: t.Name, External: root.IsZero(), Digest: doc.Evidence.Digest,
		data: doc.Body.Bytes, page: isHTML(doc.Evidence.Type), Kind: KindOf(t.Name, doc.Body.Bytes)}
	if t.Name == "" {
		r.Kind = t.Kind
		if isShebang(doc.Body.Bytes) {
			r.Kind = Script
		}
	}
	v := l.targetVerdict(t.URL)
	for _, step := range []struct {
		requirement string
		outcome     func() lookleap.Check
	}{
		{"DVS-5.3-02", func() lookleap.Check { return (&judge{claim: claim, evidence: doc.Evidence}).dns() }},
		{"DVS-5.1-05", func() lookleap.Check { return resourceExchange(t, doc) }},
		{"DVS-3.1-54", func() lookleap.Check { return (&judge{evidence: doc.Evidence}).status() }},
		{"DVS-4.5.1-01", func() lookleap.Check { return r.media(doc, claim) }},
		{"DVS-4.5.2-01", func() lookleap.Check { return r.location(rules, doc, directory) }},
	} {
		check := about(step.requirement, step.outcome())
		v.Checks = append(v.Checks, check)
		if check.Status == lookleap.Failed {
			v.Code, v.Summary = check.Code, check.Message
			return nil, l.refuse(ctx, v, doc.cause)
		}
	}
	v.OK = true
	v.Expires = doc.Evidence.Fresh
	v.Summary = fmt.Sprintf("the %s was fetched", r.Kind)
	v.Checks = append(v.Checks, about(digestCheck, unneeded("no digest was expected, and this one is recorded",
		lookleap.Evidence{Digest: r.Digest.String()})))
	r.Verdict = v
	return r, nil
}

func resourceExchange(t Target, doc *document) lookleap.Check {
	e := doc.Evidence
	shown := lookleap.Evidence{URL: t.place.served.String(), Status: e.Status, MediaType: e.Type, Address: e.Address,
		TLS: e.TLS, Route: e.Route, Text: e.Detail}
	switch {
	case e.Failure != "":
		return failed(e.Failure, e.Failure.Title(), shown)
	case e.Status == 0:
		return failed(lookleap.CodeUnreachable, "no request was sent", shown)
	}
	return passed(fmt.Sprintf("the server answered after %d redirects", len(e.Hops)), shown)
}

// media checks the media type of instructions as for a SKILL.md. Other files may have any type.
func (r *Resource) media(doc *document, claim Claim) lookleap.Check {
	if r.Kind != Instructions || r.External {
		return passed("the kind of file has no media type of its own", lookleap.Evidence{MediaType: doc.Evidence.Type})
	}
	o := judgeMedia(doc.final.String(), doc.Evidence, claim)
	if o.Status != lookleap.Failed && !utf8.Valid(r.data) {
		return failed(lookleap.CodeNotUTF8, "the instructions are not UTF-8")
	}
	return o
}

// location checks the URL that responded, and the content, against the rules for the kind of file.
func (r *Resource) location(rules Rules, doc *document, directory string) lookleap.Check {
	if r.External {
		if isShebang(r.data) {
			return failed(CodeScriptOutside, "what came is a script, which has to be in the skill's own directory")
		}
		return passed("the user agreed to this URL")
	}
	p, err := rules.locate(doc.final)
	if err != nil {
		return failed(lookleap.CodeOf(err), sentence(err))
	}
	_, inside := below(directory, p.page)
	if access, code := accessUnderRoot(r.Kind, inside); access < UnderRoot {
		return failed(code, fmt.Sprintf("the %s came from outside the skill's directory", r.Kind))
	}
	return passed("the file is where its kind may be")
}

// Kind is the purpose of a bundled file (section 4.5). The zero value, Script, has the strictest
// rules.
type Kind uint8

const (
	// Script can run: only with consent, and only from the skill's own
	// directory. A file of unknown kind is a script.
	Script Kind = iota
	// Data is read on demand.
	Data
	// Template is filled in by the agent.
	Template
	// Instructions are more Markdown for the agent.
	Instructions
)

var kindNames = [...]string{"script", "data", "template", "instructions"}

// String returns script, data, template or instructions.
func (k Kind) String() string { return nameOf(kindNames[:], k) }

// MarshalText returns the result of String.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// KindOf returns the kind of a file by its path below the skill's directory and the first bytes of
// its content, which may be nil.
func KindOf(file string, content []byte) Kind {
	directory, _, _ := strings.Cut(file, "/") // a file without one has no such name and a known extension
	directory = foldName(directory)           // a file system may not tell scripts and Scripts apart
	extension := strings.ToLower(path.Ext(file))
	switch known := extensions()[extension]; {
	case directory == "scripts", directory == "bin", isShebang(content), known == 0:
		return Script
	case known == markdownFile:
		return Instructions
	case directory == "templates":
		return Template
	default:
		return Data
	}
}

// isShebang reports whether a file begins with "#!", also after a byte order mark.
func isShebang(content []byte) bool {
	return bytes.HasPrefix(bytes.TrimPrefix(content, []byte(byteOrderMark)), []byte("#!"))
}

const (
	markdownFile = 1 + iota
	dataFile
)

// extensions are the extensions of files that no system runs.
var extensions = sync.OnceValue(func() map[string]int {
	table := map[string]int{".md": markdownFile, ".markdown": markdownFile, ".mdx": markdownFile}
	for e := range strings.FieldsSeq(`.txt .rst .csv .tsv .json .jsonl .ndjson .json5 .yaml .yml .toml .ini .cfg .conf .properties .xml .xsd .html .htm .css .svg .png .jpg .jpeg
		.gif .webp .avif .bmp .ico .tif .tiff .pdf .docx .xlsx .pptx .odt .ods .odp .mp3 .wav .ogg .mp4 .webm .woff .woff2 .ttf .otf .tmpl .tpl .template .j2 .mustache .hbs
		.parquet .geojson .proto .graphql .bib .tex .po .pot .ics .vcf .log .lock .sum`) {
		table[e] = dataFile
	}
	return table
})
