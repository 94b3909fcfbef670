package dvs

import "time"

// Limits bound the work and memory for skills. A field of zero means the default that its comment
// states.
type Limits struct {
	Skill    int           // bytes of SKILL.md; 1 MiB
	Resource int           // bytes of one bundled file; 10 MiB
	Time     time.Duration // for one document, redirects included; 10 s
	Kept     time.Duration // longest use of a copy without asking again; 24 h
	Memory   int           // bytes of the skills and resources that a Loader keeps; 64 MiB

	// What discovery reads.
	Index           int // bytes of an index; 1 MiB
	Sitemap         int // bytes of one sitemap, decompressed; 52,428,800
	SitemapURLs     int // locations in one sitemap; 50,000
	SitemapChildren int // sitemaps that a sitemap index may name; 10
	Candidates      int // skills found at one origin; 10,000

	// What a VerifiedFS, a lockfile, an archive or a directory of skills may hold.
	Files int // files of one skill; 1,000
	Total int // bytes of all files of one skill; 64 MiB

	Archive    int // bytes of an archive as it is served; 32 MiB
	Repository int // bytes of the archive of a repository as it is served; 256 MiB
}

// Limits that are not options. [Rules].MaxURL bounds URLs.
const (
	maxFrontmatter  = 16 << 10 // bytes between the fences of a SKILL.md
	maxRedirects    = 5        // followed
	maxCopies       = 128      // skills and resources that a loader keeps
	maxSeen         = 4096     // skills whose changes a loader notices
	maxIndexEntries = 1000
)

func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		field *int
		value int
	}{
		{&l.Skill, 1 << 20}, {&l.Resource, 10 << 20}, {&l.Memory, 64 << 20}, {&l.Index, 1 << 20},
		{&l.Sitemap, 52_428_800}, {&l.SitemapURLs, 50_000}, {&l.SitemapChildren, 10}, {&l.Candidates, 10_000},
		{&l.Files, 1000}, {&l.Total, 64 << 20}, {&l.Archive, 32 << 20}, {&l.Repository, 256 << 20},
	} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	if l.Time <= 0 {
		l.Time = 10 * time.Second
	}
	if l.Kept <= 0 || l.Kept > 24*time.Hour {
		l.Kept = 24 * time.Hour
	}
	return l
}
