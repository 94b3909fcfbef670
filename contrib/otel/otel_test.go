package lookleapotel_test

import (
	"context"
	"slices"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	lookleapotel "github.com/lookleap/lookleap/contrib/otel"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestObserve loads a skill, and one that is missing, and reads what was exported.
func TestObserve(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	observe, err := lookleapotel.Observe(lookleapotel.Options{TracerProvider: tracer, MeterProvider: meter})
	if err != nil {
		t.Fatal(err)
	}

	internet := lookleaptest.NewInternet()
	t.Cleanup(internet.Close)
	internet.Site("shop.example").File("/skills/refund/SKILL.md", "text/markdown", "---\nname: refund\ndescription: Refunds an order.\n---\ntext\n")
	host := internet.Host()
	host.Observe = observe
	loader := dvs.NewLoader(host, dvs.Options{})
	if _, err := loader.Roots().Register("https://shop.example/", dvs.ByUser); err != nil {
		t.Fatal(err)
	}
	ctx, parent := tracer.Tracer("agent").Start(t.Context(), "turn")
	if _, err := loader.Load(ctx, "https://shop.example/skills/refund/SKILL.md"); err != nil {
		t.Fatal(err)
	}
	if _, err := loader.Load(ctx, "https://shop.example/skills/none/SKILL.md"); err == nil {
		t.Fatal("a missing skill was loaded")
	}
	parent.End()

	t.Run("spans", func(t *testing.T) {
		names := map[string]int{}
		for _, s := range spans.GetSpans() {
			names[s.Name]++
			if s.Name != "turn" && s.Parent.SpanID() != parent.SpanContext().SpanID() {
				t.Errorf("%s has another parent", s.Name)
			}
			if s.EndTime.Before(s.StartTime) {
				t.Errorf("%s ends before it starts", s.Name)
			}
			has := func(key string) (attribute.Value, bool) {
				i := slices.IndexFunc(s.Attributes, func(kv attribute.KeyValue) bool { return string(kv.Key) == key })
				if i < 0 {
					return attribute.Value{}, false
				}
				return s.Attributes[i].Value, true
			}
			switch s.Name {
			case "lookleap.fetch":
				if v, _ := has("server.address"); v.AsString() != "shop.example" {
					t.Error(s.Attributes)
				}
				if _, ok := has("http.response.status_code"); !ok {
					t.Error(s.Attributes)
				}
			case "lookleap.lookup":
				if v, _ := has("dns.question.name"); v.AsString() != "shop.example" {
					t.Error(s.Attributes)
				}
			case "lookleap.verdict":
				ok, _ := has("lookleap.ok")
				_, failure := has("error.type")
				if ok.AsBool() == failure || failure != (s.Status.Code == codes.Error) {
					t.Error(s.Attributes, s.Status)
				}
			}
		}
		for _, name := range []string{"lookleap.fetch", "lookleap.lookup", "lookleap.verdict"} {
			if names[name] == 0 {
				t.Errorf("no %s in %v", name, names)
			}
		}
	})
	t.Run("metrics", func(t *testing.T) {
		var all metricdata.ResourceMetrics
		if err := reader.Collect(context.Background(), &all); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, scope := range all.ScopeMetrics {
			for _, m := range scope.Metrics {
				seen[m.Name] = true
				if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "lookleap.verdicts" {
					total := int64(0)
					for _, p := range sum.DataPoints {
						total += p.Value
					}
					if total < 2 || len(sum.DataPoints) < 2 {
						t.Errorf("%+v", sum.DataPoints)
					}
				}
			}
		}
		for _, name := range []string{"lookleap.event.duration", "dns.lookup.duration", "lookleap.verdicts"} {
			if !seen[name] {
				t.Errorf("no %s in %v", name, seen)
			}
		}
	})
}
