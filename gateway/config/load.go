package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agnivade/levenshtein"
	"go.yaml.in/yaml/v3"
)

// Load reads settings: the defaults, over them the YAML text (name is its file,
// for messages; empty text is allowed), over them overrides of the form
// "key=value". The error joins every fault found, one a line.
func Load(name string, text []byte, overrides []string) (*Settings, error) {
	s := Default()
	r := reader{settings: s, rows: map[string]Row{}, name: name}
	for _, row := range Rows() {
		r.rows[row.Key] = row
	}
	r.file(text)
	for _, override := range overrides {
		r.override(override)
	}
	if len(r.faults) > 0 {
		return nil, errors.Join(r.faults...)
	}
	return s, nil
}

type reader struct {
	settings *Settings
	rows     map[string]Row
	name     string
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
		r.faults = append(r.faults, fmt.Errorf("%s: %w", r.name, err)) // names the line itself
		return
	}
	if !errors.Is(decoder.Decode(&second), io.EOF) {
		r.fault(max(second.Line, 1), "only one document is allowed")
	}
	if len(document.Content) == 1 && document.Content[0].Tag != "!!null" {
		r.mapping("", document.Content[0])
	}
}

// mapping reads all keys below a prefix; every key must be a row or lead to one.
func (r *reader) mapping(prefix string, node *yaml.Node) {
	if node.Kind != yaml.MappingNode {
		r.fault(node.Line, "%s takes settings, each as 'key: value'", cmp.Or(strings.TrimSuffix(prefix, "."), "the file"))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		key := prefix + name.Value
		if line, twice := seen[key]; twice {
			r.fault(name.Line, "%s is given twice, first in line %d", key, line)
			continue
		}
		seen[key] = name.Line
		if row, ok := r.rows[key]; ok {
			r.set(row, value, value.Line)
		} else if r.leads(key + ".") {
			r.mapping(key+".", value)
		} else {
			r.fault(name.Line, "unknown setting %s%s", key, r.nearest(key))
		}
	}
}

func (r *reader) set(row Row, node *yaml.Node, line int) {
	if err := row.value.set(r.settings, node); err != nil {
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

func (r *reader) override(text string) {
	key, value, ok := strings.Cut(text, "=")
	row, known := r.rows[key]
	switch {
	case !ok:
		r.faults = append(r.faults, fmt.Errorf("--set %s: write key=value", text))
	case !known:
		r.faults = append(r.faults, fmt.Errorf("--set %s: unknown setting%s", key, r.nearest(key)))
	default:
		if err := row.setText(r.settings, value); err != nil {
			for _, one := range split(err) {
				r.faults = append(r.faults, fmt.Errorf("--set %s: %w", key, one))
			}
		}
	}
}

// split takes joined faults apart; of nil there are none.
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

// nearest suggests the known key that a mistyped one most likely means.
func (r *reader) nearest(key string) string {
	best, distance := "", len(key)/3+2
	for _, row := range Rows() {
		if d := levenshtein.ComputeDistance(strings.ToLower(key), strings.ToLower(row.Key)); d < distance {
			best, distance = row.Key, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}
