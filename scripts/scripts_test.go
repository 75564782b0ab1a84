package scripts_test

import (
	"testing"

	"adgateway/ps"
	"adgateway/scripts"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDescribeReadsEveryScript(t *testing.T) {
	described, err := scripts.Describe()
	require.NoError(t, err)
	byName := map[string]ps.Script{}
	for _, script := range described {
		byName[script.Name] = script
		pinned := "Server"
		if script.Lane == ps.DNS {
			pinned = "ComputerName"
		}
		_, ok := script.Param(pinned)
		assert.True(t, ok || script.Name == "Get-GatewayServer", "%s does not take -%s", script.File, pinned)
		assert.NotEmpty(t, script.Commands, script.File)
	}
	assert.Len(t, byName, len(scripts.Sources(ps.Directory))+len(scripts.Sources(ps.DNS)), "names are unique over both lanes")

	create := byName["New-GatewayUser"]
	assert.True(t, create.Writes)
	assert.Equal(t, ps.Directory, create.Lane)
	assert.Subset(t, create.Commands, []string{"New-ADUser", "Remove-ADUser", "Get-ADUser"}, "its own, its undo's, the prelude's")
	password, _ := create.Param("Password")
	assert.Equal(t, ps.Param{Name: "Password", Type: "securestring"}, password)
	field, _ := create.Param("Field")
	assert.Equal(t, ps.Param{Name: "Field", Type: "string[]", Mandatory: true}, field)

	assert.False(t, byName["Get-GatewayUserList"].Writes)
	assert.NotContains(t, byName["Get-GatewayUserList"].Commands, "Remove-ADUser")
	assert.True(t, byName["Remove-GatewayReverseZone"].Writes)
}
