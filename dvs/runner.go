package dvs

import (
	"context"
	"fmt"
	"strings"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// Runner runs scripts: the host's sandbox (section 7). It gets the approved
// bytes and never a URL. It may be called from several goroutines at once.
type Runner interface {
	// Sandbox tells what the runner confines. What it cannot is shown to the user
	// before they agree.
	Sandbox() Sandbox
	// Run runs a command to its end, or to the end of ctx. A script that failed is
	// a result with its exit code; an error means that it did not run.
	Run(ctx context.Context, c *Command) (*RunResult, error)
}

// Sandbox is what a runner confines a script to. The zero value is nothing.
type Sandbox struct {
	Name       string `json:"name"`       // for people, such as "landlock"
	NoNetwork  bool   `json:"noNetwork"`  // the script reaches no network
	ReadOnlyFS bool   `json:"readOnlyFS"` // it changes no file outside its working directory
	WorkDir    bool   `json:"workDir"`    // it sees no file outside its working directory and the system's
	Bounded    bool   `json:"bounded"`    // time, memory, processes and output are limited
}

// confines reports whether the sandbox is the one that was shown to the user, or a stricter one of its name.
func (s Sandbox) confines(shown Sandbox) bool {
	return s.Name == shown.Name && (s.NoNetwork || !shown.NoNetwork) && (s.ReadOnlyFS || !shown.ReadOnlyFS) &&
		(s.WorkDir || !shown.WorkDir) && (s.Bounded || !shown.Bounded)
}

// Gaps gives, in words, what the runner cannot confine.
func (s Sandbox) Gaps() []string {
	var gaps []string
	for _, g := range []struct {
		closed bool
		word   string
	}{{s.NoNetwork, "the network"}, {s.ReadOnlyFS, "changing files"}, {s.WorkDir, "reading files"}, {s.Bounded, "time and memory"}} {
		if !g.closed {
			gaps = append(gaps, g.word)
		}
	}
	return gaps
}

func (s Sandbox) sentence() string {
	if gaps := s.Gaps(); len(gaps) > 0 {
		return "not confined: " + strings.Join(gaps, ", ")
	}
	return "confined by " + plaintext.Line(s.Name)
}

// Command is a script to run, exactly as the user agreed to it.
type Command struct {
	Skill       string   // identity of the skill
	Name        string   // path of the script below the skill's directory
	Script      []byte   // the approved bytes
	Interpreter []string // program and its own arguments; empty: the script's first line says it
	Args        []string
	Env         []string          // NAME=value; nothing else is inherited
	Files       map[string][]byte // by path below the skill's directory: all that the script is given
}

// RunResult is what a script did.
type RunResult struct {
	ExitCode  int
	Output    []byte // standard output and error, as far as the runner keeps it
	Truncated bool   // there was more output
}

// Output is the result of a script of a skill. Its text may enter the context,
// marked with where it comes from; the script's source may not.
type Output struct {
	RunResult
	Skill  string
	Name   string
	Digest Digest // of the script that ran
}

// ContextText gives the output for the model, every line marked, under the
// identity of the skill.
func (o *Output) ContextText() string {
	if o == nil {
		return ""
	}
	more := ""
	if o.Truncated {
		more = ", cut"
	}
	return fmt.Sprintf("output of %s of the skill %s (exit code %d%s):\n%s", plaintext.Quote(o.Name, 200), plaintext.Quote(o.Skill, 400), o.ExitCode, more,
		plaintext.Block(string(o.Output), len(o.Output)+1))
}
