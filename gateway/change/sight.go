package change

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Sight determines which stored data about changes a caller may read now. It may read the data within its
// limits for which it has the reading scope. This applies to changes, plans, answers, items of jobs, and
// lines of the audit.
type Sight struct {
	Bounds
	caller *identity.Principal
}

// SightOf returns the sight of a caller according to its current rights.
func SightOf(caller *identity.Principal) Sight { return Sight{BoundsOf(caller.Limits), caller} }

// Reads reports whether the caller has the scope for reading the objects of a row.
func (s Sight) Reads(op *ops.Operation) bool {
	scope := op.ReadScope()
	return scope == "" || s.caller.Has(scope)
}

// ReadsAll reports whether the caller has every scope.
func (s Sight) ReadsAll() bool { return s.caller.Has(identity.All) }

// See reports whether a change may be shown to the caller, who must be able to read the objects of
// the row. All objects of the change must lie within the caller's limits.
func (s Sight) See(m Made) bool { return s.Reads(m.Op) && s.Include(m) }

// Answered reports whether the answer to an earlier call of the caller may be shown to the caller
// again. The caller must still be allowed to make such a call, or to read the objects of the row.
func (s Sight) Answered(op *ops.Operation) bool {
	return s.Reads(op) || op.Scope == "" || s.caller.Has(op.Scope)
}

// Undoes reports whether the caller may make all calls that undo a change, and so may know about the change.
func (s Sight) Undoes(m Made) bool {
	if m.Op.Undo.Never != "" || !s.Include(m) {
		return false
	}
	calls := m.Op.Undo.Calls(m.Done)
	return len(calls) > 0 && !slices.ContainsFunc(calls, func(c ops.Undoing) bool {
		row := ops.Find(m.table, c.Row)
		return row == nil || !s.caller.Has(row.Scope)
	})
}

// Images reports whether the caller may see images of whole objects in a change. Memberships need
// an additional scope.
func (s Sight) Images(m Made) bool {
	if !s.See(m) || !s.None() {
		return false
	}
	return s.Links() || !slices.ContainsFunc(m.Intent.Objects, func(object ps.Intended) bool {
		image := ops.ImageOf(&object)
		return len(image.MemberOf)+len(image.Members) > 0
	})
}

// Links reports whether the caller may read memberships, wherever their groups and members are.
func (s Sight) Links() bool { return s.None() && s.caller.Has(identity.MemberRead) }

// Free reports whether the caller has no limits for the objects of a lane.
func (b Bounds) Free(lane ps.Lane) bool {
	if lane == ps.DNS {
		return len(b.limits.Zones)+len(b.limits.Names) == 0
	}
	return len(b.limits.OUs)+len(b.limits.Groups) == 0
}

// Unlimited is the [Bounds.Digest] of bounds without limits.
const Unlimited = "-"

