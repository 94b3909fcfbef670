package webpage

import (
	"context"
	"crypto/tls"
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
	addr, _ := net.ResolveTCPAddr("tcp", local)
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(addr)))
	r.RemoteAddr = remote
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result()
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
		for _, host := range []string{local, "localhost:7777", "[::1]:7777", "agent.localhost:7777"} {
			resp := send(d, "GET", home+"plan/x", func(r *http.Request) { r.AddCookie(cookie); r.Host = host })
			body := make([]byte, 100)
			n, _ := resp.Body.Read(body)
			if resp.StatusCode != http.StatusOK || string(body[:n]) != "inside /plan/x" {
				t.Errorf("%s: %d %s", host, resp.StatusCode, body[:n])
			}
		}
	})
	t.Run("cookie", func(t *testing.T) {
		if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/"+d.path+"/" || cookie.Domain != "" {
			t.Errorf("%+v", cookie)
		}
	})
	for name, c := range map[string]struct {
		method, url string
		change      func(*http.Request)
		want        int
	}{
		"rebinding":      {"GET", home, func(r *http.Request) { r.Host = "evil.example:7777" }, http.StatusMisdirectedRequest},
		"other-port":     {"GET", home, func(r *http.Request) { r.Host = "127.0.0.1:1" }, http.StatusMisdirectedRequest},
		"no-port":        {"GET", home, func(r *http.Request) { r.Host = "127.0.0.1" }, http.StatusMisdirectedRequest},
		"empty-host":     {"GET", home, func(r *http.Request) { r.Host = "" }, http.StatusMisdirectedRequest},
		"other-machine":  {"GET", home, func(r *http.Request) { r.RemoteAddr = "192.0.2.1:50000" }, http.StatusMisdirectedRequest},
		"private-name":   {"GET", home, func(r *http.Request) { r.Host = "192.168.0.1:7777" }, http.StatusMisdirectedRequest},
		"other-path":     {"GET", "http://" + local + "/other/", nil, http.StatusNotFound},
		"root":           {"GET", "http://" + local + "/", nil, http.StatusNotFound},
		"no-cookie":      {"GET", home, func(r *http.Request) { r.Header.Del("Cookie") }, http.StatusUnauthorized},
		"other-cookie":   {"GET", home, func(r *http.Request) { r.Header.Set("Cookie", "lookleap=guess") }, http.StatusUnauthorized},
		"cross-site":     {"GET", home, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, http.StatusForbidden},
		"same-site":      {"GET", home, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, http.StatusForbidden},
		"other-origin":   {"GET", home, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden},
		"post-no-origin": {"POST", home, nil, http.StatusForbidden},
		"post-typed":     {"POST", home, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }, http.StatusForbidden},
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
	t.Run("bounded", func(t *testing.T) {
		for range 10 * maxLinks {
			open(t, d)
			d.Link("")
		}
		if len(d.links) > maxLinks || len(d.sessions) > maxSessions {
			t.Errorf("%d links, %d sessions", len(d.links), len(d.sessions))
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
