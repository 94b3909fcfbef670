package dvs_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/alloctest"
	"github.com/lookleap/lookleap/internal/lab"
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
			net := lab.ForTest(t)
			u := skillURL(t, c.url)
			for _, host := range []string{"github.com", "raw.githubusercontent.com", "media.githubusercontent.com", "cs.univ.example", u.Host()} {
				net.Site(host).Body("*", "text/markdown", refund)
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
			host := net.Host()
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
		net := lab.ForTest(t)
		net.Site("gitlab.com").Body("*", "text/markdown", refund).Redirect("/group/project/-/raw/main/MORE.md", "/group/project/uploads/"+upload+"/MORE.md")
		skill, err := dvs.NewLoader(net.Host(), dvs.Options{Roots: registry(t, "https://gitlab.com/group/")}).Load(t.Context(), "https://gitlab.com/group/project/-/blob/main/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := skill.Resource(t.Context(), "MORE.md"); lookleap.CodeOf(err) != dvs.CodeNotContentRoute {
			t.Errorf("got %v", err)
		}
	})
	t.Run("O41/reject-blocked-since-it-was-fetched", func(t *testing.T) {
		net := lab.ForTest(t)
		net.Site("shop.example").Body("*", "text/markdown", refund).Redirect("/a/SKILL.md", "/b/SKILL.md")
		loader := dvs.NewLoader(net.Host(), dvs.Options{Roots: registry(t, "https://shop.example/")})
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
// refused: that never takes more than three times the limit.
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
		check("lockfile/reject-"+name, lock, func() error {
			_, err := dvs.ParseLockfile(data)
			return err
		})
	}

	net := lab.ForTest(t)
	net.Site("shop.example").Body("/s/a/SKILL.md", "text/markdown", refund).
		Body("/s/b/SKILL.md", "text/markdown", "x").Fault("/s/b/SKILL.md", lab.Endless()).
		Body("/s/a/MORE.md", "text/markdown", "x").Fault("/s/a/MORE.md", lab.Endless())
	options := dvs.Options{Roots: registry(t, "https://shop.example/")}
	loaded, err := dvs.NewLoader(net.Host(), options).Load(t.Context(), "https://shop.example/s/a/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	check("C20/reject-skill-without-end", skill, func() error {
		_, err := dvs.NewLoader(net.Host(), options).Load(t.Context(), "https://shop.example/s/b/SKILL.md")
		return err
	})
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
		"UTF-16":      {[]byte(utf16le("\ufeff---\nname: a\ndescription: b\n---\n" + strings.Repeat("x", size/2-100))), dvs.Lenient, 7},
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
			net := lab.ForTest(t)
			site := net.Site("shop.example")
			path := func(i int) string { return fmt.Sprintf("/s/%d/SKILL.md", i) }
			for i := range 8 {
				site.Body(path(i), "text/markdown", refund+strings.Repeat("Do this.\n", 1<<19/9))
			}
			loader := dvs.NewLoader(net.Host(), dvs.Options{Roots: registry(t, "https://shop.example/"), Limits: dvs.Limits{Memory: c.memory}})
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

