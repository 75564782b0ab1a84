package sandbox

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/directory"
)

// TestExports: exports of the three common tools are loaded, with the expected numbers of
// entries that are loaded, skipped, added, and kept as written.
func TestExports(t *testing.T) {
	for tool, want := range map[string]struct {
		loaded   directory.Loaded
		messages []string // parts, in order
		user     string
		group    string
		members  string // expected number of the group's members
	}{
		"ldifde": {
			directory.Loaded{Entries: 9, Skipped: 1},
			[]string{
				`ldifde.ldif:129: skipped: the same sAMAccountName "JMueller" as CN=Müller\, Jörg,OU=Vertrieb & Einkauf,`,
				`ldifde.ldif:1: rIDManagerReference refers to CN=RID Manager$,`,
			},
			"jmueller", "Außendienst", "1",
		},
		"ldapsearch": {
			directory.Loaded{Entries: 5, Skipped: 1, Added: 1},
			[]string{
				": the values of member end with number 1: the rest was not exported",
				`: skipped: the value "NORMAL_ACCOUNT" of userAccountControl does not match the attribute's syntax (CN=Kaputt,`,
				": manager refers to CN=Boss,OU=Elsewhere,",
				":1: 1 entries that lie above others are missing and were added",
			},
			"aadler", "Everybody", "2",
		},
		"ldbsearch": {
			directory.Loaded{Entries: 10, Skipped: 3, Kept: 2},
			[]string{
				`: skipped: another object in its place has the name: CN=Users,`,
				`ldbsearch.ldif:80: skipped: the same DN as on line 69 of `,
				`: skipped: its parent was skipped (CN=Inside,`,
				`: member refers to CN=Fort,`,
				`: 2 values do not match the syntax of their attribute and are kept as written: msDS-SupportedEncryptionTypes (1, first "0x1c"`,
			},
			"yamada", "Praxis", "2",
		},
	} {
		t.Run(tool, func(t *testing.T) {
			file := filepath.Join("testdata", "exports", tool+".ldif")
			var said []string
			w := newWorld(t, Options{Empty: true, LDIF: []string{file},
				Progress: func(text string) { said = append(said, text) }})
			assert.Equal(t, want.loaded, w.Directory.Loaded())
			all := strings.Join(said, "\n")
			require.Len(t, w.Directory.Warnings(), len(want.messages), all)
			for _, message := range want.messages {
				assert.Contains(t, all, message)
			}
			assert.Contains(t, said[len(said)-1], "were skipped")
			assert.Equal(t, want.user+"\n",
				run(t, w, "Import-Module ActiveDirectory", "(Get-ADUser "+want.user+").SamAccountName"))
			assert.Equal(t, want.members+"\n",
				run(t, w, "Import-Module ActiveDirectory",
					"@((Get-ADGroup '"+want.group+"' -Properties member).member).Count"))

			_, err := NewWorld(context.Background(), Options{LDIF: []string{file}})
			require.ErrorContains(t, err,
				"an export of another domain; --empty (sandbox.empty) leaves out the built-in domain")
		})
	}
}
