package dvs_test

import (
	"archive/tar"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

const (
	hostileCommit = "0123456789abcdef0123456789abcdef01234567"
	otherCommit   = "fedcba9876543210fedcba9876543210fedcba98"
)

// refsAnswer is a list of references with one branch.
func refsAnswer(lines ...string) string {
	if len(lines) == 0 {
		lines = []string{hostileCommit + " HEAD\x00symref=HEAD:refs/heads/main agent=git", hostileCommit + " refs/heads/main"}
	}
	var b strings.Builder
	b.WriteString("001e# service=git-upload-pack\n0000")
	for _, line := range lines {
		fmt.Fprintf(&b, "%04x%s\n", len(line)+5, line)
	}
	b.WriteString("0000")
	return b.String()
}

// hostileHost answers with what a test says, as GitHub.
func hostileHost(t *testing.T, refs string, archive http.HandlerFunc) *lookleap.Host {
	t.Helper()
	n := lookleaptest.ForTest(t)
	n.Site("github.com").Handle("*", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/info/refs") {
			_, _ = w.Write([]byte(refs))
			return
		}
		archive(w, r)
	}))
	for _, name := range []string{"codeload.github.com", "evil.example"} {
		n.Site(name).Handle("*", archive)
	}
	return n.StubHost()
}

