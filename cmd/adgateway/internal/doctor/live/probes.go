package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adgateway/ps"
)

// Probe is one row of the table: a script with its arguments, or a measurement.
type Probe struct {
	ID    string
	Facts []string // in the collection of facts about Windows; "#n" is an open question there
	About string

	Script string
	Lane   ps.Lane
	Args   func(t target) ps.Args // in addition to the server
	// skip returns why the probe cannot run there, or "". It may be nil.
	skip func(t target) string

	figures bool                                                     // results are measurements
	measure func(ctx context.Context, r *run) ([]Observation, error) // instead of a script
}

// target is where a run works.
type target struct {
	base         string // OU in which the probes create objects
	zone         string
	reverseTaken bool // the network of the probes already has a zone
}

// Probes returns all probes in the order in which they run.
func Probes() []Probe {
	all := []Probe{
		{ID: "start", Facts: []string{"A41", "#8"}, About: "how long a session takes to start, module and all", figures: true, measure: measureStart},
		{ID: "memory", Facts: []string{"A54", "#8"}, About: "how a session grows with its requests", figures: true, measure: measureMemory},
		{ID: "json", Facts: []string{"B28", "#8"}, About: "what the records of a long list cost",
			Script: "Test-GatewayJson", Lane: ps.Directory, figures: true,
			Args: func(target) ps.Args { return ps.Args{"Count": ps.Int(10000), "Fact": ps.Text("10,000 records")} }},
	}
	all = append(all, Probe{ID: "tsuserex", Facts: []string{"F4", "#2"}, About: "whether this edition has the extension for Remote Desktop settings",
		figures: true, measure: measureExtension})
	all = append(all, lineProbes()...)
	return append(append(all, directoryProbes()...), dnsProbes()...)
}

// lineProbes send texts through the data line that an encoding, a buffer or a line
// end could corrupt.
func lineProbes() []Probe {
	var all []Probe
	for _, c := range []struct{ id, fact, text string }{
		{"line-letters", "letters of many languages, controls, quotes", strings.Repeat("Aä€日😀\t\x01'\"`$(1)\u2019 ", 20)},
		{"line-1k", "1,000 characters", strings.Repeat("0123456789", 100)},
		{"line-64k", "65,000 characters", strings.Repeat("0123456789", 6500)},
		{"line-700k", "700,000 characters", strings.Repeat("0123456789", 70000)},
	} {
		all = append(all, Probe{
			ID: c.id, Facts: []string{"A48", "#1"}, About: "whether a data line arrives whole",
			Script: "Test-GatewayDataLine", Lane: ps.Directory,
			Args: func(target) ps.Args { return ps.Args{"Text": ps.Text(c.text), "Fact": ps.Text(c.fact)} },
		})
	}
	return all
}

func directoryProbes() []Probe {
	row := func(id, script, about string, facts ...string) Probe {
		return Probe{ID: id, Facts: facts, About: about, Script: script, Lane: ps.Directory, Args: func(t target) ps.Args {
			return ps.Args{"Base": ps.Text(t.base), "Prefix": ps.Text(Prefix)}
		}}
	}
	return []Probe{
		row("userParameters", "Test-GatewayUserParameters", "how userParameters gets to the directory and back", "F20", "#2"),
		row("groups", "Test-GatewayGroupRules", "what groups refuse, and with which error", "E31", "E35", "#5"),
		row("protection", "Test-GatewayProtection", "what protection from accidental deletion stops", "E40", "E43", "X6", "#5", "#7"),
		row("children", "Test-GatewayChildren", "removing and moving what has something below it", "E45", "E50", "#5"),
		row("enabling", "Test-GatewayEnabling", "accounts without a password", "H4", "#6"),
		row("slashes", "Test-GatewayPrincipalGroups", "Get-ADPrincipalGroupMembership and names with a slash", "E22", "#10"),
		row("reading", "Test-GatewayReading", "which names are the same, and how values look", "B21", "B26", "H21"),
		row("errors", "Test-GatewayErrorIds", "whether errors have the ids that the gateway maps", "D.1", "#11"),
	}
}

func dnsProbes() []Probe {
	zone := func(t target) ps.Args { return ps.Args{"ZoneName": ps.Text(t.zone), "Prefix": ps.Text(Prefix)} }
	return []Probe{
		{ID: "cnames", Facts: []string{"D.3", "E57", "E58", "X10", "#3"}, About: "which error each misplaced CNAME has",
			Script: "Test-GatewayCNameRules", Lane: ps.DNS, Args: zone},
		{ID: "targets", Facts: []string{"E53", "#4"}, About: "how the target of a CNAME is completed",
			Script: "Test-GatewayTargets", Lane: ps.DNS, Args: zone},
		{ID: "networks", Facts: []string{"E71", "#4"}, About: "which zone a network with host bits gets",
			Script: "Test-GatewayNetworkIds", Lane: ps.DNS,
			Args: func(target) ps.Args {
				return ps.Args{"NetworkId": ps.Text(networkID), "ReverseZone": ps.Text(reverseZone)}
			},
			skip: func(t target) string {
				if t.reverseTaken {
					return "the server has a zone " + reverseZone + " already, which stays as it is"
				}
				return ""
			}},
	}
}

// measureStart returns how long the sessions of this run took to start.
func measureStart(ctx context.Context, r *run) ([]Observation, error) {
	var all []Observation
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		ready, took, err := r.o.Open(ctx, lane)
		if err != nil {
			return all, err
		}
		all = append(all, Observation{Fact: string(lane), Found: fmt.Sprintf("%d ms, PowerShell %s %s, %s %s",
			took.Milliseconds(), ready.PowerShell, ready.Edition, ready.Module, ready.ModuleVersion)})
	}
	return all, nil
}

// measureExtension checks for the library that exposes userParameters to ADSI.
func measureExtension(context.Context, *run) ([]Observation, error) {
	const name = "tsuserex.dll"
	root := os.Getenv("SystemRoot")
	if root == "" {
		return []Observation{{Fact: name, Found: "this is not Windows"}}, nil
	}
	if _, err := os.Stat(filepath.Join(root, "System32", name)); err != nil {
		return []Observation{{Fact: name, Found: "not there: " + err.Error()}}, nil
	}
	return []Observation{{Fact: name, Found: "there"}}, nil
}

// measuredRequests is the number of requests over which the growth of a session is
// measured.
const measuredRequests = 200

// measureMemory returns how many private bytes a session grows per request.
func measureMemory(ctx context.Context, r *run) ([]Observation, error) {
	const fact = "200 small requests"
	request := func() error {
		_, err := r.records(ctx, ps.Request{Script: "Get-GatewayClock", Lane: ps.Directory, Args: ps.Args{}})
		return err
	}
	if err := request(); err != nil { // the first request loads what is loaded only once
		return nil, err
	}
	before, err := r.o.Memory(ps.Directory)
	startedAt := time.Now()
	for range measuredRequests {
		if err := request(); err != nil {
			return nil, err
		}
	}
	each := time.Since(startedAt) / measuredRequests
	after, afterErr := r.o.Memory(ps.Directory)
	if err != nil || afterErr != nil {
		return []Observation{{Fact: fact, Found: fmt.Sprintf("%d us each; this engine has no process of its own to measure", each.Microseconds())}}, nil
	}
	return []Observation{{Fact: fact, Found: fmt.Sprintf("%d us each; %d KiB private before, %d KiB after, %d bytes a request",
		each.Microseconds(), before>>10, after>>10, (after-before)/measuredRequests)}}, nil
}
