package openapi

import (
	"adgateway/gateway/openapi/spec"
	"adgateway/gateway/ops"
)

// honors reports whether a row honors If-Match or If-None-Match.
func honors(op *ops.Operation, header string) bool {
	switch {
	case op.Protocol != nil:
		return false
	case !op.Effect.Writes():
		return header == ops.IfNoneMatch && sendsTag(op)
	case header == ops.IfMatch:
		return op.Guard.Matches()
	default:
		return op.Guard.New
	}
}

// sendsTag reports whether the answer of a row can have an ETag header.
func sendsTag(op *ops.Operation) bool { return op.Tagged() && op.Reply.Mark == ops.Single }

// guards adds the headers that make a call depend on the state of its object.
func guards(op *ops.Operation, o *spec.Operation) {
	about := map[string]string{
		ops.IfMatch:     "One or more entity tags. The change is made only if the object has one of them; * matches any tag.",
		ops.IfNoneMatch: "Entity tags that the client already has. If the record has one of them, the answer is 304 without the record.",
	}
	if op.Effect.Writes() {
		about[ops.IfNoneMatch] = "Set to * to create the object only if it does not exist; otherwise, the answer " +
			"is precondition_failed."
	}
	for _, name := range []string{ops.IfMatch, ops.IfNoneMatch} {
		if honors(op, name) {
			o.Parameters = append(o.Parameters, header(name, about[name]))
		}
	}
}

// tagOf returns the header of a successful answer that has a tag.
func tagOf(op *ops.Operation) []string {
	if !sendsTag(op) {
		return nil
	}
	return []string{entityTag}
}

// unchanged is the answer to a client that already has the record.
func unchanged() *spec.Response {
	return &spec.Response{Description: "The record has one of the tags in If-None-Match.",
		Headers: map[string]*spec.Header{entityTag: {Ref: "#/components/headers/" + entityTag}}}
}
