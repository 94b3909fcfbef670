package dvs

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// route is the path of a platform's URL in its parts: repository, revision and file.
type route struct {
	repo []string // owner and repository
	rest []string // revision and path, verbatim; of flat sources the file alone
	kind string   // what qualifies the revision: branch, tag, commit
	sha  string   // the commit of a flat source
}

// readRoute splits a path below an owner, in the form of a page or of the bytes. For a path above
// the content, such as a repository, ok is false. A path to other content is an error.
func (role hostRole) readRoute(input string, segments []string) (r route, ok bool, err error) {
	e, s := role.platform, role.platform.Source
	depth := e.owner(segments).depth + 1
	if s.Marker != "" {
		depth = slices.Index(segments, s.Marker)
		if depth < 0 {
			return route{}, false, nil
		}
		if depth < 2 {
			return route{}, false, notContent(input, e)
		}
	}
	if len(segments) <= depth {
		return route{}, false, nil
	}
	r.repo, r.rest = segments[:depth], segments[depth:]
	if s.Marker != "" {
		r.rest = r.rest[1:]
	}
	page := false
	if !role.raw || s.RawPath != "" {
		if len(r.rest) == 0 {
			return route{}, false, notContent(input, e)
		}
		word := r.rest[0]
		r.rest, page = r.rest[1:], !role.raw && word == s.Page
		if role.raw && word != s.RawPath || !role.raw && !page && !slices.Contains(s.Raw, word) && !slices.Contains(s.Dir, word) {
			return route{}, false, notContent(input, e)
		}
	}
	if !r.cutQualifier(s, page) {
		return route{}, false, notContent(input, e)
	}
	if err := r.checkRevision(input); err != nil {
		return route{}, false, err
	}
	return r, true, nil
}

func notContent(input string, e *Platform) error {
	return refuse(CodeNotContentRoute, input, "this path of "+e.Name+" does not lead to the content of a repository",
		"use the page of the file in the repository")
}

// cutQualifier removes the words around the revision.
func (r *route) cutQualifier(s *Source, page bool) bool {
	switch {
	case s.Flat:
		if len(r.rest) == 2 {
			r.sha, r.rest = r.rest[0], r.rest[1:]
		}
		return len(r.rest) == 1 && !isHex(r.rest[0])
	case s.Kinds != nil:
		if len(r.rest) == 0 || !slices.Contains(s.Kinds, r.rest[0]) {
			return false
		}
		r.kind, r.rest = r.rest[0], r.rest[1:]
	case s.After != "" && page && len(r.rest) > 1:
		if r.rest[1] != s.After {
			return false
		}
		r.rest = append([]string{r.rest[0]}, r.rest[2:]...)
	}
	return len(r.rest) > 0
}

// paths returns the canonical path, and that of the host which serves the bytes.
func (r *route) paths(s *Source) (page, bytes []string) {
	below := func(word string) []string {
		out := append(make([]string, 0, len(r.repo)+len(r.rest)+5), r.repo...)
		for _, w := range []string{s.Marker, word, r.kind, r.sha} {
			if w != "" {
				out = append(out, w)
			}
		}
		return out
	}
	raw := s.RawPath
	if s.RawHost == "" {
		raw = s.Raw[0]
	}
	page, bytes = below(s.Page), append(below(raw), r.rest...)
	if s.After != "" && len(r.rest) > 1 {
		return append(append(page, r.rest[0], s.After), r.rest[1:]...), bytes
	}
	return append(page, r.rest...), bytes
}

// isStrangersRef reports whether strangers can create or choose a revision: that of a pull request, a
// pipeline and the like (DVS-3.1-42 to DVS-3.1-44). A platform looks for it below refs/ too, so the
// short form counts as well.
func isStrangersRef(ref string) bool {
	space, name, slash := strings.Cut(ref, "/")
	switch space {
	case "pull", "pulls", "pr", "prs", "merge-requests", "merge_requests", "mr", "pipelines", "changes":
		return name != "" && name[0] >= '0' && name[0] <= '9'
	case "keep-around", "environments":
		return slash
	}
	return false
}

func (r *route) checkRevision(input string) error {
	ref := unescape(strings.Join(r.rest, "/"))
	if first, below, _ := strings.Cut(ref, "/"); first == "refs" {
		if strings.HasPrefix(below, "heads/") || strings.HasPrefix(below, "tags/") || below == "" {
			return nil
		}
	} else if !isStrangersRef(ref) {
		return nil
	}
	return refuse(codeUntrustedRef, input, "anyone can create this revision with a pull request", "use a branch or tag of the owner")
}

