package config

import (
	"errors"
	"fmt"
	"math"
	"net"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // for machines without a time zone database, such as Windows machines
	"unicode"

	"go.yaml.in/yaml/v3"
)

// placedError is an error at a line within a value.
type placedError struct {
	line int
	text string
}

func (e *placedError) Error() string { return e.text }

func placed(line int, format string, args ...any) error {
	return &placedError{line, fmt.Sprintf(format, args...)}
}

// value parses and formats the values of a setting, which is stored in a field. The errors of set name the
// place within the value where that helps. The caller adds the key and the line.
type value interface {
	set(field reflect.Value, node *yaml.Node) error
	allowed() string
	// get returns the value as plain data that is encoded in YAML and JSON as in the file. masked
	// hides its secrets.
	get(field reflect.Value, masked bool) any
}

// valueOf returns how the setting of a field is read, and its default if the tags have none.
func valueOf(field reflect.StructField) (v value, empty string) {
	tag := field.Tag
	switch reflect.Zero(field.Type).Interface().(type) {
	case bool:
		return boolean, "false"
	case int:
		return number(tag), ""
	case *int:
		return numberOrNone(tag), ""
	case int64:
		return size, ""
	case time.Duration:
		return duration(tag), ""
	case string:
		return textOf(tag), `""`
	case []string:
		return listKinds[tag.Get("is")], "[]"
	}
	return records{tag.Get("takes")}, "[]"
}

// mask is shown in place of a secret.
const mask = "********"

