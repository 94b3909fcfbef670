// Site is a complete publisher for agents: agents.txt and robots.txt, a skill with a script and
// its index, an ANML service with three steps (search, hold, book) in XML and JSON, a trust
// manifest and its query endpoint, and an AI endpoint with signed results. Copy the directory
// and change it.
//
//	go run github.com/lookleap/lookleap/examples/site@latest
package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"embed"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/dvs"
)

//go:embed skills
var skills embed.FS

const policy = `/ ALLOW
/staff DISALLOW
`

func main() {
	addr := flag.String("addr", "localhost:8080", "the address to listen on")
	origin := flag.String("origin", "https://localhost.example", "the origin that the site has in production")
	flag.Parse()
	site, err := newSite(*origin, time.Now)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	host, port, _ := net.SplitHostPort(*addr)
	if port == "0" { // the system chose one
		*addr = net.JoinHostPort(host, fmt.Sprint(listener.Addr().(*net.TCPAddr).Port))
	}
	name := strings.TrimPrefix(*origin, "https://")
	target := *addr
	if name != "localhost.example" { // the site is looked at under its own name
		target = "--connect " + *addr + " " + *origin
	}
	fmt.Printf(`A site for agents is at http://%[1]s. Try:

  lookleap doctor --dev %[4]s
  lookleap site --dev %[4]s
  lookleap skill --dev http://%[1]s/.well-known/skills/book-a-ferry/
  lookleap aiip --dev %[4]s
  lookleap-mcp --dev --site %[1]s       (from contrib/mcp: the site in an MCP client)
  curl http://%[1]s/.well-known/anml
  curl -H 'Accept: application/anml+json' 'http://%[1]s/search?day=2031-05-01'
  curl 'http://%[1]s/trust?domain=partner.example'

In production, serve it over https and publish this record:

  _anml.%[2]s. 3600 IN TXT "v=anml1; manifest=%[3]s/.well-known/anml-trust; query=%[3]s/trust"
`, *addr, name, *origin, target)
	log.Fatal(http.Serve(listener, site))
}

// newSite returns the handler of the whole site.
func newSite(origin string, now func() time.Time) (http.Handler, error) {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("the origin %q is not a URL such as https://ferries.example", origin)
	}
	mux := http.NewServeMux()
	for _, publish := range []func(*http.ServeMux, string, string, func() time.Time) error{
		publishPolicy, publishSkills, publishService, publishTrust, publishEndpoint,
	} {
		if err := publish(mux, origin, u.Hostname(), now); err != nil {
			return nil, err
		}
	}
	return mux, nil
}

// publishPolicy says what agents and crawlers may do.
func publishPolicy(mux *http.ServeMux, _, _ string, _ func() time.Time) error {
	signed, err := agentstxt.Sign([]byte(policy))
	if err != nil {
		return err
	}
	file, err := agentstxt.NewHandler(signed)
	if err != nil {
		return err
	}
	mux.Handle("/agents.txt", file)
	mux.HandleFunc("GET /robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /staff\n")
	})
	return nil
}

// publishSkills serves each directory below skills/, and their index.
func publishSkills(mux *http.ServeMux, _, _ string, _ func() time.Time) error {
	dir, err := fs.Sub(skills, "skills")
	if err != nil {
		return err
	}
	handler, err := dvs.NewHandler(dir, dvs.Limits{})
	if err != nil {
		return err
	}
	mux.Handle("/.well-known/skills/", handler)
	return nil
}

// ferries is the ANML service. It keeps the seats that are held in memory.
type ferries struct {
	now  func() time.Time
	mu   sync.Mutex
	held map[string]time.Time // by token; until when
}

const hold = 10 * time.Minute

func publishService(mux *http.ServeMux, _, _ string, now func() time.Time) error {
	f := &ferries{now: now, held: map[string]time.Time{}}
	home, err := f.step("search", "Ferries").Build()
	if err != nil {
		return err
	}
	handler, err := anml.NewHandler(home, anml.HandlerOptions{MaxAge: 10 * time.Minute})
	if err != nil {
		return err
	}
	mux.Handle("/.well-known/anml", handler)
	mux.HandleFunc("GET /search", f.search)
	mux.HandleFunc("POST /hold", f.hold)
	mux.HandleFunc("POST /tickets/{token}", f.book)
	return nil
}

// step begins the document of a step.
func (f *ferries) step(current, title string) *anml.Builder {
	b := anml.NewService(title)
	b.Context(current)
	status := anml.StepCompleted
	for _, step := range []string{"search", "hold", "book"} {
		if step == current {
			b.Step(step, step, anml.StepCurrent)
			status = anml.StepPending
			continue
		}
		b.Step(step, step, status)
	}
	search := b.Action("search", "GET", "/search").Description("find the trips of a day")
	search.Param("day", anml.TypeDate).Required()
	return b
}

func (f *ferries) search(w http.ResponseWriter, r *http.Request) {
	day, err := time.Parse("2006-01-02", r.URL.Query().Get("day"))
	if err != nil {
		anml.WriteProblem(w, r, anml.Problem{Status: http.StatusUnprocessableEntity, Detail: "day is a date such as 2031-05-01"})
		return
	}
	b := f.step("hold", "Trips")
	trips := b.Body().Data("trips", "Trips")
	for _, hour := range []int{8, 12, 16} {
		departs := day.Add(time.Duration(hour) * time.Hour)
		trips.Item(departs.Format("2006-01-02-15")).Field("departs", anml.TypeDateTime, departs)
	}
	b.Action("hold", "POST", "/hold").Confirm(true).Description("hold a seat for ten minutes").Param("trip", anml.TypeString).Required()
	f.write(w, r, b)
}

