package kit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"reflect"
	"slices"
	"strings"
)

// Result is how a program answered one case.
type Result struct {
	Case   Case
	Answer Answer
	Class  bool     // the class is right
	Wrong  []string // members of the outcome that differ
}

// Passed reports whether the whole answer is right.
func (r Result) Passed() bool { return r.Class && len(r.Wrong) == 0 }

// Score is how a program answered the cases of one document.
type Score struct {
	Document string
	Results  []Result
}

// Count returns the number of cases in which the class is right, in which the whole answer is, and
// which the program does not support.
func (s Score) Count() (class, whole, unsupported int) {
	for _, r := range s.Results {
		switch {
		case r.Answer.Class == Unsupported:
			unsupported++
		case r.Passed():
			class++
			whole++
		case r.Class:
			class++
		}
	}
	return class, whole, unsupported
}

// Run starts a program, asks it all cases and scores the answers. It returns an error if the program
// fails, or breaks the protocol: it answers each question with one line, in the order of the questions.
func Run(ctx context.Context, documents []Document, program string, args ...string) ([]Score, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var said tail
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer in.Close()
		for _, d := range documents {
			for _, c := range d.Cases {
				line, err := json.Marshal(Question{c.ID, c.Operation, c.Input})
				if err != nil {
					return
				}
				if _, err := in.Write(append(line, '\n')); err != nil {
					return // the program ended: reading its answers fails
				}
			}
		}
	}()
	scores, err := compare(documents, out)
	if err != nil {
		cancel()
		_ = cmd.Wait()
		return nil, fmt.Errorf("%w%s", err, said.text())
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("%s: %w%s", program, err, said.text())
	}
	return scores, nil
}

// compare reads an answer for each case.
func compare(documents []Document, answers io.Reader) ([]Score, error) {
	lines := bufio.NewScanner(answers)
	lines.Buffer(nil, maxLine)
	var scores []Score
	for _, d := range documents {
		score := Score{Document: d.Title}
		for _, c := range d.Cases {
			if !lines.Scan() {
				return nil, errors.Join(fmt.Errorf("there is no answer for %s", c.ID), lines.Err())
			}
			var a Answer
			if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
				return nil, fmt.Errorf("the answer for %s is not JSON: %w", c.ID, err)
			}
			if a.ID != c.ID {
				return nil, fmt.Errorf("the answer for %s has the id %q", c.ID, a.ID)
			}
			score.Results = append(score.Results, grade(c, a))
		}
		scores = append(scores, score)
	}
	if lines.Scan() {
		return nil, fmt.Errorf("there is more than one answer for each case: %.100q", lines.Text())
	}
	return scores, lines.Err()
}

// grade compares an answer with its case. Members that the case does not name do not matter.
func grade(c Case, a Answer) Result {
	r := Result{Case: c, Answer: a, Class: a.Class == c.Class}
	if !r.Class {
		return r
	}
	for _, name := range slices.Sorted(maps.Keys(c.Outcome)) {
		if !reflect.DeepEqual(plain(c.Outcome[name]), plain(a.Outcome[name])) {
			r.Wrong = append(r.Wrong, name)
		}
	}
	return r
}

// plain returns a value as JSON reads it, so that numbers and lists of different types are equal.
func plain(value any) (out any) {
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return err
	}
	return out
}

// Wrong returns the results that are wrong: with classOnly only those with another class. A case
// that the program does not support is not wrong.
func (s Score) Wrong(classOnly bool) []Result {
	var wrong []Result
	for _, r := range s.Results {
		if r.Answer.Class != Unsupported && !r.Passed() && !(classOnly && r.Class) {
			wrong = append(wrong, r)
		}
	}
	return wrong
}

// Table writes the scores as a Markdown table, and a line for each case that is wrong.
func Table(w io.Writer, scores []Score, classOnly bool) error {
	var b strings.Builder
	b.WriteString("| document | cases | class | whole answer | unsupported |\n|---|--:|--:|--:|--:|\n")
	for _, s := range scores {
		class, whole, unsupported := s.Count()
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", s.Document, len(s.Results), class, whole, unsupported)
	}
	for _, s := range scores {
		for _, r := range s.Wrong(classOnly) {
			what := "other outcome: " + strings.Join(r.Wrong, ", ")
			if !r.Class {
				what = fmt.Sprintf("the class is %q, not %q. %s", r.Answer.Class, r.Case.Class, r.Answer.Error)
			}
			fmt.Fprintf(&b, "%s (%s): %s\n", r.Case.ID, r.Case.Requirement, strings.TrimSpace(what))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tail keeps the last bytes of what a program writes to standard error.
type tail struct{ data []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if n := len(t.data) - 1000; n > 0 {
		t.data = t.data[n:]
	}
	return len(p), nil
}

func (t *tail) text() string {
	if len(t.data) == 0 {
		return ""
	}
	return "; it wrote: " + string(t.data)
}
