// Package opstest looks up operations for tests.
package opstest

import (
	"slices"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// Find returns the operation with the id, or nil.
func Find(id string) *ops.Operation { return ops.Find(ops.Table(), id) }

// Own returns the operations that have parameters, envelopes and scripts. The others speak
// third-party protocols, which package test/protocols covers, or are answered by the gateway
// itself.
func Own() []*ops.Operation {
	var own []*ops.Operation
	for _, op := range ops.Table() {
		if op.Protocol == nil && !op.Local {
			own = append(own, op)
		}
	}
	return own
}

// Changes returns the operations of [Own] that change something.
func Changes() []*ops.Operation {
	return slices.DeleteFunc(Own(), func(op *ops.Operation) bool { return !op.Effect.Writes() })
}

// TakesNames reports whether a parameter accepts a JSON array of arbitrary names.
func TakesNames(p *ops.Param) bool {
	return p.Kind == schema.MemberList || p.Kind == schema.WholeMemberList || p.Kind == schema.Names
}
