package dvs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/test/alloctest"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestHops redirects the bytes of a skill to another URL under its root: it is
// followed only if it could have been named directly.
func TestHops(t *testing.T) {
	const upload = "0123456789abcdef0123456789abcdef"
	for _, c := range []struct {
		name, root, url, to string
		want                lookleap.Code
		block               string
	}{
		{name: "reject-gitlab-upload", root: "https://gitlab.com/group/", url: "https://gitlab.com/group/project/-/blob/main/SKILL.md", to: "/group/project/uploads/" + upload + "/SKILL.md", want: "not-content-route"},
		{name: "reject-gitlab-upload-marker", root: "https://gitlab.com/group/", url: "https://gitlab.com/group/project/-/blob/main/SKILL.md", to: "/group/project/-/uploads/" + upload + "/SKILL.md", want: "not-content-route"},
		{name: "reject-gitlab-group-upload", root: "https://gitlab.com/group/", url: "https://gitlab.com/group/project/-/blob/main/SKILL.md", to: "/group/uploads/" + upload + "/SKILL.md", want: "not-content-route"},
		{name: "reject-gitlab-wiki", root: "https://gitlab.com/group/", url: "https://gitlab.com/group/project/-/blob/main/SKILL.md", to: "/group/project/-/wikis/SKILL.md", want: "not-content-route"},
		{name: "reject-gitlab-artifact", root: "https://gitlab.com/group/", url: "https://gitlab.com/group/project/-/blob/main/SKILL.md", to: "/group/project/-/jobs/1/artifacts/raw/SKILL.md", want: "not-content-route"},
		{name: "reject-gitlab-merge-request", root: "https://gitlab.com/group/", url: "https://gitlab.com/group/project/-/blob/main/SKILL.md", to: "/group/project/-/raw/refs/merge-requests/1/head/SKILL.md", want: "untrusted-ref"},
		{name: "reject-gitlab-query", root: "https://gitlab.com/group/", url: "https://gitlab.com/group/project/-/blob/main/SKILL.md", to: "/group/project/-/raw/main/SKILL.md?ref_type=tags", want: "query-in-skill-url"},
		{name: "accept-gitlab-other-branch", root: "https://gitlab.com/group/", url: "https://gitlab.com/group/project/-/blob/main/SKILL.md", to: "/group/project/-/raw/trunk/SKILL.md"},
		{name: "reject-salsa-upload", root: "https://salsa.debian.org/group/", url: "https://salsa.debian.org/group/project/-/blob/main/SKILL.md", to: "/group/project/uploads/" + upload + "/SKILL.md", want: "not-content-route"},
		{name: "reject-github-owner-file", root: "https://github.com/o/", url: "https://github.com/o/r/blob/main/SKILL.md", to: "https://github.com/o/SKILL.md", want: "not-content-route"},
		{name: "reject-github-repository-file", root: "https://github.com/o/", url: "https://github.com/o/r/blob/main/SKILL.md", to: "https://raw.githubusercontent.com/o/r/SKILL.md", want: "not-content-route"},
		{name: "reject-github-attachment", root: "https://github.com/o/", url: "https://github.com/o/r/blob/main/SKILL.md", to: "https://github.com/o/r/files/1/SKILL.md", want: "not-content-route"},
		{name: "reject-github-release", root: "https://github.com/o/", url: "https://github.com/o/r/blob/main/SKILL.md", to: "https://github.com/o/r/releases/download/v1/SKILL.md", want: "not-content-route"},
		{name: "reject-github-user-attachment", root: "https://github.com/o/", url: "https://github.com/o/r/blob/main/SKILL.md", to: "https://github.com/user-attachments/files/1/SKILL.md", want: "reserved-segment"},
		{name: "reject-github-pull", root: "https://github.com/o/", url: "https://github.com/o/r/blob/main/SKILL.md", to: "https://raw.githubusercontent.com/o/r/refs/pull/1/head/SKILL.md", want: "untrusted-ref"},
		{name: "reject-github-commit", root: "https://github.com/o/", url: "https://github.com/o/r/blob/main/SKILL.md", to: "https://raw.githubusercontent.com/o/r/0123abcd/SKILL.md", want: "commit-ref"},
		{name: "reject-github-media", root: "https://github.com/o/", url: "https://github.com/o/r/blob/main/SKILL.md", to: "https://media.githubusercontent.com/media/o/r/main/SKILL.md", want: "never-trusted-host"},
		{name: "accept-github-renamed-branch", root: "https://github.com/o/", url: "https://github.com/o/r/blob/main/SKILL.md", to: "https://raw.githubusercontent.com/o/r/trunk/SKILL.md"},
		{name: "reject-codeberg-attachment", root: "https://codeberg.org/o/", url: "https://codeberg.org/o/r/src/branch/main/SKILL.md", to: "/o/r/attachments/" + upload, want: "not-content-route"},
		{name: "reject-codeberg-release", root: "https://codeberg.org/o/", url: "https://codeberg.org/o/r/src/branch/main/SKILL.md", to: "/o/r/releases/download/v1/SKILL.md", want: "not-content-route"},
		{name: "reject-bitbucket-download", root: "https://bitbucket.org/o/", url: "https://bitbucket.org/o/r/src/main/SKILL.md", to: "/o/r/downloads/SKILL.md", want: "not-content-route"},
		{name: "reject-hugging-face-discussion", root: "https://huggingface.co/o/", url: "https://huggingface.co/o/r/blob/main/SKILL.md", to: "/o/r/discussions/1/SKILL.md", want: "not-content-route"},
		{name: "reject-hugging-face-pull", root: "https://huggingface.co/o/", url: "https://huggingface.co/o/r/blob/main/SKILL.md", to: "/o/r/resolve/refs/pr/1/SKILL.md", want: "untrusted-ref"},
		{name: "reject-gitee-attachment", root: "https://gitee.com/o/", url: "https://gitee.com/o/r/blob/main/SKILL.md", to: "/o/r/attach_files/1/download/SKILL.md", want: "not-content-route"},
		{name: "reject-tenant-of-the-host", url: "https://cs.univ.example/skills/SKILL.md", to: "/~mallory/SKILL.md", want: "redirect-outside-root"},
		{name: "accept-tenant-of-a-registered-host", root: "https://cs.univ.example/", url: "https://cs.univ.example/skills/SKILL.md", to: "/~mallory/SKILL.md"},
		{name: "reject-forge-on-the-host", url: "https://cs.univ.example/skills/SKILL.md", to: "/mallory/r/-/raw/main/SKILL.md", want: "needs-root"},
		{name: "accept-query-on-a-platform-without-routes", root: "https://unpkg.com/pkg@1/", url: "https://unpkg.com/pkg@1/SKILL.md", to: "/pkg@1/v2/SKILL.md?x=1"},
		{name: "accept-elsewhere-on-the-host", url: "https://cs.univ.example/skills/SKILL.md", to: "/v2/SKILL.md?x=1"},
		{name: "reject-blocked", root: "https://cs.univ.example/", url: "https://cs.univ.example/skills/SKILL.md", to: "/Bad/SKILL.md", block: "https://cs.univ.example/bad/", want: "blocked-root"},
	} {
		t.Run("O41/"+c.name, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			u := skillURL(t, c.url)
			for _, host := range []string{"github.com", "raw.githubusercontent.com", "media.githubusercontent.com", "cs.univ.example", u.Host()} {
				net.Site(host).File("*", "text/markdown", refund)
			}
			path := u.ServedFrom()[len("https://"+u.ServingHost()):]
			net.Site(u.ServingHost()).Redirect(path, c.to)
			roots := registry(t)
			if c.root != "" {
				roots = registry(t, c.root)
			}
			if c.block != "" {
				if _, err := roots.Block(c.block); err != nil {
					t.Fatal(err)
				}
			}
			host := net.StubHost()
			host.Prompter = &prompter{decide: agree}
			skill, err := dvs.NewLoader(host, dvs.Options{Roots: roots}).Load(t.Context(), c.url)
			if want := lookleap.Code(c.want); want != "" && lookleap.CodeOf(err) != want || want == "" && err != nil || (skill != nil) != (want == "") {
				t.Fatalf("want %q, got %v", want, err)
			}
			if sent := net.Journal().Dials(); c.want != "" && len(sent) > 1 {
				t.Errorf("the target was asked: %v", sent)
			}
		})
	}
	t.Run("O41/reject-resource", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("gitlab.com").File("*", "text/markdown", refund).Redirect("/group/project/-/raw/main/MORE.md", "/group/project/uploads/"+upload+"/MORE.md")
		skill, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://gitlab.com/group/")}).Load(t.Context(), "https://gitlab.com/group/project/-/blob/main/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := skill.Resource(t.Context(), "MORE.md"); lookleap.CodeOf(err) != dvs.CodeNotContentRoute {
			t.Errorf("got %v", err)
		}
	})
	t.Run("O41/reject-blocked-since-it-was-fetched", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example").File("*", "text/markdown", refund).Redirect("/a/SKILL.md", "/b/SKILL.md")
		loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/")})
		if _, err := loader.Load(t.Context(), "https://shop.example/a/"); err != nil {
			t.Fatal(err)
		}
		if _, err := loader.Roots().Block("https://shop.example/b/"); err != nil {
			t.Fatal(err)
		}
		if _, err := loader.Load(t.Context(), "https://shop.example/a/"); lookleap.CodeOf(err) != dvs.CodeBlockedRoot {
			t.Errorf("got %v", err)
		}
	})
}

