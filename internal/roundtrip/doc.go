// Package roundtrip makes sure that an [http.RoundTripper] sends one request, and that the body
// of the response arrives in time.
//
// The transport of net/http repeats a request by itself: if an idle connection turns out to be
// closed, if an HTTP/2 server resets a stream with REFUSED_STREAM or PROTOCOL_ERROR, and if it
// ends the connection with GOAWAY. A server can cause that without end (RFC 9113 section 8.7).
// This package watches a request through net/http/httptrace and ends the exchange before a
// second request is written.
package roundtrip
