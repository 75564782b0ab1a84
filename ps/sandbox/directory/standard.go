package directory

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"adgateway/ps/sandbox/internal/data"
	"adgateway/ps/sandbox/internal/ldif"
)

const standardRoot = "DC=corp,DC=example"

// StandardRecords returns the entries that every domain contains, as the first layer for
// Open: the root with its policies, the standard containers, and the built-in users and
// groups. name is the DNS name of the domain.
func StandardRecords(name string) ([]ldif.Record, error) {
	labels := strings.Split(strings.TrimSuffix(name, "."), ".")
	var root DN
	for i := len(labels) - 1; i >= 0; i-- {
		if labels[i] == "" || len(labels[i]) > 63 || strings.ContainsAny(labels[i], ",=+\"\\<>;# \r\n") {
			return nil, fmt.Errorf("directory: %q is not a DNS domain name", name)
		}
		root = root.Child("DC", labels[i])
	}
	b, err := data.Entries("standard.ldif")
	if err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(string(b), standardRoot, root.String())
	text = strings.Replace(text, "\ndc: corp\n", "\ndc: "+labels[0]+"\n", 1)
	return ldif.Parse("standard.ldif", []byte(text))
}

// BuiltIn opens the domain corp.example, with layers on top of it. Without layers it copies a template.
func BuiltIn(opts Options, layers ...[]ldif.Record) (*Domain, error) {
	if len(layers) > 0 {
		return openBuiltIn(opts, layers)
	}
	template.Lock()
	defer template.Unlock()
	d := template.domain
	if d == nil || d.opts.Seed != opts.Seed || d.opts.NetBIOS != opts.NetBIOS {
		var err error
		d, err = openBuiltIn(Options{Seed: opts.Seed, NetBIOS: opts.NetBIOS,
			Clock: func() time.Time { return time.Unix(0, 0) }}, nil)
		if err != nil {
			return nil, err
		}
		template.domain = d
	}
	return d.clone(opts), nil
}

// template is the built-in domain with the options that BuiltIn was last called with. Nobody writes to it.
var template struct {
	sync.Mutex
	domain *Domain
}

func openBuiltIn(opts Options, layers [][]ldif.Record) (*Domain, error) {
	standard, err := StandardRecords("corp.example")
	if err != nil {
		return nil, err
	}
	b, err := data.Entries("corp.example.ldif")
	if err != nil {
		return nil, err
	}
	corp, err := ldif.Parse("corp.example.ldif", b)
	if err != nil {
		return nil, err
	}
	return Open(opts, slices.Concat([][]ldif.Record{standard, corp}, layers)...)
}
