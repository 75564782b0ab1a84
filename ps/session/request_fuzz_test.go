package session_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"adgateway/ps"
	"adgateway/ps/session"
	"adgateway/ps/session/sessiontest"

	"github.com/stretchr/testify/require"
)

// The text of an argument reaches the script and returns unaltered, and is never
// parsed as a line, a frame or a secret.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{"", "plain", "O'Brien’s $(1) `x\"", "\x1e1 end 2\n{}\n", "#\n", "=x", "!0",
		"2024-01-02T03:04:05Z", "\r\n\x00", "日本 😀"} {
		f.Add(seed, seed)
	}
	cfg := config(&sessiontest.Process{Scripts: sessiontest.Faults})
	s, err := session.Start(f.Context(), cfg)
	require.NoError(f, err)
	f.Cleanup(s.Kill)
	f.Fuzz(func(t *testing.T, text, secret string) {
		if !utf8.ValidString(text) || !utf8.ValidString(secret) {
			return
		}
		var got []map[string]any
		_, err := s.Run(t.Context(), ps.Request{
			Script: "Get-GatewayEcho",
			Args: ps.Args{"Text": ps.Text(text), "List": ps.List([]string{text, secret}),
				"Secret": ps.Secret(secret)},
			Records: func(batch json.RawMessage) error { return json.Unmarshal(batch, &got) },
		})
		require.NoError(t, err)
		require.Equal(t, []map[string]any{{"Text": text, "List": []any{text, secret}, "Secret": secret}}, got)
	})
}
