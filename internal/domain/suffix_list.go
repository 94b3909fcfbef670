package domain

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
)

// SuffixList is a Public Suffix List in the form of publicsuffix.org. It is immutable.
type SuffixList struct {
	version string
	rules   map[string]bool // by the rule, such as co.uk, *.ck or !www.ck: whether a registry made it
}

// Limits of a list.
const (
	maxSuffixList  = 8 << 20 // bytes
	maxSuffixRules = 100_000
)

// ErrSuffixList is the error of ParseSuffixList below the line that it names.
var ErrSuffixList = errors.New("this is not a Public Suffix List")

// ParseSuffixList reads a list. It refuses a file that ends before the private section does,
// since names would be missing.
func ParseSuffixList(r io.Reader) (*SuffixList, error) {
	l := &SuffixList{rules: make(map[string]bool)}
	limited := &io.LimitedReader{R: r, N: maxSuffixList + 1}
	lines := bufio.NewScanner(limited)
	icann, private, ended := false, false, false
	for number := 1; lines.Scan(); number++ {
		text := strings.TrimSpace(lines.Text())
		if comment, ok := strings.CutPrefix(text, "//"); ok {
			comment = strings.TrimSpace(comment)
			switch comment {
			case "===BEGIN ICANN DOMAINS===", "===END ICANN DOMAINS===":
				icann = strings.HasPrefix(comment, "===BEGIN")
			case "===BEGIN PRIVATE DOMAINS===", "===END PRIVATE DOMAINS===":
				private = strings.HasPrefix(comment, "===BEGIN")
				ended = !private
			}
			if version, ok := strings.CutPrefix(comment, "VERSION:"); ok && l.version == "" {
				l.version = strings.TrimSpace(version)
			}
			continue
		}
		rule, _, _ := strings.Cut(text, " ")
		if rule == "" {
			continue
		}
		if !icann && !private {
			return nil, fmt.Errorf("line %d: %w: a rule is outside of both sections", number, ErrSuffixList)
		}
		if err := l.add(rule, icann); err != nil {
			return nil, fmt.Errorf("line %d: %w: %w", number, ErrSuffixList, err)
		}
		if len(l.rules) > maxSuffixRules {
			return nil, fmt.Errorf("line %d: %w: it has more than %d rules", number, ErrSuffixList, maxSuffixRules)
		}
	}
	switch err := lines.Err(); {
	case err != nil:
		return nil, err
	case limited.N == 0:
		return nil, fmt.Errorf("%w: it is larger than %d bytes", ErrSuffixList, maxSuffixList)
	case !ended:
		return nil, fmt.Errorf("%w: it has no end of the private section, so names are missing", ErrSuffixList)
	}
	return l, nil
}

// add adds a rule.
func (l *SuffixList) add(rule string, icann bool) error {
	name := strings.TrimPrefix(strings.TrimPrefix(rule, "!"), "*.")
	canonical, err := Rules{AllowSpecial: true}.ParseHost(name)
	if err != nil {
		return err
	}
	l.rules[strings.TrimSuffix(rule, name)+canonical] = icann
	return nil
}

// PublicSuffix returns the public suffix of a canonical host by the rules of the list, or "" if
// no rule matches.
func (l *SuffixList) PublicSuffix(host string) string {
	suffix, _ := l.find(host)
	return suffix
}

// ICANN reports whether a domain registry runs a public suffix.
func (l *SuffixList) ICANN(suffix string) bool {
	if l == nil {
		return false
	}
	_, icann := l.find(suffix)
	return icann || l.rules["*."+suffix] // the suffix of an exception
}

// String returns the version of the list, as the file states it.
func (l *SuffixList) String() string {
	if l == nil || l.version == "" {
		return "a Public Suffix List without a version"
	}
	return l.version
}

// find returns the longest match; an exception takes precedence.
func (l *SuffixList) find(host string) (suffix string, icann bool) {
	if l == nil {
		return "", false
	}
	for rest := host; rest != ""; {
		_, parent, _ := strings.Cut(rest, ".")
		if _, ok := l.rules["!"+rest]; ok {
			return parent, l.rules["*."+parent]
		}
		if icann, ok := l.rules[rest]; ok {
			return rest, icann
		}
		if icann, ok := l.rules["*."+parent]; ok {
			return rest, icann
		}
		rest = parent
	}
	return "", false
}

// SuffixSource is a list that a program brings. It is called from several goroutines at once.
type SuffixSource interface {
	PublicSuffix(domain string) string
	String() string
}

// added is the list in use besides the built-in one.
var added atomic.Pointer[SuffixSource]

// UseSuffixes makes [PublicSuffix] and [Registrable] consider another list too; nil ends that.
func UseSuffixes(list SuffixSource) { added.Store(&list) }

// SuffixVersion returns what the list in use says about itself: the date of the built-in list,
// and the version of a list that was added.
func SuffixVersion() string {
	if list := addedSource(); list != nil {
		return SuffixDate + " and " + list.String()
	}
	return SuffixDate
}

// addedSource returns the list of [UseSuffixes], nil if there is none.
func addedSource() SuffixSource {
	if list := added.Load(); list != nil {
		return *list
	}
	return nil
}

// suffixOf returns the public suffix of a canonical host by a list that a program brings, or "".
// What is not the end of the host at a label is ignored, and so is a list that panics: the
// built-in list holds in any case.
func suffixOf(list SuffixSource, host string) (suffix string, icann bool) {
	if list == nil {
		return "", false
	}
	defer func() {
		if recover() != nil {
			suffix, icann = "", false
		}
	}()
	suffix = list.PublicSuffix(host)
	if suffix != host && !strings.HasSuffix(host, "."+suffix) || suffix == "" {
		return "", false
	}
	if registry, ok := list.(interface{ ICANN(suffix string) bool }); ok {
		icann = registry.ICANN(suffix)
	}
	return suffix, icann
}
