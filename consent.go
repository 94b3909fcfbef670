package lookleap

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
	"github.com/lookleap/lookleap/internal/zero"
)

// ConsentPrompter asks the user. It is the embedding agent's own dialogue: a terminal, a
// page, a message, or a runtime that suspends and resumes.
//
// It returns the user's decision. An error counts as "no". If errors.Is(err,
// [ErrConsentPending]) is true, the operation ends with a [*PendingError] and can be
// resumed. PromptConsent may be called from several goroutines at once. The time that it
// takes does not count towards any limit.
type ConsentPrompter interface {
	PromptConsent(ctx context.Context, req *ConsentRequest) (ConsentDecision, error)
}

// ConsentKind says what is asked, so that a host can choose a dialogue. A request of an
// unknown kind is refused.
type ConsentKind string

// The kinds of request that the document packages make.
const (
	ConsentTrustRoot ConsentKind = "trust-root" // use a source as trusted from now on (dvs)
	ConsentSkill     ConsentKind = "skill"      // load a skill's instructions (dvs)
	ConsentExternal  ConsentKind = "external"   // fetch something outside the trust root (dvs)
	ConsentScript    ConsentKind = "script"     // run a script or command (dvs)
	ConsentDisclose  ConsentKind = "disclose"   // tell a service something about the user (anml/agent)
	ConsentAct       ConsentKind = "act"        // submit an action (anml/agent)
	ConsentRead      ConsentKind = "read"       // read further pages of a result (anml/agent)
	ConsentInvoke    ConsentKind = "invoke"     // call an AI endpoint (aiuri)
	ConsentTool      ConsentKind = "tool"       // run a tool of the agent (contrib/gate)
)

func (k ConsentKind) known() bool {
	switch k {
	case ConsentTrustRoot, ConsentSkill, ConsentExternal, ConsentScript, ConsentDisclose, ConsentAct, ConsentRead, ConsentInvoke, ConsentTool:
		return true
	}
	return false
}

// ConsentRequest is everything that one plan asks its user. It marshals to JSON.
// [ConsentRequest.Sections] lays it out for any dialogue, and String for a terminal. Only
// a [ConsentValue] or [RemoteText] contains untrusted text.
//
// A Summary, here and of an item, is one sentence that begins with a verb, because it follows
// "shop.example wants this agent to". What follows a semicolon is shown as a sentence of its own.
type ConsentRequest struct {
	ID        string        `json:"id"`                  // names the plan, never used twice
	Digest    string        `json:"digest"`              // covers every other member and the bytes of the effect
	Kind      ConsentKind   `json:"kind"`                // what is asked
	Origin    string        `json:"origin"`              // who asks: a canonical https origin, or RecipientAgent for a tool
	TrustRoot string        `json:"trustRoot,omitempty"` // under what the origin is trusted
	Summary   string        `json:"summary"`             // what the agent would do: "order one lamp"; remote words in it are quoted
	Items     []ConsentItem `json:"items"`               // at least one; NewPlan puts unusual ones first
	Effect    string        `json:"effect"`              // digest of the exact bytes that will be sent or run
	Expires   time.Time     `json:"expires"`             // a decision after this is too late
	Verdict   *Verdict      `json:"verdict,omitempty"`   // why the origin may ask at all
	Again     string        `json:"again,omitempty"`     // id of the first plan with this effect, which may have happened; see [Host.Again]
}

// ConsentItem is one thing to agree to: a field, a script, a request.
type ConsentItem struct {
	ID        string         `json:"id"`                 // unique within the request
	Class     ItemClass      `json:"class,omitempty"`    // what is unusual about it
	Summary   string         `json:"summary"`            // one sentence; remote words in it are quoted and short
	Recipient string         `json:"recipient"`          // who receives or runs it: a host with a dot, an origin, RecipientAgent, or a name
	Digest    string         `json:"digest"`             // of exactly what this item covers
	Values    []ConsentValue `json:"values,omitempty"`   // what exactly is approved
	Remote    []RemoteText   `json:"remote,omitempty"`   // what the other side says about it
	Optional  bool           `json:"optional,omitempty"` // the effect is possible without it
	Required  bool           `json:"required,omitempty"` // the other side calls it required, although the effect is possible without it
}

