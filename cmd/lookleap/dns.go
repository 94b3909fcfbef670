package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func dnsCommand() command {
	return command{
		name:    "dns",
		args:    "NAME [TYPE]",
		summary: "what the DNS says about a name, and whether that can be trusted",
		about: `Looks up a name, A unless another TYPE is given (a mnemonic such as TXT, or TYPE and a number), and
validates the answer from the root's keys down, whichever server gave it. An absence is an answer.
What fails validation is refused with the code dnssec-bogus, and a lookup that
could not find out with dns-error.

value: {
  "name":     the owner of the records, after aliases
  "type":     the type
  "records":  texts; an SRV record as "PRIORITY WEIGHT PORT TARGET", other types as in a zone file
  "exists":   whether the name exists
  "ttl":      seconds for which this may be used
  "dnssec":   secure, insecure or indeterminate
  "chain":    [{"zone", "dnssec", "keyTag", "algorithm", "reason"}] from the root down
}
of a bogus answer: {"zone": the zone that failed, "ede": extended DNS error code}`,
		examples: `lookleap dns _anml.example.com TXT
lookleap --json dns example.com AAAA --dns tls://192.0.2.53:853
lookleap dns shop.example --dns 127.0.0.1:5300 --anchor root.ds`,
		build: func(*flag.FlagSet) action {
			return func(ctx context.Context, s *session, args []string) error {
				if len(args) == 0 || len(args) > 2 {
					return usagef("give a name and perhaps a type")
				}
				if err := withoutStdin(args); err != nil {
					return err
				}
				rrtype, err := parseType(append(args, "A")[1])
				if err != nil {
					return err
				}
				return s.judge(ctx, strings.Join(args, " "),
					func(ctx context.Context, _ string) result { return judgeDNS(ctx, s.host, args[0], rrtype) })
			}
		},
	}
}

// parseType reads a mnemonic, or "TYPE" and a number (RFC 3597 section 5).
func parseType(text string) (lookleap.RRType, error) {
	upper := strings.ToUpper(text)
	if number, ok := dns.StringToType[upper]; ok {
		return lookleap.RRType(number), nil
	}
	if digits, ok := strings.CutPrefix(upper, "TYPE"); ok {
		if number, err := strconv.ParseUint(digits, 10, 16); err == nil {
			return lookleap.RRType(number), nil
		}
	}
	return 0, usagef("%q is not a type of DNS records", text)
}

type dnsValue struct {
	Name    string              `json:"name"`
	Type    string              `json:"type"`
	Records []string            `json:"records"`
	Exists  bool                `json:"exists"`
	TTL     int                 `json:"ttl"`
	DNSSEC  lookleap.DNSSEC     `json:"dnssec"`
	Chain   []lookleap.ZoneLink `json:"chain"`
}

// judgeDNS accepts whatever the DNS says, unless it is forged.
func judgeDNS(ctx context.Context, host *lookleap.Host, name string, t lookleap.RRType) result {
	asked := name
	if name != "." {
		asked = strings.TrimSuffix(name, ".")
	}
	answer, err := host.Lookup(ctx, asked, t)
	var bogus *lookleap.BogusError
	switch {
	case errors.As(err, &bogus):
		return result{Code: lookleap.CodeDNSSECBogus, Message: bogus.Reason, Value: map[string]any{"zone": bogus.Zone, "ede": bogus.EDE},
			rows: []row{{"zone", bogus.Zone}, {"EDE", fmt.Sprint(bogus.EDE)}}}
	case err != nil:
		return refuse(err)
	}
	value := dnsValue{
		Name: answer.Name, Type: dns.Type(t).String(), Records: []string{}, Exists: answer.Exists,
		TTL: int(answer.TTL / time.Second), DNSSEC: answer.DNSSEC, Chain: append([]lookleap.ZoneLink{}, answer.Chain...),
	}
	r := accept(nil, row{"dnssec", answer.DNSSEC.String()}, row{"ttl", answer.TTL.String()})
	if answer.Name != name {
		r.row("name", answer.Name)
	}
	for _, record := range answer.Records {
		text := record.Text
		if srv := record.SRV; srv != nil {
			text = fmt.Sprintf("%d %d %d %s.", srv.Priority, srv.Weight, srv.Port, srv.Target)
		} else if record.Addr.IsValid() {
			text = record.Addr.String()
		}
		value.Records = append(value.Records, text)
		r.row(value.Type, plaintext.Quote(text, maxShown))
	}
	for _, link := range answer.Chain {
		text := link.Zone + " " + link.DNSSEC.String()
		if link.Reason != "" {
			text += ": " + link.Reason
		}
		r.row("zone", text)
	}
	switch {
	case !answer.Exists:
		r.Message = "the name does not exist"
	case len(answer.Records) == 0:
		r.Message = "the name has no record of this type"
	}
	r.Value = value
	return r
}
