package story

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops/opstest"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// withoutRights contains sets of rights that the gateway's account may lack.
var withoutRights = map[string]directory.Rights{
	"all rights":        0,
	"no writing":        directory.RightWriteProperty,
	"no creating":       directory.RightCreateChild,
	"no removing":       directory.RightDelete | directory.RightDeleteChild | directory.RightDeleteTree,
	"no access lists":   directory.RightWriteDacl,
	"no control rights": directory.RightControlAccess,
	"nothing": directory.RightWriteProperty | directory.RightCreateChild | directory.RightDelete | directory.RightDeleteChild |
		directory.RightDeleteTree | directory.RightWriteDacl | directory.RightControlAccess,
}

// A verdict is the result of a dry run or a run: an error code, or "" for a success.
type verdict struct {
	code string
	open bool // the dry run reports that it does not know whether a right exists
}

// codes maps failed checks to the codes of runs that fail because of them.
var codes = map[string]string{
	"write_rights": "directory_denied", "delete_rights": "directory_denied", "other_rights": "directory_denied",
	"password_policy": "policy",
}

func verdictOf(t *testing.T, a systemtest.Answer) (v verdict) {
	if a.Envelope.Error != nil {
		return verdict{code: a.Envelope.Error.Code}
	}
	var answer struct{ Plan plan }
	require.NoError(t, json.Unmarshal(a.Body, &answer))
	for _, c := range answer.Plan.Checks {
		switch {
		case codes[c.Name] == "":
		case c.State == "failed":
			v.code = codes[c.Name]
		case c.State == "not_checked":
			v.open = true
		}
	}
	return v
}

// TestADryRunPredictsTheCall: a dry run predicts the result of the call, for every operation that changes
// something, whether the gateway's account has all rights or lacks some of them. If the dry run succeeds,
// the call succeeds. If the dry run is refused, the call fails with the same code. If a call is refused, the
// dry run has been refused as well, or has reported that it does not know whether the right exists. A normal
// test run tries a share of the pairs.
func TestADryRunPredictsTheCall(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	for name, rights := range withoutRights {
		for _, op := range opstest.Own() {
			if !op.Effect.Writes() || rights != 0 && op.Lane != ps.Directory || !thorough.OneOf(12, name, op.ID) {
				continue
			}
			t.Run(name+"/"+op.ID, func(t *testing.T) {
				s := systemtest.New(t, sandbox.Options{Seed: 1})
				s.Prepare(op)
				if rights != 0 {
					s.DenyEveryone(domainDN, rights, true)
				}
				call := systemtest.Sample(op)
				said := verdictOf(t, s.Do(withAlso(call, map[string]any{"DryRun": true})))
				a := s.Do(call)
				run := ""
				if a.Envelope.Error != nil {
					run = a.Envelope.Error.Code
				}
				switch {
				case said.code == run:
					counts["the same"]++
				case said.code == "" && said.open:
					counts["refused, and not known before"]++
					t.Logf("not known before: %s", a.Body)
				default:
					assert.Fail(t, "another end", "the dry run says %q, the run %q: %s", said.code, run, a.Body)
				}
				if run == "" {
					assert.Less(t, a.Status, http.StatusMultiStatus, "%s", a.Body)
					counts["made"]++
				}
			})
		}
	}
	t.Logf("%v", counts)
}
