package lookleaptest

import (
	"net/http"
	"time"

	"github.com/lookleap/lookleap/internal/lab"
)

// Fault changes the responses of a path; see [Site.Fault].
type Fault struct{ fault lab.Fault }

// Wrap makes a fault of a middleware.
func Wrap(middleware func(next http.Handler) http.Handler) Fault {
	return Fault{lab.Wrap(middleware)}
}

// Delay waits before the response begins, by the clock of the internet.
func Delay(d time.Duration) Fault { return Fault{lab.Delay(d)} }

// Slow sends the header at once, and the body in 20 pieces during the given time.
func Slow(d time.Duration) Fault { return Fault{lab.Slow(d)} }

// Stall sends the header and half of the body, and then nothing.
func Stall() Fault { return Fault{lab.Stall()} }

// Mute reads the request and never responds.
func Mute() Fault { return Fault{lab.Mute()} }

// Truncated announces the whole length, sends half of the body and closes the connection.
func Truncated() Fault { return Fault{lab.Truncated()} }

// Reset resets the connection after the request was read.
func Reset() Fault { return Fault{lab.Reset()} }

// ResetBody sends half of the body and resets the connection.
func ResetBody() Fault { return Fault{lab.ResetBody()} }

// WrongLength announces n bytes and sends the whole body. It makes the site use HTTP/1.1 for
// new connections; on an HTTP/2 connection that exists the response is a 500.
func WrongLength(n int64) Fault { return Fault{lab.LyingLength(n)} }

// Raw sends exactly these bytes as the response and closes the connection. It makes the
// site use HTTP/1.1 as [WrongLength] does.
func Raw(response string) Fault { return Fault{lab.Raw(response)} }

// Huge sends a body of n bytes.
func Huge(n int64) Fault { return Fault{lab.Huge(n)} }

// Endless sends a body that never ends.
func Endless() Fault { return Fault{lab.Endless()} }

// Gzip compresses the body, as a correct server does.
func Gzip() Fault { return Fault{lab.Gzip()} }

// GzipTwice compresses the body twice.
func GzipTwice() Fault { return Fault{lab.GzipTwice()} }

// GzipCut compresses the body and leaves out the end.
func GzipCut() Fault { return Fault{lab.GzipCut()} }

// GzipBomb sends a few kilobytes that decompress to the given number of megabytes.
func GzipBomb(megabytes int) Fault { return Fault{lab.GzipBomb(megabytes)} }

// WrongEncoding sends the body unchanged with a Content-Encoding, such as "gzip".
func WrongEncoding(encoding string) Fault { return Fault{lab.LyingEncoding(encoding)} }

// ContentType replaces the Content-Type: no value removes it, two values send it twice.
func ContentType(values ...string) Fault { return Fault{lab.ContentType(values...)} }

// Header replaces a header field: no value removes it, two values send it twice.
func Header(name string, values ...string) Fault { return Fault{lab.Header(name, values...)} }

// HeaderBomb adds n bytes of header.
func HeaderBomb(n int) Fault { return Fault{lab.HeaderBomb(n)} }

// Informational sends n interim responses, such as 103, before the response.
func Informational(code, n int) Fault { return Fault{lab.Informational(code, n)} }

// Connection is what happens to a connection before HTTP begins; see [Site.Connection].
type Connection uint8

// What can happen to a connection.
const (
	ConnectionWorks       Connection = iota
	ConnectionRefused                // nothing listens there
	ConnectionLost                   // packets are lost: the client waits until its own timeout
	ConnectionSilent                 // accepted and never answered
	ConnectionReset                  // accepted and reset at once
	ConnectionResetInTLS             // reset after the first bytes of the client
	ConnectionClosedInTLS            // closed after the first bytes of the client
	ConnectionNotTLS                 // answered without TLS
)

func (c Connection) lab() lab.Connection {
	return [...]lab.Connection{
		lab.Healthy, lab.Refused, lab.Blackhole, lab.Silent, lab.ResetFirst, lab.ResetHello, lab.Hangup, lab.NotTLS,
	}[c]
}

// Certificate is the kind of certificate that a site has; see [Site.Certificate].
type Certificate uint8

// The kinds of certificate.
const (
	CertificateValid       Certificate = iota // for the name of the site, for 90 days
	CertificateExpired                        // ended an hour ago
	CertificateNotYetValid                    // begins in an hour
	CertificateSelfSigned                     // for the name of the site, signed by itself
	CertificateWrongName                      // for another name
	CertificateUnknownCA                      // for the name of the site, from an unknown authority
)

func (c Certificate) lab() lab.Certificate {
	return [...]lab.Certificate{
		lab.Valid, lab.Expired, lab.NotYetValid, lab.SelfSigned, lab.WrongName, lab.UnknownCA,
	}[c]
}
