// Mutate breaks the deciding code in small ways and reports which breaks no test notices.
//
//	go run ./internal/mutate [flags] FILE...
//
// Each file is mutated by syntax: conditions and comparisons are negated or dropped,
// statements, errors and negations removed, constants changed, arguments swapped. The tests
// of the file's package run against each mutant, then those of -tests. A surviving mutant is
// printed with its line; the exit status is 1 if there is one that equivalent.tsv does not
// explain.
//
// The test binary is compiled once with all mutants of a package; an environment variable
// selects one. Only tests that reach a mutant run against it, the quickest first. Mutants
// that cannot be selected in this way, such as constants, are compiled alone.
//
//	-changed REF   only mutants on lines that differ from REF
//	-only REGEXP   only mutants whose line in the list of equivalent mutants would match
//	-sample N      N mutants of all, chosen by -seed
//	-tests LIST    directories of packages whose tests run as well, separated by commas
//	-skip REGEXP   tests that do not count
//	-limit D       time for the tests of a mutant that is compiled alone
//	-for D         time after which no mutant is begun; the others are counted as left out
//	-parallel N    how many mutants run at the same time
//	-results FILE  outcomes by content, so that a second run repeats nothing
//	-score         print one line for each file instead of the survivors
//	-scores FILE   the list of deciding files, internal/spec/mutation.tsv: without a FILE
//	               argument all of them are mutated; their scores are updated
//
// Suites of others are not used: LOOKLEAP_SUITES and GOMODCACHE lead nowhere, so a mutant must
// be noticed by the tests of this module alone.
package main

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// equivalentList has the mutants that change no behaviour, each with the reason: the fields
// of [Mutant.ID] and the reason, separated by tabs.
//
//go:embed equivalent.tsv
var equivalentList string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	survivors, err := mutate(ctx, os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	case survivors > 0:
		os.Exit(1)
	}
}

// tally counts the outcomes of one file.
type tally map[Outcome]int

// score returns the share of the mutants that could be killed and were.
func (t tally) score() string {
	all := t[Killed] + t[Survived]
	if all == 0 {
		return "-"
	}
	return strconv.Itoa(100*t[Killed]/all) + " %"
}

func mutate(ctx context.Context, args []string, out io.Writer) (survivors int, err error) {
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	root := flags.String("root", ".", "the module's directory")
	changed := flags.String("changed", "", "only mutants on lines that differ from this commit")
	only := flags.String("only", "", "mutants to run, a regular expression on file, function, operator, text and replacement, separated by tabs")
	sample := flags.Int("sample", 0, "how many mutants to run; 0: all")
	seed := flags.Uint64("seed", 1, "chooses the sample")
	tests := flags.String("tests", "", "packages whose tests run as well, separated by commas")
	skip := flags.String("skip", "", "tests that do not count, a regular expression")
	limit := flags.Duration("limit", 2*time.Minute, "time for the tests of one mutant")
	most := flags.Duration("for", 0, "time after which no mutant is begun; 0: no limit")
	parallel := flags.Int("parallel", runtime.GOMAXPROCS(0), "how many mutants run at the same time")
	stored := flags.String("results", "", "file with the outcomes of earlier runs")
	score := flags.Bool("score", false, "print one line for each file")
	list := flags.String("scores", "", "the list of deciding files, whose scores are updated")
	if err := flags.Parse(args); err != nil {
		return 0, err
	}
	files := flags.Args()
	var kept *scores
	if *list != "" {
		if kept, err = readScores(*list); err != nil {
			return 0, err
		}
		if len(files) == 0 {
			files = slices.DeleteFunc(kept.files(), func(file string) bool {
				_, err := os.Stat(filepath.Join(*root, file))
				if err != nil { // it was renamed: the list is updated by hand
					fmt.Fprintln(os.Stderr, "mutate: the list of deciding files:", err)
				}
				return err != nil
			})
		}
	}
	mutants, err := collect(*root, files)
	if err != nil {
		return 0, err
	}
	if *changed != "" {
		if mutants, err = onChangedLines(ctx, *root, *changed, mutants); err != nil {
			return 0, err
		}
	}
	if *only != "" {
		wanted, err := regexp.Compile(*only)
		if err != nil {
			return 0, err
		}
		mutants = slices.DeleteFunc(mutants, func(m Mutant) bool { return !wanted.MatchString(m.ID()) })
	}
	if *sample > 0 && *sample < len(mutants) {
		random := rand.New(rand.NewPCG(*seed, 0))
		random.Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
		mutants = mutants[:*sample]
	}
	earlier, err := loadResults(*stored)
	if err != nil {
		return 0, err
	}
	tallies := make(map[string]tally)
	r := &runner{root: *root, limit: *limit, parallel: *parallel, results: earlier}
	r.progress = func(m *Mutant, o Outcome) {
		if tallies[m.File] == nil {
			tallies[m.File] = make(tally)
		}
		tallies[m.File][o]++
		if o == Survived {
			survivors++
			if !*score {
				fmt.Fprintln(out, m)
			}
		}
	}
	if *tests != "" {
		r.tests = strings.Split(*tests, ",")
	}
	if *skip != "" {
		if r.skip, err = regexp.Compile(*skip); err != nil {
			return 0, err
		}
	}
	if *most > 0 {
		r.until = time.Now().Add(*most)
	}
	reasons := equivalents(equivalentList)
	packages := make(map[string][]*Mutant)
	for i := range mutants {
		m := &mutants[i]
		if _, known := reasons[m.ID()]; known {
			r.progress(m, Equivalent)
			continue
		}
		dir := path.Dir(m.File)
		packages[dir] = append(packages[dir], m)
	}
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		if err := r.run(ctx, dir, packages[dir]); err != nil {
			return survivors, err
		}
	}
	report(out, tallies)
	if kept != nil && *changed == "" && *only == "" && *sample == 0 {
		return survivors, kept.update(*root, tallies)
	}
	return survivors, nil
}

