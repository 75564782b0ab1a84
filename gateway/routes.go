package gateway

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// routes finds operations by method and path. Fixed parts match in any case, a
// literal wins over a value in the same place, a network may span two segments.
type routes struct {
	patterns map[string][]*pattern // by method
}

type pattern struct {
	op       *ops.Operation
	segments []segment
}

type segment struct {
	literal string // folded; empty: a placeholder
	name    string // of the placeholder
	spans   bool   // its value may take two segments
}

// route is what was found for a request.
type route struct {
	path    string            // as the client sent it, escaped
	op      *ops.Operation    // nil: none
	values  map[string]string // by placeholder, decoded once
	allowed []string          // methods of that path, when it has no operation for the request's
	problem string            // what is wrong with the path as such
}

type routeKey struct{}

func routeOf(r *http.Request) *route {
	found, _ := r.Context().Value(routeKey{}).(*route)
	if found == nil {
		return &route{}
	}
	return found
}

func newRoutes(table []*ops.Operation) *routes {
	rt := &routes{patterns: map[string][]*pattern{}}
	for _, op := range table {
		p := &pattern{op: op}
		for part := range strings.SplitSeq(strings.TrimPrefix(op.Path, "/"), "/") {
			seg := segment{literal: ops.Fold(part)}
			if name, isPlace := strings.CutPrefix(part, "{"); isPlace {
				seg = segment{name: strings.TrimSuffix(name, "}")}
				for _, param := range op.Params {
					seg.spans = seg.spans || param.Path == seg.name && schema.SpansSlash(param.Kind)
				}
			}
			p.segments = append(p.segments, seg)
		}
		rt.patterns[op.Method] = append(rt.patterns[op.Method], p)
	}
	return rt
}

// normalise rewrites the path of a request for an operation to the path of its
// row, placeholders included, so that the router behind it matches literally,
// and keeps what it found in the request's context.
func (rt *routes) normalise(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found := rt.find(r.Method, r.URL.EscapedPath())
		found.path = r.URL.EscapedPath()
		r2 := r.WithContext(context.WithValue(r.Context(), routeKey{}, found))
		target := *r.URL
		r2.URL = &target
		switch {
		case found.op != nil:
			target.Path, target.RawPath = found.op.Path, ""
		case isAPI(r.URL.Path):
			target.Path, target.RawPath = "/", "" // no operation: never a route by chance
		}
		next.ServeHTTP(w, r2)
	})
}

func isAPI(path string) bool {
	folded := ops.Fold(path)
	return folded == "/api" || strings.HasPrefix(folded, "/api/")
}

// find looks up an escaped path.
func (rt *routes) find(method, escaped string) *route {
	raw := strings.Split(strings.TrimSuffix(strings.TrimPrefix(escaped, "/"), "/"), "/")
	if base, err := url.PathUnescape(raw[0]); err != nil || ops.Fold(base) != "api" {
		return &route{}
	}
	segments := make([]string, len(raw))
	for i, part := range raw {
		decoded, err := url.PathUnescape(part)
		if err != nil {
			return &route{problem: "The path holds a percent sign that does not start an escape."}
		}
		if decoded == "" {
			return &route{problem: "The path has an empty segment: a value between two slashes is missing."}
		}
		segments[i] = decoded
	}
	if op, values := rt.match(method, segments); op != nil {
		return &route{op: op, values: values}
	}
	found := &route{}
	for other := range rt.patterns {
		if op, _ := rt.match(other, segments); op != nil {
			found.allowed = append(found.allowed, other)
		}
	}
	slices.Sort(found.allowed)
	return found
}

// match returns the best operation of a method for the segments.
func (rt *routes) match(method string, segments []string) (*ops.Operation, map[string]string) {
	folded := make([]string, len(segments))
	for i, part := range segments {
		folded[i] = ops.Fold(part)
	}
	var best *pattern
	var bestRank string
	for _, p := range rt.patterns[method] {
		if rank, ok := p.match(folded); ok && (best == nil || rank < bestRank) {
			best, bestRank = p, rank
		}
	}
	if best == nil {
		return nil, nil
	}
	return best.op, best.values(segments, bestRank)
}

// The rank of a match has a letter for each segment of the pattern; of two
// matches the lesser is the better.
const (
	rankLiteral = 'a'
	rankValue   = 'b'
	rankSpan    = 'c'
)

func (p *pattern) match(folded []string) (string, bool) {
	extra := len(folded) - len(p.segments) // segments that a span takes in
	if extra < 0 || extra > 1 {
		return "", false
	}
	rank := make([]byte, 0, len(p.segments))
	at := 0
	for _, seg := range p.segments {
		switch {
		case seg.literal != "":
			if folded[at] != seg.literal {
				return "", false
			}
			rank = append(rank, rankLiteral)
		case seg.spans && extra == 1:
			rank = append(rank, rankSpan)
			extra = 0
			at++
		default:
			rank = append(rank, rankValue)
		}
		at++
	}
	return string(rank), extra == 0
}

func (p *pattern) values(segments []string, rank string) map[string]string {
	values := map[string]string{}
	at := 0
	for i, seg := range p.segments {
		switch rank[i] {
		case rankValue:
			values[seg.name] = segments[at]
		case rankSpan:
			values[seg.name] = segments[at] + "/" + segments[at+1]
			at++
		}
		at++
	}
	return values
}

// nearest suggests the known route that looks most like a path; empty when
// none looks alike.
func (rt *routes) nearest(escaped string) string {
	const longest = 200
	if len(escaped) > longest {
		return ""
	}
	parts := strings.Split(strings.Trim(ops.Fold(escaped), "/"), "/")
	best, bestDistance := "", len(escaped)/2+1
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		for _, p := range rt.patterns[method] {
			if d := p.distance(parts); d < bestDistance {
				best, bestDistance = method+" "+p.op.Path, d
			}
		}
	}
	return best
}

// distance is how much a path differs from the pattern, placeholders aside.
func (p *pattern) distance(parts []string) int {
	total := 0
	for i, seg := range p.segments {
		switch {
		case i >= len(parts):
			total += max(1, len(seg.literal))
		case seg.literal != "":
			total += levenshtein.ComputeDistance(parts[i], seg.literal)
		}
	}
	for _, part := range parts[min(len(parts), len(p.segments)):] {
		total += len(part)
	}
	return total
}
