package form

import (
	_ "embed"
	"slices"
	"strings"

	"adgateway/gateway/ops"
	"adgateway/ps/packed"
)

// Words is a text in all languages of the console, in their order.
type Words [2]string

//go:embed labels.txt
var labelTable string

//go:embed operations.txt
var operationTable string

type labelWords struct{ label, help Words }

type operationWords struct {
	label, says Words
	order       []string
}

// rows returns the rows of a table by their first column.
func rows(table string) map[string][]string {
	all := map[string][]string{}
	for cells := range packed.Rows(table) {
		all[cells[0]] = append(cells[1:], "", "", "", "", "")
	}
	return all
}

var labels = func() map[string]labelWords {
	all := map[string]labelWords{}
	for name, cells := range rows(labelTable) {
		all[name] = labelWords{Words{cells[0], cells[1]}, Words{cells[2], cells[3]}}
	}
	return all
}()

var operations = func() map[string]operationWords {
	all := map[string]operationWords{}
	for id, cells := range rows(operationTable) {
		all[id] = operationWords{
			label: Words{cells[0], cells[1]}, says: Words{cells[2], cells[3]}, order: strings.Fields(cells[4]),
		}
	}
	return all
}()

// recordTypes contains the resources whose operations concern records of one type.
var recordTypes = strings.Fields("cname a aaaa ptr txt srv mx caa tlsa sshfp dname")

// wordsOf returns the words of an operation. The operations of all record types share one set.
func wordsOf(op *ops.Operation) operationWords {
	if own, has := operations[op.ID]; has {
		return own
	}
	resource, what, _ := strings.Cut(op.ID, ".")
	shared, has := operations["record."+what]
	if !has || !slices.Contains(recordTypes, resource) {
		return operationWords{}
	}
	for i := range shared.label {
		shared.label[i] = strings.ReplaceAll(shared.label[i], "{type}", strings.ToUpper(resource))
		shared.says[i] = strings.ReplaceAll(shared.says[i], "{type}", strings.ToUpper(resource))
	}
	return shared
}

// choices contains the labels of values that people choose. Other values are names that the directory or DNS
// uses, and are shown unchanged.
var choices = map[string]Words{
	"Global":      {"Global", "Global"},
	"Universal":   {"Universal", "Universell"},
	"DomainLocal": {"Local to the domain", "Lokal in der Domäne"},
	"Domain":      {"The DNS servers of the domain", "Die DNS-Server der Domäne"},
	"Forest":      {"The DNS servers of the forest", "Die DNS-Server der Gesamtstruktur"},
	"Legacy":      {"All domain controllers", "Alle Domänencontroller"},
	"None":        {"None", "Keine"},
	"Secure":      {"Secure only", "Nur sichere"},
	"words":       {"Words and digits, easy to dictate", "Wörter und Ziffern, leicht zu diktieren"},
	"characters":  {"Random characters", "Zufällige Zeichen"},
}

func choiceWords(word string) Words {
	if known, has := choices[word]; has {
		return known
	}
	return Words{word, word}
}

// LabelOf returns the label of a field of a record or of a parameter, regardless of case. It is empty if
// there is none.
func LabelOf(name string) Words {
	for known, words := range labels {
		if strings.EqualFold(known, name) {
			return words.label
		}
	}
	return Words{}
}
