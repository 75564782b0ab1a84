package systemtest

import (
	"maps"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// Objects of the built-in domain that samples use.
const (
	SampleUser     = "aschmidt"
	SampleUserGUID = "897be383-0d4f-5fd1-b27f-461bf3bb4b03"
	SampleUserDN   = "CN=Anna Schmidt,OU=Sales,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"
	LeftUser       = "karl.alt" // disabled, with a password
	LockedUser     = "locked.out"

	SampleGroup  = "VPN Users"
	helpDeskGUID = "da2584e8-e4b7-5549-a6fc-696ad78dc01f"

	EmptyOU     = "OU=Empty,OU=Corp,DC=corp,DC=example"
	ProtectedOU = "OU=Protected empty,OU=Corp,DC=corp,DC=example"
	CorpOU      = "OU=Corp,DC=corp,DC=example"
)

// RecordOf returns the parameters that identify the record in the samples of a type.
func RecordOf(t *schema.RecordType) map[string]any {
	return maps.Clone(ops.Find(ops.Table(), t.Resource+".get").Sample)
}
