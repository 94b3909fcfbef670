package lookleapmcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
)

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// crowd is a server with authenticated users: the token of each is their id.
type crowd struct {
	*world
	t       *testing.T
	web     *httptest.Server
	ledgers map[string]lookleap.Store

	mu    sync.Mutex
	built map[string]int // how often a user's session began
}

func newCrowd(t *testing.T, maxUsers int) *crowd {
	c := &crowd{world: newWorld(), t: t, ledgers: map[string]lookleap.Store{}, built: map[string]int{}}
	o := c.options(t.Context())
	o.SingleUser, o.MaxUsers = false, maxUsers
	o.User = func(_ context.Context, id string) (agent.User, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.built[id]++
		if c.ledgers[id] == nil {
			c.ledgers[id] = lookleap.NewMemoryStore()
		}
		return agent.User{ID: "wrong", Profile: agent.Fields{"fn": {Text: id + " Example"}, "tel": {Text: "1"}}, Ledger: c.ledgers[id]}, nil
	}
	s, err := NewServer(c.Host(), o)
	if err != nil {
		t.Fatal(err)
	}
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: token}, nil
	}
	c.web = httptest.NewServer(auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(s.Handler()))
	t.Cleanup(func() { c.web.CloseClientConnections(); c.web.Close(); _ = s.Close(); c.Close() })
	return c
}

func (c *crowd) join(id, protocol string, u *person, manual bool) *client {
	over := &mcp.StreamableClientTransport{Endpoint: c.web.URL, MaxRetries: -1, HTTPClient: &http.Client{Transport: bearer(id)}}
	return connect(c.t, over, protocol, u, manual)
}

