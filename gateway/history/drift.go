package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/change"
	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/settle"
	"adgateway/ps"
)

// asRecorded is the guard of a call that undoes a recorded change. The call must announce the
// reverse of that change.
type asRecorded struct {
	row     *ops.Operation // row of the call
	record  *changes.Record
	call    *ops.Undoing
	created bool                           // whether it is a creation, whose object must be unchanged since
	accept  []string                       // fields that may have changed since
	from    change.Announcement            // the recorded change, in the form for plans
	sight   change.Sight                   // of the caller
	now     func() ([]settle.State, error) // reads the objects of the change; nil if that is impossible

	drift   []problem.Detail // differences since the change
	inexact []string         // fields that the undo would not restore
}

// Announced implements [call.Guard].
func (u *asRecorded) Announced(i *ps.Intent) error {
	if u.call.Blind {
		return nil
	}
	u.compare(i)
	if len(u.drift) > 0 || len(u.inexact) > 0 {
		return u.refusal(i.Server)
	}
	return nil
}

// Unannounced implements [call.Guard]. It is called if all values are already those from before the change.
func (u *asRecorded) Unannounced(result *ps.Result, _ string) error {
	if u.call.Blind {
		return nil
	}
	u.compare(&ps.Intent{})
	return u.refusal(result.Server)
}

// Refused implements [call.Guard]. If the object is missing, it was removed after the change.
func (u *asRecorded) Refused(err error) error {
	failed := problem.Of(err)
	if since := u.refused(failed); since != nil {
		return since
	}
	if failed.Code != schema.NotFound {
		return err
	}
	gone := *failed
	gone.Code, gone.Message = schema.Conflict, "What was changed is gone: "+failed.Message
	return &gone
}

// compare compares an announcement with the recorded change.
func (u *asRecorded) compare(i *ps.Intent) {
	u.drift, u.inexact = nil, nil
	for n := range u.call.Undone {
		was := &u.call.Undone[n]
		now := counterpart(was, i, len(u.call.Undone) == 1)
		for _, c := range was.Changes {
			u.compareValue(was, c, now)
		}
		if u.created && n == 0 {
			u.compareCreated(was, now)
		}
	}
	for n := range i.Objects {
		u.compareSurplus(&i.Objects[n], i)
	}
	if u.created {
		u.surplus()
	}
}

// counterpart returns the announced object for a recorded one, or nil if there is none.
func counterpart(was *ps.Intended, i *ps.Intent, single bool) *ps.Intended {
	for n := range i.Objects {
		now := &i.Objects[n]
		switch {
		case was.GUID != "" && now.GUID != "":
			if strings.EqualFold(was.GUID, now.GUID) {
				return now
			}
		case strings.EqualFold(was.DN, now.DN), single && n == 0 && was.GUID == "":
			return now
		}
	}
	return nil
}

// incidental reports whether the value of a change is not compared, because it stays the same, is chosen by
// the server, or belongs to a record that is created or removed.
func incidental(c ps.IntendedChange) bool {
	comesOrGoes := c.Before == "False" || c.After == "False"
	return c.Before == c.After || c.Renewed || strings.HasPrefix(c.Name, "ttl ") && comesOrGoes
}

// compareValue compares one recorded change with the announcement.
func (u *asRecorded) compareValue(was *ps.Intended, c ps.IntendedChange, now *ps.Intended) {
	created := len(was.Changes) > 0 && was.Changes[0].Name == change.Existence && was.Changes[0].After == "True"
	if incidental(c) || created && c.Name != change.Existence {
		return
	}
	// the undo does not announce the value, so it is already the one from before the change
	found, wanted := c.Before, c.Before
	if now != nil {
		for _, announced := range now.Changes {
			if announced.Name == c.Name {
				found, wanted = announced.Before, announced.After
			}
		}
	}
	if !sameValue(c.Name, found, c.After) {
		u.drifted(was, c, found)
	}
	if !sameValue(c.Name, wanted, c.Before) {
		u.inexact = append(u.inexact, c.Name)
	}
}

// sameValue compares announced values.
func sameValue(name, a, b string) bool {
	if a == b || name == change.Parent && strings.EqualFold(a, b) {
		return true
	}
	if name != "userParameters" {
		return false
	}
	return len(schema.User.Changes(schema.Announced{Attribute: name, Before: a, After: b})) == 0
}

// drifted records that a value differs from the one that the change wrote, unless the caller accepts the
// difference.
func (u *asRecorded) drifted(was *ps.Intended, c ps.IntendedChange, found string) {
	for _, field := range u.from.Changes(was, c) {
		if u.accepts(field.Field, field.Attribute) {
			continue
		}
		other := c
		other.After = found
		now := json.RawMessage("null")
		for _, value := range u.from.Changes(was, other) {
			if value.Field == field.Field {
				now = value.After
			}
		}
		if field.Kind == schema.SetsSecret {
			continue
		}
		message := fmt.Sprintf("is no longer what the change wrote: expected %s, found %s", field.After, now)
		u.drift = append(u.drift, problem.Detail{
			Field: field.Field, Message: message, Expected: field.After, Found: now,
		})
	}
}

// compareSurplus refuses changes of the undo that are missing in the recorded change.
func (u *asRecorded) compareSurplus(now *ps.Intended, i *ps.Intent) {
	for _, c := range now.Changes {
		if incidental(c) {
			continue
		}
		same := func(old ps.IntendedChange) bool { return old.Name == c.Name }
		known := slices.ContainsFunc(u.call.Undone, func(was ps.Intended) bool {
			of := counterpart(&was, i, len(u.call.Undone) == 1)
			return of == now && slices.ContainsFunc(was.Changes, same)
		})
		if !known {
			u.inexact = append(u.inexact, c.Name)
		}
	}
}

// told returns the differences. It omits values that the caller may not read.
func (u *asRecorded) told() []problem.Detail {
	told := slices.Clone(u.drift)
	for i := range told {
		of := &told[i]
		links := of.Field == groupsField || of.Field == membersField
		if !u.sight.Reads(u.row) || links && !u.sight.Links() {
			of.Message, of.Expected, of.Found = "differs from what the change wrote", nil, nil
		}
		if change.NamesObject(of.Field) {
			expected, found := u.sight.Hidden(of.Expected), u.sight.Hidden(of.Found)
			if !bytes.Equal(expected, of.Expected) || !bytes.Equal(found, of.Found) {
				of.Message, of.Expected, of.Found = "differs from what the change wrote", expected, found
			}
		}
	}
	return told
}

// refusal returns the reason why an undo was not made.
func (u *asRecorded) refusal(server string) error {
	failed := problem.New(schema.Drifted,
		"Nothing was undone: what the change '%s' wrote has been changed since; see details.", u.record.ID)
	failed.Details = u.told()
	if len(u.drift) == 0 {
		failed.Code = schema.NotUndoable
		failed.Message = fmt.Sprintf("Nothing was undone: the change '%s' cannot be taken back exactly.",
			u.record.ID)
		for _, name := range u.inexact {
			failed.Details = append(failed.Details,
				problem.Detail{Field: name, Message: "would not become what it was"})
		}
	}
	failed.Server, failed.Outcome = server, ps.OutcomeNone
	return failed
}
