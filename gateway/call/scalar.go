package call

import (
	"adgateway/gateway/schema"
	"encoding/json"
	"errors"
	"fmt"
)

// maxList is the limit on the bytes of an array in a body.
const maxList = 256 << 10

// Scalar converts the value of a member to one of the types that its kind decodes; some kinds take
// an array of strings. If kind is nil, the JSON token determines the type.
func Scalar(member json.RawMessage, kind schema.Kind) (any, error) {
	switch member[0] {
	case '[':
		var texts []string
		if kind == nil || len(member) > maxList || json.Unmarshal(member, &texts) != nil {
			return schema.Composite{}, nil
		}
		switch {
		case loneSurrogate(member):
			return nil, errors.New("must be valid Unicode: it holds half of a surrogate pair")
		case schema.TakesTexts(kind):
			return schema.TextsOf(texts), nil
		case schema.TakesList(kind):
			return schema.ListOf(texts), nil
		}
		return schema.Composite{}, nil
	case '{':
		return schema.Composite{}, nil
	case 'n':
		return nil, nil
	case 't', 'f':
		return member[0] == 't', nil
	case '"':
		if loneSurrogate(member) {
			return nil, errors.New("must be valid Unicode: it holds half of a surrogate pair")
		}
		var text string
		if err := json.Unmarshal(member, &text); err != nil {
			return nil, errors.New("must be valid JSON text")
		}
		return text, nil
	default:
		return json.Number(member), nil
	}
}

// loneSurrogate reports whether there is an escape \ud800-\udfff outside a surrogate pair. The
// decoder would silently replace it.
func loneSurrogate(quoted []byte) bool {
	for i := 0; i+1 < len(quoted); i++ {
		if quoted[i] != '\\' {
			continue
		}
		i++
		if quoted[i] != 'u' {
			continue
		}
		switch unit := escapeUnit(quoted[i-1:]); {
		case unit >= 0xdc00 && unit <= 0xdfff:
			return true
		case unit >= 0xd800 && unit < 0xdc00:
			if low := escapeUnit(quoted[i+5:]); low < 0xdc00 || low > 0xdfff {
				return true
			}
			i += 6
		}
		i += 4
	}
	return false
}

// escapeUnit returns the code unit of \uXXXX at the start of b, or 0.
func escapeUnit(b []byte) (unit int) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0
	}
	if _, err := fmt.Sscanf(string(b[2:6]), "%04x", &unit); err != nil {
		return 0
	}
	return unit
}
