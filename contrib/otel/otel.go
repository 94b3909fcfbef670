// Package lookleapotel turns the events of a [lookleap.Host] into OpenTelemetry spans and metrics.
//
//	observe, err := lookleapotel.Observe(lookleapotel.Options{})
//	if err != nil {
//		return err
//	}
//	host := &lookleap.Host{Observe: observe}
//
// # Spans
//
// Each event becomes a span, which is a child of the span in the context of the call. Names and
// attributes follow the semantic conventions where these have a word for it:
//
//	lookleap.fetch    client  url.full (without query), server.address, http.response.status_code
//	lookleap.lookup   client  dns.question.name
//	lookleap.consent, lookleap.plan, lookleap.verdict, lookleap.finding   internal  lookleap.subject
//
// A consent and a plan also have lookleap.shown, the digest of the request that the user was shown.
//
// Every span has lookleap.code. If it is not "ok", error.type has it too, and the status of the
// span is an error. Spans have no bodies, queries or user data, because events have none.
//
// # Metrics
//
//	lookleap.event.duration  histogram, s   by lookleap.kind and error.type
//	dns.lookup.duration      histogram, s   by error.type
//	lookleap.verdicts        counter        by lookleap.document, lookleap.ok and lookleap.code
//
// No metric has a URL or a name, so the number of series is bounded by the number of reason codes.
package lookleapotel

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/lookleap/lookleap"
)

// Options are the options of [Observe]. The zero value uses the global providers.
type Options struct {
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider
}

// Scope is the name of the instrumentation scope.
const Scope = "github.com/lookleap/lookleap"

// Observe returns a function for the field Observe of a Host. It returns an error if an instrument
// cannot be made.
func Observe(o Options) (func(context.Context, lookleap.Event), error) {
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	meter := o.MeterProvider.Meter(Scope)
	durations, err1 := meter.Float64Histogram("lookleap.event.duration", metric.WithUnit("s"),
		metric.WithDescription("How long an exchange, a lookup or a prompt took."))
	lookups, err2 := meter.Float64Histogram("dns.lookup.duration", metric.WithUnit("s"),
		metric.WithDescription("How long a DNS lookup took."))
	verdicts, err3 := meter.Int64Counter("lookleap.verdicts", metric.WithUnit("{verdict}"),
		metric.WithDescription("Decisions, by document and reason code."))
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	x := &observer{o.TracerProvider.Tracer(Scope), durations, lookups, verdicts}
	return x.observe, nil
}

type observer struct {
	tracer             trace.Tracer
	durations, lookups metric.Float64Histogram
	verdicts           metric.Int64Counter
}

func (x *observer) observe(ctx context.Context, e lookleap.Event) {
	end := e.Time
	kind := trace.SpanKindInternal
	if e.Kind == lookleap.EventFetch || e.Kind == lookleap.EventLookup {
		kind = trace.SpanKindClient
	}
	_, span := x.tracer.Start(ctx, "lookleap."+string(e.Kind), trace.WithSpanKind(kind),
		trace.WithTimestamp(end.Add(-e.Duration)), trace.WithAttributes(attributes(e)...))
	if failed(e) {
		span.SetStatus(codes.Error, e.Code.Title())
	}
	span.End(trace.WithTimestamp(end))
	x.measure(ctx, e)
}

func failed(e lookleap.Event) bool { return e.Err != nil || e.Code != lookleap.CodeOK }

// attributes returns what a span says about an event.
func attributes(e lookleap.Event) []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.String("lookleap.code", string(e.Code))}
	if failed(e) {
		all = append(all, attribute.String("error.type", string(e.Code)))
	}
	switch e.Kind {
	case lookleap.EventFetch:
		all = append(all, attribute.String("url.full", e.Subject))
		if u, err := url.Parse(e.Subject); err == nil && u.Hostname() != "" {
			all = append(all, attribute.String("server.address", u.Hostname()))
		}
		if e.Status != 0 {
			all = append(all, attribute.Int("http.response.status_code", e.Status))
		}
	case lookleap.EventLookup:
		name, _, _ := strings.Cut(e.Subject, " ")
		all = append(all, attribute.String("dns.question.name", name))
	default:
		all = append(all, attribute.String("lookleap.subject", e.Subject))
		if e.Shown != "" {
			all = append(all, attribute.String("lookleap.shown", e.Shown))
		}
	}
	if e.Verdict != nil {
		all = append(all, attribute.Bool("lookleap.ok", e.Verdict.OK), attribute.String("lookleap.document", e.Verdict.Document))
	}
	if e.Finding != nil {
		all = append(all, attribute.String("lookleap.finding", e.Finding.Message))
	}
	return all
}

func (x *observer) measure(ctx context.Context, e lookleap.Event) {
	var failure []attribute.KeyValue
	if failed(e) {
		failure = append(failure, attribute.String("error.type", string(e.Code)))
	}
	seconds := float64(e.Duration) / float64(time.Second)
	if e.Duration > 0 {
		x.durations.Record(ctx, seconds, metric.WithAttributes(append(failure, attribute.String("lookleap.kind", string(e.Kind)))...))
	}
	if e.Kind == lookleap.EventLookup {
		x.lookups.Record(ctx, seconds, metric.WithAttributes(failure...))
	}
	if v := e.Verdict; v != nil {
		x.verdicts.Add(ctx, 1, metric.WithAttributes(attribute.String("lookleap.document", v.Document),
			attribute.Bool("lookleap.ok", v.OK), attribute.String("lookleap.code", string(v.Code))))
	}
}
