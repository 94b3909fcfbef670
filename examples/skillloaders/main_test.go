package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cloudwego/eino/adk/filesystem"
	einoskill "github.com/cloudwego/eino/adk/middlewares/skill"
	adkskill "google.golang.org/adk/v2/tool/skilltoolset/skill"

	"github.com/lookleap/lookleap/dvs"
)

func skills(t *testing.T) *dvs.VerifiedFS {
	t.Helper()
	v, err := verifiedSkills(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(v, "refund/SKILL.md", "refund/references/terms.md", "refund/scripts/check.sh"); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestStory(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	const want = "ADK:  refund: Refunds an order of the shop. From https://shop.example/skills/refund/SKILL.md, with [references/terms.md scripts/check.sh]\n" +
		"Eino: refund: Refunds an order of the shop.\n"
	if out.String() != want {
		t.Errorf("got\n%s", &out)
	}
}

// TestADK reads a verified skill by ADK's own loader, which is strict: it
// refuses the file as it was served, and keys that it does not know.
func TestADK(t *testing.T) {
	ctx, source := t.Context(), adkskill.NewFileSystemSource(skills(t))
	list, err := source.ListFrontmatters(ctx)
	if err != nil || len(list) != 1 || list[0].Name != "refund" || len(list[0].AllowedTools) > 0 || list[0].Metadata["author"] != "example-org" {
		t.Errorf("%+v, %v", list, err)
	}
	if body, err := source.LoadInstructions(ctx, "refund"); err != nil || body != "# Refund\n1.\tAsk for the order.\n2.\tSee references/terms.md.\n" {
		t.Errorf("%q, %v", body, err)
	}
	r, err := source.LoadResource(ctx, "refund", "references/terms.md")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if content, err := io.ReadAll(r); err != nil || string(content) != "Thirty days.\n" {
		t.Errorf("%q, %v", content, err)
	}
	raw := adkskill.NewFileSystemSource(fstest.MapFS{"refund/SKILL.md": {Data: []byte(refund)}})
	if _, err := raw.LoadFrontmatter(ctx, "refund"); !errors.Is(err, adkskill.ErrInvalidFrontmatter) {
		t.Errorf("the test shows nothing: ADK reads the file as it was served: %v", err)
	}
	preloaded, _, err := adkskill.WithCompletePreloadSource(ctx, source)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := preloaded.LoadFrontmatter(ctx, "refund"); err != nil || m.Description != "Refunds an order of the shop." {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestEino(t *testing.T) {
	var backend einoskill.Backend = einoSkills{skills(t)}
	list, err := backend.List(t.Context())
	if err != nil || len(list) != 1 || list[0] != (einoskill.FrontMatter{Name: "refund", Description: "Refunds an order of the shop."}) {
		t.Errorf("%+v, %v", list, err)
	}
	s, err := backend.Get(t.Context(), "refund")
	if err != nil || s.Model != "" || !strings.HasPrefix(s.Content, "# Refund\n1.\tAsk") {
		t.Errorf("%+v, %v", s, err)
	}
	for _, name := range []string{"none", "../refund", "", "/refund", "refund/../refund"} {
		if s, err := backend.Get(t.Context(), name); err == nil {
			t.Errorf("%q: %+v", name, s)
		}
	}
	if _, err := (einoSkills{fstest.MapFS{"a/SKILL.md": {Data: []byte("no header")}}}).List(t.Context()); err == nil {
		t.Error("a broken skill is passed over")
	}
	if _, err := einoskill.NewMiddleware(t.Context(), &einoskill.Config{Backend: backend}); err != nil {
		t.Error(err)
	}
}

// TestEinoFiles reads a verified skill by Eino's own loader of files.
func TestEinoFiles(t *testing.T) {
	ctx, files := t.Context(), filesystem.NewInMemoryBackend()
	err := fs.WalkDir(skills(t), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(skills(t), name)
		if err != nil {
			return err
		}
		return files.Write(ctx, &filesystem.WriteRequest{FilePath: path.Join("/skills", name), Content: string(content)})
	})
	if err != nil {
		t.Fatal(err)
	}
	backend, err := einoskill.NewBackendFromFilesystem(ctx, &einoskill.BackendFromFilesystemConfig{Backend: files, BaseDir: "/skills"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := backend.Get(ctx, "refund")
	if err != nil || s.Description != "Refunds an order of the shop." || s.Model != "" || s.Agent != "" {
		t.Errorf("%+v, %v", s, err)
	}
}
