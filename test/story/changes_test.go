package story

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops/opstest"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// change is a change in the form of the history.
type change struct {
	ID, RequestID, Caller, Operation, Effect, Outcome, Undo string
	Objects                                                 []struct {
		GUID              *string
		DistinguishedName string
		Changes           []struct {
			Field, Attribute, Kind, Undo, State string
			Before, After, Now                  any
		}
		Image json.RawMessage
	}
	Undoes   *string
	Plan     *string
	UndoneBy []string
}

// changesIn returns the changes in an answer.
func changesIn(s *systemtest.System, a systemtest.Answer) []change {
	s.T.Helper()
	var answer struct{ Result []change }
	require.NoError(s.T, json.Unmarshal(a.Body, &answer), "%s", a.Body)
	return answer.Result
}

func getChange(id string, params map[string]any) systemtest.Call {
	return systemtest.Call{Method: http.MethodGet, Path: "/api/Changes/" + id, Params: params}
}

func undoChange(id string, params map[string]any) systemtest.Call {
	return systemtest.Call{Method: http.MethodPut, Path: "/api/Changes/" + id + "/Undo", Params: params}
}

func listChanges(params map[string]any) systemtest.Call {
	return systemtest.Call{Method: http.MethodGet, Path: "/api/Changes", Params: params}
}

// notBack contains the differences that remain after an undo. A protection that was lifted for a move is set
// again, so the entries of the access list are in another order. When a protection is lifted, the parent's
// part of the protection remains (facts E38).
var notBack = map[string][]string{
	"ou.move":          {"~ OU=Empty,OU=Corp,DC=corp,DC=example nTSecurityDescriptor"},
	"user.protect":     {"~ OU=Sales,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example nTSecurityDescriptor"},
	"group.protect":    {"~ " + systemtest.SecurityOU + " nTSecurityDescriptor"},
	"computer.protect": {"~ " + systemtest.ServersOU + " nTSecurityDescriptor"},
}

// TestEveryChangeIsRecordedAndUndone: every operation that changes something is in the history. Its undo
// restores the world. If there is no undo, the change states the reason.
func TestEveryChangeIsRecordedAndUndone(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for _, op := range opstest.Changes() {
		t.Run(op.ID, func(t *testing.T) {
			s := s.In(t)
			s.Prepare(op)
			start := s.Snapshot()
			made := s.Do(systemtest.Sample(op))
			require.Less(t, made.Status, 300, "%s", made.Body)
			id := made.Header.Get("X-Change-Id")
			require.NotEmpty(t, id)
			assert.NotEmpty(t, start.Compare(s.Snapshot()))

			found := changesIn(s, s.Do(getChange(id, map[string]any{"Compare": true})))
			require.Len(t, found, 1)
			assert.Equal(t, op.ID, found[0].Operation)
			assert.Equal(t, "done", found[0].Outcome)
			require.NotEmpty(t, found[0].Objects)
			for _, one := range found[0].Objects[0].Changes {
				if one.Kind != "secret" && one.Kind != "server" && one.State != "not_readable" {
					assert.Equal(t, "unchanged", one.State, "%s", one.Field)
				}
			}
			listed := changesIn(s, s.Do(listChanges(map[string]any{"Limit": 1})))
			require.Len(t, listed, 1)
			assert.Equal(t, id, listed[0].ID)
			assert.Equal(t, found[0].Undo, listed[0].Undo)

			undone := s.Do(undoChange(id, nil))
			switch found[0].Undo {
			case "full":
				require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
				assert.Equal(t, notBack[op.ID], start.Compare(s.Snapshot()))
			case "restore":
				require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
				requireBack(t, s, start)
			default:
				assert.Equal(t, 422, undone.Status, "%s", undone.Body)
				s.Undo(op)
			}
		})
	}
}

