package call

import (
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// NotHonoured refuses a header that a call does not honour.
func NotHonoured(header, why string) error {
	failed := problem.New(schema.NotSupported, "This call does not honour %s: %s.", header, why)
	failed.Details = []problem.Detail{{Field: header, Message: why}}
	return failed
}
