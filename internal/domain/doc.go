// Package domain decides what a canonical https URL is, and only then hands one to net/http.
//
// [net/url] is lenient and normalises late: it accepts ":0443", "%2e%2e" and "a..b", and what
// one parser repairs another reads differently. A program that compares a URL with a trust root
// and then fetches it must compare and fetch the same string. So this package splits URLs
// itself (RFC 3986, section 3), refuses whatever two readers could understand in two ways,
// naming the offending part, and writes everything else in exactly one spelling:
//
//	u, err := domain.Parse("HTTPS://B\u00dcCHER.example:443/%7Eorg/SKILL.md#top")
//	u.String()           // https://xn--bcher-kva.example/~org/SKILL.md
//	u.FragmentDropped()  // true: a finding, since the fragment is never sent
//
// Four things live here, one file each: the canonical URL (url.go, parse.go, path.go),
// references resolved against one (parse.go), hosts as validated A-labels (host.go), and what
// a host tells about its owner: the registrable domain (suffix.go) and the scripts of its
// labels (script.go). Everything is pure and safe for concurrent use. Knowledge of particular
// web sites is not here.
package domain
