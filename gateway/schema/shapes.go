package schema

import (
	_ "embed" // records.txt
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/attributes"
	"adgateway/gateway/schema/jobstate"
	"adgateway/ps"
	"adgateway/ps/packed"
)

//go:embed records.txt
var recordText string

// shapes are the shapes of all records in records.txt, by name.
var shapes = readShapes(recordText)

// shape returns a shape with a tag and further fields.
func shape(name string, tag Tagging, more ...Field) *Shape {
	s := known(shapes, name)
	s.Tag, s.Fields = &tag, append(s.Fields, more...)
	return s
}

// The shapes of records.
var (
	User = shape("User", Tagging{
		Kind: "u2", Except: []string{"lockedOut", "changePasswordNextLogon", "passwordLastSet", "modified"},
		Beside: []string{"further"}, Further: true,
	}, attributeFields(attributes.Users)...)
	Group      = shape("Group", Tagging{Kind: "g1", Except: []string{"modified"}})
	Membership = shape("Membership", Tagging{Kind: "m1", Only: []string{"guid", "direct", "primary"}})
	OU         = shape("OU", Tagging{Kind: "o1", Except: []string{"modified"}})
	Computer   = shape("Computer", Tagging{
		Kind: "c1", Except: []string{"lastLogon", "passwordLastSet", "modified"},
	})
	ReverseZone = shape("ReverseZone", Tagging{Kind: "z1", Beside: []string{"serial"}, Alone: true})
	DNSZone     = shape("DnsZone", Tagging{
		Kind: "y1", Except: []string{"directoryPartition"}, Beside: []string{"serial"}, Alone: true,
	})
	ConditionalForwarder = shape("ConditionalForwarder", Tagging{
		Kind: "f1", Except: []string{"directoryPartition"},
	})

	UserPhoto      = known(shapes, "UserPhoto")
	ZoneAging      = known(shapes, "ZoneAging")
	ZoneStatistics = known(shapes, "ZoneStatistics")
	Delegation     = known(shapes, "Delegation")
	RecordSet      = known(shapes, "DnsRecordSet")
	RecordGuard    = known(shapes, "RecordGuard")

	GroupMember  = known(shapes, "Member")
	MemberChange = known(shapes, "MemberChange")
	CopiedGroup  = known(shapes, "CopiedGroup")
	Hit          = known(shapes, "Hit")
	GuardState   = known(shapes, "GuardState")
	Existence    = known(shapes, "Existence")

	LastLogon      = known(shapes, "LastLogon")
	LogonState     = known(shapes, "LogonState")
	Lockout        = known(shapes, "Lockout")
	PasswordPolicy = known(shapes, "PasswordPolicy")
	StaleAccount   = known(shapes, "StaleAccount")

	LocalAdmin        = known(shapes, "LocalAdmin")
	LocalAdminSecret  = known(shapes, "LocalAdminSecret")
	RecoveryKey       = known(shapes, "RecoveryKey")
	RecoveryKeySecret = known(shapes, "RecoveryKeySecret")

	BinStatus      = known(shapes, "RecycleBin")
	DeletedObject  = known(shapes, "DeletedObject")
	DeletedDetails = known(shapes, "DeletedDetails")

	Caller  = known(shapes, "Caller")
	Cluster = known(shapes, "Cluster")
	Plan    = known(shapes, "Plan")
	Change  = known(shapes, "Change")
	Job     = known(shapes, "Job")
	JobItem = known(shapes, "JobItem")
)

// RestoredObject is a restored object in its current state, as the record of its class. Its fields describe
// an object of any other class, which was restored together with its parent.
var RestoredObject = func() *Shape {
	s := known(shapes, "RestoredObject")
	s.VariantOf = "restoredAs"
	s.Variants = map[string]*Shape{"user": User, "group": Group, "computer": Computer, "ou": OU}
	return s
}()

// HitTypes are the types of objects that a search finds. MemberTypes are the types of group members, and
// DeletedTypes those of objects that can be restored.
var (
	HitTypes     = []string{"user", "group", "computer"}
	MemberTypes  = []string{"user", "group", "computer", "contact", "serviceAccount", "foreign", "other"}
	DeletedTypes = []string{"user", "group", "computer", "ou"}
)

// ZoneTypes are the types of zones. DynamicUpdates are the kinds of updates that a zone can accept.
var (
	ZoneTypes      = []string{"Primary", "Secondary", "Stub", "Forwarder"}
	DynamicUpdates = []string{"None", "Secure", "NonsecureAndSecure"}
)

// PolicySources are the origins of a password policy.
var PolicySources = []string{"pso", "domain", "unknown"}

