package dvs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

func TestLockfile(t *testing.T) {
	a := bundle("a", "name: a\ndescription: b\n", "x.json", "{}")
	lock := skillsFS(t, dvs.DVS, a, bundle("c", "name: c\ndescription: b\n")).Lock()
	data, err := lock.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	back, err := dvs.ParseLockfile(data)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := back.MarshalJSON(); !bytes.Equal(again, data) {
		t.Errorf("%s\n%s", data, again)
	}
	if err := (*dvs.Lockfile)(nil).UnmarshalJSON(data); lookleap.CodeOf(err) != lookleap.CodeUsage {
		t.Errorf("read into nothing: %v", err)
	}
	frozen := func(b dvs.Bundle) error {
		return dvs.NewVerifiedFS([]dvs.Bundle{b}, dvs.VerifiedFSOptions{Frozen: back}).Reports()[0].Err
	}
	if err := frozen(a); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		change func(*dvs.Bundle)
		code   lookleap.Code
	}{
		"reject-other-skill":   {func(b *dvs.Bundle) { b.ID += "x"; b.Verdict.Subject = b.ID }, dvs.CodeNotLocked},
		"reject-other-root":    {func(b *dvs.Bundle) { b.Root = "https://example.com/s/" }, dvs.CodeNotLocked},
		"reject-changed-file":  {func(b *dvs.Bundle) { b.Files["x.json"] = []byte("[]") }, dvs.CodeDigestMismatch},
		"reject-changed-skill": {func(b *dvs.Bundle) { b.Files["SKILL.md"] = append(b.Files["SKILL.md"], ' ') }, dvs.CodeDigestMismatch},
		"reject-more-files":    {func(b *dvs.Bundle) { b.Files["y.sh"] = nil }, dvs.CodeNotLocked},
		"reject-fewer-files":   {func(b *dvs.Bundle) { delete(b.Files, "x.json") }, dvs.CodeLockMissing},
	} {
		t.Run(name, func(t *testing.T) {
			b := bundle("a", "name: a\ndescription: b\n", "x.json", "{}")
			b.Files = maps.Clone(b.Files)
			c.change(&b)
			if err := frozen(b); lookleap.CodeOf(err) != c.code {
				t.Error(err)
			}
		})
	}
	digest := dvs.DigestOf(nil).String()
	entry := func(path string) string {
		return fmt.Sprintf(`{"path":%q,"digest":%q}`, path, digest)
	}
	skill := func(directory string, files ...string) string {
		return fmt.Sprintf(`{"url":"https://example.com/%s","trustRoot":%q,"directory":%q,"files":[%s]}`, directory, root, directory, strings.Join(files, ","))
	}
	for name, text := range map[string]string{
		"reject-type":            strings.Replace(string(data), "version=1", "version=2", 1),
		"reject-no-type":         `{"skills":[]}`,
		"reject-no-skills":       `{"type":"` + dvs.LockMediaType + `"}`,
		"reject-skills-no-list":  `{"type":"` + dvs.LockMediaType + `","skills":{}}`,
		"reject-climbing":        `{"type":"` + dvs.LockMediaType + `","skills":[` + skill("a", entry("../x")) + `]}`,
		"reject-file-twice":      `{"type":"` + dvs.LockMediaType + `","skills":[` + skill("a", entry("x"), entry("X")) + `]}`,
		"reject-directory":       `{"type":"` + dvs.LockMediaType + `","skills":[` + skill("../a") + `]}`,
		"reject-directory-twice": `{"type":"` + dvs.LockMediaType + `","skills":[` + skill("a") + `,` + strings.Replace(skill("a"), ".com/a", ".com/b", 1) + `]}`,
		"reject-digest":          strings.Replace(string(data), "sha256:", "sha512:", 1),
		"reject-upper-case":      `{"type":"` + dvs.LockMediaType + `","skills":[` + skill("a", strings.ToUpper(entry("x"))) + `]}`,
		"reject-duplicate-name":  `{"type":"` + dvs.LockMediaType + `","skills":[],"skills":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if lock, err := dvs.ParseLockfile([]byte(text)); lookleap.CodeOf(err) != dvs.CodeBadLock || lock != nil {
				t.Errorf("%v, %v", lock, err)
			}
		})
	}
}

func TestPublishedLock(t *testing.T) {
	b := bundle("a", "name: a\ndescription: b\nallowed-tools: Bash\n", "x.json", "{}")
	p, err := dvs.NewPublished(b.Files, dvs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	lock, err := p.Lock(must(dvs.ParseSkillURL(b.ID, dvs.Rules{})), must(dvs.ParseTrustRoot(b.Root, dvs.Rules{})), dvs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want, _ := skillsFS(t, dvs.DVS, b).Lock().MarshalJSON()
	if got, _ := lock.MarshalJSON(); !bytes.Equal(got, want) {
		t.Errorf("the publisher has\n%s\nan agent has\n%s", got, want)
	}
	for url, want := range map[string]dvs.Artifact{"https://example.com/a.zip": dvs.SingleFile, "https://example.com/a": dvs.SingleFile} {
		u := must(dvs.ParseArtifactURL(url, want, dvs.Rules{}))
		if lock, err := p.Lock(u, must(dvs.ParseTrustRoot(b.Root, dvs.Rules{})), dvs.Limits{}); err != nil || lock.Skills[0].Artifact != want {
			t.Errorf("%s: %v, %v", url, lock, err)
		}
	}
	if lock, err := p.Lock(must(dvs.ParseSkillURL(b.ID, dvs.Rules{})), must(dvs.ParseTrustRoot("https://example.net/", dvs.Rules{})), dvs.Limits{}); lookleap.CodeOf(err) != dvs.CodeOutsideTrustRoot || lock != nil {
		t.Errorf("%v, %v", lock, err)
	}
}

// FuzzLockfile: what is read is safe to use as paths, and reads back as itself.
func FuzzLockfile(f *testing.F) {
	v := dvs.NewVerifiedFS([]dvs.Bundle{bundle("a", "name: a\ndescription: b\n", "x.json", "{}")}, dvs.VerifiedFSOptions{})
	f.Add(must(v.Lock().MarshalJSON()))
	f.Add([]byte(`{"type":"` + dvs.LockMediaType + `","skills":[]}`))
	f.Add(bytes.Replace(must(v.Lock().MarshalJSON()), []byte(`"x.json"`), []byte(`"/x"`), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		lock, err := dvs.ParseLockfile(data)
		if err != nil {
			if lock != nil || lookleap.CodeOf(err) != dvs.CodeBadLock {
				t.Fatalf("%v, %v", lock, err)
			}
			return
		}
		for _, s := range lock.Skills {
			if strings.Contains(s.Directory, "/") || !fs.ValidPath(s.Directory) {
				t.Errorf("directory %q", s.Directory)
			}
			for _, file := range s.Files {
				if !fs.ValidPath(file.Path) {
					t.Errorf("path %q", file.Path)
				}
			}
			if changes := s.Changes(nil); len(changes) != len(s.Files) {
				t.Errorf("%d files, %d changes", len(s.Files), len(changes))
			}
		}
		written := must(lock.MarshalJSON())
		again, err := dvs.ParseLockfile(written)
		if err != nil || !bytes.Equal(must(again.MarshalJSON()), written) {
			t.Errorf("%s reads back as %v, %v", written, again, err)
		}
	})
}

func TestLockfileFormat(t *testing.T) {
	lock := skillsFS(t, dvs.DVS, bundle("a", "name: a\ndescription: b\n", "x.json", "{}"), bundle("c", "name: c\ndescription: b\n")).Lock()
	good := string(must(lock.MarshalJSON()))
	if _, err := dvs.ParseLockfile([]byte(good)); err != nil {
		t.Fatal(err)
	}
	const url = `"url":"https://example.com/s/a/SKILL.md"`
	for name, c := range map[string]struct{ before, after, place string }{
		"unknown-member":          {`{"type"`, `{"more":1,"type"`, "/more"},
		"unknown-member-of-skill": {url, url + `,"hooks":[]`, "/skills/0/hooks"},
		"unknown-member-of-file":  {`{"path":"x.json"`, `{"mode":"0755","path":"x.json"`, "/skills/0/files/1/mode"},
		"member-in-other-case":    {url, strings.ToUpper(url[:5]) + url[5:], "/skills/0/URL"},
		"empty-URL":               {url, `"url":""`, "/skills/0/url"},
		"host-in-capitals":        {url, `"url":"https://EXAMPLE.com/s/a/SKILL.md"`, "/skills/0/url"},
		"default-port":            {url, `"url":"https://example.com:443/s/a/SKILL.md"`, "/skills/0/url"},
		"dots":                    {url, `"url":"https://example.com/s/../s/a/SKILL.md"`, "/skills/0/url"},
		"fragment":                {url, `"url":"https://example.com/s/a/SKILL.md#x"`, "/skills/0/url"},
		"directory-URL":           {url, `"url":"https://example.com/s/a/"`, "/skills/0/url"},
		"plain-http":              {url, `"url":"http://example.com/s/a/SKILL.md"`, "/skills/0/url"},
		"URL-twice":               {`/s/c/SKILL.md"`, `/s/a/SKILL.md"`, "/skills/1/url"},
		"directory-twice":         {`"directory":"c"`, `"directory":"a"`, "/skills/1/directory"},
		"path-twice":              {`"path":"x.json"`, `"path":"Skill.md"`, "/skills/0/files/1/path"},
		"path-that-folds":         {`"path":"x.json"`, `"path":".git/x"`, "/skills/0/files/1/path"},
		"absolute-path":           {`"path":"x.json"`, `"path":"/x"`, "/skills/0/files/1/path"},
		"root-as-path":            {`"path":"x.json"`, `"path":"/"`, "/skills/0/files/1/path"},
		"path-that-climbs":        {`"path":"x.json"`, `"path":"../../x"`, "/skills/0/files/1/path"},
		"empty-path":              {`"path":"x.json"`, `"path":""`, "/skills/0/files/1/path"},
		"empty-root":              {`"trustRoot":"https://example.com/"`, `"trustRoot":""`, "/skills/0/trustRoot"},
		"root-without-slash":      {`"trustRoot":"https://example.com/"`, `"trustRoot":"https://example.com"`, "/skills/0/trustRoot"},
		"root-of-another":         {`"trustRoot":"https://example.com/"`, `"trustRoot":"https://example.net/"`, "/skills/0/trustRoot"},
		"no-digest":               {`"digest":"sha256:`, `"digest":"`, "/skills/0/files/0/digest"},
		"missing-digest":          {`{"path":"x.json","digest"`, `{"path":"x.json","written"`, "/skills/0/files/1"},
		"no-SKILL.md":             {`"path":"SKILL.md"`, `"path":"SKILL.txt"`, "/skills/0/files"},
		"no-JSON":                 {`{"type"`, `<`, ""},
		"folder-outside":          {`"directory":"a"`, `"directory":"a","installed":{"source":"x/y","folder":"../a"}`, "/skills/0/installed/folder"},
		"folder-of-git":           {`"directory":"a"`, `"directory":"a","installed":{"source":"x/y","folder":"x/.Git/hooks"}`, "/skills/0/installed/folder"},
		"short-commit":            {`"directory":"a"`, `"directory":"a","installed":{"source":"x/y","commit":"0123"}`, "/skills/0/installed/commit"},
		"unsafe-directory":        {`"directory":"a"`, `"directory":"../a"`, "/skills/0/directory"},
		"directory-in-capitals":   {`"directory":"a"`, `"directory":"A"`, "/skills/0/directory"},
		"unknown-artifact":        {url, url + `,"artifact":"x"`, "/skills/0/artifact"},
		"capabilities-as-object":  {`"capabilities":[]`, `"capabilities":{}`, "/skills/0/capabilities"},
		"unknown-capability":      {`"capabilities":[]`, `"capabilities":[{"kind":"x","value":"","file":""}]`, "/skills/0/capabilities/0/kind"},
		"member-of-a-capability":  {`"capabilities":[]`, `"capabilities":[{"kind":"host","value":"a","file":"","more":1}]`, "/skills/0/capabilities/0/more"},
		"capability-of-a-number":  {`"capabilities":[]`, `"capabilities":[{"kind":"host","value":5,"file":""}]`, "/skills/0/capabilities/0/value"},
		"number-as-path":          {`"path":"x.json"`, `"path":5`, "/skills/0/files/1/path"},
		"skill-as-text":           {`"skills":[`, `"skills":["a",`, "/skills/0"},
	} {
		t.Run("O68/reject-"+name, func(t *testing.T) {
			text := strings.Replace(good, c.before, c.after, 1)
			lock, err := dvs.ParseLockfile([]byte(text))
			var e *lookleap.Error
			if lock != nil || !errors.As(err, &e) || e.Code != dvs.CodeBadLock || e.Position.Line == 0 || e.Position.Path != c.place || e.Fix == "" || strings.HasSuffix(e.Fix, " ") || text == good || name == "empty-root" && !strings.Contains(e.Message, "not a canonical trust root") {
				t.Errorf("%+v\n%s", err, text)
			}
		})
	}
}

// TestLockfileOrder holds the order of a lockfile, and the bounds of one skill.
func TestLockfileOrder(t *testing.T) {
	digest := dvs.DigestOf(nil)
	file := func(path string) dvs.LockedFile { return dvs.LockedFile{Path: path, Digest: digest} }
	skill := func(name string, files ...dvs.LockedFile) dvs.LockedSkill {
		return dvs.LockedSkill{URL: root + name + "/SKILL.md", Root: root, Directory: name, Files: append(files, file("SKILL.md"))}
	}
	b := skill("b", file("x"))
	b.Capabilities = dvs.Capabilities{{Kind: "url", Value: "https://a.example/", File: "x"}, {Kind: "host", Value: "a.example", File: "x"}}
	unsorted := &dvs.Lockfile{Skills: []dvs.LockedSkill{b, skill("a")}}
	inOrder := func(t *testing.T, l *dvs.Lockfile) {
		t.Helper()
		if l.Skills[0].Directory != "a" || l.Skills[1].Files[0].Path != "SKILL.md" || l.Skills[1].Capabilities[0].Kind != "host" {
			t.Errorf("%+v", l.Skills)
		}
	}
	t.Run("O68/accept-written-in-order", func(t *testing.T) {
		text := string(must(unsorted.MarshalJSON()))
		at := -1
		for _, word := range []string{`"directory":"a"`, `"directory":"b"`, `"path":"SKILL.md"`, `"path":"x"`, `"kind":"host"`, `"kind":"url"`} {
			next := strings.LastIndex(text, word)
			if next < at {
				t.Errorf("%s comes too early in\n%s", word, text)
			}
			at = next
		}
		if unsorted.Skills[0].Directory != "b" || unsorted.Skills[0].Files[0].Path != "x" {
			t.Error("writing changed the lockfile")
		}
		if unsorted.Skills[0].Capabilities[0].Kind != "url" {
			t.Error("writing changed the capabilities")
		}
	})
	t.Run("O68/accept-read-in-order", func(t *testing.T) {
		type plain dvs.Lockfile
		text := must(json.Marshal(struct {
			Type string `json:"type"`
			*plain
		}{dvs.LockMediaType, (*plain)(unsorted)}))
		lock, err := dvs.ParseLockfile(text)
		if err != nil {
			t.Fatal(err)
		}
		inOrder(t, lock)
	})
	t.Run("O68/accept-without-capabilities", func(t *testing.T) {
		lock, err := dvs.ParseLockfile(must((&dvs.Lockfile{Skills: []dvs.LockedSkill{skill("a")}}).MarshalJSON()))
		if err != nil || lock.Skills[0].Capabilities != nil {
			t.Error(lock, err)
		}
	})
	for name, n := range map[string]int{"accept-10000-files": 10_000, "reject-10001-files": 10_001} {
		t.Run("O68/"+name, func(t *testing.T) {
			files := make([]dvs.LockedFile, n-1)
			for i := range files {
				files[i] = file(fmt.Sprintf("f%d", i))
			}
			lock, err := dvs.ParseLockfile(must((&dvs.Lockfile{Skills: []dvs.LockedSkill{skill("a", files...)}}).MarshalJSON()))
			switch {
			case n <= 10_000 && (err != nil || len(lock.Skills[0].Files) != n):
				t.Error(err)
			case n > 10_000 && (lock != nil || lookleap.CodeOf(err) != dvs.CodeBadLock || !strings.Contains(err.Error(), "more than 10000 files")):
				t.Error(err)
			}
		})
	}
}

func TestParseDigest(t *testing.T) {
	want := dvs.DigestOf([]byte("a"))
	if got, err := dvs.ParseDigest(want.String()); err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
	for name, text := range map[string]string{
		"reject-empty":      "",
		"reject-other-hash": strings.Replace(want.String(), "sha256", "sha512", 1),
		"reject-upper-case": "sha256:" + strings.ToUpper(want.String()[7:]),
		"reject-short":      want.String()[:70],
		"reject-one-byte":   want.String()[:9],
		"reject-too-long":   want.String() + "00",
		"reject-no-hex":     "sha256:" + strings.Repeat("g", 64),
		"reject-last-digit": want.String()[:70] + "g",
		"reject-zero":       "sha256:" + strings.Repeat("0", 64), // would be a promise that no one checks
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := dvs.ParseDigest(text); err == nil || !got.IsZero() {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}
