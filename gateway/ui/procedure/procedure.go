// Package procedure contains the procedures of the console. A procedure is a sequence of changes that belong
// together, such as all changes that are needed when a person leaves. Each step is a call of an operation.
// Names in braces are blanks, for whose values a form asks.
//
// A step is written as its operation and its parameters:
//
//	user.update Username={Username}; Description={Note?}
//
// A blank with a question mark may be left empty. The parameter is then omitted. The step is skipped if it
// requires the parameter or would change nothing without it.
package procedure

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"adgateway/gateway/nearest"
	"adgateway/gateway/ops"
	"adgateway/gateway/ui/form"
)

// Procedure is a procedure. It must not be modified.
type Procedure struct {
	Name   string // in its address
	Title  form.Words
	Steps  []Step
	Fields []form.Field // one for each blank, in the order of their first use
}

// Step is a step of a procedure.
type Step struct {
	Form   *form.Form // form of its operation
	Values []Value
}

// Value is the value of a parameter. It may contain blanks.
type Value struct {
	Param, Text string
}

// Every is the value of a parameter that stands for each group of a person.
const Every = "*"

var (
	blanks = regexp.MustCompile(`\{([^{}?]+)(\??)\}`)
	names  = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
)

// mostSteps limits the steps of a procedure.
const mostSteps = 20

// New returns a procedure, or an error that describes the mistake. The title is in English and optionally in
// German.
func New(name string, title, steps []string) (*Procedure, error) {
	p := &Procedure{Name: name}
	switch {
	case !names.MatchString(name):
		return nil, fmt.Errorf("the name %q is not allowed: it takes small letters, digits and hyphens", name)
	case len(title) == 0 || len(title) > 2 || slices.Contains(title, ""):
		return nil, fmt.Errorf("the procedure %s needs a title: one text, or two, in English and German", name)
	case len(steps) > mostSteps:
		return nil, fmt.Errorf("the procedure %s has more than %d steps", name, mostSteps)
	}
	p.Title = form.Words{title[0], title[len(title)-1]}
	optional := map[string]bool{}
	for i, text := range steps {
		step, err := stepOf(text)
		if err != nil {
			return nil, fmt.Errorf("step %d of the procedure %s: %w", i+1, name, err)
		}
		p.Steps = append(p.Steps, *step)
		for _, v := range step.Values {
			for _, m := range blanks.FindAllStringSubmatch(v.Text, -1) {
				if _, known := optional[m[1]]; !known {
					optional[m[1]] = true
				}
				optional[m[1]] = optional[m[1]] && m[2] == "?"
			}
		}
	}
	for blank := range p.used() {
		field := p.fieldOf(blank)
		field.Required = !optional[blank]
		p.Fields = append(p.Fields, field)
	}
	return p, nil
}

// stepOf parses a step.
func stepOf(text string) (*Step, error) {
	operation, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	f := form.Of(operation)
	if f == nil || !f.Op.Listable() {
		message := fmt.Sprintf("%q is no operation that a list may have", operation)
		if near := nearest.Of(operation, listable()); near != "" {
			message += ": did you mean " + near + "?"
		}
		return nil, fmt.Errorf("%s", message)
	}
	s := &Step{Form: f}
	for part := range strings.SplitSeq(rest, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		param, value, has := strings.Cut(part, "=")
		param, value = strings.TrimSpace(param), strings.TrimSpace(value)
		field := f.Field(param)
		switch {
		case !has:
			return nil, fmt.Errorf("%q is no parameter with a value: write Name=value, and ; between them", part)
		case field == nil:
			return nil, fmt.Errorf("%s has no parameter %q", operation, param)
		case strings.ContainsAny(blanks.ReplaceAllString(value, ""), "{}"):
			return nil, fmt.Errorf(
				"the value of %s has a brace that is not of a blank, such as {Name} or {Name?}", param,
			)
		case slices.ContainsFunc(s.Values, func(v Value) bool { return v.Param == field.Name }):
			return nil, fmt.Errorf("%s is given twice", param)
		case value == Every && (operation != "membership.remove" || param != "GroupName"):
			return nil, fmt.Errorf("%s is only for GroupName of membership.remove", Every)
		}
		s.Values = append(s.Values, Value{field.Name, value})
	}
	for i := range f.Fields {
		field := &f.Fields[i]
		given := slices.ContainsFunc(s.Values, func(v Value) bool { return v.Param == field.Name })
		if field.Required && field.Default == "" && !given {
			return nil, fmt.Errorf("%s needs the parameter %s", operation, field.Name)
		}
	}
	return s, nil
}

func listable() (all []string) {
	for _, op := range ops.Table() {
		if op.Listable() {
			all = append(all, op.ID)
		}
	}
	return all
}

// used yields the blanks in the order of their first use. Its iteration ends early if yield returns false.
func (p *Procedure) used() func(func(string) bool) {
	return func(yield func(string) bool) {
		seen := map[string]bool{}
		for _, s := range p.Steps {
			for _, v := range s.Values {
				for _, m := range blanks.FindAllStringSubmatch(v.Text, -1) {
					if !seen[m[1]] && !yield(m[1]) {
						return
					}
					seen[m[1]] = true
				}
			}
		}
	}
}

// fieldOf returns the field of a blank, which is the field of the first parameter whose whole value is the
// blank. If the blank and the parameter have different names, the label is the name of the blank.
func (p *Procedure) fieldOf(blank string) form.Field {
	for _, s := range p.Steps {
		for _, v := range s.Values {
			m := blanks.FindStringSubmatch(v.Text)
			if m == nil || m[0] != v.Text || m[1] != blank {
				continue
			}
			field := *s.Form.Field(v.Param)
			if field.Name = blank; blank != v.Param {
				field.Label, field.Help = form.Words{blank, blank}, form.Words{}
			}
			field.Emptied, field.More = false, false
			return field
		}
	}
	return form.Field{Name: blank, Label: form.Words{blank, blank}, Control: form.Line, Length: 256}
}

// Field returns the field of a blank, or nil if there is none.
func (p *Procedure) Field(blank string) *form.Field {
	for i := range p.Fields {
		if p.Fields[i].Name == blank {
			return &p.Fields[i]
		}
	}
	return nil
}

// Filled returns the parameters of a step with the typed values in place of the blanks. It also reports
// whether the step must be done.
func (s *Step) Filled(typed map[string]string) (values map[string]string, does bool) {
	values = map[string]string{}
	target := s.Form.Target()
	skips, more := false, false
	for _, v := range s.Values {
		empty := false
		text := blanks.ReplaceAllStringFunc(v.Text, func(blank string) string {
			m := blanks.FindStringSubmatch(blank)
			empty = empty || m[2] == "?" && typed[m[1]] == ""
			return typed[m[1]]
		})
		if empty {
			skips = true
			if s.Form.Field(v.Param).Required {
				return nil, false
			}
			continue
		}
		values[v.Param] = text
		more = more || target == nil || v.Param != target.Name
	}
	return values, more || !skips
}

// EachGroup reports whether the step must be repeated for each group of a person. The result does not depend
// on the typed values.
func (s *Step) EachGroup() bool {
	return slices.ContainsFunc(s.Values, func(v Value) bool { return v.Text == Every })
}

// Blanks returns the blanks in the value of a parameter of the step.
func (s *Step) Blanks(param string) (all []string) {
	for _, v := range s.Values {
		for _, m := range blanks.FindAllStringSubmatch(v.Text, -1) {
			if v.Param == param {
				all = append(all, m[1])
			}
		}
	}
	return all
}
