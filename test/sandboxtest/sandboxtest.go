// Package sandboxtest observes and disturbs the worlds of package sandbox, for
// tests.
package sandboxtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/zones/zonestest"
)

// Snapshot is the state of a world at one moment.
type Snapshot struct {
	directory *directory.Snapshot
	dns       zonestest.Snapshot
}

// Take returns the state of a world. The directory is read from its first domain controller.
func Take(w *sandbox.World) (Snapshot, error) {
	objects, err := w.Directory.DCs()[0].Snapshot()
	return Snapshot{directory: objects, dns: zonesOf(w)}, err
}

// zonesOf returns the content of the world's DNS servers.
func zonesOf(w *sandbox.World) zonestest.Snapshot {
	var servers []string
	for _, dc := range w.Directory.DCs() {
		servers = append(servers, dc.HostName())
	}
	return zonestest.Take(w.DNS, servers...)
}

// Compare returns the differences from a later snapshot, one per line, in a fixed order: "+ DN" and "-
// DN" for objects, "~ DN attribute" for each attribute, and "+ zone: text" and "- zone: text" for zones.
func (s Snapshot) Compare(later Snapshot) []string {
	var lines []string
	for _, d := range s.directory.Compare(later.directory) {
		switch {
		case d.DN == "":
			lines = append(lines, "+ "+d.NewDN)
		case d.NewDN == "":
			lines = append(lines, "- "+d.DN)
		default:
			if d.DN != d.NewDN {
				lines = append(lines, "~ "+d.DN+" -> "+d.NewDN)
			}
			for _, change := range d.Changes {
				lines = append(lines, "~ "+d.NewDN+" "+change.Name)
			}
		}
	}
	return append(lines, zonestest.Compare(s.dns, later.dns)...)
}

// Changed is an object that differs between two snapshots, or that was added to or removed
// from a group as a member.
type Changed struct {
	DN         string   // before the change, or that of a new object
	Names      []string // before and after
	Attributes []string // attributes that differ; none for a member
}

// Changed returns the directory objects that differ from a later snapshot, and the members
// that were added to or removed from groups. The members follow the groups.
func (s Snapshot) Changed(later Snapshot) []Changed {
	var all []Changed
	of := func(g directory.GUID, attributes []string) Changed {
		names := append(s.directory.Names(g), later.directory.Names(g)...)
		return Changed{DN: names[1], Names: names, Attributes: attributes}
	}
	var members []directory.GUID
	for _, d := range s.directory.Compare(later.directory) {
		var attributes []string
		for _, change := range d.Changes {
			attributes = append(attributes, change.Name)
		}
		all = append(all, of(d.GUID, attributes))
		members = append(members, s.directory.Joined(later.directory, d.GUID, "member")...)
	}
	for _, g := range members {
		all = append(all, of(g, nil))
	}
	return all
}

// ChangedNames returns the DNS zones, and the names in them, that differ from a later snapshot.
func (s Snapshot) ChangedNames(later Snapshot) []string {
	names := map[string]bool{}
	for _, line := range zonestest.Compare(s.dns, later.dns) {
		zone, text, _ := strings.Cut(line[2:], ": ")
		zone, _, _ = strings.Cut(zone, " on ")
		names[zone] = true
		if owner, _, _ := strings.Cut(text, " "); strings.HasSuffix(owner, ".") {
			names[strings.TrimSuffix(owner, ".")] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Mark is a position in the history of a world. The zero Mark precedes its beginning.
type Mark struct {
	directory int64
	dns       map[string]string // serial number and size by zone
}

// Since returns the number of writes after an earlier mark, including writes that were undone,
// and the current mark. A write is an entry in the directory's journal or a change of a zone.
func Since(w *sandbox.World, m Mark) (writes int, now Mark) {
	objects := w.Directory.Journal(m.directory)
	writes, now.directory, now.dns = len(objects), m.directory, map[string]string{}
	if writes > 0 {
		now.directory = objects[writes-1].Seq
	}
	for _, dc := range w.Directory.DCs() {
		server, err := w.DNS.Server(dc.HostName())
		if err != nil {
			continue // the controller is off
		}
		zones, err := server.Zones()
		if err != nil {
			continue
		}
		for _, z := range zones {
			now.dns[strings.ToLower(z.Name)+" on "+z.Server] = fmt.Sprint(z.Serial, z.Records, z.Paused)
		}
	}
	names := maps.Clone(now.dns)
	maps.Copy(names, m.dns)
	for _, name := range slices.Collect(maps.Keys(names)) {
		if m.dns[name] != now.dns[name] {
			writes++
		}
	}
	return writes, now
}

// SetAlive switches a domain controller and its DNS server on or off.
func SetAlive(w *sandbox.World, host string, alive bool) error {
	for _, dc := range w.Directory.DCs() {
		if strings.EqualFold(dc.HostName(), host) || strings.EqualFold(dc.Name(), host) {
			dc.SetAlive(alive)
			return nil
		}
	}
	return fmt.Errorf("there is no domain controller %s", host)
}
