package anmltrust

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// MaxRecord is the size of the largest record in bytes, its strings joined.
const MaxRecord = 4096

// Record is what a site publishes at _anml.<site> (section 12.2): where its
// authorizations are found. It authorizes nothing by itself.
type Record struct {
	Manifest string            // https URI of the manifest; "" if there is none
	Query    string            // https URI of the query endpoint; "" for none
	Unknown  map[string]string // other tags, which mean nothing here
}

// Tag names and the version of the record.
const (
	tagVersion  = "v"
	tagManifest = "manifest"
	tagQuery    = "query"
	version     = "anml1"
)

// fixStart returns the fix of a text that does not begin as a record does.
func fixStart(text string) string {
	text = strings.TrimLeft(text, " \t")
	switch {
	case strings.HasPrefix(text, `"`):
		return "remove the quotation marks, which belong into zone files only"
	case strings.HasPrefix(text, tagVersion+"="+version):
		return "write a semicolon after v=anml1"
	}
	return "begin the record with v=anml1 and a semicolon"
}

// ParseRecord reads one TXT record, its strings joined without separator. Its
// error is a [*lookleap.Error]. The code is no-record if the first tag is not
// v=anml1: the record belongs to another protocol. It is record-malformed, with the
// position, for a fault in an ANML record.
func ParseRecord(text string) (*Record, error) {
	first, _, _ := strings.Cut(text, ";")
	name, value, _ := strings.Cut(first, "=")
	if strings.Trim(name, " \t") != tagVersion || strings.Trim(value, " \t") != version { // section 12.2.1
		return nil, refuse(CodeNoRecord, lookleap.Position{}, fixStart(text), "the text is not an ANML trust record")
	}
	if len(text) > MaxRecord {
		return nil, malformed(MaxRecord, "shorten the record", "the record is longer than %d bytes", MaxRecord)
	}
	r := &Record{}
	seen := make(map[string]bool, 4)
	for at := 0; at < len(text); {
		segment, _, _ := strings.Cut(text[at:], ";")
		end := at + len(segment)
		if end == len(text) && strings.Trim(segment, " \t") == "" {
			break // what follows the one closing ";"
		}
		tag := tagForm().FindStringSubmatch(segment)
		if tag == nil {
			return nil, malformed(at, "write name=value, %3B for a semicolon in a URI, and %XX for what is not printable ASCII",
				"%s is not a tag", plaintext.Quote(segment, maxQuoted))
		}
		name, value, err := tag[1], tag[2], error(nil)
		if seen[name] {
			return nil, malformed(at, "keep one of them", "the tag %s appears twice", plaintext.Quote(name, maxQuoted))
		}
		seen[name] = true
		switch name {
		case tagVersion:
		case tagManifest:
			r.Manifest, err = value, checkURI(name, value, at)
		case tagQuery:
			r.Query, err = value, checkURI(name, value, at)
		default:
			if r.Unknown == nil {
				r.Unknown = make(map[string]string)
			}
			r.Unknown[name] = value
		}
		if err != nil {
			return nil, err
		}
		at = end + 1
	}
	if r.Manifest == "" && r.Query == "" {
		return nil, malformed(len(text), "add "+tagManifest+"= or "+tagQuery+"=",
			"the record has neither a tag %s nor a tag %s", tagManifest, tagQuery)
	}
	return r, nil
}

func malformed(offset int, fix, format string, args ...any) *lookleap.Error {
	return refuse(CodeRecordMalformed, lookleap.Position{Line: 1, Column: offset + 1, Offset: offset}, fix, format, args...)
}

// tagForm is a tag by the grammar of section 12.2.1. Blanks stand around its name and its value only.
var tagForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[ \t]*([A-Za-z][A-Za-z0-9_.-]*)[ \t]*=[ \t]*([!-~]*)[ \t]*$`)
})

// uriRules are what a value must be as a URL: https, a DNS host, no fragment.
var uriRules = domain.Rules{RefuseFragment: true, MaxLength: MaxRecord}

func checkURI(name, value string, at int) error {
	u, err := uriRules.Parse(value)
	if err != nil {
		return malformed(at, "write an absolute https URI with a DNS host, without user or fragment", "%s",
			fetch.URLError("", "the value of "+name+" is unusable", err).Message)
	}
	if name == tagQuery && hasOwnParameter(u.RawQuery()) {
		return malformed(at, "leave domain and scope to the agent", "the query URI already has a domain or scope parameter")
	}
	return nil
}

// hasOwnParameter finds the parameters that the request adds (section 12.4), in
// any spelling of their names.
func hasOwnParameter(query string) bool {
	for part := range strings.SplitSeq(query, "&") { // a record's value has no semicolon
		name, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if strings.EqualFold(name, "domain") || strings.EqualFold(name, "scope") {
			return true
		}
	}
	return false
}

// String returns the record in its canonical form: v first, no blanks, unknown
// tags left out.
func (r *Record) String() string {
	if r == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString(tagVersion + "=" + version)
	if r.Manifest != "" {
		b.WriteString(";" + tagManifest + "=" + r.Manifest)
	}
	if r.Query != "" {
		b.WriteString(";" + tagQuery + "=" + r.Query)
	}
	return b.String()
}

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
	add := func(list *[]string, uri string) { // in canonical spelling
		if u, err := uriRules.Parse(uri); err == nil {
			uri = u.String()
		}
		if uri != "" && !slices.Contains(*list, uri) {
			*list = append(*list, uri)
		}
	}
	for _, text := range texts {
		r, err := ParseRecord(text)
		if err != nil {
			if lookleap.CodeOf(err) == CodeRecordMalformed {
				bad = true
				findings = append(findings, findingOf(err, "D2"))
			}
			continue
		}
		add(&s.manifests, r.Manifest)
		add(&s.queries, r.Query)
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
		if u, err := uriRules.Parse(uri); err != nil || !isManifestHost(site, u.Host()) {
			return s, "D6", CodeManifestHost, findings
		}
	}
	return s, "D7", "", findings
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