func readHostile(t *testing.T, host *lookleap.Host, limits dvs.Limits) (*dvs.Loader, *dvs.Repository, error) {
	t.Helper()
	at, err := dvs.ParseRepositoryURL("example-org/skills", dvs.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	loader := dvs.NewLoader(host, dvs.Options{Limits: limits, Roots: registry(t, "https://github.com/example-org/")})
	r, err := loader.Repository(t.Context(), at)
	if err == nil {
		t.Cleanup(func() { _ = r.Close() })
	}
	return loader, r, err
}

// TestRepositoryHostile serves archives that no code host makes.
func TestRepositoryHostile(t *testing.T) {
	const top = "skills-main/"
	skill := member{name: top + "a/SKILL.md", content: refund}
	send := func(data []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-gzip")
			_, _ = w.Write(data)
		}
	}
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Host == "github.com" {
				http.Redirect(w, r, to, http.StatusFound)
				return
			}
			send(tarGzip(t, skill))(w, r)
		}
	}
	whole := tarGzip(t, skill, member{name: top + "a/b.md", content: strings.Repeat("b", 1000)})
	for name, test := range map[string]struct {
		archive http.HandlerFunc
		code    lookleap.Code
	}{
		"as-it-should-be":        {send(whole), ""},
		"twice-the-same-file":    {send(tarGzip(t, skill, skill)), dvs.CodeBadArchive},
		"a-member-above":         {send(tarGzip(t, skill, member{name: top + "../b", content: "x"})), dvs.CodeBadArchive},
		"a-member-in-another":    {send(tarGzip(t, skill, member{name: "other/b", content: "x"})), dvs.CodeBadArchive},
		"an-absolute-member":     {send(tarGzip(t, skill, member{name: "/etc/passwd", content: "x"})), dvs.CodeBadArchive},
		"files-below-a-link":     {send(tarGzip(t, skill, member{name: top + "l", kind: tar.TypeSymlink, link: "a"}, member{name: top + "l/x", content: "x"})), dvs.CodeBadArchive},
		"no-gzip":                {send(tarOf(t, skill)), dvs.CodeBadArchive},
		"a-page":                 {send([]byte("<html>")), dvs.CodeBadArchive},
		"cut-off":                {send(whole[:len(whole)/2]), dvs.CodeBadArchive},
		"not-there":              {http.NotFound, lookleap.CodeBadStatus},
		"the-archive-of-GitHub":  {redirect("https://codeload.github.com/Example-Org/Skills/tar.gz/" + hostileCommit), ""},
		"another-owner":          {redirect("https://codeload.github.com/evil/skills/tar.gz/" + hostileCommit), dvs.CodeRedirectOutside},
		"a-token":                {redirect("https://codeload.github.com/example-org/skills/tar.gz/" + hostileCommit + "?token=SECRET"), dvs.CodeRedirectOutside},
		"another-commit":         {redirect("https://codeload.github.com/example-org/skills/tar.gz/" + otherCommit), dvs.CodeRedirectOutside},
		"another-host":           {redirect("https://evil.example/example-org/skills/tar.gz/" + hostileCommit), dvs.CodeRedirectOutside},
		"another-commit-says-it": {send(gzipped(t, globalComment(t, otherCommit, skill))), dvs.CodeBadArchive},
		"this-commit-says-it":    {send(gzipped(t, globalComment(t, hostileCommit, skill))), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, r, err := readHostile(t, hostileHost(t, refsAnswer(), test.archive), dvs.Limits{})
			if (err == nil) != (test.code == "") || err != nil && lookleap.CodeOf(err) != test.code {
				t.Errorf("got %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "SECRET") {
				t.Errorf("the error has the token: %v", err)
			}
			if err == nil && len(r.Skills) != 1 {
				t.Errorf("%d skills, %v", len(r.Skills), r.Findings)
			}
		})
	}
	for name, test := range map[string]struct {
		members []member
		limits  dvs.Limits
		code    lookleap.Code
	}{
		"a-hard-link":           {[]member{{name: top + "a/x", kind: tar.TypeLink, link: top + "a/SKILL.md"}}, dvs.Limits{}, dvs.CodeLink},
		"a-device":              {[]member{{name: top + "a/x", kind: tar.TypeChar}}, dvs.Limits{}, dvs.CodeLink},
		"a-file-too-large":      {[]member{{name: top + "a/x.csv", content: strings.Repeat("x", 2000)}}, dvs.Limits{Resource: 1000}, lookleap.CodeTooLarge},
		"all-files-too-large":   {[]member{{name: top + "a/x.csv", content: strings.Repeat("x", 2000)}, {name: top + "a/y.csv", content: strings.Repeat("x", 2000)}}, dvs.Limits{Total: 3000}, lookleap.CodeTooLarge},
		"too-many-files":        {[]member{{name: top + "a/x.csv"}, {name: top + "a/y.csv"}}, dvs.Limits{Files: 2}, lookleap.CodeLimit},
		"a-name-of-two-systems": {[]member{{name: top + "a/X.md"}, {name: top + "a/x.md"}}, dvs.Limits{}, dvs.CodeNameClash},
		"a-name-of-a-device":    {[]member{{name: top + "a/nul.md"}}, dvs.Limits{}, dvs.CodeUnsafeName},
		"a-repository-of-git":   {[]member{{name: top + "a/sub/.git", content: "x"}}, dvs.Limits{}, dvs.CodeUnsafeName},
		"nothing-else":          {nil, dvs.Limits{}, ""},
		"elsewhere":             {[]member{{name: top + "b/nul.md"}, {name: top + "b/x", kind: tar.TypeLink, link: top + "a/SKILL.md"}}, dvs.Limits{}, ""},
	} {
		t.Run("a-skill-with/"+name, func(t *testing.T) {
			loader, r, err := readHostile(t, hostileHost(t, refsAnswer(), send(tarGzip(t, append([]member{skill}, test.members...)...))), test.limits)
			if err != nil || len(r.Skills) != 1 {
				t.Fatal(r, err)
			}
			loaded, err := loader.LoadListing(t.Context(), r.Skills[0])
			if err == nil {
				_, err = loaded.Bundle(t.Context())
			}
			if (err == nil) != (test.code == "") || err != nil && lookleap.CodeOf(err) != test.code {
				t.Errorf("got %v", err)
			}
		})
	}
	for name, refs := range map[string]string{
		"a-page": "<html>", "nothing": "", "a-length-without-content": "00", "no-hex": "zzzz", "a-short-length": "0003",
		"no-commit": refsAnswer("main refs/heads/main"), "no-name": refsAnswer(hostileCommit),
		"cut-off": refsAnswer()[:60], "a-long-line": "ffff" + strings.Repeat("x", 10),
		"no-head": refsAnswer(hostileCommit + " refs/heads/main"),
	} {
		t.Run("references/"+name, func(t *testing.T) {
			if _, _, err := readHostile(t, hostileHost(t, refs, send(whole)), dvs.Limits{}); err == nil || lookleap.CodeOf(err) == lookleap.CodeInternal {
				t.Errorf("got %v", err)
			}
		})
	}
}

// globalComment is a tar archive with a comment in a global header, where git writes the commit.
func globalComment(t *testing.T, comment string, members ...member) []byte {
	t.Helper()
	record := " comment=" + comment + "\n"
	n := len(record) + 2
	record = fmt.Sprint(n) + record
	header := make([]byte, 1024)
	copy(header, "pax_global_header")
	copy(header[100:], "0000666\x000000000\x000000000\x00")
	copy(header[124:], fmt.Sprintf("%011o\x00", len(record)))
	copy(header[136:], "00000000000\x00")
	header[156] = tar.TypeXGlobalHeader
	copy(header[257:], "ustar\x0000")
	sum := 8 * int(' ')
	for _, b := range header[:512] {
		sum += int(b)
	}
	copy(header[148:], fmt.Sprintf("%06o\x00 ", sum))
	copy(header[512:], record)
	return append(header, tarOf(t, members...)...)
}
