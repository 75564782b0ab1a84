package live

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"adgateway/ps"
	"adgateway/ps/session"
)

// Options configure a run. Only Probes and Progress are optional.
type Options struct {
	OU, Zone string
	Engine   string    // name in the report
	Runner   ps.Runner // adds the servers to the arguments of scripts
	Open     func(ctx context.Context, lane ps.Lane) (session.Ready, time.Duration, error)
	Memory   func(lane ps.Lane) (int64, error)
	Sessions int // sessions for the directory in the gateway's pool
	// Crowd starts n more sessions for the directory. end closes them.
	Crowd    func(ctx context.Context, n int) (sessions []ps.Runner, end func(context.Context) error, err error)
	Probes   []Probe           // nil means all
	Progress func(text string) // receives the current step; may be nil
}

// run is the state of a run.
type run struct {
	o        Options
	name     string // name of the scratch OU
	expected Expected
	target   target
	report   *Report

	createOU   bool // the OU does not exist yet
	removeOU   bool // this or an earlier run created the OU
	createZone bool // the zone does not exist yet; it is removed at the end
}

// ErrRefused is wrapped by the error of a run that did not start.
var ErrRefused = errors.New("nothing was changed")

var (
	plainOU   = regexp.MustCompile(`^[Oo][Uu]=([A-Za-z0-9][A-Za-z0-9 _.-]{0,62}),((?:CN|OU|DC|cn|ou|dc)=.+)$`)
	plainZone = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$`)
)

// Run runs all probes and cleans up. A non-nil error wraps [ErrRefused] and means that
// nothing was run. Later errors are in the report. When ctx ends, the running probe is
// completed, and everything that was created is removed.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	expected, err := readExpected()
	if err != nil {
		return nil, err
	}
	r := &run{o: o, expected: expected, report: &Report{
		Engine: o.Engine, Began: time.Now().UTC().Truncate(time.Second), OU: o.OU, Zone: o.Zone,
		Sessions: map[ps.Lane]session.Ready{}, Findings: []Finding{}, Remains: []Remnant{},
	}}
	if err := r.check(ctx); err != nil {
		return nil, fmt.Errorf("%w; %w", err, ErrRefused)
	}
	defer r.report.count()
	defer r.sweep(context.WithoutCancel(ctx))
	if err := r.prepare(ctx); err != nil {
		r.report.CutShort = "the scratch OU and zone could not be created: " + err.Error()
		return r.report, nil
	}
	probes := o.Probes
	if probes == nil {
		probes = Probes()
	}
	for _, probe := range probes {
		if ctx.Err() != nil {
			r.report.CutShort = "it was interrupted"
			break
		}
		o.Progress("probe " + probe.ID)
		r.report.Findings = append(r.report.Findings, r.try(ctx, probe))
	}
	return r.report, nil
}

// scratchOU and scratchZone are the scripts' reports about the scratch places.
type scratchOU struct {
	Exists, Parent, OU, Made bool
	Mine                     int
	Foreign                  []string
}

type scratchZone struct {
	Exists, Writable, Reverse bool
	Mine                      int
	Foreign                   []string
}

// check rejects an OU or a zone with foreign content, and removes the remains of an earlier run.
func (r *run) check(ctx context.Context) error {
	found := plainOU.FindStringSubmatch(r.o.OU)
	if found == nil {
		return fmt.Errorf("--ou %q: use the DN of an OU with a plain name, such as OU=Scratch,DC=corp,DC=example",
			r.o.OU)
	}
	r.name = found[1]
	r.o.Zone = strings.ToLower(strings.TrimSuffix(r.o.Zone, "."))
	if !plainZone.MatchString(r.o.Zone) || strings.HasSuffix(r.o.Zone, ".arpa") {
		return fmt.Errorf("--zone %q: use the name of a forward zone, such as scratch.corp.example", r.o.Zone)
	}
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		ready, _, err := r.o.Open(ctx, lane)
		if err != nil {
			return fmt.Errorf("there is no session for %s: %w", lane, err)
		}
		r.report.Sessions[lane] = ready
	}
	left, err := r.checkOU(ctx)
	if err != nil {
		return err
	}
	records, err := r.checkZone(ctx)
	if err != nil || left+records == 0 {
		return err
	}
	r.o.Progress("removing what an earlier run left behind")
	if remains := r.sweepOnce(ctx, false); len(remains) > 0 {
		return fmt.Errorf("what an earlier run left behind cannot be removed: %s: %s", remains[0].DN,
			remains[0].Reason)
	}
	return nil
}

// checkOU returns how many objects an earlier run left behind.
func (r *run) checkOU(ctx context.Context) (left int, err error) {
	var ou scratchOU
	if err := r.one(ctx, ps.Request{Script: "Get-GatewayScratch", Lane: ps.Directory, Args: ps.Args{
		"Base": ps.Text(r.o.OU), "Prefix": ps.Text(Prefix), "Mark": ps.Text(mark),
	}}, &ou); err != nil {
		return 0, fmt.Errorf("--ou %s cannot be read: %w", r.o.OU, err)
	}
	switch {
	case !ou.Exists && !ou.Parent:
		return 0, fmt.Errorf("--ou %s: neither it nor its parent exists", r.o.OU)
	case ou.Exists && !ou.OU:
		return 0, fmt.Errorf("--ou %s is a container, not an OU", r.o.OU)
	case len(ou.Foreign) > 0:
		return 0, fmt.Errorf("--ou %s is not empty: it contains %s; use an OU that is empty or does not exist yet",
			r.o.OU, some(ou.Foreign))
	}
	r.createOU, r.removeOU = !ou.Exists, !ou.Exists || ou.Made
	return ou.Mine, nil
}

// checkZone returns how many records an earlier run left behind.
func (r *run) checkZone(ctx context.Context) (left int, err error) {
	var zone scratchZone
	if err := r.one(ctx, ps.Request{Script: "Get-GatewayScratchZone", Lane: ps.DNS, Args: ps.Args{
		"ZoneName": ps.Text(r.o.Zone), "Prefix": ps.Text(Prefix), "ReverseZone": ps.Text(reverseZone),
	}}, &zone); err != nil {
		return 0, fmt.Errorf("--zone %s cannot be read: %w", r.o.Zone, err)
	}
	switch {
	case !zone.Writable:
		return 0, fmt.Errorf("--zone %s is not a writable primary zone", r.o.Zone)
	case len(zone.Foreign) > 0:
		return 0, fmt.Errorf("--zone %s is not empty: it contains %s; use a zone that is empty or does not "+
			"exist yet", r.o.Zone, some(zone.Foreign))
	}
	r.createZone = !zone.Exists
	r.target = target{zone: r.o.Zone, reverseTaken: zone.Reverse, password: "Aa1!" + rand.Text()}
	return zone.Mine, nil
}

// some joins the first few names.
func some(names []string) string {
	const shown = 3
	if len(names) <= shown {
		return strings.Join(names, "; ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], "; "), len(names)-shown)
}

// prepare creates the objects that the probes need.
func (r *run) prepare(ctx context.Context) error {
	r.o.Progress("creating the scratch OU and zone")
	var created struct{ Base string }
	if err := r.one(ctx, ps.Request{Script: "New-GatewayScratch", Lane: ps.Directory, Write: true, Args: ps.Args{
		"Base": ps.Text(r.o.OU), "Name": ps.Text(r.name), "Prefix": ps.Text(Prefix), "Mark": ps.Text(mark),
		"Create": ps.Bool(r.createOU),
	}}, &created); err != nil {
		return err
	}
	r.target.base = created.Base
	if !r.createZone {
		return nil
	}
	_, err := r.records(ctx, ps.Request{Script: "New-GatewayScratchZone", Lane: ps.DNS, Write: true,
		Args: ps.Args{"ZoneName": ps.Text(r.o.Zone)}})
	return err
}

// try runs a probe and compares its observations with the expected ones. Expected facts that
// the probe did not test count as failed.
func (r *run) try(ctx context.Context, p Probe) Finding {
	startedAt := time.Now()
	finding := Finding{Probe: p.ID, Facts: p.Facts, About: p.About, Script: p.Script}
	var err error
	switch {
	case p.skip != nil && p.skip(r.target) != "":
		finding.Observations = []Observation{{Fact: p.About, Status: Skipped, Found: p.skip(r.target)}}
		return finding
	case p.measure != nil:
		finding.Observations, err = p.measure(ctx, r)
	default:
		var found []json.RawMessage
		found, err = r.records(ctx, ps.Request{Script: p.Script, Lane: p.Lane, Args: p.Args(r.target), Write: true})
		for _, record := range found {
			var o Observation
			if bad := json.Unmarshal(record, &o); bad != nil {
				err = errors.Join(err, bad)
			}
			finding.Observations = append(finding.Observations, o)
		}
	}
	finding.Milliseconds = time.Since(startedAt).Milliseconds()
	finding.Observations = p.compare(finding.Observations, r.expected[p.ID])
	if err != nil {
		finding.Observations = append(finding.Observations,
			Observation{Fact: "the probe itself", Status: Failed, Found: err.Error()})
	}
	return finding
}

// notTried is the prefix of the result of something that a script could not test here.
const notTried = "not tried:"

// compare sets the expected value, the advice and, unless it is set already, the status of each observation.
func (p Probe) compare(found []Observation, expected map[string]string) []Observation {
	seen := map[string]bool{}
	for i := range found {
		o := &found[i]
		seen[o.Fact] = true
		o.Expected = expected[o.Fact]
		switch {
		case o.Status != "":
		case strings.HasPrefix(o.Found, notTried):
			o.Status, o.Found = Skipped, strings.TrimSpace(strings.TrimPrefix(o.Found, notTried))
		case p.figures:
			o.Status = Measured
		case o.Found == o.Expected:
			o.Status = AsExpected
		default:
			o.Status, o.IfDiffers = Differs, p.advice(o.Fact)
		}
	}
	for _, fact := range slices.Sorted(maps.Keys(expected)) {
		if !seen[fact] {
			found = append(found, Observation{Fact: fact, Status: Failed, Expected: expected[fact],
				Found: "not tried"})
		}
	}
	return found
}

// advice returns what to change if the result of a fact differs.
func (p Probe) advice(fact string) string {
	if text := p.IfFactDiffers[fact]; text != "" {
		return text
	}
	return p.IfDiffers
}

// The sweep is retried after a failure, because a session may have died.
const (
	sweeps     = 3
	sweepLimit = 5 * time.Minute
)

// sweep removes the objects that the run has created and records the remaining ones.
func (r *run) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sweepLimit)
	defer cancel()
	for range sweeps {
		r.o.Progress("removing what was created")
		if r.report.Remains = r.sweepOnce(ctx, true); len(r.report.Remains) == 0 {
			return
		}
	}
}

// sweepOnce removes the objects that runs have created and, if whole is set, also the OU and
// the zone of this run.
func (r *run) sweepOnce(ctx context.Context, whole bool) []Remnant {
	var zones []string
	if whole && r.createZone {
		zones = append(zones, r.o.Zone)
	}
	if !r.target.reverseTaken {
		zones = append(zones, reverseZone)
	}
	remains := []Remnant{}
	for _, request := range []ps.Request{
		{Script: "Remove-GatewayScratch", Lane: ps.Directory, Args: ps.Args{
			"Base": ps.Text(r.o.OU), "Prefix": ps.Text(Prefix), "Itself": ps.Bool(whole && r.removeOU),
		}},
		{Script: "Remove-GatewayScratchZone", Lane: ps.DNS, Args: ps.Args{
			"ZoneName": ps.Text(r.o.Zone), "Prefix": ps.Text(Prefix), "Zone": ps.List(zones),
		}},
	} {
		request.Write = true
		found, err := r.records(ctx, request)
		for _, record := range found {
			var left Remnant
			if err = errors.Join(err, json.Unmarshal(record, &left)); left.DN != "" {
				remains = append(remains, left)
			}
		}
		if err != nil {
			place := r.o.OU
			if request.Lane == ps.DNS {
				place = r.o.Zone
			}
			remains = append(remains, Remnant{DN: place, Reason: "what remains there is unknown: " + err.Error()})
		}
	}
	return remains
}

// records runs a script and returns its records.
func (r *run) records(ctx context.Context, request ps.Request) ([]json.RawMessage, error) {
	all, server, err := records(ctx, r.o.Runner, request)
	if err != nil {
		return all, err
	}
	if request.Lane == ps.DNS {
		r.report.DNSServer = server
	} else {
		r.report.Controller = server
	}
	return all, nil
}

func records(
	ctx context.Context, runner ps.Runner, request ps.Request,
) (all []json.RawMessage, server string, err error) {
	request.ID, request.Limit = "doctor", limit
	request.Records = ps.Collect(&all)
	result, err := runner.Run(ctx, request)
	if err != nil {
		return all, "", err
	}
	return all, result.Server, nil
}

// one runs a script that returns exactly one record.
func (r *run) one(ctx context.Context, request ps.Request, into any) error {
	found, err := r.records(ctx, request)
	return only(found, err, request.Script, into)
}

// one is [run.one] for a given session.
func one(ctx context.Context, runner ps.Runner, request ps.Request, into any) error {
	found, _, err := records(ctx, runner, request)
	return only(found, err, request.Script, into)
}

func only(found []json.RawMessage, err error, script string, into any) error {
	if err != nil {
		return err
	}
	if len(found) != 1 {
		return fmt.Errorf("%s returned %d records, not one", script, len(found))
	}
	return json.Unmarshal(found[0], into)
}
