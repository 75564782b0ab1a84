package story

import (
	"fmt"
	"maps"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// guarded returns a call with a header.
func guarded(c systemtest.Call, name, value string) systemtest.Call {
	headers := map[string]string{}
	maps.Copy(headers, c.Headers)
	headers[name] = value
	c.Headers = headers
	return c
}

// asking returns a call with additional parameters.
func asking(c systemtest.Call, more map[string]any) systemtest.Call {
	params := maps.Clone(more)
	maps.Copy(params, c.Params)
	c.Params = params
	return c
}

func readUser(name string) systemtest.Call {
	return systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/" + name + "/Details"}
}

// tagOf returns the tag of the object that a call reads.
func tagOf(s *systemtest.System, c systemtest.Call) string {
	s.T.Helper()
	a := s.Do(c)
	require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
	tag := a.Header.Get("ETag")
	require.Regexp(s.T, `^"[a-z][0-9]-[A-Za-z0-9_-]{22}"$`, tag)
	return tag
}

const noTag = `"u1-AAAAAAAAAAAAAAAAAAAAAA"`

// TestEveryOperationHonorsOrRefusesAGuard: no operation ignores a guard header.
func TestEveryOperationHonorsOrRefusesAGuard(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	honored := 0
	for _, op := range opstest.Own() {
		t.Run(op.ID, func(t *testing.T) {
			s := s.In(t)
			s.Prepare(op)
			call := systemtest.Sample(op)
			refused := func(name, value string) {
				t.Helper()
				a := s.Rejects(guarded(call, name, value), http.StatusBadRequest, "not_supported")
				assert.Equal(t, name, a.Envelope.Error.Details[0].Field)
			}
			refused("If-Unmodified-Since", "Sat, 29 Oct 1994 19:43:31 GMT")
			switch {
			case !op.Effect.Writes():
				refused(ops.IfMatch, "*")
				if !op.Tagged() || op.Reply.Mark != ops.Single {
					refused(ops.IfNoneMatch, noTag)
					return
				}
				tag := tagOf(s, call)
				for condition, status := range map[string]int{"*": 304, tag: 304, "W/" + tag: 304,
					noTag + ", " + tag: 304, noTag: 200} {
					a := s.Do(guarded(call, ops.IfNoneMatch, condition))
					assert.Equal(t, status, a.Status, condition)
					assert.Equal(t, tag, a.Header.Get("ETag"))
					assert.Equal(t, status == 304, len(a.Body) == 0)
				}
				return
			case !op.Guard.Matches():
				refused(ops.IfMatch, "*")
				refused(ops.IfMatch, noTag)
			default:
				honored++
				for _, condition := range []string{noTag, noTag + `, "x"`} {
					a := s.Rejects(guarded(call, ops.IfMatch, condition), http.StatusPreconditionFailed,
						"precondition_failed")
					tag := a.Header.Get("ETag")
					assert.Regexp(t, `^"[a-z][0-9]-[A-Za-z0-9_-]{22}"$`, tag)
					assert.Equal(t, "none", a.Envelope.Error.Outcome)
					s.Rejects(guarded(call, ops.IfMatch, "W/"+tag), http.StatusPreconditionFailed, "precondition_failed")
					s.Rejects(guarded(asking(call, map[string]any{"DryRun": true}), ops.IfMatch, noTag),
						http.StatusPreconditionFailed, "precondition_failed")
					assert.Equal(t, http.StatusOK,
						s.Do(guarded(asking(call, map[string]any{"DryRun": true}), ops.IfMatch, tag)).Status)
				}
			}
			if !op.Guard.New {
				refused(ops.IfNoneMatch, "*")
			}
			refused(ops.IfNoneMatch, noTag)
		})
	}
	assert.GreaterOrEqual(t, honored, 30)
}

func TestAMalformedGuardIsRefused(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for _, call := range []systemtest.Call{readUser("aschmidt"),
		update("aschmidt", map[string]any{"City": "Berlin"})} {
		for _, malformed := range []string{"", "x", `"a" "b"`, `*, "a"`, `"a`, `W/x`, `w/"a"`, "*,*"} {
			for _, name := range []string{ops.IfMatch, ops.IfNoneMatch} {
				a := s.Rejects(guarded(call, name, malformed), http.StatusBadRequest, "invalid_request")
				assert.Equal(t, name, a.Envelope.Error.Details[0].Field)
			}
		}
	}
}

// TestATagIsTheSameForAll: a tag does not depend on the caller, the selected fields or the format.
func TestATagIsTheSameForAll(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	tag := tagOf(s, readUser("aschmidt"))
	for _, fields := range []string{"username", "department,city", "lockedOut", "rdsProfilePath", "*"} {
		assert.Equal(t, tag, tagOf(s,
			asking(readUser("aschmidt"), map[string]any{"ShowFields": fields, "WithETag": true})), fields)
	}
	assert.Empty(t, s.Get("/api/ADUser/aschmidt/Details?ShowFields=username").Header.Get("ETag"))
	for _, token := range []string{systemtest.ClassicToken, systemtest.ReadToken} {
		assert.Equal(t, tag, tagOf(s,
			asking(readUser("aschmidt").As(token), map[string]any{"ShowFields": "City", "WithETag": true})))
		assert.Equal(t, tag, tagOf(s, readUser("aschmidt").As(token)))
	}
	guid := s.Record(s.Do(readUser("aschmidt")))["guid"]
	assert.Equal(t, tag, tagOf(s,
		systemtest.Call{Method: http.MethodGet, Path: "/api/ADUserGuid", Params: map[string]any{"UserGuid": guid}}))
	list := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/ListUsers/All",
		Params: map[string]any{"ShowFields": "username", "WithETag": true}})
	found := false
	for _, record := range list.Envelope.Result {
		require.Len(t, record, 2)
		found = found || record["username"] == "aschmidt" && record["etag"] == tag
	}
	assert.True(t, found)
}

