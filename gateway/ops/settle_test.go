package ops

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps"
)

// goodWrite returns a valid row that writes.
func goodWrite() *Operation {
	op := good()
	op.Method, op.Effect, op.Success, op.Script = http.MethodPost, Create, "The {subject} was created.", "New-Thing"
	op.Settle = Settle{Script: "Confirm-Thing", CleanUp: "Remove-Thing",
		Fixed: ps.Args{"Class": ps.Text("thing")}}
	op.Undo, op.Guard = Undo{Never: "things stay"}, Guard{Never: "things have no tags"}
	return op
}

func goodSettling() []ps.Script {
	script := goodScript()
	script.Name, script.Writes = "New-Thing", true
	return []ps.Script{script,
		{Name: "Confirm-Thing", Lane: ps.Directory, Params: []ps.Param{
			{Name: "Class", Type: "string", Mandatory: true}, {Name: SettleGuid, Type: "string"}, {Name: "Name", Type: "string", Mandatory: true}, {Name: "Server", Type: "string", Mandatory: true},
		}},
		{Name: "Remove-Thing", Lane: ps.Directory, Writes: true, Params: []ps.Param{
			{Name: SettleGuid, Type: "string", Mandatory: true}, {Name: SettleMaxAge, Type: "int", Mandatory: true}, {Name: "Server", Type: "string", Mandatory: true},
		}},
	}
}

func TestCheckOfHowWritesAreSettled(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(op *Operation, confirm, remove *ps.Script)
		want  []string
	}{
		"none":                        {func(*Operation, *ps.Script, *ps.Script) {}, nil},
		"not settled":                 {func(op *Operation, _, _ *ps.Script) { op.Settle = Settle{} }, []string{"does not declare how it is settled", "script Confirm-Thing: no operation uses it", "script Remove-Thing: no operation uses it"}},
		"unknown script":              {func(op *Operation, _, _ *ps.Script) { op.Settle.Script, op.Settle.Fixed = "Confirm-Other", nil }, []string{"settled by script Confirm-Other, which does not exist", "script Confirm-Thing: no operation uses it"}},
		"other lane":                  {func(_ *Operation, confirm, _ *ps.Script) { confirm.Lane = ps.DNS }, []string{"is in lane directory, but Confirm-Thing in dns"}},
		"settling script that writes": {func(_ *Operation, confirm, _ *ps.Script) { confirm.Writes = true }, []string{"script Confirm-Thing: writes is true"}},
		"clean-up that only reads":    {func(_ *Operation, _, remove *ps.Script) { remove.Writes = false }, []string{"script Remove-Thing: writes is false"}},
		"clean-up of an update":       {func(op *Operation, _, _ *ps.Script) { op.Effect = Update }, []string{"cleans up after a update"}},
		"argument not fed": {func(_ *Operation, confirm, _ *ps.Script) {
			// may be absent
			confirm.Params = append(confirm.Params, ps.Param{Name: "LandName", Type: "string", Mandatory: true})
		}, []string{"nothing feeds LandName of Confirm-Thing"}},
		"argument of other type": {func(_ *Operation, _, remove *ps.Script) { remove.Params[1].Type = "string" }, []string{"MaxAge of Remove-Thing is string, not int"}},
		"fixed argument lacking": {func(_ *Operation, confirm, _ *ps.Script) { confirm.Params = confirm.Params[1:] }, []string{"fixes Class, which Confirm-Thing does not declare"}},
	} {
		t.Run(name, func(t *testing.T) {
			op, scripts := goodWrite(), goodSettling()
			c.spoil(op, &scripts[1], &scripts[2])
			var got []string
			for _, fault := range Check([]*Operation{op}, scripts) {
				got = append(got, fault.Error())
			}
			require.Len(t, got, len(c.want), "%q", got)
			for i, want := range c.want {
				assert.Contains(t, got[i], want)
			}
		})
	}
	op := good()
	op.Settle.Script = "Confirm-Thing"
	faults := Check([]*Operation{op}, []ps.Script{goodScript()})
	require.Len(t, faults, 1)
	assert.ErrorContains(t, faults[0], "only reads, but declares how writes are settled")
}

func TestArgumentsOfSettlingScripts(t *testing.T) {
	settle := goodWrite().Settle
	bound := &Bound{Args: ps.Args{"Name": ps.Text("jdoe"), "Class": ps.Text("not this"), "Land": ps.Text("GR")}}
	offered := ps.Args{SettleGuid: ps.Text("g"), SettleGuids: ps.List([]string{"g"}), SettleMaxAge: ps.Int(3)}
	scripts := goodSettling()
	assert.Equal(t, ps.Args{"Class": ps.Text("thing"), "Guid": ps.Text("g"), "Name": ps.Text("jdoe")},
		settle.Args(scripts[1], offered, bound))
	assert.Equal(t, ps.Args{"Guid": ps.Text("g"), "MaxAge": ps.Int(3)}, settle.Args(scripts[2], offered, bound))
}
