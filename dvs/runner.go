package dvs

import (
	"context"
	"fmt"
	"strings"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// Runner is a sandbox of the host program that runs scripts (section 7). It receives the approved
// bytes, never a URL. It has to be safe for concurrent use.
type Runner interface {
	// Sandbox returns what the runner confines. The gaps are shown to the user before they agree.
	Sandbox() Sandbox
	// Run runs a command until it ends or ctx ends. A script that failed is a result with its exit
	// code; an error means that it did not run. When ctx ends, the caller stops waiting for Run.
	Run(ctx context.Context, c *Command) (*RunResult, error)
}

// Sandbox says what a runner confines. The zero value confines nothing.
type Sandbox struct {
	Name       string `json:"name"`       // for people, such as "landlock"
	NoNetwork  bool   `json:"noNetwork"`  // the script reaches no network
	ReadOnlyFS bool   `json:"readOnlyFS"` // it changes no file outside its working directory
	WorkDir    bool   `json:"workDir"`    // it sees no file outside its working directory and the system's
	Bounded    bool   `json:"bounded"`    // time, memory, processes and output are limited
}

// confines reports whether the sandbox is at least as strict as the one that was shown to the
// user, under the same name.
func (s Sandbox) confines(shown Sandbox) bool {
	return s.Name == shown.Name && (s.NoNetwork || !shown.NoNetwork) && (s.ReadOnlyFS || !shown.ReadOnlyFS) &&
		(s.WorkDir || !shown.WorkDir) && (s.Bounded || !shown.Bounded)
}

// Gaps returns what the runner does not confine, in words.
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

// Output is the result of a script of a skill. It may enter the context of the model, marked with
// its source; the source code of the script may not.
type Output struct {
	RunResult
	Skill  string
	Name   string
	Digest Digest // of the script that ran
}

// ContextText returns the output for the model, with every line marked and with the identity of
// the skill.
func (o *Output) ContextText() string {
	if o == nil {
		return ""
	}
	more := ""
	if o.Truncated {
		more = ", cut"
	}
	return fmt.Sprintf("output of %s of the skill %s (exit code %d%s):\n%s", plaintext.Quote(o.Name, 200),
		plaintext.Quote(o.Skill, 400), o.ExitCode, more,
		plaintext.Block(string(o.Output), len(o.Output)+1))
}
