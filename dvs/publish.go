package dvs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/roundtrip"
)

// IndexShape is one of the forms of an index that are in use.
type IndexShape uint8

const (
	// IndexFiles: that of discovery v0.1, an object with the array skills of name, description,
	// files. Existing clients and this package read it.
	IndexFiles IndexShape = iota
	// IndexArray: the form of this draft, at the same URL: an array of name, description, path.
	IndexArray
	// IndexDigests: that of discovery v0.2, at another URL: a skill of one file as skill-md, and a
	// skill of several files as an archive, each with its digest.
	IndexDigests
)

// Published is a skill that its owner publishes: its metadata and its files.
type Published struct {
	Name        string
	Description string
	Files       map[string][]byte // by path below its directory
}

// isLeftover reports whether a file was put into the directory by a program and does not belong to the
// skill.
func isLeftover(file string) bool {
	for segment := range strings.SplitSeq(file, "/") {
		switch strings.ToLower(segment) {
		case ".ds_store", "thumbs.db", "ehthumbs.db", "desktop.ini", "__macosx", ".svn", ".spotlight-v100", ".trashes", ".fseventsd", ".directory":
			return true
		}
		if strings.HasPrefix(segment, "._") {
			return true
		}
	}
	base := path.Base(file)
	return strings.HasSuffix(base, "~") || strings.HasPrefix(base, ".") && strings.HasSuffix(base, ".swp")
}

// NewPublished returns the skill of a directory's files. Files of file managers, editors and version
// control are left out, which [Lint] reports. It returns an error for what agents would
// refuse: an invalid SKILL.md, or unsafe file names.
func NewPublished(files map[string][]byte, limits Limits) (*Published, error) {
	if err := checkFiles(files, limits); err != nil {
		return nil, err
	}
	content, ok := files[EntryFile]
	if !ok {
		return nil, refuse(CodeMissingSkillMD, EntryFile, "the directory has no SKILL.md", "add one")
	}
	skill, _, err := ParseSkill(content, DVS, limits)
	if err != nil {
		return nil, err
	}
	p := &Published{Name: skill.Name, Description: skill.Description, Files: maps.Clone(files)}
	maps.DeleteFunc(p.Files, func(file string, _ []byte) bool { return isLeftover(file) })
	return p, nil
}

// Lock returns the lockfile of an agent that loads the skill from this URL under this root, with
// all its files. It is for publishers and reviewers: nothing is fetched or verified.
func (p *Published) Lock(skill SkillURL, root TrustRoot, limits Limits) (*Lockfile, error) {
	id := skill.String()
	if !root.Covers(skill) {
		return nil, refuse(CodeOutsideTrustRoot, id, "the skill does not lie under the trust root", "")
	}
	said := Bundle{ID: id, Root: root.String(), Artifact: skill.untold(), Files: p.Files, Verdict: &lookleap.Verdict{Subject: id, OK: true}} // leaves only digests
	v := NewVerifiedFS([]Bundle{said}, VerifiedFSOptions{Limits: limits})
	if err := v.reports[0].Err; err != nil {
		return nil, err
	}
	return v.Lock(), nil
}

// WellKnownSkillURL returns the recommended URL of a skill at an origin (section 3.2).
func WellKnownSkillURL(origin, name string) (string, error) {
	if !isName(name) {
		return "", refuse(lookleap.CodeBadName, name, "the name is not valid in a URL path",
			"use lower-case letters a to z, digits and hyphens only")
	}
	u, err := domain.Parse(origin)
	if err != nil {
		return "", badURL(origin, err)
	}
	if u.Path() != "/" || u.HasQuery() {
		return "", refuse(CodeNoOriginDiscovery, origin, "well-known paths belong to a whole origin", "leave out path and query")
	}
	return u.Origin() + SkillsPrefix + name + "/" + EntryFile, nil
}

// indexEntry is an entry of any shape; the members that apply are set.
type indexEntry struct {
	Name        string   `json:"name"`
	Type        string   `json:"type,omitempty"`
	Description string   `json:"description"`
	Path        string   `json:"path,omitempty"`
	Files       []string `json:"files,omitempty"`
	URL         string   `json:"url,omitempty"`
	Digest      *Digest  `json:"digest,omitempty"`
}

