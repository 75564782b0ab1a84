package trust

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"adgateway/gateway/atomicfile"
	"adgateway/gateway/keep"
)

// mostGateways is how many gateways a cluster can have.
const mostGateways = 10

// Member is a gateway on the list of a cluster.
type Member struct {
	Name        string    `json:"name"`
	Hosts       []string  `json:"hosts,omitempty"`       // names and addresses of its host
	HopAddress  string    `json:"hopAddress,omitempty"`  // host:port for other gateways
	NodeAddress string    `json:"nodeAddress,omitempty"` // host:port for other nodes; empty: it has none
	Joined      time.Time `json:"joined"`                // log time
	// Key is the digest of the public key that it joined with. A name that is given again
	// does not bring back whoever had it before.
	Key string `json:"key"`
}

// Members is the list of the gateways of a cluster. It is not changed: who changes it makes
// another one.
type Members struct {
	keep.Formatted
	Cluster  string   `json:"cluster"`
	Gateways []Member `json:"gateways"` // by name
}

// Find returns the member with a name.
func (m Members) Find(name string) (Member, bool) {
	i, ok := slices.BinarySearchFunc(m.Gateways, name, func(g Member, name string) int { return cmp.Compare(g.Name, name) })
	if !ok {
		return Member{}, false
	}
	return m.Gateways[i], true
}

// with returns the list with one member more, or in place of that with the same name.
func (m Members) with(g Member) Members {
	m = m.without(g.Name)
	m.Gateways = append(m.Gateways, g)
	slices.SortFunc(m.Gateways, func(a, b Member) int { return cmp.Compare(a.Name, b.Name) })
	return m
}

func (m Members) without(name string) Members {
	m.Gateways = slices.DeleteFunc(slices.Clone(m.Gateways), func(g Member) bool { return g.Name == name })
	return m
}

// check returns why a list cannot be that of a cluster.
func (m Members) check() error {
	if err := checkName("cluster", m.Cluster); err != nil {
		return err
	}
	for i, g := range m.Gateways {
		if err := checkName("gateway", g.Name); err != nil {
			return err
		}
		if i > 0 && g.Name <= m.Gateways[i-1].Name {
			return fmt.Errorf("gateway %s is not in its place", g.Name)
		}
	}
	if len(m.Gateways) == 0 {
		return fmt.Errorf("it has no gateway")
	}
	return nil
}

// SaveMembers writes a copy of the list, which a gateway goes by until it has read the store.
// restrict is that of [atomicfile.Write].
func SaveMembers(path string, m Members, restrict func(name string) error) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(text, '\n'), restrict)
}

// LoadMembers reads a copy of the list. The errors say what to do, and wrap [fs.ErrNotExist]
// if there is none.
func LoadMembers(path string) (m Members, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err == nil {
		err = keep.CheckFormat(m.V, keep.Newest)
	}
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return Members{}, fmt.Errorf("the list of the cluster's gateways, %s, cannot be used: %w; "+
			"copy the file from another gateway of the cluster, or let this one join anew by 'adgateway cluster join'", path, err)
	}
	return m, nil
}
