package dvs_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// packed are the files of a skill that is served as an archive.
var packed = map[string][]byte{
	"SKILL.md":           []byte("---\nname: refund\ndescription: Refunds an order.\n---\nSee [more](references/MORE.md), [none](NONE.md) and ../other/GUIDE.md; run scripts/x.sh.\n"),
	"references/MORE.md": []byte("more"),
	"scripts/x.sh":       []byte("#!/bin/sh\necho done\n"),
	"data/x.csv":         []byte("a,b"),
}

func archive(t testing.TB, format dvs.ArchiveFormat, files map[string][]byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := dvs.WriteArchive(&b, format, files); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var bothFormats = []dvs.ArchiveFormat{dvs.TarGzip, dvs.Zip}

func TestLoadArchive(t *testing.T) {
	for _, format := range bothFormats {
		name := strings.TrimPrefix(format.Extension(), ".")
		at := "/s/refund" + format.Extension()
		world := func(t *testing.T, body string, options dvs.Options, decide func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error)) (*lookleaptest.Internet, *dvs.Loader, *prompter) {
			net, ui := lookleaptest.ForTest(t), &prompter{decide: decide}
			net.Site("shop.example").File(at, format.MediaType(), body)
			host := net.StubHost()
			host.Prompter = ui
			return net, dvs.NewLoader(host, options), ui
		}
		good := archive(t, format, packed)
		t.Run("DVS-4.1-03/accept-members-"+name, func(t *testing.T) {
			net, loader, _ := world(t, good, dvs.Options{Roots: registry(t, "https://shop.example/")}, decline)
			skill, err := loader.Load(t.Context(), "https://shop.example"+at)
			if err != nil {
				t.Fatal(err)
			}
			if skill.ID.String() != "https://shop.example"+at || skill.ID.Artifact() != dvs.SkillArchive || skill.Name != "refund" || skill.Digest != dvs.DigestOf([]byte(good)) {
				t.Errorf("got %s, %s, %q, %s", skill.ID, skill.ID.Artifact(), skill.Name, skill.Digest)
			}
			for file, content := range packed {
				r, err := skill.Resource(t.Context(), file)
				if err != nil || !bytes.Equal(r.Bytes(), content) || r.Name != file || !r.Verdict.OK {
					t.Errorf("%s: %v, %v", file, r, err)
				}
			}
			if _, err := skill.Resource(t.Context(), "NONE.md"); lookleap.CodeOf(err) != dvs.CodeSkillNotFound {
				t.Error(err)
			}
			if asked := net.Journal().Paths("shop.example"); !slices.Equal(asked, []string{"GET " + at}) {
				t.Errorf("asked for %v", asked)
			}
			skill.Deactivate()
			if _, err := skill.Resource(t.Context(), "data/x.csv"); lookleap.CodeOf(err) != dvs.CodeNotActivated {
				t.Error(err)
			}
		})
		t.Run("DVS-4.4-04/accept-file-beside-the-archive-"+name, func(t *testing.T) {
			net, loader, _ := world(t, good, dvs.Options{Roots: registry(t, "https://shop.example/")}, decline)
			net.Site("shop.example").File("/s/other/GUIDE.md", "text/markdown", "more")
			skill, err := loader.Load(t.Context(), "https://shop.example"+at)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := skill.Resource(t.Context(), "../other/GUIDE.md"); err != nil || string(r.Bytes()) != "more" {
				t.Error(err)
			}
		})
		t.Run("reject-instructions-that-are-not-utf-8-"+name, func(t *testing.T) {
			files := maps.Clone(packed)
			files["references/MORE.md"] = []byte("f\xfcr")
			_, loader, _ := world(t, archive(t, format, files), dvs.Options{Roots: registry(t, "https://shop.example/")}, decline)
			skill, err := loader.Load(t.Context(), "https://shop.example"+at)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := skill.Resource(t.Context(), "references/MORE.md"); r != nil || lookleap.CodeOf(err) != lookleap.CodeNotUTF8 {
				t.Error(r, err)
			}
		})
		t.Run("DVS-4.1-04/accept-bundle-"+name, func(t *testing.T) {
			_, loader, _ := world(t, good, dvs.Options{Roots: registry(t, "https://shop.example/")}, decline)
			skill, err := loader.Load(t.Context(), "https://shop.example"+at)
			if err != nil {
				t.Fatal(err)
			}
			b, err := skill.Bundle(t.Context())
			if err != nil || !maps.EqualFunc(b.Files, packed, bytes.Equal) {
				t.Fatalf("got %v, %v", slices.Sorted(maps.Keys(b.Files)), err)
			}
			if len(b.Findings) != 1 || b.Findings[0].Code != dvs.CodeSkillNotFound || !strings.Contains(b.Findings[0].Message, "NONE.md") {
				t.Errorf("got %v", b.Findings)
			}
			v := skillsFS(t, dvs.DVS, b)
			if err := fstest.TestFS(v, "refund/SKILL.md", "refund/scripts/x.sh", "refund/references/MORE.md"); err != nil {
				t.Error(err)
			}
			listed, err := dvs.Catalogue(v, dvs.DVS, dvs.Limits{})
			if err != nil || len(listed) != 1 || listed[0].Metadata == nil || listed[0].Metadata.Name != "refund" {
				t.Errorf("got %v, %v", listed, err)
			}
			text, err := json.Marshal(v.Lock())
			if err != nil {
				t.Fatal(err)
			}
			lock, err := dvs.ParseLockfile(text)
			if err != nil || lock.Verify(b) != nil || lock.Skills[0].URL != "https://shop.example"+at {
				t.Errorf("got %s, %v", text, err)
			}
			b.Files["data/x.csv"] = []byte("a,c")
			if err := lock.Verify(b); lookleap.CodeOf(err) != dvs.CodeDigestMismatch {
				t.Error(err)
			}
		})
		t.Run("DVS-4.5.2-03/accept-script-"+name, func(t *testing.T) {
			run := &runner{sandbox: dvs.Sandbox{Name: "cage", NoNetwork: true, ReadOnlyFS: true, WorkDir: true, Bounded: true}}
			_, loader, ui := world(t, good, dvs.Options{Roots: registry(t, "https://shop.example/"), Runner: run}, agree)
			skill, err := loader.Load(t.Context(), "https://shop.example"+at)
			if err != nil {
				t.Fatal(err)
			}
			script, err := skill.Approve(t.Context(), invocation)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := script.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(run.ran) != 1 || !bytes.Equal(run.ran[0].Script, packed["scripts/x.sh"]) || !bytes.Equal(run.ran[0].Files["data/x.csv"], packed["data/x.csv"]) || ui.count() != 1 {
				t.Errorf("ran %v after %d prompts", run.ran, ui.count())
			}
		})
		t.Run("DVS-4.5.2-03/reject-script-"+name, func(t *testing.T) {
			_, loader, _ := world(t, good, dvs.Options{Roots: registry(t, "https://shop.example/")}, decline)
			skill, err := loader.Load(t.Context(), "https://shop.example"+at)
			if err != nil {
				t.Fatal(err)
			}
			if script, err := skill.Approve(t.Context(), invocation); err == nil || script != nil {
				t.Error("it ran without consent")
			}
			for ref, code := range map[string]lookleap.Code{"../x.sh": dvs.CodeScriptOutside, "scripts/none.sh": dvs.CodeSkillNotFound} {
				if _, err := skill.Approve(t.Context(), dvs.Invocation{Script: ref}); lookleap.CodeOf(err) != code {
					t.Errorf("%s: %v", ref, err)
				}
			}
		})
		t.Run("DVS-5.2-08/accept-resumed-"+name, func(t *testing.T) {
			net, loader, ui := world(t, good, dvs.Options{}, func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
			})
			_, err := loader.Load(t.Context(), "https://shop.example"+at)
			var pending *lookleap.PendingError
			if !errors.As(err, &pending) {
				t.Fatal(err)
			}
			decision, _ := agree(ui.asked[0])
			got, err := dvs.NewLoader(net.StubHost(), dvs.Options{}).Resume(t.Context(), pending.State, decision)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := got.Loaded.Resource(t.Context(), "references/MORE.md"); err != nil || string(r.Bytes()) != "more" {
				t.Error(err)
			}
			if asked := net.Journal().Paths("shop.example"); len(asked) != 1 {
				t.Errorf("asked for %v", asked)
			}
		})
		for what, c := range map[string]struct {
			body, mediaType string
			want            lookleap.Code
		}{
			"accept-octet-stream": {good, "application/octet-stream", lookleap.CodeOK},
			"reject-page":         {"<p>", "text/html", lookleap.CodeMediaType},
			"reject-damaged":      {good[:len(good)-40], format.MediaType(), dvs.CodeBadArchive},
			"reject-no-skill":     {string(gzipped(t, tarOf(t, member{name: "a/SKILL.md", content: refund}))), format.MediaType(), dvs.CodeMissingSkillMD},
			"reject-climbing":     {string(tarGzip(t, entry, member{name: "../x.md"})), format.MediaType(), dvs.CodeUnsafeName},
			"reject-link":         {string(zipOf(t, nil, entry, member{name: "x.md", kind: tar.TypeSymlink, content: "/etc/passwd"})), format.MediaType(), dvs.CodeLink},
			"reject-bad-header":   {archive(t, format, map[string][]byte{"SKILL.md": []byte("# no header\n")}), format.MediaType(), "no-frontmatter"},
			"reject-large":        {archive(t, format, map[string][]byte{"SKILL.md": []byte(refund), "a": []byte(noise(1 << 20))}), format.MediaType(), lookleap.CodeTooLarge},
		} {
			t.Run("DVS-4.1-01/"+what+"-"+name, func(t *testing.T) {
				net, loader, _ := world(t, "", dvs.Options{Roots: registry(t, "https://shop.example/"), Limits: dvs.Limits{Archive: 256 << 10}}, decline)
				net.Site("shop.example").File(at, c.mediaType, c.body)
				skill, err := loader.Load(t.Context(), "https://shop.example"+at)
				if lookleap.CodeOf(err) != c.want || (err == nil) != (skill != nil) {
					t.Error(err)
				}
			})
		}
		t.Run("DVS-3-01/reject-digest-"+name, func(t *testing.T) {
			_, loader, _ := world(t, good, dvs.Options{Roots: registry(t, "https://shop.example/")}, decline)
			if _, err := loader.LoadPinned(t.Context(), "https://shop.example"+at, dvs.Pin{Digest: dvs.DigestOf(packed["SKILL.md"])}); lookleap.CodeOf(err) != dvs.CodeDigestMismatch {
				t.Error(err)
			}
			if _, err := loader.LoadPinned(t.Context(), "https://shop.example"+at, dvs.Pin{Digest: dvs.DigestOf([]byte(good))}); err != nil {
				t.Error(err)
			}
		})
		t.Run("DVS-3.1-05/reject-outside-root-"+name, func(t *testing.T) {
			net, loader, _ := world(t, good, dvs.Options{}, decline)
			root, err := dvs.ParseTrustRoot("https://shop.example/other/", dvs.Rules{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := loader.LoadUnder(t.Context(), "https://shop.example"+at, root); lookleap.CodeOf(err) != dvs.CodeOutsideTrustRoot || len(net.Journal().Dials()) != 0 {
				t.Error(err)
			}
		})
		t.Run("DVS-3.1-54/accept-rejudged-"+name, func(t *testing.T) {
			_, loader, _ := world(t, good, dvs.Options{Roots: registry(t, "https://shop.example/")}, decline)
			skill, err := loader.Load(t.Context(), "https://shop.example"+at)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := dvs.Rejudge(skill.Verdict, skill.Verdict.CheckedAt, dvs.Rules{}); err != nil || !v.OK {
				t.Errorf("%v %v", v, err)
			}
		})
	}
	t.Run("DVS-3.1-28/accept-this-archive-only", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("github.com").File("*", "text/html", "<p>a page</p>")
		net.Site("raw.githubusercontent.com").File("/o/r/main/refund.zip", "application/zip", archive(t, dvs.Zip, packed))
		host := net.StubHost()
		host.Prompter = &prompter{decide: func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{Digest: req.Digest, Approved: []string{"skill"}}, nil
		}}
		skill, err := dvs.NewLoader(host, dvs.Options{}).Load(t.Context(), "https://github.com/o/r/blob/main/refund.zip")
		if err != nil || skill.Source != dvs.SkillOnly || skill.Root.String() != "https://github.com/o/r/blob/main/refund.zip/" {
			t.Fatalf("%v %v", skill, err)
		}
		if _, err := skill.Resource(t.Context(), "data/x.csv"); err != nil {
			t.Error(err)
		}
		if target, err := skill.Resolve("../OTHER.md"); err != nil || target.Access != dvs.NeedsConsent {
			t.Errorf("%v %v", target, err)
		}
	})
	t.Run("DVS-4.6-03/accept-changed", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		site := net.Site("shop.example").File("/a.zip", "application/zip", archive(t, dvs.Zip, packed))
		loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/")})
		r, err := loader.Register(t.Context(), "https://shop.example/a.zip")
		if err != nil {
			t.Fatal(err)
		}
		other := maps.Clone(packed)
		other["scripts/x.sh"] = []byte("#!/bin/sh\necho other\n")
		site.File("/a.zip", "application/zip", archive(t, dvs.Zip, other))
		skill, err := r.Activate(t.Context())
		if err != nil || !hasFinding(skill.Verdict, dvs.CodeChanged) {
			t.Error("a changed script of an archive is not reported", err)
		}
	})
}

