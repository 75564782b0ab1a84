package sandbox_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
)

func TestPeople(t *testing.T) {
	ctx := context.Background()
	w, err := sandbox.NewWorld(ctx, sandbox.Options{})
	require.NoError(t, err)
	groups, err := w.AddPeople(ctx)
	require.NoError(t, err)
	desk, err := w.LogOn(ctx, "helpdesk", "Sandbox-1-helpdesk")
	require.NoError(t, err)
	assert.Contains(t, desk.Groups, groups[sandbox.HelpdeskGroup])
	again, err := w.Account(ctx, desk.SID)
	require.NoError(t, err)
	assert.Equal(t, desk, again)
	named, err := w.Lookup(ctx, "HELPDESK")
	require.NoError(t, err)
	assert.Equal(t, desk, named)
	none, err := w.LogOn(ctx, "norights@corp.example", "Sandbox-1-norights")
	require.NoError(t, err)
	assert.NotContains(t, none.Groups, groups[sandbox.OperatorGroup])
	for name, password := range map[string]string{"helpdesk": "wrong", "nobody": "Sandbox-1-nobody",
		"*": "Sandbox-1-helpdesk"} {
		_, err := w.LogOn(ctx, name, password)
		assert.ErrorIs(t, err, sandbox.ErrLogon, name)
	}
	_, err = w.Account(ctx, "S-1-5-21-1-2-3-4")
	assert.ErrorIs(t, err, sandbox.ErrLogon)
}

// TestPeopleAreAddedTogether: if one name is already in use, nobody is added, and nothing is left behind.
func TestPeopleAreAddedTogether(t *testing.T) {
	ctx := context.Background()
	for _, taken := range []string{"operator", "norights", "GW-Operators"} {
		w, err := sandbox.NewWorld(ctx, sandbox.Options{})
		require.NoError(t, err)
		dc := w.Directory.DCs()[0]
		_, err = dc.Add(ctx, "CN=theirs,"+w.Directory.UsersContainer(), directory.Attr("objectClass", "user"),
			directory.Attr("sAMAccountName", taken))
		require.NoError(t, err)
		_, err = w.AddPeople(ctx)
		require.ErrorContains(t, err, "the name "+taken+" is taken")
		for _, name := range []string{"helpdesk", "GW-Helpdesk"} {
			_, err := w.Lookup(ctx, name)
			assert.ErrorIs(t, err, sandbox.ErrLogon, name)
		}
	}
}
