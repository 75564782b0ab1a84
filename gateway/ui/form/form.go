// Package form derives the forms of the console from the operations of the API that make changes.
//
// [Of] returns the form of an operation. Its fields follow from the operation's parameters, and their texts
// from the tables labels.txt and operations.txt. [Form.Read] converts typed values to the values of a call,
// or returns the mistakes in each field.
package form

import (
	"cmp"
	"slices"
	"strings"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// Control is the way in which a field is filled in.
type Control string

// The types of controls.
const (
	Line   Control = "text"
	Lines  Control = "lines"  // one value per line, or a text of several lines
	Tick   Control = "tick"   // yes or no
	Choose Control = "choose" // one of the Choices
	Number Control = "number"
	Day    Control = "day"
	Secret Control = "secret"
	Image  Control = "image"
)

// Pick is the kind of object that a field names, or "" if it does not name one.
type Pick string

// The kinds of objects that fields name.
const (
	Person   Pick = "person"
	Group    Pick = "group"
	Computer Pick = "computer"
	Unit     Pick = "ou"
	Zone     Pick = "zone"
	Holder   Pick = "holder" // a person or a group
	Deleted  Pick = "deleted"
)

// Field is a field of a form.
type Field struct {
	Param       *ops.Param
	Name        string
	Label, Help Words
	Control     Control
	Pick        Pick
	Many        bool // the field has one value per line
	Choices     []Choice
	Required    bool
	Emptied     bool // required, but may be emptied by ticking a box
	Default     string
	Least, Most int64 // limits of a number; both zero if there are none
	Length      int   // maximum number of characters; zero if unlimited
	More        bool  // shown with the fields that few people need
}

// Choice is one of the values of a field.
type Choice struct {
	Value string
	Label Words
}

// Form is the form of an operation.
type Form struct {
	Op     *ops.Operation
	Label  Words // name of the action
	Says   Words // description of the action, with the names of parameters in braces
	Fields []Field
}

// hidden contains the parameters that the console itself sends.
var hidden = []string{ops.DryRun, ops.PlanID, "WithETag", "ShowFields", ops.AcceptDrift}

// picks maps parameters to the kinds of objects that they name.
var picks = map[string]Pick{
	"Username": Person, "UserGuid": Person, "From": Person, "Manager": Person, "ManagedBy": Holder,
	"GroupName": Group, "ParentGroupName": Group, "ChildGroupName": Group, "Members": Holder,
	"ADComputerName": Computer, "OUPath": Unit, "OUDestinationPath": Unit, "ZoneName": Zone, "Guid": Deleted,
}

// persons is the label of parameters that name an existing person.
var persons = Words{"Person", "Person"}

var yesNo = []Choice{{"true", Words{"Yes", "Ja"}}, {"false", Words{"No", "Nein"}}}

// forms maps the ids of operations to their forms.
var forms = func() map[string]*Form {
	all := map[string]*Form{}
	for _, op := range ops.Table() {
		if op.Effect.Writes() && op.Param(ops.PlanID) != nil {
			all[op.ID] = build(op)
		}
	}
	return all
}()

// Of returns the form of the operation with the given id, or nil if the operation has none. The form must not
// be modified.
func Of(id string) *Form { return forms[id] }

// All returns all forms in the order of their operations.
func All() (all []*Form) {
	for _, op := range ops.Table() {
		if f := forms[op.ID]; f != nil {
			all = append(all, f)
		}
	}
	return all
}

// mostAtOnce is the maximum number of fields that a form shows together. Longer forms fold the fields that
// few people need.
const mostAtOnce = 6

func build(op *ops.Operation) *Form {
	words := wordsOf(op)
	f := &Form{Op: op, Label: words.label, Says: words.says}
	for i := range op.Params {
		p := &op.Params[i]
		if !slices.Contains(hidden, p.Name) {
			f.Fields = append(f.Fields, fieldOf(op, p))
		}
	}
	place := func(f Field) int {
		if i := slices.Index(words.order, f.Name); i >= 0 {
			return i
		}
		return len(words.order)
	}
	slices.SortStableFunc(f.Fields, func(a, b Field) int { return cmp.Compare(place(a), place(b)) })
	for i := range f.Fields {
		field := &f.Fields[i]
		rest := place(*field) == len(words.order) && !field.Required
		field.More = rest && len(words.order) > 0 && len(f.Fields) > mostAtOnce
	}
	return f
}

func fieldOf(op *ops.Operation, p *ops.Param) Field {
	doc := p.Kind.Doc()
	label := labels[p.Name]
	f := Field{
		Param: p, Name: p.Name, Label: label.label, Help: label.help, Control: Line, Default: p.Default,
		Required: p.Required, Emptied: p.Required && p.Clears, Length: doc.MaxLength, Pick: pickOf(op, p),
	}
	if (f.Pick == Person || f.Pick == Computer) && p.Required && p.Name != "From" {
		f.Help = Words{}
		if f.Pick == Person {
			f.Label = persons
		}
	}
	optional := !p.Required && p.Default == ""
	switch {
	case p.Kind == schema.Photo:
		f.Control = Image
	case p.Kind.Secret():
		f.Control = Secret
	case p.Kind == schema.Expiry:
		f.Control = Day
	case doc.Type == "boolean" && optional && op.Effect == ops.Update:
		f.Control, f.Choices = Choose, yesNo
	case doc.Type == "boolean":
		f.Control = Tick
	case len(doc.Enum) > 0:
		f.Control = Choose
		for _, word := range doc.Enum {
			f.Choices = append(f.Choices, Choice{word, choiceWords(word)})
		}
	case doc.Type == "integer":
		f.Control, f.Least, f.Most = Number, doc.Min, doc.Max
	case schema.TakesList(p.Kind) || schema.Repeats(p.Kind):
		f.Control, f.Many = Lines, true
	case doc.Lines:
		f.Control = Lines
	}
	return f
}

// pickOf returns the kind of object that a parameter names. The name of a new object does not name an
// existing one.
func pickOf(op *ops.Operation, p *ops.Param) Pick {
	pick := picks[p.Name]
	switch pick {
	case Zone:
		if p.Path != "" && op.Effect.Creates() || op.ID == "lookupZone.create" {
			return ""
		}
		return pick
	case Deleted:
		return pick
	case "":
		return ""
	}
	switch p.Kind {
	case schema.Identity, schema.Reference, schema.DN, schema.GUID, schema.MemberList, schema.WholeMemberList:
		return pick
	}
	return ""
}

// Target returns the field that names the object to change, or nil if the operation creates one.
func (f *Form) Target() *Field {
	for i := range f.Fields {
		field := &f.Fields[i]
		if field.Pick != "" && field.Required && field.Param.Path != "" {
			return field
		}
	}
	for i := range f.Fields {
		if field := &f.Fields[i]; field.Pick != "" && field.Required && !f.Op.Effect.Creates() {
			return field
		}
	}
	return nil
}

// Field returns the field with the given name, or nil if there is none.
func (f *Form) Field(name string) *Field {
	for i := range f.Fields {
		if f.Fields[i].Name == name {
			return &f.Fields[i]
		}
	}
	return nil
}

// Sentences returns the description of the action in each language. It replaces parameters with names.
func (f *Form) Sentences(names map[string]string) (says Words) {
	var pairs []string
	for _, field := range f.Fields {
		pairs = append(pairs, "{"+field.Name+"}", names[field.Name])
	}
	for lang, text := range f.Says {
		says[lang] = strings.NewReplacer(pairs...).Replace(text)
	}
	return says
}
