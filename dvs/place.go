package dvs

import (
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Rules are what a URL must be to name a trust root or a skill. The zero Rules
// are the strict ones over the built-in platforms.
type Rules struct {
	Platforms  *Platforms // nil: Builtin()
	AllowQuery bool       // keep the query of a skill URL as part of its identity
	MaxURL     int        // octets of a URL or reference; 0: 8192

	// InsecureAllowLocalhost lets single labels and special-use names be hosts.
	// It is for test beds and intranets.
	InsecureAllowLocalhost bool
}

func (r Rules) platforms() *Platforms {
	return r.Platforms.orBuiltin()
}

func (r Rules) urls() domain.Rules {
	return domain.Rules{MaxLength: r.MaxURL, AllowSpecial: r.InsecureAllowLocalhost}
}

// place is where a file is: the URL that identifies it, on a platform the page
// in its canonical spelling, and the URL that serves its bytes.
type place struct {
	page   domain.URL
	served domain.URL
	commit string // what a platform may read as a commit; "": nothing
	mapped bool   // it was given in another form than the page's
	file   bool   // a file can stand there: below a repository's revision, or on a host without routes
}

// locate judges the host and path of a canonical URL: the never-list first,
// then the platforms, then the public suffixes (DVS-3.1-34 to DVS-3.1-40). It is the one function
// that knows that two URLs are the same file.
func (r Rules) locate(u domain.URL) (place, *lookleap.Error) {
	input := u.String()
	role, ok := r.platforms().find(u.Host())
	switch {
	case ok && role.platform.Never:
		return place{}, refuse(CodeNeverTrusted, input, "this host serves what others published: "+role.platform.Name, "use the publisher's own URL")
	case !ok:
		if suffix, icann := r.platforms().suffix(u.Host()); isSuffix(u.Host(), suffix) && (icann || u.Path() == "/") {
			return place{}, refuse(CodePublicSuffix, input, "others publish below this public suffix", "use the publisher's own host")
		}
		return place{page: u, served: u, file: true}, nil
	}
	e := role.platform
	segments := e.foldSegments(u.Segments())
	if err := e.checkOwner(input, segments); err != nil {
		return place{}, err
	}
	if e.Source == nil || !role.page && !role.raw {
		return e.plainPlace(u, segments)
	}
	where, ok, err := role.readRoute(input, segments)
	if err != nil {
		return place{}, err
	}
	if !ok {
		return e.bothPlaces(u, segments, segments)
	}
	p, err := e.bothPlaces(u, where.page(e.Source), where.bytes(e.Source))
	p.commit, p.file = where.commit(), e.Source.Flat || len(where.rest) > 1
	return p, err
}

// bothPlaces puts the paths on the host of the pages and on that of the bytes.
func (e *Platform) bothPlaces(u domain.URL, page, bytes []string) (p place, err *lookleap.Error) {
	host := e.Source.RawHost
	if host == "" {
		host = e.Hosts[0]
	}
	if p.page, err = withPath(u, e.Hosts[0], page); err != nil {
		return place{}, err
	}
	if p.served, err = withPath(u, host, bytes); err != nil {
		return place{}, err
	}
	p.mapped = p.page.String() != u.String()
	return p, nil
}

// isSuffix reports whether the host is its own public suffix. Single labels get
// here only where the rules allow them; a top-level domain never does.
func isSuffix(host, suffix string) bool { return host == suffix && strings.Contains(host, ".") }

// plainPlace is a URL on a platform, or one of its other hosts, that is taken as
// it is.
func (e *Platform) plainPlace(u domain.URL, segments []string) (place, *lookleap.Error) {
	page, err := withPath(u, u.Host(), segments)
	p := place{page: page, served: page, file: true}
	if err == nil && e.AtRef {
		p.commit, err = e.checkAtRef(u.String(), segments)
	}
	if err == nil && e.Source != nil { // another name of a platform whose routes are known
		where, ok, routeErr := hostRole{platform: e, page: true}.readRoute(u.String(), segments)
		if err = routeErr; ok {
			p.commit = where.commit()
		}
	}
	return p, err
}

// withPath is u on a host with the given canonical segments. The final slash
// and the query stay as they are.
func withPath(u domain.URL, host string, segments []string) (domain.URL, *lookleap.Error) {
	if host == u.Host() && slices.Equal(segments, u.Segments()) {
		return u, nil
	}
	path := "/" + strings.Join(segments, "/")
	if strings.HasSuffix(u.Path(), "/") && len(segments) > 0 {
		path += "/"
	}
	return atPath(u, host, path)
}

// atPath is u with another host and canonical path. Port and query stay.
func atPath(u domain.URL, host, path string) (domain.URL, *lookleap.Error) {
	text := "https://" + host + strings.TrimPrefix(u.Origin(), "https://"+u.Host()) + path
	if u.HasQuery() {
		text += "?" + u.RawQuery()
	}
	moved, err := domain.Rules{AllowSpecial: true}.Parse(text)
	if err != nil {
		return domain.URL{}, badURL(text, err)
	}
	return moved, nil
}

// forgeShaped reports whether a path has the routes of a code host, where many
// owners share one origin (DVS-3.1-34 to DVS-3.1-40).
func forgeShaped(segments []string) bool {
	for i, s := range segments[:max(len(segments)-1, 0)] {
		switch next := segments[i+1]; {
		case s == "-" && (next == "blob" || next == "raw" || next == "tree"),
			(s == "src" || s == "raw") && (next == "branch" || next == "tag" || next == "commit"):
			return true
		}
	}
	return false
}
