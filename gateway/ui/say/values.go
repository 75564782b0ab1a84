package say

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/ui/texts"
)

// Shown returns a value of a plan as text.
func Shown(value json.RawMessage) texts.Text {
	var v any
	_ = json.Unmarshal(value, &v) // our own answer is valid JSON
	return ValueText(v)
}

func ValueText(v any) texts.Text {
	switch v := v.(type) {
	case nil:
		return texts.Of("word.none")
	case bool:
		if v {
			return texts.Of("word.yes")
		}
		return texts.Of("word.no")
	case string:
		if v == "" {
			return texts.Of("word.none")
		}
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			return texts.At(at.UTC())
		}
		if strings.Contains(v, ",DC=") {
			return texts.Raw(PathText(v))
		}
		return texts.Raw(v)
	case []any:
		var all []texts.Text
		for _, one := range v {
			all = append(all, ValueText(one))
		}
		if len(all) == 0 {
			return texts.Of("word.none")
		}
		return texts.List(all...)
	case map[string]any:
		var parts []texts.Text
		for _, name := range sortedKeys(v) {
			if v[name] != nil {
				parts = append(parts, ValueText(v[name]))
			}
		}
		return texts.List(parts...)
	}
	text, _ := json.Marshal(v) // the value was read from JSON
	return texts.Raw(string(text))
}

func sortedKeys(m map[string]any) (keys []string) {
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
