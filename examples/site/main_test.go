package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/contrib/hostflags"
	"github.com/lookleap/lookleap/dvs"
)

const origin = "https://ferries.example"

// clock is a time that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func serve(t *testing.T, now func() time.Time) *httptest.Server {
	t.Helper()
	site, err := newSite(origin, now)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	return server
}

// TestPublished reads everything as an agent does: through the library, under the production name.
func TestPublished(t *testing.T) {
	server := serve(t, time.Now)
	flags := hostflags.Flags{Dev: true, Connect: strings.TrimPrefix(server.URL, "http://")}
	host, err := flags.NewHost()
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	ctx := t.Context()
	t.Run("policy", func(t *testing.T) {
		client := http.Client{Transport: agentstxt.NewClient(&host.Host, agentstxt.Web("ExampleBot")).Guard()}
		if resp, err := client.Get(origin + "/search?day=2031-05-01"); err != nil || resp.StatusCode != 200 {
			t.Error(err)
		}
		if _, err := client.Get(origin + "/staff/x"); err == nil {
			t.Error("the policy does not hold")
		}
	})
	t.Run("skill", func(t *testing.T) {
		count := 0
		for found, err := range dvs.NewLoader(&host.Host, dvs.Options{}).Discover(ctx, origin+"/") {
			if count++; err != nil || found.Name != "book-a-ferry" {
				t.Error(found, err)
			}
		}
		if count != 1 {
			t.Error(count)
		}
	})
	t.Run("trust", func(t *testing.T) {
		resp, err := host.RoundTrip(must(http.NewRequestWithContext(ctx, "GET", origin+"/.well-known/anml-trust", nil)))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		manifest, err := anmltrust.ParseManifest(must(io.ReadAll(resp.Body)))
		if err != nil || manifest.Site != "ferries.example" {
			t.Error(manifest, err)
		}
	})
	t.Run("endpoint", func(t *testing.T) {
		found, err := aiuri.NewDiscoverer(&host.Host, aiuri.DiscovererOptions{}).Discover(ctx, origin+"/")
		if err != nil || found.Endpoint.String() != "ai://ferries.example/timetable" {
			t.Fatal(found, err)
		}
		post := must(http.NewRequestWithContext(ctx, "POST", origin+"/timetable", nil))
		jws := must(io.ReadAll(must(host.RoundTrip(post)).Body))
		set := must(io.ReadAll(must(host.RoundTrip(must(http.NewRequestWithContext(ctx, "GET", origin+"/keys", nil)))).Body))
		keys, err := aiuri.ParseKeySet(set)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := aiuri.VerifyResult(aiuri.SignedResult{JWS: string(jws)}, keys, time.Now(), aiuri.Expectation{Endpoint: found.Endpoint}); err != nil {
			t.Error(err)
		}
	})
}

// TestBooking goes through the three steps in both serializations.
func TestBooking(t *testing.T) {
	for f := anml.XML; f <= anml.JSON; f++ {
		t.Run(f.String(), func(t *testing.T) {
			at := &clock{time.Date(2031, 4, 1, 12, 0, 0, 0, time.UTC)}
			server := serve(t, at.now)
			call := func(method, path, mediaType string, body []byte) (*http.Response, []byte) {
				r := must(http.NewRequestWithContext(t.Context(), method, server.URL+path, bytes.NewReader(body)))
				r.Header.Set("Accept", anml.Accept(f))
				r.Header.Set("Content-Type", mediaType)
				resp := must(http.DefaultClient.Do(r))
				defer resp.Body.Close()
				return resp, must(io.ReadAll(resp.Body))
			}
			step := func(resp *http.Response, body []byte) *anml.Document {
				t.Helper()
				d, err := anml.Parse(resp.Header.Get("Content-Type"), body, anml.ReadOptions{Role: anml.RoleService})
				if err != nil || resp.StatusCode != 200 || len(d.Findings()) > 0 {
					t.Fatal(resp.Status, err, d.Findings())
				}
				return d
			}
			answer := func(build func(*anml.ResponseBuilder)) []byte {
				b := anml.NewResponse()
				build(b)
				return must(anml.Marshal(must(b.Build()), f, anml.WriteOptions{}))
			}
			step(call("GET", "/search?day=2031-05-01", "", nil))
			held := step(call("POST", "/hold", "application/x-www-form-urlencoded", []byte("trip=2031-05-01-08")))
			var ticket string
			for a := range held.Interact().Actions() {
				if a.ID() == "book" {
					ticket = a.Endpoint()
				}
			}
			old := answer(func(b *anml.ResponseBuilder) {
				b.Answer("email", "kim@example.com", anml.ConsentExplicit, at.now().Add(-time.Hour))
			})
			if resp, _ := call("POST", ticket, f.MediaType(), old); resp.StatusCode != 422 {
				t.Error("an old consent:", resp.Status)
			}
			good := answer(func(b *anml.ResponseBuilder) { b.Answer("email", "kim@example.com", anml.ConsentExplicit, at.now()) })
			booked := step(call("POST", ticket, f.MediaType(), good))
			if !strings.Contains(booked.Text(anml.TextOptions{}), "F-") {
				t.Error(booked.Text(anml.TextOptions{}))
			}
			if resp, _ := call("POST", ticket, f.MediaType(), good); resp.StatusCode != 409 {
				t.Error("booked twice:", resp.Status)
			}
		})
	}
}

// TestCopied tests a copy of this directory in another module, as a reader would make it.
func TestCopied(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	dir, root := t.TempDir(), must(filepath.Abs("../.."))
	ours, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil || !strings.HasPrefix(string(ours), "module github.com/lookleap/lookleap\n") {
		t.Skip("this is a copy")
	}
	if err := os.CopyFS(dir, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	module := strings.Replace(string(ours),
		"module github.com/lookleap/lookleap\n", "module ferries.example/site\n\nreplace github.com/lookleap/lookleap => "+root+"\n\nrequire github.com/lookleap/lookleap v0.0.0\n", 1)
	for name, content := range map[string][]byte{"go.mod": []byte(module), "go.sum": must(os.ReadFile(filepath.Join(root, "go.sum")))} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	copied := exec.Command(goTool, "test", "-vet=off", ".")
	copied.Dir = dir
	copied.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	if out, err := copied.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