// TestUsers shows that nothing of one user reaches another.
func TestUsers(t *testing.T) {
	search := map[string]any{"from": "harbour", "to": "island"}
	reserve := map[string]any{"trip": "t2", "seats": 1}
	for name, protocol := range protocols {
		t.Run("state-"+name, func(t *testing.T) {
			c := newCrowd(t, 0)
			kim, lee := &person{accept: true}, &person{accept: true}
			a, b := c.join("kim", protocol, kim, false), c.join("lee", protocol, lee, false)
			a.call(a.tool("search"), search)
			list, err := b.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range list.Tools {
				if strings.HasSuffix(tool.Name, "reserve") {
					t.Error("the page of one user's search is offered to another")
				}
			}
			if r := a.call(a.tool("reserve"), reserve); r.IsError {
				t.Fatalf("reserve: %s", text(r))
			}
			if r := a.call(a.tool("pay"), map[string]any{}); r.IsError {
				t.Fatalf("pay: %s", text(r))
			}
			if len(kim.asked) == 0 || len(lee.asked) != 0 {
				t.Errorf("asked %q and %q", kim.asked, lee.asked)
			}
			if told := c.booking.Bookings(); len(told) != 1 || told[0].Told["fn"] != "kim Example" {
				t.Errorf("the service learned %+v", told)
			}
			for id, want := range map[string]bool{"kim": true, "lee": false} {
				some := false
				for range agent.NewLedger(c.ledgers[id]).Entries(t.Context()) {
					some = true
				}
				if some != want {
					t.Errorf("the ledger of %s has entries: %v, want %v", id, some, want)
				}
			}
			// What kim agreed to is not an agreement of lee: lee is asked, as lee.
			b.call(b.tool("search"), search)
			if r := b.call(b.tool("reserve"), reserve); r.IsError || len(lee.asked) != 1 {
				t.Errorf("reserve: %s, asked %q", text(r), lee.asked)
			}
		})
	}
	t.Run("pending-plan", func(t *testing.T) {
		c := newCrowd(t, 0)
		kim := &person{accept: true}
		a, b := c.join("kim", "", kim, true), c.join("lee", "", &person{accept: true}, true)
		a.call(a.tool("search"), search)
		b.call(b.tool("search"), search)
		tool := a.tool("reserve")
		asked := a.call(tool, reserve)
		if !asked.NeedsInput() {
			t.Fatalf("nothing is asked: %s", text(asked))
		}
		reply, err := kim.answer(t.Context(), &mcp.ElicitRequest{Params: asked.InputRequests[consentQuestion].(*mcp.ElicitParams)})
		if err != nil {
			t.Fatal(err)
		}
		again := &mcp.CallToolParams{Name: tool, Arguments: reserve, RequestState: asked.RequestState, InputResponses: mcp.InputResponseMap{consentQuestion: reply}}
		if r, err := b.CallTool(t.Context(), again); err != nil || !r.IsError || len(c.booking.Bookings()) != 0 {
			t.Fatalf("another user resumed the plan: %v %v", r, err)
		}
		if r, err := a.CallTool(t.Context(), again); err != nil || r.IsError || len(c.booking.Bookings()) != 1 {
			t.Fatalf("the user could not resume the plan: %v %v", r, err)
		}
	})
	t.Run("stolen-session", func(t *testing.T) {
		c := newCrowd(t, 0)
		a := c.join("kim", protocols["old"], &person{accept: true}, false)
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, c.web.URL, strings.NewReader(`{"jsonrpc":"2.0","id":9,"method":"tools/list"}`))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Session-Id", a.ID())
		for id, want := range map[string]int{"kim": http.StatusOK, "lee": http.StatusForbidden} {
			req.Header.Set("Authorization", "Bearer "+id)
			again := req.Clone(t.Context())
			again.Body, _ = req.GetBody()
			resp, err := http.DefaultClient.Do(again)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("%s uses the session of kim: status %d, want %d", id, resp.StatusCode, want)
			}
		}
	})
	t.Run("no-user", func(t *testing.T) {
		w := newWorld()
		defer w.Close()
		o := w.options(t.Context())
		o.SingleUser = false
		s, err := NewServer(w.Host(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		answer := httptest.NewRecorder()
		s.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "https://mcp.example/", strings.NewReader("{}")))
		if answer.Code != http.StatusUnauthorized {
			t.Errorf("status %d", answer.Code)
		}
	})
	// The table is asked directly: how many requests a client sends, and when, is its own affair.
	t.Run("evicted", func(t *testing.T) {
		opened := map[string]int{}
		table := newUsers(2, func(_ context.Context, id string) (*user, error) {
			opened[id]++
			return newUser(mcp.NewServer(&mcp.Implementation{Name: "test"}, nil), nil), nil
		})
		use := func(id string) {
			t.Helper()
			_, release, err := table.get(t.Context(), id)
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			release()
		}
		for _, id := range []string{"kim", "lee", "kim", "max", "kim"} {
			use(id)
		}
		if opened["kim"] != 1 || opened["lee"] != 1 || opened["max"] != 1 {
			t.Errorf("sessions began %v times", opened)
		}
		if use("lee"); opened["lee"] != 2 {
			t.Errorf("the user who left begins again %d times", opened["lee"])
		}
		_, first, err := table.get(t.Context(), "kim")
		if err != nil {
			t.Fatal(err)
		}
		_, second, err := table.get(t.Context(), "lee")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := table.get(t.Context(), "max"); lookleap.CodeOf(err) != lookleap.CodeLimit {
			t.Errorf("a user whose requests run has to leave: %v", err)
		}
		first()
		second()
	})
}

