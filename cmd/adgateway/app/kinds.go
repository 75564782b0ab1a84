package app

import (
	"slices"

	"adgateway/gateway/auditmirror"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/changes"
	"adgateway/gateway/cluster/choice"
	"adgateway/gateway/cluster/replica"
	"adgateway/gateway/credentials"
	"adgateway/gateway/jobs"
	"adgateway/gateway/keep"
	"adgateway/gateway/webhooks"
)

// lastingKinds are those of the values that are sealed anew under a new version of the key.
// Logs, and what lives for a day, age out under the one before.
var lastingKinds = slices.Concat(auditmirror.Kinds, changes.Kinds, choice.Kinds, credentials.Kinds, replica.Kinds, jobs.Kinds, signin.Kinds, webhooks.Kinds)

// LastingKinds returns the kinds of the values that outlive the process.
func LastingKinds() []keep.Kind { return slices.Clone(lastingKinds) }
