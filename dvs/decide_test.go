package dvs_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// TestRecordHoldsNoQuery: a query is kept only where it is a part of the skill's identity.
func TestRecordHoldsNoQuery(t *testing.T) {
	for name, c := range map[string]struct {
		url   string
		allow bool
		kept  bool
	}{
		"accept-identity":         {"https://example.com/SKILL.md?v=secret", true, true},
		"reject-without-the-rule": {"https://example.com/SKILL.md?v=secret", false, false},
		"reject-what-is-no-skill": {"http://example.com/SKILL.md?v=secret", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := dvs.Decide(dvs.Claim{URL: c.url, Root: "https://example.com/", Source: dvs.ByHost}, dvs.Evidence{}, noon, dvs.Rules{AllowQuery: c.allow})
			if strings.Contains(string(v.Record), "secret") != c.kept {
				t.Errorf("%s", v.Record)
			}
		})
	}
}

var noon = time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)

func goodClaim() dvs.Claim {
	return dvs.Claim{URL: "https://example.com/s/a/SKILL.md", Root: "https://example.com/", Source: dvs.ByHost}
}

func goodEvidence() dvs.Evidence {
	return dvs.Evidence{Status: 200, Type: "text/markdown", Charset: "utf-8", Names: []dvs.NameState{{Name: "example.com", DNSSEC: lookleap.Secure}},
		Received: noon, Fresh: noon.Add(time.Hour), Digest: dvs.DigestOf([]byte("x")), Content: lookleap.CodeOK}
}

// TestRecordHoldsNoSecret: the record has no user information and no query, and the caller's
// evidence stays as it was.
func TestRecordHoldsNoSecret(t *testing.T) {
	claim, evidence := goodClaim(), goodEvidence()
	const hop = "https://example.com/b/SKILL.md?secret"
	claim.Root, evidence.Hops = "https://user:secret@example.com/", []string{hop}
	v := dvs.Decide(claim, evidence, noon, dvs.Rules{})
	if strings.Contains(string(v.Record), "secret") || evidence.Hops[0] != hop {
		t.Errorf("%s of %q", v.Record, evidence.Hops)
	}
}

