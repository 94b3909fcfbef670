package agent

import (
	"context"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// elsewhere opens the document of another service in the stage's session; what is
// sent is counted from then on.
func (s *stage) elsewhere(url, sections string) *Page {
	s.Helper()
	p := pageFor(s.T, s.net, s.session, url, sections)
	s.net.Journal().Clear()
	return p
}

// asked is everything that the user was shown so far.
func (s *stage) asked() string {
	var b strings.Builder
	for _, r := range s.user.Requests() {
		b.WriteString(r.String())
		for _, item := range r.Items {
			b.WriteString("\n" + item.Summary)
		}
	}
	return b.String()
}

// wantAsked wants texts among what the user was shown, or not where they begin
// with "!".
func (s *stage) wantAsked(want ...string) {
	s.Helper()
	all := s.asked()
	for _, w := range want {
		if not, ok := strings.CutPrefix(w, "!"); ok && strings.Contains(all, not) || !ok && !strings.Contains(all, w) {
			s.Errorf("what is shown has to have %q:\n%s", w, all)
		}
	}
}

// entries are those of the ledger of a kind.
func entries(t testing.TB, l DisclosureLedger, kinds ...EntryKind) (list []Entry) {
	t.Helper()
	for e, err := range (Filter{Kinds: kinds}).Entries(context.Background(), l) {
		must(t, err)
		list = append(list, e)
	}
	return list
}

var book = Call{Action: "book"}

const secret = "4711-8822"

// crossed is a stage where a.example told a member number, and the shop asks for it.
func crossed(t *testing.T, attrs string, v Value, replies ...labprompt.Reply) *stage {
	t.Helper()
	p := &UserPolicy{}
	must(t, p.Set(StandingRule{Field: "email", Domain: "*", Effect: EffectAllow}))
	s := newStage(t, setting{
		doc:  booking(rule("email", "none"), askFor("email", `required="true"`)),
		user: User{Profile: Fields{"email": v}, Policy: p, Store: NewMemoryStore()}, replies: replies,
	})
	s.elsewhere("https://www.a.example/x", inform("Member "+secret, attrs))
	return s
}
