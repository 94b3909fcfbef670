// Package fetch performs one bounded read of the web: it is the only place that
// reads an answer's body.
//
// [Do] sends one request through a [lookleap.Fetcher] and, where the caller gave
// a rule for it, follows its redirects one by one. Whatever breaks a bound
// (size after decompression, time, least rate, header, redirects, the budget of
// a document) ends the exchange with an [*Error]; nothing half-read comes back.
//
// What never leaves: a caller's headers to another origin, a body to another
// origin, a Referer, and any byte of a request over a connection that fails the
// address, TLS or client-certificate check.
package fetch
