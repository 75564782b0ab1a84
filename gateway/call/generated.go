package call

import (
	"bytes"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// WithSecret returns a record with the secret that was generated for the call, whatever fields were
// selected. Without a secret, or without a record, it is the record.
func WithSecret(record []byte, secret *ops.Generated) []byte {
	if secret == nil || len(record) == 0 {
		return record
	}
	extended := bytes.Clone(record[:len(record)-1])
	if len(extended) > 1 {
		extended = append(extended, ',')
	}
	extended = append(append(extended, schema.JSON(secret.Member)...), ':')
	return append(append(extended, schema.JSON(secret.Reveal())...), '}')
}
