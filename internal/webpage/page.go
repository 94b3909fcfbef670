package webpage

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"net"
	"net/http"
	"strings"
	"time"
)

//go:embed style.css
var style string

//go:embed page.html
var layoutText string

// layout is the frame of every page; a page defines the template "main".
var layout = template.Must(template.New("page").Parse(layoutText))

// Page is one page.
type Page struct {
	Title  string
	Script string // runs in the page; nothing else does
	Data   any    // for the template "main"
}

// Parse returns a template of a page with its own definition of "main", and with others
// that it uses.
func Parse(funcs template.FuncMap, text string) *template.Template {
	return template.Must(template.Must(layout.Clone()).Funcs(funcs).Parse(text))
}

// Render returns a page as HTML. A page contains its style and its policy, so it can be
// saved as a file.
func Render(t *template.Template, p Page) ([]byte, error) {
	var b bytes.Buffer
	err := t.ExecuteTemplate(&b, "page", struct {
		Page
		Style, Policy any
		Code          template.JS
	}{p, template.CSS(style), policy(p.Script, false), template.JS(p.Script)}) //nolint:gosec // both are constants of this module
	return b.Bytes(), err
}

// Write renders a page as a response.
func Write(w http.ResponseWriter, status int, t *template.Template, p Page) {
	body, err := Render(t, p)
	if err != nil {
		http.Error(w, "The page cannot be shown: "+err.Error(), http.StatusInternalServerError)
		return
	}
	Protect(w.Header(), p.Script)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// Anchor is a link within the pages.
type Anchor struct{ URL, Text string }

var message = Parse(nil, `{{define "main"}}<h1>{{.Title}}</h1><p>{{.Text}}</p>{{range .Links}}<p><a href="{{.URL}}">{{.Text}}</a></p>{{end}}{{end}}`)

// Message writes a page with one message.
func Message(w http.ResponseWriter, status int, title, text string, links ...Anchor) {
	Write(w, status, message, Page{Title: title, Data: struct {
		Title, Text string
		Links       []Anchor
	}{title, text, links}})
}

// Protect sets the header fields of a page, or of any other response, that runs nothing
// but the script. A Referrer-Policy that was set stays: with no-referrer, browsers would
// send no Origin with forms.
func Protect(h http.Header, script string) {
	h.Set("Content-Security-Policy", policy(script, true))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if h.Get("Referrer-Policy") == "" {
		h.Set("Referrer-Policy", "same-origin")
	}
}

// policy returns the Content-Security-Policy. In a meta element, frame-ancestors has no
// meaning.
func policy(script string, header bool) string {
	parts := []string{"default-src 'none'", "style-src " + hash(style), "img-src data:", "base-uri 'none'",
		"form-action 'self'", "require-trusted-types-for 'script'"}
	if script != "" {
		parts = append(parts, "script-src "+hash(script), "connect-src 'self'")
	}
	if header {
		parts = append(parts, "frame-ancestors 'none'")
	}
	return strings.Join(parts, "; ")
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// IsLoopback reports whether a listener's address is one of the loopback interface.
func IsLoopback(a net.Addr) bool { return isLoopbackAddr(a.String()) }

// Serve serves pages on a listener until the context ends. A response that began before
// has two seconds to arrive: it may say that a decision was taken.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	closed := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(closed)
		last, done := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer done()
		if server.Shutdown(last) != nil {
			_ = server.Close()
		}
	})
	err := server.Serve(l)
	cancel()
	<-closed
	if !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