// TestDecide changes one thing about a good claim and its evidence.
func TestDecide(t *testing.T) {
	const sha = "0123456789abcdef0123456789abcdef01234567"
	for _, c := range []struct {
		id     string
		change func(*dvs.Claim, *dvs.Evidence)
		want   lookleap.Code
	}{
		{"DVS-0-02/accept-own-url", func(*dvs.Claim, *dvs.Evidence) {}, "ok"},
		{"DVS-0-02/reject-same-bytes-elsewhere", func(c *dvs.Claim, _ *dvs.Evidence) { c.URL = "https://evil.example/s/a/SKILL.md" }, "outside-trust-root"},
		{"DVS-3.1-05/reject-outside", func(c *dvs.Claim, _ *dvs.Evidence) { c.Root = "https://example.com/other/" }, "outside-trust-root"},
		{"DVS-3.1-05/reject-outside-host", func(c *dvs.Claim, _ *dvs.Evidence) { c.Root = "https://other.example/s/" }, "outside-trust-root"},
		{"DVS-3.1-28/reject-derived", func(c *dvs.Claim, _ *dvs.Evidence) { c.Source = dvs.Derived }, "needs-root"},
		{"DVS-3.1-28/reject-undeclared", func(c *dvs.Claim, _ *dvs.Evidence) { c.Root, c.Source = "", dvs.Undeclared }, "needs-root"},
		{"DVS-3.1-28/accept-user", func(c *dvs.Claim, _ *dvs.Evidence) { c.Source = dvs.ByUser }, "ok"},
		{"DVS-3.1-33/reject-again-at-load", func(c *dvs.Claim, _ *dvs.Evidence) {
			c.URL, c.Root = "https://github.com/o/r/blob/main/SKILL.md", "https://github.com/"
		}, "ugc-bare-root"},
		{"DVS-3.1-40/accept-default", func(c *dvs.Claim, _ *dvs.Evidence) { c.Source = dvs.DefaultOrigin }, "ok"},
		{"DVS-3.1-40/reject-strict", func(c *dvs.Claim, _ *dvs.Evidence) { c.Source, c.Strict = dvs.DefaultOrigin, true }, "needs-root"},
		{"DVS-3.1-40/reject-strict-for-one-skill", func(c *dvs.Claim, _ *dvs.Evidence) { c.Source, c.Strict = dvs.SkillOnly, true }, "needs-root"},
		{"DVS-3.1-44/reject-commit", func(c *dvs.Claim, _ *dvs.Evidence) {
			c.URL, c.Root = "https://github.com/o/r/blob/"+sha+"/SKILL.md", "https://github.com/o/"
		}, "commit-ref"},
		{"DVS-3.1-44/accept-pinned-commit", func(c *dvs.Claim, _ *dvs.Evidence) {
			c.URL, c.Root, c.Pin.Commit = "https://github.com/o/r/blob/"+sha+"/SKILL.md", "https://github.com/o/", sha
		}, "ok"},
		{"DVS-3.1-44/reject-short-pin", func(c *dvs.Claim, _ *dvs.Evidence) {
			c.URL, c.Root, c.Pin.Commit = "https://github.com/o/r/blob/deadbeef/SKILL.md", "https://github.com/o/", "deadbeef"
		}, "commit-ref"},
		{"DVS-3.1-44/accept-pinned-digest", func(c *dvs.Claim, e *dvs.Evidence) {
			c.URL, c.Root, c.Pin.Digest = "https://github.com/o/r/blob/deadbeef/SKILL.md", "https://github.com/o/", e.Digest
		}, "ok"},
		{"DVS-3.1-44/reject-other-digest", func(c *dvs.Claim, _ *dvs.Evidence) {
			c.URL, c.Root, c.Pin.Digest = "https://github.com/o/r/blob/deadbeef/SKILL.md", "https://github.com/o/", dvs.DigestOf([]byte("y"))
		}, "digest-mismatch"},
		{"DVS-3.1-44/reject-redirect-to-other-commit", func(c *dvs.Claim, e *dvs.Evidence) {
			c.URL, c.Root, c.Pin.Commit = "https://github.com/o/r/blob/"+sha+"/SKILL.md", "https://github.com/o/", sha
			e.Hops = []string{"https://raw.githubusercontent.com/o/r/1" + sha[1:] + "/SKILL.md"}
		}, "commit-ref"},
		{"DVS-3.1-44/accept-redirect-to-the-pinned-commit", func(c *dvs.Claim, e *dvs.Evidence) {
			c.URL, c.Root, c.Pin.Commit = "https://github.com/o/r/blob/main/SKILL.md", "https://github.com/o/", strings.ToUpper(sha)
			e.Hops = []string{"https://raw.githubusercontent.com/o/r/" + sha + "/SKILL.md"}
		}, "ok"},
		{"DVS-3.1-44/accept-redirect-to-a-commit-with-the-digest", func(c *dvs.Claim, e *dvs.Evidence) {
			c.URL, c.Root, c.Pin.Digest = "https://github.com/o/r/blob/main/SKILL.md", "https://github.com/o/", e.Digest
			e.Hops = []string{"https://raw.githubusercontent.com/o/r/" + sha + "/SKILL.md"}
		}, "ok"},
		{"DVS-3.1-44/reject-redirect-to-a-commit", func(c *dvs.Claim, e *dvs.Evidence) {
			c.URL, c.Root = "https://github.com/o/r/blob/main/SKILL.md", "https://github.com/o/"
			e.Hops = []string{"https://raw.githubusercontent.com/o/r/" + sha + "/SKILL.md"}
		}, "commit-ref"},
		{"DVS-3.1-44/accept-redirect-to-a-branch-with-a-pin", func(c *dvs.Claim, e *dvs.Evidence) {
			c.URL, c.Root, c.Pin.Commit = "https://github.com/o/r/blob/"+sha+"/SKILL.md", "https://github.com/o/", sha
			e.Hops = []string{"https://raw.githubusercontent.com/o/r/main/SKILL.md"}
		}, "ok"},
		{"DVS-3.1-50/accept-inside", func(_ *dvs.Claim, e *dvs.Evidence) { e.Hops = []string{"https://example.com/b/SKILL.md"} }, "ok"},
		{"DVS-3.1-50/reject-other-path", func(c *dvs.Claim, e *dvs.Evidence) {
			c.Root, e.Hops = "https://example.com/s/", []string{"https://example.com/b/SKILL.md"}
		}, "redirect-outside-root"},
		{"DVS-3.1-50/reject-www", func(_ *dvs.Claim, e *dvs.Evidence) { e.Hops = []string{"https://www.example.com/b/SKILL.md"} }, "redirect-outside-root"},
		{"DVS-3.1-50/reject-and-back", func(_ *dvs.Claim, e *dvs.Evidence) {
			e.Hops = []string{"https://evil.example/", "https://example.com/b/SKILL.md"}
		}, "redirect-outside-root"},
		{"DVS-3.1-50/reject-second-hop", func(_ *dvs.Claim, e *dvs.Evidence) {
			e.Hops = []string{"https://example.com/b/SKILL.md", "https://evil.example/SKILL.md"}
		}, "redirect-outside-root"},
		{"DVS-3.1-54/accept-200", func(*dvs.Claim, *dvs.Evidence) {}, "ok"},
		{"DVS-3.1-54/reject-404", func(_ *dvs.Claim, e *dvs.Evidence) { e.Status = 404 }, "skill-not-found"},
		{"DVS-3.1-54/reject-410", func(_ *dvs.Claim, e *dvs.Evidence) { e.Status = 410 }, "skill-not-found"},
		{"DVS-3.1-54/reject-401", func(_ *dvs.Claim, e *dvs.Evidence) { e.Status = 401 }, "skill-forbidden"},
		{"DVS-3.1-54/reject-206", func(_ *dvs.Claim, e *dvs.Evidence) { e.Status = 206 }, "bad-status"},
		{"DVS-3.1-54/reject-204", func(_ *dvs.Claim, e *dvs.Evidence) { e.Status = 204 }, "bad-status"},
		{"DVS-3.1-54/reject-503", func(_ *dvs.Claim, e *dvs.Evidence) { e.Status = 503 }, "bad-status"},
		{"DVS-3.1-56/reject-stale", func(_ *dvs.Claim, e *dvs.Evidence) { e.Fresh = noon.Add(-time.Second) }, "stale"},
		{"DVS-4.2-04/accept-markdown", func(*dvs.Claim, *dvs.Evidence) {}, "ok"},
		{"DVS-4.2-04/accept-plain", func(_ *dvs.Claim, e *dvs.Evidence) { e.Type = "text/plain" }, "ok"},
		{"DVS-4.2-04/accept-x-markdown", func(_ *dvs.Claim, e *dvs.Evidence) { e.Type = "text/x-markdown" }, "ok"},
		{"DVS-4.2-04/reject-plain-strict", func(c *dvs.Claim, e *dvs.Evidence) { e.Type, c.Strict = "text/plain", true }, "media-type"},
		{"DVS-4.2-04/reject-html", func(c *dvs.Claim, e *dvs.Evidence) { e.Type, c.Profile = "text/html", dvs.Lenient }, "media-type"},
		{"DVS-4.2-04/reject-xhtml", func(_ *dvs.Claim, e *dvs.Evidence) { e.Type = "application/xhtml+xml" }, "media-type"},
		{"DVS-4.2-04/reject-image", func(c *dvs.Claim, e *dvs.Evidence) { e.Type, c.Profile = "image/png", dvs.Lenient }, "media-type"},
		{"DVS-4.2-05/accept-bytes-registered", func(_ *dvs.Claim, e *dvs.Evidence) { e.Type = "application/octet-stream" }, "ok"},
		{"DVS-4.2-05/reject-bytes", func(c *dvs.Claim, e *dvs.Evidence) { e.Type, c.Source = "application/octet-stream", dvs.DefaultOrigin }, "media-type"},
		{"DVS-4.2-05/accept-binary", func(c *dvs.Claim, e *dvs.Evidence) { e.Type = "binary/octet-stream" }, "ok"},
		{"DVS-4.2-05/reject-missing", func(c *dvs.Claim, e *dvs.Evidence) { e.Type, c.Source = "", dvs.DefaultOrigin }, "media-type"},
		{"DVS-4.2-05/accept-missing-lenient", func(c *dvs.Claim, e *dvs.Evidence) {
			e.Type, c.Source, c.Profile = "", dvs.DefaultOrigin, dvs.Lenient
		}, "ok"},
		{"DVS-4.2-06/accept-upper", func(_ *dvs.Claim, e *dvs.Evidence) { e.Charset = "UTF-8" }, "ok"},
		{"DVS-4.2-06/accept-absent", func(_ *dvs.Claim, e *dvs.Evidence) { e.Charset = "" }, "ok"},
		{"DVS-4.2-06/reject-latin1", func(_ *dvs.Claim, e *dvs.Evidence) { e.Charset = "iso-8859-1" }, "not-utf8"},
		{"DVS-5.3-02/accept-secure", func(*dvs.Claim, *dvs.Evidence) {}, "ok"},
		{"DVS-5.3-02/accept-insecure", func(_ *dvs.Claim, e *dvs.Evidence) { e.Names[0].DNSSEC = lookleap.Insecure }, "ok"},
		{"DVS-5.3-02/reject-bogus", func(_ *dvs.Claim, e *dvs.Evidence) { e.Names[0].Bogus = true }, "dnssec-bogus"},
		{"DVS-5.3-02/reject-insecure-demanded", func(c *dvs.Claim, e *dvs.Evidence) {
			c.RequireSecure, e.Names[0].DNSSEC = true, lookleap.Insecure
		}, "dnssec-insecure"},
		{"DVS-5.3-02/reject-no-name-known-where-signed-is-demanded", func(c *dvs.Claim, e *dvs.Evidence) { c.RequireSecure, e.Names = true, nil }, "dnssec-insecure"},
		{"DVS-5.3-02/accept-no-name-known", func(_ *dvs.Claim, e *dvs.Evidence) { e.Names = nil }, "ok"},
		{"DVS-5.3-03/reject-worst-wins", func(c *dvs.Claim, e *dvs.Evidence) {
			c.RequireSecure = true
			e.Names = append(e.Names, dvs.NameState{Name: "cdn.example.com"})
		}, "dnssec-insecure"},
		{"DVS-5.3-03/reject-worst-first", func(c *dvs.Claim, e *dvs.Evidence) {
			c.RequireSecure = true
			e.Names = append([]dvs.NameState{{Name: "cdn.example.com"}}, e.Names...)
		}, "dnssec-insecure"},
		{"DVS-5.3-03/accept-all-secure", func(c *dvs.Claim, e *dvs.Evidence) {
			c.RequireSecure = true
			e.Names = append(e.Names, dvs.NameState{Name: "cdn.example.com", DNSSEC: lookleap.Secure})
		}, "ok"},
		{"DVS-7-03/reject-revoked", func(c *dvs.Claim, _ *dvs.Evidence) { c.Revoked = true }, "revoked"},
		{"DVS-7-03/accept-standing", func(*dvs.Claim, *dvs.Evidence) {}, "ok"},
		{"A32/reject-blocked", func(c *dvs.Claim, _ *dvs.Evidence) { c.Blocked = true }, "blocked-root"},
		{"DVS-3.1-02/reject-http", func(c *dvs.Claim, _ *dvs.Evidence) { c.URL = "http://example.com/s/a/SKILL.md" }, "not-https"},
		{"DVS-3.1-03/reject-http-hop", func(_ *dvs.Claim, e *dvs.Evidence) { e.Hops = []string{"http://example.com/b/SKILL.md"} }, "not-https"},
	} {
		t.Run(c.id, func(t *testing.T) {
			claim, evidence := goodClaim(), goodEvidence()
			c.change(&claim, &evidence)
			v := dvs.Decide(claim, evidence, noon, dvs.Rules{})
			if v.Code != c.want || v.OK != (c.want == "ok") || len(v.Checks) != 13 {
				t.Fatalf("want %s:\n%s", c.want, v)
			}
			if !v.OK && !v.Expires.IsZero() || v.OK && !v.Expires.Equal(evidence.Fresh) {
				t.Errorf("it expires %s", v.Expires)
			}
			if last := v.Checks[len(v.Checks)-1]; v.OK && !last.Until.Equal(evidence.Fresh) || !strings.HasPrefix(v.Subject, "http") {
				t.Errorf("%q is fresh until %s", v.Subject, last.Until)
			}
			// Judged again offline, from its JSON.
			data, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			var stored lookleap.Verdict
			if err := json.Unmarshal(data, &stored); err != nil {
				t.Fatal(err)
			}
			again, err := dvs.Rejudge(&stored, noon, dvs.Rules{})
			if err != nil || again.String() != v.String() {
				t.Errorf("judged again: %v\n%s", err, again)
			}
		})
	}
}

