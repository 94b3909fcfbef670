package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// fill checks the arguments and decides what is told; it completes the effect of
// an intent.
//
// An action is executed in one of two ways: where something is answered or told, an
// ANML document is sent, else its arguments in the encoding that it names.
// Parameters are for the second way (sections 9.3 and 11.1).
func (p *Page) fill(ctx context.Context, in *intent, site anml.Site, act anml.Action, c Call) error {
	e, asks := in.effect, asksFor(site, act)
	refuse := func(err error) error {
		return &lookleap.Error{Code: argumentCode(err), Subject: e.Send.place(), Message: "the arguments are not sent", Err: err}
	}
	var args []anml.Arg
	var err error
	if e.Send.Response = answers(act, asks, c); e.Send.Response {
		err = unanswerable(act, asks, c)
	} else if c, err = silent(asks, c); err == nil {
		args, err = arguments(act, c)
	}
	if err != nil {
		return refuse(err)
	}
	if e.Disclosure, in.items, err = p.prepareDisclosure(ctx, e.Exchange, act, args, c); err != nil {
		return err
	}
	if e.Send.Response {
		return nil
	}
	in.args = args
	if err := e.Send.encode(act, args); err != nil {
		return refuse(err)
	}
	return nil
}

// encode makes the request of an action that answers no ask.
func (s *sending) encode(act anml.Action, args []anml.Arg) error {
	request, err := act.Encode(args)
	if err != nil {
		return err
	}
	s.ContentType, s.Body = request.ContentType, request.Body
	if request.Query == "" {
		return nil
	}
	mark := "?"
	if strings.Contains(s.Endpoint, "?") {
		mark = "&"
	}
	u, err := endpointRules.Parse(s.Endpoint + mark + request.Query)
	if err != nil {
		return fmt.Errorf("%w: they make no URL that is requested: %w", anml.ErrParamInvalid, err)
	}
	s.URL = u.String()
	return nil
}

// asksFor lists the asks that point to an action, in its own container.
func asksFor(site anml.Site, act anml.Action) []anml.Ask { return asksByAction(site)[act.ID()] }

// asksByAction lists the asks of a container by the action that they point to.
func asksByAction(site anml.Site) map[string][]anml.Ask {
	asks := make(map[string][]anml.Ask)
	for ask := range site.Knowledge().Asks() {
		asks[ask.Action()] = append(asks[ask.Action()], ask)
	}
	return asks
}

// answers reports whether a call sends an agent response: there is something to
// answer or to tell, and a body to do it in.
func answers(act anml.Action, asks []anml.Ask, c Call) bool {
	if !hasBody(act.Method()) {
		return false
	}
	reply := c.Reply
	if reply == nil {
		reply = &Reply{}
	}
	return len(reply.Informs) > 0 || len(reply.Asks) > 0 || slices.ContainsFunc(asks, func(ask anml.Ask) bool {
		return ask.Required() || !slices.Contains(reply.Omit, ask.Field())
	})
}

// hasBody reports whether answers may be sent by a method: they never enter a URL.
func hasBody(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// Why a call's arguments fit no way of executing its action.
var (
	errBothArgs   = errors.New("both Args and ArgsJSON are given")
	errArgsBeside = errors.New("arguments have no place beside answers: give values in the Reply")
	errNoBody     = errors.New("the action's method has no body, and answers never enter a URL")
)

// unanswerable says why an action cannot be executed by answering: it takes no
// arguments then, and a required parameter is met by an ask of the same name alone.
func unanswerable(act anml.Action, asks []anml.Ask, c Call) error {
	if len(c.Args) > 0 || !emptyArgs(c.ArgsJSON) {
		return errArgsBeside
	}
	asked := make(map[string]bool, len(asks))
	for _, ask := range asks {
		asked[ask.Field()] = true
	}
	for param := range act.Params() {
		if param.Required() && !asked[param.Name()] {
			return fmt.Errorf("%w: %s, which no ask stands for", anml.ErrParamMissing, quote(param.Name()))
		}
	}
	return nil
}

// silent leaves every ask of a call unanswered. Where that is not possible, it is
// an error: a method without a body carries no answers.
func silent(asks []anml.Ask, c Call) (Call, error) {
	reply := Reply{}
	if c.Reply != nil {
		reply = *c.Reply
	}
	if len(reply.Values) > 0 || len(reply.Refuse) > 0 || len(reply.Informs) > 0 || len(reply.Asks) > 0 {
		return c, errNoBody
	}
	reply.Omit = slices.Clone(reply.Omit)
	for _, ask := range asks {
		if ask.Required() {
			return c, errNoBody
		}
		reply.Omit = append(reply.Omit, ask.Field())
	}
	c.Reply = &reply
	return c, nil
}

// arguments checks what a call gives for the parameters of its action.
func arguments(act anml.Action, c Call) ([]anml.Arg, error) {
	switch {
	case len(c.Args) > 0 && len(c.ArgsJSON) > 0:
		return nil, errBothArgs
	case len(c.ArgsJSON) > 0:
		return act.ArgsJSON(c.ArgsJSON)
	}
	return act.Args(c.Args)
}

// argumentCode is the code of an error about arguments.
func argumentCode(err error) lookleap.Code {
	for _, known := range []struct {
		err  error
		code lookleap.Code
	}{
		{anml.ErrParamMissing, CodeParamMissing},
		{anml.ErrParamUnknown, CodeParamUnknown},
		{anml.ErrUnsupportedEncType, CodeEncType},
		{errNoBody, CodeNoBodyMethod},
		{errBothArgs, lookleap.CodeUsage},
		{errArgsBeside, lookleap.CodeUsage},
	} {
		if errors.Is(err, known.err) {
			return known.code
		}
	}
	return CodeParamInvalid
}
