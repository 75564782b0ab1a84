// Package opstest looks up operations for tests.
package opstest

import (
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// Find returns the operation with the id, or nil.
func Find(id string) *ops.Operation { return ops.Find(ops.Table(), id) }

// Own returns the operations that have parameters, envelopes and scripts, which is all but
// those that speak protocols of others, which package test/protocols tries, and those that
// the gateway answers itself.
func Own() []*ops.Operation {
	var own []*ops.Operation
	for _, op := range ops.Table() {
		if op.Protocol == nil && !op.Local {
			own = append(own, op)
		}
	}
	return own
}

// TakesNames reports whether a JSON array of any names is a value of a parameter.
func TakesNames(p *ops.Param) bool {
	return p.Kind == schema.MemberList || p.Kind == schema.WholeMemberList
}
