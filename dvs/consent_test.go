package dvs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestResumeHoldsFiles resumes plans that an attacker wrote together with a user's
// decision: what files they have is exactly what they say they have.
func TestResumeHoldsFiles(t *testing.T) {
	host := lookleaptest.ForTest(t).StubHost()
	loader := dvs.NewLoader(host, dvs.Options{Roots: registry(t, "https://shop.example/")})
	const script = `{"type":"dvs/script","script":{"skill":"https://shop.example/s/a/SKILL.md","root":"https://shop.example/","script":{"name":"x.sh","digest":"","size":%}}}` + "\n"
	with := func(size, files string) string {
		return script[:len(script)-5] + size + script[len(script)-4:] + files
	}
	for name, c := range map[string]struct {
		effect string
		want   error
	}{
		"accept-its-file":       {with("3", "abc"), nil},
		"reject-too-short":      {with("4", "abc"), lookleap.ErrPlanInvalid},
		"reject-too-long":       {with("2", "abc"), lookleap.ErrPlanInvalid},
		"reject-negative":       {with("-1", "abc"), lookleap.ErrPlanInvalid},
		"reject-no-json":        {"abc", lookleap.ErrPlanInvalid},
		"reject-other-type":     {`{"type":"dvs/other"}` + "\n", lookleap.ErrPlanInvalid},
		"reject-admit-nothing":  {`{"type":"dvs/admit"}` + "\n", lookleap.ErrPlanInvalid},
		"reject-fetch-nothing":  {`{"type":"dvs/fetch"}` + "\n", lookleap.ErrPlanInvalid},
		"reject-script-nothing": {`{"type":"dvs/script"}` + "\n", lookleap.ErrPlanInvalid},
		"reject-files-nothing":  {`{"type":"dvs/files"}` + "\n", lookleap.ErrPlanInvalid},
		"reject-action-nothing": {`{"type":"dvs/action"}` + "\n", lookleap.ErrPlanInvalid},
		"reject-files-of-none":  {`{"type":"dvs/fetch","fetch":{"skill":"","root":"","url":""}}` + "\nabc", lookleap.ErrPlanInvalid},
	} {
		t.Run("DVS-5.2-09/"+name, func(t *testing.T) {
			req := lookleap.ConsentRequest{Kind: lookleap.ConsentScript, Origin: "https://shop.example", Summary: "run", Items: []lookleap.ConsentItem{{ID: "run", Summary: "run"}}}
			plan, err := lookleap.NewPlan(req, []byte(c.effect), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			state, err := plan.State()
			if err != nil {
				t.Fatal(err)
			}
			shown := plan.Request()
			decision, _ := agree(shown)
			got, err := loader.Resume(t.Context(), state, decision)
			if !errors.Is(err, c.want) || c.want == nil && string(got.Script.Command().Script) != "abc" {
				t.Errorf("%+v, %v", got, err)
			}
			if name == "reject-no-json" && !strings.Contains(err.Error(), "character 'a'") {
				t.Errorf("the reason is missing: %v", err)
			}
		})
	}
}

// watch collects everything that a host reports, in words.
type watch struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *watch) observe(ctx context.Context, e lookleap.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	lookleap.LogEvents(slog.New(slog.NewTextHandler(&w.text, nil)))(ctx, e)
	if e.Verdict != nil {
		data, _ := json.Marshal(e.Verdict)
		w.text.Write(data)
		w.text.Write(e.Verdict.Record)
	}
	if e.Finding != nil {
		w.text.WriteString(e.Finding.String() + e.Finding.Message + e.Finding.Path)
	}
}

