package lookleapotel_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/lookleap/lookleap"
	lookleapotel "github.com/lookleap/lookleap/contrib/otel"
)

// Prometheus reads the metrics at /metrics.
func Example_prometheus() {
	registry := prometheus.NewRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry))
	if err != nil {
		fmt.Println(err)
		return
	}
	observe, err := lookleapotel.Observe(lookleapotel.Options{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter))})
	if err != nil {
		fmt.Println(err)
		return
	}
	host := &lookleap.Host{Observe: observe}
	defer host.Close()
	client := http.Client{Transport: host}
	_, err = client.Get("https://127.0.0.1/")
	fmt.Println(lookleap.CodeOf(err))

	w := httptest.NewRecorder() // in production: http.Handle("/metrics", promhttp.HandlerFor(…))
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "lookleap_event_duration_seconds_count") {
			fmt.Println(strings.Contains(line, `lookleap_kind="fetch"`), strings.Contains(line, `error_type="blocked-address"`))
		}
	}
	// Output:
	// blocked-address
	// true true
}