// RecipientAgent is the recipient of what stays with this agent.
const RecipientAgent = "this agent"

// ItemClass says what is unusual about a [ConsentItem]. Items are shown in the
// order of their classes. An unknown class counts as the most unusual one.
type ItemClass string

// The classes, the most unusual first. [NewPlan] raises an item to
// ItemOtherRecipient if its recipient's registrable domain is not that of the
// origin.
const (
	ItemPayment        ItemClass = "payment"         // spends or moves money
	ItemCode           ItemClass = "code"            // runs a program or a command, or works on the user's files
	ItemTrust          ItemClass = "trust"           // lasts: trusts someone from now on
	ItemOtherRecipient ItemClass = "other-recipient" // goes to another site than the one that asks
	ItemUnencrypted    ItemClass = "unencrypted"     // can be read and changed on the way
	ItemSensitive      ItemClass = "sensitive"       // health, identity documents, finances and the like
	ItemOrdinary       ItemClass = ""
)

// ConsentValue is a part of what is approved, exactly as it will be sent or run.
// A rendering shows a text of up to [MaxShown] bytes whole; of a longer one it
// shows both ends, and says how much is left out and where the rest is.
//
// Text holds all of the value, or the beginning of one that is too large for a
// request: then Size and Digest tell of the whole, which is in [Plan.Effect].
type ConsentValue struct {
	Label   string `json:"label"`             // what it is, in our words: "command", "body"
	Name    string `json:"name,omitempty"`    // the name under which it is sent or stored; untrusted
	Text    string `json:"text,omitempty"`    // the value, untrusted
	Data    []byte `json:"data,omitempty"`    // the value, if it is not UTF-8: NewPlan moves such a Text here
	Size    int    `json:"size,omitempty"`    // bytes of the whole value, if Text is only its beginning
	Digest  string `json:"digest,omitempty"`  // of the whole value, if Text is only its beginning
	Source  string `json:"source,omitempty"`  // the host that chose the value; empty: the user or this agent
	Detail  bool   `json:"detail,omitempty"`  // what a machine needs and the user need not judge: shown among the details, unless Command is set
	Command bool   `json:"command,omitempty"` // has to be shown whole: NewPlan refuses an item with more than MaxShown bytes of these
}

// MaxShown is the number of bytes of a [ConsentValue] that a rendering shows
// without leaving anything out, and the number of bytes that the values of one
// item with Command may have together.
const MaxShown = 4 << 10

// MaxShownLines is the number of lines of a [ConsentValue] without Command that a rendering shows.
// Equal lines that follow each other count as one, and are shown with their number.
const MaxShownLines = 256

// value returns the bytes of a value.
func (v *ConsentValue) value() string {
	if v.Text == "" {
		return string(v.Data)
	}
	return v.Text
}

// RemoteText is untrusted text of the other side. Show it as a quotation. A
// rendering leaves out a text that repeats one of the item's Values.
type RemoteText struct {
	Source string `json:"source"` // who says it: a host
	Label  string `json:"label"`  // what it is, our word
	Text   string `json:"text"`   // raw
}

// ConsentDecision is the user's decision. If no item is approved, the request is refused.
type ConsentDecision struct {
	Digest   string    `json:"digest"`         // of the request that was shown
	Approved []string  `json:"approved"`       // ids of the approved items
	Until    time.Time `json:"until,omitzero"` // until when an identical request need not be asked again; zero: this once

	// AllVersions is for a refusal: it also holds for every later version of what asks, where the
	// caller keeps refusals, as a dvs.Loader with a store does. Without it, a refusal holds for what was shown.
	AllVersions bool `json:"allVersions,omitempty"`

	// Reason is for a refusal: what the user says to the agent, such as "too expensive, look for
	// another day". The error of the refusal quotes up to [MaxReason] bytes of it.
	Reason string `json:"reason,omitempty"`
}

