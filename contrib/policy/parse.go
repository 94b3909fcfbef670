package policy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
	"github.com/lookleap/lookleap/internal/textdiff"
)

// maxFile is the largest policy file, in bytes.
const maxFile = 1 << 20

// Parse reads one policy file. Duplicate and unknown members, values of another type and invalid
// URLs are errors with line, column and fix. On an error it also returns a policy that allows
// nothing. A file that extends others is read with [Load].
func Parse(name string, data []byte) (*Policy, error) {
	one, err := parse(name, data)
	if err == nil && len(one.extends) > 0 {
		err = &lookleap.Error{Code: dvs.CodePolicyUnreadable, Subject: name, Message: "the policy extends other files",
			Fix: "read it with Load"}
	}
	if err != nil {
		return unreadable(name, err)
	}
	return &Policy{name: one.name, parts: []part{one}}, nil
}

// reader reads members of objects and keeps the first error.
type reader struct{ err error }

func (r *reader) fail(err error) { r.err = cmp.Or(r.err, err) }

func (r *reader) refuse(v strictjson.Value, message, fix string) {
	r.fail(v.Refuse(string(dvs.CodePolicyUnreadable), message, fix))
}

// object reads an object by the functions for its members. Another member is an error that
// names the nearest one.
func (r *reader) object(v strictjson.Value, members map[string]func(strictjson.Value)) {
	r.fail(v.Expect(strictjson.Object))
	for name, member := range v.Members() {
		read, known := members[name]
		if !known {
			known := slices.Sorted(maps.Keys(members))
			fix := "remove it; the members here are " + strings.Join(known, ", ")
			if near := textdiff.Nearest(name, known); near != "" {
				fix = "did you mean " + plaintext.Quote(near, 60) + "? Otherwise remove it"
			}
			r.refuse(member, "a policy has no member "+plaintext.Quote(name, 60)+" here", fix)
		}
		if r.err != nil {
			return
		}
		read(member)
	}
}

func (r *reader) text(into *string) func(strictjson.Value) {
	return func(v strictjson.Value) {
		text, err := v.Text()
		r.fail(err)
		if strings.TrimSpace(text) == "" {
			r.refuse(v, "the text is empty", "write a value, or remove the member")
		}
		*into = text
	}
}

func (r *reader) flag(into *bool) func(strictjson.Value) {
	return func(v strictjson.Value) {
		is, err := v.Bool()
		r.fail(err)
		*into = is
	}
}

// not reads a boolean that allows something into one that forbids it.
func (r *reader) not(into *bool) func(strictjson.Value) {
	return func(v strictjson.Value) {
		is, err := v.Bool()
		r.fail(err)
		*into = !is
	}
}

// texts reads a list of texts; an empty list stays apart from none.
func (r *reader) texts(into *[]string, check func(string) error) func(strictjson.Value) {
	return func(v strictjson.Value) {
		*into = []string{}
		r.each(v, func(v strictjson.Value) {
			var text string
			r.text(&text)(v)
			if check != nil {
				r.checked(v, check(text))
			}
			*into = append(*into, text)
		})
	}
}

func (r *reader) each(v strictjson.Value, read func(strictjson.Value)) {
	r.fail(v.Expect(strictjson.Array))
	for e := range v.Elements() {
		read(e)
	}
}

// checked makes an error about a value one of its place in the file.
func (r *reader) checked(v strictjson.Value, err error) {
	if err == nil {
		return
	}
	e := &lookleap.Error{Message: err.Error()}
	errors.As(err, &e)
	r.refuse(v, e.Message, e.Fix)
}

// units reads a whole number of units, from 1.
func (r *reader) units(into *time.Duration, unit time.Duration, most int64) func(strictjson.Value) {
	return func(v strictjson.Value) {
		n, err := v.Int()
		r.fail(err)
		if n < 1 || n > most {
			r.refuse(v, "the number is out of range", fmt.Sprintf("write a number from 1 to %d", most))
		}
		*into = time.Duration(n) * unit
	}
}

// word reads one of some words.
func (r *reader) word(into interface{ UnmarshalText([]byte) error }) func(strictjson.Value) {
	return func(v strictjson.Value) {
		text, err := v.Text()
		r.fail(err)
		r.checked(v, into.UnmarshalText([]byte(text)))
	}
}

func parse(name string, data []byte) (part, error) {
	p := part{name: name}
	v, err := strictjson.Parse(data, strictjson.Limits{Size: maxFile})
	if err != nil {
		return p, located(name, err)
	}
	r := &reader{}
	kind := ""
	r.object(v, map[string]func(strictjson.Value){
		"type": func(v strictjson.Value) {
			r.text(&kind)(v)
			if kind != MediaType {
				r.refuse(v, "the type is "+plaintext.Quote(kind, 100)+", and this program reads "+MediaType,
					"write that type, or update the program")
			}
		},
		"$schema":   r.text(new(string)),
		"name":      r.text(&p.name),
		"extends":   r.texts(&p.extends, nil),
		"skills":    func(v strictjson.Value) { p.readSkills(r, v) },
		"agentsTxt": func(v strictjson.Value) { p.readAgentsTxt(r, v) },
		"anmlTrust": func(v strictjson.Value) {
			r.object(v, map[string]func(strictjson.Value){
				"requireSecure": r.flag(&p.anmlTrust.requireSecure),
				"minTier":       r.tier(&p.anmlTrust.minTier),
			})
		},
		"aiuri": func(v strictjson.Value) {
			r.object(v, map[string]func(strictjson.Value){
				"requireBinding": r.flag(&p.aiuri.requireBinding),
				"authorities":    r.texts(&p.aiuri.authorities, checkAuthority),
				"credentials":    r.texts(&p.aiuri.credentials, checkAuthority),
			})
		},
		"tools": func(v strictjson.Value) {
			r.object(v, map[string]func(strictjson.Value){
				"allow":  r.texts(&p.tools.allow, checkPattern),
				"refuse": r.texts(&p.tools.refuse, checkPattern),
				"ask":    r.texts(&p.tools.ask, checkPattern),
			})
		},
		"agent": func(v strictjson.Value) {
			r.object(v, map[string]func(strictjson.Value){"neverTell": r.texts(&p.agent.neverTell, nil)})
		},
	})
	if kind == "" {
		r.refuse(v, "the policy has no type", `add "type": "`+MediaType+`"`)
	}
	p.skills.Name = p.name
	return p, located(name, r.err)
}

