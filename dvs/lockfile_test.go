package dvs_test

import (
	"bytes"
	"fmt"
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
		"reject-other-skill":   {func(b *dvs.Bundle) { b.ID += "x"; b.Verdict.Subject = b.ID }, lookleap.CodeNotLocked},
		"reject-other-root":    {func(b *dvs.Bundle) { b.Root = "https://example.com/s/" }, lookleap.CodeNotLocked},
		"reject-changed-file":  {func(b *dvs.Bundle) { b.Files["x.json"] = []byte("[]") }, lookleap.CodeDigestMismatch},
		"reject-changed-skill": {func(b *dvs.Bundle) { b.Files["SKILL.md"] = append(b.Files["SKILL.md"], ' ') }, lookleap.CodeDigestMismatch},
		"reject-more-files":    {func(b *dvs.Bundle) { b.Files["y.sh"] = nil }, lookleap.CodeNotLocked},
		"reject-fewer-files":   {func(b *dvs.Bundle) { delete(b.Files, "x.json") }, lookleap.CodeLockMissing},
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
		"reject-climbing":        `{"type":"` + dvs.LockMediaType + `","skills":[` + skill("a", entry("../x")) + `]}`,
		"reject-file-twice":      `{"type":"` + dvs.LockMediaType + `","skills":[` + skill("a", entry("x"), entry("X")) + `]}`,
		"reject-directory":       `{"type":"` + dvs.LockMediaType + `","skills":[` + skill("../a") + `]}`,
		"reject-directory-twice": `{"type":"` + dvs.LockMediaType + `","skills":[` + skill("a") + `,` + strings.Replace(skill("a"), ".com/a", ".com/b", 1) + `]}`,
		"reject-digest":          strings.Replace(string(data), "sha256:", "sha512:", 1),
		"reject-upper-case":      `{"type":"` + dvs.LockMediaType + `","skills":[` + skill("a", strings.ToUpper(entry("x"))) + `]}`,
		"reject-duplicate-name":  `{"type":"` + dvs.LockMediaType + `","skills":[],"skills":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if lock, err := dvs.ParseLockfile([]byte(text)); lookleap.CodeOf(err) != lookleap.CodeBadLock || lock != nil {
				t.Errorf("%v, %v", lock, err)
			}
		})
	}
}