// TestEventsHoldNoSecrets puts a secret into every URL that a user, a document or
// a server can write.
func TestEventsHoldNoSecrets(t *testing.T) {
	const secret = "s3cr3t"
	const skill = "https://shop.example/s/a/SKILL.md"
	decorated := map[string]string{"query": "?q=" + secret, "fragment": "#" + secret, "query-and-fragment": "?q#" + secret}
	users := map[string]string{"user": "https://" + secret + "@shop.example/s/a/SKILL.md", "password": "https://u:" + secret + "@shop.example/s/a/SKILL.md",
		"other-scheme": "http://u:" + secret + "@shop.example/?" + secret, "data": "data:text/markdown," + secret}
	urls := make(map[string]string)
	for name, tail := range decorated {
		urls[name] = skill + tail
	}
	for name, url := range users {
		urls[name] = url
	}
	for name, run := range map[string]func(ctx context.Context, l *dvs.Loader, url string){
		"load":     func(ctx context.Context, l *dvs.Loader, url string) { _, _ = l.Load(ctx, url) },
		"register": func(ctx context.Context, l *dvs.Loader, url string) { _, _ = l.Register(ctx, url) },
		"discover": func(ctx context.Context, l *dvs.Loader, url string) {
			for _, err := range l.Discover(ctx, url) {
				l.Roots().Rules() // the error is the caller's
				_ = err
			}
		},
		"under": func(ctx context.Context, l *dvs.Loader, url string) {
			_, _ = l.LoadUnder(ctx, url, must(dvs.ParseTrustRoot("https://shop.example/s/", dvs.Rules{})))
		},
		"resource": func(ctx context.Context, l *dvs.Loader, url string) {
			if s, err := l.Load(ctx, skill); err == nil {
				_, _ = s.Resource(ctx, url)
				_, _ = s.Resource(ctx, strings.Replace(url, "shop.example", "other.example", 1))
				_, _ = s.Approve(ctx, dvs.Invocation{Script: url})
				_, _ = s.LoadRef(ctx, url)
				_, _ = s.LoadRef(ctx, "more.md?"+secret)
			}
		},
		"redirect": func(ctx context.Context, l *dvs.Loader, url string) {
			_, _ = l.Load(ctx, "https://shop.example/hop/SKILL.md")
			_, _ = l.Load(ctx, "https://shop.example/away/SKILL.md")
		},
	} {
		for kind, url := range urls {
			for _, side := range []string{"strict", "queries"} {
				t.Run("O52/reject-"+name+"-"+kind+"-"+side, func(t *testing.T) {
					net := lookleaptest.ForTest(t)
					net.Site("shop.example").File("*", "text/markdown", refund).Redirect("/hop/SKILL.md", "/s/a/SKILL.md?"+secret).Redirect("/away/SKILL.md", url)
					net.Site("other.example").File("*", "text/markdown", "more")
					seen := new(watch)
					host := net.StubHost()
					host.Observe, host.Prompter = seen.observe, &prompter{decide: agree}
					loader := dvs.NewLoader(host, dvs.Options{Roots: dvs.NewRoots(dvs.Rules{AllowQuery: side == "queries"})})
					if _, err := loader.Roots().Register("https://shop.example/", dvs.ByHost); err != nil {
						t.Fatal(err)
					}
					run(t.Context(), loader, url)
					text := seen.text.String()
					if side == "queries" { // a query is part of the identity there, and of the record that is judged again
						text, _, _ = strings.Cut(text, `"claim"`)
					}
					if at := strings.Index(text, secret); at >= 0 {
						t.Errorf("an event has the secret: …%s", text[max(0, at-300):at+len(secret)])
					}
				})
			}
		}
	}
	t.Run("O52/accept-judged-again", func(t *testing.T) {
		for kind, url := range urls {
			v := dvs.Decide(dvs.Claim{URL: url, Root: "https://shop.example/", Source: dvs.ByHost}, dvs.Evidence{Status: 200, Type: "text/markdown", Content: lookleap.CodeOK}, time.Unix(0, 0), dvs.Rules{})
			again, err := dvs.Rejudge(v, time.Unix(0, 0), dvs.Rules{})
			if err != nil || again.Code != v.Code || again.OK != v.OK || again.Subject != v.Subject {
				t.Errorf("%s: %s and then %s, %v", kind, v.Code, again.Code, err)
			}
		}
	})
}

