package directory

import (
	"slices"
	"sync"
	"time"

	"adgateway/ps/sandbox/internal/data"
	"adgateway/ps/sandbox/internal/ldif"
)

// StandardRecords returns the entries that every domain contains, for corp.example: the root with its
// policies, the standard containers, and the built-in users and groups.
func StandardRecords() ([]ldif.Record, error) { return builtIn("standard.ldif") }

func builtIn(file string) ([]ldif.Record, error) {
	b, err := data.Entries(file)
	if err != nil {
		return nil, err
	}
	return ldif.Parse(file, b)
}

// BuiltIn opens the domain corp.example, with layers on top of it. Without layers it copies a template.
func BuiltIn(opts Options, layers ...[]ldif.Record) (*Domain, error) {
	if len(layers) > 0 {
		return openBuiltIn(opts, layers)
	}
	template.Lock()
	defer template.Unlock()
	d := template.domain
	if d == nil || d.opts.Seed != opts.Seed {
		var err error
		d, err = openBuiltIn(Options{Seed: opts.Seed, Clock: func() time.Time { return time.Unix(0, 0) }}, nil)
		if err != nil {
			return nil, err
		}
		template.domain = d
	}
	return d.clone(opts), nil
}

// template is the built-in domain with the seed that BuiltIn was last called with. Nobody writes to it.
var template struct {
	sync.Mutex
	domain *Domain
}

func openBuiltIn(opts Options, layers [][]ldif.Record) (*Domain, error) {
	standard, err := StandardRecords()
	if err != nil {
		return nil, err
	}
	corp, err := builtIn("corp.example.ldif")
	if err != nil {
		return nil, err
	}
	return Open(opts, slices.Concat([][]ldif.Record{standard, corp}, layers)...)
}
