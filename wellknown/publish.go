package wellknown

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/serve"
	"github.com/lookleap/lookleap/internal/zero"
)

// MaxDocument is the size in bytes of the largest document that a [Handler] serves.
const MaxDocument = 1 << 20

// Document is one file that a [Handler] serves.
type Document struct {
	Name      string        // the well-known name
	Rest      string        // the path below it, if its specification defines any
	File      string        // the path in the file system of NewHandler
	MediaType string        // "": the first one of the registry entry
	MaxAge    time.Duration // how long clients may cache it; 0: an hour
	CORS      bool          // whether scripts of other origins may read it
}

// HandlerOptions configure [NewHandler].
type HandlerOptions struct {
	Registry *Registry // nil: Builtin()
}

// Handler serves a fixed list of well-known documents (section 4). Mount it at
// [Prefix]:
//
//	mux.Handle(wellknown.Prefix, handler)
//
// It answers GET and HEAD for exactly the paths of its documents and 404 for all
// others. It never lists names, and neither sets nor reads cookies.
type Handler struct {
	documents serve.Documents
	findings  []lookleap.Finding
}

// errNoFiles is the error for a nil file system.
var errNoFiles = newError(lookleap.CodeUsage, "", "the file system is nil", "pass one, such as os.DirFS")

// NewHandler reads the documents once and returns a handler for them. To publish a
// change, call it again. It refuses symbolic links, wherever they lead. A name that is
// not registered is a finding and not an error.
func NewHandler(files fs.FS, documents []Document, options HandlerOptions) (*Handler, error) {
	registry := options.Registry
	if registry == nil {
		registry = Builtin()
	}
	if files == nil && len(documents) > 0 {
		return nil, errNoFiles
	}
	h := &Handler{documents: make(serve.Documents, len(documents))}
	for _, d := range documents {
		findings, err := registry.Lint(d.Name, d.Rest)
		if err != nil {
			return nil, err
		}
		h.findings = append(h.findings, findings...)
		var rest []string
		if d.Rest != "" {
			rest = strings.Split(d.Rest, "/")
		}
		const origin = "https://origin.example" // any: only the path is used
		uri, err := registry.URL(origin, d.Name, rest...)
		if err != nil {
			return nil, err
		}
		at := strings.TrimPrefix(uri, origin)
		if _, twice := h.documents[at]; twice {
			return nil, newError(codeBadEntry, at, "two documents have the same path", "")
		}
		if h.documents[at], err = load(files, d, registry.Lookup(d.Name)); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func load(files fs.FS, d Document, entry Entry) (*serve.Document, error) {
	mediaType := d.MediaType
	if mediaType == "" && len(entry.MediaTypes) > 0 {
		mediaType = entry.MediaTypes[0]
	}
	if _, _, err := mime.ParseMediaType(mediaType); err != nil {
		return nil, newError(lookleap.CodeMediaType, d.Name, "the document has no media type", "set MediaType")
	}
	content, err := readFile(files, d.File)
	if err != nil {
		return nil, err
	}
	document := serve.New(content, mediaType)
	if d.MaxAge > 0 {
		document.Keep(d.MaxAge)
	}
	if entry.Sensitive {
		document.Header.Add("Cache-Control", "no-transform") // so that no proxy compresses the secret
	}
	if d.CORS {
		document.Header.Set("Access-Control-Allow-Origin", "*")
	}
	return document, nil
}

// readFile reads a regular file and refuses links in any part of its path.
func readFile(files fs.FS, name string) ([]byte, error) {
	if !fs.ValidPath(name) || name == "." {
		return nil, newError(codeBadEntry, name, "the file's path is not a plain relative path", "")
	}
	unreadable := func(err error) error {
		return &lookleap.Error{Code: lookleap.CodeIO, Subject: name, Message: "the file cannot be read", Err: err}
	}
	for part := name; part != "."; part = path.Dir(part) {
		info, err := fs.Lstat(files, part)
		if err != nil {
			return nil, unreadable(err)
		}
		if info.Mode()&fs.ModeSymlink != 0 || part == name && !info.Mode().IsRegular() {
			return nil, newError(codeBadEntry, part, "only regular files are served, and no links", "")
		}
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, unreadable(err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, MaxDocument+1))
	if err != nil {
		return nil, unreadable(err)
	}
	if len(content) > MaxDocument {
		return nil, newError(lookleap.CodeTooLarge, name, "the document is larger than its limit", "")
	}
	return content, nil
}

// Findings returns what the publisher should know about the names that are served.
func (h *Handler) Findings() []lookleap.Finding { return slices.Clone(zero.Or(h).findings) }

// ServeHTTP answers a request for one of the documents.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	zero.Or(h).documents.ServeHTTP(w, r)
}

// Lint reports findings about a name by the built-in registry. See [Registry.Lint].
func Lint(name string) ([]lookleap.Finding, error) { return Builtin().Lint(name, "") }

// Lint reports findings about a name that a publisher uses, with the path rest below
// it: whether the name is registered, whether it is too general, and whether its
// specification defines paths below it (section 3). It returns an error only for a bad
// name.
func (r *Registry) Lint(name, rest string) ([]lookleap.Finding, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	var findings []lookleap.Finding
	add := func(code lookleap.Code, requirement, message, fix string) {
		findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: code,
			Requirement: requirement, Message: message, Fix: fix,
			Position: lookleap.Position{Path: Prefix + name}})
	}
	entry := r.Lookup(name)
	if entry.Status == Unregistered {
		message := fmt.Sprintf("%s is not in the registry of %s", plaintext.Quote(name, 100), r.Date().Format("2006-01-02"))
		if entry.Reference != "" {
			message += "; it is used by " + entry.Reference
		}
		add(codeUnregisteredName, "WK-3-07", message, "register the name, or use a registered one")
	}
	if genericNames[strings.ToLower(name)] {
		add(codeGenericName, "WK-3-10", plaintext.Quote(name, 100)+" does not name an application", "put the application's name before it")
	}
	if rest != "" && !entry.HasPath {
		add(CodeExtraPath, "WK-3-15", noPathBelow(name), "serve the document at the name itself")
	}
	return findings, nil
}