// WriteIndex writes the index of skills that are published below [SkillsPrefix], or for
// IndexDigests below [AgentSkillsPrefix], sorted by name. An archive is at the URL, and has the
// bytes, that [Published.Artifact] returns. Two skills with the same name are an error, since
// they would have the same URL.
func WriteIndex(w io.Writer, shape IndexShape, skills []*Published) error {
	sorted := slices.Clone(skills)
	slices.SortFunc(sorted, func(a, b *Published) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	entries := make([]indexEntry, 0, len(sorted))
	for i, s := range sorted {
		if i > 0 && sorted[i-1].Name == s.Name {
			return refuse(CodeNameClash, s.Name, "two skills have one name, and so one URL", "rename one of them")
		}
		e, err := s.entry(shape)
		if err != nil {
			return err
		}
		entries = append(entries, e)
	}
	var index any = entries
	switch shape {
	case IndexFiles:
		index = map[string]any{"skills": entries}
	case IndexDigests:
		index = struct {
			Schema string       `json:"$schema"`
			Skills []indexEntry `json:"skills"`
		}{IndexSchema, entries}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(index)
}

// Artifact returns what discovery v0.2 publishes for the skill below [AgentSkillsPrefix]: its path
// there, such as refund/SKILL.md for a skill of one file, or refund.tar.gz for a skill of several,
// and the bytes. It is a .zip if a .tar.gz does not hold the names of all files.
func (p *Published) Artifact() (path string, content []byte, err error) {
	if p == nil {
		return "", nil, usageError("there is no skill", "make it with NewPublished")
	}
	if len(p.Files) == 1 {
		return p.Name + "/" + EntryFile, p.Files[EntryFile], nil
	}
	format := TarGzip
	for name := range p.Files {
		if !fitsTar(name) {
			format = Zip
		}
	}
	var b bytes.Buffer
	if err := WriteArchive(&b, format, p.Files); err != nil {
		return "", nil, err
	}
	return p.Name + format.Extension(), b.Bytes(), nil
}

func (p *Published) entry(shape IndexShape) (indexEntry, error) {
	e := indexEntry{Name: p.Name, Description: p.Description}
	switch shape {
	case IndexFiles:
		e.Files = []string{EntryFile}
		for _, file := range slices.Sorted(maps.Keys(p.Files)) {
			if file != EntryFile {
				e.Files = append(e.Files, file)
			}
		}
	case IndexDigests:
		at, content, err := p.Artifact()
		if err != nil {
			return indexEntry{}, err
		}
		digest := DigestOf(content)
		e.Type, e.URL, e.Digest = SingleFile.String(), AgentSkillsPrefix+at, &digest
		if len(p.Files) > 1 {
			e.Type = SkillArchive.String()
		}
	default:
		e.Path = SkillsPrefix + p.Name + "/"
	}
	return e, nil
}

// WriteSitemap writes a sitemap with the URLs of an origin's skills.
func WriteSitemap(w io.Writer, origin string, skills []*Published) error {
	b := bytes.NewBufferString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for _, s := range skills {
		url, err := WellKnownSkillURL(origin, s.Name)
		if err != nil {
			return err
		}
		b.WriteString("  <url><loc>")
		b.WriteString(html.EscapeString(url))
		b.WriteString("</loc></url>\n")
	}
	b.WriteString("</urlset>\n")
	_, err := w.Write(b.Bytes())
	return err
}

// LintOptions configure [Lint].
type LintOptions struct {
	Profile   Profile // DVS, or AgentSkills for the public format too; Lenient accepts what agents may refuse
	Limits    Limits
	Directory string // name of the directory, "" if it is not known
	URL       string // where its SKILL.md will be published, "" if that is not known
	Root      string // trust root there; "": the origin of URL
}

// Lint checks a skill directory for its publisher: the SKILL.md, the names of all files, and where
// the references lead (sections 3.1, 3.2, 4.1, 4.5 and 5.1). Agents refuse a skill with a finding
// of [lookleap.SeverityError]. The path of a finding is that of the file.
func Lint(directory fs.FS, options LintOptions) []lookleap.Finding {
	files, err := ReadSkillDir(directory, options.Limits)
	if err == nil {
		return lintFiles(files, options)
	}
	l := &linter{options: options}
	l.place()
	var e *lookleap.Error
	if errors.As(err, &e) && e.Code != lookleap.CodeIO {
		l.file(lookleap.SeverityError, e.Code, "DVS-4.1-01", e.Subject, e.Message, e.Fix)
	} else {
		l.file(lookleap.SeverityError, lookleap.CodeIO, "DVS-4.1-01", ".", err.Error(), "make the directory readable")
	}
	return l.findings
}

func lintFiles(files map[string][]byte, options LintOptions) []lookleap.Finding {
	l := &linter{options: options}
	l.place()
	l.files(files)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if isLeftover(file) {
			l.file(lookleap.SeverityWarning, codeNotPublished, "DVS-4.1-03", file, codeNotPublished.Title(), "delete it")
		}
	}
	content, ok := files[EntryFile]
	if !ok {
		return l.findings
	}
	l.text = content
	before := len(l.findings)
	skill, findings, _ := parseSkill(options.Directory, content, Digest{}, options.Profile, options.Limits)
	l.findings = append(l.findings, findings...)
	if skill != nil && options.Directory != "" {
		l.nameAndDirectory(&skill.Metadata, options.Directory, options.Profile)
	}
	for i := range l.findings[before:] {
		l.findings[before+i].Path = EntryFile
	}
	if skill != nil {
		l.references(skill, files)
	}
	return l.findings
}

type linter struct {
	report
	options LintOptions
	base    domain.URL // zero: not known
	root    domain.URL
}

// file adds a finding about a file or URL as a whole.
func (l *linter) file(severity lookleap.Severity, code lookleap.Code, requirement, at, message, fix string) {
	l.findings = append(l.findings, lookleap.Finding{Severity: severity, Code: code, Requirement: requirement, Message: message, Fix: fix,
		Position: lookleap.Position{Path: at}})
}

func (l *linter) place() {
	if l.options.URL == "" {
		return
	}
	fail := func(at string, err error) {
		e := badURL(at, err)
		l.file(lookleap.SeverityError, e.Code, "DVS-3.1-01", at, e.Message, e.Fix)
	}
	base, err := domain.Parse(l.options.URL)
	if err != nil {
		fail(l.options.URL, err)
		return
	}
	root, err := domain.Parse(base.Origin() + "/")
	if l.options.Root != "" {
		root, err = domain.Parse(l.options.Root)
	}
	if err != nil {
		fail(l.options.Root, err)
		return
	}
	if path.Base(base.Path()) != EntryFile {
		base, _ = base.Resolve(strings.TrimSuffix(base.Path(), "/") + "/" + EntryFile)
	}
	l.base, l.root = base, root
	if !base.Under(root) {
		l.file(lookleap.SeverityError, CodeOutsideTrustRoot, "DVS-3.1-49", base.String(),
			"the skill's URL does not lie under its trust root", "publish it below "+root.String())
	}
	if !strings.HasPrefix(base.Path(), SkillsPrefix) {
		l.file(lookleap.SeverityInfo, codeNotWellKnownAt, "DVS-3.2-02", base.String(),
			"the skill is published outside of "+SkillsPrefix, "publish an organisation's official skills there")
	}
}

func (l *linter) files(files map[string][]byte) {
	if _, ok := files[EntryFile]; !ok {
		message, fix := "the directory has no SKILL.md", "add one"
		for name := range files {
			if strings.EqualFold(name, EntryFile) {
				message, fix = fmt.Sprintf("the entry file is named %s", plaintext.Quote(name, 64)),
					"rename it to SKILL.md: the case of letters counts in URLs"
			}
		}
		l.file(lookleap.SeverityError, CodeMissingSkillMD, "DVS-4.1-01", ".", message, fix)
	}
	for name := range files {
		if e := strings.ToLower(path.Ext(name)); e != ".md" && extensions()[e] == markdownFile {
			l.file(lookleap.SeverityInfo, lookleap.CodeMediaType, "DVS-4.5.1-01", name,
				"instructions have another extension than .md", "rename the file")
		}
	}
}

// references judges where the instructions lead.
func (l *linter) references(skill *Skill, files map[string][]byte) {
	base, root, known := l.base, l.root, !l.base.IsZero()
	if !known {
		base, _ = domain.Parse("https://skill.example/skill/" + EntryFile)
		root, _ = domain.Parse("https://skill.example/")
	}
	directory, _ := base.Resolve(strings.TrimSuffix(base.Path(), EntryFile))
	references := skill.References()
	l.findings = slices.Grow(l.findings, len(references)) // most are findings, or there are few
	for _, r := range references {
		add := func(severity lookleap.Severity, code lookleap.Code, requirement, message, fix string) {
			position := r.Position
			position.Path = EntryFile
			l.findings = append(l.findings, lookleap.Finding{Severity: severity, Code: code, Requirement: requirement,
				Fix: fix, Position: position,
				Message: "the reference " + plaintext.Quote(r.Target, 100) + " " + message})
		}
		target, err := base.Resolve(strings.ReplaceAll(r.Target, " ", "%20"))
		if err != nil {
			if !r.Bare {
				add(lookleap.SeverityWarning, badURL(r.Target, err).Code, "DVS-4.4-04", "is not a URL that agents follow",
					"write an https URL or a relative path")
			}
			continue
		}
		name, inside := strings.CutPrefix(target.Path(), directory.Path())
		absolute := strings.Contains(r.Target, "://") || strings.HasPrefix(r.Target, "//")
		content, exists := files[unescape(name)]
		inDirectory, inRoot := target.Under(directory), target.Under(root)
		_, code := accessUnderRoot(KindOf(name, content), inDirectory)
		switch {
		case inRoot && !absolute && code == CodeScriptOutside:
			add(lookleap.SeverityError, code, "DVS-4.5.2-01", "leads to a script outside of the skill's directory", "put the script into the directory")
		case inRoot && !absolute && code == codeDataOutside:
			add(lookleap.SeverityError, code, "DVS-4.5.3-01", "leads to data outside of the skill's directory", "put the file into the directory")
		case !inRoot && absolute:
			add(lookleap.SeverityInfo, codeResourceRoot, "DVS-5.1-03",
				"leads out of the trust root, so agents ask the user first", "bundle the file if the skill needs it")
		case !inRoot:
			add(lookleap.SeverityError, codeResourceRoot, "DVS-5.1-03", "leads out of the trust root", "bundle the file")
		case inDirectory && inside && name != "" && !exists && !absolute:
			add(lookleap.SeverityWarning, CodeNotBundled, "DVS-4.1-04", "names a file that is not there",
				"add the file, or correct the reference")
		}
	}
}

// LintDNS checks the answer of the DNS for the host of a skill: an operator should sign the zone
// (section 5.3).
func LintDNS(answer *lookleap.DNSAnswer) []lookleap.Finding {
	findings := answer.Lint()
	for i := range findings {
		findings[i].Requirement = "DVS-5.3-01"
	}
	return findings
}

// LintResponse checks the URL and the response header with which a server sends a SKILL.md: https,
// the media type of Markdown, and no other character set than UTF-8 (section 4.2).
func LintResponse(url string, header http.Header) []lookleap.Finding {
	header = roundtrip.Canonical(header)
	l := &linter{options: LintOptions{URL: url}}
	l.place()
	bad := func(severity lookleap.Severity, code lookleap.Code, requirement, message string) {
		l.file(severity, code, requirement, url, message, "send Content-Type: "+markdownType)
	}
	mediaType, params, err := fetch.ParseMediaType(header)
	switch charset, given := params["charset"]; {
	case err != nil:
		bad(lookleap.SeverityError, lookleap.CodeMediaType, "DVS-4.2-03", "the response has no valid media type")
	case mediaType != "text/markdown":
		bad(lookleap.SeverityError, lookleap.CodeMediaType, "DVS-4.2-03",
			fmt.Sprintf("the response has the media type %s", plaintext.Quote(mediaType, 64)))
	case given && !strings.EqualFold(charset, "utf-8"):
		bad(lookleap.SeverityError, lookleap.CodeNotUTF8, "DVS-4.2-06", "the response names another character set than UTF-8")
	case !given:
		bad(lookleap.SeverityInfo, lookleap.CodeCharset, "DVS-4.2-03", "the response names no character set, which text/markdown requires")
	}
	if !strings.EqualFold(header.Get("X-Content-Type-Options"), "nosniff") {
		l.file(lookleap.SeverityInfo, lookleap.CodeMediaType, "DVS-4.2-03", url, "browsers may sniff another media type",
			"send X-Content-Type-Options: nosniff")
	}
	return l.findings
}