// TestOfTwoChangesWithOneTagOneIsMade: of several concurrent changes with the same tag, exactly one is made.
func TestOfTwoChangesWithOneTagOneIsMade(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	const rounds, callers = 10, 6
	for round := range rounds {
		tag := tagOf(s, readUser("aschmidt"))
		onlyOne(t, callers, http.StatusPreconditionFailed, func(i int) systemtest.Answer {
			change := update("aschmidt", map[string]any{"Department": fmt.Sprintf("round %d of caller %d", round, i)})
			return s.Do(guarded(change, ops.IfMatch, tag))
		})
	}
}

// TestChangesOfManyObjectsAtOnce: operations that concern the same objects in different
// orders do not block each other, and each change is made.
func TestChangesOfManyObjectsAtOnce(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	users, groups := []string{"aschmidt", "ahoffmann"}, []string{"VPN%20Users", "Tokyo%20Office"}
	var calls sync.WaitGroup
	for i := range 4 {
		for _, user := range users {
			calls.Go(func() {
				a := s.Do(update(user, map[string]any{"City": fmt.Sprint("city ", i)}))
				assert.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
			})
			for _, group := range groups {
				calls.Go(func() {
					path := "/api/ADUser/" + user + "/Group/" + group
					for _, method := range []string{http.MethodPost, http.MethodDelete} {
						a := s.Do(systemtest.Call{Method: method, Path: path})
						assert.Less(t, a.Status, 300, "%s", a.Body)
					}
				})
			}
		}
	}
	calls.Wait()
	for _, user := range users {
		s.OK(update(user, map[string]any{"City": "Berlin"}), http.StatusOK)
	}
}

