// Jobs measures whole jobs and the bare ones and writes docs/performance.md.
//
//	go run ./jobs            # prints the page
//	go run ./jobs -write     # writes it
//
// Each job runs six times with the bare job between the runs; the page shows the least
// of six. Only the ratios mean anything on another machine.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// job is one row of the page: two benchmarks, and what the row compares.
type job struct {
	what       string
	ours, bare string // names of benchmarks; bare "" if there is no bare job
	unit       string // of the metric that is compared
	goal       string
	difference bool // compares by how much ours is above bare, not the ratio
}

var all = []job{
	{"guarded GET, policy known, HTTP/1.1", "GuardedGET/known/http1/lookleap", "GuardedGET/known/http1/bare=http.Client", "ns/op", "1.12 x", false},
	{"the same, allocations", "GuardedGET/known/http1/lookleap", "GuardedGET/known/http1/bare=http.Client", "allocs/op", "1.5 x", false},
	{"guarded GET, policy known, HTTP/2", "GuardedGET/known/http2/lookleap", "GuardedGET/known/http2/bare=http.Client", "ns/op", "1.12 x", false},
	{"the same, allocations", "GuardedGET/known/http2/lookleap", "GuardedGET/known/http2/bare=http.Client", "allocs/op", "1.5 x", false},
	{"16 at once, HTTP/1.1", "GuardedGET/known-16-at-once/http1/lookleap", "GuardedGET/known-16-at-once/http1/bare=http.Client", "ns/op", "1.05 x", false},
	{"16 at once, HTTP/2", "GuardedGET/known-16-at-once/http2/lookleap", "GuardedGET/known-16-at-once/http2/bare=http.Client", "ns/op", "1.05 x", false},
	{"first guarded GET of an origin; bare: two GETs in parallel", "GuardedGET/first/lookleap", "GuardedGET/first/bare=two-GETs", "ns/op", "1.1 x", false},
	{"load a skill of 8 KiB; bare: GET", "LoadSkill/lookleap", "LoadSkill/bare=GET", "ns/op", "1.6 x", false},
	{"the same, memory beyond the bare job", "LoadSkill/lookleap", "LoadSkill/bare=GET", "B/op", "40 KiB", true},
	{"load it again while the copy is fresh; bare: GET", "LoadSkill/again/lookleap", "LoadSkill/bare=GET", "ns/op", "1.2 x", false},
	{"start with 10,000 local skills; bare: open, read 4 KB, close", "SkillCatalogue/lookleap", "SkillCatalogue/open-read-close", "ns/op", "1.15 x", false},
	{"open a 100 KB ANML page, decide 32 asks, prepare a call; bare: GET and etree", "OpenPage/lookleap", "OpenPage/bare=GET+etree", "ns/op", "1.5 x", false},
	{"call an endpoint and verify its signed result of 10 KB; bare: POST and ECDSA", "SignedResult/lookleap", "SignedResult/bare=POST+ecdsa", "ns/op", "1.25 x", false},
	{"gateway POST at 32 connections; bare: httputil.ReverseProxy", "Gateway/lookleap", "Gateway/bare=httputil.ReverseProxy", "ns/op", "1.18 x", false},
	{"the same; bare: httputil.ReverseProxy and ECDSA", "Gateway/lookleap", "Gateway/bare=ReverseProxy+ecdsa", "ns/op", "1.15 x", false},
	{"program with a guarded client; bare: http.Get", "Import/used/guard", "Import/used/bare=net/http", "program-MB", "2.5 MB", true},
	{"program with an ANML agent; bare: http.Get", "Import/used/agent", "Import/used/bare=net/http", "program-MB", "4.5 MB", true},
	{"a session, idle", "IdleSession", "", "B/session", "8 KB", false},
	{"a session that was told 1,000 informs", "ToldSession", "", "B/session", "2 MB", false},
}

func main() {
	write := flag.Bool("write", false, "write docs/performance.md")
	count := flag.Int("count", 6, "how often each benchmark runs")
	flag.Parse()
	least, cpu, err := measure(*count)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	page := render(least, cpu, *count)
	if !*write {
		fmt.Print(page)
		return
	}
	if err := os.WriteFile(filepath.Join("..", "..", "docs", "performance.md"), []byte(page), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const benchmarks = "GuardedGET|LoadSkill|SkillCatalogue|OpenPage|SignedResult|Gateway|Import|IdleSession|ToldSession"

// measure runs the benchmarks and returns the least value of each metric by name.
func measure(count int) (least map[string]map[string]float64, cpu string, err error) {
	least = make(map[string]map[string]float64)
	line := regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)
	for range count { // in turn, so that ours and bare meet the same disturbances
		cmd := exec.Command("go", "test", "-run", "^$", "-bench", "^Benchmark("+benchmarks+")$", "-benchtime", "300ms", ".")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, "", fmt.Errorf("%w: %s", err, out)
		}
		for l := range bytes.Lines(out) {
			text := strings.TrimSpace(string(l))
			if name, ok := strings.CutPrefix(text, "cpu: "); ok {
				cpu = name
			}
			m := line.FindStringSubmatch(text)
			if m == nil {
				continue
			}
			if least[m[1]] == nil {
				least[m[1]] = make(map[string]float64)
			}
			fields := strings.Fields(m[2])
			for i := 0; i+1 < len(fields); i += 2 {
				value, err := strconv.ParseFloat(fields[i], 64)
				if err != nil {
					continue
				}
				if before, ok := least[m[1]][fields[i+1]]; !ok || value < before {
					least[m[1]][fields[i+1]] = value
				}
			}
		}
	}
	return least, cpu, nil
}

