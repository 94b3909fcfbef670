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
	"github.com/lookleap/lookleap/internal/lab"
)

// BenchmarkImport runs a program that does nothing but import a package. It
// reports the size of the stripped program, and what all packages together do
// before main. "bare" is a program that imports net/http. The linker drops most of
// what only calls would use, so the size is the least that an import costs.
func BenchmarkImport(b *testing.B) {
	initialised := regexp.MustCompile(`(?m)^init \S+ @\S+ ms, (\S+) ms clock, (\d+) bytes`)
	dir, err := os.MkdirTemp(".", "import-") // inside the module, so that its dependencies are known
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	const module = "github.com/lookleap/lookleap"
	for name, path := range map[string]string{
		"bare=net/http": "net/http", "lookleap": module, "agentstxt": module + "/agentstxt", "aiuri": module + "/aiuri", "anml": module + "/anml",
		"anml-agent": module + "/anml/agent", "anmltrust": module + "/anmltrust", "dvs": module + "/dvs", "wellknown": module + "/wellknown",
	} {
		b.Run(name, func(b *testing.B) {
			source, program := filepath.Join(dir, "main.go"), filepath.Join(b.TempDir(), "program")
			if err := os.WriteFile(source, []byte("package main\n\nimport _ \""+path+"\"\n\nfunc main() {}\n"), 0o644); err != nil {
				b.Fatal(err)
			}
			if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, source).CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			file, err := os.Stat(program)
			if err != nil {
				b.Fatal(err)
			}
			var clock, octets float64
			for b.Loop() {
				cmd := exec.Command(program)
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
	shared := agent.New(lab.ForTest(b).Host(), agent.Options{})
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
