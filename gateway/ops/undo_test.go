package ops

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckOfHowChangesAreUndone(t *testing.T) {
	calls := func(Done) []Undoing { return nil }
	for name, c := range map[string]struct {
		undo Undo
		want string
	}{
		"none":             {Undo{}, "does not declare how it is undone, or why not"},
		"without calls":    {Undo{Rows: []string{"thing.get"}}, "does not declare how it is undone, or why not"},
		"both":             {Undo{Rows: []string{"thing.get"}, Calls: calls, Never: "things stay"}, "declares both how it is undone and why not"},
		"row that is none": {Undo{Rows: []string{"thing.back"}, Calls: calls}, "is undone by thing.back, which is no row"},
		"by itself":        {Undo{Rows: []string{"thing.get"}, Calls: calls}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			op := goodWrite()
			op.Undo = c.undo
			faults := Check([]*Operation{op}, goodSettling())
			if c.want == "" {
				assert.Empty(t, faults)
				return
			}
			require.Len(t, faults, 1)
			assert.ErrorContains(t, faults[0], c.want)
		})
	}
	op := good()
	op.Undo = Undo{Never: "things stay"}
	faults := Check([]*Operation{op}, goodSettling()[:0:0])
	require.NotEmpty(t, faults)
	assert.ErrorContains(t, faults[len(faults)-1], "only reads, but declares an undo")
}

func TestNetworksOfReverseZones(t *testing.T) {
	for zone, want := range map[string]string{
		"10.in-addr.arpa": "10.0.0.0/8", "16.172.in-addr.arpa": "172.16.0.0/16", "2.0.192.IN-ADDR.ARPA": "192.0.2.0/24",
		"8.b.d.0.1.0.0.2.ip6.arpa": "2001:db8::/32", "corp.example": "", "x.ip6.arpa": "",
	} {
		assert.Equal(t, want, networkOf(zone), zone)
	}
}
