package dnssec_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/test/zone"
)

func ExampleResolver_Lookup() {
	now := func() time.Time { return time.Unix(1.7e9, 0) }
	root := zone.New(".").Sign(zone.Signing{})
	server := zone.NewServer(now, root,
		zone.New("com").Sign(zone.Signing{NSEC3: &zone.NSEC3{OptOut: true}}),
		zone.New("example.com").Sign(zone.Signing{}).TXT("_anml", "v=anml1; ", "manifest=https://example.com/m"),
		zone.New("expired.com").Sign(zone.Signing{From: -48 * time.Hour, Till: -24 * time.Hour}).TXT("_anml", "v=anml1"),
		zone.New("unsigned.com").TXT("_anml", "v=anml1"),
	)
	r, err := dnssec.New(dnssec.Options{
		Anchors: root.Anchor(), Now: now, Servers: []string{"192.0.2.53"}, DialContext: zone.Dial(server),
	})
	if err != nil {
		panic(err)
	}
	defer r.Close()
	for _, name := range []string{"_anml.example.com", "nothing.example.com", "_anml.unsigned.com", "_anml.expired.com"} {
		result, err := r.Lookup(context.Background(), name, dns.TypeTXT)
		var bogus *dnssec.BogusError
		switch {
		case errors.As(err, &bogus):
			fmt.Printf("%s: bogus in zone %s (EDE %d)\n", name, bogus.Zone, bogus.EDE)
		case err != nil:
			fmt.Println(name, err)
		case len(result.Records) == 0:
			fmt.Printf("%s: %s absence for %v\n", name, result.State, result.TTL)
		default:
			fmt.Printf("%s: %s %q\n", name, result.State, result.Records[0].Text)
		}
	}
	// Output:
	// _anml.example.com: secure "v=anml1; manifest=https://example.com/m"
	// nothing.example.com: secure absence for 5m0s
	// _anml.unsigned.com: insecure "v=anml1"
	// _anml.expired.com: bogus in zone expired.com (EDE 7)
}
