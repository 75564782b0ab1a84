package live

import (
	"context"
	_ "embed" // probes.txt
	"slices"
	"strings"
	"time"

	"adgateway/ps"
	"adgateway/ps/packed"
)

// Probe is one row of the table: a script with its arguments, or a measurement.
type Probe struct {
	ID    string
	Facts []string // references to the collection of facts about Windows; "#n" is an open question
	About string

	Script string
	Lane   ps.Lane
	Args   func(t target) ps.Args // returns the arguments in addition to the server
	// skip returns the reason why the probe cannot run at the target, or "" if it can. It may be nil.
	skip func(t target) string

	// IfDiffers describes what to change if a result is not as expected. IfFactDiffers contains
	// advice for single facts. Measurements have none.
	IfDiffers     string
	IfFactDiffers map[string]string

	figures bool                                                     // results are measurements
	measure func(ctx context.Context, r *run) ([]Observation, error) // instead of a script
}

// target describes where a run works.
type target struct {
	base         string // OU in which the probes create objects
	password     string // for a user created by a probe
	zone         string
	reverseTaken bool // the network of the probes already has a zone
}

//go:embed probes.txt
var probesText string

// Probes returns all probes in the order in which they run.
func Probes() []Probe {
	measures := map[string]func(context.Context, *run) ([]Observation, error){
		"start": measureStart, "memory": measureMemory, "calls": measureCalls, "tsuserex": measureExtension,
		"connections": tryConnections,
	}
	var all []Probe
	for cells := range packed.Rows(probesText) {
		if len(cells) == 2 {
			last := &all[len(all)-1]
			if last.IfFactDiffers == nil {
				last.IfFactDiffers = map[string]string{}
			}
			last.IfFactDiffers[cells[0]] = cells[1]
			continue
		}
		p := Probe{
			ID: cells[0], Facts: strings.Fields(cells[1]), figures: cells[2] == "figures", Lane: ps.Lane(cells[3]),
			Script: cells[4], About: cells[5], IfDiffers: cells[6], measure: measures[cells[0]],
		}
		if p.IfDiffers == "mapping" {
			p.IfDiffers = reportMapping
		}
		if p.Script != "" {
			p.Args = arguments(p)
		}
		if p.ID == "networks" {
			p.skip = func(t target) string {
				if t.reverseTaken {
					return "the server has a zone " + reverseZone + " already, which stays as it is"
				}
				return ""
			}
		}
		all = append(all, p)
	}
	first := slices.IndexFunc(all, func(p Probe) bool { return p.ID == "controllers" })
	return slices.Insert(all, first, lineProbes()...)
}

// arguments returns the function that makes the arguments of a probe's script.
func arguments(p Probe) func(target) ps.Args {
	common := func(t target) ps.Args { return ps.Args{"Base": ps.Text(t.base), "Prefix": ps.Text(Prefix)} }
	if p.Lane == ps.DNS {
		common = func(t target) ps.Args { return ps.Args{"ZoneName": ps.Text(t.zone), "Prefix": ps.Text(Prefix)} }
	}
	switch p.ID {
	case "json":
		return func(target) ps.Args {
			return ps.Args{"Count": ps.Int(10000), "Fact": ps.Text("10,000 records")}
		}
	case "controllers":
		return func(target) ps.Args { return ps.Args{} }
	case "networks":
		return func(target) ps.Args {
			return ps.Args{"NetworkId": ps.Text(networkID), "ReverseZone": ps.Text(reverseZone)}
		}
	case "rights":
		return func(t target) ps.Args {
			args := common(t)
			args["Password"] = ps.Secret(t.password)
			return args
		}
	case "records":
		return func(t target) ps.Args {
			args := common(t)
			args["Now"] = ps.Int(ticks(time.Now()))
			return args
		}
	}
	return common
}

// lineProbes send texts that an encoding, a buffer or a line ending on the data line could corrupt.
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
			IfDiffers: "Values would arrive changed: do not use this PowerShell; set powershell.path to PowerShell " +
				"7, and report the build of Windows.",
		})
	}
	return all
}

// reportMapping is the advice for differences that affect only the table of errors.
const reportMapping = "Answers have another status or text, or 502 with the number: report what was " +
	"found, so that the gateway's table of errors gets a row for it."

// ticks returns a time as DateTime.Ticks in UTC.
func ticks(t time.Time) int64 {
	const ticksTo1970, ticksPerSecond = 621355968000000000, 10_000_000
	return t.Unix()*ticksPerSecond + int64(t.Nanosecond()/100) + ticksTo1970
}
