package webpage

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const (
	local  = "127.0.0.1:7777"
	remote = "127.0.0.1:50000"
)

func newDoor(t *testing.T, base string) (*Door, *time.Time) {
	t.Helper()
	now := time.Date(2031, 5, 1, 9, 0, 0, 0, time.UTC)
	d, err := NewDoor(base, func() time.Time { return now }, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		if FormToken(r, "page") == "" {
			http.Error(w, "no form token", http.StatusInternalServerError)
			return
		}
		_, _ = w.Write([]byte("inside " + r.URL.Path))
	}))
	if err != nil {
		t.Fatal(err)
	}
	return d, &now
}

// send sends a request over the loopback interface; change can spoil it.
func send(d *Door, method, url string, change func(*http.Request)) *http.Response {
	r := httptest.NewRequest(method, url, nil)
	setLocal(r, local)
	r.RemoteAddr = remote
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result()
}

// setLocal names the address that the server received the request on.
func setLocal(r *http.Request, address string) {
	addr, _ := net.ResolveTCPAddr("tcp", address)
	*r = *r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(addr)))
}

func setBody(r *http.Request, size int) {
	r.Body = io.NopCloser(strings.NewReader(strings.Repeat("a", size)))
}

func open(t *testing.T, d *Door) *http.Cookie {
	t.Helper()
	resp := send(d, "GET", d.Link("http://"+local), nil)
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) != 1 {
		t.Fatalf("%d, cookies %v", resp.StatusCode, resp.Cookies())
	}
	return resp.Cookies()[0]
}

