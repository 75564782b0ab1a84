package systemtest

import (
	"maps"
	"net/url"
	"strings"

	"adgateway/gateway/ops"
)

// Sample is a call of an operation that succeeds in the built-in domain.
type Sample struct {
	Params map[string]any // by parameter name, path parameters included
	Status int            // 0 means 200
	Undo   Call           // restores the world; zero if the call changes nothing or cannot be undone
}

// Samples has one sample per operation, by ID. TestEveryOperationHasASample
// fails for an operation without one.
var Samples = Merge(dnsSamples, recordSamples(), zoneSamples, userSamples, membershipSamples, ouSamples, groupSamples, computerSamples, binSamples)

// Setup has the calls that create what the samples of some operations remove, or remove
// what they restore, by ID of the operation.
var Setup = Merge(dnsBefore, zonesBefore, UserBefore, membershipBefore, ouBefore, groupBefore, computerBefore, binBefore)

// Merge returns a new map with the entries of all tables; later ones win.
func Merge[V any](tables ...map[string]V) map[string]V {
	all := map[string]V{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// CallFor returns a request for op with params, those of the path inserted there.
// Path parameters missing from params keep their placeholders.
func CallFor(op *ops.Operation, params map[string]any) Call {
	c := Call{Method: op.Method, Path: op.Path, Params: map[string]any{}}
	for name, value := range params {
		c.Params[name] = value
	}
	for _, p := range op.Params {
		if value, given := c.Params[p.Name]; given && p.Path != "" {
			c.Path = strings.Replace(c.Path, "{"+p.Path+"}", url.PathEscape(Text(value)), 1)
			delete(c.Params, p.Name)
		}
	}
	return c
}
