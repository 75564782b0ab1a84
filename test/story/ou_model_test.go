package story

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// ouModel predicts the OUs and computers below one OU. Names are case-insensitive.
type ouModel struct {
	root  *ouNode
	limit int // largest number of objects per removal
}

type ouNode struct {
	name, description string
	computer          bool
	protected         bool
	parent            *ouNode
	children          []*ouNode
}

func (n *ouNode) dn() string {
	if n.parent == nil {
		return n.name
	}
	kind := "OU="
	if n.computer {
		kind = "CN="
	}
	return kind + strings.NewReplacer(",", `\,`, "+", `\+`).Replace(n.name) + "," + n.parent.dn()
}

// all returns the node and everything below it.
func (n *ouNode) all() []*ouNode {
	nodes := []*ouNode{n}
	for _, child := range n.children {
		nodes = append(nodes, child.all()...)
	}
	return nodes
}

func (n *ouNode) child(name string, computer bool) *ouNode {
	for _, child := range n.children {
		if child.computer == computer && sameName(child.name, name) {
			return child
		}
	}
	return nil
}

func (n *ouNode) under(other *ouNode) bool {
	for ; n != nil; n = n.parent {
		if n == other {
			return true
		}
	}
	return false
}

func (n *ouNode) put(parent *ouNode) {
	n.cut()
	n.parent = parent
	parent.children = append(parent.children, n)
}

func (n *ouNode) cut() {
	if n.parent != nil {
		n.parent.children = slices.DeleteFunc(n.parent.children, func(c *ouNode) bool { return c == n })
	}
}

func (m *ouModel) computer(name string) *ouNode {
	for _, n := range m.root.all() {
		if n.computer && strings.EqualFold(n.name, name) {
			return n
		}
	}
	return nil
}

// created predicts the answer to a call that creates a node.
func (m *ouModel) created(parent *ouNode, node ouNode) string {
	taken := parent.child(node.name, node.computer) != nil || node.computer && m.computer(node.name) != nil
	if taken {
		return "409 conflict"
	}
	node.put(parent)
	return "201"
}

func (m *ouModel) moved(n, target *ouNode) string {
	other := target.child(n.name, false)
	switch {
	case target.under(n):
		return "422 unprocessable"
	case other != nil && other != n:
		return "409 conflict"
	}
	n.put(target)
	return "200"
}

func (m *ouModel) renamed(n *ouNode, name string) string {
	other := n.parent.child(name, n.computer)
	if n.computer && other == nil {
		other = m.computer(name)
	}
	if other != nil && other != n {
		return "409 conflict"
	}
	n.name = name
	return "200"
}

func (m *ouModel) removed(n *ouNode, force, recursive bool) string {
	all := n.all()
	switch {
	case n.protected && !force:
		return "409 protected"
	case len(all) > 1 && !recursive:
		return "409 not_empty"
	case len(all) > m.limit && len(all) > 1:
		return "409 too_many"
	case !force && slices.ContainsFunc(all, func(n *ouNode) bool { return n.protected }):
		return "409 protected"
	}
	n.cut()
	return "200"
}

// lines returns all nodes except the root, in a fixed order.
func (m *ouModel) lines() []string {
	var lines []string
	for _, n := range m.root.all()[1:] {
		lines = append(lines, fmt.Sprintf("%s|%t|%s", n.dn(), n.protected, n.description))
	}
	sort.Strings(lines)
	return lines
}

