package lookleaptest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"sync"
	"time"
)

// Certificate is the kind of certificate that a site has; see [Site.Certificate].
type Certificate uint8

// The kinds of certificate.
const (
	CertificateValid      Certificate = iota // for the name of the site, for 90 days
	CertificateExpired                       // ended an hour ago
	CertificateSelfSigned                    // for the name of the site, signed by itself
	CertificateWrongName                     // for another name
	CertificateUnknownCA                     // for the name of the site, from an unknown authority
	CertificateSharedName                    // for the name of the site and shared-name.example
	CertificateEndsSoon                      // for the name of the site, for a week
)

// lifetime of a good certificate. It is renewed when half of it has passed by the clock of the internet.
const lifetime = 90 * 24 * time.Hour

// authority is a certificate authority. Keys and certificates are made when they are first needed.
type authority struct {
	name  string
	clock *Clock

	once    sync.Once
	key     *ecdsa.PrivateKey
	leafKey *ecdsa.PrivateKey // one for all sites: nothing here is secret, and making one is the slow part
	root    *x509.Certificate

	mu     sync.Mutex
	serial int64
	issued map[string]*tls.Certificate // valid ones, by name
}

func newAuthority(name string, clock *Clock) *authority {
	return &authority{name: name, clock: clock, issued: map[string]*tls.Certificate{}}
}

// certificateRoot returns the certificate of the authority.
func (a *authority) certificateRoot() *x509.Certificate {
	a.once.Do(func() {
		a.key, a.leafKey = newKey(), newKey()
		template := &x509.Certificate{
			SerialNumber:          big.NewInt(1),
			Subject:               pkix.Name{CommonName: a.name},
			NotBefore:             time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC), // a bubble's clock starts in 2000
			NotAfter:              time.Date(2190, 1, 1, 0, 0, 0, 0, time.UTC),
			KeyUsage:              x509.KeyUsageCertSign,
			BasicConstraintsValid: true,
			IsCA:                  true,
		}
		a.root = sign(template, template, a.key, a.key)
	})
	return a.root
}

// certificate returns the certificate of that kind for a name, while it is valid by the clock.
func (a *authority) certificate(name string, kind Certificate) *tls.Certificate {
	a.certificateRoot()
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.clock.Now()
	if kind != CertificateValid {
		return a.issue(name, kind, now)
	}
	c := a.issued[name]
	if c == nil || now.Before(c.Leaf.NotBefore) || now.Add(lifetime/2).After(c.Leaf.NotAfter) {
		c = a.issue(name, kind, now)
		a.issued[name] = c
	}
	return c
}

func (a *authority) issue(name string, kind Certificate, now time.Time) *tls.Certificate {
	from, till := now.Add(-time.Hour), now.Add(lifetime)
	switch kind {
	case CertificateExpired:
		from, till = now.Add(-lifetime), now.Add(-time.Hour)
	case CertificateEndsSoon:
		till = now.Add(7 * 24 * time.Hour)
	case CertificateWrongName:
		name = "wrong-name.example"
	}
	a.serial++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.serial + 1),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    from.Truncate(time.Second),
		NotAfter:     till.Truncate(time.Second),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	if kind == CertificateSharedName {
		template.DNSNames = append(template.DNSNames, "shared-name.example")
	}
	parent, key := a.root, a.key
	if kind == CertificateSelfSigned {
		parent, key = template, a.leafKey
	}
	leaf := sign(template, parent, a.leafKey, key)
	return &tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: a.leafKey, Leaf: leaf}
}

func newKey() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }

func sign(template, parent *x509.Certificate, subject, signer *ecdsa.PrivateKey) *x509.Certificate {
	der := must(x509.CreateCertificate(rand.Reader, template, parent, &subject.PublicKey, signer))
	return must(x509.ParseCertificate(der))
}

// must is for errors that are faults of the test itself, or of this package.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// RootCAs returns the certificate authority that all sites use.
func (n *Internet) RootCAs() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(n.ca.certificateRoot())
	return pool
}

// ClientCertificate returns a certificate of that authority that a client may show.
func (n *Internet) ClientCertificate(name string) tls.Certificate {
	return *n.ca.certificate(name, CertificateValid)
}
