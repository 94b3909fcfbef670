package lookleapmcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/planowner"
	"github.com/lookleap/lookleap/internal/plugin"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// ContextText returns the instructions for the model's context. The first line says which
// server they come from.
func (s *MCPSkill) ContextText() string {
	return s.source("Instructions of the skill "+quote(s.Name, maxSkillName)) + "\n" + s.Body
}

func (s *MCPSkill) source(what string) string {
	from := fmt.Sprintf("%s from the MCP server %q at %s.", what, s.Server, quote(s.URI, 300))
	if !s.Root.IsZero() {
		return from + " The same files are published under " + s.Root.String() + "."
	}
	return from + " Only that server vouches for them. They permit no tool and no script by themselves."
}

// Files returns the paths of the files that the user approved, sorted.
func (s *MCPSkill) Files() []string { return slices.Sorted(maps.Keys(s.files)) }

// File reads a file of the skill, by its path below the skill's directory, and checks its
// size and digest. A file that is not in the approved list is refused, even if the server
// has it.
func (s *MCPSkill) File(ctx context.Context, name string) ([]byte, error) {
	f, ok := s.files[strings.TrimPrefix(name, "./")]
	if !ok {
		return nil, &lookleap.Error{Code: dvs.CodeNotBundled, Subject: quote(name, 200),
			Message: "the user approved no such file of the skill", Fix: "get the entry again and load the skill again"}
	}
	return s.client.read(ctx, name, f)
}

// FileText reads a file for the model's context. It returns an error for a script, since only
// its output may enter the context, and for a file that is not text.
func (s *MCPSkill) FileText(ctx context.Context, name string) (string, error) {
	content, err := s.File(ctx, name)
	if err != nil {
		return "", err
	}
	if dvs.KindOf(name, content) == dvs.Script {
		return "", &lookleap.Error{Code: lookleap.CodeNeedsConsent, Subject: quote(name, 200),
			Message: "the source of a script never enters the context", Fix: "run it, and use its output"}
	}
	if !utf8.Valid(content) {
		return "", &lookleap.Error{Code: lookleap.CodeNotUTF8, Subject: quote(name, 200), Message: "the file is not UTF-8 text",
			Fix: "pass it to a tool"}
	}
	return s.source("The file "+quote(name, 200)+" of a skill") + "\n" + string(content), nil
}

// MCPScript is a script that the user agreed to run once, with exactly these bytes.
type MCPScript struct {
	client   *SkillClient
	approval *lookleap.Approval
	command  *dvs.Command
	sandbox  dvs.Sandbox // that the user was shown
}

// Approve reads a script and the files that it is given, and asks the user to run it once.
// Neither the approval of the skill nor a trust root replaces that consent.
func (s *MCPSkill) Approve(ctx context.Context, in dvs.Invocation) (*MCPScript, error) {
	if len(in.Env) > 0 || len(in.Uses) > 0 {
		return nil, &lookleap.Error{Code: lookleap.CodeUsage, Message: "scripts of MCP servers get no environment", Fix: "pass arguments"}
	}
	if err := dvs.CheckFileNames(append([]string{in.Script}, in.Files...)...); err != nil {
		return nil, err
	}
	command := &dvs.Command{Skill: s.Server + " " + s.URI, Name: in.Script, Interpreter: in.Interpreter,
		Args: in.Args, Files: map[string][]byte{}}
	var err error
	if command.Script, err = s.File(ctx, in.Script); err != nil {
		return nil, err
	}
	for _, name := range in.Files {
		if command.Files[name], err = s.File(ctx, name); err != nil {
			return nil, err
		}
	}
	planned := scriptEffect{Kind: kindScript, Server: s.Server, Owner: planowner.Mark(s.client.options.User), Command: command}
	if s.client.options.Runner != nil {
		planned.Sandbox = s.client.options.Runner.Sandbox()
	}
	effect, err := json.Marshal(planned)
	if err != nil {
		return nil, err
	}
	plan, err := lookleap.NewPlan(s.scriptRequest(command), effect, s.client.host.Time())
	if err != nil {
		return nil, err
	}
	approved, err := s.client.host.Ask(s.client.asUser(ctx), plan)
	if err != nil {
		return nil, err
	}
	return &MCPScript{client: s.client, approval: approved, command: command, sandbox: planned.Sandbox}, nil
}

// scriptEffect is what a plan to run a script holds.
type scriptEffect struct {
	Kind    string       `json:"kind"`
	Server  string       `json:"server"`
	Owner   string       `json:"owner,omitempty"`
	Command *dvs.Command `json:"command"`
	Sandbox dvs.Sandbox  `json:"sandbox,omitzero"` // that the user was shown
}

