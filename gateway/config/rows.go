package config

import (
	"reflect"
	"regexp"
	"strings"
	"sync"
)

// Row describes one setting, as declared by the tags of its field in [Settings]:
//
//	key      in the file: "http.listen"
//	doc      its meaning, one sentence
//	default  as written in the file; if absent, "", [] or false
//	is       the kind of a text, of [textKinds], or of a list, of [listKinds]; "path" if it names files
//	oneOf    the texts that are allowed
//	from to  the bounds of a number or duration
//	unit     "MiB" if a number is a size in MiB
//	zero     "default" if a duration of 0 means the default
//	live     "true" if changes take effect while the gateway runs, because its users read the
//	         current settings each time
type Row struct {
	Key     string
	Default string
	Doc     string

	index []int // of the field
	value value
	live  bool
	zero  bool
	path  bool
}

// Rows returns all settings, in the order of the file. The result is shared and must not be modified.
func Rows() []Row { return rows() }

var rows = sync.OnceValue(func() []Row {
	var all []Row
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Settings]()) {
		if field.Type.Kind() != reflect.Struct {
			continue
		}
		for _, inner := range reflect.VisibleFields(field.Type) {
			if key, ok := inner.Tag.Lookup("key"); ok {
				all = append(all, rowOf(key, inner, append(field.Index, inner.Index...)))
			}
		}
	}
	return all
})

func rowOf(key string, field reflect.StructField, index []int) Row {
	value, empty := valueOf(field)
	tag := field.Tag
	row := Row{Key: key, Default: empty, Doc: tag.Get("doc"), index: index, value: value,
		live: tag.Get("live") == "true", zero: tag.Get("zero") == "default",
		path: tag.Get("is") == "path"}
	if given, ok := tag.Lookup("default"); ok {
		row.Default = given
	}
	return row
}

// in returns the setting's field, which can be set.
func (r Row) in(s *Settings) reflect.Value { return reflect.ValueOf(s).Elem().FieldByIndex(r.index) }

// Live reports whether a change takes effect while the gateway runs.
func (r Row) Live() bool { return r.live }

// Variable returns the environment variable of the setting, such as ADGATEWAY_HTTP_READ_TIMEOUT for
// http.readTimeout.
func (r Row) Variable() string {
	words := wordBorder.ReplaceAllString(r.Key, "${1}_${2}")
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(words, ".", "_"))
}

// Value returns the setting's value as plain data that is encoded in YAML and JSON as in the file,
// with secrets masked.
func (r Row) Value(s *Settings) any { return r.value.get(r.in(s), true) }

// complete replaces a duration of 0 with the default if 0 means the default.
func (r Row) complete(s *Settings) {
	if r.zero && r.in(s).IsZero() {
		_ = r.setText(s, r.Default) // the tests set every default
	}
}

const variablePrefix = "ADGATEWAY_"

// wordBorder matches the start of a new word in a part of a key.
var wordBorder = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// Allowed describes the values that the setting accepts.
func (r Row) Allowed() string { return r.value.allowed() }
