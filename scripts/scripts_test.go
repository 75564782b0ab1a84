package scripts_test

import (
	"slices"
	"testing"

	"adgateway/ps"
	"adgateway/scripts"

	"github.com/stretchr/testify/assert"
)

func TestDescribeReadsEveryScript(t *testing.T) {
	described := scripts.Describe()
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
	assert.Len(t, byName, len(scripts.Sources(ps.Directory))+len(scripts.Sources(ps.DNS)),
		"names are unique over both lanes")

	create := byName["New-GatewayUser"]
	assert.True(t, create.Writes)
	assert.Equal(t, ps.Directory, create.Lane)
	assert.Subset(t, create.Commands, []string{"New-ADUser", "Remove-ADUser", "Get-ADUser"},
		"its own, its undo's, the prelude's")
	password, _ := create.Param("Password")
	assert.Equal(t, ps.Param{Name: "Password", Type: "securestring"}, password)
	field, _ := create.Param("Field")
	assert.Equal(t, ps.Param{Name: "Field", Type: "string[]", Mandatory: true}, field)

	assert.False(t, byName["Get-GatewayUserList"].Writes)
	assert.NotContains(t, byName["Get-GatewayUserList"].Commands, "Remove-ADUser")
	assert.True(t, byName["Remove-GatewayZone"].Writes)
}

func TestDescribeDoctorAddsItsOwnScripts(t *testing.T) {
	described, plain := scripts.DescribeDoctor(), scripts.Describe()
	assert.Subset(t, described, plain, "its sessions have all scripts of the gateway")
	own := described
	for _, script := range plain {
		own = slices.DeleteFunc(own, func(other ps.Script) bool { return other.Name == script.Name })
	}
	assert.NotEmpty(t, own)
	for _, script := range own {
		assert.Regexp(t, `^doctor/(ad|dns)/(Get|Test|New|Remove)-Gateway`, script.File)
	}
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		assert.Greater(t, len(scripts.DoctorSources(lane)), len(scripts.Sources(lane)))
		assert.Contains(t, scripts.DoctorPrelude(lane).Text, scripts.Prelude(lane).Text)
	}
}
