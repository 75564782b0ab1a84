package schema

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// JSON returns a value as JSON without the escapes that only HTML needs. The value must be encodable.
func JSON(value any) []byte {
	if text, ok := value.(string); ok && simple(text) {
		return append(append(append(make([]byte, 0, len(text)+2), '"'), text...), '"')
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // only strings, numbers and lists of them are passed
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// simple reports whether a text needs no escapes in JSON.
func simple(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// OrNull returns a text for a record's member that is null if there is no text.
func OrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
