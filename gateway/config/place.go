package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// leadingKey matches a setting's key at the start of an error.
var leadingKey = regexp.MustCompile(`^([a-zA-Z]+\.[A-Za-z.]+)[ :]`)

// Place prefixes each of the joined errors that begins with the key of a setting in the file with
// the file and the setting's line.
func (src Sources) Place(err error, from map[string]Origin) error {
	var placed []error
	for _, one := range flatten(err) {
		key := leadingKey.FindStringSubmatch(one.Error())
		if key != nil && from[key[1]] == FromFile {
			if line := src.line(key[1]); line > 0 {
				one = fmt.Errorf("%s:%d: %w", src.Name, line, one)
			}
		}
		placed = append(placed, one)
	}
	return errors.Join(placed...)
}

// flatten returns the errors that were joined, at any depth.
func flatten(err error) []error {
	var all []error
	for _, one := range split(err) {
		if _, joined := one.(interface{ Unwrap() []error }); joined {
			all = append(all, flatten(one)...)
		} else if one != nil {
			all = append(all, one)
		}
	}
	return all
}

// line returns the line of a setting in the file, or 0 if there is none.
func (src Sources) line(key string) int {
	var document yaml.Node
	if yaml.Unmarshal(src.Text, &document) != nil || len(document.Content) == 0 {
		return 0
	}
	node, line := document.Content[0], 0
	for part := range strings.SplitSeq(key, ".") {
		found := false
		for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content) && !found; i += 2 {
			if node.Content[i].Value == part {
				node, line, found = node.Content[i+1], node.Content[i].Line, true
				break
			}
		}
		if !found {
			return 0
		}
	}
	return line
}
