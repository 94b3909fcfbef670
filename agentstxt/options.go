package agentstxt

import (
	"math"
	"time"
)

// Options are the choices where the draft leaves one. The zero value takes the
// reading that denies more, except where that would make ordinary sites
// unusable. Its methods are the entry points of the package with these choices;
// the functions of the same name use the zero value.
type Options struct {
	// Strict restricts an origin also where the answer is probably no policy: a
	// web page in its place, a 403 or other 4xx status, another media type.
	Strict bool

	// ForeignAbsent treats a file of another format with the same name, which
	// has no hash line and no directive, as no policy. Without it such a file
	// restricts its origin, since its hash is missing (section 5).
	ForeignAbsent bool

	// Unlisted decides the paths that no directive speaks of.
	Unlisted Unlisted

	// DenyUnknownParams denies the paths of an ALLOW line that has a parameter
	// other than limit: it may be a condition.
	DenyUnknownParams bool

	// RefuseHTTP restricts origins of scheme http instead of reporting a finding.
	RefuseHTTP bool

	// UserAgent is the field of that name when a policy is fetched; "" means one
	// that names this library.
	UserAgent string

	// Window is the time over which a limit counts; 0 means one hour. The draft
	// names no unit.
	Window time.Duration

	// Limits bound everything; zero members take their defaults.
	Limits Limits
}

// Unlisted says how a path is decided that no directive speaks of.
type Unlisted uint8

const (
	// UnlistedByFile denies if the file has an ALLOW line, since it is a list of
	// what is allowed then, and allows otherwise.
	UnlistedByFile Unlisted = iota
	// UnlistedDeny denies always.
	UnlistedDeny
	// UnlistedAllow allows always.
	UnlistedAllow
)

// Limits bound what one file, one origin and one process may cost. A zero
// member means its default; sizes are in octets.
type Limits struct {
	Size       int           // of the file after content decoding; default 512 KiB
	Line       int           // of one line, and of a path asked about; default 8 KiB
	Directives int           // in one file; default 100,000
	Wildcards  int           // DISALLOW lines with "*" or a final "$"; default 1,000
	Params     int           // of one directive; default 64
	Findings   int           // kept for one file, and entries of metadata; default 64
	Timeout    time.Duration // for one fetch, redirects included; default 10 s
	Redirects  int           // followed for one fetch; default 5
	Origins    int           // policies kept in memory; default 1,024
	Memory     int           // octets of policies kept in memory; default 64 MiB
	Counted    int           // requests that a Limiter remembers at once; default 262,144
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
		{&l.Counted, 1 << 18},
	} {
		if *field.value <= 0 {
			*field.value = field.fallback
		}
	}
	if l.Timeout <= 0 {
		l.Timeout = 10 * time.Second
	}
	// Places in a file are kept in 32 bits, lengths of normal paths in 16.
	l.Size = min(l.Size, 256<<20)
	l.Line = min(l.Line, math.MaxUint16/3) // encoding makes three octets of one
	return l
}
