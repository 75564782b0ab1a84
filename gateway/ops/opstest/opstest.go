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

// Own returns the operations that have parameters and envelopes, which is all but those
// that speak protocols of others. Package test/protocols tries these.
func Own() []*ops.Operation {
	var own []*ops.Operation
	for _, op := range ops.Table() {
		if op.Protocol == nil {
			own = append(own, op)
		}
	}
	return own
}