func render(least map[string]map[string]float64, cpu string, count int) string {
	var b strings.Builder
	b.WriteString("# Performance\n\nWhat whole jobs cost, next to the same job without any check. `internal/bench` holds the benchmarks; servers and clients talk\n" +
		"over TLS in memory, so no network hides the cost. This page is generated:\n\n    go run -C internal/bench ./jobs -write\n\n")
	fmt.Fprintf(&b, "Machine: %s, %d processors, %s, %s. Least of %d runs, %s.\n\n", cpu, runtime.NumCPU(), runtime.GOOS+"/"+runtime.GOARCH, runtime.Version(), count, time.Now().UTC().Format(time.DateOnly))
	b.WriteString("| job | lookleap | bare | compared | goal |\n|---|---:|---:|---:|---:|\n")
	for _, j := range all {
		ours, ok := least[j.ours][j.unit]
		bare, has := least[j.bare][j.unit]
		if !ok || j.bare != "" && !has {
			fmt.Fprintf(&b, "| %s | not measured | | | %s |\n", j.what, j.goal)
			continue
		}
		compared, theirs := "", ""
		switch {
		case j.bare == "":
		case j.difference:
			compared, theirs = "+"+show(ours-bare, j.unit), show(bare, j.unit)
		default:
			compared, theirs = fmt.Sprintf("%.2f x", ours/bare), show(bare, j.unit)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", j.what, show(ours, j.unit), theirs, compared, j.goal)
	}
	b.WriteString("\nA goal with a unit bounds what lookleap adds to the bare job, or what it takes where there is none.\n")
	renderImports(&b, least)
	return b.String()
}

// importable are the packages of the module, as paths below it.
var importable = []string{"", "wellknown", "agentstxt", "dvs", "anml", "anml/agent", "anmltrust", "aiuri"}

// renderImports writes what a program pays for the import of each package, before it calls anything.
func renderImports(b *strings.Builder, least map[string]map[string]float64) {
	b.WriteString("\n## Imports\n\nWhat a program pays for the import of a package before it calls anything, beyond a program that imports `net/http`: time\n" +
		"and memory before `main` (`GODEBUG=inittrace=1`), and bytes of the stripped program. The linker drops what only calls use.\n" +
		"The goals are 0.2 ms and 50 KB.\n\n| package | before main | memory | program |\n|---|---:|---:|---:|\n")
	bare := least["Import/bare=net/http"]
	fmt.Fprintf(b, "| `net/http` alone | %s | %s | %s |\n", show(bare["init-ms"], "init-ms"), show(bare["init-B"], "init-B"), show(bare["program-MB"], "program-MB"))
	for _, path := range importable {
		name := strings.ReplaceAll(path, "/", "-")
		if path == "" {
			path, name = "lookleap", "lookleap"
		}
		ours, ok := least["Import/"+name]
		if !ok {
			fmt.Fprintf(b, "| `%s` | not measured | | |\n", path)
			continue
		}
		fmt.Fprintf(b, "| `%s` |", path)
		for _, unit := range []string{"init-ms", "init-B", "program-MB"} {
			fmt.Fprintf(b, " +%s |", show(max(ours[unit]-bare[unit], 0), unit))
		}
		b.WriteByte('\n')
	}
}

// show prints a value with a unit that people read.
func show(value float64, unit string) string {
	switch unit {
	case "ns/op":
		return time.Duration(value).Round(roundTo(value)).String()
	case "B/op", "init-B", "B/session":
		return fmt.Sprintf("%.1f KB", value/1e3)
	case "init-ms":
		return fmt.Sprintf("%.2f ms", value)
	case "program-MB":
		return fmt.Sprintf("%.1f MB", value)
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}

// roundTo keeps three digits of a duration.
func roundTo(ns float64) time.Duration {
	unit := time.Duration(1)
	for _, limit := range slices.Backward([]float64{1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}) {
		if ns >= limit {
			unit = time.Duration(limit / 100)
			break
		}
	}
	return unit
}
