package ops

import "net/url"

// Where is the place in a cluster where a call runs.
type Where uint8

// The places.
const (
	Here   Where = iota // on the gateway that received it
	Leader              // on the gateway that leads
)

func (w Where) String() string {
	if w == Leader {
		return "leader"
	}
	return "here"
}

// Where returns where a call of the operation runs, given its raw query: nothing else of a call has
// been read then. Changes, dry runs included, reveals, which are counted for all gateways, and reads
// of what gateways keep themselves run on the leader. Reads of the directory and of DNS run here, and
// so do rows that any gateway answers alike. A query that cannot be parsed runs here, and is refused
// later.
func (op *Operation) Where(query string) Where {
	switch {
	case op.Effect.Writes(), op.Reveals:
		return Leader
	case !op.Local || op.Here:
		return Here
	}
	given, _ := url.ParseQuery(query)
	for name := range given {
		if p := op.Param(name); p != nil && p.Here {
			return Here
		}
	}
	return Leader
}