func TestLookalikeKeys(t *testing.T) {
	for name, header := range map[string]string{
		"capital":       "name: notes\nName: bank-pay\ndescription: b\n",
		"capital-first": "Name: bank-pay\nname: notes\ndescription: b\n",
		"NBSP":          "name: notes\n\u00a0name: bank-pay\ndescription: b\n",
		"NBSP-first":    "\u00a0name: bank-pay\nname: notes\ndescription: b\n",
		"zero-width":    "name: notes\n\"na\\u200bme\": bank-pay\ndescription: b\n",
		"Cyrillic":      "name: notes\nn\u0430me: bank-pay\ndescription: b\n",
		"full-width":    "name: notes\nｎame: bank-pay\ndescription: b\n",
		"quoted":        "name: notes\n\"NAME\": bank-pay\ndescription: b\n",
		"description":   "name: notes\ndescription: b\nDescription: evil\nDESCRIPTION: evil\n",
	} {
		for _, profile := range []dvs.Profile{dvs.DVS, dvs.Lenient} {
			t.Run("O38/accept-exact-"+name+"-"+profile.String(), func(t *testing.T) {
				skill, findings, err := dvs.ParseSkill([]byte("---\n"+header+"---\nx\n"), profile, dvs.Limits{})
				if err != nil || skill.Name != "notes" || skill.Description != "b" {
					t.Fatalf("%+v, %v", skill, err)
				}
				reported := 0
				for _, f := range findings {
					if f.Severity >= lookleap.SeverityWarning {
						reported++
					}
				}
				if reported == 0 {
					t.Errorf("%v", findings)
				}
			})
		}
	}
	t.Run("O38/reject-exact-twice", func(t *testing.T) {
		data := []byte("---\nname: a\ndescription: b\ndescription: c\n---\nx\n")
		if skill, _, err := dvs.ParseSkill(data, dvs.DVS, dvs.Limits{}); skill != nil || lookleap.CodeOf(err) != dvs.CodeBadFrontmatter {
			t.Error(err)
		}
		skill, findings, err := dvs.ParseSkill(append(data[:0:0], bytes.Replace(data, []byte("x"), []byte("y"), 1)...), dvs.Lenient, dvs.Limits{})
		if err != nil || skill == nil || len(findings) == 0 {
			t.Error(findings, err)
		}
	})
	for name, header := range map[string]string{
		"capitals":     "Name: notes\nNAME: bank-pay\nDescription: b\nDESCRIPTION: evil\n",
		"same-letters": "Name: notes\nName: bank-pay\nDescription: b\nDescription: evil\n",
		"NBSP":         "\u00a0name: notes\nName: bank-pay\n\u00a0description: b\nDescription: evil\n",
		"exact-last":   "NAME: evil\nName: evil\nname: notes\nDescription: evil\ndescription: b\n",
	} {
		t.Run("O38/accept-first-"+name, func(t *testing.T) {
			skill, findings, err := dvs.ParseSkill([]byte("---\n"+header+"---\nx\n"), dvs.Lenient, dvs.Limits{})
			if err != nil || skill.Name != "notes" || skill.Description != "b" || len(findings) < 2 {
				t.Errorf("%+v, %v, %v", skill, findings, err)
			}
		})
	}
	for _, key := range []string{"Allowed-Tools", "ALLOWED-TOOLS", "allowed_tools", "allowedTools", "License", "Metadata", "\"\\u00a0metadata\"", "Trust-Root", "Compatibility", "lic\u0435nse", "\u0430llowed-tools"} {
		t.Run("O69/reject-silently-key-"+strings.Trim(key, `"`), func(t *testing.T) {
			if n, all := countFindings(t, key+": x\n", "x\n", "unknown-field"); n != 1 {
				t.Errorf("%v", all)
			}
		})
	}
	for _, key := range []string{"allowed-tools", "license", "author", "names", "tools"} {
		t.Run("O69/accept-key-"+key, func(t *testing.T) {
			if n, all := countFindings(t, key+": x\n", "x\n", "unknown-field"); n != 0 {
				t.Errorf("%v", all)
			}
		})
	}
}

func TestAnnotations(t *testing.T) {
	for _, key := range []string{"DVS-Source", "dvs_source", "DvsSource", "dvs.digest", "Source", "origin-url", "allowed-tools", "Allowed_Tools", "allowedTools", "ALLOWED-TOOLS",
		"tools", "hooks", "Hooks", "PreToolUse-hook", "permissions", "permission-mode", "trust-root", "trusted", "verified", "model", "mcpServers", "command", "disable-model-invocation",
		"install", "post-install", "autoRun", "Entry-Point", "url", "source_url", "repository", "canonical", "commit", "network", "filesystem", "full-access", "requires", "openclaw", "run", "env", "import", "extends", "ref"} {
		t.Run("O44/reject-"+key, func(t *testing.T) {
			for _, form := range []string{key + ": Bash-evil", `"` + key + `": Bash-evil`, key + ":\n    - Bash-evil", key + ":\n    x: Bash-evil"} {
				v := skillsFS(t, dvs.DVS, bundle("a", "name: a\ndescription: b\nmetadata:\n  "+form+"\n"))
				if data, _ := fs.ReadFile(v, "a/SKILL.md"); bytes.Contains(data, []byte("Bash-evil")) || bytes.Count(data, []byte("dvs-source")) != 1 {
					t.Errorf("%s", data)
				}
			}
			v := skillsFS(t, dvs.Lenient, bundle("a", "name: a\ndescription: b\n\""+key+"\": Bash-evil\n"))
			if data, _ := fs.ReadFile(v, "a/SKILL.md"); bytes.Contains(data, []byte("Bash-evil")) {
				t.Errorf("%s", data)
			}
		})
	}
	for _, key := range []string{"author", "version", "category", "tags", "language", "homepage", "Team", "k00", "importance", "runtime", "reference", "accessibility", "keywords", "environment"} {
		t.Run("O44/accept-"+key, func(t *testing.T) {
			v := skillsFS(t, dvs.DVS, bundle("a", "name: a\ndescription: b\nmetadata:\n  "+key+": x\n"))
			if data, _ := fs.ReadFile(v, "a/SKILL.md"); !bytes.Contains(data, []byte("  "+key+`: "x"`)) {
				t.Errorf("%s", data)
			}
		})
	}
}