func TestDoor(t *testing.T) {
	d, now := newDoor(t, "")
	cookie := open(t, d)
	home := "http://" + local + "/" + d.path + "/"
	t.Run("accept-session", func(t *testing.T) {
		for _, host := range []string{local, "localhost:7777", "[::1]:7777", "agent.localhost:7777", "LOCALHOST:7777"} {
			resp := send(d, "GET", home+"plan/x", func(r *http.Request) { r.AddCookie(cookie); r.Host = host })
			body := make([]byte, 100)
			n, _ := resp.Body.Read(body)
			if resp.StatusCode != http.StatusOK || string(body[:n]) != "inside /plan/x" {
				t.Errorf("%s: %d %s", host, resp.StatusCode, body[:n])
			}
		}
	})
	for name, c := range map[string]struct {
		method string
		change func(*http.Request)
	}{
		"head":     {"HEAD", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }},
		"typed":    {"GET", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }},
		"own-page": {"GET", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") }},
		"form":     {"POST", func(r *http.Request) { r.Header.Set("Origin", "http://"+local) }},
		"form-of-page": {"POST", func(r *http.Request) {
			r.Header.Set("Origin", "http://"+local)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}},
		"largest-form": {"POST", func(r *http.Request) { r.Header.Set("Origin", "http://"+local); setBody(r, maxForm) }},
		"port-of-http": {"GET", func(r *http.Request) { r.Host = "localhost"; setLocal(r, "127.0.0.1:80") }},
		"ipv6-without-port": {"GET", func(r *http.Request) {
			r.Host, r.RemoteAddr = "[::1]", "[::1]:50000"
			setLocal(r, "[::1]:80")
		}},
	} {
		t.Run("accept-"+name, func(t *testing.T) {
			if resp := send(d, c.method, home, func(r *http.Request) { r.AddCookie(cookie); c.change(r) }); resp.StatusCode != http.StatusOK {
				t.Errorf("%d", resp.StatusCode)
			}
		})
	}
	t.Run("cookie", func(t *testing.T) {
		if cookie.Name != "lookleap" || cookie.Secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/"+d.path+"/" || cookie.Domain != "" {
			t.Errorf("%+v", cookie)
		}
	})
	for name, c := range map[string]struct {
		method, url string
		change      func(*http.Request)
		want        int
	}{
		"rebinding":       {"GET", home, func(r *http.Request) { r.Host = "evil.example:7777" }, http.StatusMisdirectedRequest},
		"other-port":      {"GET", home, func(r *http.Request) { r.Host = "127.0.0.1:1" }, http.StatusMisdirectedRequest},
		"no-port":         {"GET", home, func(r *http.Request) { r.Host = "127.0.0.1" }, http.StatusMisdirectedRequest},
		"empty-host":      {"GET", home, func(r *http.Request) { r.Host = "" }, http.StatusMisdirectedRequest},
		"other-machine":   {"GET", home, func(r *http.Request) { r.RemoteAddr = "192.0.2.1:50000" }, http.StatusMisdirectedRequest},
		"private-name":    {"GET", home, func(r *http.Request) { r.Host = "192.168.0.1:7777" }, http.StatusMisdirectedRequest},
		"other-interface": {"GET", home, func(r *http.Request) { setLocal(r, "192.0.2.7:7777") }, http.StatusMisdirectedRequest},
		"no-interface": {"GET", home, func(r *http.Request) {
			*r = *r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, nil))
		}, http.StatusMisdirectedRequest},
		"zone":           {"GET", home, func(r *http.Request) { r.Host = "[::1%lo]:7777" }, http.StatusMisdirectedRequest},
		"other-path":     {"GET", "http://" + local + "/other/", nil, http.StatusNotFound},
		"no-slash":       {"GET", strings.TrimSuffix(home, "/"), nil, http.StatusNotFound},
		"root":           {"GET", "http://" + local + "/", nil, http.StatusNotFound},
		"no-cookie":      {"GET", home, func(r *http.Request) { r.Header.Del("Cookie") }, http.StatusUnauthorized},
		"other-cookie":   {"GET", home, func(r *http.Request) { r.Header.Set("Cookie", "lookleap=guess") }, http.StatusUnauthorized},
		"cross-site":     {"GET", home, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, http.StatusForbidden},
		"same-site":      {"GET", home, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, http.StatusForbidden},
		"other-origin":   {"GET", home, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden},
		"post-no-origin": {"POST", home, nil, http.StatusForbidden},
		"post-typed": {"POST", home, func(r *http.Request) {
			r.Header.Set("Origin", "http://"+local)
			r.Header.Set("Sec-Fetch-Site", "none")
		}, http.StatusForbidden},
		"https-origin": {"POST", home, func(r *http.Request) { r.Header.Set("Origin", "https://"+local) }, http.StatusForbidden},
		"large-form": {"POST", home, func(r *http.Request) {
			r.Header.Set("Origin", "http://"+local)
			setBody(r, maxForm+1)
		}, http.StatusRequestEntityTooLarge},
	} {
		t.Run("reject-"+name, func(t *testing.T) {
			resp := send(d, c.method, c.url, func(r *http.Request) {
				r.AddCookie(cookie)
				if c.change != nil {
					c.change(r)
				}
			})
			if resp.StatusCode != c.want {
				t.Errorf("%d, want %d", resp.StatusCode, c.want)
			}
			if csp := resp.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") || resp.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("unprotected: %v", resp.Header)
			}
		})
	}
	t.Run("without-origin", func(t *testing.T) {
		body, _ := io.ReadAll(send(d, "POST", home, func(r *http.Request) { r.AddCookie(cookie) }).Body)
		if string(body) != "The request has no Origin header.\n" {
			t.Errorf("%q", body)
		}
	})
	t.Run("reject-expired-session", func(t *testing.T) {
		*now = now.Add(SessionLifetime)
		if resp := send(d, "GET", home, func(r *http.Request) { r.AddCookie(cookie) }); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%d", resp.StatusCode)
		}
	})
}