func TestParseArtifactURL(t *testing.T) {
	for _, c := range []struct {
		id, in   string
		artifact dvs.Artifact
		want     string
		is       dvs.Artifact
		code     lookleap.Code
	}{
		{"accept-tar-gz", "https://h.example/a.tar.gz", dvs.SkillDirectory, "https://h.example/a.tar.gz", dvs.SkillArchive, "ok"},
		{"accept-tgz", "https://h.example/a.TGZ", dvs.SkillDirectory, "https://h.example/a.TGZ", dvs.SkillArchive, "ok"},
		{"accept-zip-page", "https://github.com/o/r/blob/main/a.zip", dvs.SkillDirectory, "https://github.com/o/r/blob/main/a.zip", dvs.SkillArchive, "ok"},
		{"accept-zip-bytes", "https://raw.githubusercontent.com/o/r/main/a.zip", dvs.SkillDirectory, "https://github.com/o/r/blob/main/a.zip", dvs.SkillArchive, "ok"},
		{"accept-repository-named-zip", "https://github.com/o/a.zip", dvs.SkillDirectory, "https://github.com/o/a.zip/blob/HEAD/SKILL.md", dvs.SkillDirectory, "ok"},
		{"accept-directory-named-zip", "https://h.example/a.zip/", dvs.SkillDirectory, "https://h.example/a.zip/SKILL.md", dvs.SkillDirectory, "ok"},
		{"accept-dot-zip", "https://h.example/.zip", dvs.SkillDirectory, "https://h.example/.zip/SKILL.md", dvs.SkillDirectory, "ok"},
		{"accept-archive-without-extension", "https://h.example/download/7", dvs.SkillArchive, "https://h.example/download/7", dvs.SkillArchive, "ok"},
		{"accept-file", "https://h.example/guides/a.md", dvs.SingleFile, "https://h.example/guides/a.md", dvs.SingleFile, "ok"},
		{"reject-file-without-index", "https://h.example/guides/a.md", dvs.SkillDirectory, "", 0, dvs.CodeNotSkillURL},
		{"reject-platform-page", "https://github.com/o/r/issues/1.zip", dvs.SkillArchive, "", 0, dvs.CodeNotContentRoute},
		{"reject-query", "https://h.example/download?x=1", dvs.SkillArchive, "", 0, "query-in-skill-url"},
	} {
		t.Run("DVS-3-01/"+c.id, func(t *testing.T) {
			got, err := dvs.ParseArtifactURL(c.in, c.artifact, dvs.Rules{})
			if lookleap.CodeOf(err) != c.code || got.String() != c.want || got.Artifact() != c.is {
				t.Errorf("got %q, %s, %v", got, got.Artifact(), err)
			}
		})
	}
}