func (f *ferries) hold(w http.ResponseWriter, r *http.Request) {
	token := strings.ToLower(rand.Text())
	f.mu.Lock()
	f.held[token] = f.now().Add(hold)
	f.mu.Unlock()
	f.write(w, r, f.booking(token))
}

// booking asks what is needed to book a seat that is held.
func (f *ferries) booking(token string) *anml.Builder {
	b := f.step("book", "Who travels?")
	b.Rule("email", anml.ExplicitConsent).ValidFor(hold)
	b.Action("book", "POST", "/tickets/"+token).Confirm(true).Description("book the seat")
	b.Ask("email", "book", "to send the ticket").Required()
	return b
}

func (f *ferries) book(w http.ResponseWriter, r *http.Request) {
	token := r.PathValue("token")
	asked, err := f.booking(token).Build()
	if err != nil {
		anml.WriteProblem(w, r, anml.Problem{})
		return
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	if err != nil {
		anml.WriteProblem(w, r, anml.Problem{Status: http.StatusBadRequest})
		return
	}
	said, err := anml.ReadAgentResponse(asked.Site, "book", r.Header.Get("Content-Type"), data, f.now())
	if err != nil {
		anml.WriteProblem(w, r, anml.ProblemOf(err))
		return
	}
	if _, told := said.Value("email"); !told {
		anml.WriteProblem(w, r, anml.Problem{Status: http.StatusUnprocessableEntity, Detail: "the ticket can only be sent by e-mail"})
		return
	}
	f.mu.Lock()
	until := f.held[token]
	delete(f.held, token)
	f.mu.Unlock()
	if f.now().After(until) {
		anml.WriteProblem(w, r, anml.Problem{Status: http.StatusConflict, Detail: "the seat is no longer held: search again"})
		return
	}
	b := f.step("book", "Booked")
	b.Status("booked", anml.ResultSuccess, "Ticket F-"+strings.ToUpper(token[:6])+" was sent.")
	f.write(w, r, b)
}

func (f *ferries) write(w http.ResponseWriter, r *http.Request, b *anml.Builder) {
	d, err := b.Build()
	if err == nil {
		err = anml.Write(w, r, http.StatusOK, d)
	} else {
		anml.WriteProblem(w, r, anml.Problem{})
	}
	if err != nil {
		log.Print(err)
	}
}

// publishTrust says which servers may speak for the site.
func publishTrust(mux *http.ServeMux, _, name string, now func() time.Time) error {
	partner := anmltrust.Entry{Domain: "partner.example", Tier: anmltrust.Full, Scope: anmltrust.ScopeOf("body", "interact")}
	data, err := anmltrust.BuildManifest(name, now(), 0, partner)
	if err != nil {
		return err
	}
	manifest, err := anmltrust.NewManifestHandler(data, now)
	if err != nil {
		return err
	}
	mux.Handle("/.well-known/anml-trust", manifest)
	query, err := anmltrust.NewQueryHandler(func(server string, _ anmltrust.Scope) (anmltrust.QueryResponse, bool) {
		return anmltrust.QueryResponse{Tier: partner.Tier, Scope: partner.Scope, Expires: now().Add(time.Hour)}, server == partner.Domain
	}, now)
	if err != nil {
		return err
	}
	mux.Handle("/trust", query)
	return nil
}

// publishEndpoint advertises an AI endpoint, its keys, and one result that they sign.
func publishEndpoint(mux *http.ServeMux, origin, name string, now func() time.Time) error {
	_, private, err := ed25519.GenerateKey(rand.Reader) // in production: a key that survives a restart
	if err != nil {
		return err
	}
	ring, err := aiuri.NewKeyRing(aiuri.SigningKey{ID: now().Format("2006-01"), Private: private}, aiuri.KeyRingOptions{Now: now})
	if err != nil {
		return err
	}
	endpoint, err := aiuri.Parse("ai://" + name + "/timetable")
	if err != nil {
		return err
	}
	descriptor, err := aiuri.NewDescriptorHandler(origin, &aiuri.Descriptor{
		Endpoint: endpoint, JWKS: origin + "/keys", Scopes: []string{"timetable"},
		Policy: aiuri.EndpointPolicy{RequireSignedResults: true},
	})
	if err != nil {
		return err
	}
	mux.Handle("/.well-known/aiip", descriptor)
	mux.Handle("/keys", aiuri.NewKeyRingHandler(ring))
	mux.HandleFunc("POST /timetable", func(w http.ResponseWriter, _ *http.Request) {
		claims := &aiuri.Claims{Issuer: endpoint.String(), Expires: now().Add(time.Minute)}
		result, err := aiuri.SignResult([]byte(`{"departures":["08:00","12:00","16:00"]}`), ring.Current(),
			aiuri.SignOptions{Claims: claims})
		if err != nil {
			http.Error(w, "", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/jose")
		_, _ = io.WriteString(w, result.JWS)
	})
	return nil
}
