package dvs_test

import (
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

func TestBuiltinPlatforms(t *testing.T) {
	for _, host := range []string{
		"github.com", "gist.github.com", "raw.githubusercontent.com", "gist.githubusercontent.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitea.com",
		"git.sr.ht", "huggingface.co", "hf.co", "cdn.jsdelivr.net", "unpkg.com", "esm.sh", "deno.land", "storage.googleapis.com", "firebasestorage.googleapis.com",
		"sites.google.com", "medium.com", "dev.to", "replit.com", "sourceforge.net", "gitee.com", "kaggle.com", "www.github.com", "www.huggingface.co",
		"salsa.debian.org", "framagit.org", "gitlab.freedesktop.org", "gitlab.gnome.org", "invent.kde.org", "hg.sr.ht", "storage.cloud.google.com",
	} {
		t.Run("DVS-3.1-34/reject-"+host, func(t *testing.T) {
			if root, err := dvs.ParseTrustRoot("https://" + host + "/"); lookleap.CodeOf(err) != lookleap.CodeUGCBareRoot || !root.IsZero() {
				t.Errorf("got %s, %v", root, err)
			}
		})
	}
	t.Run("DVS-3.1-34/reject-media.githubusercontent.com", func(t *testing.T) {
		for _, path := range []string{"/", "/media/o/r/main/"} {
			if _, err := dvs.ParseTrustRoot("https://media.githubusercontent.com" + path); lookleap.CodeOf(err) != lookleap.CodeNeverTrusted {
				t.Errorf("got %v", err)
			}
		}
	})
	for _, host := range []string{"raw.github.com", "api.github.com", "codeload.github.com", "cdn-lfs.huggingface.co", "cas-bridge.xethub.hf.co", "api.bitbucket.org", "paste.sr.ht", "lists.sr.ht", "raw.gitmirror.com"} {
		t.Run("DVS-3.1-38/reject-"+host, func(t *testing.T) {
			if _, err := dvs.ParseSkillURL("https://" + host + "/o/r/SKILL.md"); lookleap.CodeOf(err) != lookleap.CodeNeverTrusted {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("DVS-3.1-34/accept-owner", func(t *testing.T) {
		for _, root := range []string{"https://github.com/o/", "https://raw.githubusercontent.com/o/", "https://cdn.jsdelivr.net/gh/o/", "https://deno.land/x/m/", "https://git.sr.ht/~o/", "https://replit.com/@o/",
			"https://firebasestorage.googleapis.com/v0/b/bucket/", "https://sites.google.com/view/site/", "https://kaggle.com/datasets/o/"} {
			if _, err := dvs.ParseTrustRoot(root); err != nil {
				t.Error(err)
			}
		}
	})
	for _, p := range []struct{ id, root, code string }{
		{"reject-jsdelivr-word", "https://cdn.jsdelivr.net/combine/gh/", "reserved-segment"},
		{"reject-jsdelivr-short", "https://cdn.jsdelivr.net/gh/", "ugc-root-too-short"},
		{"reject-sourcehut-word", "https://git.sr.ht/projects/", "reserved-segment"},
		{"reject-firebase-short", "https://firebasestorage.googleapis.com/v0/b/", "ugc-root-too-short"},
	} {
		t.Run("DVS-3.1-32/"+p.id, func(t *testing.T) {
			if _, err := dvs.ParseTrustRoot(p.root); string(lookleap.CodeOf(err)) != p.code {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestPlatformsWith(t *testing.T) {
	const id = "DVS-3.1-39"
	t.Run(id+"/accept-own-forge", func(t *testing.T) {
		table, err := dvs.Builtin().With(dvs.Platform{Name: "our forge", Hosts: []string{"git.example.org"}, Owner: 1,
			Source: &dvs.Source{Page: "src", Raw: []string{"raw"}, Kinds: []string{"branch", "tag", "commit"}}})
		if err != nil {
			t.Fatal(err)
		}
		rules := dvs.Rules{Platforms: table}
		if _, err := rules.ParseTrustRoot("https://git.example.org/"); lookleap.CodeOf(err) != lookleap.CodeUGCBareRoot {
			t.Errorf("the bare root gives %v", err)
		}
		u, err := rules.ParseSkillURL("https://git.example.org/o/r/src/branch/main/SKILL.md")
		if err != nil || u.ServedFrom() != "https://git.example.org/o/r/raw/branch/main/SKILL.md" {
			t.Errorf("got %s, %v", u.ServedFrom(), err)
		}
		if _, err := dvs.ParseTrustRoot("https://git.example.org/"); err != nil {
			t.Errorf("the built-in table changed: %v", err)
		}
	})
	t.Run(id+"/accept-never", func(t *testing.T) {
		table, err := dvs.Builtin().With(dvs.Platform{Name: "not here", Hosts: []string{"github.com"}, Never: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (dvs.Rules{Platforms: table}).ParseTrustRoot("https://github.com/o/"); lookleap.CodeOf(err) != lookleap.CodeNeverTrusted {
			t.Errorf("got %v", err)
		}
	})
	t.Run(id+"/reject-what-a-deeper-entry-leaves-out", func(t *testing.T) {
		table, err := dvs.Builtin().With(
			dvs.Platform{Name: "Replit", Hosts: []string{"replit.com"}, Owner: 1},
			dvs.Platform{Name: "Medium", Hosts: []string{"medium.com"}, Owner: 1, Reserved: []string{"extra"}},
			dvs.Platform{Name: "unpkg", Hosts: []string{"unpkg.com"}, Owner: 2})
		if err != nil {
			t.Fatal(err)
		}
		rules := dvs.Rules{Platforms: table}
		for _, root := range []string{"https://replit.com/site/", "https://medium.com/p/x/", "https://medium.com/extra/"} {
			if _, err := rules.ParseTrustRoot(root); lookleap.CodeOf(err) != lookleap.CodeReservedSegment {
				t.Errorf("%s: %v", root, err)
			}
		}
		if u, err := rules.ParseSkillURL("https://unpkg.com/a/b@abcdef1/SKILL.md"); err != nil || u.Commit() != "abcdef1" {
			t.Errorf("%q, %v", u.Commit(), err)
		}
	})
	for name, p := range map[string]dvs.Platform{
		"reject-relaxed":           {Name: "GitHub", Hosts: []string{"github.com"}, Owner: 1},
		"reject-removed":           {Name: "GitHub", Hosts: []string{"github.com"}},
		"reject-relaxed-depth":     {Name: "Firebase", Hosts: []string{"firebasestorage.googleapis.com"}, Owner: 1},
		"reject-relaxed-below":     {Name: "GCS", Hosts: []string{"storage.googleapis.com"}, Owner: 2, Below: []dvs.Scope{{Word: "b", Owner: 0}}},
		"reject-relaxed-prefix":    {Name: "Replit", Hosts: []string{"replit.com"}, Owner: 1, Prefix: "s"},
		"reject-relaxed-never":     {Name: "archive", Hosts: []string{"web.archive.org"}, Owner: 1},
		"reject-below-never":       {Name: "archive", Hosts: []string{"x.dweb.link"}, Owner: 1},
		"reject-raw-host":          {Name: "raw", Hosts: []string{"raw.githubusercontent.com"}, Owner: 1},
		"reject-no-depth":          {Name: "ours", Hosts: []string{"git.example.org"}},
		"reject-no-host":           {Name: "ours", Owner: 1},
		"reject-host-form":         {Name: "ours", Hosts: []string{"GIT.example.org"}, Owner: 1},
		"reject-source-incomplete": {Name: "ours", Hosts: []string{"git.example.org"}, Owner: 1, Source: &dvs.Source{}},
	} {
		t.Run(id+"/"+name, func(t *testing.T) {
			if table, err := dvs.Builtin().With(p); err == nil || table != nil || !lookleap.CodeOf(err).Known() {
				t.Errorf("got %v, %v", table, err)
			}
		})
	}
}