func TestLink(t *testing.T) {
	d, now := newDoor(t, "")
	status := func(link string, change func(*http.Request)) int { return send(d, "GET", link, change).StatusCode }
	t.Run("reject-second-use", func(t *testing.T) {
		link := d.Link("http://" + local)
		if first, second := status(link, nil), status(link, nil); first != http.StatusOK || second != http.StatusForbidden {
			t.Errorf("%d, %d", first, second)
		}
	})
	t.Run("reject-late", func(t *testing.T) {
		link := d.Link("http://" + local)
		*now = now.Add(LinkLifetime)
		if got := status(link, nil); got != http.StatusForbidden {
			t.Errorf("%d", got)
		}
	})
	for name, header := range map[string][2]string{
		"image": {"Sec-Fetch-Dest", "image"}, "frame": {"Sec-Fetch-Dest", "iframe"}, "script": {"Sec-Fetch-Mode", "no-cors"}, "prefetch": {"Sec-Purpose", "prefetch"},
	} {
		t.Run("reject-"+name, func(t *testing.T) {
			link := d.Link("http://" + local)
			if got := status(link, func(r *http.Request) { r.Header.Set(header[0], header[1]) }); got != http.StatusForbidden {
				t.Errorf("%d", got)
			}
			if got := status(link, nil); got != http.StatusOK {
				t.Errorf("the link was used up: %d", got)
			}
		})
	}
	t.Run("reject-post", func(t *testing.T) {
		link := d.Link("http://" + local)
		if resp := send(d, "POST", link, nil); resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "GET" {
			t.Errorf("%d, Allow: %s", resp.StatusCode, resp.Header.Get("Allow"))
		}
		if got := status(link, nil); got != http.StatusOK {
			t.Errorf("the link was used up: %d", got)
		}
	})
	t.Run("response", func(t *testing.T) {
		resp := send(d, "GET", d.Link("http://"+local+"/"), nil)
		body, _ := io.ReadAll(resp.Body)
		if resp.Header.Get("Refresh") != "0; url=./" || resp.Header.Get("Referrer-Policy") != "no-referrer" || !strings.Contains(string(body), `href="./"`) {
			t.Errorf("%v\n%s", resp.Header, body)
		}
	})
	t.Run("oldest-is-dropped", func(t *testing.T) {
		d, now := newDoor(t, "")
		var links []string
		var cookies []*http.Cookie
		for range maxLinks + 1 {
			cookies = append(cookies, open(t, d))
			*now = now.Add(time.Second)
		}
		for range maxLinks + 1 {
			links = append(links, d.Link("http://"+local))
			*now = now.Add(time.Second)
		}
		for i, cookie := range cookies {
			resp := send(d, "GET", "http://"+local+"/"+d.path+"/", func(r *http.Request) { r.AddCookie(cookie) })
			if (resp.StatusCode == http.StatusOK) != (i > 0) {
				t.Errorf("session %d: %d", i, resp.StatusCode)
			}
		}
		for i, link := range links {
			if got := send(d, "GET", link, nil).StatusCode; (got == http.StatusOK) != (i > 0) {
				t.Errorf("link %d: %d", i, got)
			}
		}
	})
}

func TestBase(t *testing.T) {
	d, _ := newDoor(t, "https://agent.example.com/consent/")
	inside := func(r *http.Request) { // what http.StripPrefix leaves
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/consent")
		r.RemoteAddr = "192.0.2.1:443"
		r.TLS = &tls.ConnectionState{}
	}
	link := d.Link("http://ignored.example")
	if !strings.HasPrefix(link, "https://agent.example.com/consent/"+d.path+"/open?") {
		t.Fatalf("%s", link)
	}
	resp := send(d, "GET", link, inside)
	cookies := resp.Cookies()
	if len(cookies) != 1 || !cookies[0].Secure || !strings.HasPrefix(cookies[0].Name, "__Secure-") || cookies[0].Path != "/consent/"+d.path+"/" {
		t.Fatalf("%d %v", resp.StatusCode, cookies)
	}
	home := "https://agent.example.com/consent/" + d.path + "/"
	for host, want := range map[string]int{"agent.example.com": http.StatusOK, "AGENT.example.com": http.StatusOK, "evil.example": http.StatusMisdirectedRequest, "127.0.0.1:7777": http.StatusMisdirectedRequest} {
		resp := send(d, "GET", home, func(r *http.Request) { inside(r); r.Host = host; r.AddCookie(cookies[0]) })
		if resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", host, resp.StatusCode, want)
		}
	}
}

