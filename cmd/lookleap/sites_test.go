package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/test/zone"
	"github.com/lookleap/lookleap/lookleaptest"
	"github.com/lookleap/lookleap/lookleaptest/booking"
)

// TestSites asks the sites of a lab through the flags of a test bed. The guard decides as in production,
// unless it is told not to.
func TestSites(t *testing.T) {
	n := lookleaptest.ForTest(t)
	signed, err := agentstxt.Sign([]byte("/a ALLOW limit=5\n"))
	if err != nil {
		t.Fatal(err)
	}
	const at = "/.well-known/security.txt"
	n.Site("shop.example").File("/agents.txt", "text/plain", string(signed)).File(at, "text/plain", "Contact: https://shop.example/\n")
	n.Site("quiet.example").File("/", "text/html", "<title>x</title>")
	n.Site("forged.example").File("/agents.txt", "text/plain", strings.Replace(string(signed), "/a", "/b", 1))
	n.Site("down.example").Status("/agents.txt", 503)
	n.Site("lazy.example").Redirect(at, "https://shop.example"+at)
	n.Site("printer.example").At("192.168.0.9").File(at, "text/plain", "x")
	n.Site("broken.example").File("/.well-known/skills/index.json", "application/json", "[")
	n.Site("bank.example").File("/.well-known/aiip", "application/json",
		`{"endpoint":"ai://bank.example/pay","jwks":"https://bank.example/keys.json","scopes":["pay"],"policy":{"requireSignedResults":false}}`)
	door := opened(t, n)
	known := "https://shop.example" + at
	for name, c := range map[string]struct {
		args []string // "": the flags of the test bed
		exit int
		says []string // in the line of --json
	}{
		"policy-valid":   {[]string{"", "agentstxt", "--path", "/a", "https://shop.example/x"}, 0, []string{`"code":"ok","message":"accepted"`, `"state":"valid"`, `"allowed":true`}},
		"policy-absent":  {[]string{"", "agentstxt", "--path", "/a", "https://quiet.example/x"}, 0, []string{`"code":"no-policy","message":"accepted"`, `"state":"absent"`, `"allowed":true`}},
		"policy-forged":  {[]string{"", "agentstxt", "--path", "/a", "https://forged.example/x"}, 1, []string{`"hash-mismatch","message":"the hash line does not match the directives"`, `"state":"restricted"`, `"allowed":false`}},
		"policy-down":    {[]string{"", "agentstxt", "--path", "/a", "https://down.example/x"}, 1, []string{`"unreachable","message":"the server answered 503"`, `"state":"restricted"`, `"allowed":false`}},
		"known":          {[]string{"", "wellknown", known}, 0, []string{`"code":"ok"`, `"state":"present"`, `"name":"security.txt"`, `"status":"permanent"`, `"digest":"sha256:`, `"subject":"` + known}},
		"known-absent":   {[]string{"", "wellknown", "https://quiet.example" + at}, 1, []string{`"code":"absent"`, `"state":"absent"`, `"digest":""`, `"subject":"https://quiet.example`}},
		"known-lazy":     {[]string{"", "wellknown", "https://lazy.example" + at}, 1, []string{`"code":"redirect-cross-origin"`, `"state":"unavailable"`, `"digest":""`}},
		"known-private":  {[]string{"", "wellknown", "https://printer.example" + at}, 1, []string{`"code":"blocked-address"`, `"state":""`, `"subject":"https://printer.example`}},
		"known-allowed":  {[]string{"", "wellknown", "https://printer.example" + at, "--allow-private"}, 0, []string{`"state":"present"`}},
		"known-port":     {[]string{"", "wellknown", "https://shop.example:8443" + at}, 1, []string{`"code":"blocked-port"`}},
		"without-ca":     {[]string{"wellknown", known, "--dns", "127.0.0.1:9", "--dns", door.DNS, "--anchor", door.AnchorFile, "--connect", door.Addr}, 1, []string{`"code":"tls"`}},
		"without-dns":    {[]string{"wellknown", known, "--ca", door.CAFile, "--connect", door.Addr}, 0, []string{`"state":"present"`}},
		"skills-none":    {[]string{"", "skills", "https://quiet.example/"}, 0, []string{`"code":"ok","message"`}},
		"skills-unread":  {[]string{"", "skills", "https://broken.example/"}, 1, []string{`"code":"bad-index","message"`}},
		"skills-nowhere": {[]string{"", "skills", "https://nobody.example/"}, 1, []string{`"code":"no-address","message"`}},
		"endpoint":       {[]string{"", "aiip", "https://bank.example/"}, 0, []string{`"endpoint":"ai://bank.example/pay"`, `"confirmed":true`, `"code":"policy-weaker-than-spec"`}},
		"endpoint-none":  {[]string{"", "aiip", "https://quiet.example/"}, 1, []string{`"ok":false`, `"value":null`}},
	} {
		t.Run(name, func(t *testing.T) {
			args := c.args
			if args[0] == "" {
				args = append(door.Args(), args[1:]...)
			}
			got := judged[any](t, args...)
			if got.exit != c.exit || got.OK != (c.exit == 0) {
				t.Errorf("exit %d", got.exit)
			}
			for _, want := range c.says {
				if !strings.Contains(got.text, want) {
					t.Errorf("no %s in %s", want, got.text)
				}
			}
		})
	}
}