// commit returns the part of the revision that a platform may read as a commit;
// "" if there is none. Commits of a fork can be read below the parent's path.
func (r *route) commit() string {
	switch {
	case r.sha != "":
		return r.sha
	case r.kind == "commit":
		return r.rest[0]
	case r.kind != "":
		return ""
	}
	rest := r.rest
	if len(rest) == 0 { // the path is above the content
		return ""
	}
	qualified := rest[0] == "refs" && len(rest) > 2
	at := 0
	if qualified {
		at = 2 // refs/heads/NAME
	}
	switch first := unescape(rest[at]); {
	case !qualified && isHex(first), strings.ContainsAny(first, "~^:"), strings.Contains(first, "@{"):
		return first
	}
	// A description such as v1-3-g0123abc may end a revision with slashes in it.
	for _, segment := range rest[:max(len(rest)-1, 1)] {
		name, _, _ := strings.Cut(unescape(segment), "~")
		name, _, _ = strings.Cut(name, "^")
		at := strings.LastIndex(name, "-g")
		if at >= 0 && len(name) >= at+len("-g")+4 && strings.Trim(name[at+len("-g"):], hexDigits) == "" {
			return segment
		}
	}
	return ""
}

// checkAtRef checks the revision after an "@" in a path.
func (e *Platform) checkAtRef(input string, segments []string) (commit string, err error) {
	for i, segment := range segments {
		if at := strings.LastIndexByte(segment, '@'); at > 0 {
			r := route{rest: append([]string{segment[at+1:]}, segments[i+1:]...)}
			return r.commit(), r.checkRevision(input)
		}
	}
	return "", nil
}

// checkForge checks the path of a code host whose routes are not known, below the publisher: any
// segment may be the revision. It returns one that the host may read as a commit.
func checkForge(input string, segments []string) (commit string, err error) {
	for i, segment := range segments {
		r := route{rest: segments[i:]}
		s := unescape(segment)
		switch {
		case s == "refs" && i+1 < len(segments), isStrangersRef(unescape(strings.Join(r.rest, "/"))):
			if err := r.checkRevision(input); err != nil {
				return "", err
			}
		case len(s) >= 7 && isHex(s), strings.ContainsAny(s, "~^:"), strings.Contains(s, "@{"):
			commit = cmp.Or(commit, s)
		}
	}
	return commit, nil
}

func isHex(s string) bool {
	return len(s) >= 4 && len(s) <= 64 && strings.Trim(s, hexDigits) == ""
}

const hexDigits = "0123456789abcdefABCDEF"

// isFullCommit reports whether s is a whole commit id, of SHA-1 or SHA-256.
func isFullCommit(s string) bool { return (len(s) == 40 || len(s) == 64) && isHex(s) }

// unescape reads a canonical path, in which nothing structural is escaped.
func unescape(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// checkHop checks the target of a redirect as if it had been named directly: it lies under the
// root and is content of the owner. If the root is only the default of its host, the default of
// the target must not be narrower (DVS-3.1-50 to DVS-3.1-53).
func (r Rules) checkHop(root TrustRoot, claim Claim, target string) error {
	u, err := r.urls().Parse(target)
	if err != nil {
		return badURL(target, err)
	}
	p, refused := r.locate(u)
	role, known := r.platforms().find(u.Host())
	switch {
	case refused != nil:
		return refused
	case !root.Covers(SkillURL{place: p}):
		return refuse(CodeRedirectOutside, target, "the redirect leaves the trust root", "register the target's root and use its own URL")
	case !p.file:
		return refuse(CodeNotContentRoute, target,
			"the redirect leads to a path of the platform that is not the content of a repository", "use the URL of the file in its repository")
	case u.HasQuery() && !r.AllowQuery && known && role.platform.Source != nil:
		return refuse(codeQueryInSkillURL, target, "the redirect adds a query, which can select another file",
			"use a URL that needs no query")
	case p.commit != "" && claim.Pin.Digest.IsZero() && !strings.EqualFold(p.commit, claim.Pin.Commit):
		return refuse(CodeCommitRef, target, "the redirect leads to a revision that reads as a commit", "")
	case claim.Source == DefaultOrigin:
		return r.checkDefault(root, SkillURL{place: p})
	}
	return nil
}

// checkDefault refuses a target with another publisher than the root in use, such as /~bob/ on the
// host of /~alice/.
func (r Rules) checkDefault(root TrustRoot, u SkillURL) error {
	own, _, err := DefaultRoot(u, r)
	switch {
	case err != nil:
		return err
	case !root.url.Under(own.url):
		return refuse(CodeRedirectOutside, u.String(),
			fmt.Sprintf("the redirect leads to another publisher's root on this host, %s",
				own), "register the target's root and use its own URL")
	}
	return nil
}
