package roundtrip

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
)

// CodeOf returns the reason code of an error that the standard library returned from an exchange,
// or "" if no code describes it.
func CodeOf(err error) string {
	var stream streamError
	var lookup *net.DNSError
	switch {
	case isHeaderTooLarge(err):
		return CodeHeaderTooLarge
	case isTLS(err):
		if strings.Contains(err.Error(), "protocol version") {
			return CodeTLSTooOld
		}
		return CodeTLS
	case IsTimeout(err):
		return CodeTimeout
	case errors.As(err, &lookup):
		return CodeDNSError
	case isRefused(err):
		return CodeConnRefused
	case isReset(err), errors.Is(err, net.ErrClosed), errors.As(err, &stream):
		return CodeConnReset
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return CodeTruncated
	}
	return ""
}

// streamError has the fields of HTTP/2's stream errors. The type of net/http is not
// exported, but errors.As fills in a type with the same fields.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "HTTP/2 stream error" }

// IsTimeout reports whether an error says that something took too long.
func IsTimeout(err error) bool {
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

// isHeaderTooLarge recognises two errors of net/http by their texts, because they have no type.
func isHeaderTooLarge(err error) bool {
	text := err.Error()
	return strings.Contains(text, "server response headers exceeded") ||
		strings.Contains(text, "response header list larger than advertised limit")
}
