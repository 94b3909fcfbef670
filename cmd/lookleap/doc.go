// Lookleap shows what the library makes of an input: a URL, a policy, a record, a
// document. It is the library seen from a shell: it accepts or it refuses, and
// says why, where, and how to fix it.
//
//	lookleap [--json] COMMAND ARG…
//	lookleap help [COMMAND]
//
// To add a command, see "A new command" in CONTRIBUTING.md.
package main
