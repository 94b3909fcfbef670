package agent

import "context"

// Store keeps a user's small records across sessions, as bytes under keys that
// begin with a word and a slash. Get gives an error for which
// errors.Is(err, fs.ErrNotExist) holds when there is nothing. Any other error of
// a Store stops the disclosure that needed it. A Store belongs to one user, is
// called from several goroutines at once, and holds personal data.
type Store interface {
	Get(ctx context.Context, key string) ([]byte, error)
	Put(ctx context.Context, key string, value []byte) error
	Delete(ctx context.Context, key string) error
	// Keys lists the keys that begin with a prefix, in any order.
	Keys(ctx context.Context, prefix string) ([]string, error)
}