// TestWhatWasChangedSinceIsNotUndone: an undo refuses values that somebody else has changed since,
// unless it is told to overwrite them.
func TestWhatWasChangedSinceIsNotUndone(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	put := func(params map[string]any) string {
		a := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + systemtest.SampleUser, Params: params})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		return a.Header.Get("X-Change-Id")
	}
	start := s.Snapshot()
	first := put(map[string]any{"Department": "IT", "City": "Rome", "Country": "GR"})
	second := put(map[string]any{"Department": "Research"})
	between := s.Snapshot()

	refused := s.Rejects(undoChange(first, nil), 412, "drifted")
	require.Len(t, refused.Envelope.Error.Details, 1)
	assert.Equal(t, "department", refused.Envelope.Error.Details[0].Field)
	assert.Contains(t, refused.Envelope.Error.Details[0].Message, `expected "IT", found "Research"`)
	assert.Equal(t, "none", refused.Envelope.Error.Outcome)
	assert.Empty(t, between.Compare(s.Snapshot()))
	compared := changesIn(s, s.Do(getChange(first, map[string]any{"Compare": true})))[0]
	states := map[string]string{}
	for _, one := range compared.Objects[0].Changes {
		states[one.Field] = one.State
		if one.Field == "department" {
			assert.Equal(t, "Research", one.Now)
		}
	}
	assert.Equal(t, map[string]string{"department": "drifted", "city": "unchanged", "country": "unchanged", "co": "unchanged", "countryCode": "unchanged"}, states)

	part := s.Do(undoChange(first, map[string]any{"Fields": "city"}))
	require.Equal(t, http.StatusOK, part.Status, "%s", part.Body)
	undoing := changesIn(s, part)[0]
	assert.Equal(t, "user.updateByGuid", undoing.Operation)
	assert.Equal(t, first, *undoing.Undoes)
	assert.Equal(t, undoing.ID, part.Header.Get("X-Change-Id"))
	assert.Equal(t, []string{undoing.ID}, changesIn(s, s.Do(getChange(first, nil)))[0].UndoneBy)
	s.Rejects(undoChange(first, map[string]any{"Fields": "city"}), 409, "plan_used")
	s.Rejects(undoChange(first, map[string]any{"Fields": "title"}), 400, "invalid_request")
	s.Rejects(undoChange(first, nil), 412, "drifted") // for the rest of the change

	rest := s.Do(undoChange(first, map[string]any{"AcceptDrift": "department"}))
	require.Equal(t, http.StatusOK, rest.Status, "%s", rest.Body)
	assert.Empty(t, start.Compare(s.Snapshot()), "everything is as before")
	s.Rejects(undoChange(first, nil), 409, "plan_used")
	s.Rejects(undoChange(second, nil), 412, "drifted") // its value was overwritten

	// The undo of an undo makes the change again, which can then be undone again.
	again := s.Do(undoChange(changesIn(s, rest)[0].ID, nil))
	require.Equal(t, http.StatusOK, again.Status, "%s", again.Body)
	assert.Len(t, start.Compare(s.Snapshot()), 4, "department and country")
}

// TestAnUndoHasTheRightsOfItsCaller: an undo needs the same scopes as the change when it is made directly,
// and is subject to the same limits. It shows nothing outside of these limits.
func TestAnUndoHasTheRightsOfItsCaller(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	change := func(c systemtest.Call) string {
		a := s.Do(c)
		require.Less(t, a.Status, 300, "%s", a.Body)
		return a.Header.Get("X-Change-Id")
	}
	inside := change(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + systemtest.SampleUser, Params: map[string]any{"City": "Rome"}})
	outside := change(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/Administrator", Params: map[string]any{"City": "Rome"}})
	record := change(systemtest.Call{Method: http.MethodPost, Path: "/api/DnsARecord", Params: map[string]any{"DNS_HostName": "undo", "IP_Address": "10.0.1.77", "ZoneName": "corp.example"}})

	s.Rejects(undoChange(inside, nil).As(systemtest.ReadToken), 403, "forbidden")
	s.Rejects(undoChange(outside, nil).As(systemtest.PlainToken), 403, "forbidden") // needs privileged
	s.Rejects(undoChange(outside, nil).As(systemtest.LimitedToken), 404, "not_found")
	s.Rejects(getChange(outside, nil).As(systemtest.LimitedToken), 404, "not_found")
	s.Rejects(getChange(record, nil).As(systemtest.SubZoneToken), 404, "not_found")
	s.Rejects(undoChange(record, nil).As(systemtest.HostToken), 404, "not_found")
	var seen []string
	for _, one := range changesIn(s, s.Do(listChanges(nil).As(systemtest.LimitedToken))) {
		seen = append(seen, one.ID)
	}
	assert.Equal(t, []string{record, inside}, seen)

	assert.Equal(t, http.StatusOK, s.Do(undoChange(inside, nil).As(systemtest.LimitedToken)).Status)
	assert.Equal(t, http.StatusOK, s.Do(undoChange(outside, nil)).Status)
	assert.Equal(t, http.StatusOK, s.Do(undoChange(record, nil).As(systemtest.LimitedToken)).Status)
}

