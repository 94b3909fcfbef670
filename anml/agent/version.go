package agent

import (
	"context"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// versions tells the user of a document that is of a newer version, or offers none
// that is understood, once for each document; and refuses the latter where the
// host wants that (section 8.1).
func (p *Page) versions(ctx context.Context) error {
	if newer(p.doc.Version()) {
		p.session.notices.tellOnce(ctx, "newer "+p.url.String()+" "+p.digest, Notice{
			Kind: NoticeNewerVersion, Code: anml.CodeNewVersion, Origin: p.url.Origin(),
			Text: "The service's document is of version " + plaintext.Quote(p.doc.Version(), maxVersion) + " of ANML, which is newer than " + anml.Version + "; it is read as far as it is understood.",
		})
	}
	err := p.unsupported()
	if err == nil {
		return nil
	}
	p.session.notices.tellOnce(ctx, "unsupported "+p.url.String()+" "+p.digest, Notice{
		Kind: NoticeUnsupported, Code: err.Code, Origin: p.url.Origin(), Text: sentence(err.Message),
	})
	if p.session.agent.options.RefuseUnsupported {
		return err
	}
	return nil
}

// executable says why no action of the document may be executed, and no answer
// sent, or nil: it offers no version that is understood (section 8.1), or nobody
// knows whose it is (section 13.6).
func (p *Page) executable() error {
	if err := p.ready(); err != nil {
		return err
	}
	if p.opened.insecure {
		return &lookleap.Error{Code: lookleap.CodeInsecureTransport, Subject: p.location(),
			Message: "the document came from a server that nobody verified, so nothing of it is executed"}
	}
	if err := p.unsupported(); err != nil {
		return err
	}
	return nil
}

// unsupported is the error about a document that offers no version understood here.
func (p *Page) unsupported() *lookleap.Error {
	if p.doc.Executable() {
		return nil
	}
	offered := "none"
	if versions, _ := p.doc.SupportedVersions(); len(versions) > 0 {
		shown := versions[:min(len(versions), 5)]
		offered = plaintext.Quote(strings.Join(shown, ", "), 5*maxVersion)
	}
	return &lookleap.Error{Code: anml.CodeNoVersion, Subject: p.location(),
		Message: "the document supports the versions " + offered + " of ANML and " + anml.Version + " is implemented, so nothing of it is executed"}
}

// otherMajor reports whether the document is of another major version. Then every
// action is confirmed, and every disclosure needs explicit consent.
func (p *Page) otherMajor() bool {
	own, _, _ := strings.Cut(anml.Version, ".")
	major, _, _ := strings.Cut(p.doc.Version(), ".")
	return strings.TrimLeft(major, "0") != own
}

// maxVersion is how much of a version is shown.
const maxVersion = 20

// newer reports whether a version is above the one implemented. One that is no
// version counts as newer, since it is not known.
func newer(version string) bool {
	if version == anml.Version {
		return false
	}
	theirs, ok := numbers(version)
	ours, _ := numbers(anml.Version)
	return !ok || slices.CompareFunc(theirs, ours, compareNumbers) > 0
}

// numbers splits "1.0" into numbers as text, without leading zeros.
func numbers(version string) ([]string, bool) {
	parts := strings.Split(version, ".")
	for i, part := range parts {
		if part == "" || strings.Trim(part, "0123456789") != "" {
			return nil, false
		}
		parts[i] = strings.TrimLeft(part, "0")
	}
	return parts, true
}

func compareNumbers(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// sentence makes a reason a sentence.
func sentence(reason string) string {
	return strings.ToUpper(reason[:1]) + reason[1:] + "."
}