func TestNewDoor(t *testing.T) {
	for base, ok := range map[string]bool{
		"https://agent.example.com":         true,
		"https://agent.example.com:8443/a/": true,
		"http://localhost:7777":             true,
		"http://127.0.0.1/consent":          true,
		"http://[::1]:7777":                 true,
		"http://agent.example.com":          false,
		"http://192.0.2.1":                  false,
		"https://a.example/%zz":             false,
		"https:///consent":                  false,
		"https:a.example":                   false,
		"ftp://a.example":                   false,
		"//a.example":                       false,
		"https://ann@a.example":             false,
		"https://a.example?q=1":             false,
		"https://a.example/?":               false,
		"https://a.example/#part":           false,
	} {
		t.Run(base, func(t *testing.T) {
			if d, err := NewDoor(base, time.Now, nil); (err == nil) != ok || (d != nil) != ok {
				t.Errorf("%v, %v", d, err)
			}
		})
	}
}

// TestSecureCookie: with TLS at the server or at a proxy in front, a server without TLS on the same
// host can neither read nor set the cookie, and forms come from the https origin.
func TestSecureCookie(t *testing.T) {
	withTLS := func(r *http.Request) { r.TLS = new(tls.ConnectionState) }
	for name, c := range map[string]struct {
		base   string
		change func(*http.Request)
		secure bool
		origin string
	}{
		"loopback":             {"", func(*http.Request) {}, false, "http://" + local},
		"loopback-tls":         {"", withTLS, true, "https://" + local},
		"loopback-base":        {"http://" + local, func(*http.Request) {}, false, "http://" + local},
		"tls-below-base":       {"http://" + local, withTLS, true, "http://" + local},
		"proxy":                {"https://" + local, func(*http.Request) {}, true, "https://" + local},
		"proxy-with-tls-below": {"https://" + local, withTLS, true, "https://" + local},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := newDoor(t, c.base)
			cookies := send(d, "GET", d.Link("http://"+local), c.change).Cookies()
			want := map[bool]string{true: "__Secure-lookleap", false: "lookleap"}[c.secure]
			if len(cookies) != 1 || cookies[0].Secure != c.secure || cookies[0].Name != want {
				t.Fatalf("%v", cookies)
			}
			for _, origin := range []string{"http://" + local, "https://" + local} {
				resp := send(d, "POST", "http://"+local+"/"+d.path+"/", func(r *http.Request) {
					c.change(r)
					r.AddCookie(cookies[0])
					r.Header.Set("Origin", origin)
				})
				if (resp.StatusCode == http.StatusOK) != (origin == c.origin) {
					t.Errorf("%s: %d", origin, resp.StatusCode)
				}
			}
		})
	}
}

func TestFormToken(t *testing.T) {
	request := func(s *session) *http.Request {
		return httptest.NewRequest("GET", "/", nil).WithContext(contextWith(context.Background(), s))
	}
	a, b := request(&session{key: []byte("a")}), request(&session{key: []byte("b")})
	token := FormToken(a, "plan", "digest")
	if !FormTokenValid(a, token, "plan", "digest") {
		t.Error("the own token is refused")
	}
	for name, ok := range map[string]bool{
		"other-session":   FormTokenValid(b, token, "plan", "digest"),
		"other-digest":    FormTokenValid(a, token, "plan", "other"),
		"shifted":         FormTokenValid(a, token, "pland", "igest"),
		"empty":           FormTokenValid(a, "", "plan", "digest"),
		"without-session": FormTokenValid(httptest.NewRequest("GET", "/", nil), "", "plan", "digest"),
	} {
		if ok {
			t.Errorf("%s: accepted", name)
		}
	}
}
