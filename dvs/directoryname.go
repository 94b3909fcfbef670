package dvs

import (
	"fmt"
	"slices"
	"strings"
)

// nameDirectories gives every bundle that was not refused the name of its directory. Names that
// lockfiles give stay, for others too. Skills of one name are all named after their URLs as well, and
// these names come before plain ones: a name that looks like one of them only makes it longer. So no
// skill takes the place of another, whatever the order of the bundles.
func nameDirectories(bundles []*preparedBundle, locks ...*Lockfile) {
	n := directoryNames{taken: map[string]string{}, given: map[string]string{}}
	for _, lock := range locks {
		if lock == nil {
			continue
		}
		for _, s := range lock.Skills {
			if n.given[s.URL] == "" && isDirectoryName(s.Directory) && n.take(s.Directory, s.URL) {
				n.given[s.URL] = s.Directory
			}
		}
	}
	var open []*preparedBundle
	same := map[string]int{}
	for _, p := range bundles {
		if p.report.Err != nil {
			continue
		}
		if p.report.Directory = n.given[p.ID]; p.report.Directory == "" {
			open = append(open, p)
			same[directoryName(p.skill.Name)]++
		}
	}
	slices.SortFunc(open, func(a, b *preparedBundle) int { return strings.Compare(a.ID, b.ID) })
	for _, alone := range []bool{false, true} {
		for _, p := range open {
			plain := directoryName(p.skill.Name)
			switch {
			case alone != (same[plain] == 1):
			case alone && n.take(plain, p.ID):
				p.report.Directory = plain
			default:
				if p.report.Directory = n.derive(plain, p.ID); p.report.Directory == "" {
					p.report.Err = refuse(CodeNameClash, p.ID, "other skills have every name that this one could have", "give skills names of their own")
				}
			}
		}
	}
}

// directoryNames are the names that are in use, with the URLs of their skills.
type directoryNames struct{ taken, given map[string]string }

// take takes a name for a skill, unless another one has it.
func (n *directoryNames) take(directory, id string) bool {
	if owner, ok := n.taken[directory]; ok && owner != id {
		return false
	}
	n.taken[directory] = id
	return true
}

// derive takes the shortest free name that ends with a part of the digest of the skill's URL; "" if
// there is none.
func (n *directoryNames) derive(plain, id string) string {
	digest := DigestOf([]byte(id))
	for size := 6; size < len(digest); size++ {
		suffix := fmt.Sprintf("-%x", digest[:size])
		directory := strings.TrimRight(plain[:max(0, min(len(plain), maxName-len(suffix)))], "-") + suffix
		if len(directory) <= maxName && directory[0] != '-' && n.take(directory, id) {
			return directory
		}
	}
	return ""
}

// isDirectoryName reports whether a name is one that directoryName makes.
func isDirectoryName(name string) bool { return len(name) <= maxName && name == directoryName(name) }

// directoryName makes the name of a skill's directory: one that strict loaders
// accept as a name too. Of a name that is one already, it is that name.
func directoryName(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= maxName {
			break
		}
	}
	slug := strings.Trim(b.String(), "-")
	if slug == "" {
		return "skill"
	}
	if isDevice(slug) {
		return "skill-" + slug
	}
	return slug
}
