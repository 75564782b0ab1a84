package config

import (
	"errors"
	"fmt"
	"net"
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

// value parses and formats the values of a setting. The errors of set name the place within the value where
// that helps. The caller adds the key and the line.
type value interface {
	set(s *Settings, node *yaml.Node) error
	allowed() string
	// get returns the value as plain data that is encoded in YAML and JSON as in the file. masked
	// hides its secrets.
	get(s *Settings, masked bool) any
	take(to, from *Settings)
}

// live marks a setting whose changes take effect while the gateway runs, because its users read the
// current settings each time.
type live struct{ value }

// mask is shown in place of a secret.
const mask = "********"

// setText parses a value as written in the file.
func (r Row) setText(s *Settings, text string) error {
	if strings.TrimSpace(text) == "" {
		return r.value.set(s, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str"})
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil || len(document.Content) != 1 {
		return errors.New("not a valid YAML value; it takes " + r.Allowed()) // the text may contain a secret
	}
	return r.value.set(s, document.Content[0])
}

// scalar is a setting with a single value.
type scalar[T any] struct {
	field func(*Settings) *T
	parse func(string) (T, error)
	words string
}

func (v scalar[T]) allowed() string { return v.words }

func (v scalar[T]) get(s *Settings, _ bool) any {
	if d, ok := any(*v.field(s)).(time.Duration); ok {
		return shortText(d)
	}
	return *v.field(s)
}

func (v scalar[T]) take(to, from *Settings) { *v.field(to) = *v.field(from) }

func (v scalar[T]) set(s *Settings, node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
		return errors.New("takes " + v.words)
	}
	if node.Style == yaml.DoubleQuotedStyle && strings.ContainsFunc(node.Value, unicode.IsControl) {
		return errors.New(`contains a control character: in double quotes, YAML reads \t as a tab and \n as a line break. ` +
			"Write a path of Windows in single quotes")
	}
	parsed, err := v.parse(node.Value)
	if err != nil {
		var hint advice
		errors.As(err, &hint) // stays empty if there is none
		return fmt.Errorf("%q is not allowed here: it takes %s%s", node.Value, v.words, hint)
	}
	*v.field(s) = parsed
	return nil
}

var errNotAllowed = errors.New("not allowed")

// advice is errNotAllowed for a common mistake. It ends the message, and begins with a full stop.
type advice string

// Error implements error.
func (a advice) Error() string { return string(a) }

func text(field func(*Settings) *string) value {
	return scalar[string]{field, func(t string) (string, error) { return t, nil }, "a text"}
}

func choice(field func(*Settings) *string, words ...string) value {
	return scalar[string]{field, func(t string) (string, error) {
		if !slices.Contains(words, t) {
			return "", errNotAllowed
		}
		return t, nil
	}, "one of " + strings.Join(words, ", ")}
}

// timeZone returns a setting that is the name of a time zone. The zone database is part of the
// program, because Windows has none.
func timeZone(field func(*Settings) *string) value {
	return scalar[string]{field, func(t string) (string, error) {
		if t == "" || t == "Local" {
			return "", errNotAllowed
		}
		_, err := time.LoadLocation(t)
		return t, err
	}, "the name of a time zone, such as Europe/Berlin"}
}

func address(field func(*Settings) *string) value {
	return scalar[string]{field, func(t string) (string, error) {
		_, port, err := net.SplitHostPort(t)
		if err != nil {
			return "", err
		}
		if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
			return "", errNotAllowed
		}
		return t, nil
	}, "HOST:PORT, such as 127.0.0.1:8080"}
}

func boolean(field func(*Settings) *bool) value {
	return scalar[bool]{field, func(t string) (bool, error) {
		switch t {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return false, errNotAllowed
	}, "true or false"}
}

func number(field func(*Settings) *int, low, high int) value {
	return scalar[int]{field, func(t string) (int, error) {
		n, err := strconv.Atoi(t)
		if err != nil || n < low || n > high {
			return 0, errNotAllowed
		}
		return n, nil
	}, fmt.Sprintf("a whole number from %d to %d", low, high)}
}

// none is the value that means no limit.
const none = "none"

// optional is a scalar that may be "none", which sets its field to the zero value.
type optional[T comparable] struct{ scalar[T] }

func (v optional[T]) get(s *Settings, masked bool) any {
	var zero T
	if *v.field(s) == zero {
		return none
	}
	if n, ok := any(*v.field(s)).(*int); ok {
		return *n
	}
	return v.scalar.get(s, masked)
}

func numberOrNone(field func(*Settings) **int, low, high int) value {
	return optional[*int]{scalar[*int]{field, func(t string) (*int, error) {
		if t == none {
			return nil, nil
		}
		n, err := strconv.Atoi(t)
		if err != nil || n < low || n > high {
			return nil, errNotAllowed
		}
		return &n, nil
	}, fmt.Sprintf("a whole number from %d to %d, or none", low, high)}}
}

var ratePattern = regexp.MustCompile(`^[1-9][0-9]{0,5}/[smh]$`)

// rate returns a setting that is a number of requests per second, minute or hour.
func rate(field func(*Settings) *string) value {
	return optional[string]{scalar[string]{field, func(t string) (string, error) {
		switch {
		case t == none:
			return "", nil
		case !ratePattern.MatchString(t):
			return "", errNotAllowed
		}
		return t, nil
	}, "requests by second, minute or hour, such as 10/s, 600/m or 5000/h, or none"}}
}

// unitPattern matches a number of days, which is not a supported unit, or a number without a unit.
var unitPattern = regexp.MustCompile(`^([1-9][0-9]{0,5})(d?)$`)

func duration(field func(*Settings) *time.Duration) value {
	return scalar[time.Duration]{field, func(t string) (time.Duration, error) {
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
	}, "a time such as 500ms, 30s, 5m or 4h"}
}

// limit returns a duration for which 0 means the default.
func limit(field func(*Settings) *time.Duration) value {
	return orDefault{duration(field).(scalar[time.Duration])}
}

// orDefault is a duration that [Row.complete] sets to the default if it is 0.
type orDefault struct{ scalar[time.Duration] }

// shortDuration returns a duration between shortest and longest.
func shortDuration(field func(*Settings) *time.Duration, shortest, longest time.Duration) value {
	v := duration(field).(scalar[time.Duration])
	parse := v.parse
	v.parse = func(t string) (time.Duration, error) {
		d, err := parse(t)
		if err == nil && (d < shortest || d > longest) {
			err = errNotAllowed
		}
		return d, err
	}
	if shortest > 0 {
		v.words += ", at least " + shortText(shortest)
	}
	v.words += ", at most " + shortText(longest)
	return v
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

// records is a setting with a list of records with named fields.
type records[T any] struct {
	field func(*Settings) *[]T
	parts func(*T) map[string]part
	need  []string
	words string
}

// part is one named field of a record, bound to its variable.
type part struct {
	set    func(node *yaml.Node) error
	get    func(masked bool) any // nil if the field is empty
	secret bool
}

func (v records[T]) allowed() string { return v.words }

func (v records[T]) get(s *Settings, masked bool) any {
	all := []any{}
	for _, record := range *v.field(s) {
		all = append(all, shownParts(v.parts(&record), masked))
	}
	return all
}

// shownParts returns a record as written in the file, without empty fields.
func shownParts(parts map[string]part, masked bool) map[string]any {
	shown := map[string]any{}
	for name, part := range parts {
		held := part.get(masked)
		if held != nil && part.secret && masked {
			held = mask
		}
		if held != nil {
			shown[name] = held
		}
	}
	return shown
}

func (v records[T]) take(to, from *Settings) { *v.field(to) = *v.field(from) }

func (v records[T]) set(s *Settings, node *yaml.Node) error {
	if node.Kind != yaml.SequenceNode {
		return errors.New("takes " + v.words)
	}
	var all []T
	var faults []error
	for _, item := range node.Content {
		var record T
		faults = append(faults, readParts(item, v.parts(&record), v.need, v.words)...)
		all = append(all, record)
	}
	*v.field(s) = all
	return errors.Join(faults...) // nil if there are none
}

// readParts parses a mapping strictly and returns all mistakes.
func readParts(node *yaml.Node, parts map[string]part, need []string, words string) []error {
	if node.Kind != yaml.MappingNode {
		return []error{placed(node.Line, "takes %s", words)}
	}
	var faults []error
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, val := node.Content[i], node.Content[i+1]
		part, known := parts[key.Value]
		switch {
		case !known:
			faults = append(faults, placed(key.Line, "unknown field %q: takes %s", key.Value, words))
		case seen[key.Value]:
			faults = append(faults, placed(key.Line, "%q is given twice", key.Value))
		default:
			for _, err := range split(part.set(val)) {
				faults = append(faults, within(val.Line, key.Value, err))
			}
		}
		seen[key.Value] = true
	}
	for _, name := range need {
		if !seen[name] {
			faults = append(faults, placed(node.Line, "%q is missing", name))
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

func intoText(field *string, words ...string) part {
	set := func(node *yaml.Node) error {
		if node.Kind != yaml.ScalarNode || node.Tag == "!!null" || node.Value == "" {
			return errors.New("takes a string")
		}
		if len(words) > 0 && !slices.Contains(words, node.Value) {
			return errors.New("takes one of " + strings.Join(words, ", "))
		}
		*field = node.Value
		return nil
	}
	get := func(bool) any {
		if *field == "" {
			return nil
		}
		return *field
	}
	return part{set: set, get: get}
}

// intoName returns a part that is a full DNS name. A trailing dot is dropped.
func intoName(field *string) part {
	name := intoText(field)
	set := name.set
	name.set = func(node *yaml.Node) error {
		if err := set(node); err != nil {
			return err
		}
		if *field = strings.TrimSuffix(*field, "."); !isName(*field) || !strings.Contains(*field, ".") {
			return errors.New("takes a DNS name in full")
		}
		return nil
	}
	return name
}

func intoBoolean(field *bool) part {
	set := func(node *yaml.Node) error {
		if node.Decode(field) != nil {
			return errors.New("takes true or false")
		}
		return nil
	}
	get := func(bool) any {
		if !*field {
			return nil
		}
		return true
	}
	return part{set: set, get: get}
}

// intoSecret returns a part that is a string and is never shown.
func intoSecret(field *string) part {
	hidden := intoText(field)
	hidden.secret = true
	return hidden
}

func intoList(field *[]string) part {
	set := func(node *yaml.Node) (err error) {
		*field, err = stringList(node)
		return err
	}
	get := func(bool) any {
		if len(*field) == 0 {
			return nil
		}
		return *field
	}
	return part{set: set, get: get}
}

// intoParts returns a part that has named fields itself.
func intoParts(parts map[string]part, words string) part {
	set := func(node *yaml.Node) error { return errors.Join(readParts(node, parts, nil, words)...) }
	get := func(masked bool) any {
		if shown := shownParts(parts, masked); len(shown) > 0 {
			return shown
		}
		return nil
	}
	return part{set: set, get: get}
}

func tokens(field func(*Settings) *[]Token) value {
	return records[Token]{field, func(t *Token) map[string]part {
		return map[string]part{
			"value":   intoSecret(&t.Value),
			"subject": intoText(&t.Subject),
			"scopes":  intoList(&t.Scopes),
			"dialect": intoText(&t.Dialect, "standard", "classic"),

			"secretsInQuery": intoBoolean(&t.InQuery),
			"limits":         intoLimits(&t.Limits),
		}
	}, nil, "a list of tokens with value (or the subject of a client certificate), scopes, dialect, " +
		"secretsInQuery and limits"}
}

func users(field func(*Settings) *[]User) value {
	return records[User]{field, func(u *User) map[string]part {
		return map[string]part{
			"name":     intoText(&u.Name),
			"password": intoSecret(&u.Password),
			"scopes":   intoList(&u.Scopes),
			"limits":   intoLimits(&u.Limits),
		}
	}, []string{"name", "password"}, "a list of users with name, password, scopes and limits"}
}

func intoLimits(limits *TokenLimits) part {
	return intoParts(map[string]part{
		"ous":    intoList(&limits.OUs),
		"zones":  intoList(&limits.Zones),
		"groups": intoList(&limits.Groups),
		"names":  intoList(&limits.Names),
	}, "ous, zones, groups and names, each a list")
}

func webhooks(field func(*Settings) *[]Webhook) value {
	return records[Webhook]{field, func(w *Webhook) map[string]part {
		return map[string]part{
			"name":       intoFitting(&w.Name, checkWebhookName),
			"url":        intoFitting(&w.URL, checkWebhookURL),
			"secretFile": intoText(&w.SecretFile),
			"caFile":     intoText(&w.CAFile),
			"types":      intoWords(&w.Types, "change", "job"),
		}
	}, []string{"name", "url", "secretFile"},
		"a list of webhooks with name, url, secretFile, and perhaps caFile and types"}
}

func procedures(field func(*Settings) *[]Procedure) value {
	return records[Procedure]{field, func(p *Procedure) map[string]part {
		return map[string]part{
			"name":  intoText(&p.Name),
			"title": intoList(&p.Title),
			"steps": intoList(&p.Steps),
		}
	}, []string{"name"}, "a list of procedures with name, title and steps"}
}

// intoFitting returns a part that is a string and must pass a check.
func intoFitting(field *string, check func(string) error) part {
	text := intoText(field)
	set := text.set
	text.set = func(node *yaml.Node) error {
		if err := set(node); err != nil {
			return err
		}
		return check(*field)
	}
	return text
}

// intoWords returns a part that is a list of some of the words.
func intoWords(field *[]string, words ...string) part {
	list := intoList(field)
	set := list.set
	list.set = func(node *yaml.Node) error {
		if err := set(node); err != nil {
			return err
		}
		if slices.ContainsFunc(*field, func(item string) bool { return !slices.Contains(words, item) }) {
			return errors.New("takes a list of " + strings.Join(words, " and "))
		}
		return nil
	}
	return list
}
