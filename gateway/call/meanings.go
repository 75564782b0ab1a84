package call

import (
	_ "embed" // meanings.txt
	"strconv"
	"strings"

	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps/packed"
)

//go:embed meanings.txt
var meaningText string

// mapping is the table of all errors that have a meaning, and named has the meanings that have a name.
var mapping, named = readMeanings()

// Meanings of errors without a row, and meanings that depend on the call.
var (
	missing, badReference = named["missing"], named["badReference"]
	shutZone, tookLong    = named["shutZone"], named["tookLong"]
	unmapped, ourFault    = named["unmapped"], named["ourFault"]
)

// readMeanings reads meanings.txt, whose comment describes the rows. A test checks the rows.
func readMeanings() (all []row, named map[string]meaning) {
	named = map[string]meaning{"ourFault": {schema.Internal, problem.OurFault}}
	for cells := range packed.Rows(meaningText) {
		kind, key, _ := strings.Cut(cells[0], " ")
		if kind == "meaning" {
			named[key] = meaning{schema.Code(cells[1]), cells[2]}
			continue
		}
		r := row{source: "facts " + cells[1], meaning: named[cells[2]]}
		if len(cells) == 4 {
			r.meaning = meaning{schema.Code(cells[2]), cells[3]}
		}
		switch kind {
		case "fault":
			r.fault = key
		case "id":
			r.id = key
		case "type":
			r.typ = key
		default:
			r.number, _ = strconv.Atoi(key)
			r.origin = map[string]origin{"AD": directory, "DNS": dnsServer}[kind]
		}
		all = append(all, r)
	}
	return all, named
}
