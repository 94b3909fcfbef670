package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func feedCommand() command {
	return command{
		name:    "feed",
		args:    "FILE|URL… [--withdraw KIND=VALUE --reason TEXT]",
		summary: "what a revocation feed withdraws; or add an entry to a feed",
		about: `Reads revocation feeds as loaders do, and lists what they withdraw. A feed with a
fault is refused, with the place and how to fix it.

With --withdraw, it adds an entry to one FILE, with the next sequence number and
the time, and writes the file as a whole. A missing file begins a feed. KIND is
root, skill, digest or key; the value of a root is a trust root or a host. Serve
the file at a URL that the policy of your agents names: each process follows it
within 15 minutes, and within half a minute after another process of the same
store has seen it. Entries never leave a feed.

value: {"sequence", "updated", "withdrawn": [{"kind", "value", "reason", "time"}]}`,
		examples: []string{
			"lookleap feed https://example.com/withdrawn.json",
			`lookleap feed withdrawn.json --withdraw root=https://github.com/example-org/ --reason "the account was taken over"`,
		},
		build: func(flags *flag.FlagSet) action {
			var entry, reason string
			flags.StringVar(&entry, "withdraw", "", "add this `KIND=VALUE` to the feed")
			flags.StringVar(&reason, "reason", "", "why, as this `TEXT` for people")
			return func(ctx context.Context, s *session, args []string) error {
				if err := withoutStdin(args); err != nil {
					return err
				}
				if entry != "" {
					return withdraw(ctx, s, args, entry, reason)
				}
				return s.each(ctx, args, func(ctx context.Context, word string) result { return readFeed(ctx, s, word) })
			}
		},
	}
}

// readFeed reads a feed from a file or a URL.
func readFeed(ctx context.Context, s *session, word string) result {
	content, err := feedContent(ctx, s, word)
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

func feedContent(ctx context.Context, s *session, word string) ([]byte, error) {
	if !strings.Contains(word, "://") {
		return readFile(word)
	}
	u, err := domain.Parse(word)
	if err != nil {
		return nil, err
	}
	host, err := s.Host()
	if err != nil {
		return nil, err
	}
	resp, err := fetch.Do(ctx, host, &fetch.Request{URL: u, TrustEvidence: true, Limits: fetch.Limits{Body: 4 << 20}})
	if err != nil {
		return nil, err
	}
	if resp.Status != 200 {
		return nil, coded{lookleap.CodeBadStatus, fmt.Errorf("the status is %d", resp.Status)}
	}
	return resp.Body, nil
}

// withdraw adds an entry to a feed in a file.
func withdraw(ctx context.Context, s *session, args []string, entry, reason string) error {
	kind, value, ok := strings.Cut(entry, "=")
	switch {
	case len(args) != 1 || strings.Contains(args[0], "://"):
		return usagef("--withdraw changes one file: name it")
	case !ok:
		return usagef("--withdraw needs KIND=VALUE, such as root=https://github.com/example-org/")
	case reason == "":
		return usagef("--withdraw needs --reason, which is shown to the users")
	}
	host, err := s.Host()
	if err != nil {
		return err
	}
	return s.judge(ctx, args[0], func(context.Context) result {
		var feed *dvs.Withdrawals
		content, err := readFile(args[0])
		if err == nil {
			feed, err = dvs.ParseWithdrawals(content)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return refusePolicy(err)
		}
		now := host.Time().UTC()
		next, err := feed.Add(dvs.Withdrawal{Kind: dvs.WithdrawalKind(kind), Value: value, Reason: reason, Time: now}, now)
		if err != nil {
			return refusePolicy(err)
		}
		data, err := json.MarshalIndent(next, "", "  ")
		if err == nil {
			err = replaceWhole(args[0], append(data, '\n'))
		}
		if err != nil {
			return refuse(coded{lookleap.CodeIO, err})
		}
		return acceptFeed(next)
	})
}

// replaceWhole writes a file, all of it or nothing.
func replaceWhole(name string, content []byte) error {
	beside, err := os.CreateTemp(filepath.Dir(name), ".lookleap-*")
	if err != nil {
		return err
	}
	defer os.Remove(beside.Name()) // after the renaming there is nothing to remove
	_, err = beside.Write(content)
	if err = errors.Join(err, beside.Chmod(0o644), beside.Sync(), beside.Close()); err != nil {
		return err
	}
	return os.Rename(beside.Name(), name)
}
