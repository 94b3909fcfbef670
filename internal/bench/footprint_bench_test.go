package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/lookleaptest"
)

// Programs that use a package as an agent does. They do it only if they get no
// argument, but the linker cannot know.
const (
	bareProgram = `package main

import (
	"net/http"
	"os"
)

func main() {
	if len(os.Args) > 1 {
		return
	}
	_, _ = http.Get("https://example.com/")
}
`
	guardProgram = `package main

import (
	"net/http"
	"os"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
)

func main() {
	if len(os.Args) > 1 {
		return
	}
	client := &http.Client{Transport: agentstxt.Guard(&lookleap.Host{})}
	_, _ = client.Get("https://example.com/")
}
`
	agentProgram = `package main

import (
	"context"
	"os"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
)

func main() {
	if len(os.Args) > 1 {
		return
	}
	session, err := agent.New(&lookleap.Host{}, agent.Options{}).NewSession(agent.User{})
	if err != nil {
		return
	}
	page, err := session.Discover(context.Background(), "https://example.com")
	if err != nil {
		return
	}
	page.Decide(context.Background())
	_, _ = page.Do(context.Background(), agent.Call{Action: "book"})
}
`
)

// BenchmarkImport runs programs that import a package, or use one ("used/"). It
// reports the size of the stripped program, and what all packages together do before
// main. The linker drops most of what only calls would use, so the size of a program
// that only imports is the least that an import costs.
func BenchmarkImport(b *testing.B) {
	initialised := regexp.MustCompile(`(?m)^init \S+ @\S+ ms, (\S+) ms clock, (\d+) bytes`)
	dir, err := os.MkdirTemp(".", "import-") // inside the module, so that its dependencies are known
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	const module = "github.com/lookleap/lookleap"
	imports := func(path string) string { return "package main\n\nimport _ \"" + path + "\"\n\nfunc main() {}\n" }
	for name, program := range map[string]string{
		"bare=net/http": imports("net/http"), "lookleap": imports(module), "agentstxt": imports(module + "/agentstxt"), "aiuri": imports(module + "/aiuri"),
		"anml": imports(module + "/anml"), "anml-agent": imports(module + "/anml/agent"), "anmltrust": imports(module + "/anmltrust"),
		"dvs": imports(module + "/dvs"), "wellknown": imports(module + "/wellknown"),
		"used/bare=net/http": bareProgram, "used/guard": guardProgram, "used/agent": agentProgram,
	} {
		b.Run(name, func(b *testing.B) {
			source, binary := filepath.Join(dir, "main.go"), filepath.Join(b.TempDir(), "program")
			if err := os.WriteFile(source, []byte(program), 0o644); err != nil {
				b.Fatal(err)
			}
			if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, source).CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			file, err := os.Stat(binary)
			if err != nil {
				b.Fatal(err)
			}
			var clock, octets float64
			for b.Loop() {
				cmd := exec.Command(binary, "without")
				cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
				out, err := cmd.CombinedOutput()
				if err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				for _, m := range initialised.FindAllStringSubmatch(strings.TrimSpace(string(out)), -1) {
					ms, _ := strconv.ParseFloat(m[1], 64)
					n, _ := strconv.ParseFloat(m[2], 64)
					clock, octets = clock+ms, octets+n
				}
			}
			b.ReportMetric(clock/float64(b.N), "init-ms")
			b.ReportMetric(octets/float64(b.N), "init-B")
			b.ReportMetric(float64(file.Size())/1e6, "program-MB")
		})
	}
}

// BenchmarkIdleSession reports the memory that a session of a user holds before
// it opens a page.
func BenchmarkIdleSession(b *testing.B) {
	const sessions = 1000
	shared := agent.New(lookleaptest.ForTest(b).StubHost(), agent.Options{})
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		held := make([]*agent.Session, sessions)
		for i := range held {
			var err error
			if held[i], err = shared.NewSession(agent.User{}); err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(held)
	}
	b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/sessions, "B/session")
}
