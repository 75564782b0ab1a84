package app_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn"
	"adgateway/gateway/config/configtest"
	"adgateway/gateway/identity"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/session"
	"adgateway/test/manual"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const patience = 3 * time.Minute

// newStack returns a stack over the sandbox that has served two requests and
// rejected one.
func newStack(t *testing.T, collectors ...prometheus.Collector) http.Handler {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	world, err := sandbox.NewWorld(ctx, sandbox.Options{Seed: 1})
	require.NoError(t, err)
	settings, err := configtest.Load("", nil,
		[]string{"audit.file=" + filepath.Join(t.TempDir(), "audit.jsonl")})
	require.NoError(t, err)
	static := authn.NewStatic(authn.Header{})
	require.NoError(t, static.AddToken("t",
		&identity.Principal{Name: "t", Scopes: []identity.Scope{identity.All}}))
	log := logrus.New()
	log.SetOutput(io.Discard)
	s, err := app.New(ctx, app.Options{
		Settings: settings, Auth: static, Log: log, Engine: "sandbox",
		Session:    func(ps.Lane) session.Config { return session.Config{Starter: world.Starter()} },
		Dial:       world.Dial,
		Collectors: collectors,
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		assert.NoError(t, s.Close(ctx))
	})
	handler := s.Gateway.Handler()
	require.Equal(t, http.StatusOK, ask(t, handler, "/api/ADUser/aschmidt/Details", "Bearer t").Code)
	require.Equal(t, http.StatusOK, ask(t, handler, "/api/DnsReverseLookupZone/All", "Bearer t").Code)
	require.Equal(t, http.StatusUnauthorized, ask(t, handler, "/api/OU/All", "Bearer x").Code)
	return handler
}

func ask(t *testing.T, handler http.Handler, path, credential string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Auth-Token", credential)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

// metrics reads /metrics.
func metrics(t *testing.T, handler http.Handler) map[string]*dto.MetricFamily {
	t.Helper()
	w := ask(t, handler, "/metrics", "Bearer t")
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(w.Body)
	require.NoError(t, err)
	return families
}

// Names, types, labels and help texts are an interface that dashboards and alerts
// depend on.
func TestMetricsAreStable(t *testing.T) {
	families := metrics(t, newStack(t))
	var got strings.Builder
	var own []*dto.MetricFamily
	for _, name := range slices.Sorted(maps.Keys(families)) {
		family := families[name]
		if !strings.HasPrefix(name, "adgateway_") {
			continue
		}
		own = append(own, family)
		var labels []string
		for _, pair := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, pair.GetName())
		}
		fmt.Fprintf(&got, "%s %s {%s}\n\t%s\n", name, strings.ToLower(family.GetType().String()),
			strings.Join(labels, ","), family.GetHelp())
	}
	golden := filepath.Join("testdata", "metrics.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), got.String())

	problems, err := promlint.NewWithMetricFamilies(own).Lint()
	require.NoError(t, err)
	assert.Empty(t, problems)

	listed := manual.Text(t, "reference/metrics")
	for _, family := range own {
		assert.Contains(t, listed, "`"+family.GetName()+"`", "the page of metrics")
	}
}

func TestMetricValues(t *testing.T) {
	handler := newStack(t, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "adgateway_extra", Help: "x"},
		func() float64 { return 7 }))
	var families map[string]*dto.MetricFamily
	number := func(name string, labels ...string) float64 {
		for _, m := range families[name].GetMetric() {
			var values []string
			for _, pair := range m.GetLabel() {
				values = append(values, pair.GetValue())
			}
			if strings.Join(values, " ") != strings.Join(labels, " ") {
				continue
			}
			switch {
			case m.GetCounter() != nil:
				return m.GetCounter().GetValue()
			case m.GetHistogram() != nil:
				return float64(m.GetHistogram().GetSampleCount())
			}
			return m.GetGauge().GetValue()
		}
		return -1 // the metric does not exist
	}
	// The gateway also discovers servers in the background, so a session
	// may still be starting or busy after a request has been answered.
	require.Eventually(t, func() bool {
		families = metrics(t, handler)
		active := 0.0
		for _, lane := range []string{"directory", "dns"} {
			active += number("adgateway_sessions", lane, "starting") + number("adgateway_sessions", lane, "busy") +
				number("adgateway_script_waiting", lane)
		}
		return active == 0
	}, patience, 10*time.Millisecond)
	for _, lane := range []string{"directory", "dns"} {
		assert.GreaterOrEqual(t, number("adgateway_session_starts_total", lane), 1.0, "two if requests overlapped")
		assert.EqualValues(t, 0, number("adgateway_sessions", lane, "busy"))
		assert.GreaterOrEqual(t, number("adgateway_sessions", lane, "idle"), 1.0)
		assert.EqualValues(t, 0, number("adgateway_session_kills_total", "timeout", lane))
		assert.GreaterOrEqual(t, number("adgateway_script_runs_total", lane, "ok"), 1.0)
		assert.GreaterOrEqual(t, number("adgateway_script_wait_seconds", lane), 1.0)
		assert.Equal(t, number("adgateway_script_runs_total", lane, "ok"),
			number("adgateway_script_run_seconds", lane))
		assert.Greater(t, number("adgateway_session_frames_total", lane), 3.0)
		assert.Greater(t, number("adgateway_session_frame_bytes_total", lane), 100.0)
	}
	assert.EqualValues(t, 1, number("adgateway_server_pinned", "directory", "dc1.corp.example"))
	assert.EqualValues(t, 1, number("adgateway_check_ok", "dnsServer"))
	assert.EqualValues(t, 1, number("adgateway_http_requests_total", "2xx", "ok", "user.get", "adgateway"))
	assert.EqualValues(t, 1, number("adgateway_http_refusals_total", "unauthenticated"))
	assert.EqualValues(t, 7, number("adgateway_extra"))
	assert.Positive(t, number("go_goroutines"))
}