// TestForeignListing has an index at shop.example with skills at cdn.example.
func TestForeignListing(t *testing.T) {
	const root, index = "https://shop.example/", "/.well-known/agent-skills/index.json"
	zipped := archive(t, dvs.Zip, packed)
	type world struct {
		net    *lookleaptest.Internet
		loader *dvs.Loader
		ui     *prompter
		listed []dvs.Listing
	}
	build := func(t *testing.T, decide func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error), roots ...string) *world {
		w := &world{net: lookleaptest.ForTest(t), ui: &prompter{decide: decide}}
		w.net.Site("shop.example").File(index, "application/json", `{"$schema":"`+dvs.IndexSchema+`","skills":[
			{"name":"refund","type":"skill-md","description":"The shop says so.","url":"https://cdn.example/s/a/SKILL.md","digest":"`+digestOf(refund)+`"},
			{"name":"refund-zip","type":"archive","description":"d","url":"https://cdn.example/download/a","digest":"`+digestOf(zipped)+`"},
			{"name":"note","type":"skill-md","description":"d","url":"https://cdn.example/guides/note.md","digest":"`+digestOf(refund)+`"},
			{"name":"other","type":"skill-md","description":"d","url":"https://cdn.example/s/b/SKILL.md","digest":"`+digestOf("what was there before")+`"}]}`)
		w.net.Site("cdn.example").File("/s/a/SKILL.md", "text/markdown", refund).File("/download/a", "application/octet-stream", zipped).
			File("/guides/note.md", "text/markdown", refund).File("/guides/ADVANCED.md", "text/markdown", "x").File("/guides/x.sh", "text/plain", "#!/bin/sh\n").File("/s/b/SKILL.md", "text/markdown", refund)
		host := w.net.StubHost()
		host.Prompter = w.ui
		w.loader = dvs.NewLoader(host, dvs.Options{Roots: registry(t, append(roots, root)...)})
		for l, err := range w.loader.Discover(t.Context(), root) {
			if err != nil {
				t.Fatal(err)
			}
			w.listed = append(w.listed, l)
		}
		if len(w.listed) != 4 || !w.listed[0].Foreign() || w.listed[0].Origin() != "https://shop.example" || w.listed[0].Digest != dvs.DigestOf([]byte(refund)) {
			t.Fatalf("listed %v", w.listed)
		}
		return w
	}
	t.Run("DVS-3.2-19/accept-registered-root", func(t *testing.T) {
		w := build(t, decline, "https://cdn.example/")
		for i, want := range []lookleap.Code{"ok", "ok", "ok", dvs.CodeDigestMismatch} {
			if _, err := w.loader.LoadListing(t.Context(), w.listed[i]); lookleap.CodeOf(err) != want {
				t.Errorf("%d: %v", i, err)
			}
		}
		if w.ui.count() != 0 {
			t.Error("the user was asked")
		}
	})
	t.Run("DVS-3.2-19/accept-one-consent-with-both-origins", func(t *testing.T) {
		w := build(t, nil)
		w.ui.decide = func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			if sent := w.net.Journal().Paths("cdn.example"); len(sent) > 0 {
				t.Errorf("%s was sent before", sent)
			}
			shown := req.Summary + req.Items[0].Summary
			for _, part := range []string{"https://shop.example", "https://cdn.example", digestOf(refund)} {
				if !strings.Contains(shown, part) || part != digestOf(refund) && !strings.Contains(req.Summary, part) {
					t.Errorf("%s is not shown: %s", part, shown)
				}
			}
			return agree(req)
		}
		for range 2 {
			skill, err := w.loader.LoadListing(t.Context(), w.listed[0])
			if err != nil || skill.ID.String() != "https://cdn.example/s/a/SKILL.md" || skill.Root.String() != "https://cdn.example/" {
				t.Fatalf("%v %v", skill, err)
			}
		}
		if w.ui.count() != 1 {
			t.Errorf("%d prompts", w.ui.count())
		}
	})
	t.Run("DVS-3.2-19/accept-what-is-sent-and-to-whom", func(t *testing.T) {
		w := build(t, agree)
		const url = "https://cdn.example/s/a/SKILL.md"
		unpinned := w.listed[0]
		unpinned.Digest = dvs.Digest{}
		for i, pin := range []string{" with the digest " + digestOf(refund), ""} {
			if _, err := w.loader.LoadListing(t.Context(), []dvs.Listing{w.listed[0], unpinned}[i]); err != nil {
				t.Fatal(err)
			}
			item := w.ui.asked[i].Items[0]
			if item.Recipient != "cdn.example" || item.Digest != lookleap.Digest([]byte(url)) || item.Summary != `ask for "`+url+`", and use its instructions, which were not read yet; "https://shop.example" lists it`+pin {
				t.Errorf("%+v", item)
			}
		}
	})
	t.Run("DVS-3.2-19/reject-other-digest-than-agreed-to", func(t *testing.T) {
		w := build(t, agree)
		other := w.listed[0]
		other.Digest = dvs.DigestOf([]byte("what was there before"))
		for i, want := range []lookleap.Code{"ok", "ok", dvs.CodeDigestMismatch} {
			if _, err := w.loader.LoadListing(t.Context(), []dvs.Listing{w.listed[0], w.listed[0], other}[i]); lookleap.CodeOf(err) != want || w.ui.count() != 1+i/2 {
				t.Errorf("%d: %v after %d prompts", i, err, w.ui.count())
			}
		}
	})
	t.Run("DVS-3.2-19/reject-declined", func(t *testing.T) {
		w := build(t, decline)
		for _, l := range w.listed {
			if skill, err := w.loader.LoadListing(t.Context(), l); err == nil || skill != nil {
				t.Error("it was loaded")
			}
			if r, err := w.loader.RegisterListing(t.Context(), l); err == nil || r != nil {
				t.Error("it was registered")
			}
		}
		if sent := w.net.Journal().Paths("cdn.example"); len(sent) != 0 {
			t.Errorf("%s was sent", sent)
		}
	})
	t.Run("DVS-3.2-19/reject-other-bytes-than-agreed", func(t *testing.T) {
		w := build(t, agree)
		if skill, err := w.loader.LoadListing(t.Context(), w.listed[3]); lookleap.CodeOf(err) != dvs.CodeDigestMismatch || skill != nil {
			t.Error(err)
		}
	})
	t.Run("DVS-3.2-21/accept-metadata-of-the-file", func(t *testing.T) {
		w := build(t, agree)
		r, err := w.loader.RegisterListing(t.Context(), w.listed[0])
		if err != nil || r.Description != "Refunds an order." || !hasFinding(r.Verdict, dvs.CodeIndexMismatch) {
			t.Fatalf("%v %v", r, err)
		}
		if _, err := r.Activate(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("DVS-5.2-08/accept-resumed", func(t *testing.T) {
		w := build(t, func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
		})
		_, err := w.loader.LoadListing(t.Context(), w.listed[1])
		var pending *lookleap.PendingError
		if !errors.As(err, &pending) {
			t.Fatal(err)
		}
		decision, _ := agree(w.ui.asked[0])
		got, err := dvs.NewLoader(w.net.StubHost(), dvs.Options{}).Resume(t.Context(), pending.State, decision)
		if err != nil || got.Loaded == nil {
			t.Fatal(err)
		}
		if r, err := got.Loaded.Resource(t.Context(), "data/x.csv"); err != nil || string(r.Bytes()) != "a,b" {
			t.Error(err)
		}
		if b, err := got.Loaded.Bundle(t.Context()); err != nil || b.Artifact != dvs.SkillArchive {
			t.Errorf("%s, %v", b.Artifact, err)
		}
	})
	t.Run("DVS-4.5.2-01/accept-single-file-has-no-directory", func(t *testing.T) {
		w := build(t, decline, "https://cdn.example/")
		skill, err := w.loader.LoadListing(t.Context(), w.listed[2])
		if err != nil || skill.ID.Artifact() != dvs.SingleFile {
			t.Fatal(err)
		}
		if target, err := skill.Resolve("ADVANCED.md"); err != nil || target.Access != dvs.UnderRoot {
			t.Errorf("%v %v", target, err)
		}
		if _, err := skill.Resolve("x.sh"); lookleap.CodeOf(err) != dvs.CodeScriptOutside {
			t.Error(err)
		}
		b, err := skill.Bundle(t.Context())
		if err != nil || len(b.Files) != 1 || len(b.Findings) != 1 || b.Findings[0].Code != dvs.CodeNotBundled {
			t.Errorf("%v %v", b.Findings, err)
		}
		if _, err := dvs.ParseLockfile(mustJSON(t, skillsFS(t, dvs.DVS, b).Lock())); err != nil {
			t.Error(err)
		}
	})
	t.Run("DVS-7-03/reject-revoked", func(t *testing.T) {
		w := build(t, agree)
		if err := w.loader.RevokeDomain("cdn.example", false); err != nil {
			t.Fatal(err)
		}
		if _, err := w.loader.LoadListing(t.Context(), w.listed[0]); lookleap.CodeOf(err) != dvs.CodeRevoked || w.ui.count() != 0 {
			t.Error(err)
		}
	})
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
