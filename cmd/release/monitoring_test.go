package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"adgateway/test/manual"
)

var writeRules = flag.String("dashboard-rules", "",
	"write the queries of the dashboard as recording rules to this file")

// known returns the labels of each metric: the labels in the golden file of /metrics, and
// those that Prometheus and its library add.
func known(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../adgateway/app/testdata/metrics.txt")
	require.NoError(t, err)
	found := map[string][]string{
		"up": {}, "process_start_time_seconds": {}, "process_resident_memory_bytes": {},
		"adgateway_certificate_expires_timestamp_seconds": {}, // absent without TLS
	}
	for _, match := range regexp.MustCompile(`(?m)^(adgateway_\w+) (\w+) \{(.*)\}$`).FindAllStringSubmatch(string(text), -1) {
		labels := strings.FieldsFunc(match[3], func(r rune) bool { return r == ',' })
		found[match[1]] = labels
		if match[2] == "histogram" {
			found[match[1]+"_bucket"] = append(slices.Clone(labels), "le")
		}
	}
	for name, labels := range ofClusters(t) {
		found[name] = labels
	}
	for name := range found {
		found[name] = append(found[name], "instance", "job")
	}
	return found
}

// ofClusters returns the labels of each metric of a gateway in a cluster, which the golden file of a
// single gateway does not cover. They come from the page of metrics, which lists the table in the code.
func ofClusters(t *testing.T) map[string][]string {
	t.Helper()
	source, err := os.ReadFile("../adgateway/app/metrics_cluster.go")
	require.NoError(t, err)
	found := map[string][]string{}
	listed := manual.Text(t, "reference/metrics")
	row := regexp.MustCompile(`\{"(adgateway_cluster_\w+)", ".*", (?:gauge|counter), (nil|gatewayLabel),`)
	for _, match := range row.FindAllStringSubmatch(string(source), -1) {
		assert.Contains(t, listed, "`"+match[1]+"`", "the page of metrics")
		found[match[1]] = []string{}
		if match[2] != "nil" {
			found[match[1]] = []string{"gateway"}
		}
	}
	require.Len(t, found, strings.Count(string(source), `{"adgateway_cluster_`))
	require.NotEmpty(t, found)
	return found
}

var (
	metricsIn  = regexp.MustCompile(`\b(adgateway_\w+|process_\w+|up)\b(?:\{([^}]*)\})?`)
	labelsIn   = regexp.MustCompile(`(\w+)\s*[!=]=?~?"`)
	groupsIn   = regexp.MustCompile(`by \(([^)]*)\)`)
	legendsIn  = regexp.MustCompile(`\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}`)
	placesOf   = regexp.MustCompile(`\$value`)
	variableIn = regexp.MustCompile(`\$(\w+)`)
)

// holds checks that a query uses only metrics and labels that exist. texts are templates for the query's
// result. They may use only labels that the result has.
func holds(t *testing.T, all map[string][]string, expr string, texts ...string) {
	t.Helper()
	var labels []string
	named := metricsIn.FindAllStringSubmatch(expr, -1)
	require.NotEmpty(t, named, expr)
	for _, metric := range named {
		require.Contains(t, all, metric[1], expr)
		labels = append(labels, all[metric[1]]...)
		for _, label := range labelsIn.FindAllStringSubmatch(metric[2], -1) {
			assert.Contains(t, all[metric[1]], label[1], expr)
		}
	}
	for _, group := range groupsIn.FindAllStringSubmatch(expr, -1) {
		for label := range strings.SplitSeq(group[1], ",") {
			assert.Contains(t, labels, strings.TrimSpace(label), expr)
		}
	}
	for _, text := range texts {
		for _, label := range legendsIn.FindAllStringSubmatch(placesOf.ReplaceAllString(text, ""), -1) {
			assert.Contains(t, labels, label[1], text)
		}
	}
}

func TestEveryAlertIsAboutWhatIsMeasured(t *testing.T) {
	text, err := os.ReadFile("monitoring/adgateway.rules.yml")
	require.NoError(t, err)
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &rules))
	tests, err := os.ReadFile("monitoring/tests.yml")
	require.NoError(t, err)
	alerts := manual.Text(t, "alerts")
	all := known(t)
	require.Len(t, rules.Groups, 1)
	require.Greater(t, len(rules.Groups[0].Rules), 15)
	for _, rule := range rules.Groups[0].Rules {
		t.Run(rule.Alert, func(t *testing.T) {
			holds(t, all, rule.Expr, rule.Annotations["summary"], rule.Annotations["description"])
			assert.Contains(t, []string{"critical", "warning", "info"}, rule.Labels["severity"])
			runbook := "/manual/alerts#" + rule.Alert
			if !strings.HasPrefix(rule.Expr, "sum by (job)") { // this rule does not concern a single gateway
				runbook = "https://{{ $labels.instance }}" + runbook
			}
			assert.Equal(t, runbook, rule.Annotations["runbook_url"])
			assert.Contains(t, alerts, "| `"+rule.Alert+"` |", "the page of alerts")
			assert.Contains(t, string(tests), "alertname: "+rule.Alert+"\n        exp_alerts:", "fires in a unit test")
		})
	}
}

// The dashboard follows the rules of Grafana's provisioning, for which there is no schema.
func TestTheDashboardIsAboutWhatIsMeasured(t *testing.T) {
	text, err := dashboard()
	require.NoError(t, err)
	var d struct {
		ID            *int
		UID           string
		SchemaVersion int
		Panels        []struct {
			ID                 int
			Title, Description string
			GridPos            struct{ X, Y, W, H int }
			Datasource         struct{ UID string }
			Targets            []struct{ Expr, LegendFormat, RefID string }
			FieldConfig        struct{ Defaults struct{ Unit string } }
		}
		Templating struct{ List []struct{ Name string } }
	}
	require.NoError(t, json.Unmarshal(text, &d))
	assert.Nil(t, d.ID)
	assert.Equal(t, "adgateway", d.UID)
	variables := []string{"__rate_interval"}
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
	}
	all := known(t)
	taken := map[[2]int]string{}
	for i, p := range d.Panels {
		assert.Equal(t, i+1, p.ID)
		assert.NotEmpty(t, p.Title)
		assert.NotEmpty(t, p.Description, p.Title)
		assert.NotEmpty(t, p.FieldConfig.Defaults.Unit, p.Title)
		assert.Equal(t, "${datasource}", p.Datasource.UID)
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			holds(t, all, target.Expr, target.LegendFormat)
			assert.NotEmpty(t, target.LegendFormat, p.Title)
			for _, v := range variableIn.FindAllStringSubmatch(target.Expr, -1) {
				assert.Contains(t, variables, v[1], target.Expr)
			}
		}
		g := p.GridPos
		assert.LessOrEqual(t, g.X+g.W, 24, p.Title)
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				assert.Empty(t, taken[[2]int{x, y}], "%s overlaps", p.Title)
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
	if *writeRules != "" {
		require.NoError(t, os.WriteFile(*writeRules, []byte(dashboardRules()), 0o600))
	}
}

// dashboardRules returns the queries of the dashboard as recording rules, so that promtool
// can check them.
func dashboardRules() string {
	var b strings.Builder
	b.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	fill := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".+", "$lane", ".+")
	for i, p := range panels {
		for n, q := range p.queries {
			fmt.Fprintf(&b, "      - record: panel_%d_%d\n        expr: %s\n", i+1, n+1, quoted(fill.Replace(q.expr)))
		}
	}
	return b.String()
}

func quoted(text string) string {
	raw, _ := json.Marshal(text) // JSON text is also YAML text
	return string(raw)
}
