package ops

import "net/url"

// Where is the place in a cluster where a call runs.
type Where uint8

// The places.
const (
	Here   Where = iota // the gateway that received it
	Leader              // the gateway that leads
)

func (w Where) String() string {
	if w == Leader {
		return "leader"
	}
	return "here"
}

// Where returns where a call of the operation runs. It gets only the raw query, because the rest of the call
// has not been read at that point. Changes (including dry runs), reveals (which are counted for all gateways)
// and reads of the gateways' own data run on the leader. Reads of the directory and of DNS, and rows that all
// gateways answer in the same way, run on this gateway. A call whose query cannot be parsed also runs here
// and is refused later.
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
