package sessiontest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPieces(t *testing.T) {
	for name, c := range map[string]struct {
		in    string
		texts []string
		kinds []string
	}{
		"nothing":            {"", nil, nil},
		"no frame":           {"text", []string{"text"}, []string{""}},
		"a frame":            {"\x1e1 end 2\n{}\n", []string{"\x1e1 end 2\n{}\n"}, []string{"end"}},
		"two":                {"\x1e1 records 2\n[]\n\x1e1 end 0\n\n", []string{"\x1e1 records 2\n[]\n", "\x1e1 end 0\n\n"}, []string{"records", "end"}},
		"a frame in a frame": {"\x1e1 records 3\n\x1e1 \n", []string{"\x1e1 records 3\n\x1e1 \n"}, []string{"records"}},
		"text around":        {"a\x1e1 end 0\n\nb", []string{"a", "\x1e1 end 0\n\n", "b"}, []string{"", "end", ""}},
		"not whole":          {"\x1e1 end 9\n{}", []string{"\x1e1 end 9\n{}"}, []string{"end"}},
		"no head":            {"\x1e1 end", []string{"\x1e1 end"}, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			var texts, kinds []string
			for _, piece := range Pieces([]byte(c.in)) {
				texts, kinds = append(texts, string(piece.Bytes)), append(kinds, piece.Kind)
			}
			assert.Equal(t, c.texts, texts)
			assert.Equal(t, c.kinds, kinds)
		})
	}
}
