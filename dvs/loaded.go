package dvs

import (
	"slices"
	"sync"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Loaded is a verified skill in use. Its fields are not changed; its methods
// are safe for concurrent use.
type Loaded struct {
	Metadata
	ID      SkillURL
	Root    TrustRoot
	Source  RootSource // who declared the root
	Digest  Digest     // of the SKILL.md
	Verdict *lookleap.Verdict
	Chain   []string // identities of the skills that led here, the first one first

	loader *Loader
	base   domain.URL // what relative references resolve against
	claim  Claim
	under  string // root that the caller of LoadUnder named

	mu    sync.Mutex
	skill *Skill // nil after Deactivate
	file  []byte
}

// newLoaded makes a skill of a candidate that was decided.
func (l *Loader) newLoaded(c *candidate) (*Loaded, error) {
	final, err := l.rules().urls().Parse(c.Final)
	if err != nil {
		return nil, badURL(c.Final, err)
	}
	at, refused := l.rules().locate(final)
	if refused != nil {
		return nil, refused
	}
	if err := l.count(c); err != nil {
		return nil, err
	}
	return &Loaded{
		Metadata: c.parsed.Metadata, ID: c.skill, Root: c.root, Source: c.Claim.Source, Digest: c.parsed.Digest,
		Verdict: c.verdict, Chain: slices.Clone(c.Chain), loader: l, base: at.page, claim: c.Claim, under: c.Under, skill: c.parsed, file: c.File.Bytes,
	}, nil
}

// ready returns an error for a skill that no loader loaded.
func (s *Loaded) ready() *lookleap.Error {
	if s == nil {
		return usageError("there is no skill", "load it through a Loader")
	}
	return s.loader.ready()
}

// ServingHost gives the host that the bytes came from. It differs from the
// root's host where a platform serves pages and bytes separately; show both.
func (s *Loaded) ServingHost() string {
	if s == nil {
		return ""
	}
	return s.ID.ServingHost()
}

// use checks that the skill may still be used: active, and trusted.
func (s *Loaded) use() error {
	if err := s.ready(); err != nil {
		return err
	}
	s.mu.Lock()
	active := s.skill != nil
	s.mu.Unlock()
	if refused := s.loader.stillAllowed(s.standing()); refused != nil {
		return refused
	}
	if !active {
		return refuse(CodeNotActivated, s.ID.String(), "the skill was deactivated", "load it again")
	}
	return nil
}

// Skill gives the file as it was read, while the skill is active.
func (s *Loaded) Skill() (*Skill, error) {
	if err := s.use(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.skill == nil {
		return nil, refuse(CodeNotActivated, s.ID.String(), "the skill was deactivated", "load it again")
	}
	return s.skill, nil
}

// File gives the bytes of the SKILL.md, those of Digest. Do not change them.
func (s *Loaded) File() ([]byte, error) {
	if _, err := s.Skill(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file, nil
}

// ContextText gives the instructions for the model. They are the publisher's
// word: commands in them run only through [Loaded.Approve] or
// [Loaded.Confirm].
func (s *Loaded) ContextText() (string, error) {
	skill, err := s.Skill()
	if err != nil {
		return "", err
	}
	return skill.Body, nil
}

// Deactivate releases the body, and the copies of the file that the loader
// holds; the metadata stay. Later uses give not-activated.
func (s *Loaded) Deactivate() {
	if s.ready() != nil {
		return
	}
	s.mu.Lock()
	s.skill, s.file = nil, nil
	s.mu.Unlock()
	s.loader.files.Invalidate(s.ID.served.String())
}
