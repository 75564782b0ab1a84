package history

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adgateway/gateway/change"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// The undo of a creation removes the created object, so the object must still be in the state in which it was
// right after its creation. Earlier versions did not store that state. For their changes, the values that the
// creation wrote are compared instead, and the object must be empty.

// Differences of an object in fields that are not in any record.
const (
	groupsField   = "memberOf"
	membersField  = "member"
	recordsField  = "records"
	childrenField = "children"
	lifeField     = "ttl"
	passwordField = "password"
)

// compareCreated compares an object that is about to be removed with its state right after its
// creation.
func (u *asRecorded) compareCreated(was, now *ps.Intended) {
	if now == nil {
		return
	}
	var created ops.Image
	_ = json.Unmarshal(was.Made, &created) // stays empty if the state is unknown
	known := len(created.Attributes)+len(created.Records) > 0
	image := ops.ImageOf(now)
	if !known {
		for _, c := range change.Announced(was) {
			if value, is := image.Attributes[c.Name]; is && !c.Renewed {
				u.compareMade(was, c.Name, c.After, value)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(image.Attributes)) {
		if value, is := created.Attributes[name]; is {
			u.compareMade(was, name, value, image.Attributes[name])
		}
	}
	u.compareLinks(groupsField, created.MemberOf, image.MemberOf, known)
	u.compareLinks(membersField, created.Members, image.Members, true)
	u.compareRecords(was, created.Records, image.Records)
}

// compareMade compares a value of a created object.
func (u *asRecorded) compareMade(was *ps.Intended, name, created, found string) {
	if sameValue(name, created, found) || name == "scope" && created == strings.ReplaceAll(found, "_", "") {
		return
	}
	if name == change.PasswordStamp {
		u.differs(passwordField, "was set since", nil, nil)
	}
	for _, field := range u.from.Changes(was, ps.IntendedChange{Name: name, Before: found, After: created}) {
		if field.Kind != schema.SetsSecret {
			u.changed(field.Field, field.After, field.Before)
		}
	}
}

// compareLinks compares the groups of an object, or the members of a group.
func (u *asRecorded) compareLinks(field string, created, found []ops.ImageMember, known bool) {
	if !known {
		return
	}
	has := func(list []ops.ImageMember, member ops.ImageMember) bool {
		return slices.ContainsFunc(list, func(other ops.ImageMember) bool {
			return strings.EqualFold(other.GUID, member.GUID)
		})
	}
	const most = 10
	added := 0
	for _, member := range found {
		if has(created, member) {
			continue
		}
		if added++; added <= most {
			u.differs(field, fmt.Sprintf("did not have '%s'", member.DN), nil, schema.JSON(member.DN))
		}
	}
	if added > most {
		u.differs(field, fmt.Sprintf("did not have %d more", added-most), nil, nil)
	}
	for _, member := range created {
		if !has(found, member) {
			u.differs(field, fmt.Sprintf("had '%s'", member.DN), schema.JSON(member.DN), nil)
		}
	}
}

// compareRecords compares DNS records. The SOA and NS records of a zone change with its servers, so they are
// not compared.
func (u *asRecorded) compareRecords(was *ps.Intended, created, found []ops.ImageRecord) {
	isZone := len(was.Changes) > 0 && was.Changes[0].Name == change.Existence
	for _, record := range found {
		at := slices.IndexFunc(created, func(other ops.ImageRecord) bool {
			sameSet := strings.EqualFold(other.FQDN, record.FQDN) && other.Type == record.Type
			return sameSet && other.Data == record.Data
		})
		switch {
		case at < 0 && isZone && record.Type != "SOA" && record.Type != "NS":
			there := fmt.Sprintf("were none: there is %s %s %s", record.Name, record.Type, record.Data)
			u.differs(recordsField, there, nil, nil)
		case at < 0:
		case created[at].TTL != record.TTL:
			u.changed(lifeField, schema.JSON(created[at].TTL), schema.JSON(record.TTL))
		case created[at].Timestamp != record.Timestamp:
			u.changed("timestamp", schema.JSON(created[at].Timestamp), schema.JSON(record.Timestamp))
		}
	}
}

// changed records that a value of a created object has changed.
func (u *asRecorded) changed(field string, expected, found json.RawMessage) {
	message := fmt.Sprintf("is no longer what was created: expected %s, found %s", expected, found)
	u.differs(field, message, expected, found)
}

// differs records a difference in a created object, unless the caller accepts it.
func (u *asRecorded) differs(field, message string, expected, found json.RawMessage) {
	if !u.accepts(field, "") {
		u.drift = append(u.drift, problem.Detail{Field: field, Message: message, Expected: expected, Found: found})
	}
}

// accepts reports whether the caller accepts later changes of a field.
func (u *asRecorded) accepts(field, attribute string) bool {
	return slices.ContainsFunc(u.accept, func(name string) bool {
		return strings.EqualFold(name, field) || strings.EqualFold(name, attribute)
	})
}

// surplus records other objects that the removal would also remove as differences.
func (u *asRecorded) surplus() {
	for _, name := range u.inexact {
		field := name
		if strings.Contains(name, " ") {
			field = recordsField
		}
		u.differs(field, fmt.Sprintf("differs from what was created: '%s'", name), nil, nil)
	}
	u.inexact = nil
}

// refused returns the reason why a creation cannot be undone if its removal was refused because the
// object is now in use, protected or elsewhere. It returns nil if the removal was refused for
// another reason.
func (u *asRecorded) refused(failed *problem.Error) error {
	if !u.created || failed.Outcome == ps.OutcomeDone || failed.Outcome == ps.OutcomePartial {
		return nil
	}
	switch {
	case failed.Code == schema.NotEmpty && u.row.Lane == ps.DNS:
		u.differs(recordsField, failed.Message, nil, nil)
	case failed.Code == schema.NotEmpty:
		u.differs(childrenField, failed.Message, nil, nil)
	case failed.Code == schema.Protected && u.row.Lane == ps.Directory:
		u.differs("protected", failed.Message, nil, nil)
	case failed.Code == schema.NotFound && u.row.Lane == ps.Directory:
		u.compareElsewhere()
	}
	if len(u.drift) == 0 {
		return nil
	}
	return u.refusal(failed.Server)
}

// compareElsewhere looks for a created object under a different name, or in a different place.
func (u *asRecorded) compareElsewhere() {
	states, err := u.now()
	if err != nil || len(states) == 0 || states[0].Gone() || !u.sight.Within(states[0].DN) {
		return
	}
	object := &u.record.Intent.Objects[0]
	var created ops.Image
	_ = json.Unmarshal(object.Made, &created) // stays empty if the state is unknown
	for _, name := range []string{"name", change.Parent} {
		if value, is := created.Attributes[name]; is {
			if now, known := states[0].Value(name); known {
				u.compareMade(object, name, value, now)
			}
		}
	}
}
