package install

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/dvs/modelsig"
	"github.com/lookleap/lookleap/internal/filestore"
)

// Source is where skills come from. The zero Source has none.
type Source struct {
	text       string
	kind       sourceKind
	repository dvs.RepositoryURL
	base       string // directory to which that of a local source is relative; "": the working directory
}

type sourceKind uint8

const (
	noSource         sourceKind = iota
	repositorySource            // of a code host
	siteSource                  // an origin that lists its skills
	indexSource                 // one index of an origin
	skillSource                 // a SKILL.md, its directory, or an archive
	localSource                 // a directory
)

// ParseSource reads what people write: owner/repo of GitHub with a path and @revision, the URL of a
// repository, a directory or a SKILL.md on a code host, a site that lists its skills, an index.json, the
// URL of a SKILL.md or archive, and a local directory, which begins with "." or "/" (on Windows also with
// a drive). Every error is a [*lookleap.Error].
func ParseSource(text string) (Source, error) {
	if isLocal(text) {
		text = filepath.ToSlash(filepath.Clean(text))
		if !isLocal(text) {
			text = "./" + text // without it, the lockfile would name a repository
		}
		return Source{text: text, kind: localSource}, nil
	}
	repository, err := dvs.ParseRepositoryURL(text, dvs.Rules{})
	if err == nil {
		return Source{text: text, kind: repositorySource, repository: repository}, nil
	}
	u, bad := url.Parse(text)
	if bad != nil || u.Scheme != "https" || lookleap.CodeOf(err) != dvs.CodeNotContentRoute {
		return Source{}, err
	}
	switch {
	case strings.Trim(u.Path, "/") == "":
		return Source{text: text, kind: siteSource}, nil
	case path.Base(u.Path) == dvs.IndexFile:
		return Source{text: text, kind: indexSource}, nil
	}
	if _, err := dvs.ParseSkillURL(text, dvs.Rules{}); err != nil {
		return Source{}, err
	}
	return Source{text: text, kind: skillSource}, nil
}

