package migrate

import (
	"errors"
	"fmt"
	"os"

	"adgateway/gateway/store"
)

// In a mirror each value follows a header with the kind of its message, the token of its batch, and the
// number of further messages of the call.
const (
	mirrored = 1 + 8 + 2
	removed  = 1 // the message removes the value
)

// unused are the kinds of values that the new cluster does not need.
var unused = map[store.Kind]bool{
	"\x00end": true, "\x00tick": true, // values of the store driver
	"obj": true, "fence": true, "member": true, "incarnation": true, "pin": true, "nodecheck": true,
	"jobunit": true, "jobpart": true,
}

// unusedLogs are logs that carried messages between the gateways.
var unusedLogs = map[store.Log]bool{"jobnews": true, "keyring": true}

// again explains what to do about an unusable mirror.
const again = "take the mirror of another gateway (--from), or start this one once more with the version " +
	"that it had, wait until GET /readyz says 200, stop it, and run the command again"

// copy copies the mirror into a new store.
func (m *migration) copy() error {
	m.step("store")
	var fault error
	creation, err := store.Build(m.newStore(), func(put func(store.Stored) error) error {
		m.known, fault = store.ReadMirror(m.Mirror, func(s store.Stored) error { return m.put(s, put) })
		return fault
	})
	m.creation, m.found.Sequence, m.found.At = creation, m.known.Sequence, m.known.At
	switch {
	case fault == nil:
		return err
	case errors.Is(fault, store.ErrInUse):
		return fmt.Errorf("%w: stop the gateways of the cluster on all hosts, and run the command again", fault)
	case errors.Is(fault, os.ErrNotExist):
		return fmt.Errorf("there is no mirror %s: run the command on the host of a gateway of the cluster, "+
			"with its settings, or name the file (--from)", m.Mirror)
	case errors.Is(fault, store.ErrDamaged):
		return fmt.Errorf("%w: %s", fault, again)
	case errors.Is(fault, store.ErrAbsent), errors.Is(fault, store.ErrRewound):
		return fmt.Errorf("%s: %w: %s", m.Mirror, fault, again)
	}
	return fault
}

// put puts an entry of the mirror into the store, unless the new cluster does not need it.
func (m *migration) put(s store.Stored, put func(store.Stored) error) error {
	end := s.Log != "" && s.Number == 0
	switch {
	case unused[s.Kind], unusedLogs[s.Log]:
		return nil
	case end:
	case len(s.Value) < mirrored:
		return fmt.Errorf("%w: a value of the mirror has no head", store.ErrDamaged)
	case s.Value[0] == removed:
		return nil
	default:
		s.Value = s.Value[mirrored:]
	}
	switch {
	case s.Log == "":
		m.found.Values++
	case !end:
		m.found.Entries++
	}
	m.step("put")
	return put(s)
}
