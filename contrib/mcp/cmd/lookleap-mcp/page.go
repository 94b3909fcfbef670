package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/lookleap/lookleap/contrib/webconsent"
)

// page is the page on which the person decides if the client cannot ask. It is served from the first
// question on.
type page struct {
	prompter *webconsent.Prompter
	stderr   io.Writer
	open     bool // in a browser

	mu      sync.Mutex
	address string
	opened  time.Time
}

// where returns what the client is told about the page, which is served until ctx ends. With --open the
// link goes to the browser only: a model that can open links could otherwise decide itself.
func (p *page) where(ctx context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.address == "" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", err
		}
		p.address = "http://" + l.Addr().String()
		go func() { _ = p.prompter.Serve(ctx, l) }() // the client sees that the page is not there
	}
	link := p.prompter.Link(p.address)
	fmt.Fprintln(p.stderr, "lookleap-mcp proxy: decide at", link)
	if !p.open {
		return link + " (this link works once, within 15 minutes; the next call has a new one)", nil
	}
	if time.Since(p.opened) > time.Minute {
		p.opened = time.Now()
		if err := openBrowser(link); err != nil {
			fmt.Fprintln(p.stderr, "lookleap-mcp proxy: the browser cannot be opened:", err)
		}
	}
	return "it was opened in the browser; its link is on the standard error of lookleap-mcp", nil
}

// openBrowser opens a link with the program of the system.
func openBrowser(link string) error {
	command := []string{"xdg-open", link}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open", link}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", link}
	}
	c := exec.Command(command[0], command[1:]...)
	if err := c.Start(); err != nil {
		return err
	}
	go func() { _ = c.Wait() }()
	return nil
}
