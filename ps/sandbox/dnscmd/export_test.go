package dnscmd

import (
	"strings"

	"adgateway/ps/cmdlets"
)

// Params tells which parameters each command understands, common ones included
// where it has them, for the check against the contract.
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
