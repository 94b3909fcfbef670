package wellknown

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
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
	pages    map[string]page
	findings []lookleap.Finding
}

type page struct {
	content []byte
	header  http.Header
}

// NewHandler reads the documents once: what is uploaded later is not served, so
// build a new Handler to publish a change. Symbolic links are refused wherever
// they lead. Names that are not registered are findings, no error. A nil registry
// means [Builtin].
func NewHandler(registry *Registry, files fs.FS, documents ...Document) (*Handler, error) {
	if registry == nil {
		registry = Builtin()
	}
	h := &Handler{pages: make(map[string]page, len(documents))}
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
			return nil, &Error{Code: lookleap.CodeBadEntry, Input: at, Reason: "two documents have one path"}
		}
		if h.pages[at], err = load(files, d, registry.Lookup(d.Name)); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func load(files fs.FS, d Document, entry Entry) (page, error) {
	mediaType := d.MediaType
	if mediaType == "" && len(entry.MediaTypes) > 0 {
		mediaType = entry.MediaTypes[0]
	}
	if _, _, err := mime.ParseMediaType(mediaType); err != nil {
		return page{}, &Error{Code: lookleap.CodeMediaType, Input: d.Name, Reason: "the document has no media type", Fix: "set MediaType"}
	}
	content, err := readPlain(files, d.File)
	if err != nil {
		return page{}, err
	}
	maxAge := d.MaxAge
	if maxAge <= 0 {
		maxAge = time.Hour
	}
	sum := sha256.Sum256(content)
	header := http.Header{}
	header.Set("Content-Type", mediaType)
	header.Set("Cache-Control", fmt.Sprintf("max-age=%d", int(maxAge/time.Second)))
	header.Set("ETag", `"`+base64.RawURLEncoding.EncodeToString(sum[:12])+`"`)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	header.Set("Referrer-Policy", "no-referrer")
	if entry.Sensitive {
		header.Add("Cache-Control", "no-transform") // lest a proxy compresses the secret
	}
	if d.CORS {
		header.Set("Access-Control-Allow-Origin", "*")
	}
	return page{content, header}, nil
}

// readPlain reads a regular file no part of whose path is a link.
func readPlain(files fs.FS, name string) ([]byte, error) {
	if !fs.ValidPath(name) || name == "." {
		return nil, &Error{Code: lookleap.CodeBadEntry, Input: name, Reason: "the file's path is not a plain relative one"}
	}
	for part := name; part != "."; part = path.Dir(part) {
		info, err := fs.Lstat(files, part)
		if err != nil {
			return nil, fmt.Errorf("wellknown: %w", err)
		}
		if info.Mode()&fs.ModeSymlink != 0 || part == name && !info.Mode().IsRegular() {
			return nil, &Error{Code: lookleap.CodeBadEntry, Input: part, Reason: "only regular files are served, and no links"}
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
func (h *Handler) Findings() []lookleap.Finding { return h.findings }

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, ok := h.pages[r.URL.EscapedPath()]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "read-only", http.StatusMethodNotAllowed)
		return
	}
	for name, values := range p.header {
		w.Header()[name] = values
	}
	whole := r.Clone(r.Context())
	whole.Header.Del("Range") // part of a document is no document
	http.ServeContent(w, whole, "", time.Time{}, bytes.NewReader(p.content))
}
