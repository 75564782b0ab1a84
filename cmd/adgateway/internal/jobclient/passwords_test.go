package jobclient_test

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/nacl/box"

	"adgateway/cmd/adgateway/internal/jobclient"
)

// seal seals a password in the same way as the gateway.
func seal(t *testing.T, key, password string) string {
	t.Helper()
	public, err := base64.StdEncoding.DecodeString(key)
	require.NoError(t, err)
	require.Len(t, public, 32)
	sealed, err := box.SealAnonymous(nil, []byte(password), (*[32]byte)(public), rand.Reader)
	require.NoError(t, err)
	return base64.StdEncoding.EncodeToString(sealed)
}

func TestPasswordsAreOpened(t *testing.T) {
	made, err := jobclient.NewPasswords()
	require.NoError(t, err)
	keys, err := jobclient.ParsePasswords(made.Key())
	require.NoError(t, err)
	assert.Equal(t, made.ResultKey(), keys.ResultKey())
	box := seal(t, made.ResultKey(), `p;"ä`)
	for name, c := range map[string][2]string{
		"CSV":             {"\ufeffId;Guid;Sealed\r\na;g;" + box + "\r\nb;g;\r\n", "\ufeffId;Guid;Password\r\na;g;\"p;\"\"ä\"\r\nb;g;\r\n"},
		"names are taken": {"Sealed,password,JobSealed\r\nx,y," + box + "\r\n", "Sealed,password,JobPassword\r\nx,y,\"p;\"\"ä\"\r\n"},
		"tab":             {"A,B\tSealed\nx\t" + box + "\n", "A,B\tPassword\r\nx\t\"p;\"\"ä\"\r\n"},
		"NDJSON":          {`{"id":"a","sealed":"` + box + "\"}\n\n{\"id\":\"<b>\"}\n", `{"id":"a","password":"p;\"ä"}` + "\n" + `{"id":"<b>"}` + "\n"},
	} {
		var out strings.Builder
		n, err := keys.Open(&out, strings.NewReader(c[0]))
		require.NoError(t, err, name)
		assert.Equal(t, 1, n, name)
		assert.Equal(t, c[1], out.String(), name)
	}
}

func TestPasswordsThatCannotBeOpened(t *testing.T) {
	keys, err := jobclient.NewPasswords()
	require.NoError(t, err)
	other, err := jobclient.NewPasswords()
	require.NoError(t, err)
	for result, says := range map[string]string{
		"A,Sealed\nx," + seal(t, other.ResultKey(), "p") + "\n": "sealed to another key",
		"A,Sealed\nx,!\n":    "sealed to another key",
		"A,Sealed\nx,QUJD\n": "sealed to another key",
		"A,State\nx,done\n":  "given out once",
		"":                   "",
		"A,Sealed\nx\n":      "cannot be read",
		`{"sealed":"!"}`:     "sealed to another key",
		`{"sealed":1}`:       "cannot be read",
		"{":                  "cannot be read",
	} {
		var out strings.Builder
		_, err := keys.Open(&out, strings.NewReader(result))
		if says != "" {
			assert.ErrorContains(t, err, says, result)
		}
	}
	for _, key := range []string{"", "x", base64.StdEncoding.EncodeToString(make([]byte, 31))} {
		_, err := jobclient.ParsePasswords([]byte(key))
		assert.Error(t, err)
	}
}
