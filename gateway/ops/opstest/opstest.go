// Package opstest looks up operations for tests.
package opstest

import "adgateway/gateway/ops"

// Find returns the operation with the id, or nil.
func Find(id string) *ops.Operation {
	for _, op := range ops.Table() {
		if op.ID == id {
			return op
		}
	}
	return nil
}
