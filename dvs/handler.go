package dvs

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/serve"
)

// markdownType is what a SKILL.md is served as; RFC 7763 requires the parameter.
const markdownType = "text/markdown; charset=utf-8"

// Handler serves the skills of an origin and two indexes of them (sections 3.2 and
// 4.2), for old and new clients. The index of v0.2 lists a skill of several files as an archive,
// so that clients get all of them. Mount it at [SkillsPrefix] and at [AgentSkillsPrefix]:
//
//	mux.Handle(dvs.SkillsPrefix, handler)
//	mux.Handle(dvs.AgentSkillsPrefix, handler)
//
// It answers GET and HEAD for exactly the files that existed when it was made, and 404
// for all other paths. Agents may cache an answer for an hour.
type Handler struct {
	documents serve.Documents
	skills    []*Published
	findings  []lookleap.Finding
}

// NewHandler reads the skills of a directory once and returns a handler for them. Each skill is a
// directory with the skill's name. It returns an error for a skill that agents would refuse, for
// links, unsafe names, a skill.md and skills in deeper directories. Files of file managers and of
// version control are left out with a finding. To publish a change, call it again.
func NewHandler(skills fs.FS, limits Limits) (*Handler, error) {
	list, err := listDirectory(skills)
	if err != nil {
		return nil, err
	}
	h := &Handler{documents: serve.Documents{}}
	for _, entry := range list {
		if linkedDirectory(skills, entry) {
			return nil, linkRefused(entry.Name())
		}
		if !entry.IsDir() {
			continue
		}
		if err := h.read(skills, entry.Name(), limits); err != nil {
			return nil, err
		}
	}
	return h, h.addIndexes()
}

func (h *Handler) read(skills fs.FS, name string, limits Limits) error {
	files, err := readSkillDir(skills, name, limits)
	if err != nil {
		return err
	}
	if _, ok := files[EntryFile]; !ok {
		return misplacedEntry(skills, name)
	}
	published, err := NewPublished(files, limits)
	if err != nil {
		return &lookleap.Error{Code: lookleap.CodeOf(err), Subject: name, Message: "the skill cannot be published", Err: err}
	}
	if published.Name != name {
		return refuse(CodeNameDirectory, name, "the skill in the directory is named "+plaintext.Quote(published.Name, 100),
			"give both the same name")
	}
	for _, f := range lintFiles(files, LintOptions{Limits: limits, Directory: name}) {
		f.Path = path.Join(name, f.Path)
		h.findings = append(h.findings, f)
	}
	h.skills = append(h.skills, published)
	files = published.Files
	for file, content := range files {
		p := newServedPage(file, content)
		escaped := (&url.URL{Path: name + "/" + file}).EscapedPath()
		h.documents[SkillsPrefix+escaped] = p
		h.documents[AgentSkillsPrefix+escaped] = p
	}
	at, content, err := published.Artifact()
	if err != nil {
		return &lookleap.Error{Code: lookleap.CodeOf(err), Subject: name, Message: "the skill cannot be packed", Err: err}
	}
	if len(files) > 1 {
		h.documents[AgentSkillsPrefix+at] = newServedPage(at, content)
	}
	return nil
}

func (h *Handler) addIndexes() error {
	for at, shape := range map[string]IndexShape{SkillsPrefix: IndexFiles, AgentSkillsPrefix: IndexDigests} {
		var b bytes.Buffer
		if err := WriteIndex(&b, shape, h.skills); err != nil {
			return err
		}
		h.documents[at+IndexFile] = newServedPage(IndexFile, b.Bytes())
	}
	return nil
}

// Findings returns what the publisher should know about the skills that are served.
// Each path begins with the skill's directory.
func (h *Handler) Findings() []lookleap.Finding {
	if h == nil {
		return nil
	}
	return slices.Clone(h.findings)
}

// Skills returns the skills that are served, in the order of their names.
func (h *Handler) Skills() []*Published {
	if h == nil {
		return nil
	}
	return slices.Clone(h.skills)
}

func newServedPage(file string, content []byte) *serve.Document {
	page := serve.New(content, servedType(file))
	page.Keep(time.Hour)
	page.Header.Set("Access-Control-Allow-Origin", "*") // public files, sent without credentials
	return page
}

// servedTypes are the media types of files by extension. Nothing that runs in a
// browser is among them: scripts and pages go out as text.
var servedTypes = map[string]string{
	".md": markdownType, ".markdown": markdownType, ".json": "application/json", ".csv": "text/csv; charset=utf-8",
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".pdf": "application/pdf",
	".yaml": "application/yaml", ".yml": "application/yaml", ".zip": "application/zip", ".gz": "application/gzip",
}

func servedType(file string) string {
	extension := strings.ToLower(path.Ext(file))
	if t := servedTypes[extension]; t != "" {
		return t
	}
	if extensions()[extension] != 0 || scriptExtensions.has(extension) {
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

// ServeHTTP answers a request for one of the files or indexes.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h == nil {
		h = new(Handler) // it serves no file
	}
	h.documents.ServeHTTP(w, r)
}
