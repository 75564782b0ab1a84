package systemtest

import (
	"maps"
	"net/http"
	"net/url"
	"strings"

	"adgateway/gateway/ops"
)

// Merge returns a new map with the entries of all tables. If tables share a key, the last one wins.
func Merge[V any](tables ...map[string]V) map[string]V {
	all := map[string]V{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// CallFor returns a request for op with params. It inserts path parameters into the path. Parameters that are
// missing from params keep their placeholders.
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

// Sample returns the sample request of op.
func Sample(op *ops.Operation) Call { return CallFor(op, op.Sample) }

// GoodStatus returns the status of the answer to the sample of op. If op can also create the
// object, its sample is about an existing object.
func GoodStatus(op *ops.Operation) int {
	if op.Effect.Creates() {
		return http.StatusCreated
	}
	return http.StatusOK
}

// Needed returns the call that creates or removes the object of op's sample, and reports
// whether such a call is needed.
func Needed(op *ops.Operation) (Call, bool) {
	if op.Needs.Row == "" {
		return Call{}, false
	}
	return CallFor(ops.Find(ops.Table(), op.Needs.Row), op.Needs.Given), true
}

// UndoOf returns the call that undoes the change with the given id.
func UndoOf(change string) Call {
	return Call{Method: http.MethodPost, Path: "/api/Changes/" + change + "/Undo"}
}
