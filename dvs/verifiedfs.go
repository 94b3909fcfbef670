package dvs

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// VerifiedFSOptions configure [NewVerifiedFS].
type VerifiedFSOptions struct {
	Profile Profile   // by which SKILL.md files are read
	Limits  Limits    // Files and Total bound each bundle
	Frozen  *Lockfile // if set, every skill and file that is not in it is refused; directories are those of the lockfile
	Named   *Lockfile // if set, skills keep the directories of this lockfile, and no other skill uses them
}

// VerifiedFS is an immutable file system of verified skills for loaders that take an [fs.FS]. Each
// skill has a directory with its name.
//
// The header of SKILL.md is written again so that all loaders read it alike. It has the name,
// description, license, compatibility and annotations (at most 6 KiB), and the source, trust root
// and digest under dvs- keys. Keys that a loader could take for a source or permission are left
// out, such as allowed-tools. All other bytes are as they were served. A bundle is refused if it
// has a second SKILL.md or was changed after it was made.
//
// Each opening checks the trust in a skill of a [Loader]. If its root was unregistered, blocked or
// revoked, the directory is no longer listed, and opening a file returns a [*lookleap.Error] in an
// [*fs.PathError].
//
// It is safe for concurrent use.
type VerifiedFS struct {
	skills  map[string]*servedSkill // by directory
	reports []SkillReport
	lock    *Lockfile
}

type servedSkill struct {
	tree   fstest.MapFS      // by paths that begin with the directory
	source *Loaded           // whose trust may end; nil: no loader made the bundle
	served map[string][]byte // files as they were served
}

// SkillReport is the result for one bundle of [NewVerifiedFS].
type SkillReport struct {
	ID        string
	Root      string
	Directory string // "" if it was refused
	Name      string // as the publisher wrote it
	Digest    Digest // of SKILL.md as it was served
	Findings  []lookleap.Finding
	Err       error // why it was refused
}

// NewVerifiedFS returns a file system of the bundles that pass all checks. The others are left
// out; [VerifiedFS.Reports] has the reasons.
func NewVerifiedFS(bundles []Bundle, options VerifiedFSOptions) *VerifiedFS {
	v := &VerifiedFS{skills: map[string]*servedSkill{}, lock: &Lockfile{}}
	options.Limits = options.Limits.withDefaults()
	prepared := make([]*preparedBundle, len(bundles))
	ids := map[string]bool{}
	for i := range bundles {
		p := &preparedBundle{Bundle: bundles[i], report: SkillReport{ID: bundles[i].ID, Root: bundles[i].Root}}
		p.report.Err = p.judge(&options)
		if p.report.Err == nil && ids[p.report.ID] {
			p.report.Err = refuse(CodeDuplicateEntry, p.report.ID, "the skill is in the list twice", "list each skill once")
		}
		ids[p.report.ID] = true
		prepared[i] = p
	}
	nameDirectories(prepared, options.Frozen, options.Named)
	for _, p := range prepared {
		if p.report.Err == nil {
			v.add(p)
		}
		v.reports = append(v.reports, p.report)
	}
	v.lock.sort()
	return v
}

// Reports returns the result for each bundle, in the order of the bundles.
func (v *VerifiedFS) Reports() []SkillReport {
	if v == nil {
		return nil
	}
	return slices.Clone(v.reports)
}

// Lock returns the lockfile of exactly these skills, with what each may do.
func (v *VerifiedFS) Lock() *Lockfile {
	if v == nil || v.lock == nil {
		return new(Lockfile)
	}
	lock := v.lock.clone()
	for i := range lock.Skills {
		s := &lock.Skills[i]
		s.Capabilities = append(Capabilities{}, CapabilitiesOf(v.skills[s.Directory].served)...) // none is not unknown
	}
	return lock
}

// preparedBundle is a bundle that was judged.
type preparedBundle struct {
	Bundle
	skill  *Skill
	report SkillReport
}

func (p *preparedBundle) judge(options *VerifiedFSOptions) error {
	if err := checkFiles(p.Files, options.Limits); err != nil {
		return err
	}
	p.Files, p.Executable = maps.Clone(p.Files), maps.Clone(p.Executable)
	for name, content := range p.Files { // what is judged is what is shown, whatever the caller does to the bundle later
		p.Files[name] = bytes.Clone(content)
	}
	if err := p.checkUnchanged(); err != nil {
		return err
	}
	if options.Frozen != nil {
		if err := options.Frozen.Verify(p.Bundle); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Files)) {
		if strings.Contains(name, "/") && isEntry(name) {
			return refuse(CodeNotBundled, name, "the bundle holds another skill, which loaders that look deeper would take for a verified one", "load that skill by its own URL, and leave it out here")
		}
	}
	file, ok := p.Files[EntryFile]
	if !ok {
		return refuse(CodeMissingSkillMD, p.ID, "the bundle has no SKILL.md", "")
	}
	var err error
	u, _ := ParseArtifactURL(p.ID, p.Artifact, Rules{AllowQuery: true, InsecureAllowLocalhost: true}) // of a bundle made by hand, perhaps none
	p.skill, p.report.Findings, err = ParseSkillIn(u.directoryName(), file, options.Profile, options.Limits)
	if err == nil {
		p.report.Name, p.report.Digest = p.skill.Name, p.skill.Digest
	}
	return err
}