func TestGuardsAndKeysThatAreRequired(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "http.requireGuard=[user:write, computer:bulk-delete]",
		"http.requireKey=[group:write]")
	change := update("aschmidt", map[string]any{"City": "Berlin"})
	missing := func(c systemtest.Call, ways ...string) {
		t.Helper()
		a := s.Rejects(c, http.StatusPreconditionRequired, "precondition_required")
		var found []string
		for _, d := range a.Envelope.Error.Details {
			found = append(found, d.Field)
		}
		assert.Equal(t, ways, found)
	}
	missing(change, "PlanId", "If-Match")
	missing(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/new.one"}, "PlanId", "If-None-Match: *")
	missing(systemtest.RemoveComputers("OUPath", systemtest.RetiredOU), "PlanId")
	s.Rejects(update("nobody", nil).As(systemtest.ReadToken), http.StatusForbidden, "forbidden")
	s.OK(guarded(change, ops.IfMatch, tagOf(s, readUser("aschmidt"))), http.StatusOK)
	other := update("aschmidt", map[string]any{"City": "Paris"})
	p, _ := dryRun(s, other)
	s.OK(applying(other, p), http.StatusOK)
	s.OK(guarded(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/new.one"}, ops.IfNoneMatch, "*"),
		http.StatusCreated)

	group := systemtest.Call{Method: http.MethodPost, Path: "/api/ADGroups/New%20Team/Security"}
	a := s.Rejects(group, http.StatusBadRequest, "invalid_request")
	assert.Equal(t, "Idempotency-Key", a.Envelope.Error.Details[0].Field)
	dryRun(s, group)
	s.OK(keyed(group, "key-4711"), http.StatusCreated)
}

// TestIfNoneMatchOfAnExistingObject: If-None-Match makes the gateway refuse the creation of an existing
// object before the directory reports a conflict.
func TestIfNoneMatchOfAnExistingObject(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for _, op := range opstest.Own() {
		if !op.Guard.New {
			continue
		}
		t.Run(op.ID, func(t *testing.T) {
			s := s.In(t)
			s.Prepare(op)
			call := guarded(systemtest.Sample(op), ops.IfNoneMatch, "*")
			if op.Tagged() {
				call = asking(call, map[string]any{"WithETag": true})
			}
			a := s.Do(call)
			require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)
			assert.Equal(t, op.Tagged(), a.Header.Get("ETag") != "")
			made := s.Snapshot()
			a = s.Rejects(call, http.StatusPreconditionFailed, "precondition_failed")
			assert.Equal(t, "none", a.Envelope.Error.Outcome)
			assert.Empty(t, made.Compare(s.Snapshot()))
			s.Undo(op)
		})
	}
}

// TestAnUndoWithATag: an undo with a tag is made only if the object is in the state that the caller knows.
func TestAnUndoWithATag(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	a := s.Do(update("aschmidt", map[string]any{"City": "Berlin", "Office": "B1"}))
	undo := systemtest.Call{Method: http.MethodPut,
		Path: "/api/Changes/" + a.Header.Get("X-Change-Id") + "/Undo"}
	old := tagOf(s, readUser("aschmidt"))
	s.OK(update("aschmidt", map[string]any{"Department": "IT"}), http.StatusOK)
	refused := s.Rejects(guarded(undo, ops.IfMatch, old), http.StatusPreconditionFailed, "precondition_failed")
	now := tagOf(s, readUser("aschmidt"))
	assert.Equal(t, now, refused.Header.Get("ETag"))
	s.OK(guarded(undo, ops.IfMatch, now), http.StatusOK)
	made := s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/aschmidt/Group/VPN%20Users"})
	undo.Path = "/api/Changes/" + made.Header.Get("X-Change-Id") + "/Undo"
	if made.Status == http.StatusCreated {
		s.Rejects(guarded(undo, ops.IfMatch, noTag), http.StatusPreconditionFailed, "precondition_failed")
		s.OK(guarded(undo, ops.IfMatch, "*"), http.StatusOK)
	}
}
