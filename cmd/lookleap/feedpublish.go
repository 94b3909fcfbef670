package main

import (
	"context"
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io/fs"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/filestore"
)

// publishFeed adds an entry to a feed in a file, signs the feed, or both.
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
	host, err := s.Host()
	if err != nil {
		return err
	}
	return s.judge(ctx, args[0], func(context.Context) result {
		feed, content, err := storedFeed(args[0], entry == "")
		if err != nil {
			return refusePolicy(err)
		}
		if entry != "" {
			now := host.Time().UTC()
			added := dvs.Withdrawal{Kind: dvs.WithdrawalKind(kind), Value: value, Reason: reason, Time: now}
			if feed, err = feed.Add(added, now); err != nil {
				return refusePolicy(err)
			}
			if content, err = json.MarshalIndent(feed, "", "  "); err == nil {
				content = append(content, '\n')
				err = filestore.WriteWhole(args[0], content, 0o644, true)
			}
			if err != nil {
				return refuse(coded{lookleap.CodeIO, err})
			}
		}
		r := acceptFeed(feed)
		if keyFile != "" {
			keys, err := signFeed(args[0]+".jws", content, key)
			if err != nil {
				return refuse(err)
			}
			r.rows = append(r.rows, row{"signed", args[0] + ".jws"}, row{"key", key.ID}, row{"key set", string(keys)})
		}
		return r
	})
}

// storedFeed reads a feed from a file. A missing file is an empty feed unless it has to exist.
func storedFeed(name string, exists bool) (*dvs.Withdrawals, []byte, error) {
	content, err := readFile(name)
	if errors.Is(err, fs.ErrNotExist) && !exists {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	feed, err := dvs.ParseWithdrawals(content)
	return feed, content, err
}

// signFeed writes a signed feed, and returns the JWK Set that verifies it.
func signFeed(name string, content []byte, key aiuri.SigningKey) ([]byte, error) {
	ring, err := aiuri.NewKeyRing(key, aiuri.KeyRingOptions{})
	if err != nil {
		return nil, err
	}
	signed, err := aiuri.SignResult(content, key, aiuri.SignOptions{})
	if err != nil {
		return nil, err
	}
	if err := filestore.WriteWhole(name, []byte(signed.JWS+"\n"), 0o644, true); err != nil {
		return nil, coded{lookleap.CodeIO, err}
	}
	return ring.JWKS(), nil
}

// readSigningKey reads a private key in PEM form, as openssl writes it. Its name is derived from
// its public part, so that another key never has it.
func readSigningKey(name string) (aiuri.SigningKey, error) {
	content, err := readFile(name)
	if err != nil {
		return aiuri.SigningKey{}, err
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
			return aiuri.SigningKey{}, err
		}
		private, ok := parsed.(crypto.Signer)
		if !ok {
			return aiuri.SigningKey{}, errors.New("the key cannot sign; make one with openssl genpkey -algorithm ed25519")
		}
		public, err := x509.MarshalPKIXPublicKey(private.Public())
		if err != nil {
			return aiuri.SigningKey{}, err
		}
		sum := sha256.Sum256(public)
		return aiuri.SigningKey{ID: base64.RawURLEncoding.EncodeToString(sum[:]), Private: private}, nil
	}
	return aiuri.SigningKey{}, errors.New("the file has no private key in PEM form; make one with openssl genpkey -algorithm ed25519")
}
