package main

import (
	"encoding/json"
	"fmt"
)

// panel is a graph of the Grafana dashboard. Its queries use $instance and $lane.
type panel struct {
	title, about string
	unit         string // a unit that Grafana knows
	width        int    // in columns; a row has 24
	queries      []query
}

// query is the query for one or more lines of a graph.
type query struct{ expr, legend string }

// panels are the graphs, row by row. The widths in a row add up to 24.
var panels = []panel{
	{"Requests", "Requests a second, by class of the status", "reqps", 12, []query{
		{`sum by (class) (rate(adgateway_http_requests_total{instance=~"$instance"}[$__rate_interval]))`, "{{class}}"}}},
	{"Errors", "Requests a second that failed, by error code", "reqps", 12, []query{
		{`sum by (code) (rate(adgateway_http_requests_total{instance=~"$instance",class=~"4xx|5xx"}[$__rate_interval]))`, "{{code}}"}}},
	{"Duration", "Of 20 requests 19 are faster, by operation", "s", 12, []query{
		{`histogram_quantile(0.95, sum by (operation, le) (rate(adgateway_http_request_duration_seconds_bucket{instance=~"$instance"}[$__rate_interval])))`, "{{operation}}"}}},
	{"Waiting for a session", "Requests that wait now, and how long the slowest of 20 waited", "short", 12, []query{
		{`sum by (lane) (adgateway_script_waiting{instance=~"$instance",lane=~"$lane"})`, "{{lane}}, waiting"},
		{`histogram_quantile(0.95, sum by (lane, le) (rate(adgateway_script_wait_seconds_bucket{instance=~"$instance",lane=~"$lane"}[$__rate_interval])))`, "{{lane}}, seconds"}}},
	{"Sessions", "PowerShell sessions by state, and how many there may be", "short", 12, []query{
		{`sum by (lane, state) (adgateway_sessions{instance=~"$instance",lane=~"$lane"})`, "{{lane}} {{state}}"},
		{`sum by (lane) (adgateway_sessions_max{instance=~"$instance",lane=~"$lane"})`, "{{lane}} at most"}}},
	{"Scripts", "Time that scripts run: that of PowerShell and of the servers; of 20 runs 19 are faster", "s", 12, []query{
		{`histogram_quantile(0.95, sum by (lane, le) (rate(adgateway_script_run_seconds_bucket{instance=~"$instance",lane=~"$lane"}[$__rate_interval])))`, "{{lane}}"}}},
	{"Sessions started and ended", "Per second: starts, failed starts, ends by reason, and kills by cause", "ops", 12, []query{
		{`sum by (lane) (rate(adgateway_session_starts_total{instance=~"$instance",lane=~"$lane"}[$__rate_interval]))`, "{{lane}} started"},
		{`sum by (lane) (rate(adgateway_session_start_failures_total{instance=~"$instance",lane=~"$lane"}[$__rate_interval]))`, "{{lane}} not started"},
		{`sum by (lane, reason) (rate(adgateway_session_retirements_total{instance=~"$instance",lane=~"$lane"}[$__rate_interval]))`, "{{lane}} ended: {{reason}}"},
		{`sum by (lane, cause) (rate(adgateway_session_kills_total{instance=~"$instance",lane=~"$lane"}[$__rate_interval]))`, "{{lane}} killed: {{cause}}"}}},
	{"Servers", "Which servers are asked, and changes to another one in an hour", "short", 12, []query{
		{`adgateway_server_pinned{instance=~"$instance"}`, "{{instance}} {{kind}}: {{server}}"},
		{`sum by (instance, kind) (increase(adgateway_server_failovers_total{instance=~"$instance"}[1h]))`, "{{instance}} {{kind}}: changes"}}},
	{"Checks", "0: a check of /readyz fails; 0.5: it needs attention; 1: all is well", "short", 8, []query{
		{`adgateway_check_ok{instance=~"$instance"} - 0.5 * adgateway_check_degraded{instance=~"$instance"}`, "{{instance}} {{check}}"}}},
	{"Refused callers", "Requests a second that were refused for who sent them", "reqps", 8, []query{
		{`sum by (reason) (rate(adgateway_http_refusals_total{instance=~"$instance"}[$__rate_interval]))`, "{{reason}}"},
		{`sum (rate(adgateway_tls_handshake_failures_total{instance=~"$instance"}[$__rate_interval]))`, "TLS handshake"}}},
	{"Changes that somebody must look at", "In an hour: made in part, outcome unknown, or not in the history", "short", 8, []query{
		{`sum by (outcome) (increase(adgateway_changes_incomplete_total{instance=~"$instance"}[1h]))`, "{{outcome}}"},
		{`sum (increase(adgateway_changes_unrecorded_total{instance=~"$instance"}[1h]))`, "not recorded"}}},
	{"Audit", "Size of the audit files, and their budget", "bytes", 8, []query{
		{`adgateway_audit_bytes{instance=~"$instance"}`, "{{instance}}"},
		{`adgateway_audit_bytes_max{instance=~"$instance"}`, "{{instance}}, at most"}}},
	{"Certificate", "Days until it ends", "d", 8, []query{
		{`(adgateway_certificate_expires_timestamp_seconds{instance=~"$instance"} - time()) / 86400`, "{{instance}}"}}},
	{"Cluster", "Which gateway leads, and seconds without a leader", "short", 8, []query{
		{`adgateway_cluster_leads{instance=~"$instance"}`, "{{instance}} leads"},
		{`adgateway_cluster_leaderless_seconds{instance=~"$instance"}`, "{{instance}}, without a leader"}}},
	{"Log of the cluster", "Entries a second that each gateway applies, and changes of earlier leaders that wait", "short", 8, []query{
		{`rate(adgateway_cluster_position{instance=~"$instance"}[$__rate_interval])`, "{{instance}}"},
		{`adgateway_cluster_open_changes{instance=~"$instance"}`, "{{instance}}, waiting changes"}}},
	{"Calls sent to the leader", "A second, by outcome", "reqps", 8, []query{
		{`sum by (instance, outcome) (rate(adgateway_forwarded_total{instance=~"$instance"}[$__rate_interval]))`, "{{instance}} {{outcome}}"}}},
	{"Memory", "Of the gateway's own process, without those of PowerShell", "bytes", 8, []query{
		{`process_resident_memory_bytes{job="adgateway",instance=~"$instance"}`, "{{instance}}"}}},
}

