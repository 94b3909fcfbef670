package anml

// Limits bounds what one document may hold (sections 7.5 and 13.7). A zero
// field takes the default beside it, so that no limit is switched off by leaving
// it out. A document beyond any of them is refused as a whole: cutting it could
// drop a restriction.
type Limits struct {
	Bytes    int // 1 MiB (2^20 octets), after content decoding
	Depth    int // 32 elements inside one another; the root is 1; the same in JSON
	Actions  int // 64, over all sites
	Asks     int // 32, over all sites
	Elements int // 50,000, unknown ones too
	Attrs    int // 64 of one element
	Value    int // 64 KiB in one attribute
	Steps    int // 256 in one flow
	Sites    int // 64
	SiteRefs int // 64
	Findings int // 200 kept; more are counted
}

func (l Limits) withDefaults() Limits {
	set := func(field *int, def int) {
		if *field <= 0 {
			*field = def
		}
	}
	set(&l.Bytes, 1<<20)
	set(&l.Depth, 32)
	set(&l.Actions, 64)
	set(&l.Asks, 32)
	set(&l.Elements, 50_000)
	set(&l.Attrs, 64)
	set(&l.Value, 64<<10)
	set(&l.Steps, 256)
	set(&l.Sites, 64)
	set(&l.SiteRefs, 64)
	set(&l.Findings, 200)
	return l
}
