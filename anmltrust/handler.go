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

// HandlerOptions configure [NewManifestHandler] and [NewQueryHandler].
type HandlerOptions struct {
	MaxAge time.Duration    // how long agents may cache a manifest; 0: an hour
	Now    func() time.Time // nil: time.Now
}

func (o HandlerOptions) withDefaults() HandlerOptions {
	if o.MaxAge <= 0 {
		o.MaxAge = time.Hour
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// NewManifestHandler returns a handler that serves a manifest. Mount it at the path of
// the manifest URL in the site's trust record, for example
// /.well-known/anml-trust. It returns an error for a manifest that agents would
// refuse. Agents never cache a manifest beyond its expiry.
func NewManifestHandler(data []byte, options HandlerOptions) (http.Handler, error) {
	m, err := ParseManifest(data, ManifestLimits{})
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte("\xEF\xBB\xBF")) {
		return nil, refuse(CodeManifestByteOrder, lookleap.Position{Line: 1, Column: 1}, "save it without one", "the manifest begins with a byte order mark")
	}
	options = options.withDefaults()
	manifest := serve.New(data, ManifestMediaType)
	manifest.MaxAge = func() time.Duration { return min(options.MaxAge, max(m.Expires.Sub(options.Now()), 0)) }
	return manifest, nil
}

// Authorizer reports whether a serving domain may speak for the site, for which scope
// and until when. Several goroutines call it at once.
type Authorizer func(servingDomain string, requested Scope) (QueryResponse, bool)

// NewQueryHandler returns a handler that answers the queries of agents (section 12.4).
// Mount it at the path of the query URL in the site's trust record. It answers 200 with
// the authorization, reduced to the requested scope; 404 with an empty body if there is
// none; and 400 for a malformed query. No response says "not authorized" with 200,
// because the draft has no form for it. It returns an error if authorize is nil.
func NewQueryHandler(authorize Authorizer, options HandlerOptions) (http.Handler, error) {
	if authorize == nil {
		return nil, &lookleap.Error{Code: lookleap.CodeUsage, Message: "the authorizer is nil", Fix: "pass a function that decides"}
	}
	now := options.withDefaults().Now
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve.Secure(w.Header())
		if !serve.Reads(w, r) {
			return
		}
		server, requested, ok := readQuery(r.URL.RawQuery)
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
		response := serve.New(body, "application/json")
		response.Header.Set("Cache-Control", "no-store") // agents cache it by section 12.4, proxies do not
		response.ServeHTTP(w, r)
	}), nil
}

// readQuery reads the parameters domain and scope, each given at most once. An unknown
// scope is an empty one.
func readQuery(query string) (server string, requested Scope, ok bool) {
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