// filled is head, then a piece as often as it fits, then tail.
func filled(size int, head, piece, tail string) []byte {
	return []byte(head + strings.Repeat(piece, (size-len(head)-len(tail))/len(piece)) + tail)
}

// TestCostOfRefusing fills each kind of file up to its limit with what has to be
// refused: that never takes more than three times the limit, and seven times for a lockfile, which is
// the user's own.
func TestCostOfRefusing(t *testing.T) {
	const skill, index, lock = 1 << 20, 1 << 20, 16 << 20
	check := func(name string, limit int, refuse func() error) {
		t.Run(name, func(t *testing.T) {
			alloctest.AtMost(t, 3*limit, func() {
				if err := refuse(); err == nil || !lookleap.CodeOf(err).Known() {
					t.Errorf("got %v", err)
				}
			})
		})
	}
	const head = "---\nname: a\ndescription: b\n"
	for name, data := range map[string][]byte{
		"unclosed":  filled(skill, head, "k: v\n", ""),
		"keys":      filled(skill, head, "k: v: w\n", "---\nx\n"),
		"duplicate": filled(skill, head+"x: {"+strings.Repeat("a: {},", 2600)+"}\n---\n", "x", ""),
		"controls":  filled(skill, head+"x: \"", "\x01", "\"\n---\nx\n"),
		"long":      filled(skill, "---\nname: a\ndescription: ", "x: y ", "\n---\nx\n"),
		"bytes":     filled(skill, head+"---\n", "a\xff", ""),
		"UTF-16":    []byte(utf16le("\ufeff" + head + "---\n" + strings.Repeat("実", skill/2-40))),
	} {
		for _, profile := range []dvs.Profile{dvs.DVS, dvs.AgentSkills} {
			check(fmt.Sprintf("DVS-4.2-08/reject-skill-%s-%s", name, profile), skill, func() error {
				_, _, err := dvs.ParseSkill(data, profile, dvs.Limits{})
				return err
			})
		}
		if name == "bytes" || name == "UTF-16" { // grow when they are read
			check("DVS-4.2-08/reject-skill-"+name+"-lenient", skill, func() error {
				_, _, err := dvs.ParseSkill(data, dvs.Lenient, dvs.Limits{})
				return err
			})
		}
	}
	for name, data := range map[string][]byte{
		"flat":   filled(index, "[", "1,", "1]"),
		"deep":   filled(index, "", "[", ""),
		"keys":   filled(index, `{"skills":[{`, `"kk":1,`, `"a":1}]}`),
		"string": filled(index, `{"skills":"`, `\n`, `"}`),
	} {
		check("DVS-3.2-22/reject-index-"+name, index, func() error {
			_, err := dvs.ParseIndex(data, indexAt, dvs.Rules{}, dvs.Limits{})
			return err
		})
	}
	kind, digest := `{"type":"`+dvs.LockMediaType+`","skills":[`, digestOf("x")
	for name, data := range map[string][]byte{
		"flat":      filled(lock, kind, "1,", "1]}"),
		"files":     filled(lock, kind+`{"url":"u","trustRoot":"","directory":"s","files":[`, `{"path":"f","digest":"`+digest+`"},`, `1]}]}`),
		"path":      filled(lock, kind+`{"url":"u","trustRoot":"","directory":"s","files":[{"path":"`, "a/", `","digest":"`+digest+`"}]}]}`),
		"directory": filled(lock, kind+`{"url":"u","trustRoot":"","directory":"`, "A", `","files":[]}]}`),
	} {
		check("lockfile/reject-"+name, 7*lock/3, func() error {
			_, err := dvs.ParseLockfile(data)
			return err
		})
	}

	net := lookleaptest.ForTest(t)
	net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", refund).
		File("/s/b/SKILL.md", "text/markdown", "x").Fault("/s/b/SKILL.md", lookleaptest.Endless()).
		File("/s/a/MORE.md", "text/markdown", "x").Fault("/s/a/MORE.md", lookleaptest.Endless())
	options := dvs.Options{Roots: registry(t, "https://shop.example/")}
	loaded, err := dvs.NewLoader(net.StubHost(), options).Load(t.Context(), "https://shop.example/s/a/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"DVS-4.2-08", "C20"} {
		check(id+"/reject-skill-without-end", skill, func() error {
			_, err := dvs.NewLoader(net.StubHost(), options).Load(t.Context(), "https://shop.example/s/b/SKILL.md")
			return err
		})
	}
	check("D08/reject-resource-without-end", 10<<20, func() error {
		_, err := loaded.Resource(t.Context(), "MORE.md")
		return err
	})
}