// add enters the files of a bundle that has a directory.
func (v *VerifiedFS) add(p *preparedBundle) {
	directory := p.report.Directory
	if directory != p.skill.Name {
		p.report.Findings = append(p.report.Findings,
			lookleap.Finding{Severity: lookleap.SeverityInfo, Code: CodeNameDirectory, Requirement: "DVS-4.3-12",
				Message: "loaders see the skill as " + plaintext.Quote(directory, 100), Fix: "use different names"})
	}
	modified := p.Verdict.CheckedAt
	tree := fstest.MapFS{directory: {Mode: fs.ModeDir | 0o555, ModTime: modified}}
	entry := LockedSkill{URL: p.ID, Artifact: p.Artifact, Root: p.Root, Directory: directory, Development: p.Verdict.Development()}
	for _, file := range slices.Sorted(maps.Keys(p.Files)) {
		content := p.Files[file]
		locked := LockedFile{Path: file, Digest: DigestOf(content), Executable: p.Executable[file]}
		if file == EntryFile {
			content = sanitized(p, directory)
			locked.Written = DigestOf(content) // it differs, since the header now has the digest
		}
		mode := fs.FileMode(0o444)
		if locked.Executable {
			mode = 0o555
		}
		tree[directory+"/"+file] = &fstest.MapFile{Data: content, Mode: mode, ModTime: modified}
		entry.Files = append(entry.Files, locked)
	}
	v.skills[directory] = &servedSkill{tree, p.source, p.Files}
	v.lock.Skills = append(v.lock.Skills, entry)
}

// maxAnnotations is how many bytes of annotations a header is written with, so
// that a header stays small enough for readers after quoting. The rest is left out.
const maxAnnotations = 6 << 10

// sanitized writes SKILL.md with a header that strict loaders accept.
func sanitized(p *preparedBundle, name string) []byte {
	var b bytes.Buffer
	line := func(indent, key, value string) {
		fmt.Fprintf(&b, "%s%s: %s\n", indent, key, quoteYAML(value))
	}
	b.WriteString("---\n")
	line("", "name", name)
	line("", "description", truncate(p.skill.Display(), maxDescription))
	for _, key := range []string{"license", "compatibility"} {
		if value := oneLine(p.skill.Text(key)); value != "" {
			line("", key, truncate(value, maxCompatibility))
		}
	}
	b.WriteString("metadata:\n")
	annotations, most := p.skill.Annotations(), b.Len()+maxAnnotations
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		before := b.Len()
		if !isReserved(key) && !isNull(key) && isPlainKey(key) {
			line("  ", key, truncate(oneLine(annotations[key]), maxDescription))
		}
		if b.Len() > most {
			b.Truncate(before)
		}
	}
	line("  ", "dvs-digest", p.skill.Digest.String())
	line("  ", "dvs-source", p.ID)
	line("  ", "dvs-trust-root", p.Root)
	b.WriteString("---\n")
	b.WriteString(p.skill.Body)
	return b.Bytes()
}

// reservedParts are parts of keys by which loaders name sources, permissions and what they run.
const reservedParts = `dvs source origin trust root digest sha256 checksum signature signed verif provenance attest publisher issuer
	allow permi grant consent approv authoriz privilege capabil scope policy bypass skip unsafe danger disable enable sandbox
	tool hook exec command script shell bash mcp server plugin agent model invocable invocation invoke
	install require autorun preload interpreter entrypoint url repository canonical commit integrity network filesystem fullaccess sudo
	secret token confirm openclaw clawdbot`

// reservedWords are whole keys of the same kind, which are parts of harmless ones too.
var reservedWords = wordSet{list: "run auto env bin main access deny write import imports include includes extends base from ref key keys hash"}

// isReserved reports whether a strict loader might take an annotation with this key, in any
// spelling, for a source or a permission.
func isReserved(key string) bool {
	letters := strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(key))
	for part := range strings.FieldsSeq(reservedParts) {
		if strings.Contains(letters, part) {
			return true
		}
	}
	return reservedWords.has(letters)
}

// isPlainKey reports whether every reader of YAML takes a key without quotation marks as this text.
func isPlainKey(key string) bool {
	for i := range len(key) {
		if !isWord(key[i]) && (i == 0 || key[i] != '-' && key[i] != '.') {
			return false
		}
	}
	return key != "" && len(key) <= maxName
}

func truncate(text string, most int) string {
	n := 0
	for i := range text {
		if n == most-1 && len(text)-i > len(string([]rune(text[i:])[:1])) {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

// quoteYAML writes a text of one line between double quotation marks.
func quoteYAML(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// withdrawn returns an error if the skill is no longer trusted.
func (s *servedSkill) withdrawn() error {
	if s.source == nil {
		return nil
	}
	return s.source.loader.stillAllowed(s.source.loadTerms())
}

// Open implements [fs.FS]. Skills that are no longer trusted are not listed.
func (v *VerifiedFS) Open(name string) (fs.File, error) {
	if v == nil {
		v = new(VerifiedFS)
	}
	if name == "." {
		top := fstest.MapFS{}
		for directory, s := range v.skills {
			if s.withdrawn() == nil {
				top[directory] = s.tree[directory]
			}
		}
		return top.Open(name)
	}
	directory, _, _ := strings.Cut(name, "/")
	s, err := v.skills[directory], error(nil)
	switch {
	case !fs.ValidPath(name):
		err = fs.ErrInvalid
	case s == nil:
		err = fs.ErrNotExist
	default:
		err = s.withdrawn()
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return s.tree.Open(name)
}
