package sandbox

import (
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/zones"
)

// Snapshot is all that can be changed in a world at one moment.
type Snapshot struct {
	directory *directory.Snapshot
	dns       zones.Snapshot
}

// Snapshot takes one, as the first domain controller sees the directory.
func (w *World) Snapshot() (Snapshot, error) {
	objects, err := w.Directory.DCs()[0].Snapshot()
	return Snapshot{directory: objects, dns: w.DNS.Snapshot()}, err
}

// Compare tells what differs in a later snapshot, one line each, in a fixed
// order: "+ DN" and "- DN" for objects, "~ DN attribute" for each attribute,
// the same for lines of zones. Nothing: equal.
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
	return append(lines, zones.Compare(s.dns, later.dns)...)
}

// Mark is a place in the journals of a world.
type Mark struct {
	directory int64
	dns       int
}

// Since counts the writes after a mark, those that were taken back included,
// and gives the mark of now. The zero Mark is the beginning.
func (w *World) Since(m Mark) (writes int, now Mark) {
	objects, records := w.Directory.Journal(m.directory), w.DNS.Journal(m.dns)
	if n := len(objects); n > 0 {
		m.directory = objects[n-1].Seq
	}
	if n := len(records); n > 0 {
		m.dns = records[n-1].Number
	}
	return len(objects) + len(records), m
}
