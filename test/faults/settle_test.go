package faults

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/ps/sandbox"
	"adgateway/test/sandboxtest"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// write is a change that is cut off at every frame.
type write struct {
	op     string
	params map[string]any
	before []systemtest.Call // calls that create the objects to be changed
	read   systemtest.Call   // call that shows changes missed by a comparison of snapshots
	// outcomes are the outcomes of cuts (such as "step 0 before") that a comparison of snapshots cannot decide.
	outcomes map[string]string
	always   bool // runs even without SETTLE=all
}

// cutWrites returns one write per operation, built from its sample, and all or some of the
// writes with more steps.
func cutWrites(all bool) map[string]write {
	writes := map[string]write{}
	for _, op := range opstest.Own() {
		if op.Effect.Writes() {
			w := write{op: op.ID, params: op.Sample, read: reads[op.ID]}
			if first, needed := systemtest.Needed(op); needed {
				w.before = []systemtest.Call{first}
			}
			writes[op.ID] = w
		}
	}
	for name, w := range moreWrites {
		if all || w.always {
			writes[name] = w
		}
	}
	return writes
}

var readSampleUser = systemtest.Call{Method: http.MethodGet,
	Path: "/api/ADUser/" + systemtest.SampleUser + "/Details"}

// reads are calls that show the changes of some samples.
var reads = map[string]systemtest.Call{
	"user.update": readSampleUser, "user.resetPassword": readSampleUser,
	"user.create": {Method: http.MethodGet, Path: "/api/ADUser/sample/Details"},
	"ou.create":   {Method: http.MethodGet, Path: "/api/OU/Path/Details?OUPath=OU%3DSample,OU%3DEmpty,OU%3DCorp,DC%3Dcorp,DC%3Dexample"},
}

var moreWrites = map[string]write{
	"user.create with everything": {
		always: true, op: "user.create", read: reads["user.create"],
		params: systemtest.Merge(everyChange, map[string]any{"Username": "sample", "Password": "Corr3ct-Horse", "ChangePasswordNextLogon": false}),
	},
	"user.create without password": {
		op: "user.create", read: reads["user.create"],
		params: map[string]any{"Username": "sample", "ChangePasswordNextLogon": false, "RdsConnectDrive": true},
	},
	"user.update with everything": {
		op: "user.update", read: readSampleUser, params: systemtest.Merge(everyChange, map[string]any{"Username": systemtest.SampleUser, "Password": "Corr3ct-Horse"}),
	},
	"user.update with a forced password": {
		op: "user.update", read: readSampleUser, params: map[string]any{"Username": systemtest.SampleUser, "Password": "Corr3ct-Horse", "ChangePasswordNextLogon": true, "City": "Rome"},
	},
	"user.resetPassword of a forced one": {
		always: true, op: "user.resetPassword", params: map[string]any{"Username": "sample.gone", "newPassword": "Corr3ct-Horse", "ChangePassword": true},
		before: sampleGone, read: systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/sample.gone/Details"},
		// pwdLastSet is 0 before and after the change, but not in between.
		outcomes: map[string]string{"intent after": "unknown", "step 1 before": "done", "step 1 after": "done", "records after": "done", "end inside": "done"},
	},
	"user.resetPassword with a made one": {op: "user.resetPassword", read: readSampleUser, params: map[string]any{"Username": systemtest.SampleUser, "ChangePassword": true}},
	"ou.create protected": {
		op: "ou.create", read: reads["ou.create"], params: map[string]any{"OUName": "Sample", "OUDestinationPath": systemtest.EmptyOU},
	},
	"ou.update of both":   {op: "ou.update", params: map[string]any{"OUPath": systemtest.EmptyOU, "OUDescription": "x", "IsProtected": true}},
	"ou.delete of a tree": {always: true, op: "ou.delete", params: map[string]any{"OUPath": "OU=Tree," + systemtest.EmptyOU, "Force": true, "Recursive": true}, before: tree},
	"computer.deleteMany of several": {
		op: "computer.deleteMany", params: map[string]any{"WildCard": "WEB*", "Recursive": true},
	},
	"lookupZone.update of both":    {op: "lookupZone.update", params: map[string]any{"ZoneName": "corp.example", "DynamicUpdate": "None", "ReplicationScope": "Forest"}},
	"forwarder.update of all":      {op: "forwarder.update", params: map[string]any{"ZoneName": "partner.example", "MasterServers": "10.9.0.1", "ForwarderTimeout": 7, "UseRecursion": true, "ReplicationScope": "Forest"}},
	"delegation.delete of several": {op: "delegation.delete", params: map[string]any{"ZoneName": "corp.example", "ChildName": "lab"}},
	"user.rename of its common name": {
		op: "user.rename", params: map[string]any{"Username": "sample.gone", "NewUsername": "sample.new"}, before: sampleGone,
	},
}

