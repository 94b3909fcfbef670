// Package roundtrip holds any [http.RoundTripper] to one exchange: one request is
// sent, it is answered once, and the body of the answer arrives in time.
//
// The transport of net/http sends a request again without being asked: when an
// idle connection turns out to be closed, when an HTTP/2 server resets a stream
// with REFUSED_STREAM or PROTOCOL_ERROR, and when it ends the connection with
// GOAWAY. A server can ask for that without end (RFC 9113 section 8.7). This
// package watches a request through net/http/httptrace and ends the exchange
// before a second request is written.
package roundtrip
