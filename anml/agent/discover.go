package agent

import (
	"context"
	"errors"
)

func (s *Session) discover(ctx context.Context, origin string) (*Page, error) {
	return nil, errors.New("anml/agent: not built yet") // owner: open
}
