package main

import (
	"strings"

	"github.com/lookleap/lookleap"
)

// newResolver asks the servers of --dns and trusts the keys of --anchor; without
// either it is nil, the Host's own resolver. An https server is reached the way
// that web sites are. Its error is wrong usage.
func (o *options) newResolver(web lookleap.FetcherOptions) (lookleap.Resolver, error) {
	if len(o.dns) == 0 && o.anchor == "" {
		return nil, nil
	}
	var anchors string
	if o.anchor != "" {
		text, err := readFile(o.anchor)
		if err != nil {
			return nil, usagef("--anchor: %v", err)
		}
		if anchors = strings.TrimSpace(string(text)); anchors == "" {
			return nil, usagef("--anchor: %s holds no record", o.anchor) // no text would mean IANA's keys
		}
	}
	web.Resolver = lookleap.NetResolver(nil) // the server's own name cannot be looked up through the server
	r, err := lookleap.NewResolver(lookleap.ResolverOptions{
		Servers: o.dns, Anchors: anchors, RootCAs: web.RootCAs, Now: o.now, Fetcher: lookleap.NewFetcher(web),
	})
	if err != nil {
		return nil, usagef("%s: %v", o.resolverFlag(), err)
	}
	return r, nil
}

// resolverFlag names the flag to look at when the resolver cannot be built.
func (o *options) resolverFlag() string {
	if len(o.dns) == 0 {
		return "--anchor"
	}
	return "--dns"
}
