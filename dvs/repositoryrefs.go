package dvs

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// maxRefs bounds git's list of references, in bytes: that of a large repository has tens of thousands.
const maxRefs = 64 << 20

// refList is what a repository says of the references that were asked for.
type refList struct {
	head    string            // commit of the default branch
	branch  string            // name of the default branch; "": not said
	found   map[string]string // commits, by full name
	commits map[string]string // full names of branches and tags, by commit that was asked for
}

// readRefs reads a list of references as git servers send it (gitprotocol-http, smart server response)
// as far as needed: only its beginning for the default branch. The names are branches, tags or commits.
func readRefs(body io.Reader, names []string) (*refList, error) {
	lines := bufio.NewReaderSize(body, 1<<16)
	list := &refList{found: map[string]string{}, commits: map[string]string{}}
	for first, flushed := true, false; ; {
		line, end, err := readPacket(lines)
		switch {
		case err == io.EOF && !first:
			return list, nil
		case err != nil:
			return nil, refuse(lookleap.CodeMediaType, "", "the answer is not git's list of references", "check that the URL is that of a repository")
		case end && flushed:
			return list, nil
		case end:
			flushed = true
			continue
		case bytes.HasPrefix(line, []byte("# ")):
			continue
		}
		text, capabilities, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\x00")
		commit, name, ok := strings.Cut(text, " ")
		if !ok || !isFullCommit(commit) {
			return nil, refuse(lookleap.CodeMediaType, "", "a line of the list of references is malformed", "")
		}
		flushed = true
		if first {
			first = false
			for word := range strings.FieldsSeq(capabilities) {
				if branch, ok := strings.CutPrefix(word, "symref=HEAD:"); ok {
					list.branch = branch
				}
			}
		}
		if name == "HEAD" {
			if list.head = commit; len(names) == 0 {
				return list, nil
			}
			continue
		}
		list.note(strings.ToLower(commit), name, names)
	}
}

// note keeps a branch or tag that was asked for. Of an annotated tag, the commit follows the tag.
func (l *refList) note(commit, name string, names []string) {
	full := strings.TrimSuffix(name, "^{}")
	for _, space := range []string{"refs/heads/", "refs/tags/"} {
		short, ok := strings.CutPrefix(full, space)
		if !ok {
			continue
		}
		if slices.Contains(names, short) || slices.Contains(names, full) {
			l.found[full] = commit
		}
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, commit) }) {
			l.commits[commit] = full
		}
	}
}

// readPacket reads one packet of git's protocol: four hex digits with its length, and its content. The
// packet without content ends a part of the list.
func readPacket(r *bufio.Reader) (line []byte, end bool, err error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, false, err
	}
	n, err := strconv.ParseUint(string(size[:]), 16, 16)
	switch {
	case err != nil:
		return nil, false, err
	case n == 0:
		return nil, true, nil
	case n < 4:
		return nil, false, fmt.Errorf("a packet has the length %d", n)
	}
	line = make([]byte, n-4)
	_, err = io.ReadFull(r, line)
	return line, false, err
}

// tip returns the commit that a URL names, and the path below the repository that it names.
func (l *refList) tip(at RepositoryURL) (Tip, string, error) {
	names := at.names()
	if len(names) == 0 {
		if l.head == "" {
			return Tip{}, "", refuse(CodeSkillNotFound, at.String(), "the repository has no default branch: it is empty", "")
		}
		ref := l.branch
		if ref == "" {
			ref = "HEAD"
		}
		return Tip{ref, strings.ToLower(l.head)}, at.path, nil
	}
	for _, name := range slices.Backward(names) { // the longest one: a branch may have slashes in its name
		for _, full := range []string{name, "refs/heads/" + name, "refs/tags/" + name} {
			if commit := l.found[full]; commit != "" {
				return Tip{full, commit}, at.Below(name), nil
			}
		}
		if full := l.commits[strings.ToLower(name)]; full != "" {
			return Tip{full, strings.ToLower(name)}, at.Below(name), nil
		}
		if name == "HEAD" && l.head != "" {
			return Tip{"HEAD", strings.ToLower(l.head)}, at.Below(name), nil
		}
	}
	if isFullCommit(names[0]) {
		return Tip{}, "", refuse(CodeCommitRef, at.String(), "no branch or tag of the repository ends at this commit, and code hosts show those of strangers' forks too",
			"name a branch or tag")
	}
	return Tip{}, "", refuse(CodeSkillNotFound, at.String(), "the repository has no branch or tag "+plaintext.Quote(names[0], 200), "")
}
