package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/lookleap/lookleap/aiuri"
)

// Limits of the server. The last one is what the others add up to for a call that
// began just before the end, with time for its answer.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second // of header and body
	callTimeout   = 10 * time.Second
	endTimeout    = headerTimeout + readTimeout + callTimeout + 5*time.Second
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("gateway", flag.ContinueOnError)
	address := flags.String("listen", "localhost:8443", "serve at this `HOST:PORT` of this machine; port 0 takes a free one")
	dir := flags.String("dir", "", "write ca.pem and keys.json into this `DIRECTORY`; empty: a temporary one, removed at the end")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	}
	if *dir == "" {
		made, err := os.MkdirTemp("", "lookleap-gateway-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(made)
		*dir = made
	}

	bank, err := openBank()
	if err != nil {
		return err
	}
	defer bank.close()
	handler, err := aiuri.NewGateway(bank.net.Host(), aiuri.GatewayOptions{
		Base:       "https://ai.example/gateway", // under whatever name it is reached, the path counts
		Authorizer: sessions{"ada": {"initiate-payment", "check-balance"}, "bob": {"check-balance"}},
		Invoker:    bank,
		Scopes:     scopes,
		// Tokens go to these authorities only.
		Credentials: []string{"bank.example"},
		Safe:        func(u aiuri.URI) bool { return u.Path() == "/balance" },
		Timeout:     callTimeout,
		Audit:       func(r aiuri.AuditRecord) { fmt.Fprintf(out, "%s %d %s\n", r.Endpoint, r.Status, r.Code) },
	})
	if err != nil {
		return err
	}
	certificate, pem, err := selfSigned("localhost")
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"ca.pem": pem, "keys.json": bank.ring.JWKS()} {
		if err := os.WriteFile(filepath.Join(*dir, name), content, 0o600); err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	tell(out, *dir, port)
	return serve(ctx, listener, &http.Server{
		Handler:           handler, // no http.ServeMux: it would clean paths before the gateway can refuse them
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13},
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      time.Minute, // the gateway's own limit, and time for the answer
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    32 << 10,
	})
}

// serve answers until ctx ends, and then lets each call that is under way end within its
// own timeout.
func serve(ctx context.Context, listener net.Listener, server *http.Server) error {
	failed := make(chan error, 1)
	go func() { failed <- server.ServeTLS(listener, "", "") }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := server.Shutdown(end); err != nil {
		return errors.Join(err, server.Close())
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// tell says where it serves and what to try.
func tell(out io.Writer, dir, port string) {
	ca, keys := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "keys.json")
	base := "https://localhost:" + port + "/gateway"
	fmt.Fprintf(out, "gateway: %s\n", base)
	for _, try := range []struct{ what, args string }{
		{"a payment, with its signature", "-D - -H 'Authorization: Bearer ada' -d '{\"amount\":\"10.00\"}' " + base + "/bank.example/payments"},
		{"what has no effect may be read", "-H 'Authorization: Bearer bob' " + base + "/bank.example/balance"},
		{"bob may not pay", "-H 'Authorization: Bearer bob' -d '{}' " + base + "/bank.example/payments"},
		{"without a token, nothing is allowed", "-d '{}' " + base + "/bank.example/payments"},
		{"an answer that the bank did not sign", "-H 'Authorization: Bearer ada' -d '{}' " + base + "/bank.example/forged"},
		{"a path that reads as two", "--path-as-is -H 'Authorization: Bearer ada' -d '{}' " + base + "/bank.example/../other.example/x"},
	} {
		fmt.Fprintf(out, "\n# %s\ncurl --cacert %s %s\n", try.what, ca, try.args)
	}
	fmt.Fprintf(out, "\n# the bank's keys, to verify again: lookleap jws RECEIPT --jwks %s --payload BODY\n\n", keys)
}
