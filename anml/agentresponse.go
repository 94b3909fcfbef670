package anml

import (
	"errors"
	"iter"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/zero"
)

// Codes of an agent response that does not fit the document that asked.
const (
	CodeResponseMissing lookleap.Code = "response-missing" // a required field is neither answered nor refused
	CodeResponseUnasked lookleap.Code = "response-unasked" // a field was not asked for, or is there twice
	CodeResponseValue   lookleap.Code = "response-value"   // a value does not have the type of its ask
	CodeResponseConsent lookleap.Code = "response-consent" // the consent is missing, of another kind, or too old
)

// AgentResponse is an agent response that fits what a service asked.
type AgentResponse struct {
	doc     *Document
	answers map[string]Answer
	refuses map[string]Refuse
}

// ReadAgentResponse reads an agent response, such as the body of a POST request, and checks it
// against the site that asked for the fields of an action (sections 8.7, 10.4 and 11.1):
//
//   - Each required field is answered or refused. A refusal is a valid response: the service decides
//     whether it can go on without the field.
//   - Nothing is told that was not asked for.
//   - Each value has the type of its ask.
//   - The consent is of the kind that the site's disclosure rule demands, and not too old.
//
// Sections that agents must not send are ignored. [ProblemOf] returns the response to an error.
func ReadAgentResponse(s Site, action, contentType string, data []byte, now time.Time) (*AgentResponse, error) {
	doc, err := Parse(contentType, data, ReadOptions{Role: RoleAgentResponse})
	if err != nil {
		return nil, err
	}
	r := &AgentResponse{doc: doc, answers: map[string]Answer{}, refuses: map[string]Refuse{}}
	asks := map[string]Ask{}
	for a := range s.Knowledge().Asks() {
		if a.Action() == action || a.Action() == "" {
			asks[a.Field()] = a
		}
	}
	rules := s.Constraints().Rules(nil)
	for a := range doc.Knowledge().Answers() {
		if err := r.accept(rules, asks, a, now); err != nil {
			return nil, err
		}
	}
	for x := range doc.Knowledge().Refuses() {
		if _, asked := asks[x.Field()]; !asked { // it discloses nothing
			continue
		}
		if _, told := r.answers[x.Field()]; told {
			return nil, fieldError(CodeResponseUnasked, x.Field(), "it is both answered and refused", "send one of the two")
		}
		r.refuses[x.Field()] = x
	}
	for a := range s.Knowledge().Asks() { // in their order
		_, told := r.answers[a.Field()]
		_, refused := r.refuses[a.Field()]
		if _, asked := asks[a.Field()]; asked && a.Required() && !told && !refused {
			return nil, fieldError(CodeResponseMissing, a.Field(), "it is required, and neither answered nor refused",
				"answer or refuse it")
		}
	}
	return r, nil
}

// accept checks one answer.
func (r *AgentResponse) accept(rules Rules, asks map[string]Ask, a Answer, now time.Time) error {
	field := a.Field()
	ask, asked := asks[field]
	if _, twice := r.answers[field]; twice {
		return fieldError(CodeResponseUnasked, field, "it is answered twice", "answer it once")
	}
	if !asked {
		return fieldError(CodeResponseUnasked, field, "this action does not ask for it", "answer only what is asked for")
	}
	if err := CheckValue(ask.Type(), a.Value()); err != nil {
		return fieldError(CodeResponseValue, field, "the value does not have the type "+ask.Type().String(), "send a value of this type")
	}
	rule := rules.Rule(field)
	explicit := rule.Declared && (rule.Requires == ExplicitConsent || rule.Requires == Authentication)
	switch {
	case explicit && a.Consent() != ConsentExplicit:
		return fieldError(CodeResponseConsent, field, "the user did not agree explicitly", "ask the user about this field")
	case !ConsentFresh(a, rule, now):
		return fieldError(CodeResponseConsent, field, "the consent has no time, or is older than "+rule.ValidFor.String(),
			"ask the user again, and send consent-granted")
	}
	r.answers[field] = a
	return nil
}

// Value returns the answer to a field, and false if it was refused or left out.
func (r *AgentResponse) Value(field string) (string, bool) {
	a, ok := zero.Or(r).answers[field]
	return a.Value(), ok
}

// Refused returns why a field was refused, and false if it was not.
func (r *AgentResponse) Refused(field string) (Reason, bool) {
	x, ok := zero.Or(r).refuses[field]
	return x.Reason(), ok
}

// Asks returns what the agent asks in turn (section 11.1).
func (r *AgentResponse) Asks() iter.Seq[Ask] { return zero.Or(zero.Or(r).doc).Knowledge().Asks() }

// responseError is a fault of one field.
type responseError struct{ field, problem string }

func (e *responseError) Error() string { return e.problem }

func fieldError(code lookleap.Code, field, problem, fix string) error {
	return &lookleap.Error{
		Code: code, Subject: plaintext.Quote(field, maxQuoted), Message: "the field does not fit what was asked", Fix: fix,
		Err: &responseError{field, problem},
	}
}

func asFieldError(err error) (*responseError, bool) {
	var e *responseError
	return e, errors.As(err, &e)
}