func noPathBelow(name string) string { return "no path is defined below " + plaintext.Quote(name, 100) }

// genericNames are words that are too general for a name: other applications might
// use them for something else (section 3).
var genericNames = map[string]bool{
	"agent": true, "agents": true, "ai": true, "api": true, "app": true, "config": true, "configuration": true, "data": true,
	"discovery": true, "index": true, "info": true, "manifest": true, "metadata": true, "policy": true, "service": true,
	"services": true, "settings": true, "site": true, "skills": true, "status": true, "trust": true, "version": true,
}

// LintTree reports every file below .well-known of a web root, each with the findings
// of its name. A server that publishes the whole root publishes these files, and users
// who can write there speak for the origin, possibly without knowing that the
// directory exists (section 4.4). A root without the directory has no findings.
func (r *Registry) LintTree(root fs.FS) ([]lookleap.Finding, error) {
	if root == nil {
		return nil, errNoFiles
	}
	var findings []lookleap.Finding
	err := fs.WalkDir(root, ".well-known", func(path string, d fs.DirEntry, err error) error {
		if path == ".well-known" && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		message := "the file is published for the whole origin"
		if d.Type()&fs.ModeSymlink != 0 {
			message = "the link is published for the whole origin, and its target may be outside the web root"
		}
		at := lookleap.Position{Path: "/" + path}
		findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityInfo, Code: lookleap.CodeOK,
			Requirement: "WK-4.4-01", Message: message, Position: at})
		name, rest, _ := strings.Cut(strings.TrimPrefix(path, ".well-known/"), "/")
		about, err := r.Lint(name, rest)
		if err != nil {
			about = []lookleap.Finding{{Code: lookleap.CodeBadName, Requirement: "WK-3-08",
				Message: "the file's name cannot be a well-known name",
				Fix:     "rename or remove it", Position: at}}
		}
		findings = append(findings, about...)
		return nil
	})
	if err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeIO, Message: "the web root cannot be read", Err: err}
	}
	return findings, nil
}