// sampleGone contains the call that creates the user for the sample of a removal.
var sampleGone = []systemtest.Call{{Method: http.MethodPost, Path: "/api/ADUser/sample.gone"}}

// tree creates a protected OU that holds another protected OU with a group.
var tree = []systemtest.Call{
	{Method: http.MethodPost, Path: "/api/OU", Params: map[string]any{"OUName": "Tree", "OUDestinationPath": systemtest.EmptyOU}},
	{Method: http.MethodPost, Path: "/api/OU", Params: map[string]any{"OUName": "Twig", "OUDestinationPath": "OU=Tree," + systemtest.EmptyOU}},
	{Method: http.MethodPost, Path: "/api/ADGroups/Leaf/Security", Params: map[string]any{"OUPath": "OU=Twig,OU=Tree," + systemtest.EmptyOU}},
}

// TestEveryWriteIsSettled cuts off the answer of each write at each of its frames. The outcome that the
// client is told must match the content of the store. Without SETTLE=all in the environment, the test tries
// one cut per write, which differs between writes, and it tries only half of the writes outside thorough
// runs.
func TestEveryWriteIsSettled(t *testing.T) {
	all := os.Getenv("SETTLE") == "all"
	writes := cutWrites(all)
	lab := &cutLab{t: t}
	told := map[string]int{}
	for i, name := range slices.Sorted(maps.Keys(writes)) {
		w := writes[name]
		if !all && !thorough.OneOf(2, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			good := lab.run(t, &w, nil)
			require.Less(t, good.answer.Status, 300, "%s", good.answer.Body)
			require.Contains(t, good.frames, "intent", "a write must announce itself")
			cuts := cutsOf(good.frames)
			if !all {
				cuts = cuts[i%len(cuts):][:1]
			}
			for _, c := range cuts {
				label := frameName(good.frames, c.frame) + " " + string(c.how)
				t.Run(label, func(t *testing.T) {
					told[w.check(t, label, good, lab.run(t, &w, &c))]++
				})
			}
		})
	}
	t.Logf("outcomes: %v", told)
	for _, outcome := range []string{"done", "none", "partial"} {
		assert.Positive(t, told[outcome], "no cut ended as %s", outcome)
	}
}

// cutsOf returns the ways to cut off an answer with the given frames. Each gap between two frames occurs
// once.
func cutsOf(frames []string) []cut {
	cuts := []cut{{0, cutBefore}, {0, cutInside}}
	for i, kind := range frames {
		if i > 0 && kind == "step" {
			cuts = append(cuts, cut{i, cutBefore})
		}
		cuts = append(cuts, cut{i, cutAfter})
	}
	last := len(frames) - 1
	cuts[len(cuts)-1] = cut{last, cutInside}
	return append(cuts, cut{slices.Index(frames, "intent") + 1, hangs})
}

// frameName names a frame; steps are numbered, as in "step 1".
func frameName(frames []string, at int) string {
	n := 0
	for _, kind := range frames[:at] {
		if kind == frames[at] {
			n++
		}
	}
	if frames[at] == "step" {
		return fmt.Sprintf("step %d", n)
	}
	return frames[at]
}

// writeRun is the result of one run of a write.
type writeRun struct {
	answer  systemtest.Answer
	frames  []string
	changed []string       // differences between the worlds
	record  map[string]any // record of the object after the write
}

// cutLab runs writes in one world until the world cannot be restored.
type cutLab struct {
	t        *testing.T
	cutter   *cutter
	system   *systemtest.System
	pristine sandboxtest.Snapshot
	change   string // id of the last write; empty if unknown
}

