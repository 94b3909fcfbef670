package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// dnsName is where a domain says where its document is (section 6.5.4). It is not
// the place of the trust record, which is _anml.<domain> (section 12.2).
const dnsName = "_anml._tcp."

// maxTargets bounds the targets of one name that are looked at.
const maxTargets = 4

// byDNS asks the DNS where the document of an origin is. What it says is a place to
// look at and nothing more, signed or not: who speaks is decided by what answers.
func (d *discovery) byDNS(origin domain.URL) ([]candidate, error) {
	name := dnsName + origin.Host()
	services, err := d.session.lookup(d.ctx, name, lookleap.TypeSRV)
	var texts []lookleap.Record
	if err == nil {
		texts, err = d.session.lookup(d.ctx, name, lookleap.TypeTXT)
	}
	if err != nil {
		d.trace = append(d.trace, Attempt{Time: d.session.now(), Source: SourceDNS, URL: name, Code: lookleap.CodeOf(err)})
		return nil, err
	}
	return places(origin.Host(), services, texts), nil
}

func (s *Session) lookup(ctx context.Context, name string, t lookleap.RRType) ([]lookleap.Record, error) {
	answer, err := s.agent.host.Lookup(ctx, name, t)
	if err == nil {
		return answer.Records, nil
	}
	code := lookleap.CodeDNSError
	if errors.Is(err, lookleap.ErrBogus) {
		code = lookleap.CodeDNSSECBogus
	}
	return nil, &lookleap.Error{Code: code, Subject: name, Err: err}
}

// places makes candidates of the records at a name: in the order of priority, and
// of weight where that is equal, so that everybody who asks looks at the same
// places. Without SRV records the path of the TXT record is at the domain itself.
func places(host string, services, texts []lookleap.Record) []candidate {
	path, ok := dnsPath(texts)
	targets := make([]lookleap.SRV, 0, len(services))
	for _, r := range services {
		if r.SRV != nil { // whatever a resolver gives
			targets = append(targets, *r.SRV)
		}
	}
	if len(services) == 0 && ok {
		targets = []lookleap.SRV{{Port: 443, Target: host}}
	}
	slices.SortStableFunc(targets, func(a, b lookleap.SRV) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Target, b.Target))
	})
	var found []candidate
	for _, t := range targets[:min(len(targets), maxTargets)] {
		name, err := domain.ParseHost(strings.TrimSuffix(t.Target, "."))
		if err != nil { // "." among them: there is no such service
			continue
		}
		u, err := domain.Parse("https://" + name + ":" + strconv.Itoa(int(t.Port)) + path)
		if err == nil && !known(found, u) {
			found = append(found, candidate{SourceDNS, u})
		}
	}
	return found
}

// dnsPath is the path in the one TXT record of ours, and whether there is such a
// record. Without a usable path it is the well-known one; several records
// contradict one another, so none counts.
func dnsPath(texts []lookleap.Record) (path string, ok bool) {
	path = wellKnownPath
	count := 0
	for _, r := range texts {
		p, ours := parseDNSText(r.Text)
		if !ours {
			continue
		}
		if count++; p != "" {
			path = p
		}
	}
	if count > 1 {
		return wellKnownPath, false
	}
	return path, count == 1
}

// parseDNSText reads a TXT record of discovery: "v=anml1" and then tags, separated
// by semicolons or blanks, or, where they were strings of their own, by nothing
// after the version. A tag that stands twice makes it no record of ours; a path
// that is not one absolute path is "".
func parseDNSText(text string) (path string, ours bool) {
	rest, ok := strings.CutPrefix(text, "v=anml1")
	if !ok || len(text) > maxDNSText {
		return "", false
	}
	if rest != "" && !strings.ContainsRune("; \t", rune(rest[0])) && !strings.HasPrefix(rest, "path=") {
		return "", false
	}
	seen := map[string]bool{"v": true}
	for tag := range strings.FieldsFuncSeq(rest, func(c rune) bool { return c == ';' || c == ' ' || c == '\t' }) {
		name, value, _ := strings.Cut(tag, "=")
		if seen[name] {
			return "", false
		}
		if seen[name] = true; name == "path" && isDNSPath(value) {
			path = value
		}
	}
	return path, true
}

// maxDNSText is the largest TXT record that is read.
const maxDNSText = 4096

// isDNSPath reports whether a value is a path and nothing else. Dot segments and
// the like are refused with the URL.
func isDNSPath(value string) bool {
	if !strings.HasPrefix(value, "/") || strings.HasPrefix(value, "//") || strings.ContainsAny(value, "?#") {
		return false
	}
	_, err := domain.Parse("https://example.com" + value)
	return err == nil
}
