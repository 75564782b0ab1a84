package app

import (
	"slices"

	"adgateway/gateway/auditmirror"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/changes"
	"adgateway/gateway/cluster/choice"
	"adgateway/gateway/cluster/replica"
	"adgateway/gateway/credentials"
	"adgateway/gateway/history"
	"adgateway/gateway/jobs"
	"adgateway/gateway/store"
	"adgateway/gateway/webhooks"
)

// lastingKinds are the kinds of values that are resealed when the key gets a new version. Logs and values
// that live for a day are not resealed; they expire under the earlier version.
var lastingKinds = slices.Concat(auditmirror.Kinds, changes.Kinds, choice.Kinds, credentials.Kinds,
	history.Kinds, replica.Kinds, jobs.Kinds, signin.Kinds, webhooks.Kinds)

// LastingKinds returns the kinds of the values that outlive the process.
func LastingKinds() []store.Kind { return slices.Clone(lastingKinds) }
