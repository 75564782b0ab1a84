package directory

import (
	_ "embed"
	"fmt"
	"strings"

	"adgateway/ps/sim/ldif"
)

//go:embed standard.ldif
var standardText string

const standardRoot = "DC=corp,DC=example"

// StandardRecords are the entries every domain has: the root with its
// policies, the standard containers, built-in users and groups. name is the
// DNS name. They are meant as the first layer of Open.
func StandardRecords(name string) ([]ldif.Record, error) {
	labels := strings.Split(strings.TrimSuffix(name, "."), ".")
	var root DN
	for i := len(labels) - 1; i >= 0; i-- {
		if labels[i] == "" || len(labels[i]) > 63 || strings.ContainsAny(labels[i], ",=+\"\\<>;# \r\n") {
			return nil, fmt.Errorf("directory: %q is no DNS name of a domain", name)
		}
		root = root.Child("DC", labels[i])
	}
	text := strings.ReplaceAll(standardText, standardRoot, root.String())
	text = strings.Replace(text, "\ndc: corp\n", "\ndc: "+labels[0]+"\n", 1)
	return ldif.Parse("standard.ldif", []byte(text))
}
