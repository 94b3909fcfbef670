package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// The exit codes.
const (
	exitAsTold = 0 // every decision came out as the story says
	exitDiffer = 1 // one did not, or the story was not told to its end
	exitUsage  = 2 // the command line is wrong
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program: arguments without the program's name in, exit code out.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(stderr)
	only := flags.String("scene", "", "play this `NAME` alone: "+strings.Join(sceneNames(), ", "))
	all := flags.Bool("all", false, "play the whole story, in 13 scenes")
	transcript := flags.Bool("transcript", false, "write the whole story as Markdown")
	inBrowser := flags.Bool("browser", false, "ask in a browser; the program prints the link")
	scripted := flags.Bool("scripted", false, "let the story decide, on a terminal too")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		if err == flag.ErrHelp {
			return exitAsTold
		}
		if err == nil {
			fmt.Fprintf(stderr, "quickstart takes no arguments, not %q\n", flags.Args())
		}
		return exitUsage
	}
	if *inBrowser && (*scripted || *transcript) {
		fmt.Fprintln(stderr, "quickstart: --browser lets you decide, so it cannot be used with --scripted or --transcript")
		return exitUsage
	}
	cast, err := choose(*only, *all || *transcript)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitUsage
	}

	p := printer{stdout, *transcript}
	var user asker
	switch {
	case *inBrowser:
		b, err := newBrowser(ctx, stdout)
		if err != nil {
			fmt.Fprintln(stderr, "quickstart:", err)
			return exitDiffer
		}
		defer b.close()
		user = b
	case !*scripted && !*transcript:
		if t := newTerminal(stdin, stdout); t != nil {
			user = t
		}
	}
	total := &tally{by: map[outcome]int{}}
	for i, sc := range cast {
		p.title(i+1, sc.title)
		play(ctx, sc, p, user, total)
		if ctx.Err() != nil {
			fmt.Fprintln(stderr, "quickstart: interrupted")
			return exitDiffer
		}
	}
	p.print("\n%s\n", "\n---\n\n%s\n", total)
	if *only == "" && !*all && !*transcript {
		fmt.Fprint(stdout, "\nThe whole story: --all. Decide yourself: --browser. Code: docs/guide.md.\n")
	}
	if total.wrong > 0 {
		fmt.Fprintf(stderr, "quickstart: %d came out differently from what the story says\n", total.wrong)
		return exitDiffer
	}
	return exitAsTold
}