func report(out io.Writer, tallies map[string]tally) {
	total := make(tally)
	files := make([]string, 0, len(tallies))
	for file, t := range tallies {
		files = append(files, file)
		for outcome, n := range t {
			total[outcome] += n
		}
	}
	slices.Sort(files)
	line := func(name string, t tally) {
		fmt.Fprintf(out, "%-40s %6s: %d killed, %d survived, %d equivalent, %d not built, %d left out\n", name,
			t.score(), t[Killed], t[Survived], t[Equivalent], t[NotBuilt], t[LeftOut])
	}
	for _, file := range files {
		line(file, tallies[file])
	}
	line("all", total)
}

// collect returns the mutants of all files.
func collect(root string, files []string) (all []Mutant, err error) {
	if len(files) == 0 {
		return nil, errors.New("no files to mutate; see go doc ./internal/mutate")
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(root + "/" + file)
		if err != nil {
			return nil, err
		}
		mutants, err := Mutants(file, source)
		if err != nil {
			return nil, err
		}
		all = append(all, mutants...)
	}
	return all, nil
}

// equivalents reads the list of mutants that change no behaviour: reason by ID.
func equivalents(list string) map[string]string {
	reasons := make(map[string]string)
	for line := range strings.Lines(list) {
		line = strings.TrimRight(line, "\n")
		if i := strings.LastIndexByte(line, '\t'); i > 0 && !strings.HasPrefix(line, "#") {
			reasons[line[:i]] = line[i+1:]
		}
	}
	return reasons
}

// onChangedLines returns the mutants on lines that differ from a commit.
func onChangedLines(ctx context.Context, root, ref string, mutants []Mutant) ([]Mutant, error) {
	cmd := exec.CommandContext(ctx, "git", "-C", root, "diff", "--unified=0", "--no-color", "--relative", ref, "--", "*.go")
	diff, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git diff %s: %w", ref, err)
	}
	lines, err := changedLines(string(diff))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(mutants, func(m Mutant) bool { return !lines[m.File][m.Line] }), nil
}

// changedLines reads a diff without context: the new lines by file.
func changedLines(diff string) (map[string]map[int]bool, error) {
	lines := make(map[string]map[int]bool)
	file := ""
	scanner := bufio.NewScanner(strings.NewReader(diff))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		if name, ok := strings.CutPrefix(scanner.Text(), "+++ b/"); ok {
			file = name
			lines[file] = make(map[int]bool)
		}
		hunk, ok := strings.CutPrefix(scanner.Text(), "@@ ")
		if !ok {
			continue
		}
		_, after, _ := strings.Cut(hunk, "+")
		span, _, _ := strings.Cut(after, " ")
		first, count, counted := strings.Cut(span, ",")
		start, err := strconv.Atoi(first)
		n := 1
		if err == nil && counted {
			n, err = strconv.Atoi(count)
		}
		if err != nil {
			return nil, fmt.Errorf("the diff has the hunk %q", hunk)
		}
		for line := start; line < start+n; line++ {
			lines[file][line] = true
		}
	}
	return lines, scanner.Err()
}
