package gateway

import "encoding/json"

// addGenerated adds the secret generated for the request to its record, whatever
// fields were selected.
func (e *envelope) addGenerated(record []byte) []byte {
	secret := e.r.bound.Generated
	if secret == nil {
		return record
	}
	name, _ := json.Marshal(secret.Member) // a string can always be encoded
	extended := append([]byte{}, record[:len(record)-1]...)
	if len(extended) > 1 {
		extended = append(extended, ',')
	}
	extended = append(append(extended, name...), ':')
	return append(append(extended, encode(secret.Reveal())...), '}')
}
