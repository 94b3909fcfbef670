package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// profileCall is a [Profile] that sees the context and the question.
type profileCall func(context.Context, Question) (Value, error)

func (f profileCall) Value(ctx context.Context, q Question) (Value, error) { return f(ctx, q) }

// detectorFunc is an injection detector that is a function.
type detectorFunc func(context.Context, string) (string, error)

func (f detectorFunc) Detect(ctx context.Context, text string) (string, error) { return f(ctx, text) }

// TestDeadline checks of each step of a session that nothing more is asked of anyone
// once the caller's context has ended.
func TestDeadline(t *testing.T) {
	fields := []string{"email", "tel", "fn", "lang", "bday"}
	var asks []string
	for _, field := range fields {
		asks = append(asks, askFor(field))
	}
	doc := booking("", strings.Join(asks, ""))

	// counting is a stand whose profile counts its questions and ends a context at the first.
	counting := func(t *testing.T) (st *stand, ctx context.Context, questions *int) {
		ctx, cancel := context.WithCancel(t.Context())
		questions = new(int)
		st = asker(t)
		for _, field := range fields {
			st.allow(field, "*")
		}
		st.user.Profile = profileCall(func(context.Context, Question) (Value, error) {
			*questions++
			cancel()
			return Value{Text: "ann@example.org", Provenance: ProvenanceUser}, nil
		})
		return st, ctx, questions
	}
	t.Run("O01", func(t *testing.T) {
		t.Run("reject-decide", func(t *testing.T) {
			st, ctx, questions := counting(t)
			decisions := st.page(doc).Decide(ctx)
			if *questions != 1 || len(decisions) != len(fields) {
				t.Errorf("%d questions, %d decisions", *questions, len(decisions))
			}
			for _, d := range decisions[1:] {
				if d.Verb != VerbRefuse || d.Code != lookleap.CodeCancelled {
					t.Error(brief(d))
				}
			}
		})
		t.Run("reject-prepare", func(t *testing.T) {
			st, ctx, questions := counting(t)
			p := st.page(doc)
			st.net.Journal().Clear()
			_, err := p.Do(ctx, Call{Action: "book"})
			hasCode(t, err, lookleap.CodeCancelled)
			if requests := st.net.Journal().Requests(); *questions != 1 || len(requests) > 0 {
				t.Errorf("%d questions, %d requests", *questions, len(requests))
			}
		})
		t.Run("reject-open", func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			calls := 0
			detector := detectorFunc(func(ctx context.Context, _ string) (string, error) {
				calls++
				cancel()
				<-ctx.Done() // reading is shared, so its end follows that of its only caller
				return "", nil
			})
			net := newLab(t)
			s := newSession(t, net, User{}, Options{Detectors: []Detector{detector, detector, detector}})
			net.Site("shop.example").Handle("/a", document(`<persona><tone>kind</tone></persona>`))
			_, err := s.Open(ctx, "https://shop.example/a")
			hasCode(t, err, lookleap.CodeCancelled)
			if calls != 1 {
				t.Errorf("%d calls", calls)
			}
		})
		t.Run("reject-site-refs", func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			net := newLab(t)
			s := newSession(t, net, User{}, Options{})
			var refs strings.Builder
			asked := 0
			for i := range 3 {
				name := fmt.Sprintf("r%d.example", i)
				fmt.Fprintf(&refs, `<site-ref domain="%s" canonical="https://%s/doc"/>`, name, name)
				net.Site(name).Handle("/doc", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					asked++
					cancel()
					<-r.Context().Done()
					document("").ServeHTTP(w, r)
				}))
			}
			net.Site("shop.example").Handle("/a", document("<head><title>x</title>"+refs.String()+"</head>"))
			_, err := s.Open(ctx, "https://shop.example/a")
			hasCode(t, err, lookleap.CodeCancelled)
			if asked != 1 {
				t.Errorf("%d documents were asked for", asked)
			}
		})
		t.Run("reject-remembering", func(t *testing.T) {
			from, probes, read := speaker{serving: "a.example"}, 0, 0
			ctx := &probed{t.Context(), func() error {
				if probes++; probes < 10 {
					return nil
				}
				return context.DeadlineExceeded
			}}
			h := newHearsay()
			err := h.hear(ctx, from, heardWaiting+1, func(yield func(string) bool) {
				for i := range 1000 {
					if read++; !yield(fmt.Sprintf("account 4711-%06d", i)) {
						return
					}
				}
			})
			if !errors.Is(err, context.DeadlineExceeded) || read != 10 {
				t.Errorf("%v after %d texts", err, read)
			}
			var x taintIndex
			f := fold("account 4711-000999")
			if got := h.find("b.example", &f, x.tokenRows(&f)); !slices.Contains(got, from) {
				t.Error("what was not remembered in time is forgotten")
			}
		})
	})
}

// TestOthersMeanwhile checks that a plug-in of the host that does not answer holds no
// lock that another page or session needs.
func TestOthersMeanwhile(t *testing.T) {
	for _, plugin := range []string{"profile", "policy"} {
		t.Run("O01/accept-"+plugin, func(t *testing.T) {
			called, answer := make(chan struct{}), make(chan struct{})
			wait := func(field string) {
				if field == "email" {
					close(called)
					<-answer
				}
			}
			st := asker(t).allow("email", "*").allow("tel", "*")
			switch plugin {
			case "profile":
				st.user.Profile = profileCall(func(ctx context.Context, q Question) (Value, error) {
					wait(q.Field)
					return ann.Value(ctx, q)
				})
			case "policy":
				st.user.Policy.Veto = func(_ context.Context, d Decision) error { wait(d.Field); return nil }
			}
			slow := pageFor(t, st.net, st.session(), "https://slow.example/a", booking("", askFor("email")))
			done := make(chan struct{})
			go func() { defer close(done); slow.Decide(t.Context()) }()
			<-called
			other := &stand{T: t, net: st.net, user: st.user, opts: st.opts}
			for _, s := range []*Session{st.session(), other.session()} { // each would wait for ever
				p := pageFor(t, st.net, s, "https://quick.example/a", booking("", askFor("tel")))
				if d := p.Decide(t.Context()); len(d) != 1 || d[0].Verb != VerbAllow {
					t.Errorf("%+v", d)
				}
				_ = p.Explain().String()
				p.Tools()
				p.Text(anml.TextOptions{})
				for range s.Context().Informs("") {
				}
				if _, err := p.Do(t.Context(), Call{Action: "find", Args: map[string]string{"q": "tea"}}); err == nil {
					t.Error("an action was executed without a word of the user's")
				}
				if _, err := s.Forget(t.Context(), "slow.example"); err != nil {
					t.Error(err)
				}
			}
			close(answer)
			<-done
		})
	}
}
