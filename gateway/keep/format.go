package keep

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrNewer means that a value has a format of a later version of this program, which is
// never guessed at (many W6).
var ErrNewer = errors.New("a later version of adgateway has written it, in a format that this one cannot read: update this one")

// CheckFormat returns [ErrNewer] if a format is higher than the highest that is known.
func CheckFormat(format, known int) error {
	if format > known {
		return fmt.Errorf("%w: it is %d", ErrNewer, format)
	}
	return nil
}

// Decode decodes a value whose member "v" says its format. It fails with [ErrNewer], and
// leaves into as it is, if the format is higher than the highest that is known.
func Decode(value []byte, known int, into any) error {
	var format struct {
		V int `json:"v"`
	}
	if err := json.Unmarshal(value, &format); err != nil {
		return err
	}
	if err := CheckFormat(format.V, known); err != nil {
		return err
	}
	return json.Unmarshal(value, into)
}
