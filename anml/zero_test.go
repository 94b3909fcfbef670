package anml_test

import (
	"reflect"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/test/zerotest"
)

func TestZeroValues(t *testing.T) {
	zerotest.Run(t, []reflect.Type{
		reflect.TypeFor[anml.Action](), reflect.TypeFor[anml.ActionBuilder](), reflect.TypeFor[anml.Aesthetic](), reflect.TypeFor[anml.Answer](),
		reflect.TypeFor[anml.Arg](), reflect.TypeFor[anml.Ask](), reflect.TypeFor[anml.AskBuilder](), reflect.TypeFor[anml.Attribution](),
		reflect.TypeFor[anml.Audio](), reflect.TypeFor[anml.Auth](), reflect.TypeFor[anml.Body](), reflect.TypeFor[anml.Builder](),
		reflect.TypeFor[anml.Claim](), reflect.TypeFor[anml.Color](), reflect.TypeFor[anml.Confidentiality](), reflect.TypeFor[anml.ConsentKind](),
		reflect.TypeFor[anml.Constraints](), reflect.TypeFor[anml.Content](), reflect.TypeFor[anml.ContentBuilder](), reflect.TypeFor[anml.Data](),
		reflect.TypeFor[anml.DataBuilder](), reflect.TypeFor[anml.Dialect](), reflect.TypeFor[anml.Disclosure](), reflect.TypeFor[anml.Document](),
		reflect.TypeFor[anml.Extension](), reflect.TypeFor[anml.Field](),
		reflect.TypeFor[anml.Flow](), reflect.TypeFor[anml.Font](), reflect.TypeFor[anml.Footer](), reflect.TypeFor[anml.Format](),
		reflect.TypeFor[anml.Head](), reflect.TypeFor[anml.Img](), reflect.TypeFor[anml.Inference](), reflect.TypeFor[anml.Inform](),
		reflect.TypeFor[anml.InformBuilder](), reflect.TypeFor[anml.Interact](), reflect.TypeFor[anml.InvalidError](),
		reflect.TypeFor[anml.Item](), reflect.TypeFor[anml.ItemBuilder](), reflect.TypeFor[anml.Knowledge](), reflect.TypeFor[anml.Language](),
		reflect.TypeFor[anml.LanguagePolicy](), reflect.TypeFor[anml.Limits](), reflect.TypeFor[anml.Link](), reflect.TypeFor[anml.Logo](),
		reflect.TypeFor[anml.Media](), reflect.TypeFor[anml.Meta](), reflect.TypeFor[anml.Model](),
		reflect.TypeFor[anml.Name](), reflect.TypeFor[anml.Nav](), reflect.TypeFor[anml.Node](), reflect.TypeFor[anml.Number](),
		reflect.TypeFor[anml.Option](), reflect.TypeFor[anml.Outcome](), reflect.TypeFor[anml.Param](), reflect.TypeFor[anml.ParamBuilder](),
		reflect.TypeFor[anml.Persona](), reflect.TypeFor[anml.PersonaBuilder](), reflect.TypeFor[anml.Perspective](),
		reflect.TypeFor[anml.Priority](), reflect.TypeFor[anml.Problem](), reflect.TypeFor[anml.ReadOptions](),
		reflect.TypeFor[anml.Reason](), reflect.TypeFor[anml.Refuse](), reflect.TypeFor[anml.Relationship](), reflect.TypeFor[anml.Request](),
		reflect.TypeFor[anml.Requires](), reflect.TypeFor[anml.Response](), reflect.TypeFor[anml.ResponseBuilder](),
		reflect.TypeFor[anml.Result](), reflect.TypeFor[anml.Rights](), reflect.TypeFor[anml.Role](), reflect.TypeFor[anml.Rule](),
		reflect.TypeFor[anml.RuleBuilder](), reflect.TypeFor[anml.Rules](), reflect.TypeFor[anml.Section](),
		reflect.TypeFor[anml.Site](), reflect.TypeFor[anml.SiteBuilder](), reflect.TypeFor[anml.SiteRef](), reflect.TypeFor[anml.State](),
		reflect.TypeFor[anml.Status](), reflect.TypeFor[anml.Support](), reflect.TypeFor[anml.Step](), reflect.TypeFor[anml.StepBuilder](), reflect.TypeFor[anml.StepStatus](),
		reflect.TypeFor[anml.TextOptions](), reflect.TypeFor[anml.Tool](), reflect.TypeFor[anml.Type](), reflect.TypeFor[anml.Usage](),
		reflect.TypeFor[anml.Video](), reflect.TypeFor[anml.Voice](), reflect.TypeFor[anml.WriteOptions](),
		reflect.TypeFor[anml.AgentResponse](), reflect.TypeFor[anml.HandlerOptions](),
	}, map[string]any{
		"Accept": anml.Accept, "CheckValue": anml.CheckValue, "ConsentFresh": anml.ConsentFresh, "Equal": anml.Equal,
		"FormatDateTime": anml.FormatDateTime, "FormatOf": anml.FormatOf,
		"IsStandardField": anml.IsStandardField, "Marshal": anml.Marshal, "MarshalJSON": anml.MarshalJSON, "MarshalXML": anml.MarshalXML,
		"Capabilities": anml.Capabilities, "Lint": anml.Lint, "Negotiate": anml.Negotiate, "NewResponse": anml.NewResponse, "NewService": anml.NewService,
		"OutcomeOf": anml.OutcomeOf, "Parse": anml.Parse, "ParseJSON": anml.ParseJSON, "ParseNumber": anml.ParseNumber,
		"ParseProblem": anml.ParseProblem, "ParseToolName": anml.ParseToolName, "ParseType": anml.ParseType,
		"ParseXML": anml.ParseXML, "StandardFields": anml.StandardFields, "ToolName": anml.ToolName,
		"NewHandler": anml.NewHandler, "ProblemOf": anml.ProblemOf, "ReadAgentResponse": anml.ReadAgentResponse,
		"Write": anml.Write, "WriteProblem": anml.WriteProblem,
	})
}

// TestNoDocument writes documents that nothing made.
func TestNoDocument(t *testing.T) {
	options := anml.WriteOptions{}
	for name, d := range map[string]*anml.Document{"nil": nil, "zero": {}} {
		for _, format := range []anml.Format{anml.XML, anml.JSON} {
			t.Run("O27/reject-"+name+"-"+format.String(), func(t *testing.T) {
				if _, err := anml.Marshal(d, format, options); lookleap.CodeOf(err) != lookleap.CodeUsage {
					t.Errorf("got %v", err)
				}
			})
		}
	}
	for name, build := range map[string]func() (*anml.Document, error){
		"nil-builder": (*anml.Builder)(nil).Build, "zero-builder": new(anml.Builder).Build,
		"zero-response": new(anml.ResponseBuilder).Build,
	} {
		t.Run("O27/reject-"+name, func(t *testing.T) {
			if _, err := build(); lookleap.CodeOf(err) != lookleap.CodeUsage {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("O27/accept-equal", func(t *testing.T) {
		if !anml.Equal(nil, &anml.Document{}) {
			t.Error("empty documents differ")
		}
	})
}
