package program

import "adgateway/gateway/nearest"

// DidYouMean returns "; did you mean NAME?" for the name nearest to a misspelt
// one, or "" if none is near. The prefix is written before the name, such as the
// dashes of a flag.
func DidYouMean(misspelt, prefix string, names []string) string {
	near := nearest.Of(misspelt, names)
	if near == "" {
		return ""
	}
	return "; did you mean " + prefix + near + "?"
}
