package agent

import "context"

// Detector looks for prompt injection in the texts of a persona. It gives a
// short word for what it found, "" for nothing. An error or a panic withholds
// the persona.
type Detector interface {
	Detect(ctx context.Context, text string) (found string, err error)
}

// vetted is the persona of one party, looked at for prompt injection.
type vetted struct{}

// vetPersonas looks at every persona that may be used at all.
func (p *Page) vetPersonas(ctx context.Context) error { return nil }
