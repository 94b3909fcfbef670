package lookleapmcp

import (
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// rawClient calls the methods of the extension without any check.
func rawClient(t *testing.T, w *world, o Options) *mcp.ClientSession {
	t.Helper()
	s, err := NewServer(w.Host(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	clientEnd, serverEnd := mcp.NewInMemoryTransports()
	go func() { _ = s.Run(t.Context(), serverEnd) }()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	if err := errors.Join(
		mcp.AddSendingCustomMethod[*listParams, *listResult](client, methodList),
		mcp.AddSendingCustomMethod[*uriParams, *getResult](client, methodGet),
		mcp.AddSendingCustomMethod[*uriParams, *directoryResult](client, methodDirectory),
	); err != nil {
		t.Fatal(err)
	}
	session, err := client.Connect(t.Context(), clientEnd, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func TestOfferedSkills(t *testing.T) {
	const root = "skill://skills.example/refund"
	w := newWorld()
	defer w.Close()
	o := w.options(t.Context())
	o.Site, o.PageSize = "", 1
	c := rawClient(t, w, o)
	list, err := mcp.CallCustomMethod[*listParams, *listResult](t.Context(), c, methodList, &listParams{})
	if err != nil || len(list.Skills) != 1 || list.ResultType != "complete" {
		t.Fatalf("%+v %v", list, err)
	}
	e := list.Skills[0]
	if e.URI != root+"/SKILL.md" || e.Name() != "refund" || e.Description() != "Refunds a ticket." || len(e.Files.Files) != 3 {
		t.Errorf("%+v", e)
	}
	for _, f := range e.Files.Files {
		read, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: f.URI})
		if err != nil || len(read.Contents) != 1 {
			t.Fatalf("%s: %+v %v", f.URI, read, err)
		}
		if text := read.Contents[0].Text; dvs.DigestOf([]byte(text)) != f.Digest || int64(len(text)) != f.Size {
			t.Errorf("%s: %q is not what the manifest says: %+v", f.URI, text, f)
		}
	}
	get, err := mcp.CallCustomMethod[*uriParams, *getResult](t.Context(), c, methodGet, &uriParams{URI: e.URI})
	if err != nil || get.Skill.URI != e.URI || !sameFields(get.Skill.Frontmatter, e.Frontmatter) {
		t.Errorf("%+v %v", get, err)
	}
	children := map[string][]string{
		root:                   {"SKILL.md", "templates"},
		root + "/templates":    {"eu", "letter.md"},
		root + "/templates/eu": {"form.md"},
	}
	for dir, want := range children {
		var names []string
		for cursor, more := "", true; more; more = cursor != "" {
			page, err := mcp.CallCustomMethod[*uriParams, *directoryResult](t.Context(), c, methodDirectory, &uriParams{URI: dir, Cursor: cursor})
			if err != nil || len(page.Resources) != 1 {
				t.Fatalf("%s: %+v %v", dir, page, err)
			}
			names, cursor = append(names, path.Base(page.Resources[0].URI)), page.NextCursor
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s has %q, want %q", dir, names, want)
		}
	}
	for what, call := range map[string]func() error{
		"unknown-skill": func() error {
			_, err := mcp.CallCustomMethod[*uriParams, *getResult](t.Context(), c, methodGet, &uriParams{URI: root})
			return err
		},
		"not-a-directory": func() error {
			_, err := mcp.CallCustomMethod[*uriParams, *directoryResult](t.Context(), c, methodDirectory, &uriParams{URI: e.URI})
			return err
		},
		"unknown-resource": func() error {
			_, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: root + "/secret"})
			return err
		},
		"foreign-cursor": func() error {
			_, err := mcp.CallCustomMethod[*listParams, *listResult](t.Context(), c, methodList, &listParams{Cursor: "7"})
			return err
		},
	} {
		var wire *jsonrpc.Error
		if err := call(); !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestNotOffered shows which skills a server does not offer.
func TestNotOffered(t *testing.T) {
	w := newWorld()
	defer w.Close()
	good := w.bundles(t.Context())[0]
	cases := map[string]struct {
		bundles []dvs.Bundle
		code    lookleap.Code
	}{
		"no-verdict": {[]dvs.Bundle{{ID: good.ID, Root: good.Root, Files: good.Files}}, ""},
		"changed":    {[]dvs.Bundle{func() dvs.Bundle { b := good; b.Files = map[string][]byte{"SKILL.md": []byte("other")}; return b }()}, ""},
		"twice":      {[]dvs.Bundle{good, good}, dvs.CodeDuplicateEntry},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := NewServer(w.Host(), Options{Skills: c.bundles, SingleUser: true})
			if err == nil || s != nil || c.code != "" && lookleap.CodeOf(err) != c.code {
				t.Errorf("offered: %v", err)
			}
		})
	}
}

func TestFrontmatter(t *testing.T) {
	got, err := frontmatter([]byte("\ufeff---\r\nname: x\ndescription: >-\n  two\n  lines\nday: 2026-01-02\nn: 3\nf: 1.5\nyes: yes\non: true\nnone: null\nlist: [a, 2]\nmap:\n  k: v\n---\nbody"))
	want := map[string]any{"name": "x", "description": "two lines", "day": "2026-01-02", "n": 3.0, "f": 1.5, "yes": "yes", "on": true, "list": []any{"a", 2.0}, "map": map[string]any{"k": "v"}}
	if err != nil || !sameFields(got, want) {
		t.Errorf("%v %v", got, err)
	}
	for name, text := range map[string]string{
		"no-fence": "name: x\n", "open": "---\nname: x\n", "list": "---\n- a\n---\n", "twice": "---\na: 1\na: 2\n---\n",
		"alias": "---\na: &x [1]\nb: *x\n---\n", "deep": "---\na: " + strings.Repeat("[", 64) + strings.Repeat("]", 64) + "\n---\n",
	} {
		if fields, err := frontmatter([]byte(text)); err == nil {
			t.Errorf("%s: %v", name, fields)
		}
	}
}
