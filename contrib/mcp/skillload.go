package lookleapmcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/planowner"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// MCPSkill is a skill of an MCP server in use.
type MCPSkill struct {
	*dvs.Skill
	Server string // the host program's name for the server: the identity is Server and URI
	URI    string
	// Root is the trust root under which the web URL of the skill verified, with all of its
	// files. It is zero for a skill that only its server vouches for.
	Root    dvs.TrustRoot
	Verdict *lookleap.Verdict

	client *SkillClient
	files  map[string]File // the manifest that the user approved
}

// approval is what the user approved of a skill last, as the trust store keeps it.
type approval struct {
	Server string `json:"server"`
	Entry  Entry  `json:"entry"`
	Text   []byte `json:"text"` // of the SKILL.md
}

// loadEffect is what a plan to load a skill holds.
type loadEffect struct {
	Kind   string `json:"kind"`
	Server string `json:"server"`
	Owner  string `json:"owner,omitempty"`
	Entry  Entry  `json:"entry"`
}

const kindLoad = "load-mcp-skill"

// key returns the key of a skill's record, which names the server and the URI.
func (c *SkillClient) key(uri string) string {
	return "mcp-skill/" + dvs.DigestOf([]byte(c.options.Server+"\x00"+uri)).String()
}

// Load reads the SKILL.md of an entry and checks it by the entry's size, digest and header.
// The user is asked unless they approved exactly these files before. If they approved
// other files, they are shown what changed. A refusal of the content is a
// [*lookleap.VerifyError].
func (c *SkillClient) Load(ctx context.Context, e *Entry) (*MCPSkill, error) {
	if e == nil {
		return nil, &lookleap.Error{Code: lookleap.CodeUsage, Message: "there is no entry", Fix: "pass one that Skills or Get returned"}
	}
	files, err := checkEntry(e)
	if err != nil {
		return nil, c.verifyError(e, err)
	}
	before, err := c.approved(ctx, e.URI)
	if err != nil {
		return nil, err
	}
	if before != nil && sameManifest(before.Entry, *e) {
		return c.load(ctx, e, files)
	}
	var change *dvs.Change
	if before != nil {
		// The user judges the change by its text, so the new text is read before the question.
		text, err := c.read(ctx, dvs.EntryFile, files[dvs.EntryFile])
		if err == nil {
			_, err = checkSkill(e, text, c.options.Limits)
		}
		if err != nil {
			return nil, c.verifyError(e, err)
		}
		change = compare(before, e, text)
	}
	effect, err := json.Marshal(loadEffect{Kind: kindLoad, Server: c.options.Server, Owner: planowner.Mark(c.options.User), Entry: *e})
	if err != nil {
		return nil, err
	}
	plan, err := lookleap.NewPlan(c.loadRequest(e, change), effect, c.host.Time())
	if err != nil {
		return nil, err
	}
	if _, err := c.host.Ask(c.asUser(ctx), plan); err != nil {
		return nil, err
	}
	return c.loadApproved(ctx, e, files)
}

// ResumeLoad goes on with a load that ended with a [*lookleap.PendingError].
func (c *SkillClient) ResumeLoad(ctx context.Context, state json.RawMessage, decision lookleap.ConsentDecision) (*MCPSkill, error) {
	plan, err := lookleap.ParsePlan(state)
	if err != nil {
		return nil, err
	}
	var effect loadEffect
	if err := strictjson.Decode(plan.Effect(), &effect); err != nil || effect.Kind != kindLoad || effect.Server != c.options.Server {
		return nil, &lookleap.Error{Code: lookleap.CodePlanInvalid,
			Message: "the plan does not load a skill of the MCP server " + c.options.Server, Err: lookleap.ErrPlanInvalid}
	}
	if err := c.owns(effect.Owner); err != nil {
		return nil, err
	}
	files, err := checkEntry(&effect.Entry)
	if err != nil {
		return nil, c.verifyError(&effect.Entry, err)
	}
	if _, err := c.host.Decide(c.asUser(ctx), plan, decision); err != nil {
		return nil, err
	}
	return c.loadApproved(ctx, &effect.Entry, files)
}

// owns returns an error unless a plan with this mark belongs to the user of the client.
func (c *SkillClient) owns(mark string) error {
	return planowner.Check(mark, c.options.User, "resume it with a client that has the user's id in SkillClientOptions.User")
}

// asUser returns a context that names the user of the client to the host.
func (c *SkillClient) asUser(ctx context.Context) context.Context {
	return planowner.Context(ctx, c.options.User)
}

// loadApproved loads a skill that the user approved now, and records that.
func (c *SkillClient) loadApproved(ctx context.Context, e *Entry, files map[string]File) (*MCPSkill, error) {
	s, text, err := c.fetch(ctx, e, files)
	if err != nil {
		return nil, err
	}
	return s, c.record(ctx, approval{Server: c.options.Server, Entry: *e, Text: text})
}

func (c *SkillClient) load(ctx context.Context, e *Entry, files map[string]File) (*MCPSkill, error) {
	s, _, err := c.fetch(ctx, e, files)
	return s, err
}

