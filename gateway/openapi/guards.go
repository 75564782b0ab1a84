package openapi

import (
	"adgateway/gateway/openapi/spec"
	"adgateway/gateway/ops"
)

// honours reports whether a row honours If-Match or If-None-Match.
func honours(op *ops.Operation, header string) bool {
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
		ops.IfMatch:     "One or several entity tags: the change is made only if the object has one of them. * stands for any.",
		ops.IfNoneMatch: "Entity tags that the client has: if the record has one of them, the answer is 304 without it.",
	}
	if op.Effect.Writes() {
		about[ops.IfNoneMatch] = "*: what is there already is answered with precondition_failed."
	}
	for _, name := range []string{ops.IfMatch, ops.IfNoneMatch} {
		if honours(op, name) {
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
