package agentstxt

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// origin is scheme, host and port: what one policy speaks for.
type origin struct {
	name   string     // canonical, for instance https://shop.example:8443
	policy domain.URL // of the file. For http it has the scheme https until it is sent
	plain  bool       // the scheme is http
}

// PolicyURL is where the policy of a URL's origin is (section 2): /agents.txt,
// whatever path and query the URL has. The scheme is https or http.
func PolicyURL(rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", badURL(err)
	}
	o, err := originOf(u)
	if err != nil {
		return "", err
	}
	return o.name + policyPath, nil
}

// originOf gives the origin of a URL, or an error for a URL that has none or
// whose host is ambiguous. Which hosts may be reached is the Fetcher's business.
func originOf(u *url.URL) (origin, error) {
	rules := domain.Rules{Schemes: []string{"https", "http"}, AllowIP: true, AllowSpecial: true}
	if u == nil || u.Opaque != "" {
		return origin{}, badURL(errors.New("the URL has no path"))
	}
	base, err := rules.Parse(u.Scheme + "://" + u.Host + "/")
	if err != nil {
		return origin{}, badURL(err)
	}
	o := origin{name: base.Origin(), plain: base.Scheme() == "http"}
	file := base.Origin() + policyPath
	if o.plain {
		file = fmt.Sprintf("https://%s:%d%s", base.Host(), base.Port(), policyPath)
	}
	if o.policy, err = rules.Parse(file); err != nil {
		return origin{}, badURL(err)
	}
	return o, nil
}

// shown is a URL as people should see it: that of the policy with its own scheme.
func (o origin) shown(url string) string {
	if url == o.policy.String() {
		return o.name + policyPath
	}
	return url
}

// badURL gives an error of internal/domain its code.
func badURL(err error) error {
	code := lookleap.CodeBadURL
	var bad *domain.Error
	if errors.As(err, &bad) {
		code = lookleap.Code(bad.Code)
	}
	return &lookleap.Error{Code: code, Message: "the URL has no usable origin", Err: err}
}