// open restores the world, or creates a new one.
func (l *cutLab) open() {
	if l.system != nil {
		if l.change != "" && len(l.pristine.Compare(l.system.Snapshot())) > 0 {
			l.system.Do(systemtest.UndoOf(l.change))
		}
		if len(l.pristine.Compare(l.system.Snapshot())) == 0 {
			return
		}
	}
	world, err := sandbox.NewWorld(l.t.Context(), sandbox.Options{Seed: 1})
	require.NoError(l.t, err)
	l.cutter = &cutter{}
	l.system = systemtest.NewOn(l.t, world, cutStarter{l.cutter, world},
		append(cutSettings, "pool.directorySessions=2")...)
	l.pristine = l.system.Snapshot()
}

var cutSettings = []string{"http.settleTimeout=30s", "http.settlePause=1ms"}

// limit sets a short or a generous time limit for writes.
func (l *cutLab) limit(short bool) {
	overrides := slices.Clone(cutSettings)
	if short {
		overrides = append(overrides, "http.writeTimeout=300ms")
	}
	require.NoError(l.t, l.system.Stack.Apply(systemtest.Settings(l.t, overrides...)))
}

func (l *cutLab) run(t *testing.T, w *write, c *cut) writeRun {
	l.open()
	s := l.system.In(t)
	for _, first := range w.before {
		a := s.Do(first)
		require.Less(t, a.Status, 300, "%s", a.Body)
	}
	op, start := opstest.Find(w.op), s.Snapshot()
	l.cutter.arm(op.Script, c)
	l.limit(c != nil && c.how == hangs) // other cuts must not reach the time limit when the machine is busy
	r := writeRun{answer: s.Do(systemtest.CallFor(op, w.params))}
	l.change = r.answer.Header.Get(ops.ChangeHeader)
	l.limit(false)
	r.frames = l.cutter.answered()
	r.changed = start.Compare(s.Snapshot())
	if w.read.Path != "" {
		if found := s.Do(w.read); found.Status == http.StatusOK {
			r.record = found.Envelope.Result[0]
		}
	}
	return r
}

// check compares the answer to a write that was cut off with the store and with the same
// write without a cut, and returns the outcome.
func (w *write) check(t *testing.T, label string, good, got writeRun) string {
	a := got.answer
	told := fmt.Sprintf("%d %s; the store: %s", a.Status, a.Body, strings.Join(got.changed, "; "))
	all := slices.Equal(good.changed, got.changed) &&
		assert.ObjectsAreEqual(lasting(good.record), lasting(got.record))
	outcome := "done"
	if a.Envelope.Error != nil {
		outcome = a.Envelope.Error.Outcome
	}
	if want, told := w.outcomes[label]; told {
		require.Equal(t, want, outcome, told)
		return outcome
	}
	switch {
	case len(got.changed) == 0:
		require.Equal(t, http.StatusGatewayTimeout, a.Status, told)
		require.Equal(t, "none", outcome, told)
		assert.Empty(t, a.Envelope.Result)
	case all:
		require.Equal(t, good.answer.Status, a.Status, told)
		require.Len(t, a.Envelope.Result, len(good.answer.Envelope.Result))
		for i, record := range good.answer.Envelope.Result {
			assert.Equal(t, lasting(record), lasting(a.Envelope.Result[i]))
		}
		assert.Equal(t, good.answer.Envelope.Output, a.Envelope.Output)
		assert.Equal(t, good.answer.Header.Get("X-Directory-Server"), a.Header.Get("X-Directory-Server"))
	default:
		require.Equal(t, "partial", outcome, told)
		assert.NotEmpty(t, a.Envelope.Error.Details, "what remains must be listed")
		if a.Status != http.StatusMultiStatus {
			require.Equal(t, http.StatusGatewayTimeout, a.Status, told)
		}
	}
	return outcome
}

// lasting returns a record without the values that differ from run to run. Of a generated password, only its
// presence remains.
func lasting(record map[string]any) map[string]any {
	kept := map[string]any{}
	for name, value := range record {
		switch name {
		case "guid", "sid", "created", "modified", "passwordLastSet":
		case "password":
			kept[name] = len(systemtest.Text(value)) > 20
		default:
			kept[name] = value
		}
	}
	return kept
}
