package host

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheLayoutOfSSPI: structures have the same layout as in sspi.h on 64-bit systems.
func TestTheLayoutOfSSPI(t *testing.T) {
	assert.EqualValues(t, 16, unsafe.Sizeof(handle{}))
	assert.EqualValues(t, 16, unsafe.Sizeof(buffer{}))
	assert.EqualValues(t, 8, unsafe.Offsetof(buffer{}.at))
	assert.EqualValues(t, 16, unsafe.Sizeof(buffers{}))
	assert.EqualValues(t, 8, unsafe.Offsetof(buffers{}.first))
	data := []byte("tls-server-end-point:hash")
	text := channelBindings(data)
	require.Len(t, text, bindingHeader+len(data))
	assert.Equal(t, "19000000"+"20000000", hex.EncodeToString(text[24:32]), "the length, and where it begins")
	assert.Equal(t, data, text[bindingHeader:])
}

// TestEveryCallOfSSPIIsThere: the library contains every function of SSPI that this package calls.
func TestEveryCallOfSSPIIsThere(t *testing.T) {
	require.NoError(t, secur32.Load())
	for _, proc := range []interface {
		Find() error
	}{
		acquireCredentials, freeCredentials, acceptSecurityContext, deleteSecurityContext, queryContextToken,
		queryContext, freeContextBuffer,
	} {
		assert.NoError(t, proc.Find())
	}
}

// accepting skips a test on a computer that has no key for tickets.
func accepting(t *testing.T) {
	t.Helper()
	_, free, err := kerberosCredentials()
	if err != nil {
		require.ErrorContains(t, err, "no key for tickets")
		t.Skip(err)
	}
	free()
}

// TestTokensThatAreNoTickets: a token that is not a ticket is refused with a code, with or without
// bindings.
func TestTokensThatAreNoTickets(t *testing.T) {
	accepting(t)
	// The beginning of a context token of Kerberos.
	half, err := hex.DecodeString("6082020006092a864886f71201020201006e8201ef308201eba003020105")
	require.NoError(t, err)
	for name, token := range map[string][]byte{
		"a byte": {0}, "rubbish": []byte("let me in"), "half": half, "64 kB": bytes.Repeat([]byte("A"), 64<<10),
		"NTLM": append([]byte("NTLMSSP\x00\x01\x00\x00\x00"), make([]byte, 24)...),
	} {
		for _, bindings := range [][]byte{nil, []byte("tls-server-end-point:hash")} {
			for _, lack := range []bool{false, true} {
				_, err := AcceptTicket(t.Context(), Ticket{Token: token, Bindings: bindings, MayLackBindings: lack})
				refused(t, name, err)
			}
		}
	}
}

func refused(t *testing.T, name string, err error) {
	t.Helper()
	var code *TicketError
	require.ErrorAs(t, err, &code, name)
	assert.NotZero(t, code.Code, name)
	assert.NotEmpty(t, code.Text, name)
	t.Logf("%s: %v", name, code)
}

// TestTicketsOfAnAuthority reads tokens from the folder in the variable TICKETS, made for a key of this
// computer. The valid token is accepted. Wine also accepts it, but creates no access token for the account.
func TestTicketsOfAnAuthority(t *testing.T) {
	folder := os.Getenv("TICKETS")
	if folder == "" {
		t.Skip("TICKETS is not set: make wine-test does that")
	}
	read := func(name string) Ticket {
		token, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		return Ticket{Token: token}
	}
	_, err := AcceptTicket(t.Context(), read("valid"))
	if err != nil {
		require.ErrorContains(t, err, "QuerySecurityContextToken")
	}
	for _, name := range []string{"expired", "clock", "key"} {
		_, err := AcceptTicket(t.Context(), read(name))
		refused(t, name, err)
	}
}

// TestPoliciesOfBrowsers reads what test/wine/tickets.sh has written to the registry.
func TestPoliciesOfBrowsers(t *testing.T) {
	policies, err := BrowserPolicies()
	require.NoError(t, err)
	if os.Getenv("TICKETS") == "" {
		return // whatever this computer has
	}
	by := map[string]bool{}
	for _, p := range policies {
		by[p.Browser] = p.Allows("gateway.corp.example") && !p.Allows("internet.example")
	}
	assert.Equal(t, map[string]bool{"Edge": true, "Chrome": true, "Firefox": true, "Internet Options": true}, by)
}
