package install

import (
	_ "embed" // of the table of agents
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// AgentsDate is the day of the last review of the table of agents.
const AgentsDate = "2026-11-28"

// Agent is a program that reads skills from folders. Each folder in it has the name of a skill and
// holds its SKILL.md. All that is known about an agent is its entry in the table.
//
// User, Former and Shows are paths with "~" for the home directory, "." for the project and
// "${NAME:-path}" for an environment variable with the path to use if it is not set.
type Agent struct {
	Name    string   // in commands and lockfiles, such as "claude-code"
	Title   string   // for people, such as "Claude Code"
	Project string   // folder in a project, such as ".claude/skills"; several agents share ".agents/skills"
	User    string   // folder for all projects of a user; "" if there is none
	Former  []string // folders that earlier versions used instead of User
	Shows   []string // files and directories of which one exists if the agent is installed
}

//go:embed agents.yaml
var agentTable []byte

// agents is the table. It is read on first use, so that importing the package costs next to nothing.
var agents = sync.OnceValue(func() []Agent {
	var all []Agent
	if err := yaml.Unmarshal(agentTable, &all); err != nil {
		panic(err) // the table is a part of the program
	}
	return all
})

// Agents returns all agents that are known, sorted by name. The caller must not change Former and
// Shows.
func Agents() []Agent { return slices.Clone(agents()) }

// FindAgent returns the agent with a name.
func FindAgent(name string) (Agent, bool) {
	for _, a := range agents() {
		if a.Name == name {
			return a, true
		}
	}
	return Agent{}, false
}

// UserDir returns the absolute path of the folder for all projects of the user of this process, with
// the environment as it is now: User, or one of Former if only the directory of that one exists.
// It returns "" if the agent has no such folder or the home directory is not known.
func (a Agent) UserDir() string {
	user := expand(a.User, "")
	if user == "" || exists(filepath.Dir(user)) {
		return user
	}
	for _, former := range a.Former {
		if dir := expand(former, ""); dir != "" && exists(filepath.Dir(dir)) {
			return dir
		}
	}
	return user
}

// Installed reports whether a file or directory shows that the user of this process has the agent,
// or that the project in a directory is used with it. It is a guess, for a default: some agents
// leave no trace, and some leave theirs when they are removed.
func (a Agent) Installed(project string) bool {
	return slices.ContainsFunc(a.Shows, func(path string) bool {
		at := expand(path, project)
		return at != "" && exists(at)
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// expand returns a path of the table as one of the file system. It returns "" if the path begins
// with the home directory, a project or a variable, and that is not known. A variable has to be an
// absolute path: another one would depend on the working directory.
func expand(path, project string) string {
	rest, ok := strings.CutPrefix(path, "${")
	if ok {
		var variable string
		variable, rest, _ = strings.Cut(rest, "}")
		name, fallback, _ := strings.Cut(variable, ":-")
		if value := strings.TrimSpace(os.Getenv(name)); filepath.IsAbs(value) {
			return filepath.Join(value, rest)
		}
		if fallback == "" {
			return ""
		}
		path = fallback + rest
	}
	base, rest, _ := strings.Cut(path, "/")
	switch base {
	case "~":
		if base, _ = os.UserHomeDir(); base == "" {
			return ""
		}
	case ".":
		if base = project; base == "" {
			return ""
		}
	default:
		return filepath.FromSlash(path)
	}
	return filepath.Join(base, filepath.FromSlash(rest))
}

// Detect returns the names of the agents that are used at a place, sorted: those that are installed
// and have a folder there.
func (p *Place) Detect() []string {
	if p.ready() != nil {
		return nil
	}
	project := p.Dir
	if p.Scope == User {
		project = ""
	}
	var names []string
	for _, a := range agents() {
		if _, err := p.folder(a); err == nil && a.Installed(project) {
			names = append(names, a.Name)
		}
	}
	return names
}
