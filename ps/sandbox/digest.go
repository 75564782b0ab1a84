package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"adgateway/ps/sandbox/zones"
)

// Digest contains hashes of a world's whole content. Worlds with equal content have equal
// hashes, even if they were created at different times or with different GUIDs.
type Digest struct {
	Controllers map[string]string `json:"controllers"` // by host name, except controllers that are off
	DNS         string            `json:"dns"`
}

// Digest returns the hashes of the directory as seen by each controller, and of the zones
// without their serial numbers.
func (w *World) Digest() (Digest, error) {
	d := Digest{Controllers: map[string]string{}}
	for _, dc := range w.Directory.DCs() {
		if !dc.Alive() {
			continue
		}
		s, err := dc.Snapshot()
		if err != nil {
			return d, err
		}
		d.Controllers[dc.HostName()] = s.Digest()
	}
	var lines []string
	for _, dc := range w.Directory.DCs() {
		if !dc.Alive() {
			continue
		}
		server, err := w.DNS.Server(dc.HostName())
		if err != nil {
			return d, err
		}
		more, err := zoneLines(server)
		if err != nil {
			return d, err
		}
		lines = append(lines, more...)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(lines), "\n")))
	d.DNS = hex.EncodeToString(sum[:])
	return d, nil
}

// typeSOA is the record type that contains the serial number of a zone.
const typeSOA = 6

func zoneLines(server *zones.Server) ([]string, error) {
	all, err := server.Zones()
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, z := range all {
		name := strings.ToLower(z.Name) + " on " + strings.ToLower(z.Server)
		lines = append(lines, name)
		records, err := server.Records(z.Name, zones.Query{})
		if err != nil { // a zone without records, such as a forwarder
			lines = append(lines, fmt.Sprint(name, ": ", z.Records))
			continue
		}
		for _, r := range records {
			if r.RR.Header().Rrtype != typeSOA {
				lines = append(lines, name+": "+r.Text())
			}
		}
	}
	return lines, nil
}