// setText parses a value as written in the file.
func (r Row) setText(s *Settings, text string) error {
	if strings.TrimSpace(text) == "" {
		return r.value.set(r.in(s), &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str"})
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil || len(document.Content) != 1 {
		return errors.New("not valid YAML. It takes " + r.Allowed()) // the text may contain a secret
	}
	return r.value.set(r.in(s), document.Content[0])
}

// scalar is a setting with a single value.
type scalar[T any] struct {
	words string
	parse func(string) (T, error)
}

func (v scalar[T]) allowed() string { return v.words }

func (v scalar[T]) get(field reflect.Value, _ bool) any {
	if d, ok := field.Interface().(time.Duration); ok {
		return shortText(d)
	}
	return field.Interface()
}

func (v scalar[T]) set(field reflect.Value, node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
		return errors.New("takes " + v.words)
	}
	if node.Style == yaml.DoubleQuotedStyle && strings.ContainsFunc(node.Value, unicode.IsControl) {
		return errors.New(`contains a control character: in double quotes, YAML reads \t as a tab and \n as a line break. ` +
			"Write Windows paths in single quotes")
	}
	parsed, err := v.parse(node.Value)
	if err != nil {
		var hint advice
		errors.As(err, &hint) // stays empty if there is none
		return fmt.Errorf("%q is not allowed here: it takes %s%s", node.Value, v.words, hint)
	}
	field.Set(reflect.ValueOf(parsed))
	return nil
}

var errNotAllowed = errors.New("not allowed")

// advice is errNotAllowed for a common mistake. It ends the message, and begins with a full stop.
type advice string

// Error implements error.
func (a advice) Error() string { return string(a) }

// textOf returns a setting that is a text.
func textOf(tag reflect.StructTag) value {
	if oneOf := tag.Get("oneOf"); oneOf != "" {
		words := strings.Split(oneOf, ", ")
		return checked("one of "+oneOf, func(t string) bool { return slices.Contains(words, t) })
	}
	return textKinds[tag.Get("is")]
}

// checked returns a text that must pass a check.
func checked(words string, fits func(string) bool) scalar[string] {
	return scalar[string]{words, func(t string) (string, error) {
		if !fits(t) {
			return "", errNotAllowed
		}
		return t, nil
	}}
}

// textKinds are the kinds of texts. The zone database is part of the program, because Windows has none.
var textKinds = map[string]value{
	"":         checked("a string", func(string) bool { return true }),
	"path":     checked("a string", func(string) bool { return true }),
	"address":  checked("HOST:PORT, such as 127.0.0.1:8080", isListenAddress),
	"host":     checked("the name of one host, such as dc1.corp.example", func(t string) bool { return t == "" || isHost(t) }),
	"timeZone": checked("the name of a time zone, such as Europe/Berlin", isTimeZone),
	"rate": optional[string]{checked("requests per second, minute or hour, such as 10/s, 600/m or 5000/h, or none",
		ratePattern.MatchString)},
}

func isTimeZone(t string) bool {
	_, err := time.LoadLocation(t)
	return err == nil && t != "" && t != "Local"
}

func isListenAddress(t string) bool {
	_, port, err := net.SplitHostPort(t)
	if err != nil {
		return false
	}
	n, err := strconv.Atoi(port)
	return err == nil && n >= 0 && n <= 65535
}

var boolean = scalar[bool]{"true or false", func(t string) (bool, error) {
	if t != "true" && t != "false" {
		return false, errNotAllowed
	}
	return t == "true", nil
}}

func number(tag reflect.StructTag) scalar[int] {
	from, to := bound(tag, "from"), bound(tag, "to")
	return scalar[int]{fmt.Sprintf("a whole number from %d to %d", from, to), func(t string) (int, error) {
		n, err := strconv.Atoi(t)
		switch {
		case err == nil && n >= from && n <= to:
			return n, nil
		case tag.Get("unit") != "MiB":
			return 0, errNotAllowed
		}
		if n = mebibytes(t); n < max(from, 1) || n > to {
			return 0, advice(". The unit is MiB")
		}
		return 0, advice(fmt.Sprintf(". The unit is MiB: write %d", n))
	}}
}

// bound returns a bound of a number, which the tests read for every setting.
func bound(tag reflect.StructTag, name string) int {
	n, err := strconv.Atoi(tag.Get(name))
	if err != nil {
		panic(fmt.Sprintf("config: %s of %s: %v", name, tag.Get("key"), err)) // a defect of the tags
	}
	return n
}

// none is the value that means no limit.
const none = "none"

// optional is a scalar that may be "none", which sets its field to the zero value.
type optional[T any] struct{ scalar[T] }

func (v optional[T]) get(field reflect.Value, masked bool) any {
	if field.IsZero() {
		return none
	}
	return v.scalar.get(reflect.Indirect(field), masked)
}

func (v optional[T]) set(field reflect.Value, node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode && node.Value == none {
		field.SetZero()
		return nil
	}
	return v.scalar.set(field, node)
}

func numberOrNone(tag reflect.StructTag) value {
	n := number(tag)
	return optional[*int]{scalar[*int]{n.words + ", or none", func(t string) (*int, error) {
		parsed, err := n.parse(t)
		return &parsed, err
	}}}
}

var ratePattern = regexp.MustCompile(`^[1-9][0-9]{0,5}/[smh]$`)

// unitPattern matches a number of days, which is not a supported unit, or a number without a unit.
var unitPattern = regexp.MustCompile(`^([1-9][0-9]{0,5})(d?)$`)

// duration returns a setting that is a duration, with bounds if there are any.
func duration(tag reflect.StructTag) value {
	shortest, _ := time.ParseDuration(tag.Get("from"))
	longest, err := time.ParseDuration(tag.Get("to"))
	words := "a time such as 500ms, 30s, 5m or 4h"
	if shortest > 0 {
		words += ", at least " + shortText(shortest)
	}
	if err == nil {
		words += ", at most " + shortText(longest)
	} else {
		longest = math.MaxInt64
	}
	return scalar[time.Duration]{words, func(t string) (time.Duration, error) {
		d, err := parseDuration(t)
		if err == nil && (d < shortest || d > longest) {
			err = errNotAllowed
		}
		return d, err
	}}
}

func parseDuration(t string) (time.Duration, error) {
	d, err := time.ParseDuration(t)
	switch parts := unitPattern.FindStringSubmatch(t); {
	case err == nil && d >= 0:
		return d, nil
	case parts == nil:
		return 0, errNotAllowed
	case parts[2] == "d":
		days, _ := strconv.Atoi(parts[1]) // has few digits
		return 0, advice(fmt.Sprintf(". Days are written as hours: %dh", 24*days))
	default:
		return 0, advice(fmt.Sprintf(". The unit is missing: write %ss for seconds", parts[1]))
	}
}

// shortText formats a duration as 5m if Go formats it as 5m0s.
func shortText(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}