// dashboard returns the Grafana dashboard as JSON for provisioning. Its data source is a variable.
func dashboard() ([]byte, error) {
	const height = 8
	source := map[string]any{"type": "prometheus", "uid": "${datasource}"}
	var drawn []any
	x, y := 0, 0
	for i, p := range panels {
		var targets []any
		for n, q := range p.queries {
			targets = append(targets, map[string]any{"datasource": source, "expr": q.expr, "legendFormat": q.legend,
				"refId": string(rune('A' + n))})
		}
		drawn = append(drawn, map[string]any{
			"id": i + 1, "type": "timeseries", "title": p.title, "description": p.about, "datasource": source, "targets": targets,
			"gridPos":     map[string]int{"x": x, "y": y, "w": p.width, "h": height},
			"fieldConfig": map[string]any{"defaults": map[string]any{"unit": p.unit, "min": 0, "custom": map[string]any{"fillOpacity": 10, "showPoints": "never"}}, "overrides": []any{}},
			"options":     map[string]any{"legend": map[string]any{"displayMode": "list", "placement": "bottom"}, "tooltip": map[string]any{"mode": "multi", "sort": "desc"}},
		})
		if x += p.width; x == 24 {
			x, y = 0, y+height
		}
	}
	variable := func(name, label, of string) map[string]any {
		text := fmt.Sprintf("label_values(%s, %s)", of, name)
		return map[string]any{
			"name": name, "label": label, "type": "query", "datasource": source, "query": map[string]any{"query": text, "refId": name}, "definition": text,
			"includeAll": true, "multi": true, "allValue": ".+", "current": map[string]any{"text": "All", "value": "$__all"}, "refresh": 2, "sort": 1,
		}
	}
	return json.MarshalIndent(map[string]any{
		"id": nil, "uid": "adgateway", "title": "adgateway", "description": "Requests, sessions, servers and evidence of adgateway.",
		"tags": []string{"adgateway"}, "schemaVersion": 39, "version": 1, "editable": true, "refresh": "1m", "timezone": "",
		"time": map[string]string{"from": "now-6h", "to": "now"}, "panels": drawn,
		"templating": map[string]any{"list": []any{
			map[string]any{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"},
			variable("instance", "Gateway", "adgateway_build_info"), variable("lane", "Lane", "adgateway_sessions_max"),
		}},
	}, "", "  ")
}