// step returns a random request and the expected answer.
func (m *ouModel) step(r *rand.Rand) (systemtest.Call, string) {
	names := []string{"a", "A", "b", "B b", "c,d", "C+D", "ä", "ö"}
	machines := []string{"M1", "m1", "M2", "M3", "M-4"}
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	flag := func() string { return []string{"true", "false"}[r.IntN(2)] }
	var ous, computers []*ouNode
	for _, n := range m.root.all() {
		if n.computer {
			computers = append(computers, n)
		} else {
			ous = append(ous, n)
		}
	}
	parent := ous[r.IntN(len(ous))]
	if len(ous) == 1 || r.IntN(4) == 0 {
		node := ouNode{name: pick(names), protected: flag() == "true"}
		return systemtest.CreateOU(node.name, parent.dn(), "IsProtected", fmt.Sprint(node.protected)),
			m.created(parent, node)
	}
	ou := ous[1+r.IntN(len(ous)-1)]
	dn := ou.dn()
	if r.IntN(2) == 0 {
		dn = strings.ToUpper(dn)
	}
	switch what := r.IntN(10); {
	case what == 0:
		ou.protected = !ou.protected
		return systemtest.UpdateOU(dn, "IsProtected", fmt.Sprint(ou.protected)), "200"
	case what == 1:
		ou.description = pick([]string{"", "x", "X", "$(y)"})
		return systemtest.UpdateOU(dn, "OUDescription", ou.description), "200"
	case what <= 3:
		target := parent.dn()
		return systemtest.MoveOU(dn, target), m.moved(ou, parent)
	case what == 4:
		name := pick(names)
		return systemtest.RenameOU(dn, name), m.renamed(ou, name)
	case what == 5:
		force, recursive := flag(), flag()
		return systemtest.RemoveOU(dn, "Force", force, "Recursive", recursive),
			m.removed(ou, force == "true", recursive == "true")
	case what <= 7 || len(computers) == 0:
		node := ouNode{name: pick(machines), computer: true}
		return systemtest.RegisterComputer(node.name, "OUPath", parent.dn()), m.created(parent, node)
	case what == 8:
		machine := computers[r.IntN(len(computers))]
		old, name := machine.name, pick(machines)
		return systemtest.RenameComputer(old, name), m.renamed(machine, name)
	default:
		machine := computers[r.IntN(len(computers))]
		machine.cut()
		return systemtest.RemoveComputer(machine.name), "200"
	}
}

// sameName reports whether the directory considers two names equal. It ignores diacritics (KB 938447).
func sameName(a, b string) bool {
	unmarked := strings.NewReplacer("ä", "a", "ö", "o")
	return strings.EqualFold(unmarked.Replace(a), unmarked.Replace(b))
}

// TestOUsMatchTheirModel makes random changes and compares every answer, and in the end all OUs and
// computers, with the model. A plain run tries one of the sequences.
func TestOUsMatchTheirModel(t *testing.T) {
	const steps = 300
	for _, seed := range thorough.Some([]uint64{0, 1, 2, 3}) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1}, "limits.bulkDelete=5")
			m := &ouModel{root: &ouNode{name: systemtest.EmptyOU}, limit: 5}
			r := rand.New(rand.NewPCG(seed, 44))
			answers := map[string]int{}
			for i := range steps {
				c, want := m.step(r)
				a := s.Do(c)
				got := fmt.Sprint(a.Status)
				if a.Envelope.Error != nil {
					got += " " + a.Envelope.Error.Code
					assert.Equal(t, "none", a.Envelope.Error.Outcome)
				}
				require.Equal(t, want, got, "step %d: %s %s %v: %s", i, c.Method, c.Path, c.Params, a.Body)
				answers[got]++
			}
			assert.Equal(t, m.lines(), ouLines(s))
			assert.GreaterOrEqual(t, len(answers), 5, "%v", answers)
		})
	}
}

// ouLines returns all OUs and computers below the model's root, in the form of the model.
func ouLines(s *systemtest.System) []string {
	s.T.Helper()
	var lines []string
	for path, member := range map[string]string{"/api/OU/All": "path",
		"/api/Computers/All": "distinguishedName"} {
		a := s.Get(path)
		require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
		for _, record := range a.Envelope.Result {
			dn := record[member].(string)
			if !strings.HasSuffix(dn, ","+systemtest.EmptyOU) {
				continue
			}
			protected, _ := record["protected"].(bool)
			description, _ := record["description"].(string)
			lines = append(lines, fmt.Sprintf("%s|%t|%s", dn, protected, description))
		}
	}
	sort.Strings(lines)
	return lines
}
