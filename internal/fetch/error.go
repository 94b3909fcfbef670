package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/lookleap/lookleap"
)

// Error is an exchange that gave no usable answer.
type Error struct {
	Code      lookleap.Code
	URL       string // that failed, without query
	Transient bool   // trying again later may help: a timeout, reset, refusal or truncation
	Err       error

	// What a refused answer said, where there was one.
	Status     int
	MediaType  string
	RetryAfter time.Duration // 0: none to rely on
	Hops       []Hop         // followed before
}

func (e *Error) Error() string {
	text, code := fmt.Sprintf("fetching %s: %v", e.URL, e.Err), fmt.Sprintf(" (%s)", e.Code)
	return strings.TrimSuffix(text, code) + code // the cause may end with it already
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// ReasonCode gives the code.
func (e *Error) ReasonCode() lookleap.Code { return e.Code }

// Cancelled reports whether an exchange ended because its caller left. Such a
// result says nothing about the server and is never kept.
func Cancelled(err error) bool { return lookleap.CodeOf(err) == lookleap.CodeCancelled }

// Transient reports whether an error of [Do] may pass by itself.
func Transient(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Transient
}

// codedError is a refusal of ours that has no exchange around it yet.
type codedError struct {
	code    lookleap.Code
	message string
	err     error
}

func coded(code lookleap.Code, format string, args ...any) error {
	return &codedError{code: code, message: fmt.Sprintf(format, args...)}
}

// denied is a refusal by the address guard, which is final for everybody.
func denied(code lookleap.Code, message string) error {
	return &codedError{code: code, message: message, err: lookleap.ErrDenied}
}

func (e *codedError) Error() string             { return e.message }
func (e *codedError) Unwrap() error             { return e.err }
func (e *codedError) ReasonCode() lookleap.Code { return e.code }

var errTooSlow = coded(lookleap.CodeTooSlow, "the answer came slower than the least rate")

// streamError has the shape of HTTP/2's stream errors, which net/http keeps to
// itself but lets errors.As fill in.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "HTTP/2 stream error" }

// classify gives the code of an error and whether it is transient. Only
// timeouts, resets, refusals and truncations are; what nobody knows is final.
func classify(err error) (code lookleap.Code, transient bool) {
	var (
		own    *codedError
		byName interface{ ReasonCode() lookleap.Code }
		stream streamError
		lookup *net.DNSError
	)
	switch {
	case errors.As(err, &own):
		return own.code, isTransient(own.code)
	case errors.Is(err, lookleap.ErrBogus):
		return lookleap.CodeDNSSECBogus, false
	case errors.Is(err, lookleap.ErrDenied):
		return lookleap.CodeOf(err), false
	case errors.As(err, &byName) && !isTimeout(err):
		return lookleap.CodeOf(err), isTransient(lookleap.CodeOf(err))
	case errors.Is(err, lookleap.ErrClosed):
		return lookleap.CodeClosed, false
	case isHeaderTooLarge(err):
		return lookleap.CodeHeaderTooLarge, false
	case isTLS(err):
		return tlsCode(err), false
	case isTimeout(err):
		return lookleap.CodeTimeout, true
	case errors.As(err, &lookup):
		return lookleap.CodeDNSError, false
	case errors.Is(err, syscall.ECONNREFUSED):
		return lookleap.CodeConnRefused, true
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed), errors.As(err, &stream):
		return lookleap.CodeConnReset, true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return lookleap.CodeTruncated, true
	}
	return lookleap.CodeUnreachable, false
}

func isTransient(code lookleap.Code) bool {
	switch code {
	case lookleap.CodeTimeout, lookleap.CodeTooSlow, lookleap.CodeTruncated, lookleap.CodeConnReset, lookleap.CodeConnRefused:
		return true
	}
	return false
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}

func isTLS(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		alert        tls.AlertError
		record       tls.RecordHeaderError
		unknown      x509.UnknownAuthorityError
		invalid      x509.CertificateInvalidError
		host         x509.HostnameError
	)
	return errors.As(err, &verification) || errors.As(err, &alert) || errors.As(err, &record) ||
		errors.As(err, &unknown) || errors.As(err, &invalid) || errors.As(err, &host) ||
		strings.HasPrefix(err.Error(), "tls: ") || strings.HasPrefix(err.Error(), "remote error: tls: ")
}

func tlsCode(err error) lookleap.Code {
	if strings.Contains(err.Error(), "protocol version") {
		return lookleap.CodeTLSTooOld
	}
	return lookleap.CodeTLS
}

// isHeaderTooLarge knows the two errors of net/http, which have no type.
func isHeaderTooLarge(err error) bool {
	s := err.Error()
	return strings.Contains(s, "server response headers exceeded") || strings.Contains(s, "response header list larger than advertised limit")
}