// TestSharedCopies lets several processes load one skill with one cache.
func TestSharedCopies(t *testing.T) {
	const at, url, key = "/s/a/SKILL.md", "https://shop.example/s/a/SKILL.md", "dvs/2/https://shop.example/s/a/SKILL.md"
	type fleet struct {
		*lab.Internet
		site  *lab.Site
		cache lookleap.Cache
	}
	world := func(t *testing.T, header http.Header) fleet {
		net := lab.ForTest(t)
		site := net.Site("shop.example").Handle(at, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/markdown")
			for name, values := range header {
				w.Header()[name] = values
			}
			_, _ = w.Write([]byte(refund))
		}))
		return fleet{net, site, lookleap.NewMemoryCache(10)}
	}
	process := func(t *testing.T, f fleet, roots ...string) *dvs.Loader {
		host := f.Host()
		host.Cache = f.cache
		return dvs.NewLoader(host, dvs.Options{Roots: registry(t, roots...)})
	}
	asked := func(f fleet) int { return len(f.Journal().Paths("shop.example")) }
	load := func(t *testing.T, l *dvs.Loader) *dvs.Loaded {
		t.Helper()
		skill, err := l.Load(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		return skill
	}

	t.Run("one-exchange", func(t *testing.T) {
		f := world(t, nil)
		first := load(t, process(t, f, "https://shop.example/"))
		second := load(t, process(t, f, "https://shop.example/s/"))
		if asked(f) != 1 || second.Digest != first.Digest || second.Root.String() != "https://shop.example/s/" || second.Verdict.Expires != first.Verdict.Expires {
			t.Errorf("asked %d times: %v", asked(f), second.Verdict)
		}
	})
	t.Run("each-judges", func(t *testing.T) {
		f := world(t, nil)
		load(t, process(t, f, "https://shop.example/"))
		if skill, err := process(t, f).Load(t.Context(), url); err == nil { // no one was asked there
			t.Error(skill)
		}
		strict := process(t, f, "https://shop.example/")
		if err := strict.RevokeDomain("shop.example", false); err != nil {
			t.Fatal(err)
		}
		if _, err := strict.Load(t.Context(), url); lookleap.CodeOf(err) != dvs.CodeRevoked {
			t.Error(err)
		}
	})
	t.Run("activation-asks", func(t *testing.T) {
		f := world(t, nil)
		r, err := process(t, f, "https://shop.example/").Register(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		f.site.Body(at, "text/markdown", strings.Replace(refund, "Refunds", "Now refunds", 1))
		if skill, err := r.Activate(t.Context()); err != nil || !hasFinding(skill.Verdict, dvs.CodeChanged) {
			t.Error(skill, err)
		}
		if skill := load(t, process(t, f, "https://shop.example/")); skill.Description != "Now refunds an order." || asked(f) != 2 {
			t.Errorf("asked %d times: %q", asked(f), skill.Description)
		}
	})
	for name, header := range map[string]http.Header{
		"private":   {"Cache-Control": {"private, max-age=600"}},
		"no-store":  {"Cache-Control": {"no-store"}},
		"cookie":    {"Set-Cookie": {"user=1"}},
		"vary":      {"Vary": {"Accept, Authorization"}},
		"vary-all":  {"Vary": {"*"}},
		"vary-key":  {"Vary": {"Accept-Encoding", "X-Api-Key"}},
		"s-maxage":  {"Cache-Control": {"max-age=600, s-maxage=0"}},
		"not-fresh": {"Cache-Control": {"max-age=0"}},
	} {
		t.Run("for-one-user-"+name, func(t *testing.T) {
			f := world(t, header)
			load(t, process(t, f, "https://shop.example/"))
			if _, _, err := f.cache.Get(t.Context(), key); err == nil {
				t.Error("it is shared")
			}
			load(t, process(t, f, "https://shop.example/"))
			if asked(f) != 2 {
				t.Errorf("asked %d times", asked(f))
			}
		})
	}
	for name, header := range map[string][]string{
		"private":    {"Cache-Control", "private"},
		"no-store":   {"Cache-Control", "no-store"},
		"set-cookie": {"Set-Cookie", "user=1"},
		"vary":       {"Vary", "Cookie"},
		"no-cache":   {"Cache-Control", "no-cache"},
	} {
		t.Run("O34/reject-redirect-"+name, func(t *testing.T) {
			f := world(t, http.Header{"Cache-Control": {"max-age=86400"}})
			f.site.Handle("/moved/a/SKILL.md", lab.Status(302, append([]string{"Location", at}, header...)...))
			const url = "https://shop.example/moved/a/SKILL.md"
			for n := range 2 { // users, each with a process
				if _, err := process(t, f, "https://shop.example/").Load(t.Context(), url); err != nil {
					t.Fatal(err)
				}
				if asked(f) != 2*n+2 {
					t.Errorf("asked %d times", asked(f))
				}
			}
		})
	}
	t.Run("O34/accept-redirect", func(t *testing.T) {
		f := world(t, http.Header{"Cache-Control": {"max-age=86400"}})
		f.site.Handle("/moved/a/SKILL.md", lab.Status(302, "Location", at, "Cache-Control", "max-age=600"))
		for range 2 {
			if _, err := process(t, f, "https://shop.example/").Load(t.Context(), "https://shop.example/moved/a/SKILL.md"); err != nil || asked(f) != 2 {
				t.Error(err, asked(f))
			}
		}
	})
	t.Run("what-is-odd-counts-not", func(t *testing.T) {
		for name, change := range map[string]func(string) string{
			"body":   func(s string) string { return strings.Replace(s, "Ask for", "Bad for", 1) },
			"longer": func(s string) string { return s + "more" },
			"size":   func(s string) string { return strings.Replace(s, `"size":`, `"size":9`, 1) },
			"digest": func(s string) string { return strings.Replace(s, `"digest":"sha256:`, `"digest":"sha256:00`, 1) },
			"status": func(s string) string { return strings.Replace(s, `"status":200`, `"status":404`, 1) },
			"hops": func(s string) string {
				return strings.Replace(s, `"status":200`, `"hops":["https://shop.example/1","https://shop.example/2","https://shop.example/3","https://shop.example/4","https://shop.example/5","https://shop.example/6"],"status":200`, 1)
			},
			"hop": func(s string) string {
				return strings.Replace(s, `"status":200`, `"hops":["http://shop.example/1"],"status":200`, 1)
			},
			"later": func(s string) string {
				return regexp.MustCompile(`"received":"[0-9]+`).ReplaceAllString(s, `"received":"9000`)
			},
			"json": func(s string) string { return s[1:] },
		} {
			t.Run(name, func(t *testing.T) {
				f := world(t, nil)
				load(t, process(t, f, "https://shop.example/"))
				value, expires, err := f.cache.Get(t.Context(), key)
				if err != nil {
					t.Fatal(err)
				}
				if changed := change(string(value)); changed == string(value) {
					t.Fatalf("nothing is changed in %s", value)
				} else if err := f.cache.Put(t.Context(), key, []byte(changed), expires); err != nil {
					t.Fatal(err)
				}
				if skill := load(t, process(t, f, "https://shop.example/")); asked(f) != 2 || skill.Digest != dvs.DigestOf([]byte(refund)) {
					t.Errorf("asked %d times", asked(f))
				}
			})
		}
	})
	t.Run("expires-before-it-is-looked-for-again", func(t *testing.T) {
		f := world(t, http.Header{"Cache-Control": {"max-age=30"}})
		load(t, process(t, f, "https://shop.example/"))
		second := process(t, f, "https://shop.example/")
		for _, want := range []int{1, 2} {
			if load(t, second); asked(f) != want {
				t.Errorf("asked %d times, want %d", asked(f), want)
			}
			f.Clock().Advance(31 * time.Second)
		}
	})
	t.Run("kept-for-less-time-than-elsewhere", func(t *testing.T) {
		f := world(t, http.Header{"Cache-Control": {"max-age=36000"}})
		load(t, process(t, f, "https://shop.example/"))
		host := f.Host()
		host.Cache = f.cache
		for _, want := range []int{1, 2} {
			f.Clock().Advance(time.Hour)
			l := dvs.NewLoader(host, dvs.Options{Roots: registry(t, "https://shop.example/"), Limits: dvs.Limits{Kept: 2 * time.Hour}})
			if load(t, l); asked(f) != want {
				t.Errorf("asked %d times, want %d", asked(f), want)
			}
		}
	})
	t.Run("expires", func(t *testing.T) {
		f := world(t, http.Header{"Cache-Control": {"max-age=600"}})
		load(t, process(t, f, "https://shop.example/"))
		f.Clock().Advance(11 * time.Minute)
		load(t, process(t, f, "https://shop.example/"))
		if asked(f) != 2 {
			t.Errorf("asked %d times", asked(f))
		}
	})
	t.Run("taken-back", func(t *testing.T) {
		f := world(t, nil)
		r, err := process(t, f, "https://shop.example/").Register(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		f.site.Status(at, 404)
		if _, err := r.Activate(t.Context()); err == nil {
			t.Error("it is there")
		}
		if _, _, err := f.cache.Get(context.Background(), key); err == nil {
			t.Error("it is still shared")
		}
	})
}

// TestHungCache: a shared cache that never answers is a miss, for callers without a deadline too.
func TestHungCache(t *testing.T) {
	for name, deaf := range map[string]bool{"accept-cache-that-heeds-its-context": false, "accept-deaf-cache": true} {
		t.Run("O13/"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung := lab.NewHung(deaf)
				net := lab.ForTest(t)
				net.Site("shop.example").Body("/s/a/SKILL.md", "text/markdown", refund)
				host := net.Host()
				host.Cache = hung
				l := dvs.NewLoader(host, dvs.Options{Roots: registry(t, "https://shop.example/")})
				if _, err := l.Load(context.Background(), "https://shop.example/s/a/SKILL.md"); err != nil || hung.Calls() == 0 {
					t.Errorf("%v after %d calls", err, hung.Calls())
				}
				hung.End()
			})
		})
	}
}
