package hostflags

import (
	"flag"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
)

// Flags are the values of the flags. The zero value builds the zero Host.
type Flags struct {
	DNS          []string  // servers to ask, as in [lookleap.ResolverOptions]
	Anchor       string    // a file of DS or DNSKEY records
	CA           string    // a file of certificates in PEM form
	SuffixList   string    // a Public Suffix List, which is used next to the built-in one
	Connect      string    // HOST:PORT that every connection goes to
	Proxy        string    // URL of a forward proxy, or "env": that of HTTPS_PROXY and NO_PROXY
	ProxyByName  bool      // ask the proxy for names, see [lookleap.FetcherOptions]
	Allow        []string  // PREFIX=HOST[,HOST…]: ranges that are open for some hosts
	AllowPrivate bool      // private addresses and any port
	Dev          bool      // development mode
	At           time.Time // the time; zero: now
	Streams      bool      // no limit for the time and rate of a response, for servers that send events; no flag sets it

	site *devSite // what Dev is about
}

// Declare declares the flags in a set.
func (f *Flags) Declare(set *flag.FlagSet) {
	set.Var((*list)(&f.DNS), "dns", "ask this `ADDR` instead of the system's servers: HOST:PORT, udp://HOST:PORT, tls://HOST:PORT or https://HOST/PATH; may be repeated")
	set.StringVar(&f.Anchor, "anchor", "", "trust the DS or DNSKEY records in this `FILE` instead of IANA's root keys")
	set.StringVar(&f.CA, "ca", "", "trust the certificates in this PEM `FILE` instead of the system's")
	set.StringVar(&f.SuffixList, "public-suffix-list", "",
		"use the Public Suffix List in this `FILE` next to the built-in one of "+lookleap.PublicSuffixDate)
	set.StringVar(&f.Connect, "connect", "", "send every connection to this `HOST:PORT`; without --dns, names are not looked up for it")
	set.StringVar(&f.Proxy, "proxy", "", "go through the proxy at this `URL` (http, https or socks5), or with \"env\" through that of HTTPS_PROXY and NO_PROXY")
	set.BoolVar(&f.ProxyByName, "proxy-by-name", false, "ask the proxy for names and not for checked addresses; where it connects to is then not known")
	set.Var((*list)(&f.Allow), "allow", "allow addresses that are not public for some hosts: `PREFIX=HOST` such as 10.0.0.0/8=*.corp.example, hosts separated by commas; may be repeated")
	set.BoolVar(&f.AllowPrivate, "allow-private", false, "allow private addresses and any port, for test beds")
	set.BoolVar(&f.Dev, "dev", false, "development mode: take localhost, IP addresses and http URLs, and say what is not checked")
	set.Func("at", "judge as of this `TIME`, for instance 2026-01-02T15:04:05Z, instead of now", func(text string) (err error) {
		f.At, err = time.Parse("2006-01-02T15:04:05Z", text)
		return err
	})
}

// Now returns the time of [Flags.At], or the current time.
func (f *Flags) Now() time.Time {
	if f.At.IsZero() {
		return time.Now()
	}
	return f.At
}

// list is a flag that can be repeated.
type list []string

func (l *list) String() string { return strings.Join(*l, " ") }

// Set adds one value.
func (l *list) Set(value string) error {
	*l = append(*l, value)
	return nil
}

func usage(message, fix string) error {
	return &lookleap.Error{Code: lookleap.CodeUsage, Message: message, Fix: fix}
}
