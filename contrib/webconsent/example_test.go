package webconsent_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/webconsent"
)

func Example() {
	prompter, err := webconsent.New(webconsent.Options{})
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- prompter.Serve(ctx, listener) }()

	host := &lookleap.Host{Prompter: prompter} // every question is asked in the browser now
	defer host.Close()
	link := prompter.Link("http://" + listener.Addr().String())
	fmt.Println("Open", link[:strings.Index(link, "1:")+2]+"…")

	cancel()
	fmt.Println(<-done)
	// Output:
	// Open http://127.0.0.1:…
	// <nil>
}
