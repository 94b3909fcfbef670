package wellknown

import (
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
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
			return nil, newError(CodeBadEntry, at, "two documents have the same path", "")
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
		return nil, newError(CodeBadEntry, name, "the file's path is not a plain relative path", "")
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
			return nil, newError(CodeBadEntry, part, "only regular files are served, and no links", "")
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
