package dvs

import (
	"fmt"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Listing is a skill that an origin lists (section 3.2). Everything but Skill is
// a hint: the SKILL.md decides, except that its digest has to match.
type Listing struct {
	Skill       SkillURL
	Name        string   // by the index; "" in a sitemap
	Description string   // by the index
	Files       []string // paths below the skill's directory, by an index of v0.1
	Digest      Digest   // of the SKILL.md, by an index of v0.2; zero: not promised
	Source      string   // URL of the index or sitemap that lists it
}

// Skipped is the detail of an error of [Loader.Discover] after which the list goes on: an entry
// that was skipped, or a file that could not be read. [errors.As] finds it.
type Skipped struct{ Finding lookleap.Finding }

// Error returns the message of the finding.
func (s *Skipped) Error() string {
	if s == nil {
		return ""
	}
	return s.Finding.Message
}

// Listings is what one index or sitemap gives.
type Listings struct {
	Skills   []Listing
	Children []string           // further sitemaps that a sitemap index names
	Findings []lookleap.Finding // entries skipped, and why

	source string
	seen   map[string]bool
	more   int // findings beyond the limit
	files  int // that an index named
}

// maxListingFindings bounds the findings of one file.
const maxListingFindings = 200

func newListings(source string) *Listings {
	return &Listings{source: source, seen: make(map[string]bool)}
}

func (l *Listings) find(severity lookleap.Severity, code lookleap.Code, requirement, message string, at lookleap.Position) {
	if len(l.Findings) >= maxListingFindings {
		l.more++
		return
	}
	l.Findings = append(l.Findings, lookleap.Finding{Severity: severity, Code: code, Requirement: requirement, Message: message, Position: at})
}

// done says how many findings were left out.
func (l *Listings) done() *Listings {
	if l.more > 0 {
		l.Findings = append(l.Findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeLimit, Message: fmt.Sprintf("%d more findings are not shown", l.more)})
	}
	return l
}

// entryAt resolves the location of an entry, which has to stay on the origin
// and under the root that the file speaks for (DVS-3.2-18 to DVS-3.2-20).
func (r Rules) entryAt(source domain.URL, ref string) (SkillURL, *lookleap.Error) {
	u, err := r.urls().Resolve(source, ref)
	if err != nil {
		refused := badURL(ref, err)
		if refused.Code == lookleap.CodeNotHTTPS {
			refused.Code = CodeEntryOutside
		}
		return SkillURL{}, refused
	}
	if u.Origin() != source.Origin() {
		return SkillURL{}, refuse(CodeEntryOutside, ref, "the entry is at another origin, for which this file does not speak", "list it at its own origin")
	}
	if u.HasQuery() && !r.AllowQuery {
		return SkillURL{}, refuse(CodeQueryInSkillURL, ref, "a skill URL has no query", "list the URL without it")
	}
	return r.skillAt(ref, u)
}

// add takes an entry over unless its location stands there already.
func (l *Listings) add(entry Listing, at lookleap.Position) {
	id := entry.Skill.String()
	if l.seen[id] {
		l.find(lookleap.SeverityWarning, CodeDuplicateEntry, "DVS-3.2-20", fmt.Sprintf("the location %s stands twice", plaintext.Quote(domain.Redact(id), 200)), at)
		return
	}
	l.seen[id] = true
	entry.Source = l.source
	l.Skills = append(l.Skills, entry)
}
