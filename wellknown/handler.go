package wellknown

import (
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/serve"
	"github.com/lookleap/lookleap/internal/zero"
)

// MaxDocument is the largest document in octets that a handler serves.
const MaxDocument = 1 << 20

// Document is one file that a [Handler] serves.
type Document struct {
	Name      string        // well-known name
	Rest      string        // further path below it, if its specification defines any
	File      string        // path in the file system given to NewHandler
	MediaType string        // empty: the first one of the registry entry
	MaxAge    time.Duration // how long clients may keep it; 0: an hour
	CORS      bool          // whether scripts of other origins may read it
}

// Handler serves a fixed list of well-known documents, read-only (section 4).
// It answers GET and HEAD for exactly these paths; the bare prefix, other names
// and other spellings are not found, and nothing is listed. It sets no cookies,
// reads none, and compresses nothing.
type Handler struct {
	pages    map[string]*serve.Document // by escaped path
	findings []lookleap.Finding
}

// NewHandler reads the documents once: what is uploaded later is not served, so
// build a new Handler to publish a change. Symbolic links are refused wherever
// they lead. Names that are not registered are findings, no error. A nil registry
// means [Builtin].
func NewHandler(registry *Registry, files fs.FS, documents ...Document) (*Handler, error) {
	if registry == nil {
		registry = Builtin()
	}
	if files == nil && len(documents) > 0 {
		return nil, errNoFiles
	}
	h := &Handler{pages: make(map[string]*serve.Document, len(documents))}
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
		uri, err := registry.URL("https://origin.example", d.Name, rest...)
		if err != nil {
			return nil, err
		}
		at := strings.TrimPrefix(uri, "https://origin.example")
		if _, twice := h.pages[at]; twice {
			return nil, &Error{Code: CodeBadEntry, Input: at, Reason: "two documents have one path"}
		}
		if h.pages[at], err = load(files, d, registry.Lookup(d.Name)); err != nil {
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
		return nil, &Error{Code: lookleap.CodeMediaType, Input: d.Name, Reason: "the document has no media type", Fix: "set MediaType"}
	}
	content, err := readPlain(files, d.File)
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

// readPlain reads a regular file no part of whose path is a link.
func readPlain(files fs.FS, name string) ([]byte, error) {
	if !fs.ValidPath(name) || name == "." {
		return nil, &Error{Code: CodeBadEntry, Input: name, Reason: "the file's path is not a plain relative one"}
	}
	for part := name; part != "."; part = path.Dir(part) {
		info, err := fs.Lstat(files, part)
		if err != nil {
			return nil, fmt.Errorf("wellknown: %w", err)
		}
		if info.Mode()&fs.ModeSymlink != 0 || part == name && !info.Mode().IsRegular() {
			return nil, &Error{Code: CodeBadEntry, Input: part, Reason: "only regular files are served, and no links"}
		}
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("wellknown: %w", err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, MaxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("wellknown: %w", err)
	}
	if len(content) > MaxDocument {
		return nil, &Error{Code: lookleap.CodeTooLarge, Input: name, Reason: "the document is larger than its limit"}
	}
	return content, nil
}

// Findings are what a publisher should know about the names served.
func (h *Handler) Findings() []lookleap.Finding { return zero.Or(h).findings }

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if document := zero.Or(h).pages[r.URL.EscapedPath()]; document != nil {
		document.ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}
