// Package flight makes concurrent callers share work: a [Group] runs one function for all callers
// of a key, a [Memo] also keeps the results, [Turns] let one caller at a time work on a key, and a
// [Clock] notices that the system's clock was set back.
package flight
