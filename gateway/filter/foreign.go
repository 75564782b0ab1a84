package filter

import (
	"fmt"
	"regexp"
	"strings"
)

// foreign lists other languages in which people write filters. The groups of each pattern match a field and
// its value.
var foreign = []struct {
	name  string
	looks *regexp.Regexp
}{
	{"LDAP", regexp.MustCompile(`\(\s*([A-Za-z][A-Za-z0-9-]*)\s*[~<>]?=\s*([^()]*)\)`)},
	{"PowerShell", regexp.MustCompile(`^\s*\(?\s*([A-Za-z]+)\s+-(?:eq|ne|like|notlike|gt|ge|lt|le|match|and|or|not|contains)\b\s*['"]?([^'"]*)`)},
	{"SQL", regexp.MustCompile(`(?i)^\s*([A-Za-z]+)\s+(?:not\s+)?(?:like|in|between|is)\b\s*['"]?([^'"]*)`)},
	{"a comparison of a programming language", regexp.MustCompile(`^\s*([A-Za-z]+)\s*(?:={1,3}|!=|<>|[<>]=?)\s*['"]?([^'"]*)`)},
	{"a programming language", regexp.MustCompile(`(?:&&|\|\|)()()`)},
}

// inOurs adds an example in this language to the error for a filter in another language.
func inOurs(class *Class, text string, wrong *Error) {
	for _, language := range foreign {
		match := language.looks.FindStringSubmatch(text)
		if match == nil {
			continue
		}
		example := class.Example
		if f := class.known(match[1]); f != nil {
			if value := strings.Trim(match[2], " *"); value != "" &&
				len(value) <= 40 && f.form == form(textForm{}) {
				example = fmt.Sprintf("%s %s %q", f.name, Equal, value)
			}
		}
		wrong.Message += fmt.Sprintf("; this looks like %s: write %s", language.name, example)
		return
	}
}

// known returns the field with the given name, here or in the directory, or nil if there is none.
func (c *Class) known(name string) *field {
	for i := range c.fields {
		if strings.EqualFold(c.fields[i].name, name) || strings.EqualFold(c.fields[i].attr, name) {
			return &c.fields[i]
		}
	}
	return nil
}