// fetch reads and checks the SKILL.md, and finds out who published the skill.
func (c *SkillClient) fetch(ctx context.Context, e *Entry, files map[string]File) (*MCPSkill, []byte, error) {
	text, err := c.read(ctx, dvs.EntryFile, files[dvs.EntryFile])
	if err != nil {
		return nil, nil, c.verifyError(e, err)
	}
	skill, err := checkSkill(e, text, c.options.Limits)
	if err != nil {
		return nil, nil, c.verifyError(e, err)
	}
	s := &MCPSkill{Skill: skill, Server: c.options.Server, URI: e.URI, client: c, files: files}
	s.Root, s.Verdict = c.judge(ctx, e, files)
	c.host.Report(ctx, lookleap.Event{Kind: lookleap.EventVerdict, Code: lookleap.CodeOK, Subject: s.Verdict.Subject, Verdict: s.Verdict})
	return s, text, nil
}

func (c *SkillClient) approved(ctx context.Context, uri string) (*approval, error) {
	record, err := c.options.Trust.Get(ctx, c.key(uri))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var a approval
	if err == nil {
		err = strictjson.Decode(record, &a)
	}
	if err == nil && (a.Server != c.options.Server || a.Entry.URI != uri) {
		err = errors.New("the record is about another skill")
	}
	if err != nil {
		return nil, &lookleap.Error{Code: dvs.CodeTrustStore, Subject: quote(uri, 300),
			Message: "what the user approved cannot be read", Err: err}
	}
	return &a, nil
}

func (c *SkillClient) record(ctx context.Context, a approval) error {
	value, err := json.Marshal(a)
	if err == nil {
		err = lookleap.UpdateRecord(ctx, c.options.Trust, c.key(a.Entry.URI), time.Time{}, func(old []byte) ([]byte, error) {
			if bytes.Equal(old, value) {
				return nil, nil
			}
			return value, nil
		})
	}
	if err != nil {
		return &lookleap.Error{Code: dvs.CodeTrustNotKept, Subject: quote(a.Entry.URI, 300),
			Message: "the user's approval could not be stored", Err: err}
	}
	return nil
}

// sameManifest reports whether two entries describe the same files and header.
func sameManifest(a, b Entry) bool {
	set := func(e Entry) map[File]bool {
		out := make(map[File]bool)
		for _, f := range e.Files.Files {
			out[f] = true
		}
		return out
	}
	return !a.Files.Dynamic && !b.Files.Dynamic && maps.Equal(set(a), set(b)) && sameFields(a.Frontmatter, b.Frontmatter)
}

// compare returns what changed: lines of the SKILL.md, and names of files.
func compare(before *approval, e *Entry, text []byte) *dvs.Change {
	change := dvs.Compare(map[string][]byte{dvs.EntryFile: before.Text}, map[string][]byte{dvs.EntryFile: text})
	old, _ := checkEntry(&before.Entry)
	updated, _ := checkEntry(e)
	change.Added, change.Removed, change.Changed = nil, nil, nil
	for _, name := range slices.Sorted(maps.Keys(updated)) {
		was, known := old[name]
		switch {
		case !known:
			change.Added = append(change.Added, name)
		case was != updated[name]:
			change.Changed = append(change.Changed, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if _, stays := updated[name]; !stays {
			change.Removed = append(change.Removed, name)
		}
	}
	return &change
}

// loadRequest asks to use a skill with exactly the files of its manifest.
func (c *SkillClient) loadRequest(e *Entry, change *dvs.Change) lookleap.ConsentRequest {
	summary := fmt.Sprintf("load a skill that the MCP server %q offers; nothing but that server says who wrote it", c.options.Server)
	item := lookleap.ConsentItem{
		ID: "skill", Recipient: lookleap.RecipientAgent, Digest: lookleap.Digest(manifestText(e)),
		Summary: fmt.Sprintf("use the instructions of %s and its files, %d in all", quote(e.Name(), maxSkillName), len(e.Files.Files)),
		Values: []lookleap.ConsentValue{
			{Label: "URI at the server", Text: e.URI},
			{Label: "files and their digests", Text: string(manifestText(e))},
		},
		Remote: []lookleap.RemoteText{{Source: c.options.Server, Label: "description", Text: e.Description()}},
	}
	if change != nil {
		summary = fmt.Sprintf("load a skill of the MCP server %q that changed since you approved it", c.options.Server)
		item.Values = append(item.Values, lookleap.ConsentValue{Label: "what changed", Text: change.String()})
	}
	return lookleap.ConsentRequest{Kind: lookleap.ConsentSkill, Origin: c.origin, Summary: summary, Items: []lookleap.ConsentItem{item}}
}

func manifestText(e *Entry) []byte {
	var b bytes.Buffer
	for _, f := range e.Files.Files {
		name, _ := url.PathUnescape(strings.TrimPrefix(f.URI, strings.TrimSuffix(e.URI, dvs.EntryFile)))
		fmt.Fprintf(&b, "%s (%d bytes)\n  %s\n", name, f.Size, f.Digest)
	}
	return b.Bytes()
}
