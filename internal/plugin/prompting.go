package plugin

import "context"

type promptCheckKey struct{}

// WithPromptCheck adds a check to a context that is used to ask for consent. It runs
// when the request's turn comes, before it is shown. If it returns an error, the
// request is not shown, and that error is the result.
func WithPromptCheck(ctx context.Context, check func() error) context.Context {
	return context.WithValue(ctx, promptCheckKey{}, check)
}

// PromptCheck runs the context's check, if there is one.
func PromptCheck(ctx context.Context) error {
	if check, ok := ctx.Value(promptCheckKey{}).(func() error); ok {
		return check()
	}
	return nil
}