// TestCostOfReading fills a file with what can be read, and would be many times
// its size in memory.
func TestCostOfReading(t *testing.T) {
	const size = 1 << 20
	var links strings.Builder
	for i := 0; links.Len() < size-200; i++ {
		fmt.Fprintf(&links, "[](%d) ", i)
	}
	for name, c := range map[string]struct {
		data    []byte
		profile dvs.Profile
		most    int // times the size, garbage included
	}{
		"blocks":      {filled(size, "---\nname: a\ndescription: b\n---\n", "```\nx\n```\n", ""), dvs.DVS, 7},
		"references":  {[]byte("---\nname: a\ndescription: b\n---\n" + links.String()), dvs.DVS, 7},
		"description": {filled(size, "---\nname: a\ndescription: ", "x: y ", "\n---\nx\n"), dvs.Lenient, 7},
	} {
		t.Run(name, func(t *testing.T) {
			alloctest.AtMost(t, c.most*size, func() {
				skill, _, err := dvs.ParseSkill(c.data, c.profile, dvs.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				skill.Blocks()
				skill.References()
			})
		})
	}
	t.Run("the-rest-of-many-blocks-is-code", func(t *testing.T) {
		skill := &dvs.Skill{Body: strings.Repeat("```\nx\n```\n", 20_000) + "\nprose\n"}
		blocks := skill.Blocks()
		if last := blocks[len(blocks)-1]; len(blocks) != 10_001 || !last.Code || !strings.HasSuffix(last.Text, "prose\n") {
			t.Errorf("%d blocks", len(blocks))
		}
	})
	t.Run("the-rest-of-many-references", func(t *testing.T) {
		if found := (&dvs.Skill{Body: links.String()}).References(); len(found) != 10_000 {
			t.Errorf("%d references", len(found))
		}
	})
}

// TestMemory loads skills of 512 KiB in turn, and loads the first one again.
func TestMemory(t *testing.T) {
	for name, c := range map[string]struct{ memory, requests int }{"reject-more-than-the-limit": {2 << 20, 2}, "accept-by-default": {0, 1}} {
		t.Run("O61/"+name, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			site := net.Site("shop.example")
			path := func(i int) string { return fmt.Sprintf("/s/%d/SKILL.md", i) }
			for i := range 8 {
				site.File(path(i), "text/markdown", refund+strings.Repeat("Do this.\n", 1<<19/9))
			}
			loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/"), Limits: dvs.Limits{Memory: c.memory}})
			for i := range 9 {
				if _, err := loader.Load(t.Context(), "https://shop.example"+path(i%8)); err != nil {
					t.Fatal(err)
				}
			}
			got := 0
			for _, request := range net.Journal().Paths("shop.example") {
				if request == "GET "+path(0) {
					got++
				}
			}
			if got != c.requests {
				t.Errorf("%d requests for the first skill, want %d", got, c.requests)
			}
		})
	}
}

