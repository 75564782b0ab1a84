package schema

import (
	"bytes"
	"encoding/json"
)

// JSON returns a value as JSON without the escapes that only HTML needs. The value must be encodable.
func JSON(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // values are strings, numbers and lists of them
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// OrNull returns a text as a record has it whose member is null if there is none.
func OrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
