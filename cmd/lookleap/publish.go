package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/webpage"
)

func publishCommand(flags *flag.FlagSet) action {
	var origin, out, check, address string
	flags.StringVar(&origin, "origin", "", "the `ORIGIN` that the site has, such as https://example.com")
	flags.StringVar(&out, "out", "", "write into this `DIR`")
	flags.StringVar(&check, "check", "", "write nothing, and compare with this `DIR`")
	flags.StringVar(&address, "serve", "", "serve the files at this `ADDRESS` of the loopback interface")
	return func(ctx context.Context, s *session, args []string) error {
		u, err := domain.Parse(origin)
		switch {
		case err != nil || u.Path() != "/" || u.HasQuery():
			return usagef("--origin needs an origin such as https://example.com")
		case check != "" && out != "":
			return usagef("--check and --out exclude each other")
		}
		out = cmp.Or(check, out, filepath.Join(args[0], "public"))
		p := &publication{source: os.DirFS(args[0]), origin: u.Origin(), host: u.Host(), now: s.options.Now(),
			old: os.DirFS(out)}
		fail := s.judge(ctx, args[0], func(context.Context, string) result { return p.publish(out, check != "") })
		if fail != nil || address == "" || len(p.files) == 0 {
			return fail
		}
		l, err := listenLocally("--serve", address)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.stdout, "The files are at http://%[1]s. Try: lookleap doctor --dev %[1]s. "+
			"Control-C ends the program.\n", l.Addr())
		return webpage.Serve(ctx, l, p)
	}
}

type publishValue struct {
	Files []publishedFile `json:"files"`
	DNS   []string        `json:"dns"`
}

type publishedFile struct {
	Path  string `json:"path"`
	Type  string `json:"type"`
	Bytes int    `json:"bytes"`
}

// listName is the file that lists what publish wrote, so that what is no longer published goes.
const listName = ".lookleap-files"

func (p *publication) publish(out string, check bool) result {
	if err := p.build(); err != nil {
		broken := &lookleap.Error{Code: lookleap.CodeIO, Err: err}
		errors.As(err, &broken)
		r := refuse(broken)
		if broken.Subject != "" {
			r.Message = broken.Subject + ": " + r.Message
			for i := range r.Findings {
				r.Findings[i].Message, r.Findings[i].Path = r.Message, broken.Subject+r.Findings[i].Path
			}
		}
		return r.with(p.findings...)
	}
	value := publishValue{Files: []publishedFile{}, DNS: p.dns}
	r := accept(nil).with(p.findings...)
	var list bytes.Buffer
	for _, f := range p.files {
		value.Files = append(value.Files, publishedFile{"/" + f.path, f.mediaType, len(f.content)})
		r.rows = append(r.rows, row{"file", "/" + f.path})
		fmt.Fprintln(&list, f.path)
	}
	for _, line := range p.dns {
		r.rows = append(r.rows, row{"paste", line})
	}
	r.Value = value
	all := append(slices.Clone(p.files), p.serverFiles()...)
	all = append(all, siteFile{listName, "", list.Bytes()})
	changed, err := p.differences(all)
	if err == nil && !check {
		err = writeFiles(out, all, changed)
	}
	if err != nil {
		return refuse(ioError{err})
	}
	switch {
	case check && len(changed) > 0:
		r.OK, r.Code = false, lookleap.CodeStale
		r.Message = plaintext.Plural(len(changed), "file differs", "files differ") + ": " +
			strings.Join(changed[:min(len(changed), 5)], ", ")
		r = r.with(lookleap.Finding{Code: lookleap.CodeStale, Message: r.Message,
			Fix: "run lookleap publish with --out in the place of --check"})
	case check:
		r.Message = "the files are those of the directory"
	default:
		r.Message = plaintext.Plural(len(p.files), "file is published", "files are published") + ", " +
			fmt.Sprint(len(changed)) + " changed"
	}
	return r
}

// differences returns the paths of files that are missing, differ, or are no longer published.
func (p *publication) differences(files []siteFile) (changed []string, err error) {
	published := map[string]bool{}
	for _, f := range files {
		published[f.path] = true
		old, err := fs.ReadFile(p.old, f.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil || !bytes.Equal(old, f.content) {
			changed = append(changed, f.path)
		}
	}
	list, err := fs.ReadFile(p.old, listName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for old := range strings.FieldsFuncSeq(string(list), func(c rune) bool { return c == '\n' }) {
		if fs.ValidPath(old) && !published[old] {
			changed = append(changed, old)
		}
	}
	return changed, nil
}

func writeFiles(out string, files []siteFile, changed []string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(out) // no link in it leads out
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range changed {
		i := slices.IndexFunc(files, func(f siteFile) bool { return f.path == name })
		if i >= 0 {
			err = errors.Join(root.MkdirAll(path.Dir(name), 0o755), root.WriteFile(name, files[i].content, 0o644))
		} else if err = root.Remove(name); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ServeHTTP serves the files as a web server does that is set up by one of [publication.serverFiles].
func (p *publication) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if form, _ := anml.Negotiate(r.Header.Get("Accept")); "/"+name == anmlPath && form == anml.JSON {
		name += ".json"
	}
	i := slices.IndexFunc(p.files, func(f siteFile) bool { return f.path == name })
	if i < 0 {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", p.files[i].mediaType)
	_, _ = w.Write(p.files[i].content)
}
