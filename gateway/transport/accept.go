package transport

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

const acceptHeader = "Accept"

// accept is what a client accepts (RFC 9110, 12.5.1). Nil means everything.
type accept []mediaRange

// mediaRange is a range of media types in an Accept header.
type mediaRange struct {
	kind, sub  string // in lower case; "*" for any
	parameters map[string]string
	weight     float64 // zero if the client refuses the types
}

// acceptOf reads the Accept header of a request. A part that cannot be read matches no type.
func acceptOf(header http.Header) accept {
	text := strings.Join(header.Values(acceptHeader), ",")
	if strings.Trim(text, ", \t") == "" {
		return nil
	}
	var all accept
	for part := range strings.SplitSeq(text, ",") {
		name, parameters, _ := mime.ParseMediaType(part) // name is known even if a parameter cannot be read
		r := mediaRange{parameters: parameters, weight: 1}
		r.kind, r.sub, _ = strings.Cut(name, "/")
		if name == "*" { // sent by clients written in Java
			r.sub = "*"
		}
		if q, has := parameters["q"]; has {
			r.weight = weightOf(q)
			delete(parameters, "q")
		}
		all = append(all, r)
	}
	return all
}

// weightOf returns the value of the parameter q. Like a missing value, one that cannot be read is 1.
func weightOf(q string) float64 {
	weight, err := strconv.ParseFloat(q, 64)
	if err != nil || weight < 0 || weight > 1 {
		return 1
	}
	return weight
}

// Precisions of a match between a range and a media type. Each parameter that both have adds one.
const (
	noMatch = iota
	anyType
	kindOnly
	fullType
)

// precision returns how precisely the range describes a media type. A parameter that the media type
// lacks does not matter; one with another value prevents a match.
func (r mediaRange) precision(kind, sub string, parameters map[string]string) int {
	precise := noMatch
	switch {
	case r.kind == kind && r.sub == sub:
		precise = fullType
	case r.kind == kind && r.sub == "*":
		precise = kindOnly
	case r.kind == "*" && r.sub == "*":
		precise = anyType
	default:
		return noMatch
	}
	for name, value := range r.parameters {
		other, has := parameters[name]
		if has && !strings.EqualFold(other, value) {
			return noMatch
		}
		if has {
			precise++
		}
	}
	return precise
}

// weigh returns the weight of a media type, by the range that describes it most precisely, and the
// precision of that range.
func (a accept) weigh(media string) (weight float64, precise int) {
	name, parameters, _ := mime.ParseMediaType(media) // one of our own
	kind, sub, _ := strings.Cut(name, "/")
	for _, r := range a {
		switch p := r.precision(kind, sub, parameters); {
		case p == noMatch || p < precise:
		case p > precise:
			weight, precise = r.weight, p
		default:
			weight = max(weight, r.weight)
		}
	}
	return weight, precise
}

// best returns the offer with the highest weight, or "" if the client accepts none. Of several, it
// returns the one that the client describes most precisely, and then the first.
func (a accept) best(offers ...string) string {
	if a == nil {
		return offers[0]
	}
	best, bestWeight, bestPrecise := "", 0.0, 0
	for _, offer := range offers {
		weight, precise := a.weigh(offer)
		if weight > bestWeight || weight == bestWeight && weight > 0 && precise > bestPrecise {
			best, bestWeight, bestPrecise = offer, weight, precise
		}
	}
	return best
}

// names reports whether the client names a media type or its kind, and does not refuse it.
func (a accept) names(media string) bool {
	weight, precise := a.weigh(media)
	return weight > 0 && precise >= kindOnly
}