// isLocal reports whether a text is the path of a directory and no name of a repository.
func isLocal(text string) bool {
	return text == "." || text == ".." || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") ||
		strings.HasPrefix(text, `.\`) || strings.HasPrefix(text, `..\`) || filepath.IsAbs(text)
}

// Local reports whether the source is a local directory.
func (s Source) Local() bool { return s.kind == localSource }

// path returns the path of a local source.
func (s Source) path() string {
	path := filepath.FromSlash(s.text)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.base, path)
}

// String returns the source as it was named.
func (s Source) String() string { return s.text }

// Found are the skills of a source. Close it.
type Found struct {
	Skills   []Candidate
	Findings []lookleap.Finding // what was left out, and why

	repository *dvs.Repository
}

// Close removes what was kept to load the skills. Skills that were loaded stay.
func (f *Found) Close() error {
	if f == nil {
		return nil
	}
	return f.repository.Close()
}

// Named returns the candidates with a name, or all for "".
func (f *Found) Named(name string) (all []Candidate) {
	if f == nil {
		return nil
	}
	for _, c := range f.Skills {
		if name == "" || strings.EqualFold(c.Name, name) {
			all = append(all, c)
		}
	}
	return all
}

// Candidate is a skill that can be loaded.
type Candidate struct {
	Name, Description string // by the publisher; "" if its SKILL.md was not read yet
	Directory         string // in the repository or local directory; "" elsewhere

	source Source
	loader *dvs.Loader
	list   dvs.Listing
	tip    dvs.Tip
}

// Find returns the skills of a source. Nothing of them was judged yet, but for what the loader refuses
// before it sends a request.
func (s Source) Find(ctx context.Context, loader *dvs.Loader) (*Found, error) {
	switch s.kind {
	case repositorySource:
		r, err := loader.Repository(ctx, s.repository)
		if err != nil {
			return nil, err
		}
		found := &Found{Findings: r.Findings, repository: r}
		for _, entry := range r.Skills {
			found.Skills = append(found.Skills, s.listed(loader, entry, r.Tip))
		}
		return found, nil
	case siteSource, indexSource:
		return s.discover(ctx, loader)
	case skillSource:
		return &Found{Skills: []Candidate{{source: s, loader: loader}}}, nil
	case localSource:
		return s.local(loader)
	}
	return nil, &lookleap.Error{Code: lookleap.CodeUsage, Message: "there is no source", Fix: "make it with ParseSource"}
}

func (s Source) listed(loader *dvs.Loader, entry dvs.Listing, tip dvs.Tip) Candidate {
	return Candidate{Name: entry.Name, Description: entry.Description, Directory: entry.Directory(), source: s, loader: loader, list: entry, tip: tip}
}

// discover reads the lists of an origin, of which an index is one.
func (s Source) discover(ctx context.Context, loader *dvs.Loader) (*Found, error) {
	found := &Found{}
	lists := loader.Discover
	if s.kind == indexSource {
		lists = loader.DiscoverIndex
	}
	for entry, err := range lists(ctx, s.text) {
		var skipped *dvs.Skipped
		switch {
		case errors.As(err, &skipped):
			found.Findings = append(found.Findings, skipped.Finding)
		case err != nil:
			return nil, err
		default:
			found.Skills = append(found.Skills, s.listed(loader, entry, dvs.Tip{}))
		}
	}
	return found, nil
}

// local finds the skills in a directory, which is one itself or has them below it. What cannot be read
// there is a finding.
func (s Source) local(loader *dvs.Loader) (*Found, error) {
	found := &Found{}
	top := s.path()
	leaveOut := func(name string, err error) {
		found.Findings = append(found.Findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeOf(err),
			Message: "a skill is left out: " + err.Error(), Position: lookleap.Position{Path: name}})
	}
	err := fs.WalkDir(os.DirFS(top), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			leaveOut(name, failed("", "the directory cannot be read", err))
			return fs.SkipDir
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || d.Name() != dvs.EntryFile:
			return nil
		}
		var meta *dvs.Metadata
		content, err := readEntry(filepath.Join(top, filepath.FromSlash(name)))
		if err == nil {
			meta, _, err = dvs.ParseMetadata(content, dvs.Lenient, dvs.Limits{})
		}
		if err != nil {
			leaveOut(name, err)
			return nil
		}
		directory := strings.TrimPrefix(path.Dir("/"+name), "/")
		found.Skills = append(found.Skills, Candidate{Name: meta.Name, Description: meta.Description, Directory: directory, source: s, loader: loader})
		return nil
	})
	if err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeIO, Subject: s.text, Message: "the directory cannot be read", Err: err}
	}
	return found, nil
}

// maxEntry bounds a SKILL.md that is listed, in bytes. The rest is not read.
const maxEntry = 1 << 20

func readEntry(path string) ([]byte, error) {
	f, err := filestore.OpenRegular(path)
	if err != nil {
		return nil, failed("", "the file cannot be read", err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxEntry))
	if err != nil {
		return nil, failed("", "the file cannot be read", err)
	}
	return content, nil
}

// Skill is a skill that may be installed: its files as they were published, and what the lockfile says
// of it.
type Skill struct {
	Entry   dvs.LockedSkill // without its folders
	Files   map[string][]byte
	Loaded  *dvs.Loaded // nil: it came from a local directory, for which only the user answers
	Verdict *lookleap.Verdict
	// Signature is the one in the skill's directory; nil: there is none, or it does not hold, which is a
	// finding. Its signer is one that the user knows only if a policy demands it.
	Signature *modelsig.Signature
	// Findings are those of the verdict, and files that the instructions refer to and that are missing.
	Findings []lookleap.Finding
}

// Load judges a skill, asks the user where the loader has to, and fetches its files. A refusal is a
// [*lookleap.VerifyError]; a question that waits is a [*lookleap.PendingError].
func (c Candidate) Load(ctx context.Context) (*Skill, error) {
	if c.source.kind == localSource {
		return c.loadLocal()
	}
	var loaded *dvs.Loaded
	var err error
	if c.source.kind == skillSource {
		loaded, err = c.loader.Load(ctx, c.source.text)
	} else {
		loaded, err = c.loader.LoadListing(ctx, c.list)
	}
	if err != nil {
		return nil, err
	}
	bundle, err := loaded.Bundle(ctx)
	if err != nil {
		return nil, err
	}
	view := dvs.NewVerifiedFS([]dvs.Bundle{bundle}, dvs.VerifiedFSOptions{})
	report := view.Reports()[0]
	if report.Err != nil {
		return nil, report.Err
	}
	entry := view.Lock().Skills[0]
	for i := range entry.Files {
		entry.Files[i].Written = dvs.Digest{} // the files are installed as they were published
	}
	entry.Installed = &dvs.Installation{Source: c.source.text, Name: loaded.Name, Ref: c.tip.Ref, Commit: c.tip.Commit}
	s := &Skill{Entry: entry, Files: bundle.Files, Loaded: loaded, Verdict: loaded.Verdict,
		Findings: append(bundle.Findings, loaded.Verdict.Findings...)}
	s.verifySignature(loaded.Verdict.CheckedAt)
	return s, nil
}

// verifySignature notes who signed the files.
func (s *Skill) verifySignature(now time.Time) {
	signature, err := modelsig.VerifyDir(s.Files, modelsig.Trust{}, now)
	if err != nil && lookleap.CodeOf(err) != modelsig.CodeNoSignature {
		severity, message := lookleap.SeverityWarning, "the skill has a signature that does not hold, and counts as unsigned: "
		if lookleap.CodeOf(err) == modelsig.CodeSigstoreIdentity {
			severity, message = lookleap.SeverityInfo, "the signature cannot be checked here: "
		}
		s.Findings = append(s.Findings, lookleap.Finding{Severity: severity, Code: lookleap.CodeOf(err), Message: message + err.Error()})
		return
	}
	if err != nil {
		return
	}
	if loose := signature.LeftOut(); loose != "" { // anyone may have put it there
		s.Findings = append(s.Findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: modelsig.CodeFileNotSigned,
			Message: "the skill counts as unsigned, because the signer left this file out", Position: lookleap.Position{Path: loose}})
		return
	}
	s.Signature, s.Entry.Installed.Signer = signature, signature.Fingerprint()
	for _, name := range signature.Uncovered {
		s.Findings = append(s.Findings, lookleap.Finding{Severity: lookleap.SeverityInfo, Code: modelsig.CodeFileNotSigned,
			Message: "the signer left this file out", Position: lookleap.Position{Path: name}})
	}
}

// loadLocal reads a skill from a local directory.
func (c Candidate) loadLocal() (*Skill, error) {
	directory := filepath.Join(c.source.path(), filepath.FromSlash(c.Directory))
	files, err := dvs.ReadSkillDir(os.DirFS(directory), dvs.Limits{})
	if err != nil {
		return nil, err
	}
	skill, findings, err := dvs.ParseSkillIn(filepath.Base(directory), files[dvs.EntryFile], dvs.DVS, dvs.Limits{})
	if err != nil {
		return nil, err
	}
	entry := dvs.LockedSkill{Directory: dvs.DirectoryName(skill.Name), Capabilities: dvs.CapabilitiesOf(files),
		Installed: &dvs.Installation{Source: c.source.text, Name: skill.Name}}
	if c.Directory != "" {
		entry.Installed.Source += "/" + c.Directory
	}
	for name, content := range files {
		info, err := os.Stat(filepath.Join(directory, filepath.FromSlash(name)))
		entry.Files = append(entry.Files, dvs.LockedFile{Path: name, Digest: dvs.DigestOf(content),
			Executable: err == nil && info.Mode()&0o111 != 0})
	}
	sortFiles(entry.Files)
	s := &Skill{Entry: entry, Files: files, Findings: findings}
	s.verifySignature(time.Now())
	return s, nil
}
