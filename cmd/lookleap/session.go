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
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/htmlreport"
)

const (
	maxFile    = 64 << 20 // bytes of a file, or of standard input
	maxFetched = 4 << 20  // bytes of what a URL has
	maxWord    = 1 << 20  // bytes of a line of standard input that is an input itself
)

// session is one run of a command: its inputs, its network, and where its results go.
type session struct {
	options  options
	host     *lookleap.Host
	close    func()
	stdin    io.Reader // read once, which parseLine sees to
	stdout   io.Writer
	stderr   io.Writer
	printer  printer
	progress *progress
	refused  int                 // how many inputs were refused
	report   *report             // nil: the command reports to people alone
	pages    []htmlreport.Report // for --html

	asks       bool          // a person is at the terminal
	lineReader *bufio.Reader // of what that person types
}

func newSession(o options, stdin io.Reader, stdout, stderr io.Writer) (*session, error) {
	host, err := o.NewHost()
	if err != nil {
		return nil, usagef("%s", strings.TrimSuffix(err.Error(), " ("+string(lookleap.CodeOf(err))+")"))
	}
	return &session{options: o, host: &host.Host, close: func() { _ = host.Close() }, stdin: stdin, stdout: stdout,
		stderr:  stderr,
		printer: newPrinter(stdout, o.json, o.noColor), progress: newProgress(stderr),
		asks: isTerminal(stderr) && isTerminal(stdin)}, nil
}

type look func(ctx context.Context, input string) result

// judge runs one judgement, within the time for one input, and prints its result.
func (s *session) judge(ctx context.Context, input string, look look) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.timeout)
	defer cancel()
	done := s.progress.working(input)
	r := look.guarded(ctx, input)
	done()
	return s.show(input, r)
}

// guarded makes a panic a refusal: the other inputs still get their lines.
func (l look) guarded(ctx context.Context, input string) (r result) {
	defer func() {
		if cause := recover(); cause != nil {
			r = result{Code: lookleap.CodeInternal, Message: fmt.Sprintf("lookleap failed on this input: %v", cause)}
		}
	}()
	return l(ctx, input)
}

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
	if s.report != nil {
		s.report.results = append(s.report.results, r)
	}
	if s.options.html != "" {
		s.pages = append(s.pages, reportOf(r, s.options.Now()))
	}
	return s.printer(r)
}

func (s *session) each(ctx context.Context, inputs []string, look look) error {
	for _, input := range inputs {
		if err := errors.Join(s.judge(ctx, input, look), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// words judges every word. "-" stands for the lines of standard input: empty ones too, and nothing
// trimmed but the line feed, since what an attacker put there is what has to be judged.
func (s *session) words(ctx context.Context, words []string, look look) error {
	if len(words) == 0 {
		return usagef("give at least one input, or - to read them from standard input")
	}
	for _, word := range words {
		judge := s.each
		if word == "-" {
			judge = s.lines
		}
		if err := judge(ctx, []string{word}, look); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) lines(ctx context.Context, _ []string, look look) error {
	lines := bufio.NewScanner(s.stdin)
	lines.Buffer(nil, maxWord)
	lines.Split(splitLines)
	judged := 0
	for ; lines.Scan(); judged++ {
		if err := s.each(ctx, []string{lines.Text()}, look); err != nil {
			return err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return s.show("-", refuse(fault(lookleap.CodeTooLarge,
			fmt.Sprintf("a line is longer than %d bytes; neither it nor what follows was judged", maxWord), "")))
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
func (s *session) files(ctx context.Context, names []string, judge func(content []byte) result) error {
	if len(names) == 0 {
		return usagef("give at least one file, or - for standard input")
	}
	return s.each(ctx, names, s.content(judge))
}

func (s *session) content(judge func(content []byte) result) look {
	return func(ctx context.Context, name string) result {
		content, err := s.read(ctx, name)
		if err != nil {
			return refuse(err)
		}
		return judge(content)
	}
}

// read returns the content of a file, of an https URL, or of standard input for "-".
func (s *session) read(ctx context.Context, name string) ([]byte, error) {
	switch {
	case name == "-":
		return readAll(s.stdin)
	case !strings.Contains(name, "://"):
		return readFile(name)
	}
	u, err := domain.Parse(name)
	if err != nil {
		return nil, err
	}
	// A page has both a form for agents and one for people.
	accept := http.Header{"Accept": {"application/anml+xml, application/anml+json;q=0.9, */*;q=0.5"}}
	resp, err := fetch.Do(ctx, s.host, &fetch.Request{URL: u, Header: accept, TrustEvidence: true,
		Limits: fetch.Limits{Body: maxFetched}})
	if err != nil {
		return nil, err
	}
	if resp.Status != http.StatusOK {
		return nil, fault(lookleap.CodeBadStatus, fmt.Sprintf("the status is %d", resp.Status), "")
	}
	return resp.Body, nil
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, ioError{err}
	}
	defer f.Close()
	return readAll(f)
}

func readAll(in io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	switch {
	case err != nil:
		return nil, ioError{err}
	case len(content) > maxFile:
		return nil, fault(lookleap.CodeTooLarge, fmt.Sprintf("it is larger than %d bytes", maxFile), "")
	}
	return content, nil
}
