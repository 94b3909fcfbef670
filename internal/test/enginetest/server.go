package enginetest

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// startTime is the longest time that a server may take to start. It only ends a test that hangs.
const startTime = 2 * time.Minute

// Process is a running server.
type Process struct {
	*os.Process
	ended chan struct{}
}

// Start starts a server and waits until ready returns nil. It fails the test as soon as the process
// ends. What the process writes has to go into a file.
func Start(t testing.TB, command *exec.Cmd, ready func() error) *Process {
	t.Helper()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	p := &Process{command.Process, make(chan struct{})}
	go func() {
		_ = command.Wait()
		close(p.ended)
	}()
	late := time.After(startTime)
	for {
		err := ready()
		if err == nil {
			return p
		}
		select {
		case <-p.ended:
			t.Fatalf("the server ends with %v", command.ProcessState)
		case <-late:
			p.End(os.Kill)
			t.Fatalf("the server does not start: %v", err)
		case <-time.After(25 * time.Millisecond): // nothing tells when a server listens
		}
	}
}

// End sends a signal that ends the process, and waits until it has ended.
func (p *Process) End(signal os.Signal) {
	_ = p.Signal(signal)
	<-p.ended
}
