package trust

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func exampleRequest(t testing.TB) []byte {
	key, err := Folder{Path: t.TempDir()}.key()
	require.NoError(t, err)
	csr, err := x509.CreateCertificateRequest(bytes.NewReader(make([]byte, 1<<10)), &x509.CertificateRequest{},
		key)
	require.NoError(t, err)
	text, err := json.Marshal(request{Cluster: "corp", Gateway: "gw2", Request: csr, Hosts: []string{"h"},
		HopAddress: "h:1"})
	require.NoError(t, err)
	return text
}

// FuzzRequest checks that an accepted request names a gateway and contains the key that signed it.
func FuzzRequest(f *testing.F) {
	f.Add(exampleRequest(f))
	f.Add([]byte(`{"cluster":"corp","gateway":"gw2","request":"MA=="}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		q, public, key, err := parseRequest(text)
		if err != nil {
			return
		}
		require.NoError(t, checkName("gateway", q.Gateway))
		require.NotNil(t, public)
		assert.Len(t, key, 64)
	})
}

// FuzzAnswer checks that an accepted answer contains a list or a reason.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"refused":"used","text":"no"}`))
	f.Add([]byte(`{"certificate":"MA==","members":{"v":1,"cluster":"corp","gateways":[{"name":"gw1","key":"00"}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := parseAnswer(text)
		if err == nil {
			require.NoError(t, a.Members.check())
		}
	})
}

// FuzzMessage checks that a message has the length that it announces, and does not exceed the limit.
func FuzzMessage(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 'x', 'y'})
	f.Add([]byte{255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, text []byte) {
		message, err := readMessage(bytes.NewReader(text))
		if err != nil {
			return
		}
		var again bytes.Buffer
		require.NoError(t, writeMessage(&again, message))
		assert.Equal(t, text[:4+len(message)], again.Bytes())
	})
}
