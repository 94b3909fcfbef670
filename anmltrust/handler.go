package anmltrust

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/serve"
)

// ManifestHandler serves one manifest at the path where it is mounted, to GET and
// HEAD, with an ETag, so that agents can ask whether it changed. A manifest that
// agents would refuse is an error here. A maxAge of 0 is an hour; a manifest is
// never served as fresh beyond its expiry.
func ManifestHandler(data []byte, maxAge time.Duration, now func() time.Time) (http.Handler, error) {
	m, err := ParseManifest(data, ManifestLimits{})
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte("\xEF\xBB\xBF")) {
		return nil, refuse(CodeManifestByteOrder, lookleap.Position{Line: 1, Column: 1}, "save it without one", "the manifest begins with a byte order mark")
	}
	if maxAge <= 0 {
		maxAge = time.Hour
	}
	if now == nil {
		now = time.Now
	}
	manifest := serve.New(data, ManifestMediaType)
	manifest.MaxAge = func() time.Duration { return min(maxAge, max(m.Expires.Sub(now()), 0)) }
	return manifest, nil
}

// Authorizer says whether a serving domain may speak for the site, and how far,
// until when. Its second result is no for everybody else. It is called from
// several goroutines at once.
type Authorizer func(servingDomain string, requested Scope) (QueryResponse, bool)

// QueryHandler answers the questions of agents (section 12.4): 200 with the
// authorization, cut to what was asked; 404 with an empty body for everybody
// else; 400 for what is no question. It cannot answer that somebody is not
// authorized in any other way, since its answers have no such form.
func QueryHandler(authorize Authorizer, now func() time.Time) http.Handler {
	if now == nil {
		now = time.Now
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if !serve.Reads(w, r) {
			return
		}
		server, requested, ok := readQuestion(r.URL.RawQuery)
		if !ok {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		a, yes := authorize(server, requested)
		a.Scope &= requested
		if !yes || requested == 0 || a.Tier != Display && a.Tier != Full || !now().Before(a.Expires) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		body, err := json.Marshal(struct {
			Authorized bool   `json:"authorized"`
			Tier       Tier   `json:"tier"`
			Scope      Scope  `json:"scope"`
			Expires    string `json:"expires"`
		}{true, a.Tier, a.Scope, a.Expires.UTC().Format(time.RFC3339)})
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store") // agents keep it as section 12.4 says, proxies do not
		_, _ = w.Write(body)
	})
}

// readQuestion reads domain and scope, each given once. A scope that names
// nothing known is a question about nothing.
func readQuestion(query string) (server string, requested Scope, ok bool) {
	values, err := url.ParseQuery(query)
	if err != nil || len(values["domain"]) != 1 || len(values["scope"]) > 1 {
		return "", 0, false
	}
	server, err = NormalizeSite(values.Get("domain"))
	if registrable, is := domain.Registrable(server); err != nil || !is || registrable != server {
		return "", 0, false
	}
	if len(values["scope"]) == 0 {
		return server, AllSections, true
	}
	for name := range strings.SplitSeq(values.Get("scope"), ",") {
		requested |= bit(Section(name))
	}
	return server, requested, true
}
