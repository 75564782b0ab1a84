package cmdlets

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// Class is a class of the ActiveDirectory object model, "ADUser". It must not be changed.
type Class struct {
	Name       string
	Parent     string // "" for the root class
	Properties []Property
}

// Property is one property a class adds to those of its parent.
type Property struct {
	Name string `json:"n"`
	Type string `json:"t"` // without the namespace; does not tell collections
	// LDAP are the attributes the property is derived from; nil when computed.
	LDAP []string `json:"l,omitempty"`
}

type wireClass struct {
	Parent     string     `json:"b,omitempty"`
	Properties []Property `json:"p,omitempty"`
}

// classes is small enough to be read at once.
var classes = sync.OnceValue(func() map[string]*Class {
	out := map[string]*Class{}
	for line := range strings.Lines(objectModelData) {
		name, text, _ := strings.Cut(line, "\t")
		var w wireClass
		if err := json.Unmarshal([]byte(text), &w); err != nil {
			// The data are compiled in and a test reads every line.
			panic(fmt.Sprintf("cmdlets: class %s: %v", name, err))
		}
		out[strings.ToLower(name)] = &Class{Name: name, Parent: w.Parent, Properties: w.Properties}
	}
	return out
})

// LookupClass finds a class of the object model by name, in any case.
func LookupClass(name string) (*Class, bool) {
	c, ok := classes()[strings.ToLower(name)]
	return c, ok
}

// All lists the properties of a class and of its parents, nearest class first.
// A property that a class states again hides the one of its parent.
func (c *Class) All() []Property {
	var out []Property
	seen := map[string]bool{}
	for c != nil {
		for _, p := range c.Properties {
			if key := strings.ToLower(p.Name); !seen[key] {
				seen[key] = true
				out = append(out, p)
			}
		}
		c = classes()[strings.ToLower(c.Parent)]
	}
	return out
}
