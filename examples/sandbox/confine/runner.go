package confine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap/dvs"
)

// ErrUnconfined means that this system cannot confine a script as it has to be,
// and that nothing ran.
var ErrUnconfined = errors.New("confine: scripts cannot be confined here")

// Options are the choices of [New]. The zero value is the strictest one.
type Options struct {
	// Frozen, if set, is what may run: a script or file that is not in it, byte
	// by byte, is refused although the user agreed to it.
	Frozen *dvs.Lockfile
	// System are directories that scripts may read and run programs from, besides
	// those where every Linux has its programs and libraries: none with anything
	// of the user's.
	System []string
	// Dir is where the directories of runs are made; "": the one for temporary files.
	Dir    string
	Limits Limits
}

// Runner is a [dvs.Runner]. It is safe for concurrent use.
type Runner struct {
	options Options
	force   force
}

// force is what the kernel was found to enforce.
type force struct {
	landlock   int   // version of its interface
	namespaces bool  // users, processes, network, mounts and IPC
	why        error // why there are no namespaces
}

// systemDirs hold programs and libraries, and no user data.
var systemDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

// New finds out by trying what this system confines. Without the least that is
// needed (the package comment) the error is [ErrUnconfined]. The program's main
// function has to call [Enter] before anything else.
func New(options Options) (*Runner, error) {
	if os.Args[0] == childName {
		return nil, fmt.Errorf("%w: main does not call confine.Enter first", ErrUnconfined)
	}
	options.Limits = options.Limits.withDefaults()
	options.System = append(slices.Clone(systemDirs), options.System...)
	r := &Runner{options: options, force: force{namespaces: true}}
	withNamespaces := r.try()
	if withNamespaces == nil {
		return r, nil
	}
	r.force = force{why: withNamespaces}
	if err := r.try(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnconfined, errors.Join(err, withNamespaces))
	}
	return r, nil
}

// try confines a process that then does nothing.
func (r *Runner) try() error {
	abi, err := landlockVersion()
	if err != nil {
		return err
	}
	r.force.landlock = abi
	return r.inWorkDir(&dvs.Command{Skill: "try"}, func(w *workDir) error {
		_, err := r.start(context.Background(), &jail{Dir: w.skill, Scratch: w.scratch})
		return err
	})
}

// Sandbox tells what is in force. Without namespaces the size of the scratch
// directory is not bounded, so the runner does not claim to bound everything.
func (r *Runner) Sandbox() dvs.Sandbox {
	name := fmt.Sprintf("Landlock %d, seccomp and resource limits", r.force.landlock)
	if r.force.namespaces {
		name += " in namespaces"
	}
	return dvs.Sandbox{Name: name, NoNetwork: true, ReadOnlyFS: true, WorkDir: true, Bounded: r.force.namespaces}
}

// Run runs the approved bytes. They are written to a directory of this run's
// own and read back before anything runs. The script's standard input is empty;
// its working directory is that of its skill; HOME and TMPDIR are the scratch
// directory and PATH the system's, unless the command says otherwise. A script
// that was killed has the exit code 128 and the number of the signal. Where the
// time was over before the script began, the error is the context's.
func (r *Runner) Run(ctx context.Context, c *dvs.Command) (result *dvs.RunResult, err error) {
	if err := r.frozen(c); err != nil {
		return nil, err
	}
	err = r.inWorkDir(c, func(w *workDir) error {
		j := &jail{Argv: argv(c), Env: environment(c.Env, w.scratch), Dir: w.skill, Scratch: w.scratch}
		for _, word := range slices.Concat(j.Argv, j.Env) {
			if !utf8.ValidString(word) { // the process would be told something else
				return fmt.Errorf("confine: the command line or environment has %q, which is no UTF-8", word)
			}
		}
		result, err = r.start(ctx, j)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// frozen refuses what the lockfile does not have.
func (r *Runner) frozen(c *dvs.Command) error {
	if r.options.Frozen == nil {
		return nil
	}
	locked := r.options.Frozen.Find(c.Skill)
	if locked == nil {
		return fmt.Errorf("confine: the lockfile does not have the skill %q", c.Skill)
	}
	for name, content := range commandFiles(c) {
		i := slices.IndexFunc(locked.Files, func(f dvs.LockedFile) bool { return f.Path == name })
		if i < 0 || locked.Files[i].Digest != dvs.DigestOf(content) {
			return fmt.Errorf("confine: the lockfile does not have these bytes of %q of the skill %q", name, c.Skill)
		}
	}
	return nil
}

// argv is the command line: the script under its interpreter, or by itself, in
// which case its first line says what runs it.
func argv(c *dvs.Command) []string {
	script := "./" + c.Name
	if len(c.Interpreter) == 0 {
		return append([]string{script}, c.Args...)
	}
	return slices.Concat(c.Interpreter, []string{script}, c.Args)
}

// searchPath is where programs are looked for, unless the command names a PATH.
const searchPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

func environment(approved []string, scratch string) []string {
	env := slices.Clone(approved)
	for _, fixed := range []string{"PATH=" + searchPath, "HOME=" + scratch, "TMPDIR=" + scratch} {
		name, _, _ := strings.Cut(fixed, "=")
		if !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") }) {
			env = append(env, fixed)
		}
	}
	return env
}

// lookPath finds a program in the PATH of an environment. A path with a slash is
// taken as it is.
func lookPath(program string, env []string) (string, error) {
	if strings.Contains(program, "/") {
		return program, nil
	}
	for _, v := range env {
		path, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(path) {
			file := filepath.Join(dir, program)
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && filepath.IsAbs(file) {
				return file, nil
			}
		}
		break
	}
	return "", fmt.Errorf("there is no program %q", program)
}
