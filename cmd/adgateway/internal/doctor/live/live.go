// Package live tries, on a real domain and DNS server, what could not be found
// out without them, and holds it against what the gateway counts on.
//
// Every [Probe] is a row: a script of scripts/doctor, or a measurement, and the
// facts it is about. What the sandbox answers to it stands in expected.json,
// which a test holds; so the sandbox and a real Windows are asked the same.
//
// A run works in a scratch OU and a scratch zone only. It refuses those that
// hold anything else than its own, makes only objects whose names begin with
// [Prefix], and sweeps up after itself whatever happens ([Run]).
package live

import (
	_ "embed"
	"encoding/json"
	"time"

	"adgateway/ps"
	"adgateway/ps/session"
)

// Prefix begins the name of everything that the probes make.
const Prefix = "adgwprobe-"

// mark is the description of a scratch OU that a run has made.
const mark = "Made by 'adgateway doctor --live'; it may be removed."

// The network of the probes is one of those that RFC 5737 reserves for
// documentation: nobody has a zone for it.
const (
	networkID   = "192.0.2.77/24" // with host bits
	reverseZone = "2.0.192.in-addr.arpa"
)

// limit is how long a probe may run.
const limit = 2 * time.Minute

// Status says how what was found compares to what was expected.
type Status string

// The statuses.
const (
	AsExpected Status = "ok"
	Differs    Status = "differs"
	Measured   Status = "measured" // a figure: nothing is expected of it
	Failed     Status = "failed"   // the probe did not come so far
	Skipped    Status = "skipped"
)

// Observation is one thing that a probe has tried.
type Observation struct {
	Fact     string `json:"fact"`
	Status   Status `json:"status"`
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found"`
	Message  string `json:"message,omitempty"` // of an error, in the language of Windows
}

// Finding is what came of a probe.
type Finding struct {
	Probe        string        `json:"probe"`
	Facts        []string      `json:"facts"` // numbers in the collection of facts about Windows
	About        string        `json:"about"`
	Script       string        `json:"script,omitempty"`
	Milliseconds int64         `json:"milliseconds"`
	Observations []Observation `json:"observations"`
}

// Remnant is something that could not be removed.
type Remnant struct {
	DN     string `json:"dn"`
	Reason string `json:"reason"`
}

// Report is what a run has found.
type Report struct {
	Engine     string                    `json:"engine"`
	Began      time.Time                 `json:"began"`
	OU         string                    `json:"ou"`
	Zone       string                    `json:"zone"`
	Controller string                    `json:"controller"`
	DNSServer  string                    `json:"dnsServer"`
	Sessions   map[ps.Lane]session.Ready `json:"sessions"` // what each said of itself
	Findings   []Finding                 `json:"findings"`
	Remains    []Remnant                 `json:"remains"` // not removed
	CutShort   string                    `json:"cutShort,omitempty"`
	Counts     map[Status]int            `json:"counts"`
}

// count brings Counts up to date.
func (r *Report) count() {
	r.Counts = map[Status]int{}
	for _, finding := range r.Findings {
		for _, o := range finding.Observations {
			r.Counts[o.Status]++
		}
	}
}

// ExitCode is 0 when all is as expected, 1 when something differs, and 2 when a
// probe failed, the run was cut short, or something remains.
func (r *Report) ExitCode() int {
	switch {
	case r.Counts[Failed] > 0 || r.CutShort != "" || len(r.Remains) > 0:
		return 2
	case r.Counts[Differs] > 0:
		return 1
	}
	return 0
}

//go:embed expected.json
var expectedText []byte

// Expected is what the sandbox answers, by probe and fact.
type Expected map[string]map[string]string

func readExpected() (Expected, error) {
	var e Expected
	return e, json.Unmarshal(expectedText, &e)
}
