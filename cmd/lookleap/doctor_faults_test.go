package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// ward is a site that publishes everything, all of it right.
type ward struct {
	*lookleaptest.Site
	net    *lookleaptest.Internet
	origin string
}

const goodSkill = "---\nname: refund\ndescription: Refunds an order.\n---\n# Refunds\n\nSee [the rules](rules.md).\n"

func newWard(t *testing.T, n *lookleaptest.Internet, name string) *ward {
	t.Helper()
	w := &ward{n.Site(name), n, "https://" + name}
	w.policy(t, "/admin DISALLOW\n")
	w.File("/robots.txt", "text/plain", "User-agent: *\nDisallow: /admin\n")
	w.anml(t, func(*anml.Builder) {})
	w.manifest(t, name, time.Now().Add(-time.Hour), 30*24*time.Hour)
	n.Name("_anml." + name).TXT("v=anml1; manifest=" + w.origin + "/.well-known/anml-trust")
	w.skill(t, goodSkill)
	w.File("/.well-known/agent-skills/refund/rules.md", "text/markdown", "# Rules\n")
	w.File("/.well-known/aiip", "application/json", `{"endpoint":"ai://`+name+`/pay","jwks":"`+w.origin+`/keys.json","scopes":["pay"]}`)
	w.File("/keys.json", "application/jwk-set+json", keySet(t))
	return w
}

