package dvs_test

import (
	"errors"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

func TestPlatformsWith(t *testing.T) {
	const id, ours = "DVS-3.1-39", "git.example.org"
	t.Run(id+"/accept-own-forge", func(t *testing.T) {
		table, err := dvs.Builtin().With(dvs.Platform{Name: "our forge", Hosts: []string{"git.example.org"}, Owner: 1,
			Source: &dvs.Source{Page: "src", Raw: []string{"raw"}, Kinds: []string{"branch", "tag", "commit"}}})
		if err != nil {
			t.Fatal(err)
		}
		rules := dvs.Rules{Platforms: table}
		if _, err := dvs.ParseTrustRoot("https://git.example.org/", rules); lookleap.CodeOf(err) != dvs.CodeUGCBareRoot {
			t.Errorf("the bare root: %v", err)
		}
		u, err := dvs.ParseSkillURL("https://git.example.org/o/r/src/branch/main/SKILL.md", rules)
		if err != nil || u.ServedFrom() != "https://git.example.org/o/r/raw/branch/main/SKILL.md" {
			t.Errorf("got %s, %v", u.ServedFrom(), err)
		}
		if _, err := dvs.ParseTrustRoot("https://git.example.org/", dvs.Rules{}); err != nil {
			t.Errorf("the built-in table changed: %v", err)
		}
	})
	t.Run(id+"/accept-never", func(t *testing.T) {
		table, err := dvs.Builtin().With(dvs.Platform{Name: "not here", Hosts: []string{"github.com"}, Never: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dvs.ParseTrustRoot("https://github.com/o/", dvs.Rules{Platforms: table}); lookleap.CodeOf(err) != "never-trusted-host" {
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
			if _, err := dvs.ParseTrustRoot(root, rules); lookleap.CodeOf(err) != "reserved-segment" {
				t.Errorf("%s: %v", root, err)
			}
		}
		if u, err := dvs.ParseSkillURL("https://unpkg.com/a/b@abcdef1/SKILL.md", rules); err != nil || u.Commit() != "abcdef1" {
			t.Errorf("%q, %v", u.Commit(), err)
		}
	})
	t.Run(id+"/reject-commit-at-another-name", func(t *testing.T) {
		table, err := dvs.Builtin().With(dvs.Platform{Name: "our forge", Hosts: []string{"git.example.org", "mirror.example.org"}, Owner: 1,
			Source: &dvs.Source{Page: "blob", Raw: []string{"raw"}}})
		if err != nil {
			t.Fatal(err)
		}
		for path, commit := range map[string]string{"r/blob/0123abcd/SKILL.md": "0123abcd", "r/raw/0123abcd/SKILL.md": "0123abcd", "r/blob/main/SKILL.md": "", "SKILL.md": ""} {
			in := "https://mirror.example.org/o/" + path
			u, err := dvs.ParseSkillURL(in, dvs.Rules{Platforms: table})
			if err != nil || u.Commit() != commit || u.String() != in || u.ServedFrom() != in {
				t.Errorf("%s: %s with %q, %v", in, u, u.Commit(), err)
			}
		}
		if u, err := dvs.ParseSkillURL("https://mirror.example.org/o/r/other/main/SKILL.md", dvs.Rules{Platforms: table}); lookleap.CodeOf(err) != dvs.CodeNotContentRoute {
			t.Errorf("%s, %v", u, err)
		}
	})
	t.Run("O36/reject-publisher-of-the-first-host", func(t *testing.T) {
		roots := dvs.NewRoots(dvs.Rules{})
		for _, p := range []dvs.Platform{{Name: "a", Hosts: []string{"a.example.org"}, Subdomains: []string{"sites.example.org"}, Owner: 1},
			{Name: "b", Hosts: []string{"b.example.org"}, Owner: 1, Of: "a.example.org"}} {
			if _, err := roots.AddPlatform(p); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := roots.Block("https://a.example.org/evil/"); err != nil {
			t.Fatal(err)
		}
		for _, url := range []string{"https://b.example.org/evil/SKILL.md", "https://evil.sites.example.org/SKILL.md"} {
			u, err := dvs.ParseSkillURL(url, roots.Rules())
			if err != nil || !roots.Find(u).Blocked {
				t.Errorf("%s: %v", url, err)
			}
		}
	})
	const (
		relaxed = "the host is in the table already, with rules that this entry would relax"
		depth   = "a publisher needs at least one path segment"
		source  = "a source needs a route to pages and one to bytes"
		aliases = "aliases need a first host, and neither of them is a pattern"
	)
	form := func(host string) string { return `the host "` + host + `" is not in canonical form` }
	for name, c := range map[string]struct {
		platform dvs.Platform
		says     string
		known    *dvs.Platform // with the same host, if any
	}{
		"reject-relaxed":                {dvs.Platform{Name: "GitHub", Hosts: []string{"github.com"}, Owner: 1}, relaxed, nil},
		"reject-relaxed-known-depth":    {dvs.Platform{Name: "Firebase", Hosts: []string{"firebasestorage.googleapis.com"}, Owner: 1}, relaxed, nil},
		"reject-removed":                {dvs.Platform{Name: "GitHub", Hosts: []string{"github.com"}}, relaxed, nil},
		"reject-relaxed-alias":          {dvs.Platform{Name: "ours", Hosts: []string{ours}, Aliases: []string{"gitlab.com"}, Owner: 1}, relaxed, nil},
		"reject-relaxed-below":          {dvs.Platform{Name: "GCS", Hosts: []string{"storage.googleapis.com"}, Owner: 2, Below: []dvs.Scope{{Word: "b", Owner: 0}}}, relaxed, nil},
		"reject-relaxed-never":          {dvs.Platform{Name: "archive", Hosts: []string{"web.archive.org"}, Owner: 1}, relaxed, nil},
		"reject-below-never":            {dvs.Platform{Name: "archive", Hosts: []string{"x.dweb.link"}, Owner: 1}, relaxed, nil},
		"reject-raw-host":               {dvs.Platform{Name: "raw", Hosts: []string{"raw.githubusercontent.com"}, Owner: 1}, relaxed, nil},
		"reject-hosts-below-a-known":    {dvs.Platform{Name: "ours", Subdomains: []string{"dweb.link"}}, relaxed, nil},
		"reject-relaxed-depth":          {dvs.Platform{Hosts: []string{ours}, Owner: 1}, relaxed, &dvs.Platform{Hosts: []string{ours}, Owner: 2}},
		"reject-relaxed-depth-below":    {dvs.Platform{Hosts: []string{ours}, Owner: 2, Below: []dvs.Scope{{Word: "gh", Owner: 1}}}, relaxed, &dvs.Platform{Hosts: []string{ours}, Owner: 2}},
		"reject-scopes-left-out":        {dvs.Platform{Hosts: []string{ours}, Owner: 2}, relaxed, &dvs.Platform{Hosts: []string{ours}, Owner: 1, Below: []dvs.Scope{{Word: "gh", Owner: 2}}}},
		"reject-source-left-out":        {dvs.Platform{Hosts: []string{ours}, Owner: 1}, relaxed, &dvs.Platform{Hosts: []string{ours}, Owner: 1, Source: &dvs.Source{Page: "blob", Raw: []string{"raw"}}}},
		"reject-skip-left-out":          {dvs.Platform{Hosts: []string{ours}, Owner: 1}, relaxed, &dvs.Platform{Hosts: []string{ours}, Owner: 1, Skip: []string{"v#"}}},
		"reject-relaxed-prefix":         {dvs.Platform{Hosts: []string{ours}, Owner: 1, Prefix: "s"}, relaxed, &dvs.Platform{Hosts: []string{ours}, Owner: 1, Prefix: "~"}},
		"accept-longer-prefix":          {dvs.Platform{Hosts: []string{ours}, Owner: 1, Prefix: "~x"}, "", &dvs.Platform{Hosts: []string{ours}, Owner: 1, Prefix: "~"}},
		"accept-deeper":                 {dvs.Platform{Hosts: []string{ours}, Owner: 2, Below: []dvs.Scope{{Word: "gh", Owner: 2}}}, "", &dvs.Platform{Hosts: []string{ours}, Owner: 2}},
		"reject-no-depth":               {dvs.Platform{Name: "ours", Hosts: []string{ours}}, depth, nil},
		"reject-negative-depth":         {dvs.Platform{Name: "ours", Hosts: []string{ours}, Owner: -1, Below: []dvs.Scope{{Word: "gh", Owner: 2}}}, depth, nil},
		"reject-scope-without-a-word":   {dvs.Platform{Name: "ours", Hosts: []string{ours}, Owner: 1, Below: []dvs.Scope{{Owner: 1}}}, depth, nil},
		"reject-scope-without-an-owner": {dvs.Platform{Name: "ours", Hosts: []string{ours}, Owner: 1, Below: []dvs.Scope{{Word: "a/b", Owner: 1}}}, depth, nil},
		"accept-scopes-alone":           {dvs.Platform{Name: "ours", Hosts: []string{ours}, Below: []dvs.Scope{{Word: "a/b", Owner: 2}}}, "", nil},
		"reject-no-host":                {dvs.Platform{Name: "ours", Owner: 1}, "a platform needs a host", nil},
		"reject-host-form":              {dvs.Platform{Name: "ours", Hosts: []string{"GIT.example.org"}, Owner: 1}, form("GIT.example.org"), nil},
		"reject-host-of-no-form":        {dvs.Platform{Name: "ours", Hosts: []string{"a b"}, Owner: 1}, form("a b"), nil},
		"reject-pattern-at-the-end":     {dvs.Platform{Name: "ours", Hosts: []string{"git.*"}, Owner: 1}, form("git.*"), nil},
		"reject-alias-without-a-host":   {dvs.Platform{Name: "ours", Aliases: []string{ours}, Subdomains: []string{"sites.example.org"}}, aliases, nil},
		"reject-alias-of-a-pattern":     {dvs.Platform{Name: "ours", Hosts: []string{"*.example.org"}, Aliases: []string{"a.example.net"}, Owner: 1}, aliases, nil},
		"reject-source-incomplete":      {dvs.Platform{Name: "ours", Hosts: []string{ours}, Owner: 1, Source: &dvs.Source{}}, source, nil},
		"reject-source-without-a-page":  {dvs.Platform{Name: "ours", Hosts: []string{ours}, Owner: 1, Source: &dvs.Source{Raw: []string{"raw"}}}, source, nil},
		"reject-source-without-bytes":   {dvs.Platform{Name: "ours", Hosts: []string{ours}, Owner: 1, Source: &dvs.Source{Page: "blob"}}, source, nil},
		"accept-source-of-another-host": {dvs.Platform{Name: "ours", Hosts: []string{ours}, Owner: 1, Source: &dvs.Source{Page: "blob", RawHost: "raw.example.org"}}, "", nil},
	} {
		t.Run(id+"/"+name, func(t *testing.T) {
			table := dvs.Builtin()
			if c.known != nil {
				var err error
				if table, err = table.With(*c.known); err != nil {
					t.Fatal(err)
				}
			}
			table, err := table.With(c.platform)
			var e *lookleap.Error
			if c.says == "" && err == nil || table == nil && errors.As(err, &e) && e.Message == c.says {
				return
			}
			t.Errorf("got %v, %v", table, err)
		})
	}
	t.Run("O36/accept-what-is-known-is-kept", func(t *testing.T) {
		for _, c := range []struct{ known, more dvs.Platform }{
			{dvs.Platform{Owner: 1, Prefix: "~", AtRef: true, Of: "a.example.org", Reserved: []string{"~old"}}, dvs.Platform{Owner: 1, Of: "b.example.org", Reserved: []string{"~new"}}},
			{dvs.Platform{Owner: 1, Prefix: "~", Of: "b.example.org", Reserved: []string{"~new"}}, dvs.Platform{Owner: 1, AtRef: true, Reserved: []string{"~old"}}},
		} {
			c.known.Hosts, c.more.Hosts = []string{ours}, []string{ours}
			table, err := dvs.Builtin().With(c.known)
			if err == nil {
				table, err = table.With(c.more)
			}
			if err != nil {
				t.Fatal(err)
			}
			if p, ok := table.Lookup(ours); !ok || p.Of != "b.example.org" || p.Prefix != "~" || !p.AtRef || len(p.Reserved) != 2 {
				t.Errorf("got %+v", p)
			}
			if u, err := dvs.ParseSkillURL("https://git.example.org/~o/r@deadbeef/SKILL.md", dvs.Rules{Platforms: table}); err != nil || u.Commit() != "deadbeef" {
				t.Errorf("got %q, %v", u.Commit(), err)
			}
		}
	})
}
