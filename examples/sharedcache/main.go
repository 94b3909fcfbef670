package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
	"github.com/redis/go-redis/v9"
)

func main() {
	address := flag.String("redis", "localhost:6379", "host and port of a Redis server")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *address); err != nil {
		fmt.Fprintln(os.Stderr, "sharedcache:", err)
		os.Exit(1)
	}
}

// run lets two agents ask whether a shop may speak for a brand, and then lets
// one of them find out that it may no longer.
func run(ctx context.Context, out io.Writer, address string) error {
	client := redis.NewClient(&redis.Options{Addr: address})
	defer client.Close()
	if err := client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("no Redis server at %s: %w", address, err)
	}
	// A writer of the cache could grant trust, so the entries are sealed
	// with a key that all agents of the fleet have.
	key := make([]byte, lookleap.MinKeyLen)
	rand.Read(key)
	cache, err := lookleap.SealedCache(redisCache{client, "demo-" + rand.Text() + "/"}, key)
	if err != nil {
		return err
	}

	net := lookleaptest.NewInternet() // a small internet in this process: a brand with a query endpoint
	defer net.Close()
	net.Name("_anml.brand.example").TXT("v=anml1;query=https://trust.example/authorize").TTL(time.Hour)
	endpoint := net.Site("trust.example")
	endpoint.File("/authorize", "application/json",
		fmt.Sprintf(`{"authorized":true,"tier":2,"scope":["body","interact"],"expires":%q}`, net.Clock().Now().Add(24*time.Hour).Format(time.RFC3339)))

	agent := func() *anmltrust.Verifier {
		host := net.Host()
		host.Cache = cache
		return anmltrust.NewVerifier(host, anmltrust.Options{})
	}
	first, second := agent(), agent()
	claim := anmltrust.Claim{URL: "https://shop.example/product", Site: "brand.example"}
	tell := func(who string, a *anmltrust.Authorization, err error) {
		asked := len(net.Journal().Requests("trust.example"))
		if err != nil {
			fmt.Fprintf(out, "%s: %s; the site was asked %d times\n", who, lookleap.CodeOf(err), asked)
			return
		}
		fmt.Fprintf(out, "%s: tier %d for %s, found out before: %v; the site was asked %d times\n", who, a.Tier, a.Scope, a.Cached, asked)
	}

	a, err := first.Verify(ctx, claim)
	tell("first agent", a, err)
	a, err = second.Verify(ctx, claim)
	tell("second agent", a, err)

	endpoint.Status("/authorize", 404) // the brand ends it
	a, err = first.VerifyFresh(ctx, claim)
	tell("first agent, before it acts", a, err)
	net.Clock().Advance(time.Minute) // as long as a shared grant is held without looking
	a, err = second.Verify(ctx, claim)
	tell("second agent, a minute later", a, err)
	return nil
}
