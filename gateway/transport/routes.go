package transport

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"adgateway/gateway/nearest"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// routes finds operations by method and path. Literals match in any case and take precedence over
// placeholders. A network may span two segments.
type routes struct {
	patterns map[string][]*pattern // keyed by method
}

type pattern struct {
	op       *ops.Operation
	segments []segment
}

type segment struct {
	literal string // folded; empty for a placeholder
	name    string // name of the placeholder
	spans   bool   // the value may span two segments
}

// route is the result of routing a request.
type route struct {
	path    string            // as sent by the client, escaped
	op      *ops.Operation    // nil if none matches
	values  map[string]string // unescaped values by placeholder
	allowed []string          // methods of the path if they do not include the request's
	problem string            // problem with the path itself; empty if none
}

// arrival is the information found about a request before gin routes it. It is stored in the
// request's context.
type arrival struct {
	client   netip.Addr
	route    route
	target   url.URL // URL that gin routes by
	exchange any     // the exchange, for the handlers behind gin
}

type arrivalKey struct{}

// arrivalOf returns the arrival of a request, or nil if the request did not pass arrive.
func arrivalOf(r *http.Request) *arrival {
	a, _ := r.Context().Value(arrivalKey{}).(*arrival)
	return a
}

func newRoutes(table []*ops.Operation) *routes {
	rt := &routes{patterns: map[string][]*pattern{}}
	for _, op := range table {
		p := &pattern{op: op}
		for part := range strings.SplitSeq(strings.TrimPrefix(op.Path, "/"), "/") {
			seg := segment{literal: ops.Fold(part)}
			if name, isPlaceholder := strings.CutPrefix(part, "{"); isPlaceholder {
				seg = segment{name: strings.TrimSuffix(name, "}")}
				for _, param := range op.Params {
					seg.spans = seg.spans || param.Path == seg.name && schema.SpansSlash(param.Kind)
				}
			}
			p.segments = append(p.segments, seg)
		}
		if len(p.segments) > usualSegments {
			panic(fmt.Sprintf("the path %s has more than %d segments", op.Path, usualSegments))
		}
		for _, method := range op.Methods() {
			rt.patterns[method] = append(rt.patterns[method], p)
		}
	}
	return rt
}

// arrive stores the client and the route of a request in its context. It replaces the path of a request for
// an operation with the path of its row, including placeholders, so that gin matches it literally.
func (rt *routes) arrive(from Proxies, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &arrival{client: from.Client(r), route: rt.find(r.Method, r.URL.EscapedPath()), target: *r.URL}
		a.route.path = r.URL.EscapedPath()
		r2 := r.WithContext(context.WithValue(r.Context(), arrivalKey{}, a))
		r2.URL = &a.target
		switch {
		case a.route.op != nil:
			a.target.Path, a.target.RawPath = a.route.op.Path, ""
		case isAPI(r.URL.Path):
			a.target.Path, a.target.RawPath = "/", "" // gin must not match the path by chance
		}
		next.ServeHTTP(w, r2)
	})
}

func isAPI(path string) bool {
	folded := ops.Fold(path)
	return folded == "/api" || strings.HasPrefix(folded, "/api/")
}

// find routes an escaped path.
func (rt *routes) find(method, escaped string) route {
	raw := strings.TrimSuffix(strings.TrimPrefix(escaped, "/"), "/")
	base, _, _ := strings.Cut(raw, "/")
	if base, err := url.PathUnescape(base); err != nil || ops.Fold(base) != "api" {
		return route{}
	}
	var room [usualSegments]string
	segments := room[:0]
	for part := range strings.SplitSeq(raw, "/") {
		decoded, err := url.PathUnescape(part)
		if err != nil {
			return route{problem: "The path holds a percent sign that does not start an escape."}
		}
		if decoded == "" {
			return route{problem: "The path has an empty segment: a value between two slashes is missing."}
		}
		segments = append(segments, decoded)
	}
	if op, values := rt.match(method, segments); op != nil {
		return route{op: op, values: values}
	}
	var found route
	for other := range rt.patterns {
		if op, _ := rt.match(other, segments); op != nil {
			found.allowed = append(found.allowed, other)
		}
	}
	slices.Sort(found.allowed)
	return found
}

// match returns the best operation for a method and path, and the values of its placeholders.
func (rt *routes) match(method string, segments []string) (*ops.Operation, map[string]string) {
	var room [usualSegments]string
	folded := room[:0]
	for _, part := range segments {
		folded = append(folded, ops.Fold(part))
	}
	var best *pattern
	var bestRank rank
	for _, p := range rt.patterns[method] {
		if rank, ok := p.match(folded); ok && (best == nil || bytes.Compare(rank[:], bestRank[:]) < 0) {
			best, bestRank = p, rank
		}
	}
	if best == nil {
		return nil, nil
	}
	return best.op, best.values(segments, bestRank)
}

// usualSegments is greater than the number of segments in any row's path.
const usualSegments = 8

// rank has one letter per segment of the matching pattern. The lexically smallest rank wins.
type rank [usualSegments]byte

const (
	rankLiteral = 'a'
	rankValue   = 'b'
	rankSpan    = 'c'
)

func (p *pattern) match(folded []string) (found rank, ok bool) {
	extra := len(folded) - len(p.segments) // second segment of the spanning value
	if extra < 0 || extra > 1 {
		return found, false
	}
	at := 0
	for i, seg := range p.segments {
		switch {
		case seg.literal != "":
			if folded[at] != seg.literal {
				return found, false
			}
			found[i] = rankLiteral
		case seg.spans && extra == 1:
			found[i] = rankSpan
			extra = 0
			at++
		default:
			found[i] = rankValue
		}
		at++
	}
	return found, extra == 0
}

func (p *pattern) values(segments []string, rank rank) map[string]string {
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

// nearest suggests the route that a path of a method probably means, or "" if none is close.
func (rt *routes) nearest(method, escaped string) string {
	const maxLength, tooFar = 200, 5
	if len(escaped) > maxLength {
		return ""
	}
	parts := strings.Split(strings.Trim(ops.Fold(escaped), "/"), "/")
	best, bestDistance := "", tooFar
	for _, p := range rt.patterns[method] {
		if d := p.distance(parts); d < bestDistance {
			best, bestDistance = method+" "+p.op.Path, d
		}
	}
	return best
}

var version = regexp.MustCompile(`^/(?:api/)?v[0-9]+/`)

// below suggests the route that a path probably means if it lacks /api/ or has a version after it,
// or "" if none is close.
func (rt *routes) below(method, escaped string) string {
	path := version.ReplaceAllString(escaped, "/")
	if path == escaped && isAPI(escaped) || strings.Count(path, "/") < 2 {
		return ""
	}
	return rt.nearest(method, "/api"+path)
}

const far = 1000

// distance returns the difference between a path and the pattern, ignoring placeholders. The last
// segment may be missing.
func (p *pattern) distance(parts []string) int {
	total, last := 0, len(p.segments)-1
	switch {
	case len(parts) == last && last >= 2 && p.segments[last].literal == "":
		total = 1
	case len(parts) == last && last >= 2:
		total = 2 // a correct name must be closer
	case len(parts) != len(p.segments):
		return far
	}
	for i, part := range parts {
		if literal := p.segments[i].literal; literal != "" {
			steps, near := nearest.Apart(part, literal)
			if !near {
				return far
			}
			total += steps
		}
	}
	return total
}