// TestDeafUserData: a function for the data of users that does not return holds up no one for ever.
func TestDeafUserData(t *testing.T) {
	newDeaf := func(t *testing.T) (*Server, chan struct{}) {
		until := make(chan struct{})
		host := &lookleap.Host{Prompter: Prompter{}}
		s, err := NewServer(host, Options{User: func(_ context.Context, id string) (agent.User, error) {
			if id != "kim" {
				<-until
			}
			return agent.User{}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		return s, until
	}
	t.Run("O13/reject-deaf-user-data", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, until := newDeaf(t)
			begin := time.Now()
			if _, _, err := s.users.get(context.Background(), "lee"); lookleap.CodeOf(err) != lookleap.CodeTimeout || time.Since(begin) > userTime {
				t.Errorf("%v after %v", err, time.Since(begin))
			}
			_, release, err := s.users.get(context.Background(), "kim") // others are served meanwhile
			if err != nil {
				t.Fatal(err)
			}
			release()
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if _, _, err := s.users.get(context.Background(), "max"); !errors.Is(err, lookleap.ErrClosed) {
				t.Error(err)
			}
			close(until)
		})
	})
	t.Run("O13/reject-waiting-for-another-request", func(t *testing.T) { // which opens the same user
		synctest.Test(t, func(t *testing.T) {
			s, until := newDeaf(t)
			var all sync.WaitGroup
			all.Go(func() { _, _, _ = s.users.get(context.Background(), "lee") })
			synctest.Wait()
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			begin := time.Now()
			if _, _, err := s.users.get(ctx, "lee"); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > time.Second {
				t.Errorf("%v after %v", err, time.Since(begin))
			}
			all.Wait()
			close(until)
		})
	})
	t.Run("O28/reject-calls-of-deaf-user-data", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, until := newDeaf(t)
			var all sync.WaitGroup
			for i := range 10 * partCalls {
				all.Go(func() {
					if _, _, err := s.users.get(context.Background(), fmt.Sprint("user ", i)); lookleap.CodeOf(err) != lookleap.CodeTimeout {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if _, _, err := s.users.get(context.Background(), "kim"); lookleap.CodeOf(err) != lookleap.CodeTimeout {
				t.Errorf("another call beyond the bound: %v", err)
			}
			close(until)
		})
	})
	t.Run("O28/reject-user-data-that-panics", func(t *testing.T) {
		s, err := NewServer(&lookleap.Host{Prompter: Prompter{}}, Options{User: func(context.Context, string) (agent.User, error) { panic("no") }})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.users.get(t.Context(), "kim"); err == nil || !strings.Contains(err.Error(), "it panics") {
			t.Error(err)
		}
	})
}

// TestEndWhileAsking ends a server while a person does not answer.
func TestEndWhileAsking(t *testing.T) {
	for name, way := range map[string]struct {
		end    func(s *Server, terminate func(), ended <-chan error) error
		within time.Duration
	}{
		"terminated": {func(_ *Server, terminate func(), ended <-chan error) error { terminate(); return <-ended }, callTime},
		"closed":     {func(s *Server, _ func(), _ <-chan error) error { return s.Close() }, 0},
	} {
		t.Run("O29/reject-call-that-waits-for-its-user-"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				defer w.Close()
				s, err := NewServer(w.Host(), w.options(t.Context()))
				if err != nil {
					t.Fatal(err)
				}
				over, server := mcp.NewInMemoryTransports()
				ctx, terminate := context.WithCancel(t.Context())
				defer terminate()
				ended, asked := make(chan error, 1), make(chan struct{})
				go func() { ended <- s.Run(ctx, server) }()
				session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
					ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						close(asked)
						<-ctx.Done()
						return nil, ctx.Err()
					}}).Connect(t.Context(), over, &mcp.ClientSessionOptions{ProtocolVersion: protocols["old"]})
				if err != nil {
					t.Fatal(err)
				}
				c := &client{session, t, nil}
				c.call(c.tool("search"), map[string]any{"from": "harbour", "to": "island"})
				var all sync.WaitGroup
				tool := c.tool("reserve")
				all.Go(func() {
					if r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"trip": "t2", "seats": 1}}); err == nil && !r.IsError {
						t.Errorf("the call was done: %s", text(r))
					}
				})
				<-asked
				begin := time.Now()
				if err := way.end(s, terminate, ended); time.Since(begin) > way.within {
					t.Errorf("%v after %v", err, time.Since(begin))
				}
				all.Wait()
				_ = session.Close()
				_ = s.Close()
				if len(w.booking.Bookings()) != 0 {
					t.Error("something was booked")
				}
			})
		})
	}
}
