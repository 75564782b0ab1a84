package live

import (
	"context"
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

// Options say where and with what a run works. All but Probes and Progress must
// be given.
type Options struct {
	OU, Zone string
	Engine   string    // as the report tells it
	Runner   ps.Runner // names the servers to the scripts
	Open     func(ctx context.Context, lane ps.Lane) (session.Ready, time.Duration, error)
	Memory   func(lane ps.Lane) (int64, error)
	Probes   []Probe           // nil: all
	Progress func(text string) // told what is being done; nil: nobody is
}

// run is one run.
type run struct {
	o        Options
	name     string // of the scratch OU
	expected Expected
	target   target
	report   *Report

	makeOU   bool // it is not there
	removeOU bool // it is this run's, or an earlier one's
	makeZone bool // it is not there, and goes again
}

// ErrRefused is in the error of a run that has not begun: nothing was changed.
var ErrRefused = errors.New("nothing was changed")

var (
	plainOU   = regexp.MustCompile(`^[Oo][Uu]=([A-Za-z0-9][A-Za-z0-9 _.-]{0,62}),((?:CN|OU|DC|cn|ou|dc)=.+)$`)
	plainZone = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$`)
)

// Run runs all probes and sweeps up. The error is of a run that has not begun,
// and wraps [ErrRefused]; whatever goes wrong later is in the report. When ctx
// ends, the probe that runs is let finish, and what was made is removed.
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
		r.report.CutShort = "the scratch OU and zone could not be made: " + err.Error()
		return r.report, nil
	}
	probes := o.Probes
	if probes == nil {
		probes = Probes()
	}
	for _, probe := range probes {
		if ctx.Err() != nil {
			r.report.CutShort = "it was told to stop"
			break
		}
		o.Progress("probe " + probe.ID)
		r.report.Findings = append(r.report.Findings, r.try(ctx, probe))
	}
	return r.report, nil
}

// scratchOU and scratchZone are what the scripts tell of a scratch.
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

// check refuses an OU or a zone that is not there for this alone.
func (r *run) check(ctx context.Context) error {
	found := plainOU.FindStringSubmatch(r.o.OU)
	if found == nil {
		return fmt.Errorf("--ou %q: give the DN of an OU with a plain name, such as OU=Scratch,DC=corp,DC=example", r.o.OU)
	}
	r.name = found[1]
	r.o.Zone = strings.ToLower(strings.TrimSuffix(r.o.Zone, "."))
	if !plainZone.MatchString(r.o.Zone) || strings.HasSuffix(r.o.Zone, ".arpa") {
		return fmt.Errorf("--zone %q: give the name of a forward zone, such as scratch.corp.example", r.o.Zone)
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
	more, err := r.checkZone(ctx)
	if err != nil || left+more == 0 {
		return err
	}
	r.o.Progress("removing what an earlier run has left")
	if remains := r.sweepOnce(ctx, false); len(remains) > 0 {
		return fmt.Errorf("what an earlier run has left cannot be removed: %s: %s", remains[0].DN, remains[0].Reason)
	}
	return nil
}

// checkOU tells how many objects an earlier run has left.
func (r *run) checkOU(ctx context.Context) (left int, err error) {
	var ou scratchOU
	if err := r.one(ctx, ps.Request{Script: "Get-GatewayScratch", Lane: ps.Directory, Args: ps.Args{
		"Base": ps.Text(r.o.OU), "Prefix": ps.Text(Prefix), "Mark": ps.Text(mark),
	}}, &ou); err != nil {
		return 0, fmt.Errorf("--ou %s cannot be looked at: %w", r.o.OU, err)
	}
	switch {
	case !ou.Exists && !ou.Parent:
		return 0, fmt.Errorf("--ou %s: neither it nor its parent is there", r.o.OU)
	case ou.Exists && !ou.OU:
		return 0, fmt.Errorf("--ou %s is a container, not an OU", r.o.OU)
	case len(ou.Foreign) > 0:
		return 0, fmt.Errorf("--ou %s is not empty: it holds %s; give an OU that is empty, or one that is not there yet", r.o.OU, some(ou.Foreign))
	}
	r.makeOU, r.removeOU = !ou.Exists, !ou.Exists || ou.Made
	return ou.Mine, nil
}

// checkZone tells how many records an earlier run has left.
func (r *run) checkZone(ctx context.Context) (left int, err error) {
	var zone scratchZone
	if err := r.one(ctx, ps.Request{Script: "Get-GatewayScratchZone", Lane: ps.DNS, Args: ps.Args{
		"ZoneName": ps.Text(r.o.Zone), "Prefix": ps.Text(Prefix), "ReverseZone": ps.Text(reverseZone),
	}}, &zone); err != nil {
		return 0, fmt.Errorf("--zone %s cannot be looked at: %w", r.o.Zone, err)
	}
	switch {
	case !zone.Writable:
		return 0, fmt.Errorf("--zone %s is not a primary zone that can be written to", r.o.Zone)
	case len(zone.Foreign) > 0:
		return 0, fmt.Errorf("--zone %s is not empty: it holds %s; give a zone that is empty, or one that is not there yet", r.o.Zone, some(zone.Foreign))
	}
	r.makeZone = !zone.Exists
	r.target = target{zone: r.o.Zone, reverseTaken: zone.Reverse}
	return zone.Mine, nil
}

// some names the first few.
func some(names []string) string {
	const shown = 3
	if len(names) <= shown {
		return strings.Join(names, "; ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], "; "), len(names)-shown)
}

// prepare makes what the probes need.
func (r *run) prepare(ctx context.Context) error {
	r.o.Progress("making the scratch OU and zone")
	var made struct{ Base string }
	if err := r.one(ctx, ps.Request{Script: "New-GatewayScratch", Lane: ps.Directory, Write: true, Args: ps.Args{
		"Base": ps.Text(r.o.OU), "Name": ps.Text(r.name), "Prefix": ps.Text(Prefix), "Mark": ps.Text(mark), "Create": ps.Bool(r.makeOU),
	}}, &made); err != nil {
		return err
	}
	r.target.base = made.Base
	if !r.makeZone {
		return nil
	}
	_, err := r.records(ctx, ps.Request{Script: "New-GatewayScratchZone", Lane: ps.DNS, Write: true, Args: ps.Args{"ZoneName": ps.Text(r.o.Zone)}})
	return err
}

// try runs a probe. What it finds is compared to what is expected; what was
// expected and not found out has failed.
func (r *run) try(ctx context.Context, p Probe) Finding {
	began := time.Now()
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
	finding.Milliseconds = time.Since(began).Milliseconds()
	finding.Observations = compare(finding.Observations, r.expected[p.ID], p.figures)
	if err != nil {
		finding.Observations = append(finding.Observations, Observation{Fact: "the probe itself", Status: Failed, Found: err.Error()})
	}
	return finding
}

// compare sets what was expected, and what that makes of each observation.
func compare(found []Observation, expected map[string]string, figures bool) []Observation {
	seen := map[string]bool{}
	for i := range found {
		o := &found[i]
		seen[o.Fact] = true
		o.Expected = expected[o.Fact]
		switch {
		case figures:
			o.Status = Measured
		case o.Found == o.Expected:
			o.Status = AsExpected
		default:
			o.Status = Differs
		}
	}
	for _, fact := range slices.Sorted(maps.Keys(expected)) {
		if !seen[fact] {
			found = append(found, Observation{Fact: fact, Status: Failed, Expected: expected[fact], Found: "not tried"})
		}
	}
	return found
}

// The sweep is tried again after a failure: a session may have died.
const (
	sweeps     = 3
	sweepLimit = 5 * time.Minute
)

// sweep removes what the run has made and notes what remains.
func (r *run) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sweepLimit)
	defer cancel()
	for range sweeps {
		r.o.Progress("removing what was made")
		if r.report.Remains = r.sweepOnce(ctx, true); len(r.report.Remains) == 0 {
			return
		}
	}
}

// sweepOnce removes what runs have made; whole: with the OU and the zone that
// this one has.
func (r *run) sweepOnce(ctx context.Context, whole bool) []Remnant {
	var zones []string
	if whole && r.makeZone {
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
			remains = append(remains, Remnant{DN: place, Reason: "it is not known what remains there: " + err.Error()})
		}
	}
	return remains
}

// records runs a script and gives its records.
func (r *run) records(ctx context.Context, request ps.Request) ([]json.RawMessage, error) {
	var all []json.RawMessage
	request.ID, request.Limit = "doctor", limit
	request.Records = func(batch json.RawMessage) error {
		var some []json.RawMessage
		err := json.Unmarshal(batch, &some)
		all = append(all, some...)
		return err
	}
	result, err := r.o.Runner.Run(ctx, request)
	if err != nil {
		return all, err
	}
	if request.Lane == ps.DNS {
		r.report.DNSServer = result.Server
	} else {
		r.report.Controller = result.Server
	}
	return all, nil
}

// one runs a script that gives one record.
func (r *run) one(ctx context.Context, request ps.Request, into any) error {
	found, err := r.records(ctx, request)
	if err != nil {
		return err
	}
	if len(found) != 1 {
		return fmt.Errorf("%s gave %d records, not one", request.Script, len(found))
	}
	return json.Unmarshal(found[0], into)
}