// ReasonQuestion asks for the Reason of a [ConsentDecision], where a dialogue takes one.
const ReasonQuestion = "If you refuse: why, in words for the agent"

// MaxReason is the number of bytes of a [ConsentDecision]'s Reason that errors quote.
const MaxReason = 500

// Decision returns the decision that an answer to this request makes. The answer is a
// [ConsentDecision] as JSON, as a page, a queue or an agent framework brings it back. Everything
// but a well-formed yes is a no: other JSON, null or another type for a member, unknown or
// duplicate members, ids that are unknown or named twice, and an answer that does not name the
// digest of the request that was shown. The error says what is malformed, and comes with the no.
// The decision of a well-formed answer that names another digest keeps it, so it decides nothing.
func (r *ConsentRequest) Decision(answer []byte) (ConsentDecision, error) {
	no := ConsentDecision{Digest: zero.Or(r).Digest}
	malformed := func(reason string) (ConsentDecision, error) {
		return no, consentError(CodeConsentRefused, "the answer is not a decision, so it counts as a no: "+reason, nil)
	}
	var d ConsentDecision
	if len(answer) > maxAnswer {
		return malformed(fmt.Sprintf("it has %d bytes", len(answer)))
	}
	if err := strictjson.Decode(answer, &d); err != nil {
		return malformed(err.Error())
	}
	if d.Digest == "" || r == nil {
		return malformed("it does not name the digest of what was shown")
	}
	if d.Digest != r.Digest {
		return ConsentDecision{Digest: d.Digest}, nil
	}
	approved := make(map[string]bool, len(d.Approved))
	for _, id := range d.Approved {
		if approved[id] || !slices.ContainsFunc(r.Items, func(item ConsentItem) bool { return item.ID == id }) {
			return malformed("it approves " + quote(id, 100) + ", which was not asked or is approved twice")
		}
		approved[id] = true
	}
	return d, nil
}

// maxAnswer is the largest answer in bytes that [ConsentRequest.Decision] reads.
const maxAnswer = 1 << 20

// ErrConsentPending is the error that a prompter returns if the user has not decided yet
// and the operation should be suspended.
var ErrConsentPending = coded.New(string(CodeConsentPending), "consent is pending")

// SuspendingPrompter is a [ConsentPrompter] for programs that ask the user elsewhere, in a chat or
// another process: each operation that needs consent ends with a [*PendingError].
type SuspendingPrompter struct{}

// PromptConsent returns [ErrConsentPending].
func (SuspendingPrompter) PromptConsent(context.Context, *ConsentRequest) (ConsentDecision, error) {
	return ConsentDecision{}, ErrConsentPending
}

// ErrConsentRefused is the error of every missing consent: the user refused, asking failed
// or timed out, the decision is about another plan, or there is no prompter.
var ErrConsentRefused = coded.New(string(CodeConsentRefused), "consent refused")

// PendingError is the error of an operation that waits for its user. Nothing was done.
// Store State, show Request, and pass State and the decision to the Resume function of the
// package that returned the error, in this process or another one. State is plain JSON:
// seal it with [Keys] if it passes through untrusted systems.
type PendingError struct {
	Request *ConsentRequest
	State   json.RawMessage
}

func (e *PendingError) Error() string {
	return fmt.Sprintf("plan %s waits for its user (%s)", word(zero.Or(zero.Or(e).Request).ID), CodeConsentPending)
}

// Is reports whether target is [ErrConsentPending].
func (e *PendingError) Is(target error) bool { return target == ErrConsentPending }

// ReasonCode returns [CodeConsentPending].
func (e *PendingError) ReasonCode() Code { return CodeConsentPending }

