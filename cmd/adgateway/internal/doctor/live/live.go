// Package live tests assumptions of the gateway that only a real domain and DNS server can confirm.
//
// Every [Probe] is a row: a script of scripts/doctor or a measurement, with the facts that it tests. The
// results of the sandbox are in expected.json, which a test keeps up to date, so a run compares the sandbox
// with a real Windows.
//
// A run works only in a scratch OU and a scratch zone. It rejects places with foreign content,
// creates only objects whose names begin with [Prefix], and always cleans up ([Run]).
//
// Questions that no probe can answer are in the checklist ([Checklist]), for a person.
package live

import (
	_ "embed"
	"encoding/json"
	"slices"
	"time"

	"adgateway/ps"
	"adgateway/ps/session"
)

// Prefix is the prefix of the name of every object that the probes create.
const Prefix = "adgwprobe-"

// mark is the description of a scratch OU that a run has created.
const mark = "Made by 'adgateway doctor --live'; it may be removed."

// The probes use a network that RFC 5737 reserves for documentation, because nobody has a zone for it.
const (
	networkID   = "192.0.2.77/24" // with host bits
	reverseZone = "2.0.192.in-addr.arpa"
)

// limit is the time limit of a probe.
const limit = 2 * time.Minute

// Status is the result of comparing an observation with the expectation.
type Status string

// The statuses.
const (
	AsExpected Status = "ok"
	Differs    Status = "differs"
	Measured   Status = "measured" // a measurement, without an expected value
	Failed     Status = "failed"   // the probe failed earlier
	Skipped    Status = "skipped"
)

// Observation is the result of testing one fact.
type Observation struct {
	Fact     string `json:"fact"`
	Status   Status `json:"status"`
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found"`
	Message  string `json:"message,omitempty"` // error message, in the language of Windows
	// IfDiffers describes what to change if the result is not as expected.
	IfDiffers string `json:"ifDiffers,omitempty"`
}

// Finding is the result of a probe.
type Finding struct {
	Probe        string        `json:"probe"`
	Facts        []string      `json:"facts"` // numbers of facts about Windows in the collection
	About        string        `json:"about"`
	Script       string        `json:"script,omitempty"`
	Milliseconds int64         `json:"milliseconds"`
	Observations []Observation `json:"observations"`
}

// Remnant is an object that could not be removed.
type Remnant struct {
	DN     string `json:"dn"`
	Reason string `json:"reason"`
}

// Report is the result of a run.
type Report struct {
	Engine     string                    `json:"engine"`
	Began      time.Time                 `json:"began"`
	OU         string                    `json:"ou"`
	Zone       string                    `json:"zone"`
	Controller string                    `json:"controller"`
	DNSServer  string                    `json:"dnsServer"`
	Sessions   map[ps.Lane]session.Ready `json:"sessions"` // as reported by each session
	Findings   []Finding                 `json:"findings"`
	Remains    []Remnant                 `json:"remains"` // not removed
	CutShort   string                    `json:"cutShort,omitempty"`
	Version    string                    `json:"version"` // of the program
	System     string                    `json:"system"`  // the operating system and its build
	Checklist  []Entry                   `json:"checklist,omitempty"`
	Counts     map[Status]int            `json:"counts"`
}

// count updates Counts.
func (r *Report) count() {
	r.Counts = map[Status]int{}
	for _, finding := range r.Findings {
		for _, o := range finding.Observations {
			r.Counts[o.Status]++
		}
	}
}

// differs reports whether the result of a checklist item differs from the expectation.
func (r *Report) differs() bool {
	return slices.ContainsFunc(r.Checklist, func(e Entry) bool { return e.Status == Differs })
}

// ExitCode returns 0 if everything is as expected, 1 if something differs, and 2 if a
// probe failed, the run was cut short, or something remains.
func (r *Report) ExitCode() int {
	switch {
	case r.Counts[Failed] > 0 || r.CutShort != "" || len(r.Remains) > 0:
		return 2
	case r.Counts[Differs] > 0 || r.differs():
		return 1
	}
	return 0
}

//go:embed expected.json
var expectedText []byte

// Expected contains the results of the sandbox, by probe and fact.
type Expected map[string]map[string]string

func readExpected() (Expected, error) {
	var e Expected
	return e, json.Unmarshal(expectedText, &e)
}
