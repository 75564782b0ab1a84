package ops

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adgateway/gateway/attributes"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Undo declares how a row's change is undone: by calls of other rows that restore the announced
// previous state.
type Undo struct {
	Rows  []string          // ids of the rows that undo the change; if empty, Never gives the reason
	Never string            // completes "cannot be undone: "; empty if Rows is not
	Bin   bool              // uses the Recycle Bin
	Loss  func(Done) string // what stays lost; empty or nil if nothing

	// Covers reports whether an announced change can be undone. If nil, all changes can be undone.
	Covers func(d Done, c ps.IntendedChange) bool
	// Calls returns the calls that undo an announced change, in order.
	Calls func(d Done) []Undoing
}

// Done is a change that was made.
type Done struct {
	Op     *Operation
	Texts  map[string]string // accepted parameters of its call, except secrets
	Secret bool              // there was a secret among its parameters
	Intent *ps.Intent        // with the ids of created objects; only the changes to be undone
}

// Undoing is one call that undoes a change, or a part of it.
type Undoing struct {
	Row   string
	Given Given
	// Undone are the changes that the call must announce in reverse, as the original change announced
	// them.
	Undone []ps.Intended
	// Blind reports whether there is nothing to compare with, because the object to create was removed
	// together with another one.
	Blind bool
}

// object returns the first object of the change.
func (d Done) object() *ps.Intended { return &d.Intent.Objects[0] }

// all returns a single call that undoes the whole change.
func (d Done) all(row string, given Given) []Undoing {
	return []Undoing{{Row: row, Given: given, Undone: d.Intent.Objects}}
}

// CanUndo reports whether the undo of a row covers an announced change.
func (u *Undo) CanUndo(d Done, c ps.IntendedChange) bool {
	return u.Never == "" && (u.Covers == nil || u.Covers(d, c))
}

// undoable declares the undo of changing rows that do not declare it themselves.
func undoable(table []*Operation) []*Operation {
	for _, op := range table {
		if op.Effect.Writes() && op.Undo.Never == "" && op.Undo.Calls == nil {
			op.Undo = undoOf(op)
		}
	}
	return table
}

// undoOf returns the undo that follows from a row's resource.
func undoOf(op *Operation) Undo {
	resource, verb, _ := strings.Cut(op.ID, ".")
	for _, t := range schema.RecordTypes {
		if t.Resource == resource && t.Resource != "" {
			return undoOfRecord(t, verb)
		}
	}
	if op.Protocol != nil {
		return Undo{Never: "its client removes what it no longer needs"}
	}
	if op.Local {
		return Undo{Never: "it makes the changes of other operations, which can be undone"}
	}
	return Undo{}
}

// madeOU is the undo of a new OU. It removes the OU, even if the OU is protected.
var madeOU = called("ou.delete", func(d Done) Given {
	return Given{ouPath.Name: d.object().DN, "Force": fmt.Sprint(d.after("protected") == "True")}
})

// movedOU is the undo of a move of an OU, which calls the same row.
var movedOU = called("ou.move", func(d Done) Given {
	dn, from := d.object().DN, d.before("parent")
	rdn := strings.TrimSuffix(dn[:len(dn)-min(len(from), len(dn))], ",")
	return Given{ouPath.Name: rdn + "," + d.after("parent"), "OUDestinationPath": from}
})

// renamedOU is the undo of a rename of an OU, which calls the same row.
var renamedOU = called("ou.rename", func(d Done) Given {
	dn := d.object().DN
	above := strings.TrimPrefix(dn, "OU="+schema.EscapeRDN(d.before("name")))
	return Given{
		ouPath.Name: "OU=" + schema.EscapeRDN(d.after("name")) + above,
		"OUNewName": schema.Back(schema.OUName, d.before("name")),
	}
})

// updatedGroup is the undo of an update of a group, which calls the same row with the previous values.
var updatedGroup = Undo{
	Rows:   []string{"group.update"},
	Covers: func(d Done, c ps.IntendedChange) bool { return !c.Renewed && len(groupInputsFor(d.Op, c)) > 0 },
	Calls: func(d Done) []Undoing {
		given := Given{existingGroup.Name: d.object().GUID}
		for _, c := range d.object().Changes {
			maps.Copy(given, groupInputsFor(d.Op, c))
		}
		return d.all("group.update", given)
	},
}

