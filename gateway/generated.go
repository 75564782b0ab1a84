package gateway

import "encoding/json"

// addGenerated adds the secret that was made for the request to its record, whatever
// fields were asked for. No cache keeps such an answer.
func (e *envelope) addGenerated(record []byte) []byte {
	made := e.r.bound.Generated
	if made == nil {
		return record
	}
	e.r.c.Header("Cache-Control", "no-store")
	name, _ := json.Marshal(made.Member) // text is always encoded
	extended := append([]byte{}, record[:len(record)-1]...)
	if len(extended) > 1 {
		extended = append(extended, ',')
	}
	extended = append(append(extended, name...), ':')
	return append(append(extended, encode(made.Reveal())...), '}')
}
