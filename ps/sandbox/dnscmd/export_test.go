package dnscmd

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/ps/cmdlets"
)

// Params returns the supported parameters of each command, including common parameters that it declares.
func Params() map[string][]string {
	all := map[string][]string{}
	for _, row := range commands {
		decl, _ := cmdlets.Lookup(row.name)
		names := strings.Fields(row.params)
		for _, name := range strings.Fields(commonParams) {
			if decl != nil && decl.Param(name) != nil {
				names = append(names, name)
			}
		}
		all[row.name] = names
	}
	return all
}

// These are the known categories of facts D.3. All other codes are NotSpecified.
func TestCategories(t *testing.T) {
	want := map[int]string{5: "PermissionDenied", 87: "InvalidArgument", 123: "InvalidArgument",
		9560: "InvalidArgument",
		9601: "ObjectNotFound", 9701: "ObjectNotFound", 9714: "ObjectNotFound",
		9609: "ResourceExists", 9711: "ResourceExists", 9718: "ResourceExists"}
	c := &call{}
	for _, code := range []int{5, 87, 123, 1722, 1753, 9002, 9005, 9551, 9560, 9563, 9569, 9601, 9603, 9609,
		9610, 9611, 9621, 9651, 9701, 9706, 9707, 9708, 9709, 9710, 9711, 9714, 9717, 9718} {
		category := want[code]
		if category == "" {
			category = "NotSpecified"
		}
		assert.Equal(t, category, c.record(code, "x", "x").Category.String(), code)
	}
}
