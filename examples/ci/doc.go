// Package ci holds a workflow and a git hook that check skills; see README.md. Its test runs both
// with a shell.
package ci
