package directory

import (
	"fmt"
	"slices"
	"strings"
	"sync"

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

// BuiltIn opens the domain corp.example, with layers on top of it.
func BuiltIn(opts Options, layers ...[]ldif.Record) (*Domain, error) {
	builtIn, err := builtInLayers()
	if err != nil {
		return nil, err
	}
	return Open(opts, slices.Concat(builtIn, layers)...)
}

// builtInLayers returns the records of the built-in domain. They are parsed only once,
// because Open does not change them.
var builtInLayers = sync.OnceValues(func() ([][]ldif.Record, error) {
	standard, err := StandardRecords("corp.example")
	if err != nil {
		return nil, err
	}
	b, err := data.Entries("corp.example.ldif")
	if err != nil {
		return nil, err
	}
	corp, err := ldif.Parse("corp.example.ldif", b)
	return [][]ldif.Record{standard, corp}, err
})
