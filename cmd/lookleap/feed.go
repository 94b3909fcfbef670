package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/lookleap/lookleap/contrib/policy"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func feedCommand() command {
	return command{
		name:    "feed",
		args:    "FILE|URL… [--jwks FILE] [--withdraw KIND=VALUE --reason TEXT] [--sign KEY]",
		summary: "what a revocation feed withdraws; or add an entry to a feed, or sign it",
		about: `Reads revocation feeds as loaders do, and lists what they withdraw. A feed with a
fault is refused, with the place and how to fix it.

With --withdraw, it adds an entry to one FILE, with the next sequence number and
the time, and writes the file as a whole. A missing file begins a feed. KIND is
root, skill, digest or key; the value of a root is a trust root or a host. Serve
the file at a URL that the policy of your agents names: each process follows it
within 15 minutes, and within half a minute after another process of the same
store has seen it. Entries never leave a feed.

With --sign, it also writes FILE.jws, the feed signed with a private key in PEM form,
and prints the key set for the policy. Serve that file instead. With --jwks, it reads
signed feeds, and refuses one that none of the keys has signed. The name of a key is
derived from its public part; withdraw it as key=NAME if it is stolen.

value: {"sequence", "updated", "withdrawn": [{"kind", "value", "reason", "time"}]}`,
		examples: []string{
			"lookleap feed https://example.com/withdrawn.json",
			`lookleap feed withdrawn.json --withdraw root=https://github.com/example-org/ --reason "the account was taken over"`,
			"lookleap feed withdrawn.json --sign feed.pem",
			"lookleap feed https://example.com/withdrawn.jws --jwks keys.json",
		},
		build: func(flags *flag.FlagSet) action {
			var entry, reason, key, jwks string
			flags.StringVar(&entry, "withdraw", "", "add this `KIND=VALUE` to the feed")
			flags.StringVar(&reason, "reason", "", "why, as this `TEXT` for people")
			flags.StringVar(&key, "sign", "", "sign the feed with the private key in this PEM `FILE`")
			flags.StringVar(&jwks, "jwks", "", "the keys of signed feeds, a JWK Set in this `FILE`")
			return func(ctx context.Context, s *session, args []string) error {
				if err := withoutStdin(args); err != nil {
					return err
				}
				if entry != "" || key != "" {
					return publishFeed(ctx, s, args, entry, reason, key)
				}
				verify, err := feedVerifier(jwks)
				if err != nil {
					return err
				}
				return s.each(ctx, args, func(ctx context.Context, word string) result { return readFeed(ctx, s, word, verify) })
			}
		},
	}
}

// feedVerifier returns a function that returns the feed in a file: the payload, if it has to be
// signed with one of some keys, as a policy with these keys verifies it.
func feedVerifier(jwks string) (func([]byte) ([]byte, error), error) {
	if jwks == "" {
		return func(content []byte) ([]byte, error) { return content, nil }, nil
	}
	keys, _, err := readKeys(jwks)
	if err != nil {
		return nil, err
	}
	return func(content []byte) ([]byte, error) {
		return policy.Feed{Keys: keys}.Verify(content, func(string) bool { return false })
	}, nil
}

// readFeed reads a feed from a file or a URL, and verifies its signature.
func readFeed(ctx context.Context, s *session, word string, verify func([]byte) ([]byte, error)) result {
	content, err := s.read(ctx, word)
	if err == nil {
		content, err = verify(content)
	}
	if err != nil {
		return refuse(err)
	}
	feed, err := dvs.ParseWithdrawals(content)
	if err != nil {
		return refusePolicy(err)
	}
	return acceptFeed(feed)
}

func acceptFeed(feed *dvs.Withdrawals) result {
	r := accept(feed, row{"sequence", fmt.Sprint(feed.Sequence)}, row{"entries", fmt.Sprint(len(feed.Entries))})
	for _, e := range feed.Entries {
		r.rows = append(r.rows, row{string(e.Kind), plaintext.Quote(e.Value, 200) + ", because " + plaintext.Quote(e.Reason, 200)})
	}
	return r
}
