package program

import "adgateway/gateway/nearest"

// DidYouMean returns "; did you mean NAME?" with the name nearest to a misspelled one, or ""
// if none is near. prefix, such as the dashes of a flag, is written before the name.
func DidYouMean(misspelled, prefix string, names []string) string {
	near := nearest.Of(misspelled, names)
	if near == "" {
		return ""
	}
	return "; did you mean " + prefix + near + "?"
}