// TestAnUndoHasTwoMethods: a change or a job can be undone with POST, which the OpenAPI document lists, and
// with PUT.
func TestAnUndoHasTwoMethods(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for _, method := range []string{http.MethodPost, http.MethodPut} {
		made := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + systemtest.SampleUser, Params: map[string]any{"City": "Rome"}})
		undo := undoChange(made.Header.Get("X-Change-Id"), nil)
		undo.Method = method
		undone := s.Do(undo)
		assert.Equal(t, http.StatusOK, undone.Status, "%s: %s", method, undone.Body)
		a := s.Do(systemtest.Call{Method: method, Path: "/api/Jobs/jb_019ab3f0-0000-7000-8000-000000000000/Undo"})
		assert.Equal(t, http.StatusNotFound, a.Status, "%s: %s", method, a.Body)
		assert.Contains(t, a.Envelope.Error.Message, "job")
	}
	for _, path := range []string{"/api/Changes/ch_019ab3f0-0000-7000-8000-000000000000/Undo", "/api/ADUser/aschmidt/Group/All"} {
		method := map[bool]string{true: http.MethodPost, false: http.MethodGet}[strings.HasSuffix(path, "/Undo")]
		a := s.Rejects(systemtest.Call{Method: method, Path: path, Params: map[string]any{"ShowFields": "guid"}}, 400, "invalid_request")
		assert.NotContains(t, a.Envelope.Error.Message, "did you mean")
	}
}

// TestADryRunOfAnUndo: a dry run shows the changes of an undo, and changes nothing.
func TestADryRunOfAnUndo(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	made := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + systemtest.SampleUser, Params: map[string]any{"City": "Rome"}})
	id := made.Header.Get("X-Change-Id")
	planned, _ := dryRun(s, undoChange(id, nil))
	assert.Equal(t, []string{"change:undo", "user:write"}, planned.Requires)
	require.Len(t, planned.Objects, 1)
	assert.Equal(t, "Rome", planned.Objects[0].Changes[0].Before)
	assert.Empty(t, changesIn(s, s.Do(getChange(id, nil)))[0].UndoneBy)

	undone := s.Do(undoChange(id, map[string]any{"PlanId": planned.ID}))
	require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
	s.Rejects(undoChange(id, map[string]any{"PlanId": planned.ID}), 409, "plan_used")
	assert.Len(t, changesIn(s, s.Do(listChanges(nil))), 2, "a dry run leaves no record")
}

// TestARemovalIsRecordedInFull: the history contains the complete record of a removed object, regardless of
// the fields that the caller requested.
func TestARemovalIsRecordedInFull(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	removed := s.Do(systemtest.Call{Method: http.MethodDelete, Path: "/api/ADUser/" + systemtest.SampleUser, Params: map[string]any{"ShowFields": "username"}})
	require.Equal(t, http.StatusOK, removed.Status, "%s", removed.Body)
	found := changesIn(s, s.Do(getChange(removed.Header.Get("X-Change-Id"), nil)))[0]
	var image struct {
		Attributes map[string]string
		MemberOf   []struct{ GUID, DN string }
	}
	require.NoError(t, json.Unmarshal(found.Objects[0].Image, &image))
	assert.Equal(t, "Sales", image.Attributes["department"])
	assert.Equal(t, systemtest.SampleUser, image.Attributes["sAMAccountName"])
	assert.NotEmpty(t, image.MemberOf)
	assert.NotContains(t, string(removed.Body), "Sales", "the answer has the fields that were asked for")
	listed := changesIn(s, s.Do(listChanges(nil)))[0]
	assert.Empty(t, listed.Objects[0].Image, "lists have no images")
}

