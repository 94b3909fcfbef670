package dvs

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictxml"
)

// maxLocation is how many characters a location has at most (sitemaps.org).
const maxLocation = 2048

// ReadSitemap reads a sitemap, or an index of sitemaps, that was served at the URL at. It reads a
// stream: its memory grows with the number of skills, not with the length. A skill is a location
// that ends in /SKILL.md, or a directory directly below /.well-known/skills/. Other locations are
// ignored, and those of another origin are findings. At a limit, reading stops with a finding, and
// the skills so far are returned. If the file is not well-formed or has a document type, the error
// has the code bad-sitemap.
func ReadSitemap(body io.Reader, at string, rules Rules, limits Limits) (*Listings, error) {
	limits = limits.withDefaults()
	source, err := rules.urls().Parse(at)
	if err != nil {
		return nil, badURL(at, err)
	}
	s := &sitemap{rules: rules, source: source, limits: limits, list: newListings(at)}
	s.scanner = strictxml.NewReader(body, strictxml.Options{Limits: strictxml.Limits{
		Bytes: limits.Sitemap, Depth: 16, Text: 64 << 10, Token: 64 << 10, Tokens: 40 * limits.SitemapURLs,
	}})
	switch err := s.read(); {
	case err == nil:
	case errors.Is(err, strictxml.ErrLimit):
		s.limit(fmt.Sprintf("reading stopped: %v", err))
	default:
		return nil, &lookleap.Error{Code: codeBadSitemap, Subject: domain.Redact(at), Message: "the sitemap cannot be read", Err: err}
	}
	return s.list.done(), nil
}

type sitemap struct {
	rules   Rules
	source  domain.URL
	limits  Limits
	list    *Listings
	scanner *strictxml.Scanner

	index bool            // an index of sitemaps
	loc   strings.Builder // text of the open loc
	long  bool
	count int
	cut   bool // more sitemaps are named than the limit allows
}

var errDoctype = errors.New("a sitemap has no document type")

// read goes through the elements: urlset/url/loc or sitemapindex/sitemap/loc.
func (s *sitemap) read() error {
	inLoc := false
	for {
		t, err := s.scanner.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch t.Kind {
		case strictxml.Doctype:
			return errDoctype
		case strictxml.StartElement:
			switch depth := s.scanner.Depth(); {
			case depth == 1 && t.Name.Local != "urlset" && t.Name.Local != "sitemapindex":
				return fmt.Errorf("the root element is %s", plaintext.Quote(t.Name.Local, 40))
			case depth == 1:
				s.index = t.Name.Local == "sitemapindex"
			case depth == 3 && t.Name.Local == "loc" && isSitemapSpace(t.Name.Space):
				inLoc, s.long = true, false
				s.loc.Reset()
			}
		case strictxml.Text, strictxml.CData:
			if inLoc && s.scanner.Depth() == 3 {
				s.long = s.long || s.loc.Len()+len(t.Text) > maxLocation+64
				if !s.long {
					s.loc.WriteString(t.Text)
				}
			}
		case strictxml.EndElement:
			if inLoc && t.Name.Local == "loc" {
				inLoc = false
				if !s.location(strings.Trim(s.loc.String(), " \t\r\n"), t.Offset) {
					return nil
				}
			}
		}
	}
}

// isSitemapSpace reports whether a namespace is that of sitemaps, not of an extension.
func isSitemapSpace(space string) bool {
	return space == "" || strings.HasSuffix(space, "/schemas/sitemap/0.9")
}

// location handles one location. It returns false to stop.
func (s *sitemap) location(loc string, offset int) bool {
	s.count++
	if s.count > s.limits.SitemapURLs {
		s.limit(fmt.Sprintf("the sitemap has more than %d locations", s.limits.SitemapURLs))
		return false
	}
	at := lookleap.Position{Offset: offset, Path: s.list.source}
	switch {
	case s.long || len(loc) >= maxLocation:
		s.list.find(lookleap.SeverityWarning, codeSitemapLimit, "DVS-3.2-10", "a location is longer than 2,047 characters", at)
	case s.index:
		s.child(loc, at)
	case s.isCandidate(loc):
		skill, err := s.rules.entryAt(s.source, loc, SkillDirectory, Digest{})
		if err != nil {
			s.list.find(lookleap.SeverityWarning, lookleap.CodeOf(err), "DVS-3.2-08", "the location is skipped: "+sentence(err), at)
			break
		}
		if len(s.list.Skills) >= s.limits.Candidates {
			s.limit(fmt.Sprintf("the sitemap has more than %d skills", s.limits.Candidates))
			return false
		}
		s.list.add(Listing{Skill: skill}, at)
	}
	return true
}

func (s *sitemap) limit(message string) {
	s.list.find(lookleap.SeverityWarning, codeSitemapLimit, "DVS-3.2-10", message, lookleap.Position{Path: s.list.source})
}

func (s *sitemap) child(loc string, at lookleap.Position) {
	u, err := s.rules.urls().Parse(loc)
	switch {
	case err != nil || u.Origin() != s.source.Origin():
		s.list.find(lookleap.SeverityWarning, codeSitemapNested, "DVS-3.2-09",
			"a sitemap of another origin is skipped: "+plaintext.Quote(domain.Redact(loc), 200), at)
	case len(s.list.Children) >= s.limits.SitemapChildren:
		if !s.cut {
			s.cut = true
			s.limit(fmt.Sprintf("more than %d sitemaps are named, and the rest is left out", s.limits.SitemapChildren))
		}
	default:
		s.list.Children = append(s.list.Children, u.String())
	}
}

// isCandidate reports whether the end of a location is that of a skill.
func (s *sitemap) isCandidate(loc string) bool {
	path, _, _ := strings.Cut(loc, "#")
	path, _, _ = strings.Cut(path, "?")
	if strings.HasSuffix(path, "/"+EntryFile) {
		return true
	}
	_, path, _ = strings.Cut(path, "://")
	_, path, _ = strings.Cut(path, "/")
	below, ok := strings.CutPrefix("/"+path, SkillsPrefix)
	below = strings.TrimSuffix(below, "/")
	return ok && below != "" && !strings.ContainsAny(below, "/.")
}