// LocalAdminKinds lists the ways in which a local administrator's password is stored: by Windows LAPS, by
// legacy LAPS, or not at all.
var LocalAdminKinds = []string{"windows", "legacy", "none"}

// ShowsMembers reports whether records of the shape describe a group and its members. Changes of such records
// announce the group first.
func ShowsMembers(s *Shape) bool { return s == Membership || s == MemberChange }

// lists are lists of values that code uses, too, by their names in records.txt.
var lists = map[string][]string{
	"HitTypes": HitTypes, "MemberTypes": MemberTypes, "DeletedTypes": DeletedTypes, "ZoneTypes": ZoneTypes,
	"PolicySources": PolicySources, "LocalAdminKinds": LocalAdminKinds, "Undoables": Undoables,
	"jobstate.Modes": jobstate.Modes, "jobstate.Jobs": jobstate.Jobs, "jobstate.Items": jobstate.Items,
	"jobstate.Reasons": jobstate.Reasons, "changeKinds": changeKindNames(), "GroupScope": GroupScope.Doc().Enum,
	"comparisons": {Unchanged, DriftedAway, Gone, NotReadable}, "checkStates": {CheckPassed, CheckFailed, NotChecked},
	"effects": {string(ps.EffectNone), string(ps.EffectCreated), string(ps.EffectChanged), string(ps.EffectRemoved)},
}

// fieldTypes are the types of fields by their names in records.txt.
var fieldTypes = map[string]FieldType{
	"bool": BoolField, "guid": GUIDField, "time": TimeField, "country": CountryField, "texts": TextListField,
	"number": NumberField, "object": ObjectField, "objects": ObjectListField, "value": ValueField,
	"decimal": DecimalField,
}

// readShapes reads a text in the form of records.txt, whose comment describes it. It panics if the text is
// malformed.
func readShapes(text string) map[string]*Shape {
	all := map[string]*Shape{}
	var last *Shape
	for cells := range packed.Rows(text) {
		begins, begun := strings.CutPrefix(cells[0], "= ")
		other, included := strings.CutPrefix(cells[0], "+ ")
		switch {
		case begun:
			last = &Shape{Name: begins}
			all[begins] = last
		case included:
			last.Fields = slices.Clone(known(all, other).Fields)
		default:
			path := strings.Split(cells[0], ".")
			parent := &last.Fields
			for _, name := range path[:len(path)-1] {
				at := slices.IndexFunc(*parent, func(f Field) bool { return f.Name == name })
				parent = &(*parent)[at].Of
			}
			f := Field{Name: path[len(path)-1]}
			if len(cells) > 1 {
				for property := range strings.SplitSeq(cells[1], ";") {
					f.set(strings.TrimSpace(property), all)
				}
			}
			if len(cells) > 2 {
				f.Doc = cells[2]
			}
			*parent = append(*parent, f)
		}
	}
	return all
}

// set sets a property of a field, as records.txt writes it. all are the shapes read so far.
func (f *Field) set(property string, all map[string]*Shape) {
	word, rest, _ := strings.Cut(property, " ")
	kind, isType := fieldTypes[word]
	_, after, _ := strings.Cut(rest, " ")
	switch {
	case isType:
		f.Type = kind
		if rest != "" {
			f.Of = known(all, rest).Fields
		}
	case word == "":
	case word == "null":
		f.Null = true
	case word == "optional":
		f.Optional = true
	case word == "secret":
		f.Secret = true
	case word == "sealed":
		f.Sealed = true
	case word == "attribute":
		f.Attribute = rest
	case word == "input":
		f.Input = rest
	case word == "set":
		f.SetBy = after
	case word == "one":
		f.Enum = strings.Split(after, ", ")
	case word == "among":
		f.Enum = known(lists, rest)
	case word == "packed":
		f.Packed = known(map[string]*Packed{
			userParameters.Member: userParameters, thumbnailPhoto.Member: thumbnailPhoto,
		}, rest)
	case word == "classic":
		f.Classic = &Condition{after, strings.HasPrefix(rest, "with ")}
	case word == "words":
		from, words, _ := strings.Cut(rest, ": ")
		f.Words = &Words{From: from, Word: map[string]string{}}
		for pair := range strings.SplitSeq(words, ", ") {
			value, shown, _ := strings.Cut(pair, "=")
			f.Words.Word[value] = shown
		}
	default:
		panic(fmt.Sprintf("schema: the field %s has the unknown property %q", f.Name, property))
	}
}

// known returns the value that has a name, and panics if none has.
func known[V any](all map[string]V, name string) V {
	value, is := all[name]
	if !is {
		panic(fmt.Sprintf("schema: %q is not known", name))
	}
	return value
}
