package lookleapmcp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"mime"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// catalogue is what a server offers of skills. It never changes, and all users share it.
type catalogue struct {
	entries     []Entry // sorted by URI
	files       map[string]*servedFile
	directories map[string][]*mcp.Resource // direct children, sorted by URI
}

// servedFile is one file of an offered skill.
type servedFile struct {
	resource *mcp.Resource
	content  []byte
}

// newCatalogue checks the bundles again and names their resources. It returns an error if
// one of them is not verified, or is larger than what every client loads.
func newCatalogue(bundles []dvs.Bundle) (*catalogue, error) {
	c := &catalogue{files: map[string]*servedFile{}, directories: map[string][]*mcp.Resource{}}
	for _, report := range dvs.NewVerifiedFS(bundles, dvs.VerifiedFSOptions{}).Reports() {
		if report.Err != nil {
			return nil, report.Err
		}
	}
	for i := range bundles {
		if err := c.add(&bundles[i]); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(c.entries, func(a, b Entry) int { return strings.Compare(a.URI, b.URI) })
	for _, children := range c.directories {
		slices.SortFunc(children, func(a, b *mcp.Resource) int { return strings.Compare(a.URI, b.URI) })
	}
	return c, nil
}

func (c *catalogue) add(b *dvs.Bundle) error {
	no := func(code lookleap.Code, message string, err error) error {
		return &lookleap.Error{Code: code, Subject: b.ID, Message: message, Err: err}
	}
	fields, err := frontmatter(b.Files[dvs.EntryFile])
	if err != nil {
		return no(dvs.CodeBadFrontmatter, "the header of the skill cannot be offered over MCP", err)
	}
	e := Entry{Frontmatter: fields, Meta: map[string]any{metaURL: b.ID}}
	root, err := skillPath(b.ID, e.Name())
	if err != nil {
		return no(dvs.CodeNotSkillURL, "the URL of the skill has no place below skill://", err)
	}
	e.URI = root + "/" + dvs.EntryFile
	if c.files[e.URI] != nil {
		return no(dvs.CodeNameClash, "another skill has the same place: "+e.URI, nil)
	}
	total := 0
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		content := b.Files[name]
		total += len(content)
		f := &servedFile{content: content, resource: &mcp.Resource{
			URI: root + "/" + escapePath(name), Name: path.Base(name), MIMEType: mediaType(name), Size: int64(len(content)),
			Meta: mcp.Meta{metaPrefix + "digest": dvs.DigestOf(content).String()},
		}}
		if name == dvs.EntryFile {
			f.resource.Name, f.resource.Description = e.Name(), e.Description()
			f.resource.Meta[metaPrefix+"verdict"], f.resource.Meta[metaPrefix+"root"] = b.Verdict, b.Root
			f.resource.Meta[metaURL] = b.ID
		}
		e.Files.Files = append(e.Files.Files, File{URI: f.resource.URI, Digest: dvs.DigestOf(content), Size: int64(len(content))})
		c.files[f.resource.URI] = f
		c.place(root, f.resource)
	}
	if len(b.Files) > maxSkillFiles || total > maxSkillBytes {
		return no(lookleap.CodeTooLarge, fmt.Sprintf("the skill has %d files with %d bytes; MCP clients need not load more than %d files with %d bytes", len(b.Files), total, maxSkillFiles, maxSkillBytes), nil)
	}
	c.entries = append(c.entries, e)
	return nil
}

// place adds a file to its directory, and each directory to the one above it.
func (c *catalogue) place(root string, r *mcp.Resource) {
	for child := r; child.URI != root; {
		dir := child.URI[:strings.LastIndexByte(child.URI, '/')]
		_, known := c.directories[dir]
		c.directories[dir] = append(c.directories[dir], child)
		if known {
			return
		}
		name, _ := url.PathUnescape(path.Base(dir))
		child = &mcp.Resource{URI: dir, Name: name, MIMEType: typeDirectory}
	}
}

