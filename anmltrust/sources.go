package anmltrust

import (
	"net/url"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// maxSources is how many distinct URIs of one kind a site may advertise.
const maxSources = 4

// sources is the accepted content of a site's TXT record set: its distinct URIs,
// sorted, so that the order of an answer decides nothing.
type sources struct {
	manifests []string
	queries   []string
}

// selectRecords reads a TXT record set record by record (rows D1 to D7). Records
// are never joined with one another. The row says how it ended; code is "" when
// there is something to use.
func selectRecords(site string, texts []string) (s sources, row string, code lookleap.Code, findings []lookleap.Finding) {
	bad := false
	for _, text := range texts {
		r, err := ParseRecord(text)
		if err != nil {
			if lookleap.CodeOf(err) == CodeRecordMalformed {
				bad = true
				findings = append(findings, findingOf(err, "D2"))
			}
			continue
		}
		s.manifests = appendDistinct(s.manifests, r.Manifest)
		s.queries = appendDistinct(s.queries, r.Query)
	}
	slices.Sort(s.manifests)
	slices.Sort(s.queries)
	switch {
	case len(s.manifests)+len(s.queries) == 0 && bad:
		return s, "D4", CodeRecordMalformed, findings
	case len(s.manifests)+len(s.queries) == 0:
		return s, "D3", CodeNoRecord, findings
	case len(s.manifests) > maxSources || len(s.queries) > maxSources:
		return s, "D5", CodeRecordAmbiguous, findings
	}
	for _, uri := range s.manifests {
		if u, err := parseURI(uri); err != nil || !isManifestHost(site, u.Host()) {
			return s, "D6", CodeManifestHost, findings
		}
	}
	return s, "D7", "", findings
}

// appendDistinct compares canonical spellings, and keeps the first as written.
func appendDistinct(list []string, uri string) []string {
	if uri == "" {
		return list
	}
	canonical := uri
	if u, err := parseURI(uri); err == nil {
		canonical = u.String()
	}
	if slices.Contains(list, canonical) {
		return list
	}
	return append(list, canonical)
}

// isManifestHost reports whether a manifest of the site may live at a host: the
// site itself, or its www name where the site is a registrable domain.
func isManifestHost(site, host string) bool {
	if host == site {
		return true
	}
	registrable, ok := domain.Registrable(site)
	return ok && registrable == site && host == "www."+site
}

// queryURL adds the parameters of section 12.4 to an advertised URI: the serving
// domain, and always all eight sections, since the answer serves later needs too.
func queryURL(uri, servingDomain string) string {
	sep := "?"
	if strings.Contains(uri, "?") {
		sep = "&"
	}
	return uri + sep + "domain=" + servingDomain + "&scope=" + AllSections.String()
}

func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}
