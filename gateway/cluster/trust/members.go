package trust

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"adgateway/gateway/atomicfile"
	"adgateway/gateway/store"
)

// mostGateways is the maximum number of gateways in a cluster.
const mostGateways = 10

// Member is a gateway on a cluster's list.
type Member struct {
	Name          string    `json:"name"`
	Hosts         []string  `json:"hosts,omitempty"`         // names and addresses of its host
	HopAddress    string    `json:"hopAddress,omitempty"`    // host:port for other gateways
	NodeAddress   string    `json:"nodeAddress,omitempty"`   // host:port of its node for nodes; empty if none
	ClientAddress string    `json:"clientAddress,omitempty"` // host:port of its node for gateways
	Joined        time.Time `json:"joined"`                  // in log time; zero while it is only invited
	// Key is the digest of the public key with which the gateway joined. It distinguishes the gateway from an
	// earlier gateway of the same name. It is empty until the gateway has joined.
	Key string `json:"key"`
}

// HasJoined reports whether the gateway had joined when the list was written. A gateway that had not joined
// was named when the cluster was created. Its name is therefore new, and any certificate of the authority for
// this name is accepted. So the first gateways can connect to each other although their lists do not have all
// keys yet.
func (g Member) HasJoined() bool { return g.Key != "" }

// Members is the list of the gateways of a cluster. It is immutable; methods that change it return a new
// list.
type Members struct {
	store.Formatted
	Cluster  string   `json:"cluster"`
	Gateways []Member `json:"gateways"` // ordered by name

	// Nodes are the names of the gateways whose hosts have a node. They are fixed when the cluster is created. A
	// new host replaces a lost host under the same name.
	Nodes []string `json:"nodes,omitempty"`
}

// HasNode reports whether the host of a gateway has a node.
func (m Members) HasNode(gateway string) bool { return slices.Contains(m.Nodes, gateway) }

// Names returns the names of the gateways.
func (m Members) Names() []string {
	all := make([]string, len(m.Gateways))
	for i, g := range m.Gateways {
		all[i] = g.Name
	}
	return all
}

// Joined returns the names of the gateways that have joined.
func (m Members) Joined() (names []string) {
	for _, g := range m.Gateways {
		if g.HasJoined() {
			names = append(names, g.Name)
		}
	}
	return names
}

// Routes returns the addresses at which a gateway's node finds the other nodes.
func (m Members) Routes(gateway string) (addresses []string) {
	for _, g := range m.Gateways {
		if g.Name != gateway && g.NodeAddress != "" && m.HasNode(g.Name) {
			addresses = append(addresses, g.NodeAddress)
		}
	}
	return addresses
}

// Servers returns the URLs of the nodes to which a gateway connects, beginning with the node on its own host.
func (m Members) Servers(gateway string) (urls []string) {
	for _, g := range m.Gateways {
		if g.ClientAddress == "" || !m.HasNode(g.Name) {
			continue
		}
		at := len(urls)
		if g.Name == gateway {
			at = 0
		}
		urls = slices.Insert(urls, at, "tls://"+g.ClientAddress)
	}
	return urls
}

// remaining returns the number of nodes on the list, and the number of nodes that are a majority.
func (m Members) remaining() (there, majority int) {
	for _, name := range m.Nodes {
		if _, ok := m.Find(name); ok {
			there++
		}
	}
	return there, len(m.Nodes)/2 + 1
}

// Find returns the member with the given name, or false if there is none.
func (m Members) Find(name string) (Member, bool) {
	i, ok := slices.BinarySearchFunc(m.Gateways, name,
		func(g Member, name string) int { return cmp.Compare(g.Name, name) })
	if !ok {
		return Member{}, false
	}
	return m.Gateways[i], true
}

// with returns the list with g added. g replaces a member of the same name.
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

// check returns an error if the list is invalid.
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

// SaveMembers writes a copy of the list, which a gateway uses until it has read the store. For
// restrict see [atomicfile.Write].
func SaveMembers(path string, m Members, restrict func(name string) error) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(text, '\n'), restrict)
}

// LoadMembers reads a copy of the list. Its errors explain what to do, and wrap [fs.ErrNotExist] if
// there is none.
func LoadMembers(path string) (m Members, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err == nil {
		err = store.CheckFormat(m.V, store.Newest)
	}
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return Members{}, fmt.Errorf("the list of the cluster's gateways, %s, cannot be used: %w; "+
			"copy the file from another gateway of the cluster, or let this one join anew by 'adgateway cluster join'",
			path, err)
	}
	return m, nil
}