// metaPrefix is that of our keys in the _meta of skills.
const metaPrefix = "com.github.lookleap/"

// metaURL names the web URL of a skill in its _meta, so that a client can verify it there.
const metaURL = metaPrefix + "url"

// skillPath returns the URI of a skill's directory: the host and path of its web URL,
// ending with the skill's name.
func skillPath(id, name string) (string, error) {
	u, err := url.Parse(id)
	if err != nil {
		return "", err
	}
	dir := strings.Trim(path.Dir(u.EscapedPath()), "/.")
	out := "skill://" + strings.ReplaceAll(u.Host, ":", "%3A")
	if dir != "" {
		out += "/" + dir
	}
	if path.Base(dir) != name {
		out += "/" + name
	}
	return out, nil
}

func escapePath(name string) string {
	segments := strings.Split(name, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/")
}

func mediaType(name string) string {
	if strings.HasSuffix(name, ".md") {
		return typeMarkdown
	}
	return cmp.Or(mime.TypeByExtension(path.Ext(name)), "application/octet-stream")
}

// skillTTL is how long clients may use a listing. The skills of a server do not change
// while it runs.
const skillTTL = 5 * 60 * 1000

// offer adds the skills to a user's MCP server.
func (c *catalogue) offer(s *mcp.Server, pageSize int) error {
	if len(c.entries) == 0 {
		return nil
	}
	size := cmp.Or(pageSize, mcp.DefaultPageSize)
	for uri, f := range c.files {
		s.AddResource(f.resource, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			contents := &mcp.ResourceContents{URI: uri, MIMEType: f.resource.MIMEType, Meta: f.resource.Meta}
			if utf8.Valid(f.content) {
				contents.Text = string(f.content)
			} else {
				contents.Blob = f.content
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
		})
	}
	cache := mcp.Cacheable{TTLMs: skillTTL, CacheScope: "private"}
	err := mcp.AddReceivingCustomMethod(s, methodList, func(_ context.Context, _ *mcp.ServerSession, p *listParams) (*listResult, error) {
		cursor := ""
		if p != nil {
			cursor = p.Cursor
		}
		page, next, err := pageOf(c.entries, cursor, size)
		if err != nil {
			return nil, err
		}
		return &listResult{Cacheable: cache, ResultType: "complete", Skills: page, NextCursor: next}, nil
	})
	if err != nil {
		return err
	}
	err = mcp.AddReceivingCustomMethod(s, methodGet, func(_ context.Context, _ *mcp.ServerSession, p *uriParams) (*getResult, error) {
		for _, e := range c.entries {
			if p != nil && e.URI == p.URI {
				return &getResult{Cacheable: cache, ResultType: "complete", Skill: e}, nil
			}
		}
		return nil, invalidParams("no skill has this URI")
	})
	if err != nil {
		return err
	}
	return mcp.AddReceivingCustomMethod(s, methodDirectory,
		func(_ context.Context, _ *mcp.ServerSession, p *uriParams) (*directoryResult, error) {
			if p == nil || c.directories[p.URI] == nil {
				return nil, invalidParams("no directory has this URI")
			}
			page, next, err := pageOf(c.directories[p.URI], p.Cursor, size)
			if err != nil {
				return nil, err
			}
			return &directoryResult{ResultType: "complete", Resources: page, NextCursor: next}, nil
		})
}

// pageOf returns the entries from a cursor on, which is the number of those before it.
func pageOf[T any](all []T, cursor string, size int) (page []T, next string, err error) {
	from := 0
	if cursor != "" {
		from, err = strconv.Atoi(cursor)
		if err != nil || from < 1 || from >= len(all) {
			return nil, "", invalidParams("the cursor is not from this listing")
		}
	}
	to := min(from+size, len(all))
	if to < len(all) {
		next = strconv.Itoa(to)
	}
	return all[from:to], next, nil
}

func invalidParams(message string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
}