const kindScript = "run-mcp-script"

// ResumeScript goes on with an approval that ended with a [*lookleap.PendingError]. The
// script that runs is the one that the user was shown.
func (c *SkillClient) ResumeScript(ctx context.Context, state json.RawMessage, decision lookleap.ConsentDecision) (*MCPScript, error) {
	plan, err := lookleap.ParsePlan(state)
	if err != nil {
		return nil, err
	}
	var effect scriptEffect
	if err := strictjson.Decode(plan.Effect(), &effect); err != nil || effect.Kind != kindScript ||
		effect.Server != c.options.Server || effect.Command == nil {
		return nil, &lookleap.Error{Code: lookleap.CodePlanInvalid,
			Message: "the plan runs no script of the MCP server " + c.options.Server, Err: lookleap.ErrPlanInvalid}
	}
	if err := c.owns(effect.Owner); err != nil {
		return nil, err
	}
	approved, err := c.host.Decide(c.asUser(ctx), plan, decision)
	if err != nil {
		return nil, err
	}
	return &MCPScript{client: c, approval: approved, command: effect.Command, sandbox: effect.Sandbox}, nil
}

// commandLine writes the words of a command one after another, and quotes those that could be read
// as another number of words.
func commandLine(words []string) string {
	shown := make([]string, len(words))
	for i, word := range words {
		shown[i] = word
		if quoted := strconv.Quote(word); word == "" || quoted != `"`+word+`"` || strings.ContainsAny(word, " '") {
			shown[i] = quoted
		}
	}
	return strings.Join(shown, " ")
}

func (s *MCPSkill) scriptRequest(c *dvs.Command) lookleap.ConsentRequest {
	item := lookleap.ConsentItem{
		ID: "script", Class: lookleap.ItemCode, Recipient: lookleap.RecipientAgent, Digest: lookleap.Digest(c.Script),
		Summary: "run the script " + quote(c.Name, len(c.Name)+1) + " once",
	}
	item.Values = []lookleap.ConsentValue{
		{Label: "command", Text: commandLine(slices.Concat(c.Interpreter, []string{c.Name}, c.Args)), Command: true},
		{Label: "script", Name: c.Name, Text: string(c.Script)},
	}
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		item.Values = append(item.Values, lookleap.ConsentValue{Label: "file for the script", Name: name, Text: string(c.Files[name])})
	}
	sandbox := "no sandbox is known"
	if s.client.options.Runner != nil {
		sandbox = "the sandbox confines everything"
		if gaps := s.client.options.Runner.Sandbox().Gaps(); len(gaps) > 0 {
			sandbox = strings.Join(gaps, "; ")
		}
	}
	return lookleap.ConsentRequest{
		Kind: lookleap.ConsentScript, Origin: s.client.origin, Items: []lookleap.ConsentItem{item}, Verdict: s.Verdict,
		Summary: fmt.Sprintf("run code from the MCP server %q on this machine: %s", s.Server, sandbox),
	}
}

// Run runs the approved bytes once, through the Runner of the client. A second call returns
// an error that is [lookleap.ErrAlreadyDone].
func (a *MCPScript) Run(ctx context.Context) (*dvs.RunResult, error) {
	runner := a.client.options.Runner
	if runner == nil {
		return nil, &lookleap.Error{Code: dvs.CodeNoRunner, Subject: quote(a.command.Name, 200),
			Message: "no runner is configured", Fix: "set SkillClientOptions.Runner"}
	}
	now, shown := runner.Sandbox(), a.sandbox.Gaps()
	if now.Name != a.sandbox.Name || slices.ContainsFunc(now.Gaps(), func(gap string) bool { return !slices.Contains(shown, gap) }) {
		return nil, &lookleap.Error{Code: lookleap.CodeNeedsConsent, Subject: quote(a.command.Name, 200),
			Message: "the runner is not the one that the user was shown, or it confines less", Fix: "ask again"}
	}
	var result *dvs.RunResult
	_, err := a.client.host.Commit(ctx, a.approval, func(ctx context.Context, _ []byte) (receipt []byte, err error) {
		ran, err := plugin.Await(ctx, a.client.runs, func(ctx context.Context) (*dvs.RunResult, error) { return runner.Run(ctx, a.command) })
		if err == nil && ran == nil {
			err = a.client.runs.Fail("it returned no result")
		}
		if err != nil {
			return nil, err
		}
		result = ran
		return fmt.Appendf(nil, `{"exitCode":%d}`, ran.ExitCode), nil
	})
	return result, err
}