func TestDecideNarrows(t *testing.T) {
	for _, c := range []struct{ id, root, declared, want string }{
		{"DVS-3.1-30/accept-narrower", "https://example.com/", "https://example.com/s/", "under https://example.com/s/,"},
		{"DVS-3.1-30/reject-wider", "https://example.com/s/", "https://example.com/", "under https://example.com/s/,"},
		{"DVS-3.1-30/reject-same", "https://example.com/", "https://example.com", "under https://example.com/,"},
		{"DVS-3.1-30/reject-other", "https://example.com/", "https://evil.example/", "under https://example.com/,"},
		{"DVS-3.1-30/reject-next-to-it", "https://example.com/", "https://example.com/t/", "under https://example.com/,"},
		{"DVS-3.1-30/reject-nonsense", "https://example.com/", "x", "under https://example.com/,"},
	} {
		t.Run(c.id, func(t *testing.T) {
			claim, evidence := goodClaim(), goodEvidence()
			claim.Root, evidence.SelfDeclared = c.root, c.declared
			v := dvs.Decide(claim, evidence, noon, dvs.Rules{})
			ignored := !strings.Contains(c.id, "accept")
			if !v.OK || !strings.Contains(v.Summary, c.want) || !strings.Contains(v.String(), "(self-declared-root)") || strings.Contains(v.String(), "which is ignored") != ignored {
				t.Errorf("got\n%s", v)
			}
		})
	}
}

