package schema

import (
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-ldap/ldap/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChangesOfFields(t *testing.T) {
	type row struct{ field, before, after string }
	text, err := os.ReadFile(filepath.Join("tsparams", "testdata", "v1.utf16"))
	require.NoError(t, err)
	raw, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	require.NoError(t, err)
	var reserved []byte
	for _, letter := range []byte("CtxCfgPresent" + strings.Repeat(" ", 35)) {
		reserved = append(reserved, letter, 0)
	}
	packed := base64.StdEncoding.EncodeToString(append(reserved, raw...))
	for name, c := range map[string]struct {
		shape     *Shape
		announced Announced
		want      []row
	}{
		"text":                  {User, Announced{"givenName", "Anna", "Änne"}, []row{{"firstName", `"Anna"`, `"Änne"`}}},
		"cleared":               {User, Announced{"title", "Head", ""}, []row{{"jobTitle", `"Head"`, "null"}}},
		"boolean":               {User, Announced{"enabled", "True", "False"}, []row{{"enabled", "true", "false"}}},
		"text like a boolean":   {User, Announced{"description", "", "True"}, []row{{"description", "null", `"True"`}}},
		"of another name":       {Computer, Announced{"name", "A", "B"}, []row{{"computerName", `"A"`, `"B"`}}},
		"no field":              {User, Announced{"countryCode", "276", "300"}, []row{{"countryCode", `"276"`, `"300"`}}},
		"no field, a boolean":   {Group, Announced{"protected", "False", "True"}, []row{{"protected", "false", "true"}}},
		"several in one":        {User, Announced{"userParameters", "", packed}, []row{{"rdsProfilePath", "null", `"\\\\fs1\\p\\a"`}, {"rdsConnectDrive", "false", "true"}, {"rdsAllowLogon", "true", "false"}}},
		"several, all the same": {User, Announced{"userParameters", packed, packed}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []row
			for _, change := range c.shape.Changes(c.announced) {
				assert.Equal(t, c.announced.Attribute, change.Attribute)
				got = append(got, row{change.Field, string(change.Before), string(change.After)})
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// FuzzEscapeRDN: a parser of distinguished names reads back the name that was escaped.
func FuzzEscapeRDN(f *testing.F) {
	for _, name := range []string{"Anna", " #a, b=c+d;\"<e>\\ ", "#1", "\x00", "é ", "\\", "  "} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if name == "" || !utf8.ValidString(name) {
			return // no object can have such a name
		}
		dn, err := ldap.ParseDN("CN=" + EscapeRDN(name) + ",DC=x")
		require.NoError(t, err)
		require.Len(t, dn.RDNs, 2)
		require.Len(t, dn.RDNs[0].Attributes, 1)
		assert.Equal(t, name, dn.RDNs[0].Attributes[0].Value)
	})
}
