package cmdlets

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// Class is a class of the ActiveDirectory object model, such as "ADUser". It must not be modified.
type Class struct {
	Name       string
	Parent     string // "" for the root class
	Properties []Property
}

// Property is a property that a class adds to the properties of its parent.
type Property struct {
	Name string `json:"n"`
	Type string `json:"t"` // without the namespace; the item type if the value is a collection
	// LDAP are the attributes that the property is derived from; nil if it is computed.
	LDAP []string `json:"l,omitempty"`
}

type wireClass struct {
	Parent     string     `json:"b,omitempty"`
	Properties []Property `json:"p,omitempty"`
}

// classes decodes the whole object model, which is small.
var classes = sync.OnceValue(func() map[string]*Class {
	out := map[string]*Class{}
	for line := range strings.Lines(textOf(objectModelData)) {
		name, text, _ := strings.Cut(line, "\t")
		var w wireClass
		if err := json.Unmarshal([]byte(text), &w); err != nil {
			// This cannot happen, because the data are embedded, and a test decodes every line.
			panic(fmt.Sprintf("cmdlets: class %s: %v", name, err))
		}
		out[strings.ToLower(name)] = &Class{Name: name, Parent: w.Parent, Properties: w.Properties}
	}
	return out
})

// LookupClass finds a class of the object model by name, ignoring case.
func LookupClass(name string) (*Class, bool) {
	c, ok := classes()[strings.ToLower(name)]
	return c, ok
}

// All lists the properties of a class and its ancestors, nearest class first. A property
// hides properties of the same name in ancestors.
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
