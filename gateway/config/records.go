package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"adgateway/gateway/attributes"
	"adgateway/gateway/identity"

	"go.yaml.in/yaml/v3"
)

// records is a setting with a list of records with named fields, each declared by its tags:
//
//	field   the name in the file; without one, a struct's own fields belong to the record
//	is      the kind of a text, of [fieldKinds]
//	oneOf   the texts that are allowed, in a list too
//	need    "true" if the field must be given
//	secret  "true" if the value is never shown
type records struct{ words string }

func (v records) allowed() string { return v.words }

func (v records) get(field reflect.Value, masked bool) any {
	all := []any{}
	for i := range field.Len() {
		all = append(all, shownParts(field.Index(i), masked))
	}
	return all
}

func (v records) set(field reflect.Value, node *yaml.Node) error {
	if node.Kind != yaml.SequenceNode {
		return errors.New("takes " + v.words)
	}
	all := reflect.Zero(field.Type())
	var faults []error
	for _, item := range node.Content {
		record := reflect.New(field.Type().Elem()).Elem()
		faults = append(faults, readParts(item, record, v.words)...)
		all = reflect.Append(all, record)
	}
	field.Set(all)
	return errors.Join(faults...) // nil if there are none
}

// part is one named field of a record.
type part struct {
	name  string
	tag   reflect.StructTag
	value reflect.Value
}

// partsOf returns the named fields of a record.
func partsOf(record reflect.Value) []part {
	var parts []part
	for i := range record.NumField() {
		tag := record.Type().Field(i).Tag
		if name, ok := tag.Lookup("field"); ok {
			parts = append(parts, part{name, tag, record.Field(i)})
		} else {
			parts = append(parts, partsOf(record.Field(i))...)
		}
	}
	return parts
}

// shownParts returns a record as written in the file, without empty fields.
func shownParts(record reflect.Value, masked bool) map[string]any {
	shown := map[string]any{}
	for _, part := range partsOf(record) {
		if held := part.get(masked); held != nil {
			shown[part.name] = held
		}
	}
	return shown
}

// get returns the value of a field, or nil if it is empty.
func (p part) get(masked bool) any {
	switch {
	case p.value.Kind() == reflect.Struct:
		if shown := shownParts(p.value, masked); len(shown) > 0 {
			return shown
		}
		return nil
	case p.value.IsZero() || p.value.Kind() == reflect.Slice && p.value.Len() == 0:
		return nil
	case masked && p.tag.Get("secret") == "true":
		return mask
	}
	return reflect.Indirect(p.value).Interface()
}

// readParts parses a mapping strictly and returns all mistakes.
func readParts(node *yaml.Node, record reflect.Value, words string) []error {
	if node.Kind != yaml.MappingNode {
		return []error{placed(node.Line, "takes %s", words)}
	}
	parts := partsOf(record)
	var faults []error
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, val := node.Content[i], node.Content[i+1]
		at := slices.IndexFunc(parts, func(p part) bool { return p.name == key.Value })
		switch {
		case at < 0:
			faults = append(faults, placed(key.Line, "unknown field %q: takes %s", key.Value, words))
		case seen[key.Value]:
			faults = append(faults, placed(key.Line, "%q is given twice", key.Value))
		default:
			for _, err := range split(parts[at].set(val)) {
				faults = append(faults, within(val.Line, key.Value, err))
			}
		}
		seen[key.Value] = true
	}
	for _, part := range parts {
		if part.tag.Get("need") == "true" && !seen[part.name] {
			faults = append(faults, placed(node.Line, "%q is missing", part.name))
		}
	}
	return faults
}

// within adds the name of a record's field to an error, and keeps its line.
func within(line int, name string, err error) error {
	var inner *placedError
	if errors.As(err, &inner) {
		line = inner.line
	}
	return placed(line, "%s: %v", name, err)
}

// set parses the value of a field.
func (p part) set(node *yaml.Node) error {
	switch field := p.value.Addr().Interface().(type) {
	case *string:
		return p.setText(field, node)
	case *[]string:
		return p.setList(field, node)
	case *bool:
		if node.Decode(field) != nil {
			return errors.New("takes true or false")
		}
	case *int:
		n, err := strconv.ParseInt(node.Value, 10, 32)
		if node.Kind != yaml.ScalarNode || err != nil || n < 1 {
			return errors.New("takes a whole number of at least 1")
		}
		*field = int(n)
	case **int: // a limit of a caller, which stays nil if it is not set
		n, err := strconv.Atoi(node.Value)
		if node.Kind != yaml.ScalarNode || err != nil || n < 0 || n > mostPerHour {
			return errors.New("takes a whole number from 0 to 1000000")
		}
		*field = &n
	case *TokenLimits:
		return errors.Join(readParts(node, p.value, "ous, zones, groups and names, each a list")...)
	}
	return nil
}

// mostPerHour is the highest hourly limit of a caller.
const mostPerHour = 1_000_000

func (p part) setText(field *string, node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode || node.Tag == "!!null" || node.Value == "" {
		return errors.New("takes a string")
	}
	if words := p.oneOf(); len(words) > 0 && !slices.Contains(words, node.Value) {
		return errors.New("takes one of " + strings.Join(words, ", "))
	}
	*field = node.Value
	if kind := p.tag.Get("is"); kind != "" {
		return fieldKinds[kind](field)
	}
	return nil
}

// oneOf returns the texts that are allowed, or nil.
func (p part) oneOf() []string {
	words, ok := p.tag.Lookup("oneOf")
	if !ok {
		return nil
	}
	return strings.Split(words, ", ")
}

func (p part) setList(field *[]string, node *yaml.Node) (err error) {
	if *field, err = stringList(node); err != nil {
		return err
	}
	words := p.oneOf()
	if slices.ContainsFunc(*field,
		func(item string) bool { return words != nil && !slices.Contains(words, item) }) {
		return errors.New("takes a list of " + strings.Join(words, " and "))
	}
	return nil
}

// fieldKinds check the texts of a kind. They may normalize them.
var fieldKinds = map[string]func(*string) error{
	"dnsName": func(text *string) error {
		if *text = strings.TrimSuffix(*text, "."); !isName(*text) || !strings.Contains(*text, ".") {
			return errors.New("takes a full DNS name")
		}
		return nil
	},
	"credential": func(text *string) error {
		_, err := identity.ParseReference(*text)
		return err
	},
	"path":        func(*string) error { return nil },
	"rate":        func(text *string) error { return identity.Rate(*text).Check() },
	"webhookName": func(text *string) error { return checkWebhookName(*text) },
	"webhookURL":  func(text *string) error { return checkWebhookURL(*text) },
	"form": func(text *string) error {
		if words := attributes.Forms(); !slices.Contains(words, *text) {
			return fmt.Errorf("takes one of %s", strings.Join(words, ", "))
		}
		return nil
	},
}
