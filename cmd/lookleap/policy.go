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
	"os"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/contrib/policy"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/filestore"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func policyCommand(ctx context.Context, s *session, args []string) error {
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

// readSigningKey reads a private key as openssl writes it. Its name is the digest of the public key.
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

func agentstxtCommand(flags *flag.FlagSet) action {
	var paths repeated
	options := policyFlags(flags)
	flags.Var(&paths, "path", "decide about this `PATH`; may be repeated")
	var write bool
	flags.BoolVar(&write, "write", false, "with sign: put the signed file in the place of the old one")
	return func(ctx context.Context, s *session, args []string) error {
		if args[0] == "sign" {
			return signPolicies(ctx, s, args[1:], write)
		}
		return s.each(ctx, args, func(ctx context.Context, arg string) result {
			return judgePolicy(ctx, s, arg, options(), paths)
		})
	}
}

// policyFlags adds flags about the policies of sites. The result returns the options after parsing.
func policyFlags(flags *flag.FlagSet) func() agentstxt.Options {
	var o agentstxt.Options
	var web, ignore bool
	var token string
	flags.BoolVar(&web, "web", false, "the preset for the web as it is: ignore files of other formats and obey robots.txt")
	flags.StringVar(&token, "robots", "", "obey robots.txt too, as the program with this `TOKEN`")
	flags.BoolVar(&ignore, "foreign-ignore", false, "treat files of other formats with this name as no policy")
	flags.BoolVar(&o.Strict, "strict", false, "restrict also where an answer is probably no policy")
	return func() agentstxt.Options {
		if token == "" && web {
			token = agentToken
		}
		if token != "" {
			o.Robots.Tokens = []string{token}
		}
		if web || ignore {
			o.Foreign = agentstxt.ForeignIgnore
		}
		return o
	}
}

// agentToken is the product token under which robots.txt is read, as an agent does.
const agentToken = "lookleap"

func judgePolicy(ctx context.Context, s *session, arg string, o agentstxt.Options, paths []string) result {
	if scheme, _, ok := strings.Cut(strings.ToLower(arg), "://"); ok && (scheme == "https" || scheme == "http") {
		client := agentstxt.NewClient(s.host, o)
		policy, err := client.Policy(ctx, arg)
		if err != nil {
			return refuse(err)
		}
		r := showPolicy(policy.Report(paths...), policy.Err())
		if len(o.Robots.Tokens) == 0 || !r.OK {
			return r
		}
		robots, err := client.Robots(ctx, arg)
		if err != nil {
			return refuse(err)
		}
		return showRobots(r, robots, paths)
	}
	return s.content(func(content []byte) result {
		policy := agentstxt.Judge(agentstxt.Response{Status: 200, ContentType: "text/plain", Body: content}, o)
		r := showPolicy(policy.Report(paths...), policy.Err())
		_, err := agentstxt.Sign(content)
		for i := range r.Findings {
			if r.Findings[i].Code == agentstxt.CodeHashMissing && arg != "-" && err == nil {
				r.Findings[i].Fix = "lookleap agentstxt sign " + plaintext.Line(arg) + " --write"
			}
		}
		return r
	})(ctx, arg)
}

func showPolicy(report agentstxt.Report, err error) result {
	r := accept(report)
	var bad *lookleap.Error
	if errors.As(err, &bad) {
		shown := *bad
		shown.Subject = "" // it is the input
		var status *lookleap.ResponseError
		if errors.Is(err, agentstxt.ErrMalformed) || errors.As(err, &status) && status.Err == nil {
			shown.Err = nil // the message says it
		}
		if hash := new(agentstxt.HashMismatch); errors.As(err, &hash) && hash.Hint != "" {
			shown.Fix += "; hint: " + hash.Hint
		}
		if bad.Code == agentstxt.CodeForeignFormat {
			shown.Fix = "add --web to ignore such files and obey robots.txt"
		}
		r = refuse(&shown)
	} else if err != nil {
		r = refuse(err)
	}
	r.OK, r.Code, r.Value = report.State != agentstxt.Restricted, report.Reason, report
	r.rows = []row{{"state", report.State.String()}, {"directives", fmt.Sprint(len(report.Directives))}}
	if report.Integrity != "" {
		r.rows = append(r.rows, row{"integrity", report.Integrity})
	}
	for _, d := range report.Decisions {
		r.rows = append(r.rows, row{plaintext.Quote(d.Path, 60), d.String()})
	}
	return r.with(report.Findings...)
}

func showRobots(r result, robots *agentstxt.RobotsFile, paths []string) result {
	r.rows = append(r.rows, row{"robots.txt", plaintext.Plural(robots.Len(), "rule", "rules")})
	if err := robots.Err(); err != nil {
		r.rows = append(r.rows, row{"robots.txt", plaintext.Line(err.Error())})
	}
	if delay := robots.CrawlDelay(); delay > 0 {
		r.rows = append(r.rows, row{"crawl delay", delay.String()})
	}
	if usage := robots.Usage("/"); !usage.IsZero() {
		r.rows = append(r.rows, row{"usage", usage.String()})
	}
	for _, path := range paths {
		r.rows = append(r.rows, row{"robots.txt", robots.Decide(path).String()})
	}
	return r.with(robots.Findings()...)
}

// signPolicies writes a file as a whole or not at all. In a pipeline it prints the file alone.
func signPolicies(ctx context.Context, s *session, files []string, write bool) error {
	if slices.Equal(files, []string{"-"}) && !s.options.json && !isTerminal(s.stdout) {
		refused := newPrinter(s.stderr, false, s.options.noColor)
		s.printer = func(r result) error {
			if !r.OK {
				return refused(r)
			}
			_, err := s.stdout.Write(r.product)
			return err
		}
	}
	if len(files) == 0 {
		return usagef("give at least one file, or - for standard input")
	}
	return s.each(ctx, files, func(ctx context.Context, name string) result {
		return s.content(func(content []byte) result {
			signed, err := agentstxt.Sign(content)
			if err != nil {
				return refuse(err)
			}
			if write && name != "-" {
				info, err := os.Stat(name)
				if err == nil {
					err = filestore.WriteWhole(name, signed, info.Mode().Perm(), true)
				}
				if err != nil {
					return refuse(ioError{err})
				}
			}
			r := accept(map[string]string{"file": string(signed)}, linesOf(string(signed))...)
			r.product = signed
			return r
		})(ctx, name)
	})
}
