package story

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// makes makes a change with a different value each time, and returns its id.
type makes func(s *systemtest.System, n int) string

// narrowing restricts a caller that had all rights. The caller made two changes, and can then see only the
// second one.
type narrowing struct {
	limits          identity.Limits
	scopes          []identity.Scope // empty means all
	hidden, visible makes
}

var narrowings = map[string]narrowing{
	"a reading scope": {
		scopes: []identity.Scope{identity.ChangeRead, identity.DNSRead},
		hidden: changeOfUser, visible: changeOfName,
	},
	"the directory's OUs": {
		limits: identity.Limits{OUs: elsewhere.OUs}, hidden: changeOfUser, visible: changeOfName,
	},
	"the groups":   {limits: otherGroups, hidden: changeOfGroup, visible: changeOfName},
	"zones of DNS": {limits: identity.Limits{Zones: elsewhere.Zones}, hidden: changeOfName, visible: changeOfUser},
	"names in DNS": {limits: otherNames, hidden: changeOfName, visible: changeOfUser},
	"one OU of the domain": {
		limits: identity.Limits{OUs: []string{systemtest.SecurityOU}},
		hidden: changeOfUser, visible: changeOfGroup,
	},
}

func madeBy(s *systemtest.System, c systemtest.Call) string {
	s.T.Helper()
	a := s.Do(c)
	require.Less(s.T, a.Status, 300, "%s", a.Body)
	id := a.Header.Get("X-Change-Id")
	require.NotEmpty(s.T, id)
	return id
}

func changeOfUser(s *systemtest.System, n int) string {
	return madeBy(s, update("aschmidt", map[string]any{"City": fmt.Sprint("City ", n)}))
}

func changeOfGroup(s *systemtest.System, n int) string {
	return madeBy(s, put(systemtest.GroupPath("VPN Users", ""), "GroupDescription", fmt.Sprint("Group ", n)))
}

func changeOfName(s *systemtest.System, n int) string {
	record := []string{"DNS_HostName", "narrowed", "Text", fmt.Sprint("text ", n), "ZoneName", "corp.example"}
	return madeBy(s, post("/api/DnsTxtRecord", record...))
}

// TestALiveStreamAppliesTheCurrentRights: an open stream and its cursors use the current rights of a caller
// that loses and regains rights. Neither the stream nor a cursor reveals a hidden change.
func TestALiveStreamAppliesTheCurrentRights(t *testing.T) {
	t.Parallel()
	for name, c := range narrowings {
		if !thorough.OneOf(3, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s, callers := visibleSystem(t)
			all := func() string { return callers.set(identity.KindToken, identity.Limits{}, identity.All) }
			reader := all()
			stream := follow(t, s, reader, "", nil)
			n := 0
			pair := func() (hidden, shown string) {
				n++
				return c.hidden(s, n), c.visible(s, n)
			}
			hidden, shown := pair()
			require.Equal(t, hidden, stream.next().change.ID)
			last := stream.next()
			require.Equal(t, shown, last.change.ID)

			if c.scopes == nil {
				c.scopes = []identity.Scope{identity.All}
			}
			callers.set(identity.KindToken, c.limits, c.scopes...)
			deadline := time.Now().Add(systemtest.Patience)
			for { // the stream checks the rights once a second
				hidden, shown = pair()
				e := stream.next()
				if e.change.ID == shown {
					break
				}
				require.Equal(t, hidden, e.change.ID)
				require.Equal(t, shown, stream.next().change.ID)
				require.True(t, time.Now().Before(deadline), "the rights are never taken up")
			}
			var want []string
			for range 3 {
				_, shown = pair()
				want = append(want, shown)
				assert.Equal(t, shown, stream.next().change.ID)
			}

			// Earlier and current cursors are used in a stream, a poll and the list.
			after := map[string]any{"Wait": 0, "After": last.ID, "Limit": 1000}
			for _, params := range []map[string]any{after, {"Limit": 1000}} {
				listed := changesIn(s, s.Do(listChanges(params).As(reader)))
				assert.GreaterOrEqual(t, len(listed), len(want))
				for _, one := range listed {
					assert.NotEqual(t, hidden, one.ID)
				}
			}
			again := follow(t, s, reader, last.ID, nil)
			for {
				e := again.next()
				require.NotEqual(t, hidden, e.change.ID)
				if e.change.ID == shown {
					break
				}
			}
			assert.Equal(t, http.StatusNotFound, s.Do(getChange(hidden, nil).As(reader)).Status)

			all()
			assert.Equal(t, http.StatusOK, s.Do(getChange(hidden, nil).As(reader)).Status)
			whole := changesIn(s, s.Do(listChanges(after).As(reader)))
			assert.Len(t, whole, 2*(n-1), "the cursor is for all that it lies before")
		})
	}
}

// TestItemsAreShownWithinEveryLimit: an item for a group and an item for a DNS name are shown only if they
// are within the viewer's limits, even to the owner of the job.
func TestItemsAreShownWithinEveryLimit(t *testing.T) {
	s, callers := visibleSystem(t)
	owner := callers.set(identity.KindToken, identity.Limits{}, identity.All)
	const group = `{"operation":"group.update",` +
		`"parameters":{"GroupName":"VPN Users","GroupDescription":"of a group"}}`
	const record = `{"operation":"txt.create",` +
		`"parameters":{"DNS_HostName":"item","Text":"of a name","ZoneName":"corp.example"}}`
	id := submitted(s, submit(jsonLines, group+"\n"+record+"\n").As(owner))
	reached(s, id, "done")
	for name, c := range map[string]struct {
		limits identity.Limits
		shown  []string
	}{
		"no limits":    {identity.Limits{}, []string{"group.update", "txt.create"}},
		"other groups": {otherGroups, []string{"txt.create"}},
		"other names":  {otherNames, []string{"group.update"}},
		"other OUs":    {identity.Limits{OUs: elsewhere.OUs}, []string{"txt.create"}},
		"other zones":  {identity.Limits{Zones: elsewhere.Zones}, []string{"group.update"}},
		"nothing":      {elsewhere, nil},
	} {
		for _, kind := range kinds {
			callers.set(identity.KindToken, identity.Limits{}, identity.All)
			reader := callers.set(kind, c.limits, identity.All)
			var shown []string
			items := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/Jobs/" + id + "/Items"}.As(reader))
			require.Len(t, items.Envelope.Result, 2, "%s", items.Body)
			for _, item := range items.Envelope.Result {
				if item["changeId"] != nil {
					shown = append(shown, item["operation"].(string))
				}
			}
			assert.Equal(t, c.shown, shown, "%s, %s", name, kind)
			result := raw(t, s, reader, "/api/Jobs/"+id+"/Result?Format=ndjson")
			for row, text := range map[string]string{"group.update": "of a group", "txt.create": "of a name"} {
				told := strings.Contains(string(result.Body), text)
				assert.Equal(t, slices.Contains(c.shown, row), told, "%s, %s: %s", name, kind, result.Body)
			}
		}
	}
}