// movedComputer is the undo of a move of a computer, which calls the same row.
var movedComputer = called("computer.move", func(d Done) Given {
	return Given{computerName: d.object().GUID, "OUPath": d.before("parent")}
})

// before and after return a value of the first object before and after the announced change.
func (d Done) before(name string) string { before, _ := d.values(name); return before }
func (d Done) after(name string) string  { _, after := d.values(name); return after }

func (d Done) values(name string) (before, after string) {
	for _, c := range d.object().Changes {
		if c.Name == name {
			return c.Before, c.After
		}
	}
	return "", ""
}

// called returns an undo that is a single call of a row.
func called(row string, given func(Done) Given) Undo {
	return Undo{Rows: []string{row}, Calls: func(d Done) []Undoing { return d.all(row, given(d)) }}
}

// removed returns the undo of a create: the removal of the object with the same GUID.
func removed(row, param string) Undo {
	return called(row, func(d Done) Given { return Given{param: d.object().GUID} })
}

// commonName is the parameter that gives an account its common name.
const commonName = "Name"

// renamed returns the undo of a rename, which calls the same row. attribute is the name under which the
// change is announced.
func renamed(row, param, newName, attribute string) Undo {
	return called(row, func(d Done) Given {
		given := Given{param: d.object().GUID, newName: d.before(attribute)}
		if p := d.Op.Param(newName); p != nil {
			given[newName] = schema.Back(p.Kind, d.before(attribute))
		}
		if p := d.Op.Param(commonName); p != nil && d.before("name") != "" {
			given[commonName] = schema.Back(p.Kind, d.before("name"))
		}
		return given
	})
}

// protectedBack returns the undo of setting or lifting a protection, which calls the same row.
func protectedBack(row, param string) Undo {
	return called(row, func(d Done) Given {
		return Given{param: d.object().GUID, protectionName: strings.ToLower(d.before("protected"))}
	})
}

// primaryBack returns the undo of setting a primary group, which calls the same row. The domain comes from
// the SID of the account.
func primaryBack(row, param string) Undo {
	return called(row, func(d Done) Given {
		sid := ""
		for _, name := range d.object().Names {
			if end := strings.LastIndex(name, "-"); strings.HasPrefix(name, "S-1-5-21-") {
				sid = name[:end+1] + d.before("primaryGroupID")
			}
		}
		return Given{param: d.object().GUID, "GroupName": sid}
	})
}

// photoBack is the undo of a change of a photo. It restores the previous photo byte for byte, or removes the
// new one if there was none.
var photoBack = Undo{
	Rows: []string{"user.setPhoto", "user.removePhoto"},
	Calls: func(d Done) []Undoing {
		before, given := d.before(attributes.Photo.LDAP), Given{usernameName: d.object().GUID}
		if before == "" {
			return d.all("user.removePhoto", given)
		}
		given[photoParam] = schema.StoredPhoto(before)
		return d.all("user.setPhoto", given)
	},
}

// MemberOf returns the second object of an announcement, which is the member of the group that is announced
// first. It is zero if there is no second object, as in a damaged record.
func MemberOf(i *ps.Intent) ps.Intended {
	if len(i.Objects) < 2 {
		return ps.Intended{}
	}
	return i.Objects[1]
}

// member returns the undo of a membership change. The group is announced first.
func member(row, memberParam, groupParam string) Undo {
	return called(row, func(d Done) Given {
		return Given{memberParam: MemberOf(d.Intent).GUID, groupParam: d.object().GUID}
	})
}

// restored returns the undo of an update. It sets the previous values, by a row whose inputs are
// the fields of the record.
func restored(row string, target func(Done) Given) Undo {
	return Undo{
		Rows:   []string{row},
		Covers: func(d Done, c ps.IntendedChange) bool { return !c.Renewed && len(inputsFor(d.Op, c)) > 0 },
		Calls: func(d Done) []Undoing {
			given := target(d)
			for _, c := range d.object().Changes {
				for name, value := range inputsFor(d.Op, c) {
					given[name] = value
				}
			}
			return d.all(row, given)
		},
	}
}

