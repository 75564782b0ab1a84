package odd

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// TestAnUndoGivesOddNamesBack: the object had a name that callers may not set, so the undo of a change
// restores that name exactly. A plain run tries a share of the changes.
func TestAnUndoGivesOddNamesBack(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1, LDIF: []string{oddObjects}})
	const share = 3
	tried, odd := 0, 0
	// A rename sets both attributes of a computer to the same name, so a rename cannot restore attributes that
	// differ.
	oneName := func(k kind, shown map[string]any) bool {
		account := strings.TrimSuffix(systemtest.Text(shown[k.name]), "$")
		return strings.HasPrefix(systemtest.Text(shown["distinguishedName"]), "CN="+account+",")
	}
	for class, k := range kinds {
		for i, shown := range k.objectsOf(s) {
			guid, plain := systemtest.Text(shown["guid"]), "plain"+string(rune('a'+i%26))+string(rune('a'+i/26))
			changes := map[string]systemtest.Call{}
			switch class {
			case "user":
				path := k.path(guid, "")
				changes["CN"] = call(http.MethodPut, path, "Name", plain)
				changes["UPN"] = call(http.MethodPut, path, "UserPrincipalName", plain+"@corp.example")
				changes["texts"] = call(http.MethodPut, path, "DisplayName", plain, "Description", plain)
				changes["account"] = call(http.MethodPut, k.path(guid, "/Rename/"+plain))
				changes["both"] = call(http.MethodPut, k.path(guid, "/Rename/"+plain), "Name", "Both, "+plain)
			case "group":
				changes["name"] = call(http.MethodPut, k.path(guid, "/Rename/"+plain+"g"))
				changes["both"] = call(http.MethodPut, k.path(guid, "/Rename/"+plain+"g"), "Name", "Both, "+plain)
			default:
				if oneName(k, shown) {
					changes["name"] = call(http.MethodPut, k.path(guid, "/Rename/"+plain+"c"))
				}
			}
			for what, change := range changes {
				tried++
				if !thorough.OneOf(share, class, guid, what) {
					continue
				}
				t.Run(class+" "+systemtest.Text(shown[k.name])+" "+what, func(t *testing.T) {
					s := s.In(t)
					start := s.Snapshot()
					made := s.Do(change)
					if made.Status >= 400 {
						t.Logf("not made: %s", made.Body)
						return
					}
					id := made.Header.Get("X-Change-Id")
					if id == "" {
						return // the name was the same before
					}
					odd++
					undone := s.Do(call(http.MethodPost, "/api/Changes/"+id+"/Undo"))
					require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
					assert.Empty(t, start.Compare(s.Snapshot()))
				})
			}
		}
	}
	t.Logf("%d changes of %d were taken back", odd, tried)
	if thorough.All() {
		assert.GreaterOrEqual(t, odd, 250)
	} else {
		assert.GreaterOrEqual(t, odd, 250/share-20)
	}
}
