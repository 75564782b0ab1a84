package cmdlets

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"adgateway/ps/packed"
)

//go:embed data/activedirectory.ndjson
var activeDirectoryData []byte

//go:embed data/dnsserver.ndjson
var dnsServerData []byte

//go:embed data/laps.ndjson
var lapsData []byte

//go:embed data/diagnostics.ndjson
var diagnosticsData []byte

//go:embed data/objectmodel.ndjson
var objectModelData []byte

// entry is a line of a data file: a name, a tab, and the rest as JSON.
type entry struct {
	name, module, text string
	once               sync.Once
	value              *Cmdlet
}

type module struct {
	name    string
	entries []*entry
}

type index struct {
	modules []module
	byName  map[string]*entry // lower-case names
}

// load indexes the lines of both modules. Their JSON is decoded on first use.
var load = sync.OnceValue(func() *index {
	x := &index{byName: make(map[string]*entry, 300)}
	x.add(ActiveDirectory, activeDirectoryData)
	x.add(DnsServer, dnsServerData)
	x.add(LAPS, lapsData)
	x.add(Diagnostics, diagnosticsData)
	return x
})

// textOf returns the text of an embedded file of data.
func textOf(data []byte) string {
	text, err := packed.Text(data)
	if err != nil {
		panic(fmt.Sprintf("cmdlets: embedded data: %v", err)) // the program is damaged
	}
	return string(text)
}

func (x *index) add(name string, data []byte) {
	m := module{name: name}
	for line := range strings.Lines(textOf(data)) {
		cmdlet, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		e := &entry{name: cmdlet, module: name, text: text}
		m.entries = append(m.entries, e)
		x.byName[strings.ToLower(cmdlet)] = e
	}
	x.modules = append(x.modules, m)
}

func (e *entry) cmdlet() *Cmdlet {
	e.once.Do(func() {
		var w wireCmdlet
		if err := json.Unmarshal([]byte(e.text), &w); err != nil {
			// This cannot happen, because the data are embedded, and a test decodes every line.
			panic(fmt.Sprintf("cmdlets: data of %s: %v", e.name, err))
		}
		e.value = w.cmdlet(e.name, e.module)
		e.text = ""
	})
	return e.value
}

// wireCmdlet is a cmdlet in the format of the data files: short keys, omitted if empty.
type wireCmdlet struct {
	Sets    []string    `json:"s,omitempty"` // absent: one unnamed set
	Default string      `json:"d,omitempty"` // absent: the only set, or no default among several
	Should  bool        `json:"w,omitempty"`
	Prompts bool        `json:"c,omitempty"`
	Force   bool        `json:"f,omitempty"`
	Outputs []string    `json:"o,omitempty"`
	Missing []string    `json:"m,omitempty"`
	Notes   []string    `json:"n,omitempty"`
	Params  []wireParam `json:"p"`
}

type wireParam struct {
	Name     string    `json:"n"`
	Type     string    `json:"t"`
	Aliases  []string  `json:"a,omitempty"`
	Values   []string  `json:"v,omitempty"`
	Codes    []int64   `json:"k,omitempty"`
	LDAP     string    `json:"l,omitempty"`
	Ident    []string  `json:"i,omitempty"`
	Wildcard bool      `json:"w,omitempty"`
	Missing  []string  `json:"m,omitempty"`
	In       []wireSet `json:"s,omitempty"` // absent: by name, optional, in every set
}

// wireSet is the behavior in one or more sets. Position is the index plus one.
type wireSet struct {
	Sets      []int `json:"s,omitempty"` // indexes into Sets; absent: all
	Mandatory bool  `json:"m,omitempty"`
	Position  int   `json:"p,omitempty"`
	Value     bool  `json:"v,omitempty"`
	Property  bool  `json:"n,omitempty"`
}

func (w *wireCmdlet) cmdlet(name, module string) *Cmdlet {
	c := &Cmdlet{
		Name: name, Module: module, Sets: w.Sets, DefaultSet: w.Default,
		SupportsShouldProcess: w.Should, PromptsByDefault: w.Prompts, ForceSkipsPrompt: w.Force,
		Outputs: w.Outputs, MissingIn: w.Missing, NotWorkingWith: w.Notes,
	}
	if len(c.Sets) == 0 {
		c.Sets = []string{AllSets}
	}
	if len(c.Sets) == 1 {
		c.DefaultSet = c.Sets[0]
	}
	for i := range w.Params {
		c.Params = append(c.Params, w.Params[i].param(c.Sets))
	}
	return c
}

func (w *wireParam) param(sets []string) *Param {
	p := &Param{
		Name: w.Name, Type: w.Type, Aliases: w.Aliases, Values: w.Values, Codes: w.Codes,
		LDAPName: w.LDAP, Identifiers: w.Ident, Wildcard: w.Wildcard, MissingIn: w.Missing,
	}
	in := w.In
	if len(in) == 0 {
		in = []wireSet{{}}
	}
	for i, set := range sets {
		for _, s := range in {
			if s.has(i) {
				p.PerSet = append(p.PerSet, InSet{
					Set: set, Mandatory: s.Mandatory, Position: s.Position - 1,
					ByValue: s.Value, ByPropertyName: s.Property,
				})
				break
			}
		}
	}
	return p
}

func (s wireSet) has(set int) bool {
	if len(s.Sets) == 0 {
		return true
	}
	for _, i := range s.Sets {
		if i == set {
			return true
		}
	}
	return false
}
