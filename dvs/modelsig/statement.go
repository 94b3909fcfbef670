package modelsig

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// maxResources bounds the files of a statement.
const maxResources = 10_000

// The types of the signed statement.
const (
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://model_signing/signature/v1.0"
)

// statement is what the signer signed: the files with their digests, and the paths that the signer
// left out.
type statement struct {
	digests map[string][sha256.Size]byte
	ignored map[string]bool
}

// ignores reports whether the signer left out a file, itself or with one of its directories.
func (s *statement) ignores(file string) bool {
	for path := file; ; {
		if s.ignored[path] {
			return true
		}
		slash := strings.LastIndexByte(path, '/')
		if slash < 0 {
			return false
		}
		path = path[:slash]
	}
}

// parseStatement reads the payload of an envelope whose signature is valid. Its author may still be
// an attacker. As the format demands, it skips members that it does not know.
func parseStatement(payload []byte) (*statement, error) {
	root, err := strictjson.Parse(payload, strictjson.Limits{Size: maxBundle})
	if err == nil {
		err = root.Expect(strictjson.Object)
	}
	if err != nil {
		return nil, badJSON(CodeBadStatement, err)
	}
	r := &reader{}
	r.fixed(root, "_type", statementType)
	r.fixed(root, "predicateType", predicateType)
	predicate := r.need(root, "predicate", strictjson.Object)
	serialization := r.need(predicate, "serialization", strictjson.Object)
	r.supported(serialization, "method", "files")
	r.supported(serialization, "hash_type", "sha256")
	r.need(serialization, "allow_symlinks", strictjson.Bool)
	s := &statement{ignored: r.ignored(serialization)}
	var total [sha256.Size]byte
	s.digests, total = r.resources(predicate)
	r.subject(root, total)
	if r.err != nil {
		return nil, r.err
	}
	return s, nil
}

// reader reads the members of a statement and keeps the first error.
type reader struct{ err *lookleap.Error }

// failed notes an error, if there is one, and reports whether there was any.
func (r *reader) failed(err error) bool {
	if err != nil && r.err == nil {
		if e := (*lookleap.Error)(nil); errors.As(err, &e) {
			r.err = e
		} else {
			r.err = badJSON(CodeBadStatement, err)
		}
	}
	return r.err != nil
}

// need returns a member of an object.
func (r *reader) need(object strictjson.Value, name string, kind strictjson.Kind) (member strictjson.Value) {
	if r.err != nil {
		return strictjson.Value{}
	}
	member, err := object.Need(name)
	if err == nil {
		err = member.Expect(kind)
	}
	if r.failed(err) {
		return strictjson.Value{}
	}
	return member
}

func (r *reader) text(object strictjson.Value, name string) string {
	text, _ := r.need(object, name, strictjson.String).Text()
	return text
}

// fixed expects a text that makes the statement one of this format.
func (r *reader) fixed(object strictjson.Value, name, want string) {
	if text := r.text(object, name); r.err == nil && text != want {
		r.failed(refuse(CodeBadStatement, name+" is "+shown(text)+" instead of "+want, fixPublisher))
	}
}

// supported expects the only one of several values of the format that is supported here.
func (r *reader) supported(object strictjson.Value, name, want string) {
	if text := r.text(object, name); r.err == nil && text != want {
		r.failed(refuse(CodeUnsupportedSignature, name+" is "+shown(text)+", and only "+want+" is supported", fixPublisher))
	}
}

// digest reads a SHA-256 in hex.
func (r *reader) digest(object strictjson.Value, name string) (digest [sha256.Size]byte) {
	text := r.text(object, name)
	if decoded, err := hex.DecodeString(text); r.err == nil && (err != nil || copy(digest[:], decoded) != len(digest) || len(decoded) != len(digest)) {
		r.failed(refuse(CodeBadStatement, name+" is "+shown(text)+", which is not a SHA-256 in hex", fixPublisher))
	}
	return digest
}

// ignored reads the paths that the signer left out. Four are left out without being listed. Entries
// that are not paths below the directory match no file.
func (r *reader) ignored(serialization strictjson.Value) map[string]bool {
	paths := map[string]bool{".git": true, ".gitattributes": true, ".github": true, ".gitignore": true}
	if _, ok := serialization.Member("ignore_paths"); !ok {
		return paths
	}
	for element := range r.need(serialization, "ignore_paths", strictjson.Array).Elements() {
		path, err := element.Text()
		if r.failed(err) {
			return nil
		}
		paths[path] = true
	}
	return paths
}

// resources reads the files with their digests, and returns also the digest over all digests in
// the order in which they are listed. Signers do not always sort them.
func (r *reader) resources(predicate strictjson.Value) (digests map[string][sha256.Size]byte, total [sha256.Size]byte) {
	list := r.need(predicate, "resources", strictjson.Array)
	switch {
	case r.err != nil:
		return nil, total
	case list.Len() == 0:
		r.failed(refuse(CodeBadStatement, "the statement covers no file", fixPublisher))
	case list.Len() > maxResources:
		r.failed(refuse(lookleap.CodeLimit, fmt.Sprintf("the statement covers more than %d files", maxResources), fixPublisher))
	}
	digests = make(map[string][sha256.Size]byte)
	all := sha256.New()
	for resource := range list.Elements() {
		if r.failed(resource.Expect(strictjson.Object)) {
			return nil, total
		}
		r.supported(resource, "algorithm", "sha256")
		name, digest := r.text(resource, "name"), r.digest(resource, "digest")
		if _, twice := digests[name]; r.err == nil && (twice || name == "." || !fs.ValidPath(name)) {
			r.failed(refuse(CodeBadStatement, "the file "+shown(name)+" is listed twice or is not a path below the directory", fixPublisher))
		}
		digests[name] = digest
		all.Write(digest[:])
	}
	return digests, [sha256.Size]byte(all.Sum(nil))
}

// subject checks the one digest that stands for the whole directory.
func (r *reader) subject(root strictjson.Value, want [sha256.Size]byte) {
	subjects := r.need(root, "subject", strictjson.Array)
	if r.err == nil && subjects.Len() != 1 {
		r.failed(refuse(CodeBadStatement, "the statement does not have exactly one subject", fixPublisher))
	}
	for subject := range subjects.Elements() {
		if r.err == nil && !r.failed(subject.Expect(strictjson.Object)) {
			if r.digest(r.need(subject, "digest", strictjson.Object), "sha256") != want {
				r.failed(refuse(CodeBadStatement, "the digest of the subject is not that of the listed files", fixPublisher))
			}
		}
	}
}