// clone returns a deep copy. The [Verdict] is shared, because it does not change.
func (r *ConsentRequest) clone() *ConsentRequest {
	c := *r
	c.Items = slices.Clone(r.Items)
	for i := range c.Items {
		c.Items[i].Values = slices.Clone(c.Items[i].Values)
		c.Items[i].Remote = slices.Clone(c.Items[i].Remote)
	}
	return &c
}

// digest returns a digest of every other member. Package json encodes equal structs
// equally, so equal requests have equal digests.
func (r *ConsentRequest) digest() (string, error) {
	shown := *r
	shown.Digest = ""
	data, err := json.Marshal(shown)
	if err != nil {
		return "", err
	}
	return Digest(data), nil
}

// Digest returns the SHA-256 digest of data: "sha256:" and 64 lower-case hex digits.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// check checks a decision about this request and returns the approved item ids in the
// order of the request. Its errors are of type [*Error].
func (r *ConsentRequest) check(d ConsentDecision, now time.Time) ([]string, error) {
	if d.Digest != r.Digest {
		return nil, consentError(CodeConsentMismatch, "the decision is about another request", nil)
	}
	if !now.Before(r.Expires) {
		return nil, consentError(CodePlanExpired, "the decision came after the plan expired", nil)
	}
	if len(d.Approved) == 0 {
		return nil, consentError(CodeConsentRefused, "the user did not agree"+d.reason(), nil)
	}
	approved := make(map[string]bool, len(d.Approved))
	for _, id := range d.Approved {
		approved[id] = true
	}
	var ids []string
	for _, item := range r.Items {
		switch {
		case approved[item.ID]:
			ids = append(ids, item.ID)
			delete(approved, item.ID)
		case !item.Optional:
			return nil, consentError(CodeConsentRefused, "the user did not agree to "+quote(item.ID, 100)+", which is required"+d.reason(), nil)
		}
	}
	if len(approved) > 0 {
		return nil, consentError(CodeConsentMismatch, "the decision approves something that was not asked", nil)
	}
	return ids, nil
}

// reason returns the user's reason as the end of an error's message.
func (d *ConsentDecision) reason() string {
	if strings.TrimSpace(d.Reason) == "" {
		return ""
	}
	return "; the user says " + quote(plaintext.Clip(d.Reason, MaxReason), MaxReason)
}

// originRules are those of the origins that may ask for consent.
var originRules = domain.Rules{AllowIP: true, AllowSpecial: true}

// isOrigin reports whether s is an https origin in canonical form.
func isOrigin(s string) bool {
	u, err := originRules.Parse(s)
	return err == nil && u.Origin() == s
}

// hostOf returns the host of a text that is a canonical host or URL. A single word
// is not a host: recipients have names, too.
func hostOf(s string) (host string, ok bool) {
	if u, err := partyRules.Parse(s); err == nil && (u.Origin() == s || u.String() == s) {
		return u.Host(), true
	}
	if !strings.ContainsAny(s, ".:") {
		return "", false
	}
	host, _ = partyRules.ParseHost(s)
	return host, host == s
}

// recipientHost returns the host that a recipient names, in any spelling: a client may send to a
// host with a port, in capitals or with user information. Of a URL that cannot be parsed it
// returns everything, so it belongs to no site. A name without a dot is not a host.
func recipientHost(s string) (host string, ok bool) {
	if host, ok := hostOf(s); ok {
		return host, true
	}
	_, authority, isURL := strings.Cut(s, "//")
	if !isURL {
		authority = s
	}
	u, err := url.Parse("//" + authority)
	if err != nil {
		return s, isURL
	}
	host = strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	return host, strings.ContainsAny(host, ".:\u3002")
}

// siteOf returns the registrable domain of a host, or the host if it has none.
func siteOf(host string) string {
	if site, ok := domain.Registrable(host); ok {
		return site
	}
	return host
}
