package names

import (
	"testing"

	"adgateway/gateway/change"
	"adgateway/ps"

	"github.com/stretchr/testify/assert"
)

// TestNamesOf: all spellings of a name in an OU are held as the same name.
func TestNamesOf(t *testing.T) {
	const sales = "OU=Sales,DC=corp,DC=example"
	made := []ps.IntendedChange{{Name: change.Existence, Before: "False", After: "True"}}
	for ann, escaped := range map[string]string{
		"Ann": "Ann", "Smith, Ann": `Smith\, Ann`, "#1 Ann": `\#1 Ann`, "a=b": `a\=b`, " Ann ": `\ Ann\ `,
	} {
		want := entryOf(escaped, sales)
		for how, object := range map[string]ps.Intended{
			"created":  {Name: ann, Parent: sales, Changes: made},
			"restored": {GUID: "g", DN: "CN=" + escaped + "," + sales, Changes: made},
			"renamed": {GUID: "g", DN: "CN=Bob," + sales, Changes: []ps.IntendedChange{
				{Name: "name", Before: "Bob", After: ann},
			}},
			"moved": {GUID: "g", DN: "CN=" + escaped + ",OU=Other,DC=corp,DC=example", Changes: []ps.IntendedChange{
				{Name: "parent", Before: "OU=Other,DC=corp,DC=example", After: "ou=sales, dc=corp,dc=example"},
			}},
		} {
			assert.Equal(t, []nameOf{want}, namesOf(&object), "%s, %s", ann, how)
		}
	}
	back := ps.Intended{
		GUID: "g", DN: "CN=Ann," + sales, Account: "Ann", Principal: "Ann@corp.example", Changes: made,
	}
	want := []nameOf{{"account", "ann"}, {"principal", "ann@corp.example"}, entryOf("Ann", sales)}
	assert.Equal(t, want, namesOf(&back), "an account is restored")
	assert.NotEqual(t, entryOf("Ann", sales), entryOf("Ann", "DC=corp,DC=example"))
}
