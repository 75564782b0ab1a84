package live

import (
	"bufio"
	_ "embed" // checklist.txt
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"adgateway/ps/packed"
)

// Item is a test that requires a real Windows or a real domain.
type Item struct {
	Area   string
	Do     string // instruction
	Expect string // expected result
	Probes []string
	Checks []string // checks of the doctor, by name; together with probes they answer the item without a person
	Writes bool     // Do changes something, so a run never does it
}

// Entry is an item of the checklist with its result.
type Entry struct {
	Number int    `json:"number"`
	Area   string `json:"area"`
	Item   string `json:"item"`
	Expect string `json:"expect"`
	Status Status `json:"status"`
	Found  string `json:"found,omitempty"`
}

// Open is the status of an item without an answer.
const Open Status = "open"

//go:embed checklist.txt
var checklistText string

// Checklist returns the checklist. The number of an item is its position, starting at 1.
func Checklist() []Item {
	var all []Item
	for cells := range packed.Rows(checklistText) {
		all = append(all, Item{Area: cells[0], Writes: cells[1] == "writes", Probes: strings.Fields(cells[2]),
			Checks: strings.Fields(cells[3]), Do: cells[4], Expect: cells[5]})
	}
	return all
}

// Answers are a person's findings, by item number.
type Answers map[int]Entry

var answer = regexp.MustCompile(`^([0-9]+)\s+(ok|differs|skipped)(?:\s+(.*))?$`)

// ReadAnswers reads lines such as "14 differs no restart". It ignores empty lines and lines
// that begin with #. Numbers above items are errors.
func ReadAnswers(from io.Reader, items int) (Answers, error) {
	all := Answers{}
	lines := bufio.NewScanner(from)
	for at := 1; lines.Scan(); at++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		found := answer.FindStringSubmatch(line)
		if found == nil {
			return nil, fmt.Errorf("line %d: write a number, then ok, differs or skipped, then what you saw", at)
		}
		number, err := strconv.Atoi(found[1])
		if err != nil || number < 1 || number > items {
			return nil, fmt.Errorf("line %d: the check list has %d items", at, items)
		}
		all[number] = Entry{Status: Status(found[2]), Found: found[3]}
	}
	return all, lines.Err()
}

// Fill fills in the checklist with the results of the probes and of the doctor's checks. checks maps the name
// of a check to "ok" or to its finding. Fill calls ask, unless it is nil, for each item that neither answers.
func (r *Report) Fill(checks map[string]string, ask func(Entry) (Entry, error)) error {
	r.Checklist = nil
	for i, item := range Checklist() {
		entry := Entry{Number: i + 1, Area: item.Area, Item: item.Do, Expect: item.Expect, Status: Open}
		if status, found := r.result(item, checks); status != "" {
			entry.Status, entry.Found = status, found
		}
		if ask != nil && entry.Status == Open {
			given, err := ask(entry)
			if err != nil {
				return err
			}
			if given.Status != "" {
				entry.Status, entry.Found = given.Status, given.Found
			}
		}
		r.Checklist = append(r.Checklist, entry)
	}
	return nil
}

// result returns the worst finding of an item's probes and checks. The status is empty if there are no
// results, or if all results are in order but a person must check as well.
func (r *Report) result(item Item, checks map[string]string) (Status, string) {
	var bad []string
	seen := 0
	for _, name := range item.Checks {
		if found, ran := checks[name]; ran {
			seen++
			if found != string(AsExpected) {
				bad = append(bad, name+": "+found)
			}
		}
	}
	for _, finding := range r.Findings {
		if !slices.Contains(item.Probes, finding.Probe) && !slices.Contains(item.Probes, "*") {
			continue
		}
		seen++
		for _, o := range finding.Observations {
			if o.Status == Differs || o.Status == Failed {
				bad = append(bad, finding.Probe+": "+o.Fact)
			}
		}
	}
	switch {
	case len(bad) > 0:
		return Differs, strings.Join(bad, "; ")
	case seen == 0 || seen < len(item.Checks)+len(item.Probes) || item.Writes:
		return "", ""
	}
	return AsExpected, ""
}

// Redact replaces names in the report, regardless of case.
func (r *Report) Redact(names map[string]string) error {
	var patterns []string
	folded := map[string]string{}
	for name, by := range names {
		if len(name) > 1 {
			patterns, folded[strings.ToLower(name)] = append(patterns, whole(name)), by
		}
	}
	if len(patterns) == 0 {
		return nil
	}
	slices.SortFunc(patterns, func(a, b string) int { return len(b) - len(a) }) // longest first
	pattern := regexp.MustCompile("(?i)" + strings.Join(patterns, "|"))
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return err
	}
	tree = replaced(tree, func(text string) string {
		return pattern.ReplaceAllStringFunc(text, func(name string) string { return folded[strings.ToLower(name)] })
	})
	if text, err = json.Marshal(tree); err != nil {
		return err
	}
	*r = Report{}
	return json.Unmarshal(text, r)
}

// whole returns a pattern that matches a name as a whole word.
func whole(name string) string {
	letters := regexp.MustCompile(`^\w`)
	pattern := regexp.QuoteMeta(name)
	if letters.MatchString(name) {
		pattern = `\b` + pattern
	}
	if last := name[len(name)-1:]; letters.MatchString(last) {
		pattern += `\b`
	}
	return pattern
}

// replaced returns a JSON tree with by applied to its strings. Names of members are unchanged.
func replaced(tree any, by func(string) string) any {
	switch node := tree.(type) {
	case string:
		return by(node)
	case []any:
		for i := range node {
			node[i] = replaced(node[i], by)
		}
	case map[string]any:
		for name := range node {
			node[name] = replaced(node[name], by)
		}
	}
	return tree
}
