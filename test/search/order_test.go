package search

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestListsAreInTheOrderOfNames: the records of whole lists are in the order of the UTF-16 code units of
// their upper-case names, and then of their DNs. The session returns them in batches and in another order.
func TestListsAreInTheOrderOfNames(t *testing.T) {
	t.Parallel()
	var ldif strings.Builder
	encoded := func(attribute, text string) {
		fmt.Fprintf(&ldif, "%s:: %s\n", attribute, base64.StdEncoding.EncodeToString([]byte(text)))
	}
	for i, name := range []string{
		"Zoë", "zoe", "Ärger", "ärger 2", "Ωmega", "ωmega 2", "Юлия", "юлия 2", "ß", "Ы", "z", "Z 2", "\uFF5A", "😀", "\uFFFDx", "a", "À",
	} {
		for _, ou := range []string{"Staff", "Service Accounts"} {
			dn := fmt.Sprintf("CN=%s,OU=%s,OU=Corp,DC=corp,DC=example", name, ou)
			encoded("dn", dn)
			fmt.Fprintf(&ldif, "changetype: add\nobjectClass: user\nsAMAccountName: order%d%c\n\n", i, ou[1])
		}
	}
	file := filepath.Join(t.TempDir(), "users.ldif")
	require.NoError(t, os.WriteFile(file, []byte(ldif.String()), 0o600))
	s := systemtest.New(t, sandbox.Options{Seed: 1, Users: 1100, LDIF: []string{file}})
	var dns []string
	for _, record := range list(s, users, map[string]any{"ShowFields": "distinguishedName"}).Envelope.Result {
		dn := record["distinguishedName"].(string)
		if !strings.Contains(dn, `\`) && strings.Contains(dn, ",OU=") { // the name is what the DN shows
			dns = append(dns, dn)
		}
	}
	require.Greater(t, len(dns), 1134)
	key := func(dn string) []uint16 {
		name := strings.TrimPrefix(dn[:strings.Index(dn, ",OU=")+len(",OU=")], "CN=")
		return utf16.Encode([]rune(strings.ToUpper(strings.TrimSuffix(name, ",OU=")) + "\x00" + dn))
	}
	want := slices.Clone(dns)
	slices.SortFunc(want, func(a, b string) int { return slices.Compare(key(a), key(b)) })
	assert.Equal(t, want, dns)
}
