package main

import (
	"cmp"
	"context"
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"strings"

	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/contrib/policy"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/filestore"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func policyCommand(*flag.FlagSet) action {
	return func(ctx context.Context, s *session, args []string) error {
		if len(args) == 0 {
			return usagef("name a policy file")
		}
		var rules *policy.Policy
		err := s.judge(ctx, args[0], func(_ context.Context, file string) result {
			var err error
			if rules, err = policy.Load(file); err != nil {
				return refuse(err)
			}
			return explainPolicy(rules)
		})
		return errors.Join(err, s.each(ctx, args[1:], func(_ context.Context, url string) result {
			if err := rules.Check(url); err != nil {
				return refuse(err)
			}
			return accept(map[string]string{"url": url}, row{"policy", "allows it"})
		}))
	}
}

func explainPolicy(p *policy.Policy) result {
	type value struct {
		Name  string               `json:"name"`
		Files []policy.Explanation `json:"files"`
	}
	r := accept(value{p.Name(), p.Explain()}, row{"policy", plaintext.Quote(p.Name(), 200)})
	for _, file := range p.Explain() {
		for _, sentence := range file.Sentences {
			r.row(plaintext.Quote(file.Name, 14), sentence)
		}
	}
	return r
}

func feedCommand(flags *flag.FlagSet) action {
	var entry, reason, key, jwks string
	flags.StringVar(&entry, "withdraw", "", "add this `KIND=VALUE` to the feed")
	flags.StringVar(&reason, "reason", "", "why, as this `TEXT` for people")
	flags.StringVar(&key, "sign", "", "sign the feed with the private key in this PEM `FILE`")
	flags.StringVar(&jwks, "jwks", "", "the keys of signed feeds, a JWK Set in this `FILE`")
	return func(ctx context.Context, s *session, args []string) error {
		if entry != "" || key != "" {
			return publishFeed(ctx, s, args, entry, reason, key)
		}
		verify := func(content []byte) ([]byte, error) { return content, nil }
		if jwks != "" { // as a policy with these keys does
			keys, _, err := readKeys(jwks)
			if err != nil {
				return err
			}
			verify = func(content []byte) ([]byte, error) {
				return policy.Feed{Keys: keys}.Verify(content, func(string) bool { return false })
			}
		}
		return s.words(ctx, args, func(ctx context.Context, word string) result {
			content, err := s.read(ctx, word)
			if err == nil {
				content, err = verify(content)
			}
			if err != nil {
				return refuse(err)
			}
			feed, err := dvs.ParseWithdrawals(content)
			if err != nil {
				return refuse(err)
			}
			return acceptFeed(feed)
		})
	}
}

func acceptFeed(feed *dvs.Withdrawals) result {
	r := accept(feed, row{"sequence", fmt.Sprint(feed.Sequence)}, row{"entries", fmt.Sprint(len(feed.Entries))})
	for _, e := range feed.Entries {
		r.row(string(e.Kind), plaintext.Quote(e.Value, 200)+", because "+plaintext.Quote(e.Reason, 200))
	}
	return r
}

func publishFeed(ctx context.Context, s *session, args []string, entry, reason, keyFile string) error {
	kind, value, ok := strings.Cut(entry, "=")
	switch {
	case len(args) != 1 || strings.Contains(args[0], "://"):
		return usagef("--withdraw and --sign change one file: name it")
	case entry != "" && !ok:
		return usagef("--withdraw needs KIND=VALUE, such as root=https://github.com/example-org/")
	case entry != "" && reason == "":
		return usagef("--withdraw needs --reason, which is shown to the users")
	}
	var key aiuri.SigningKey
	if keyFile != "" {
		var err error
		if key, err = readSigningKey(keyFile); err != nil {
			return usagef("--sign: %v", err)
		}
	}
	return s.judge(ctx, args[0], func(_ context.Context, file string) result {
		var feed *dvs.Withdrawals // a missing file begins a feed
		content, err := readFile(file)
		if err == nil {
			feed, err = dvs.ParseWithdrawals(content)
		}
		if err != nil && (entry == "" || !errors.Is(err, fs.ErrNotExist)) {
			return refuse(err)
		}
		if entry != "" {
			now := s.host.Time().UTC()
			added := dvs.Withdrawal{Kind: dvs.WithdrawalKind(kind), Value: value, Reason: reason, Time: now}
			if feed, err = feed.Add(added, now); err != nil {
				return refuse(err)
			}
			if content, err = json.MarshalIndent(feed, "", "  "); err == nil {
				content = append(content, '\n')
				err = filestore.WriteWhole(file, content, 0o644, true)
			}
			if err != nil {
				return refuse(ioError{err})
			}
		}
		r := acceptFeed(feed)
		if keyFile != "" {
			ring, err := aiuri.NewKeyRing(key, aiuri.KeyRingOptions{})
			signed, failed := aiuri.SignResult(content, key, aiuri.SignOptions{})
			if err := cmp.Or(err, failed); err != nil {
				return refuse(err)
			}
			if err := filestore.WriteWhole(file+".jws", []byte(signed.JWS+"\n"), 0o644, true); err != nil {
				return refuse(ioError{err})
			}
			r.rows = append(r.rows, row{"signed", file + ".jws"}, row{"key", key.ID}, row{"key set", string(ring.JWKS())})
		}
		return r
	})
}

// readSigningKey reads a private key in PEM form, as openssl writes it. Its name is derived from
// its public part, so that another key never has it.
func readSigningKey(name string) (key aiuri.SigningKey, err error) {
	content, err := readFile(name)
	if err != nil {
		return key, err
	}
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		var parsed any
		switch block.Type {
		case "PRIVATE KEY":
			parsed, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			parsed, err = x509.ParseECPrivateKey(block.Bytes)
		default: // such as EC PARAMETERS
			continue
		}
		if err != nil {
			return key, err
		}
		private, ok := parsed.(crypto.Signer)
		if !ok {
			return key, errors.New("the key cannot sign; make one with openssl genpkey -algorithm ed25519")
		}
		public, err := x509.MarshalPKIXPublicKey(private.Public())
		sum := sha256.Sum256(public)
		return aiuri.SigningKey{ID: base64.RawURLEncoding.EncodeToString(sum[:]), Private: private}, err
	}
	return key, errors.New("the file has no private key in PEM form; make one with openssl genpkey -algorithm ed25519")
}
