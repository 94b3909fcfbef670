// Package flight makes a thousand callers with one cold question cause one
// answer: [Group] shares what is being found out, [Memo] also keeps what was.
package flight
