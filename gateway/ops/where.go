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

// Where returns where a call of the operation runs. It gets only the raw query, because nothing
// else of the call has been read at that point. Changes (dry runs included), reveals (which are
// counted for all gateways) and reads of the gateways' own data run on the leader. Reads of the
// directory and of DNS run here, and so do rows that any gateway answers alike. A call whose query
// cannot be parsed runs here and is refused later.
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