// checkPattern returns an error for a malformed pattern of names.
func checkPattern(text string) error {
	_, err := gate.Match(text, "")
	return err
}

func (p *part) readSkills(r *reader, v strictjson.Value) {
	s := &p.skills
	profile := new(dvs.Profile)
	r.object(v, map[string]func(strictjson.Value){
		"allow": r.texts(&s.Allow, func(text string) error { _, err := dvs.ParseTrustRoot(text, dvs.Rules{}); return err }),
		"deny":  r.texts(&s.Deny, func(text string) error { return checkSkills(dvs.Policy{Deny: []string{text}}) }),
		"pins":  func(v strictjson.Value) { r.each(v, func(v strictjson.Value) { s.Pins = append(s.Pins, r.pin(v)) }) },
		"signers": func(v strictjson.Value) {
			r.each(v, func(v strictjson.Value) { s.Signers = append(s.Signers, r.signer(v)) })
		},
		"pinnedOnly":    r.flag(&s.PinnedOnly),
		"register":      r.word(&s.Register),
		"profile":       func(v strictjson.Value) { r.word(profile)(v); s.Profile = profile },
		"scripts":       r.not(&s.NoScripts),
		"discovery":     r.not(&s.NoDiscovery),
		"requireSecure": r.flag(&s.RequireSecure),
		"maxTrustDays":  r.units(&s.MaxTrust, 24*time.Hour, 3650),
		"feeds":         func(v strictjson.Value) { r.each(v, func(v strictjson.Value) { p.feeds = append(p.feeds, r.feed(v)) }) },
	})
}

// checkSkills checks the URLs of a policy as a loader would. The zero URL is denied only by a list
// of what is allowed, which p does not have.
func checkSkills(p dvs.Policy) error { return p.Check(dvs.SkillURL{}, dvs.Rules{}) }

func (r *reader) pin(v strictjson.Value) (pin dvs.PolicyPin) {
	r.object(v, map[string]func(strictjson.Value){
		"skill": r.text(&pin.Skill), "digest": r.word(&pin.Pin.Digest), "commit": r.text(&pin.Pin.Commit), "root": r.text(&pin.Root),
	})
	if r.err == nil {
		r.checked(v, checkSkills(dvs.Policy{Pins: []dvs.PolicyPin{pin}}))
	}
	return pin
}

func (r *reader) signer(v strictjson.Value) (s dvs.PolicySigner) {
	r.object(v, map[string]func(strictjson.Value){"root": r.text(&s.Root), "signer": r.text(&s.Signer)})
	if r.err == nil {
		r.checked(v, checkSkills(dvs.Policy{Signers: []dvs.PolicySigner{s}}))
	}
	return s
}

func (r *reader) feed(v strictjson.Value) (f Feed) {
	r.object(v, map[string]func(strictjson.Value){
		"url": func(v strictjson.Value) {
			r.text(&f.URL)(v)
			if _, err := dvs.ParseFeedURL(f.URL); r.err == nil {
				r.checked(v, err)
			}
		},
		"keys": func(v strictjson.Value) {
			f.Keys = []byte(v.Source())
			_, err := aiuri.ParseKeySet(f.Keys)
			r.checked(v, err)
		},
		"staleHours": r.units(&f.Stale, time.Hour, 24*30),
	})
	if r.err == nil && f.URL == "" {
		r.refuse(v, "the feed has no URL", `add "url"`)
	}
	return f
}

// tier reads the name of a tier.
func (r *reader) tier(into *anmltrust.Tier) func(strictjson.Value) {
	return func(v strictjson.Value) {
		text, err := v.Text()
		r.fail(err)
		for t := anmltrust.Display; t <= anmltrust.Self; t++ {
			if text == t.String() {
				*into = t
			}
		}
		if *into == anmltrust.Unlisted {
			r.refuse(v, "there is no tier "+plaintext.Quote(text, 60), "use one of display, full, self")
		}
	}
}

// checkAuthority returns an error for a malformed entry of a list of AI authorities.
func checkAuthority(text string) error {
	_, err := aiuri.MatchAuthority(aiuri.URI{}, []string{text})
	return err
}

func (p *part) readAgentsTxt(r *reader, v strictjson.Value) {
	r.object(v, map[string]func(strictjson.Value){
		"foreign": func(v strictjson.Value) {
			var word string
			r.text(&word)(v)
			if word != "restrict" {
				r.refuse(v, "a policy can only make agents.txt stricter", `write "restrict", or remove the member`)
			}
			p.agentsTxt.restrictForeign = true
		},
		"robotsToken": r.text(&p.agentsTxt.robotsToken),
		"refuseHttp":  r.flag(&p.agentsTxt.refuseHTTP),
	})
}

// located returns an error of the file with its position, or nil.
func located(name string, err error) error {
	var e *strictjson.Error
	if !errors.As(err, &e) {
		return err
	}
	return &lookleap.Error{Code: dvs.CodePolicyUnreadable, Subject: name, Message: e.Message, Fix: e.Fix,
		Position: lookleap.Position(e.Place())}
}
