package app

import (
	"slices"

	"adgateway/gateway/keep"
)

// LastingKinds returns the kinds of the values that outlive the process.
func LastingKinds() []keep.Kind { return slices.Clone(lastingKinds) }
