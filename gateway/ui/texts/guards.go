package texts

import "regexp"

var unkeyed = regexp.MustCompile(`[^A-Za-z0-9]+`)

// Guarded returns the text of a key for the reason why an object is guarded, as a script gives it. A reason
// that a script composes, for example with the names of groups, is not in the table. A page in German then
// has a general text.
func Guarded(key, why string) Text {
	if of := "guard." + unkeyed.ReplaceAllString(why, "-"); Has(of) {
		return Of(key, "why", Of(of))
	}
	return Each([2]string{Of(key, "why", why).In(English), Of(key + ".german").In(German)})
}

// refusedByGuard matches the message of a call that a guard refuses. Its group is the reason.
var refusedByGuard = regexp.MustCompile(`needs the scope 'privileged': (.+)\.$`)
