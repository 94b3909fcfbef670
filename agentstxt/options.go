package agentstxt

import (
	"math"
	"time"
)

// Options are the choices that the draft leaves to clients. The zero value follows the
// draft's letter and denies more, except where that would make ordinary sites unusable.
// [Web] returns the options for the web as it is today.
type Options struct {
	// Strict restricts an origin also if the response is probably not a policy: a web
	// page, a 4xx status other than 404 and 410, or another media type.
	Strict bool

	// Foreign says what a file of another format with the same name means. Most files
	// under this name are of other formats; [Web] returns options that ignore them.
	Foreign Foreign

	// Robots makes the client read robots.txt too and obey the stricter of both files.
	Robots Robots

	// Unlisted decides about paths that no directive matches.
	Unlisted Unlisted

	// DenyUnknownParams denies the paths of an ALLOW line with a parameter other than
	// limit, since the parameter may be a condition.
	DenyUnknownParams bool

	// RefuseHTTP restricts origins with the scheme http. Otherwise that is a finding.
	RefuseHTTP bool

	// UserAgent is the header field of requests for policies; "" names this library, after
	// the token of Robots if there is one.
	UserAgent string

	// Window is the time to which a limit applies; 0 means one hour. The draft does
	// not define the unit.
	Window time.Duration

	Limits Limits
}

// Unlisted says how to decide about a path that no directive matches.
type Unlisted uint8

const (
	// UnlistedByFile denies if the file has an ALLOW line, since the file then lists
	// what is allowed. It allows otherwise.
	UnlistedByFile Unlisted = iota
	// UnlistedDeny always denies.
	UnlistedDeny
	// UnlistedAllow always allows.
	UnlistedAllow
)

// Limits bound the cost of one file, one origin and one process. A zero field takes its
// default. Sizes are in bytes.
type Limits struct {
	Size       int           // of a file after content decoding; default 512 KiB
	Line       int           // of a line, and of a path in Decide; default 8 KiB
	Directives int           // in a file; default 100,000
	Wildcards  int           // DISALLOW lines with "*" or a final "$" in a file; default 1,000
	Params     int           // of a directive; default 64
	Findings   int           // and metadata comments kept for a file; default 64
	Timeout    time.Duration // for one fetch, redirects included; default 10 s
	Redirects  int           // followed for one fetch; default 5
	Origins    int           // policies in memory; default 1,024
	Memory     int           // size of all policies in memory; default 64 MiB
}

func (l Limits) withDefaults() Limits {
	for _, field := range []struct {
		value    *int
		fallback int
	}{
		{&l.Size, 512 << 10},
		{&l.Line, 8 << 10},
		{&l.Directives, 100_000},
		{&l.Wildcards, 1000},
		{&l.Params, 64},
		{&l.Findings, 64},
		{&l.Redirects, 5},
		{&l.Origins, 1024},
		{&l.Memory, 64 << 20},
	} {
		if *field.value <= 0 {
			*field.value = field.fallback
		}
	}
	if l.Timeout <= 0 {
		l.Timeout = 10 * time.Second
	}
	// Positions in a file are stored in 32 bits, lengths of normal paths in 16.
	l.Size = min(l.Size, 256<<20)
	l.Line = min(l.Line, math.MaxUint16/3) // encoding makes three bytes of one
	return l
}
