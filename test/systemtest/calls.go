package systemtest

import (
	"maps"
	"net/http"
	"net/url"
	"strings"

	"adgateway/gateway/ops"
)

// Merge returns a new map with the entries of all tables; later ones win.
func Merge[V any](tables ...map[string]V) map[string]V {
	all := map[string]V{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// CallFor returns a request for op with params; path parameters are inserted into the path. Path
// parameters missing from params keep their placeholders.
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

// Sample returns the request that is the sample of op.
func Sample(op *ops.Operation) Call { return CallFor(op, op.Sample) }

// GoodStatus returns the status of the answer to the sample of op. That of a row that also makes what is
// not there is about something that is.
func GoodStatus(op *ops.Operation) int {
	if op.Effect.Creates() {
		return http.StatusCreated
	}
	return http.StatusOK
}

// Needed returns the call that makes or removes what the sample of op is about, and reports whether it
// needs one.
func Needed(op *ops.Operation) (Call, bool) {
	if op.Needs.Row == "" {
		return Call{}, false
	}
	return CallFor(ops.Find(ops.Table(), op.Needs.Row), op.Needs.Given), true
}

// UndoOf returns the call that takes back a change, by its id.
func UndoOf(change string) Call {
	return Call{Method: http.MethodPost, Path: "/api/Changes/" + change + "/Undo"}
}