func keySet(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := aiuri.NewKeyRing(aiuri.SigningKey{ID: "1", Private: key}, aiuri.KeyRingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return string(ring.JWKS())
}

func (w *ward) policy(t *testing.T, rules string) {
	t.Helper()
	signed, err := agentstxt.Sign([]byte(rules))
	if err != nil {
		t.Fatal(err)
	}
	w.File("/agents.txt", "text/plain", string(signed))
}

func (w *ward) anml(t *testing.T, change func(*anml.Builder)) {
	t.Helper()
	b := anml.NewService("Ferries")
	b.Action("search", "GET", "/search").Param("day", anml.TypeDate).Required()
	change(b)
	d, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	h, err := anml.NewHandler(d, anml.HandlerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.Handle("/.well-known/anml", h)
}

func (w *ward) manifest(t *testing.T, site string, issued time.Time, life time.Duration) {
	t.Helper()
	data, err := anmltrust.BuildManifest(site, issued, life, anmltrust.Entry{Domain: "partner.example", Tier: anmltrust.Full, Scope: anmltrust.ScopeOf("body")})
	if err != nil {
		t.Fatal(err)
	}
	w.File("/.well-known/anml-trust", anmltrust.ManifestMediaType, string(data))
}

func (w *ward) skill(t *testing.T, text string) {
	t.Helper()
	w.File("/.well-known/agent-skills/refund/SKILL.md", "text/markdown; charset=utf-8", text)
	w.index(text)
}

func (w *ward) index(text string) {
	w.File("/.well-known/agent-skills/index.json", "application/json", `{"$schema":"https://schemas.agentskills.io/discovery/0.2.0/schema.json","skills":[{"name":"refund","type":"skill-md","description":"Refunds an order.",
		"url":"/.well-known/agent-skills/refund/SKILL.md","digest":"`+dvs.DigestOf([]byte(text)).String()+`"}]}`)
}

// siteFault is one thing that is wrong at a site, and what the doctor has to say about it.
type siteFault struct {
	change func(t *testing.T, w *ward)
	check  string // that finds it
	says   string // in the message
	fix    string // in the fix
	harm   bool   // agents turn away
}

const (
	challenge = `<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>Checking your browser</body></html>`
	loginPage = `<!DOCTYPE html><html><body><form><input type="password" name="p"></form></body></html>`
)

func status(path string, code int) func(*testing.T, *ward) {
	return func(_ *testing.T, w *ward) { w.Handle(path, lookleaptest.Status(code)) }
}

func body(path, mediaType, text string) func(*testing.T, *ward) {
	return func(_ *testing.T, w *ward) { w.File(path, mediaType, text) }
}

func certificate(c lookleaptest.Certificate) func(*testing.T, *ward) {
	return func(_ *testing.T, w *ward) { w.Certificate(c) }
}

var siteFaults = map[string]siteFault{
	"nothing": {func(*testing.T, *ward) {}, "", "", "", false},

	"no-address":      {func(_ *testing.T, w *ward) { w.net.Name(w.Name()).Clear() }, "address", "has no address", "publish A or AAAA", true},
	"dns-fails":       {func(_ *testing.T, w *ward) { w.net.Name(w.Name()).ServFail() }, "address", "lookup failed", "make the name servers of the zone answer", true},
	"private-address": {func(_ *testing.T, w *ward) { w.At("10.1.2.3") }, "connection", "10.0.0.0/8", "publish public addresses", true},
	"refused":         {func(_ *testing.T, w *ward) { w.Connection(lookleaptest.ConnectionRefused) }, "connection", "reset", "ends connections", true},
	"reset":           {func(_ *testing.T, w *ward) { w.Connection(lookleaptest.ConnectionReset) }, "connection", "reset", "ends connections", true},
	"no-tls":          {func(_ *testing.T, w *ward) { w.Connection(lookleaptest.ConnectionNotTLS) }, "connection", "TLS", "serve https on this port", true},
	"old-tls":         {func(_ *testing.T, w *ward) { w.MaxTLS(tls.VersionTLS11) }, "connection", "version", "switch on TLS 1.2", true},
	"expired":         {certificate(lookleaptest.CertificateExpired), "connection", "expired", "has not expired", true},
	"other-name":      {certificate(lookleaptest.CertificateWrongName), "connection", "wrong-name.example", "a certificate for this name", true},
	"unknown-ca":      {certificate(lookleaptest.CertificateUnknownCA), "connection", "unknown authority", "with the whole chain", true},
	"ends-soon":       {certificate(lookleaptest.CertificateEndsSoon), "connection", "the certificate ends on", "renew the certificate", false},
	"tls-1.2":         {func(_ *testing.T, w *ward) { w.MaxTLS(tls.VersionTLS12) }, "connection", "AI endpoints need TLS 1.3", "switch on TLS 1.3", true},
	"apex-to-www":     {func(_ *testing.T, w *ward) { w.Redirect("/", "https://www."+w.Name()+"/") }, "connection", "sent on to https://www.", "publish everything at https://www.", false},
	"front-bot-wall":  {body("/", "text/html", challenge), "connection", "bot wall", "exception for GET /", false},

	"policy-403":  {status("/agents.txt", 403), "agents.txt", "status 403: the server forbids it", "allow GET /agents.txt in the rules", true},
	"policy-401":  {status("/agents.txt", 401), "agents.txt", "demands a login", "without a login", true},
	"policy-429":  {status("/agents.txt", 429), "agents.txt", "limits requests", "raise the limit", true},
	"policy-500":  {status("/agents.txt", 500), "agents.txt", "the server fails", "look into the log", true},
	"policy-406":  {status("/agents.txt", 406), "agents.txt", "form that was asked for", "whatever the Accept header says", true},
	"policy-418":  {status("/agents.txt", 418), "agents.txt", "status 418", "or 404 if there is none", true},
	"policy-page": {body("/agents.txt", "text/html", "<html>Welcome"), "agents.txt", "web page, as for every path", "answer 404 for paths", true},
	"policy-bot-wall": {func(_ *testing.T, w *ward) {
		w.Handle("/agents.txt", lookleaptest.Status(403, "Cf-Mitigated", "challenge"))
	}, "agents.txt", "bot wall", "exception for GET /agents.txt", true},
	"policy-login-page":   {body("/agents.txt", "text/html", loginPage), "agents.txt", "page for a login", "without a login", true},
	"policy-to-login":     {func(_ *testing.T, w *ward) { w.Redirect("/agents.txt", "https://id.example/login?next=%2Fagents.txt") }, "agents.txt", "redirects to a login", "without a login", true},
	"policy-to-www":       {func(_ *testing.T, w *ward) { w.Redirect("/agents.txt", "https://www."+w.Name()+"/agents.txt") }, "agents.txt", "at its own origin only", "publish everything at https://www.", true},
	"policy-to-elsewhere": {func(_ *testing.T, w *ward) { w.Redirect("/agents.txt", "https://cdn.example/a.txt") }, "agents.txt", "redirects to https://cdn.example/a.txt", "itself", true},
	"policy-wrong-hash":   {body("/agents.txt", "text/plain", "*"+strings.Repeat("0", 64)+"\n/admin DISALLOW\n"), "agents.txt", "does not match the directives", "in its place", true},
	"policy-media-type": {func(t *testing.T, w *ward) {
		w.Fault("/agents.txt", lookleaptest.Header("Content-Type", "application/json"))
	}, "agents.txt", "application/json", "text/plain", true},

	"robots-500":  {status("/robots.txt", 500), "robots.txt", "status 500", "answer 200 with the file, or 404", true},
	"robots-page": {body("/robots.txt", "text/html", "<html>Welcome"), "robots.txt", "web page", "answer 404", true},

	"anml-403":        {status("/.well-known/anml", 403), "anml", "the server forbids it", "allow GET /.well-known/anml", true},
	"anml-500":        {status("/.well-known/anml", 500), "anml", "the server fails", "look into the log", true},
	"anml-media-type": {body("/.well-known/anml", "text/plain", "<anml/>"), "anml", "media type", anml.MediaTypeXML, true},
	"anml-malformed":  {body("/.well-known/anml", anml.MediaTypeXML, "<anml>"), "anml", "", "", true},
	"anml-two-texts": {func(t *testing.T, w *ward) {
		w.HandleFunc("/.well-known/anml", func(out http.ResponseWriter, r *http.Request) {
			if f, _ := anml.Negotiate(r.Header.Get("Accept")); f == anml.JSON {
				lookleaptest.Body(anml.MediaTypeJSON, `{"anml":"1.0","role":"service","head":{"title":"Another"}}`).ServeHTTP(out, r)
				return
			}
			lookleaptest.Body(anml.MediaTypeXML, `<anml xmlns="`+anml.Namespace+`" version="1.0" role="service"><head><title>One</title></head></anml>`).ServeHTTP(out, r)
		})
	}, "anml", "say different things", "from one page", true},
	"anml-http-action": {func(t *testing.T, w *ward) {
		w.anml(t, func(b *anml.Builder) {
			b.Action("pay", "POST", "http://pay.example/").Confirm(true).Param("amount", anml.TypeNumber)
		})
	}, "anml", "plain http", "serve it over https", true},

	"claim-of-a-stranger": {func(t *testing.T, w *ward) {
		w.net.Name("_anml.brand.example")
		w.anml(t, func(b *anml.Builder) { b.Trust("brand.example") })
	}, "claims", "brand.example", "in its trust manifest", true},

	"record-twice": {func(_ *testing.T, w *ward) {
		w.net.Name("_anml." + w.Name()).TXT("v=anml1; query=" + w.origin + "/q")
	}, "trust record", "several records", "publish one record", true},
	"record-malformed": {func(_ *testing.T, w *ward) { w.net.Name("_anml." + w.Name()).Clear().TXT("v=anml1; manifest=http://x") }, "trust record", "", "", true},
	"query-unreachable": {func(_ *testing.T, w *ward) {
		w.record("query=https://down.example/q")
		w.net.Site("down.example").Connection(lookleaptest.ConnectionRefused)
	}, "trust record", "down.example", "ends connections", true},

	"manifest-404":     {status("/.well-known/anml-trust", 404), "trust manifest", "is not there", "publish the manifest", true},
	"manifest-403":     {status("/.well-known/anml-trust", 403), "trust manifest", "the server forbids it", "allow GET", true},
	"manifest-expired": {func(t *testing.T, w *ward) { w.manifest(t, w.Name(), time.Now().Add(-48*time.Hour), 24*time.Hour) }, "trust manifest", "", "", true},
	"manifest-ends":    {func(t *testing.T, w *ward) { w.manifest(t, w.Name(), time.Now().Add(-time.Hour), 48*time.Hour) }, "trust manifest", "the manifest ends on", "make it again", false},
	"manifest-of-other": {func(t *testing.T, w *ward) {
		w.manifest(t, "other.example", time.Now().Add(-time.Hour), 30*24*time.Hour)
	}, "trust manifest", "", "", true},
	"manifest-media-type": {func(t *testing.T, w *ward) {
		w.Fault("/.well-known/anml-trust", lookleaptest.Header("Content-Type", "application/json"))
	}, "trust manifest", "another media type", "serve it as", true},
	"manifest-elsewhere": {func(_ *testing.T, w *ward) { w.record("manifest=" + w.origin + "/m.json") }, "trust manifest", "is not there", "publish the manifest", true},

	"index-malformed":    {body("/.well-known/agent-skills/index.json", "application/json", `{"skills":`), "skills", "", "", true},
	"index-403":          {status("/.well-known/agent-skills/index.json", 403), "skills", "403", "", true},
	"skill-404":          {status("/.well-known/agent-skills/refund/SKILL.md", 404), "skills", "refund", "publish the file", true},
	"skill-403":          {status("/.well-known/agent-skills/refund/SKILL.md", 403), "skills", "refund", "allow GET", true},
	"skill-changed":      {body("/.well-known/agent-skills/refund/SKILL.md", "text/markdown", goodSkill+"\nMore.\n"), "skills", "digest", "", true},
	"skill-no-name":      {func(t *testing.T, w *ward) { w.skill(t, "# Refunds\n") }, "skills", "refund", "", true},
	"skill-lacks-a-file": {status("/.well-known/agent-skills/refund/rules.md", 404), "skills", "rules.md", "publish the file", true},

	"descriptor-malformed": {body("/.well-known/aiip", "application/json", `{"endpoint":"https://x.example/"}`), "ai endpoint", "", "", true},
	"keys-404":             {status("/keys.json", 404), "ai endpoint", "there are none", "publish the public keys", true},
	"keys-page":            {body("/keys.json", "text/html", "<html>Welcome"), "ai endpoint", "web page", "", true},
	"keys-none":            {body("/keys.json", "application/jwk-set+json", `{"keys":[]}`), "ai endpoint", "no key", "publish the public keys", true},
	"keys-no-json":         {body("/keys.json", "application/jwk-set+json", `key`), "ai endpoint", "invalid character", "double quotes", true},

	"policy-closes-anml": {func(t *testing.T, w *ward) { w.policy(t, "/.well-known DISALLOW\n") }, "access", "close /.well-known/anml to agents", `"/.well-known/anml ALLOW" to agents.txt`, true},
	"robots-closes-site": {body("/robots.txt", "text/plain", "User-agent: *\nDisallow: /\n"), "access", "close /.well-known/anml to agents", "to robots.txt", true},
}

func (w *ward) record(tag string) { w.net.Name("_anml." + w.Name()).Clear().TXT("v=anml1; " + tag) }

var goName = regexp.MustCompile(`(anml|dvs|anmltrust|aiuri|agentstxt|lookleap)\.[A-Z]`)

// TestDoctorFaults makes each fault alone. The doctor finds it where it is, says what to do about its
// cause in words of a publisher, and blames nothing else.
func TestDoctorFaults(t *testing.T) {
	n := lookleaptest.ForTest(t)
	door := opened(t, n).Args()
	for name, f := range siteFaults {
		t.Run(name, func(t *testing.T) {
			w := newWard(t, n, name[:min(len(name), 30)]+".example")
			f.change(t, w)
			got := judged[doctorValue](t, append(door, "doctor", w.origin)...)
			if (got.exit != 0) != f.harm {
				t.Errorf("exit %d", got.exit)
			}
			found := f.check == ""
			for _, d := range got.Value.Checks {
				if d.State == wrong && d.Check != f.check && !(name == "tls-1.2" && d.Check == "ai endpoint") {
					t.Errorf("%s is wrong too: %+v", d.Check, d.Findings)
				}
				for _, finding := range d.Findings {
					if goName.MatchString(finding.Fix) {
						t.Errorf("a fix names Go: %s", finding.Fix)
					}
					if finding.Severity == lookleap.SeverityError && finding.Fix == "" {
						t.Errorf("%s has no fix: %s", d.Check, finding.Message)
					}
					if d.Check == f.check && strings.Contains(finding.Message+" "+d.Message, f.says) && strings.Contains(finding.Fix, f.fix) {
						found = true
					}
				}
			}
			if !found {
				for _, d := range got.Value.Checks {
					if d.Check == f.check {
						t.Errorf("%s is %s: %s, %+v", d.Check, d.State, d.Message, d.Findings)
					}
				}
			}
		})
	}
}
