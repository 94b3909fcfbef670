// Package prompting lets the package that asks for consent say when a request
// that waits for its turn need not be shown any more.
package prompting

import "context"

type checkKey struct{}

// WithCheck adds a check to a context that is used to ask for consent. It runs
// when the request's turn comes, before it is shown. If it returns an error the
// request is not shown, and that error is the result.
func WithCheck(ctx context.Context, check func() error) context.Context {
	return context.WithValue(ctx, checkKey{}, check)
}

// Check runs the context's check, if there is one.
func Check(ctx context.Context) error {
	if check, ok := ctx.Value(checkKey{}).(func() error); ok {
		return check()
	}
	return nil
}