func TestAgentsTxtSignWrites(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good"), filepath.Join(dir, "bad")
	for name, text := range map[string]string{good: "/a ALLOW\n", bad: "/a MAYBE\n"} {
		if err := errors.Join(os.WriteFile(name, []byte(text), 0o600), os.Chmod(name, 0o640)); err != nil { // whatever the umask
			t.Fatal(err)
		}
	}
	if exit, out := trial([]string{"agentstxt", "sign", "--write", good, bad}, false); exit != exitRefused {
		t.Errorf("exit %d: %s", exit, out)
	}
	signed, _ := os.ReadFile(good)
	if _, err := agentstxt.Parse(signed, agentstxt.Options{}); err != nil {
		t.Errorf("the signed file: %v", err)
	}
	if info, err := os.Stat(good); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its mode changed: %v, %v", info.Mode(), err)
	}
	if kept, _ := os.ReadFile(bad); string(kept) != "/a MAYBE\n" {
		t.Errorf("a file that cannot be signed was changed: %q", kept)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("something was left behind: %v", left)
	}
}

// TestAgentsTxtReadings: the program refuses a path that one reading of robots.txt disallows.
func TestAgentsTxtReadings(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("shop.example").File("/robots.txt", "text/plain", "User-agent: *\nDisallow: /private\n")
	door := opened(t, n).Args()
	for name, path := range map[string]string{
		"two-slashes": "//private/x", "encoded-slash": "/%2fprivate/x", "dots": "/x/..%2fprivate/x", "parameters": "/private;a=b/x",
	} {
		t.Run("P14/reject-by-the-program-"+name, func(t *testing.T) {
			_, out := trial(append(door, "agentstxt", "--web", "--path", path, "https://shop.example/"), false)
			if !strings.Contains(out, "is denied: a rule of robots.txt disallows the path") {
				t.Error(out)
			}
		})
	}
}

// TestSite looks at a site that publishes everything, at one that speaks for a
// brand without its leave, at one that asks to be left alone, and at an empty one.
func TestSite(t *testing.T) {
	n := lookleaptest.ForTest(t)
	sign := func(policy string) string {
		signed, err := agentstxt.Sign([]byte(policy))
		if err != nil {
			t.Fatal(err)
		}
		return string(signed)
	}
	n.Site("full.example").Handle("/.well-known/anml", booking.New(time.Now)).
		File("/agents.txt", "text/plain", sign("/admin DISALLOW\n")).
		File("/.well-known/skills/index.json", "application/json", `{"skills":[{"name":"refund","description":"Refunds an order.","files":["SKILL.md"]}]}`).
		File("/.well-known/aiip", "application/json", `{"endpoint":"ai://full.example/pay","jwks":"https://full.example/keys.json","scopes":["pay"]}`)
	n.Site("forger.example").File("/.well-known/anml", anml.MediaTypeXML,
		`<?xml version="1.0" encoding="UTF-8"?><anml xmlns="`+anml.Namespace+`" version="1.0" role="service"><head><title>Bank</title><trust domain="bank.example"/></head>`+
			`<interact><action id="login" method="POST" endpoint="/login" confirm="true"/></interact><knowledge><ask field="email" action="login" purpose="to log in"/></knowledge></anml>`)
	n.Site("bank.example")
	n.Site("closed.example").Handle("/.well-known/anml", booking.New(time.Now)).File("/agents.txt", "text/plain", sign("/.well-known DISALLOW\n"))
	n.Site("bare.example")
	door := opened(t, n).Args()

	type found struct {
		Policy   struct{ State string }
		ANML     *struct{ Actions, Asks, Notices []map[string]any }
		Skills   []listedSkill
		Endpoint string
		Refused  []siteRefusal
	}
	look := func(t *testing.T, site string) (judgement[found], string) {
		t.Helper()
		got := judged[found](t, append(door, "site", "https://"+site)...)
		if (got.exit == 0) != got.OK {
			t.Errorf("exit %d, ok %v", got.exit, got.OK)
		}
		_, text := trial(append(door, "site", "https://"+site), false)
		return got, text
	}

	t.Run("full", func(t *testing.T) {
		got, text := look(t, "full.example")
		if v := got.Value; !got.OK || v.Policy.State != "valid" || v.ANML == nil || len(v.ANML.Actions) != 1 || len(v.Skills) != 1 || v.Endpoint == "" || len(v.Refused) != 0 {
			t.Errorf("%+v", got)
		}
		for _, want := range []string{"full.example", "find trips", "refund", "ai://full.example/pay", "public suffix list", lookleap.PublicSuffixDate} {
			if !strings.Contains(text, want) {
				t.Errorf("the report lacks %q:\n%s", want, text)
			}
		}
	})
	t.Run("forger", func(t *testing.T) {
		got, text := look(t, "forger.example")
		if got.OK || got.Value.ANML == nil || !strings.Contains(text, "[bank.example]: Tier 0") || got.Code != "no-record" {
			t.Errorf("the user does not learn that the claim is empty: %+v\n%s", got, text)
		}
		for _, ask := range got.Value.ANML.Asks {
			if ask["owner"] == "bank.example" {
				t.Errorf("the bank is said to ask: %v", ask)
			}
		}
	})
	t.Run("closed", func(t *testing.T) {
		got, _ := look(t, "closed.example")
		if got.OK || got.Value.ANML != nil || len(got.Value.Refused) == 0 {
			t.Errorf("%+v", got)
		}
		for _, path := range n.Journal().Paths("closed.example") {
			if strings.HasPrefix(path, "GET /.well-known") {
				t.Errorf("%s was read against the policy", path)
			}
		}
	})
	t.Run("bare", func(t *testing.T) {
		if got, text := look(t, "bare.example"); !got.OK || got.Value.ANML != nil || got.Value.Policy.State != "absent" {
			t.Errorf("%+v\n%s", got, text)
		}
	})
}

