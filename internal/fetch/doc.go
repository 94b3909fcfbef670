// Package fetch sends one request and reads its response within limits. No other package
// reads the body of a response.
//
// [Do] sends the request through a [lookleap.Fetcher] and follows its redirects one by one,
// if the caller has a rule for them. A response that exceeds a limit (size after
// decompression, time, minimum rate, header, redirects, the budget of a document) ends the
// exchange with an [*Error]. Do never returns a part of a body.
//
// Do never sends the caller's header fields or a body to another origin, a Referer to any
// server, or any byte of a request over a connection that fails the check of its address,
// TLS or client certificate.
package fetch
