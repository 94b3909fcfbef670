package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/contrib/hostflags"
	"github.com/lookleap/lookleap/internal/filestore"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// maxFile is the largest file of users or of a profile, in bytes.
const maxFile = 64 << 20

// person is a user of the server, as the file of users describes them.
type person struct {
	ID      string            `json:"id"`
	Token   string            `json:"token"` // "sha256:" and the digest of the bearer token
	Profile map[string]string `json:"profile"`
	Ledger  string            `json:"ledger"`
}

// people are the users that the server knows.
type people struct {
	byID    map[string]person
	byToken map[string]person

	mu      sync.Mutex
	ledgers map[string]*lookleap.FileStore // by directory: a user who returns uses the same one
}

// people reads the users that the options name.
func (o options) people() (*people, error) {
	p := &people{byID: map[string]person{}, byToken: map[string]person{}, ledgers: map[string]*lookleap.FileStore{}}
	if o.users == "" {
		only := person{Ledger: o.ledger}
		if o.profile != "" {
			if err := readJSON(o.profile, &only.Profile); err != nil {
				return nil, err
			}
		}
		p.byID[""] = only
		return p, nil
	}
	var list []person
	if err := readJSON(o.users, &list); err != nil {
		return nil, err
	}
	for i, someone := range list {
		digest, ok := strings.CutPrefix(someone.Token, "sha256:")
		raw, err := hex.DecodeString(digest)
		_, known := p.byID[someone.ID]
		_, shared := p.byToken[someone.Token]
		switch {
		case someone.ID == "":
			return nil, fmt.Errorf("%s: user %d has no id", o.users, i+1)
		case !ok || err != nil || len(raw) != sha256.Size || digest != strings.ToLower(digest):
			return nil, fmt.Errorf("%s: the token of user %q is not sha256: and 64 lower-case hex digits", o.users, someone.ID)
		case known || shared:
			return nil, fmt.Errorf("%s: the id or token of user %q is there twice", o.users, someone.ID)
		}
		p.byID[someone.ID], p.byToken[someone.Token] = someone, someone
	}
	return p, nil
}

// readJSON reads a file. Unknown and duplicate members are errors: a misspelt "ledger" would
// leave a user without one.
func readJSON(path string, into any) error {
	text, err := filestore.ReadFile(path, maxFile)
	if err != nil {
		return err
	}
	if err := strictjson.Decode(text, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// user returns the data of a user.
func (p *people) user(_ context.Context, id string) (u agent.User, err error) {
	someone, ok := p.byID[id]
	if !ok {
		return u, fmt.Errorf("there is no user %q", id)
	}
	if len(someone.Profile) > 0 {
		fields := make(agent.Fields)
		for field, value := range someone.Profile {
			fields[field] = agent.Value{Text: value}
		}
		u.Profile = fields
	}
	if someone.Ledger == "" {
		return u, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	ledger := p.ledgers[someone.Ledger]
	if ledger == nil {
		if ledger, err = hostflags.OpenStore(someone.Ledger); err != nil {
			return u, err
		}
		p.ledgers[someone.Ledger] = ledger
	}
	u.Ledger = ledger
	return u, nil
}

// minToken is the shortest bearer token that is accepted.
const minToken = 16

// authenticate lets requests pass that have a bearer token of a known user.
func (p *people) authenticate(h http.Handler) http.Handler {
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		sum := sha256.Sum256([]byte(token))
		someone, ok := p.byToken["sha256:"+hex.EncodeToString(sum[:])]
		if !ok || len(token) < minToken {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{UserID: someone.ID}, nil
	}
	return auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(h)
}
