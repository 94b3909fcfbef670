package dvs_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// loadRefund loads the skill of example.com, which the user trusts.
func loadRefund(host *lookleap.Host) (*dvs.Loaded, error) {
	roots := dvs.NewRoots(dvs.Rules{})
	if _, err := roots.Register("https://example.com/", dvs.ByUser); err != nil {
		return nil, err
	}
	return dvs.NewLoader(host, dvs.Options{Roots: roots}).Load(context.Background(), "https://example.com/skills/refund/")
}

// Agent frameworks that take a file system of skills get a remote, verified one
// in its place, such as NewFileSystemSource of Google's ADK.
func ExampleLoaded_Bundle() {
	net, host := hub()
	defer net.Close()
	skill, err := loadRefund(host)
	if err != nil {
		fmt.Println(err)
		return
	}
	bundle, err := skill.Bundle(context.Background(), "ADVANCED.md")
	if err != nil {
		fmt.Println(err)
		return
	}
	var skills fs.FS = dvs.NewVerifiedFS([]dvs.Bundle{bundle}, dvs.VerifiedFSOptions{})
	files, _ := fs.Glob(skills, "*/*")
	fmt.Println(files)
	// Output: [refund/ADVANCED.md refund/SKILL.md]
}

func ExampleVerifiedFS_Materialize() {
	skills := dvs.NewVerifiedFS([]dvs.Bundle{bundle("refund", "name: refund\ndescription: Returns a payment.\n")}, dvs.VerifiedFSOptions{})
	parent, err := os.MkdirTemp("", "example-*")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(parent)
	dir := filepath.Join(parent, "skills")
	fmt.Println(skills.Materialize(dir)) // for programs that need real files
	fmt.Println(lookleap.CodeOf(skills.Materialize(dir)))

	files, err := dvs.ReadSkillDir(os.DirFS(filepath.Join(dir, "refund")), dvs.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	entry := &skills.Lock().Skills[0]
	fmt.Println(entry.VerifyWritten(files)) // before they are used
	// Output:
	// <nil>
	// io
	// <nil>
}

func ExampleParseLockfile() {
	b := bundle("refund", "name: refund\ndescription: Returns a payment.\n", "terms.md", "Thirty days.\n")
	written, err := dvs.NewVerifiedFS([]dvs.Bundle{b}, dvs.VerifiedFSOptions{}).Lock().MarshalJSON()
	if err != nil {
		fmt.Println(err)
		return
	}
	lock, err := dvs.ParseLockfile(written)
	if err != nil {
		fmt.Println(err)
		return
	}
	b.Files["terms.md"], b.Files["new.sh"] = []byte("Two days.\n"), nil
	fmt.Println(lookleap.CodeOf(lock.Verify(b)))
	for _, f := range lock.Find(b.ID).Changes(b.Files) {
		fmt.Println(f.Path, f.Code)
	}
	// Output:
	// not-locked
	// new.sh not-locked
	// terms.md digest-mismatch
}

func ExampleParseIndex() {
	const index = `{"skills":[{"name":"refund","description":"Returns a payment."},{"name":"far","description":"","url":"https://example.net/far/"}]}`
	list, err := dvs.ParseIndex([]byte(index), "https://example.com/.well-known/skills/index.json", dvs.Rules{}, dvs.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range list.Skills {
		fmt.Println(s.Name, s.Skill)
	}
	for _, f := range list.Findings {
		fmt.Println(f.Code)
	}
	// Output:
	// refund https://example.com/.well-known/skills/refund/SKILL.md
	// entry-outside-root
}

func ExampleWriteIndex() {
	skill, err := dvs.NewPublished(map[string][]byte{dvs.EntryFile: []byte("---\nname: refund\ndescription: Returns a payment.\n---\n# Refunds\n")}, dvs.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := dvs.WriteIndex(os.Stdout, dvs.IndexFiles, []*dvs.Published{skill}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {
	//   "skills": [
	//     {
	//       "name": "refund",
	//       "description": "Returns a payment.",
	//       "files": [
	//         "SKILL.md"
	//       ]
	//     }
	//   ]
	// }
}

// bundle returns a verified skill with a SKILL.md of the given header, and more files:
// path, content and so on.
func bundle(id, header string, files ...string) dvs.Bundle {
	b := dvs.Bundle{
		ID: "https://example.com/s/" + id + "/SKILL.md", Root: "https://example.com/",
		Files: map[string][]byte{"SKILL.md": []byte("---\n" + header + "---\n\n# Do it\n")},
	}
	for i := 0; i < len(files); i += 2 {
		b.Files[files[i]] = []byte(files[i+1])
	}
	b.Verdict = &lookleap.Verdict{Subject: b.ID, OK: true, Code: lookleap.CodeOK, CheckedAt: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	return b
}
