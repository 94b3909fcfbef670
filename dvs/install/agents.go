package install

// Agent is a stub until the table lands.
type Agent struct{ Name, Title, Project, User string }

func (a Agent) UserDir() string { return a.User }

func FindAgent(name string) (Agent, bool) {
	switch name {
	case "claude-code":
		return Agent{name, "Claude Code", ".claude/skills", ""}, true
	case "codex":
		return Agent{name, "Codex", ".agents/skills", ""}, true
	}
	return Agent{}, false
}

// Detect returns the names of the agents that are used at a place, sorted.
func (p *Place) Detect() []string { return nil }
