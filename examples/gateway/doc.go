// Gateway is an HTTPS gateway for ai: URIs, and a bank behind it: every client that
// speaks HTTPS can use the bank's AI endpoint, curl and browsers too.
//
//	go run ./examples/gateway
//
// It serves on a port of this machine until it is interrupted, and prints
// commands to try, such as
//
//	curl --cacert ca.pem -H 'Authorization: Bearer ada' -d '{"amount":"10.00"}' \
//	  https://localhost:8443/gateway/bank.example/payments
//
// The answer is the bank's, verified by the gateway, with the bank's signature in
// the header AIIP-Provenance. What cannot be verified, or is not permitted, comes
// as problem details (RFC 9457) with a code.
//
// # From here to a gateway of your own
//
// main.go is all there is to serving. Put your way of reaching endpoints in the
// place of bank (an [aiuri.Invoker]), your web sessions in the place of sessions
// (an [aiuri.Authorizer]), a certificate of a real name in the place of the one
// that is made at the start, and a plain [lookleap.Host] in the place of the
// bank's own little internet.
package main