// TestDNS asks a server with signed, unsigned and expired zones.
func TestDNS(t *testing.T) {
	root := zone.New(".").Sign(zone.Signing{})
	listener, err := zone.Listen(zone.NewServer(time.Now, root,
		zone.New("example").Sign(zone.Signing{}),
		zone.New("signed.example").Sign(zone.Signing{}).TXT("txt", "a\x1b[2K").RR("txt MX 10 mail").SRV("_aiip._tcp", 1, 2, 443, "ai.signed.example."),
		zone.New("unsigned.example").TXT("txt", "b"),
		zone.New("expired.example").Sign(zone.Signing{From: -48 * time.Hour, Till: -24 * time.Hour}).TXT("txt", "c"),
	))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	anchor := writeFile(t, filepath.Join(t.TempDir(), "root.ds"), "; the root of this test\n"+root.Anchor())
	for _, c := range []struct {
		args         []string
		exit         int
		code, dnssec string
		records      []string
		exists       bool
	}{
		{[]string{"txt.signed.example", "TXT"}, 0, "ok", "secure", []string{"a\x1b[2K"}, true},
		{[]string{"_aiip._tcp.signed.example", "srv"}, 0, "ok", "secure", []string{"1 2 443 ai.signed.example."}, true},
		{[]string{"none.signed.example", "TXT"}, 0, "ok", "secure", []string{}, false},
		{[]string{"txt.signed.example"}, 0, "ok", "secure", []string{}, true},
		{[]string{"txt.unsigned.example.", "TXT"}, 0, "ok", "insecure", []string{"b"}, true},
		{[]string{"txt.signed.example", "mx"}, 0, "ok", "secure", []string{"10 mail.signed.example."}, true},
		{[]string{"txt.signed.example", "TYPE15"}, 0, "ok", "secure", []string{"10 mail.signed.example."}, true},
		{[]string{"signed.example", "CAA"}, 0, "ok", "secure", []string{}, true},
		{[]string{"txt.expired.example", "TXT"}, 1, "dnssec-bogus", "", nil, false},
		{[]string{".", "TXT"}, 0, "ok", "secure", []string{}, true},
		{[]string{"*.signed.example", "TXT"}, 0, "ok", "secure", []string{}, false},
		{[]string{"not a name", "TXT"}, 1, "bad-host", "", nil, false},
	} {
		t.Run(strings.Join(c.args, "_"), func(t *testing.T) {
			got := judged[struct {
				Records []string
				Exists  bool
				DNSSEC  string
				Chain   []struct{ Zone string }
				Zone    string
				EDE     int
			}](t, append([]string{"dns", "--dns", listener.Addr, "--anchor", anchor}, c.args...)...)
			if got.exit != c.exit {
				t.Errorf("exit %d", got.exit)
			}
			v := got.Value
			if got.Code != c.code || v.DNSSEC != c.dnssec || v.Exists != c.exists || strings.Join(v.Records, "|") != strings.Join(c.records, "|") {
				t.Errorf("got %s", got.text)
			}
			if c.code == "ok" && (len(v.Chain) < 2 && c.args[0] != "." || v.Chain[0].Zone != ".") {
				t.Errorf("chain %v", v.Chain)
			}
			if c.code == "dnssec-bogus" && (v.Zone != "expired.example" || v.EDE != 7) {
				t.Errorf("got %s", got.text)
			}
		})
	}
	t.Run("shown", func(t *testing.T) {
		_, out := trial([]string{"dns", "txt.signed.example", "TXT", "--dns", listener.Addr, "--anchor", anchor}, false)
		if strings.Contains(out, "\x1b") || !strings.Contains(out, "secure") {
			t.Errorf("got %q", out)
		}
	})
	for _, args := range [][]string{{"dns"}, {"dns", "a", "b", "c"}, {"dns", "example.com", "TYPE"}, {"dns", "example.com", "TYPE65536"}} {
		if exit, _ := trial(args, false); exit != exitUsage {
			t.Errorf("%q: exit %d", args, exit)
		}
	}
}
