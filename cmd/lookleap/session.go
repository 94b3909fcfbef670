package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/hostflags"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/htmlreport"
)

// The bounds of what one run reads.
const (
	maxFile    = 64 << 20 // bytes of a file, or of standard input
	maxFetched = 4 << 20  // bytes of what a URL has
	maxWord    = 1 << 20  // bytes of a line of standard input that is an input itself
)

// session is one run of a command: where its inputs come from, its network, and
// where its results go.
type session struct {
	options  options
	stdin    io.Reader // nil once it was read
	stdout   io.Writer
	stderr   io.Writer
	printer  printer
	progress *progress
	refused  int                 // how many inputs were refused
	report   *report             // nil: the command reports to people alone
	pages    []htmlreport.Report // for --html

	asks       bool          // a person is at the terminal
	lineReader *bufio.Reader // of what that person types

	host *hostflags.Host // nil until a command asks for it
}

func newSession(o options, stdin io.Reader, stdout io.Writer) *session {
	return &session{options: o, progress: new(progress), stdin: stdin, stdout: stdout, stderr: io.Discard,
		printer: newPrinter(stdout, o.json, o.noColor)}
}

// Host is the network of this run, as the flags shape it. Its error is wrong usage.
func (s *session) Host() (*lookleap.Host, error) {
	if s.host == nil {
		host, err := s.options.NewHost()
		if err != nil {
			return nil, usagef("%s", strings.TrimSuffix(err.Error(), " ("+string(lookleap.CodeOf(err))+")"))
		}
		s.host = host
	}
	return &s.host.Host, nil
}

// siteArgs returns the arguments with the URLs of the development mode and, if they are sites, of names.
func (s *session) siteArgs(args []string, sites bool) ([]string, error) {
	out := make([]string, len(args))
	for i, arg := range args {
		var err error
		if out[i], err = s.options.URL(arg); err != nil {
			return nil, usagef("%v", err)
		}
		if sites {
			out[i] = siteURL(out[i])
		}
	}
	return out, nil
}

// siteURL returns the https URL of a site that is named as people do: example.com. Other words stay as they
// are.
func siteURL(word string) string {
	if _, err := domain.Parse("https://" + word); err != nil || strings.Contains(word, "://") {
		return word
	}
	return "https://" + word
}

func (s *session) close() {
	if s.host != nil {
		_ = s.host.Close() // only idle connections are left
	}
}

// judge runs one judgement, within the time for one input, and prints its
// result. A panic is a refusal: the other inputs still get their lines.
func (s *session) judge(ctx context.Context, input string, look func(context.Context) result) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.timeout)
	defer cancel()
	done := s.progress.working(input, patience)
	r := guarded(ctx, look)
	done()
	return s.show(input, r)
}

// show prints the result for an input.
func (s *session) show(input string, r result) error {
	r.Input = input
	s.advise(&r)
	r.Input = s.options.Shown(input)
	if s.options.Dev {
		r = r.with(developed)
	}
	if !r.OK {
		s.refused++
	}
	s.report.add(r)
	s.keepPage(r)
	return s.printer.print(r)
}

func guarded(ctx context.Context, look func(context.Context) result) (r result) {
	defer func() {
		if cause := recover(); cause != nil {
			r = result{Code: lookleap.CodeInternal, Message: fmt.Sprintf("lookleap failed on this input: %v", cause)}
		}
	}()
	return look(ctx)
}

// each judges every word. "-" stands for the lines of standard input.
func (s *session) each(ctx context.Context, words []string, look func(ctx context.Context, word string) result) error {
	if len(words) == 0 {
		return usagef("give at least one input, or - to read them from standard input")
	}
	for _, word := range words {
		judge := func(word string) error {
			return s.judge(ctx, word, func(ctx context.Context) result { return look(ctx, word) })
		}
		var err error
		if word == "-" {
			err = s.lines(ctx, judge)
		} else {
			err = judge(word)
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// lines passes on every line of standard input, empty ones too and nothing trimmed
// but the line feed: what an attacker put there is what has to be judged.
func (s *session) lines(ctx context.Context, judge func(word string) error) error {
	in, err := s.takeStdin()
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxWord)
	lines.Split(splitLines)
	judged := 0
	for ; lines.Scan(); judged++ {
		if err := judge(lines.Text()); err != nil {
			return err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return s.judge(ctx, "-", func(context.Context) result {
			return refuse(coded{lookleap.CodeTooLarge,
				fmt.Errorf("a line is longer than %d bytes; neither it nor what follows was judged", maxWord)})
		})
	case err != nil:
		return fmt.Errorf("reading standard input: %w", err)
	case judged == 0:
		return usagef("standard input is empty")
	}
	return nil
}

// splitLines is bufio.ScanLines that keeps a carriage return.
func splitLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// files judges the content of every named file. "-" is standard input.
func (s *session) files(ctx context.Context, names []string, look func(ctx context.Context, name string, content []byte) result) error {
	if len(names) == 0 {
		return usagef("give at least one file, or - for standard input")
	}
	for _, name := range names {
		err := s.judge(ctx, name, func(ctx context.Context) result {
			content, err := s.read(ctx, name)
			if err != nil {
				return refuse(err)
			}
			return look(ctx, name, content)
		})
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// read returns the content of a file, of an https URL, or of standard input for "-".
func (s *session) read(ctx context.Context, name string) ([]byte, error) {
	switch {
	case name == "-":
		in, err := s.takeStdin()
		if err != nil {
			return nil, err
		}
		return readAll(in)
	case !strings.Contains(name, "://"):
		return readFile(name)
	}
	u, err := domain.Parse(name)
	if err != nil {
		return nil, err
	}
	host, err := s.Host()
	if err != nil {
		return nil, err
	}
	accept := http.Header{"Accept": {"application/anml+xml, application/anml+json;q=0.9, */*;q=0.5"}} // a page has both for agents and for people
	resp, err := fetch.Do(ctx, host, &fetch.Request{URL: u, Header: accept, TrustEvidence: true, Limits: fetch.Limits{Body: maxFetched}})
	if err != nil {
		return nil, err
	}
	if resp.Status != http.StatusOK {
		return nil, coded{lookleap.CodeBadStatus, fmt.Errorf("the status is %d", resp.Status)}
	}
	return resp.Body, nil
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, coded{lookleap.CodeIO, err}
	}
	defer f.Close()
	return readAll(f)
}

func readAll(in io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	switch {
	case err != nil:
		return nil, coded{lookleap.CodeIO, err}
	case len(content) > maxFile:
		return nil, coded{lookleap.CodeTooLarge, fmt.Errorf("it is larger than %d bytes", maxFile)}
	}
	return content, nil
}

// withoutStdin refuses "-" for a command that reads none, where it would be a name.
func withoutStdin(words []string) error {
	if slices.Contains(words, "-") {
		return usagef("this command does not read standard input")
	}
	return nil
}

// takeStdin returns standard input, once.
func (s *session) takeStdin() (io.Reader, error) {
	if s.stdin == nil {
		return nil, usagef("- may be given once: standard input is read only once")
	}
	in := s.stdin
	s.stdin = nil
	return in, nil
}