// Digest identifies the limits by a short text. Equal limits have equal digests.
func (b Bounds) Digest() string {
	if b.None() {
		return Unlimited
	}
	var parts []string
	for _, names := range [][]string{b.limits.OUs, b.limits.Zones, b.limits.Groups, b.limits.Names} {
		names = slices.Clone(names)
		slices.Sort(names)
		parts = append(append(parts, strconv.Itoa(len(names))), names...)
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// About identifies the objects of a call that is not stored as a change.
type About struct {
	Names []string // distinguished names of objects, or full names in DNS
	Zone  string   // DNS zone; empty if unknown
}

// Hold reports whether all objects of a call are within the limits. known is false if limits apply but the
// objects are unknown.
func (b Bounds) Hold(op *ops.Operation, about About) (within, known bool) {
	switch {
	case b.Free(op.Lane):
		return true, true
	case op.Lane == ps.DNS:
		return b.holdNames(about)
	case len(about.Names) == 0:
		return false, false
	case len(b.limits.Groups) > 0 && mayNameGroups(op):
		if !slices.ContainsFunc(about.Names, b.isGroup) { // limits may also name groups in other ways
			return false, false
		}
	}
	return !slices.ContainsFunc(about.Names, func(dn string) bool { return !b.Within(dn) }), true
}

// mayNameGroups reports whether objects of a row's calls may be groups.
func mayNameGroups(op *ops.Operation) bool {
	shape := op.Reply.Shape
	return shape == schema.Group || schema.ShowsMembers(shape) || shape == schema.CopiedGroup ||
		shape == schema.RestoredObject || shape == schema.OU && op.Effect == ops.Delete
}

// isGroup reports whether a distinguished name is the name of a group to which the caller is limited.
func (b Bounds) isGroup(dn string) bool {
	path, isPath := schema.ParsePath(dn)
	return isPath && slices.ContainsFunc(b.limits.Groups, func(group string) bool {
		wanted, ok := schema.ParsePath(group)
		return ok && slices.Equal(wanted, path)
	})
}

// Call is a call as recorded in the audit.
type Call struct {
	Row   *ops.Operation // nil if no row of the gateway made it, as for a person's sign-in
	Own   bool           // the reader's own call
	About About
}

// SeeCall reports whether a line of the audit may be shown. A caller sees lines about objects that it may
// read now, and lines about its own calls that it may still make. If limits apply, it sees the reasons why
// its own calls were refused, but not the reasons for refusals of other callers.
func (s Sight) SeeCall(c Call) bool {
	if c.Row == nil {
		return c.Own || s.None() && s.caller.Has(identity.UserRead)
	}
	within, known := s.Hold(c.Row, c.About)
	if c.Own {
		return s.Answered(c.Row) && (within || !known)
	}
	return s.Reads(c.Row) && within && known
}

// ShowsGiven reports whether the value that another caller gave for a parameter of a row may be shown,
// given that the objects of the call may be. If limits apply, the name of another object, such as a
// manager, may be shown only if it is a distinguished name within the limits. Whether other names are
// within the limits is unknown.
func (b Bounds) ShowsGiven(op *ops.Operation, name, value string) bool {
	p := op.Param(name)
	if p == nil || p.Path != "" || value == "" || b.Free(op.Lane) || !schema.NamesObjects(p.Kind) {
		return true
	}
	if p.Group && len(b.limits.Groups) > 0 {
		return slices.ContainsFunc(b.limits.Groups, func(group string) bool {
			return strings.EqualFold(group, value)
		})
	}
	_, isPath := schema.NamesPath(p.Kind, value)
	return len(b.limits.OUs) == 0 || isPath && b.Within(value)
}

func (b Bounds) holdNames(about About) (within, known bool) {
	if len(b.limits.Zones) > 0 {
		if about.Zone == "" {
			return false, false
		}
		if !b.inZone(about.Zone) {
			return false, true
		}
	}
	if len(b.limits.Names) == 0 {
		return true, true
	}
	if len(about.Names) == 0 {
		return false, false
	}
	outside := func(name string) bool { return !ops.NameWithin(name, b.limits.Names) }
	return !slices.ContainsFunc(about.Names, outside), true
}

// ScopeMissing is the code of the warning that data was omitted because the caller lacks the scope to read
// it.
const ScopeMissing = "scope_missing"

// Unreadable returns the warning for a change whose caller may not read the objects of the row.
func Unreadable(op *ops.Operation) ps.Warning {
	scope := op.ReadScope()
	return ps.Warning{Code: ScopeMissing, Target: string(scope), Message: fmt.Sprintf(
		"What was read is left out but for the names and the GUID: it needs the scope '%s', which the credential "+
			"does not have.", scope)}
}

// WithheldBefore returns the values of a change without the previous values. It is for a caller that may
// write but not read, and so may only see what it would write.
func WithheldBefore(values []ShownValue) []ShownValue {
	values = slices.Clone(values)
	for i := range values {
		values[i].Before, values[i].Now, values[i].State = null, nil, ""
	}
	return values
}

// Withhold removes the previous values from a plan, see [WithheldBefore].
func (p *Plan) Withhold() {
	p.Objects = slices.Clone(p.Objects)
	for i := range p.Objects {
		p.Objects[i].Changes, p.Objects[i].Image = WithheldBefore(p.Objects[i].Changes), json.RawMessage(nil)
	}
}