func TestTheListOfChanges(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	var ids []string
	for _, city := range []string{"Rome", "Oslo", "Bern", "Kiev", "Riga"} {
		a := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + systemtest.SampleUser, Params: map[string]any{"City": city}})
		ids = append([]string{a.Header.Get("X-Change-Id")}, ids...)
	}
	unchanged := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + systemtest.SampleUser, Params: map[string]any{"City": "Riga"}})
	assert.Empty(t, unchanged.Header.Get("X-Change-Id"), "nothing was changed")
	disabled := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/karl.alt/Enable"}).Header.Get("X-Change-Id")

	page := func(params map[string]any) (found []string, next string) {
		a := s.Do(listChanges(params))
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		for _, one := range changesIn(s, a) {
			found = append(found, one.ID)
		}
		var answer struct{ Next string }
		require.NoError(t, json.Unmarshal(a.Body, &answer))
		return found, answer.Next
	}
	var all []string
	cursor := ""
	for range 10 {
		params := map[string]any{"Limit": 2, "Object": systemtest.SampleUserGUID}
		if cursor != "" {
			params["After"] = cursor
		}
		found, next := page(params)
		all = append(all, found...)
		if cursor = next; cursor == "" {
			break
		}
	}
	assert.Equal(t, ids, all, "page by page, the newest first")
	for name, c := range map[string]struct {
		params map[string]any
		want   []string
	}{
		"operation":  {map[string]any{"Operation": "user.enable"}, []string{disabled}},
		"resource":   {map[string]any{"Operation": "user", "Limit": 1}, []string{disabled}},
		"object":     {map[string]any{"Object": systemtest.SampleUserDN, "Limit": 1}, ids[:1]},
		"caller":     {map[string]any{"Caller": "nobody"}, nil},
		"outcome":    {map[string]any{"Outcome": "partial"}, nil},
		"undo":       {map[string]any{"Undo": "none"}, nil},
		"since":      {map[string]any{"Since": "2999-01-01T00:00:00Z"}, nil},
		"until":      {map[string]any{"Until": "2000-01-01T00:00:00Z"}, nil},
		"both times": {map[string]any{"Since": "2000-01-01T00:00:00Z", "Until": "2999-01-01T00:00:00Z", "Limit": 1}, []string{disabled}},
	} {
		found, _ := page(c.params)
		assert.Equal(t, c.want, found, name)
	}
	_, next := page(map[string]any{"Limit": 1})
	require.NotEmpty(t, next)
	for name, c := range map[string]systemtest.Call{
		"malformed":     listChanges(map[string]any{"After": "x"}),
		"no time":       listChanges(map[string]any{"Since": "yesterday"}),
		"too many":      listChanges(map[string]any{"Limit": 1001}),
		"no id":         getChange("ch_1", nil),
		"no id to undo": undoChange("ch_1", nil),
		"empty fields":  undoChange(disabled, map[string]any{"Fields": ""}),
	} {
		t.Run(name, func(t *testing.T) { s.In(t).Rejects(c, 400, "invalid_request") })
	}
	altered := []byte(next)
	altered[3] = map[bool]byte{true: 'B', false: 'A'}[altered[3] == 'A']
	for name, c := range map[string]systemtest.Call{
		"altered":           listChanges(map[string]any{"After": string(altered)}),
		"other filters":     listChanges(map[string]any{"After": next, "Object": systemtest.SampleUser}),
		"of another caller": listChanges(map[string]any{"After": next}).As(systemtest.PlainToken),
	} {
		t.Run(name, func(t *testing.T) { s.In(t).Rejects(c, 400, "token_mismatch") })
	}
	for _, id := range ids { // some of these look like the text of a cursor
		s.Rejects(listChanges(map[string]any{"After": id}), 400, "invalid_request")
	}
	s.Rejects(listChanges(map[string]any{"After": "ch_01a206eb-99d2-7a25-ad66-d6f18814f7f0"}), 400, "invalid_request")
	const unknown, ancient = "ch_01f206eb-99d2-7a25-ad66-d6f18814f7f7", "ch_00000000-0000-7000-8000-000000000000"
	s.Rejects(getChange(unknown, nil), 404, "not_found")
	s.Rejects(undoChange(unknown, nil), 404, "not_found")
	s.Rejects(undoChange(ancient, nil), 422, "not_undoable")
	s.Rejects(listChanges(nil).As(systemtest.ReadToken), 403, "forbidden")
}
