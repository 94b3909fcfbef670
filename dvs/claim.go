package dvs

import (
	"time"

	"github.com/lookleap/lookleap"
)

// Claim is what is asked of a skill's URL: whose skill it is said to be, and on
// which terms that counts. It is plain data, so that a verdict can be judged
// again.
type Claim struct {
	URL     string     `json:"url"`            // as it was given
	Root    string     `json:"root,omitempty"` // trust root; "": there is none
	Source  RootSource `json:"source"`         // who declared it
	Blocked bool       `json:"blocked,omitempty"`
	Revoked bool       `json:"revoked,omitempty"`

	Profile       Profile `json:"profile"`
	Strict        bool    `json:"strict,omitempty"`        // registered roots and text/markdown alone
	RequireSecure bool    `json:"requireSecure,omitempty"` // every contacted name has to be signed
	Pin           Pin     `json:"pin,omitzero"`
}

// Pin is what the caller knows already of the content. It is what makes a URL
// with a commit acceptable (DVS-3.1-42 to DVS-3.1-44).
type Pin struct {
	Commit string `json:"commit,omitempty"` // whole commit id of the URL's revision
	Digest Digest `json:"digest,omitzero"`  // of SKILL.md
}

// Evidence is what was found out about a claim: the exchange, the DNS and the
// file. The zero Evidence is that nothing was asked.
type Evidence struct {
	Failure  lookleap.Code `json:"failure,omitempty"` // why there was no answer; "": there was one
	Detail   string        `json:"detail,omitempty"`  // the failure in one sentence; may quote remote text
	Hops     []string      `json:"hops,omitempty"`    // redirects followed, each target
	Status   int           `json:"status,omitempty"`
	Type     string        `json:"type,omitempty"` // media type in lower case; "": none
	Charset  string        `json:"charset,omitempty"`
	Address  string        `json:"address,omitempty"` // really dialled
	TLS      string        `json:"tls,omitempty"`
	Names    []NameState   `json:"names,omitempty"` // every host contacted
	Received time.Time     `json:"received,omitzero"`
	Fresh    time.Time     `json:"fresh,omitzero"` // until when the copy may be used

	Digest       Digest             `json:"digest,omitzero"`
	Content      lookleap.Code      `json:"content,omitempty"`      // what ParseSkill says; "": it was not read
	ContentError string             `json:"contentError,omitempty"` // its sentence
	Position     *lookleap.Position `json:"position,omitempty"`     // its place
	SelfDeclared string             `json:"selfDeclared,omitempty"` // a trust root that the file names
}

// NameState is what the DNS said of one host.
type NameState struct {
	Name   string          `json:"name"`
	DNSSEC lookleap.DNSSEC `json:"dnssec"`
	Bogus  bool            `json:"bogus,omitempty"`
	TTL    time.Duration   `json:"ttl,omitempty"`
}
