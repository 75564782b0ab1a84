package canary

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryFormIsFound plants every form at every offset. It proves that the search would find secrets if
// there were any.
func TestEveryFormIsFound(t *testing.T) {
	own := "xY7!pQ%2+*\"q-~" // secrets made by the program are ASCII
	forms := map[string]func(string) string{
		"text":             func(s string) string { return s },
		"UTF-16":           func(s string) string { return string(wide(s)) },
		"base64":           func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"base64 for URLs":  func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
		"without padding":  func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
		"base64 of UTF-16": func(s string) string { return base64.StdEncoding.EncodeToString(wide(s)) },
		"hex":              func(s string) string { return hex.EncodeToString([]byte(s)) },
		"upper hex":        func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
		"hex of UTF-16":    func(s string) string { return hex.EncodeToString(wide(s)) },
		"query":            url.QueryEscape,
		"path":             url.PathEscape,
		"all per cent":     func(s string) string { return each(s, "%%%02X") },
		"lower per cent":   func(s string) string { return each(s, "%%%02x") },
		"JSON": func(s string) string {
			text, err := json.Marshal(s)
			require.NoError(t, err)
			return string(text)
		},
		"JSON, all escaped": func(s string) string {
			all := ""
			for _, r := range s {
				all += fmt.Sprintf(`\u%04x`, r)
			}
			return all
		},
		"Go":           func(s string) string { return fmt.Sprintf("%+q", s) },
		"Go in bytes":  func(s string) string { return each(s, `\x%02x`) },
		"HTML":         html.EscapeString,
		"wrapped":      func(s string) string { return s[:5] + "\r\n" + s[5:] },
		"wrapped, too": func(s string) string { return wrapped(base64.StdEncoding.EncodeToString([]byte(s)), 7) },
	}
	for name, form := range forms {
		for _, outer := range []string{"text", "query", "path", "all per cent", "JSON", "Go", "HTML", "wrapped"} {
			again := forms[outer]
			for before := range 4 {
				for _, secret := range []string{Secret("here"), own} {
					planted := strings.Repeat("a", before) +
						again(form(strings.Repeat("-", before)+secret+strings.Repeat("-", before)))
					hits := New(own).Find("log", []byte("before "+planted+" after"))
					assert.NotEmpty(t, hits, "%s in %s after %d: %s", name, outer, before, planted)
				}
			}
		}
	}
}

func each(s, format string) string {
	all := ""
	for i := range len(s) {
		all += fmt.Sprintf(format, s[i])
	}
	return all
}

func wrapped(s string, width int) string {
	all := ""
	for ; len(s) > width; s = s[width:] {
		all += s[:width] + "\n"
	}
	return all + s
}

func TestPartOfASecretIsFound(t *testing.T) {
	secret := Secret("here")
	for _, half := range []string{secret[:len(secret)/2], secret[len(secret)/2:]} {
		assert.NotEmpty(t, New().Find("log", []byte(half)))
	}
}

func TestOtherTextsAreNotFound(t *testing.T) {
	text := []byte("Kn4Rw9 Zc kn4rw9zb ***" + base64.StdEncoding.EncodeToString([]byte("Kn4Rw8Zb")) + `%4B\u004b`)
	assert.Empty(t, New("another").Find("log", text))
	assert.Empty(t, New().Find("log", nil))
	hits := New().Find("log", []byte("password="+Mark))
	require.Len(t, hits, 1)
	assert.Equal(t, `log: "Kn4Rw9Zb" as text, after "password="`, hits[0].String())
}
