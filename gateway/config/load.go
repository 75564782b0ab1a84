package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"adgateway/gateway/nearest"

	"go.yaml.in/yaml/v3"
)

// Sources are the sources of settings, in order of rising precedence.
type Sources struct {
	Name        string     // name of the file, for messages
	Text        []byte     // content of the file; may be empty
	Environment []string   // NAME=VALUE; names without the prefix ADGATEWAY_ are ignored
	Spelled     []Spelling // flags that stand for a single setting
	Flags       []string   // KEY=VALUE
	Sandbox     bool       // the domain is simulated
	// Amend changes the loaded settings in ways that KEY=VALUE cannot express. It gets the origin of each
	// setting, by key, and may be nil.
	Amend func(*Settings, map[string]Origin) error
}

// Spelling is the value of a flag that stands for a single setting.
type Spelling struct{ Flag, Key, Value string }

// Origin says where the value of a setting comes from.
type Origin string

// The origins, in order of rising precedence.
const (
	FromDefault     Origin = "default"
	FromFile        Origin = "file"
	FromEnvironment Origin = "environment"
	FromFlag        Origin = "flag"
)

// Load loads all sources, and returns the origin of each setting by key. The error joins all
// mistakes, one per line. If each setting is valid and some contradict each other, it returns the settings
// with the error, so that what they name can be checked as well.
func (src Sources) Load() (*Settings, map[string]Origin, error) {
	r := reader{settings: Default(), rows: map[string]Row{}, name: src.Name, from: map[string]Origin{}}
	for _, row := range Rows() {
		r.rows[row.Key] = row
		r.from[row.Key] = FromDefault
	}
	r.file(src.Text)
	r.environment(src.Environment)
	for _, s := range src.Spelled {
		r.setText(r.rows[s.Key], s.Value, FromFlag, fmt.Sprintf("%s (%s)", s.Flag, s.Key))
	}
	for _, flag := range src.Flags {
		r.flag(flag)
	}
	if src.Amend != nil {
		r.faults = append(r.faults, split(src.Amend(r.settings, r.from))...)
	}
	if len(r.faults) > 0 {
		return nil, nil, errors.Join(r.faults...)
	}
	misfits := errors.Join(r.settings.misfits(r.from, src.Sandbox)...)
	for _, row := range Rows() {
		row.complete(r.settings)
	}
	return r.settings, r.from, src.Place(misfits, r.from)
}

type reader struct {
	settings *Settings
	rows     map[string]Row
	name     string
	from     map[string]Origin
	faults   []error
}

func (r *reader) fault(line int, format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf("%s:%d: %s", r.name, line, fmt.Sprintf(format, args...)))
}

func (r *reader) file(text []byte) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		return
	}
	if err != nil {
		r.faults = append(r.faults, unreadable(r.name, text, err))
		return
	}
	if !errors.Is(decoder.Decode(&second), io.EOF) {
		r.fault(max(second.Line, 1), "only one document is allowed")
	}
	if len(document.Content) == 1 && document.Content[0].Tag != "!!null" {
		r.mapping("", document.Content[0])
	}
}

// mapping reads all keys below a prefix. Every key must be a row, or a prefix of one.
func (r *reader) mapping(prefix string, node *yaml.Node) {
	if node.Kind != yaml.MappingNode {
		r.fault(node.Line, "%s must contain settings, each as 'key: value' on a line of its own, "+
			"with a space after the colon",
			cmp.Or(strings.TrimSuffix(prefix, "."), "the file"))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		key := prefix + name.Value
		if line, twice := seen[key]; twice {
			r.fault(name.Line, "%s is set twice, first in line %d", key, line)
			continue
		}
		seen[key] = name.Line
		if row, ok := r.rows[key]; ok {
			r.set(row, value, value.Line)
		} else if r.leads(key+".") && value.Tag == "!!null" {
			continue // all settings of the section are commented out
		} else if r.leads(key + ".") {
			r.mapping(key+".", value)
		} else if is, err := r.former(key, value, FromFile); err != nil {
			r.fault(value.Line, "%s: %v", key, err)
		} else if !is {
			r.fault(name.Line, "unknown setting %s%s", key, r.meant(key))
		}
	}
}

func (r *reader) set(row Row, node *yaml.Node, line int) {
	r.from[row.Key] = FromFile
	if err := row.value.set(row.in(r.settings), node); err != nil {
		for _, one := range split(err) {
			at := line
			var placed *placedError
			if errors.As(one, &placed) {
				at = placed.line
			}
			r.fault(at, "%s: %v", row.Key, one)
		}
	}
}

// internal lists the prefixes of variables that are not settings but are meant for the processes of the
// sandbox.
var internal = []string{variablePrefix + "ENGINE_"}

// Variables that are not settings. Commands and clients use them to find a gateway, its token, and
// the certificates to trust.
const (
	URLVariable    = variablePrefix + "URL"
	TokenVariable  = variablePrefix + "TOKEN"
	CAPathVariable = variablePrefix + "CA_PATH"
)

func (r *reader) environment(variables []string) {
	rows := map[string]Row{}
	names := []string{}
	for _, row := range Rows() {
		rows[row.Variable()] = row
		names = append(names, row.Variable())
	}
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		name = strings.ToUpper(name) // Windows ignores case
		if !strings.HasPrefix(name, variablePrefix) ||
			slices.Contains([]string{URLVariable, TokenVariable, CAPathVariable}, name) ||
			slices.ContainsFunc(internal, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			continue
		}
		if key := formerVariable(name); key != "" {
			r.formerText(key, value, FromEnvironment, "environment: "+name)
			continue
		}
		row, known := rows[name]
		if !known {
			r.faults = append(r.faults,
				fmt.Errorf("environment: %s does not set any setting%s", name, meant(name, names)))
			continue
		}
		r.setText(row, value, FromEnvironment, "environment: "+name)
	}
}

func (r *reader) flag(text string) {
	key, value, ok := strings.Cut(text, "=")
	row, known := r.rows[key]
	switch {
	case !ok:
		r.faults = append(r.faults, fmt.Errorf("--set %s: write KEY=VALUE, such as http.listen=127.0.0.1:8080",
			text))
	case !known && r.formerText(key, value, FromFlag, "--set "+key):
	case !known:
		r.faults = append(r.faults, fmt.Errorf("--set %s: unknown setting%s", key, r.meant(key)))
	default:
		r.setText(row, value, FromFlag, "--set "+key)
	}
}

// setText sets a row from one line of text. where names its source in messages.
func (r *reader) setText(row Row, text string, from Origin, where string) {
	r.from[row.Key] = from
	for _, one := range split(row.setText(r.settings, text)) {
		r.faults = append(r.faults, fmt.Errorf("%s: %w", where, one))
	}
}

// split returns the parts of a joined error. It returns none for nil.
func split(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

func (r *reader) leads(prefix string) bool {
	for key := range r.rows {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// meant suggests the key closest to a misspelled one.
func (r *reader) meant(key string) string {
	var keys []string
	for _, row := range Rows() {
		keys = append(keys, row.Key)
	}
	return meant(key, keys)
}

// meant suggests the name closest to a misspelled one, or "" if none is close.
func meant(mistyped string, names []string) string {
	best := nearest.Of(mistyped, names)
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}
