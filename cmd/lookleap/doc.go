// Lookleap shows what the library makes of an input: a URL, a policy, a record, a
// document. It is the library seen from a shell: it accepts or it refuses, and
// says why, where, and how to fix it.
//
//	lookleap [--json] COMMAND ARG…
//	lookleap help [COMMAND]
//
// # Adding a command
//
//  1. Write one file named for the command, for instance record.go, with a
//     function recordCommand() command and its test next to it.
//  2. Fill in name, args, summary, about and examples. Help prints them; about
//     documents the members of "value", a test parses the examples, and
//     testdata/record.txt shows inputs with their output (go test -update).
//  3. In build, declare the command's own flags on the given set and return an
//     action. A flag takes a value in every command or in none.
//  4. In the action, call s.each for arguments that are inputs themselves ("-"
//     reads one input a line), s.files for arguments whose content is judged
//     ("-" reads it), or s.judge once for each input of another shape, for which
//     withoutStdin refuses "-". Each judgement is one result: accept(value, rows…)
//     or refuse(err).
//  5. Whatever needs the network takes s.Host(), which carries --dns, --ca and
//     the other flags, before the first input; usagef is the error for wrong usage.
//  6. Add one line to commands in command.go.
//
// The frame prints, counts, catches panics and decides on the exit code; a
// command never writes to standard output itself.
package main