// TestDecideNotes holds that what is accepted with a finding is noted, and nothing else is.
func TestDecideNotes(t *testing.T) {
	for _, c := range []struct {
		id     string
		code   lookleap.Code
		change func(*dvs.Claim, *dvs.Evidence)
	}{
		{"DVS-2-06/accept-fragment-noted", "fragment-dropped", func(c *dvs.Claim, _ *dvs.Evidence) { c.URL += "#top" }},
		{"DVS-3.1-40/accept-default-noted", dvs.CodeNotRegistered, func(c *dvs.Claim, _ *dvs.Evidence) { c.Source = dvs.DefaultOrigin }},
		{"DVS-3.1-28/accept-skill-only-noted", dvs.CodeNotRegistered, func(c *dvs.Claim, _ *dvs.Evidence) { c.Source = dvs.SkillOnly }},
		{"DVS-4.2-04/accept-plain-noted", lookleap.CodeMediaType, func(_ *dvs.Claim, e *dvs.Evidence) { e.Type = "text/plain" }},
		{"DVS-4.2-04/accept-x-markdown-noted", lookleap.CodeMediaType, func(_ *dvs.Claim, e *dvs.Evidence) { e.Type = "text/x-markdown" }},
		{"DVS-4.2-05/accept-bytes-noted", lookleap.CodeMediaType, func(_ *dvs.Claim, e *dvs.Evidence) { e.Type = "application/octet-stream" }},
		{"DVS-4.2-05/accept-missing-noted", lookleap.CodeMediaType, func(c *dvs.Claim, e *dvs.Evidence) {
			c.Source, c.Profile, e.Type = dvs.DefaultOrigin, dvs.Lenient, ""
		}},
	} {
		t.Run(c.id, func(t *testing.T) {
			noted := func(claim dvs.Claim, evidence dvs.Evidence) bool {
				return slices.ContainsFunc(dvs.Decide(claim, evidence, noon, dvs.Rules{}).Checks, func(check lookleap.Check) bool {
					return check.Code == c.code && check.Status == lookleap.Noted
				})
			}
			claim, evidence := goodClaim(), goodEvidence()
			before := noted(claim, evidence)
			c.change(&claim, &evidence)
			if before || !noted(claim, evidence) {
				t.Errorf("got\n%s", dvs.Decide(claim, evidence, noon, dvs.Rules{}))
			}
		})
	}
}

