package change

import (
	"encoding/json"
	"slices"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Made is a change that was made, or that a dry run plans, together with the row that makes it.
type Made struct {
	ops.Done
	Zone string // DNS zone; empty if there are several, or none

	table []*ops.Operation // the gateway's table
	bin   bool             // whether the removed objects can be restored from the Recycle Bin
}

// MadeBy returns done as a change made by a gateway whose operations are table.
func MadeBy(table []*ops.Operation, done ops.Done, zone string) Made {
	return Made{Done: done, Zone: zone, table: table, bin: restorable(table, done)}
}

// restorable reports whether, according to the announcement, the removed objects are in the Recycle Bin. If
// that is unknown, it returns true.
func restorable(table []*ops.Operation, done ops.Done) bool {
	if !done.Op.Undo.Bin || ops.Find(table, done.Op.Undo.Rows[0]) == nil {
		return false
	}
	return !slices.ContainsFunc(done.Intent.Objects, func(object ps.Intended) bool {
		known := ops.ImageOf(&object).Restorable
		return known != "" && known != "True"
	})
}

// Announcement returns the announcement of the change.
func (m Made) Announcement() Announcement {
	return Announcement{Intent: m.Intent, Shape: m.Op.Reply.Shape, Secret: m.Secret}
}

// ShownObject is an object of a change as shown in answers.
type ShownObject struct {
	GUID              *string         `json:"guid"`
	DistinguishedName string          `json:"distinguishedName"`
	Changes           []ShownValue    `json:"changes"`
	Image             json.RawMessage `json:"image,omitempty"` // previous state; nil if it is not shown
}

// ShownValue is a value of a change as shown in answers.
type ShownValue struct {
	Change
	Undo  schema.Undoable `json:"undo"`
	Now   json.RawMessage `json:"now,omitempty"`   // current value; nil if it was not requested
	State string          `json:"state,omitempty"` // compared with the current value; empty if not requested
}

// Objects returns the changed objects with the values that the bounds show. If whole is set and the
// caller has no bounds, objects that were removed or replaced include their former state.
func (m Made) Objects(bounds Bounds, whole bool) []ShownObject {
	all := []ShownObject{}
	for i := range m.Intent.Objects {
		object := &m.Intent.Objects[i]
		shown := ShownObject{
			DistinguishedName: bounds.nameOf(m.Op.Reply.Shape, object), Changes: m.Values(bounds, object, nil),
		}
		if object.GUID != "" {
			shown.GUID = &object.GUID
		}
		if whole && len(object.Image) > 0 && string(object.Image) != "null" && bounds.None() {
			shown.Image = object.Image
		}
		if len(shown.Changes) > 0 || len(shown.Image) > 0 {
			all = append(all, shown)
		}
	}
	return all
}

// Values returns the changed values of an object as far as the bounds allow. complete adds further
// information to each value, given its announcement c. It may be nil.
func (m Made) Values(
	bounds Bounds, object *ps.Intended, complete func(value *ShownValue, c ps.IntendedChange),
) []ShownValue {
	values := []ShownValue{}
	from := m.Announcement()
	for _, c := range Announced(object) {
		for _, planned := range from.Changes(object, c) {
			bounds.Hide(&planned)
			value := ShownValue{Change: planned, Undo: m.UndoableValue(c, planned)}
			if complete != nil {
				complete(&value, c)
			}
			values = append(values, value)
		}
	}
	return values
}

// UndoableValue returns the extent to which the value announced as c can be undone.
func (m Made) UndoableValue(c ps.IntendedChange, planned Change) schema.Undoable {
	undo := &m.Op.Undo
	switch {
	case m.Intent.Effect == ps.EffectCreated && undo.Never == "":
		return schema.UndoFull
	case planned.Kind == schema.SetsSecret, !undo.CanUndo(m.Done, c):
		return schema.UndoNone
	case undo.Bin && !m.bin:
		return schema.UndoNone
	case undo.Bin:
		return schema.UndoRestore
	}
	return schema.UndoFull
}

// Undoable returns the extent to which a change can be undone, except for the parts that have
// already been undone. undone reports whether the change of any of the given fields was undone or,
// without fields, whether the whole change was. It may be nil if nothing was.
func (m Made) Undoable(undone func(fields ...string) bool) schema.Undoable {
	if undone == nil {
		undone = func(...string) bool { return false }
	}
	switch {
	case m.Op.Undo.Never != "", m.Op.Undo.Bin && (!m.bin || undone()):
		return schema.UndoNone
	case m.Op.Undo.Bin:
		return schema.UndoRestore
	}
	all, can := 0, 0
	from := m.Announcement()
	for i := range m.Intent.Objects {
		object := &m.Intent.Objects[i]
		for _, c := range Announced(object) {
			for _, planned := range from.Changes(object, c) {
				if undone(planned.Field) {
					continue
				}
				all++
				if m.UndoableValue(c, planned) == schema.UndoFull {
					can++
				}
			}
		}
	}
	switch {
	case can == 0, !m.callable():
		return schema.UndoNone
	case can < all || m.Loss(m.Done) != "":
		return schema.UndoPartial
	}
	return schema.UndoFull
}

// Loss describes the data that undoing the change, or a part of it, cannot restore. It returns "" if nothing
// is lost.
func (m Made) Loss(part ops.Done) string {
	if m.Op.Undo.Loss == nil {
		return ""
	}
	return m.Op.Undo.Loss(part)
}

// callable reports whether the calls that undo the change can be made. There must be such calls, the gateway
// must have their rows, and the rows must accept the values. Objects that a dry run would create have no ids
// yet for such calls.
func (m Made) callable() bool {
	if m.Intent.Effect == ps.EffectCreated {
		return true
	}
	calls := m.Op.Undo.Calls(m.Done)
	return len(calls) > 0 && !slices.ContainsFunc(calls, func(c ops.Undoing) bool {
		row := ops.Find(m.table, c.Row)
		if row == nil {
			return true
		}
		_, problems := row.Bind(c.Given)
		return len(problems) > 0
	})
}
