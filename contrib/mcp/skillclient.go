package lookleapmcp

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/plugin"
)

// Bounds of a listing.
const (
	maxListed = 10_000
	maxPages  = 1_000
)

// SkillClientOptions configure [NewSkillClient].
type SkillClientOptions struct {
	// Server is the host program's name for the MCP server, such as "docs": lower-case
	// letters, digits and hyphens. It is never what the server calls itself. Approvals
	// belong to it.
	Server string
	// User is the host program's id of the user that the client serves. A plan that waits for its
	// user can only be resumed by a client with the same id.
	User string
	// Loader verifies skills that also have a web URL under a registered trust root. Without
	// it, the identity of a skill is always its MCP server.
	Loader *dvs.Loader
	// Runner runs scripts. Without one, [MCPScript.Run] returns an error.
	Runner dvs.Runner
	// Trust keeps what the user approved. It belongs to one user; nil: in memory.
	Trust lookleap.Store
	// Limits bound the SKILL.md.
	Limits dvs.Limits
}

// SkillClient loads the skills that one MCP server offers (SEP-2640) for one user. Its
// methods are safe for concurrent use.
//
// A skill of an MCP server is less than a skill with a web root: a digest in the server's
// own listing proves only that two messages of the server agree. So the user approves each
// skill with the digests of all its files, and again when one of them changes.
type SkillClient struct {
	host    *lookleap.Host
	session *mcp.ClientSession
	options SkillClientOptions
	origin  string
	runs    *plugin.Bound // of SkillClientOptions.Runner
}

var serverLabel = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// NewSkillClient returns a client for the skills of a connected server. The server has to
// declare the extension. The session has to be one of the client.
func NewSkillClient(host *lookleap.Host, client *mcp.Client, session *mcp.ClientSession, o SkillClientOptions) (*SkillClient, error) {
	if host == nil || client == nil || session == nil || !serverLabel.MatchString(o.Server) {
		return nil, &lookleap.Error{Code: lookleap.CodeUsage,
			Message: "a skill client needs a host, a connected MCP client and a name for the server",
			Fix:     "set SkillClientOptions.Server to a name of lower-case letters, digits and hyphens"}
	}
	init := session.InitializeResult()
	if init == nil || init.Capabilities == nil || init.Capabilities.Extensions[SkillsExtension] == nil {
		return nil, &lookleap.Error{Code: dvs.CodeNoOriginDiscovery, Subject: o.Server, Message: "the MCP server does not offer skills"}
	}
	if err := errors.Join(
		mcp.AddSendingCustomMethod[*listParams, *listResult](client, methodList),
		mcp.AddSendingCustomMethod[*uriParams, *getResult](client, methodGet),
	); err != nil {
		return nil, err
	}
	if o.Trust == nil {
		o.Trust = lookleap.NewMemoryStore()
	}
	// Names below .alt are never in the DNS (RFC 9476), so no web site has this origin.
	return &SkillClient{host: host, session: session, options: o, origin: "https://" + o.Server + ".mcp.alt",
		runs: boundedPart("the runner failed", 0)}, nil
}

// Skills yields the entries that the server lists, without reading any file. An entry that
// breaks a rule is yielded with an error. An error without an entry ends the listing. A
// server may offer skills that it does not list: use [SkillClient.Get] for their URIs.
func (c *SkillClient) Skills(ctx context.Context) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		cursor, cursors, count := "", map[string]bool{}, 0
		for {
			page, err := mcp.CallCustomMethod[*listParams, *listResult](ctx, c.session, methodList, &listParams{Cursor: cursor})
			if err != nil {
				yield(nil, c.failed("", "the list of skills cannot be read", err))
				return
			}
			for i := range page.Skills {
				count++
				if count > maxListed {
					yield(nil, c.failed("", fmt.Sprintf("the server lists more than %d skills", maxListed), nil))
					return
				}
				_, err := checkEntry(&page.Skills[i])
				if !yield(&page.Skills[i], err) {
					return
				}
			}
			cursor = page.NextCursor
			if cursor == "" {
				return
			}
			if cursors[cursor] || len(cursors) >= maxPages {
				yield(nil, c.failed("", "the list of skills does not end", nil))
				return
			}
			cursors[cursor] = true
		}
	}
}

// Get returns the server's current entry for a skill, by the URI of its SKILL.md.
func (c *SkillClient) Get(ctx context.Context, uri string) (*Entry, error) {
	r, err := mcp.CallCustomMethod[*uriParams, *getResult](ctx, c.session, methodGet, &uriParams{URI: uri})
	if err != nil {
		return nil, c.failed(uri, "the server has no such skill", err)
	}
	if r.Skill.URI != uri {
		return nil, c.failed(uri, "the server sent the entry of another skill: "+quote(r.Skill.URI, 200), nil)
	}
	if _, err := checkEntry(&r.Skill); err != nil {
		return nil, err
	}
	return &r.Skill, nil
}

// read reads one file from the server of the skill, and from no other one.
func (c *SkillClient) read(ctx context.Context, name string, f File) ([]byte, error) {
	r, err := c.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: f.URI})
	if err != nil {
		return nil, c.failed(f.URI, "the file cannot be read", err)
	}
	if len(r.Contents) != 1 || r.Contents[0] == nil || r.Contents[0].URI != f.URI {
		return nil, c.failed(f.URI, "the server sent another resource", nil)
	}
	content := r.Contents[0].Blob
	if len(content) == 0 {
		content = []byte(r.Contents[0].Text)
	}
	return content, checkContent(name, content, f)
}

func (c *SkillClient) failed(uri, message string, err error) error {
	subject := c.options.Server
	if uri != "" {
		subject += " " + quote(uri, 300)
	}
	code := dvs.CodeBadIndex
	if err != nil {
		code = lookleap.CodeUnreachable
	}
	return &lookleap.Error{Code: code, Subject: subject, Message: message, Err: err}
}
