// Command lookleap-kit scores a program with the conformance kit (docs/conformance-kit.md).
//
//	lookleap-kit [-kit DIRECTORY] [-class] -- PROGRAM [ARGUMENT…]
//	lookleap-kit -serve
//	lookleap-kit -export DIRECTORY
//	lookleap-kit -update
//
// It asks the program every case and writes a table. It exits with 1 if an answer is wrong: with
// -class only the class counts, accept or reject. Operations that the program does not support do
// not count. Without a program it scores this module.
//
//   - -serve answers questions with this module.
//   - -export writes the files of the kit to a directory.
//   - -update makes the files of the kit from the vectors; run it in the root of the module.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lookleap/lookleap/internal/kit"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("lookleap-kit", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("kit", "", "`directory` of the kit (the one that is built in)")
	class := flags.Bool("class", false, "only the class of an answer counts")
	serve := flags.Bool("serve", false, "answer questions with this module")
	export := flags.String("export", "", "write the files of the kit to this `directory`")
	update := flags.Bool("update", false, "make the files of the kit from the vectors")
	if flags.Parse(args) != nil {
		return 2
	}
	var err error
	switch {
	case *serve:
		err = kit.Serve(ctx, stdin, stdout)
	case *export != "":
		err = os.CopyFS(*export, kit.Embedded())
	case *update:
		err = write(filepath.Join("internal", "kit", "cases"))
	default:
		err = score(ctx, *dir, *class, flags.Args(), stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "lookleap-kit:", err)
		return 1
	}
	return 0
}

func write(dir string) error {
	files, err := kit.Build(os.DirFS("."))
	if err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func score(ctx context.Context, dir string, classOnly bool, program []string, stdout io.Writer) error {
	var files fs.FS = kit.Embedded()
	if dir != "" {
		files = os.DirFS(dir)
	}
	documents, err := kit.Load(files)
	if err != nil {
		return err
	}
	if len(program) == 0 {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		program = []string{self, "-serve"}
	}
	scores, err := kit.Run(ctx, documents, program[0], program[1:]...)
	if err != nil {
		return err
	}
	if err := kit.Table(stdout, scores, classOnly); err != nil {
		return err
	}
	for _, s := range scores {
		if n := len(s.Wrong(classOnly)); n > 0 {
			return fmt.Errorf("%d answers about %s are wrong", n, s.Document)
		}
	}
	return nil
}