func TestRejudgeRefuses(t *testing.T) {
	good := dvs.Decide(goodClaim(), goodEvidence(), noon, dvs.Rules{})
	for _, v := range []*lookleap.Verdict{nil, {Document: "another", Record: good.Record}, {Document: dvs.Draft, Record: []byte("{")}} {
		if again, err := dvs.Rejudge(v, noon, dvs.Rules{}); err == nil || again != nil {
			t.Errorf("got %v", again)
		}
	}
}

// TestDecideExplains holds what a verdict says for people, and the evidence of its checks.
func TestDecideExplains(t *testing.T) {
	const hub, raw = "https://github.com/o/r/blob/main/a/SKILL.md", "https://raw.githubusercontent.com/o/r/main/a/SKILL.md"
	for _, c := range []struct {
		id     string
		change func(*dvs.Claim, *dvs.Evidence)
		want   []string // each is in the text of the verdict
	}{
		{"DVS-2-05/accept-fragment-dropped", func(c *dvs.Claim, _ *dvs.Evidence) { c.URL += "#x" }, []string{"(fragment-dropped)"}},
		{"DVS-3.1-28/reject-skill-only-strict", func(c *dvs.Claim, _ *dvs.Evidence) { c.Source, c.Strict = dvs.SkillOnly, true }, []string{"only registered trust roots are accepted here, and the user agreed to this skill only"}},
		{"DVS-3.1-40/reject-default-strict", func(c *dvs.Claim, _ *dvs.Evidence) { c.Source, c.Strict = dvs.DefaultOrigin, true }, []string{"only registered trust roots are accepted here, and this one is the default for its host"}},
		{"DVS-3.1-28/reject-derived", func(c *dvs.Claim, _ *dvs.Evidence) { c.Source = dvs.Derived }, []string{"derived from the URL and not confirmed"}},
		{"DVS-3.1-05/accept-bytes-elsewhere", func(c *dvs.Claim, _ *dvs.Evidence) { c.URL, c.Root = hub, "https://github.com/o/" }, []string{"the platform serves its bytes elsewhere", raw}},
		{"DVS-3.1-54/reject-failure-with-detail", func(_ *dvs.Claim, e *dvs.Evidence) {
			*e = dvs.Evidence{Failure: lookleap.CodeUnreachable, Detail: "no route"}
		}, []string{"no route"}},
		{"DVS-3.1-54/reject-blocked-by-policy", func(_ *dvs.Claim, e *dvs.Evidence) {
			*e = dvs.Evidence{Failure: dvs.CodeBlockedByPolicy, Detail: "agents.txt says no"}
		}, []string{dvs.CodeBlockedByPolicy.Title() + ": agents.txt says no"}},
		{"DVS-3.1-54/reject-nothing-sent", func(_ *dvs.Claim, e *dvs.Evidence) { e.Status = 0 }, []string{"no request was sent", "(unreachable)"}},
		{"DVS-3.1-05/accept-skill-before-root", func(c *dvs.Claim, _ *dvs.Evidence) { c.Root = "https://example.com/s/" },
			[]string{`[{"url":"https://example.com/s/a/SKILL.md"},{"url":"https://example.com/s/"}]`}},
		{"DVS-3.1-05/accept-bytes-after-root", func(c *dvs.Claim, _ *dvs.Evidence) { c.URL, c.Root = hub, "https://github.com/o/" },
			[]string{`[{"url":"` + hub + `"},{"url":"https://github.com/o/"},{"url":"` + raw + `"}]`}},
		{"DVS-3.1-05/reject-skill-before-root", func(c *dvs.Claim, _ *dvs.Evidence) { c.Root = "https://example.com/t/" },
			[]string{`[{"url":"https://example.com/s/a/SKILL.md"},{"url":"https://example.com/t/"}]`}},
		{"DVS-4.3-01/reject-with-place", func(_ *dvs.Claim, e *dvs.Evidence) {
			e.Content, e.ContentError, e.Position = dvs.CodeBadFrontmatter, "the value is bad", &lookleap.Position{Line: 3, Column: 7}
		}, []string{"3:7: the value is bad"}},
	} {
		t.Run(c.id, func(t *testing.T) {
			claim, evidence := goodClaim(), goodEvidence()
			c.change(&claim, &evidence)
			v := dvs.Decide(claim, evidence, noon, dvs.Rules{})
			data, err := json.Marshal(v.Checks)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(v.String(), want) && !strings.Contains(string(data), want) {
					t.Errorf("%q is not in\n%s\n%s", want, v, data)
				}
			}
		})
	}
}