// TestPlanOwner resumes each kind of plan for another user than the one who was asked.
func TestPlanOwner(t *testing.T) {
	pend := &prompter{decide: func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
	}}
	flows := map[string]func(context.Context, *dvs.Loader) error{
		"admission": func(ctx context.Context, l *dvs.Loader) error {
			_, err := l.Load(ctx, "https://other.example/s/a/SKILL.md")
			return err
		},
		"fetch": func(ctx context.Context, l *dvs.Loader) error {
			skill, err := l.Load(ctx, scriptSkill)
			if err == nil {
				_, err = skill.Resource(ctx, "https://other.example/x")
			}
			return err
		},
		"script": func(ctx context.Context, l *dvs.Loader) error {
			skill, err := l.Load(ctx, scriptSkill)
			if err == nil {
				_, err = skill.Approve(ctx, invocation)
			}
			return err
		},
		"action": func(ctx context.Context, l *dvs.Loader) error {
			skill, err := l.Load(ctx, scriptSkill)
			if err == nil {
				err = skill.Confirm(ctx, dvs.Action{Kind: dvs.FileOp, Command: "rm x"})
			}
			return err
		},
	}
	t.Run("O06", func(t *testing.T) {
		for name, suspend := range flows {
			for who, ids := range map[string][2]string{"two-users": {"ann", "bob"}, "no-user": {"ann", ""}, "user-of-a-plan-without": {"", "bob"}} {
				t.Run("reject-"+name+"-"+who, func(t *testing.T) {
					net := lookleaptest.ForTest(t)
					net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", refund).File("/s/a/scripts/x.sh", "text/plain", "echo").File("/s/a/data/x.csv", "text/csv", "a,b")
					net.Site("other.example").File("/s/a/SKILL.md", "text/markdown", refund).File("/x", "text/plain", "x")
					host := net.StubHost()
					host.Prompter = pend
					of := func(user string) *dvs.Loader {
						return dvs.NewLoader(host, dvs.Options{User: user, Roots: registry(t, "https://shop.example/"), Runner: &runner{}})
					}
					var pending *lookleap.PendingError
					if err := suspend(t.Context(), of(ids[0])); !errors.As(err, &pending) {
						t.Fatal(err)
					}
					if ids[0] != "" && strings.Contains(string(pending.State), ids[0]) {
						t.Error("the plan holds the user's id")
					}
					decision, _ := agree(pending.Request)
					net.Journal().Clear()
					if got, err := of(ids[1]).Resume(t.Context(), pending.State, decision); got != nil || lookleap.CodeOf(err) != lookleap.CodePlanOtherUser {
						t.Errorf("%+v, %v", got, err)
					}
					if sent := net.Journal().Requests(); len(sent) != 0 {
						t.Errorf("sent %v", sent)
					}
					if _, err := of(ids[0]).Resume(t.Context(), pending.State, decision); err != nil { // nothing was claimed
						t.Errorf("its own user: %v", err)
					}
				})
			}
		}
	})
	t.Run("O50/accept-refusals-of-each-user", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", refund)
		host, asked := net.StubHost(), 0
		host.Prompter = &prompter{decide: func(r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			asked++
			return lookleap.ConsentDecision{Digest: r.Digest}, nil
		}}
		for _, user := range []string{"ann", "bob", "ann"} {
			_, err := dvs.NewLoader(host, dvs.Options{User: user}).Load(t.Context(), "https://shop.example/s/a/SKILL.md")
			if !errors.Is(err, lookleap.ErrConsentRefused) {
				t.Errorf("%s: %v", user, err)
			}
		}
		if asked != 2 {
			t.Errorf("asked %d times, want once for each user", asked)
		}
	})
}