// TestAskedAgain loads a skill again after an hour, and counts the requests.
func TestAskedAgain(t *testing.T) {
	const at = "/s/a/SKILL.md"
	tagged := func(tag, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", tag)
			lookleaptest.Body("text/markdown", body).ServeHTTP(w, r)
		})
	}
	for name, c := range map[string]struct {
		first, then http.Handler
		code        lookleap.Code
	}{
		"accept-changed":         {tagged(`"1"`, refund), tagged(`"2"`, refund+"More.\n"), lookleap.CodeOK},
		"reject-304-of-nothing":  {lookleaptest.Body("text/markdown", refund), lookleaptest.Status(304), lookleap.CodeBadStatus},
		"accept-404-is-not-kept": {lookleaptest.Status(404, "Cache-Control", "max-age=86400"), lookleaptest.Body("text/markdown", refund), lookleap.CodeOK},
	} {
		t.Run(name, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			site := net.Site("shop.example").Handle(at, c.first)
			loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/")})
			_, _ = loader.Load(t.Context(), "https://shop.example"+at)
			net.Clock().Advance(time.Hour)
			site.Handle(at, c.then)
			if _, err := loader.Load(t.Context(), "https://shop.example"+at); lookleap.CodeOf(err) != c.code {
				t.Error(err)
			}
			if sent := net.Journal().Paths("shop.example"); len(sent) != 2 {
				t.Errorf("%d requests", len(sent))
			}
		})
	}
}

// TestConfirmedEvidence: a copy that the server confirmed has the evidence of that exchange.
func TestConfirmedEvidence(t *testing.T) {
	net := lookleaptest.ForTest(t)
	net.Site("shop.example").HandleFunc("/s/a/SKILL.md", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		lookleaptest.Body("text/markdown", refund).ServeHTTP(w, r)
	})
	loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/")})
	load := func() dvs.Evidence {
		t.Helper()
		skill, err := loader.Load(t.Context(), "https://shop.example/s/a/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		var record struct{ Evidence dvs.Evidence }
		if err := json.Unmarshal(skill.Verdict.Record, &record); err != nil {
			t.Fatal(err)
		}
		return record.Evidence
	}
	net.Name("shop.example").DNSSEC(lookleap.Secure)
	first := load()
	net.Name("shop.example").DNSSEC(lookleap.Insecure)
	net.Clock().Advance(time.Hour)
	again := load()
	if again.Status != 200 || again.Digest != first.Digest ||
		first.Names[0].DNSSEC != lookleap.Secure || again.Names[0].DNSSEC != lookleap.Insecure || !again.Received.After(first.Received) {
		t.Errorf("first %+v\nthen %+v", first, again)
	}
}