// inputsFor returns the inputs of a row that restore the previous value of an announced change.
func inputsFor(op *Operation, c ps.IntendedChange) Given {
	given := Given{}
	for _, change := range op.Reply.Shape.Changes(schema.Announced{Attribute: c.Name, Before: c.Before,
		After: c.After}) {
		if p := op.inputOf(change.Field); p != nil {
			given[p.Name] = wire(change.Before)
			if text, is := given[p.Name].(string); is {
				given[p.Name] = schema.Back(p.Kind, text)
			}
		}
	}
	return given
}

// inputOf returns the parameter that sets a field, or nil if there is none.
func (op *Operation) inputOf(field string) *Param {
	for i := range op.Reply.Shape.Fields {
		f := &op.Reply.Shape.Fields[i]
		if f.Name != field {
			continue
		}
		if f.Input != "" {
			return op.Param(f.Input)
		}
		return op.Param(f.Name)
	}
	return nil
}

// wire converts a value of a record to the form of a request.
func wire(value json.RawMessage) any {
	var decoded any
	if json.Unmarshal(value, &decoded) != nil || decoded == nil {
		return ""
	}
	switch v := decoded.(type) {
	case []any:
		var texts []string
		for _, item := range v {
			texts = append(texts, fmt.Sprint(item))
		}
		if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, ",") }) {
			return schema.TextsOf(texts)
		}
		return schema.ListOf(texts)
	case string:
		return v
	default:
		return string(value)
	}
}

// undoOfUser restores the previous values. It restores the requirement to change the password, but not the
// time when the password was last set.
var undoOfUser = func() Undo {
	byInputs := restored("user.updateByGuid", func(d Done) Given { return Given{"UserGuid": d.object().GUID} })
	country := func(d Done, c ps.IntendedChange) bool {
		return (c.Name == "co" || c.Name == "countryCode") &&
			slices.ContainsFunc(d.object().Changes, func(other ps.IntendedChange) bool { return other.Name == "c" })
	}
	undo := byInputs
	undo.Covers = func(d Done, c ps.IntendedChange) bool {
		if c.Name == passwordStamp {
			return c.Before == "0" && !d.Secret
		}
		return country(d, c) || byInputs.Covers(d, c)
	}
	undo.Calls = func(d Done) []Undoing {
		calls := byInputs.Calls(d)
		for _, c := range d.object().Changes {
			if c.Name == passwordStamp {
				calls[0].Given["ChangePasswordNextLogon"] = "true"
			}
		}
		return calls
	}
	return undo
}()

// passwordStamp is an attribute that changes with the password. 0 means that the user
// must change the password at the next logon.
const passwordStamp = "pwdLastSet"

// The row of the Recycle Bin, and its parameters.
const (
	binRow       = "bin.restore"
	binGUID      = "Guid"
	binRecursive = "Recursive"
	binDisabled  = "Disabled"
)

// fromBin is the undo of a removal. It restores each object with a separate record from the Recycle Bin,
// together with the objects below it.
var fromBin = Undo{Rows: []string{binRow}, Bin: true, Calls: func(d Done) []Undoing {
	var calls []Undoing
	for _, object := range d.Intent.Objects {
		if len(object.Record) == 0 || string(object.Record) == "null" {
			continue
		}
		given := Given{binGUID: object.GUID, binDisabled: "false"}
		if len(d.Intent.Objects) > 1 {
			given[binRecursive] = "true"
		}
		calls = append(calls, Undoing{Row: binRow, Given: given, Blind: true})
	}
	return calls
}}

// undos checks that every changing row declares either how it is undone, or why it cannot be undone.
func (c *checker) undos(table []*Operation) {
	rows := map[string]*Operation{}
	for _, op := range table {
		rows[op.ID] = op
	}
	for _, op := range table {
		fault := func(format string, args ...any) { c.fault("operation "+op.ID+": "+format, args...) }
		undo := &op.Undo
		switch {
		case !op.Effect.Writes():
			if len(undo.Rows) > 0 || undo.Never != "" {
				fault("only reads, but declares an undo")
			}
		case undo.Never == "" && (len(undo.Rows) == 0 || undo.Calls == nil):
			fault("changes something, but does not declare how it is undone, or why not")
		case undo.Never != "" && len(undo.Rows) > 0:
			fault("declares both how it is undone and why not")
		}
		for _, id := range undo.Rows {
			if row := rows[id]; row == nil && !undo.Bin || row != nil && !row.Effect.Writes() {
				fault("is undone by %s, which is no row that changes something", id)
			}
		}
	}
}
