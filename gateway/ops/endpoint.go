package ops

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adgateway/gateway/schema"
)

// endpoint is a record set as ExternalDNS writes it.
type endpoint struct {
	DNSName          string            `json:"dnsName"`
	Targets          []string          `json:"targets"`
	RecordType       string            `json:"recordType"`
	SetIdentifier    string            `json:"setIdentifier,omitempty"`
	RecordTTL        int64             `json:"recordTTL,omitempty"` // in seconds; zero if not set
	Labels           map[string]string `json:"labels,omitempty"`
	ProviderSpecific []property        `json:"providerSpecific,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// endpointChanges are the changes that ExternalDNS requests. UpdateOld[i] becomes UpdateNew[i].
type endpointChanges struct {
	Create    []*endpoint `json:"create"`
	UpdateOld []*endpoint `json:"updateOld"`
	UpdateNew []*endpoint `json:"updateNew"`
	Delete    []*endpoint `json:"delete"`
}

// typeTXT is the type in which ExternalDNS records its ownership.
const typeTXT = "TXT"

// ownership is the prefix of the text by which ExternalDNS records that it owns a record.
const ownership = "heritage="

// maxTTL is the longest time to live (RFC 2181, 8).
const maxTTL = 1<<31 - 1

// key identifies the record set.
func (e *endpoint) key() string { return e.DNSName + " " + e.RecordType }

// normalize brings the name, type, time to live and targets into the form in which records are
// read. It fails if a target does not fit its type.
func (e *endpoint) normalize() error {
	e.DNSName = strings.TrimSuffix(strings.ToLower(e.DNSName), ".")
	e.RecordType = strings.ToUpper(e.RecordType)
	e.RecordTTL = min(max(e.RecordTTL, 0), maxTTL)
	if e.Targets == nil {
		e.Targets = []string{}
	}
	if !keeps(e.RecordType) {
		return fmt.Errorf("the type %s", printableType(e.RecordType))
	}
	for i, target := range e.Targets {
		fields, problem := targetFields(e.RecordType, target)
		if problem != nil {
			return errors.New("a target that " + problem.Message)
		}
		e.Targets[i] = targetOf(e.RecordType, strings.Join(fields, " "))
	}
	return nil
}

// keeps reports whether records of a type can be written.
func keeps(kind string) bool {
	t := schema.RecordTypeNamed(kind)
	return t != nil && t.Resource != ""
}

func printableType(name string) string {
	if len(name) > 16 || name == "" ||
		strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Sprintf("%.16q", name)
	}
	return name
}

// targetFields returns the data of a target. Names are in lower case without a trailing dot, and texts have
// no surrounding quotes.
func targetFields(kind, target string) ([]string, *schema.FieldError) {
	if kind == typeTXT {
		target = unquoted(target)
	}
	fields, problem := schema.RecordTypeNamed(kind).Parse(target)
	if problem != nil {
		return nil, problem
	}
	for i, field := range schema.RecordTypeNamed(kind).Fields {
		if field.Form == schema.NameForm {
			fields[i] = bare(strings.ToLower(fields[i]))
		}
	}
	return fields, nil
}

// targetOf converts canonical data to the form that ExternalDNS expects, in which the host of an SRV record
// ends with a dot.
func targetOf(kind, data string) string {
	if kind == "SRV" && !strings.HasSuffix(data, ".") {
		return data + "."
	}
	return data
}

// unquoted removes the quotes from a text that starts and ends with one.
func unquoted(text string) string {
	if len(text) >= 2 && strings.HasPrefix(text, `"`) && strings.HasSuffix(text, `"`) {
		return text[1 : len(text)-1]
	}
	return text
}

// adjusted returns record sets in the form that they will have once they exist, so that the next loop finds
// no difference. It drops values that the server cannot store and names them in the notes.
func adjusted(wanted []*endpoint) (left []*endpoint, notes []string) {
	left = []*endpoint{}
	seen := map[string]bool{}
	for _, e := range wanted {
		name := e.DNSName
		if err := e.normalize(); err != nil {
			notes = append(notes, fmt.Sprintf("ExternalDNS: '%s' was left out: the DNS server does not keep %s", name,
				err))
			continue
		}
		if seen[e.key()] {
			notes = append(notes, fmt.Sprintf(
				"ExternalDNS: '%s' was left out: the DNS server has one set of the type %s for a name, without "+
					"identifiers", name, e.RecordType))
			continue
		}
		seen[e.key()] = true
		e.SetIdentifier, e.ProviderSpecific = "", nil
		left = append(left, e)
	}
	return left, notes
}

// zoneRecord is the part of a record that goes into a set.
type zoneRecord struct {
	Type string `json:"type"`
	Data string `json:"data"`
	Zone string `json:"zone"`
	FQDN string `json:"fqdn"`
	TTL  int64  `json:"ttl"`
}

// endpointsOf groups records into sets, ordered by name and type. It omits the name servers of the
// zone itself, but not those of delegations.
func endpointsOf(batches []json.RawMessage) ([]*endpoint, error) {
	sets := map[string]*endpoint{}
	for _, batch := range batches {
		var records []zoneRecord
		if err := json.Unmarshal(batch, &records); err != nil {
			return nil, fmt.Errorf("records of another type: %T", err)
		}
		for _, record := range records {
			apex := strings.EqualFold(record.FQDN, record.Zone)
			if !keeps(record.Type) && record.Type != "NS" || apex && record.Type == "NS" {
				continue
			}
			one := &endpoint{DNSName: strings.ToLower(record.FQDN), RecordType: record.Type, RecordTTL: record.TTL}
			set := sets[one.key()]
			if set == nil {
				set = one
				sets[one.key()] = set
			}
			set.RecordTTL = min(set.RecordTTL, record.TTL)
			set.Targets = append(set.Targets, targetOf(record.Type, record.Data))
		}
	}
	joined(sets)
	all := slices.Collect(maps.Values(sets))
	for _, set := range all {
		slices.SortFunc(set.Targets, func(a, b string) int {
			return cmp.Or(ownershipFirst(a, b), cmp.Compare(a, b))
		})
	}
	slices.SortFunc(all, func(a, b *endpoint) int {
		return cmp.Or(cmp.Compare(a.DNSName, b.DNSName), cmp.Compare(a.RecordType, b.RecordType))
	})
	return all, nil
}

// ownershipFirst sorts ownership texts before others, because ExternalDNS reads only the first one.
func ownershipFirst(a, b string) int {
	first, second := strings.HasPrefix(a, ownership), strings.HasPrefix(b, ownership)
	switch {
	case first == second:
		return 0
	case first:
		return -1
	default:
		return 1
	}
}

// setChange is the change of one record set.
type setChange struct {
	name, kind  string
	add, remove [][]string // data of the values
	ttl         int64      // TTL of the set afterwards; -1 keeps it, or uses the zone's default for a new set
	removes     bool       // all values of the set are removed, so the set need not exist
}

// setChanges returns the change of each set in the order in which the changes must be made: first removals,
// then updates, then creations. The ownership of a record is recorded before the record is created, and
// removed after it. A problem does not contain values.
func (c *endpointChanges) setChanges() ([]setChange, *schema.FieldError) {
	if len(c.UpdateOld) != len(c.UpdateNew) {
		return nil, &schema.FieldError{Code: schema.InvalidRequest,
			Message: "updateOld and updateNew do not have the same length."}
	}
	c.parted()
	var removed, updated, created []setChange
	for i := range c.Delete {
		if problem := appendChange(&removed, c.Delete[i], nil); problem != nil {
			return nil, problem
		}
	}
	for i := range c.UpdateOld {
		if problem := appendChange(&updated, c.UpdateOld[i], c.UpdateNew[i]); problem != nil {
			return nil, problem
		}
	}
	for i := range c.Create {
		if problem := appendChange(&created, nil, c.Create[i]); problem != nil {
			return nil, problem
		}
	}
	records := func(change setChange) int {
		if change.kind == typeTXT {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(removed, func(a, b setChange) int { return cmp.Compare(records(a), records(b)) })
	slices.SortStableFunc(created, func(a, b setChange) int { return cmp.Compare(records(b), records(a)) })
	return slices.Concat(removed, updated, created), nil
}

// ownershipName returns the name at which to record the ownership of an alias when a registry asks for a text
// at the alias itself, where DNS allows none. Later registries use the returned name. The name is empty for a
// wildcard.
func ownershipName(alias string) string {
	if strings.HasPrefix(alias, "*") {
		return ""
	}
	return "cname-" + alias
}

// owns reports whether the endpoint is a text by which ExternalDNS owns a record.
func (e *endpoint) owns() bool {
	return strings.EqualFold(e.RecordType, typeTXT) && slices.ContainsFunc(e.Targets, func(target string) bool {
		return strings.HasPrefix(unquoted(target), ownership)
	})
}

// parted moves ownership texts from the names of aliases to the names that ownershipName returns,
// in creations and changes, and adds these names to removals.
func (c *endpointChanges) parted() {
	plain := func(e *endpoint) string { return bare(strings.ToLower(e.DNSName)) }
	aliases := func(list []*endpoint) map[string]bool {
		names := map[string]bool{}
		for _, e := range list {
			if strings.EqualFold(e.RecordType, "CNAME") {
				names[plain(e)] = ownershipName(plain(e)) != ""
			}
		}
		return names
	}
	moved := func(e *endpoint) *endpoint {
		other := *e
		other.DNSName, other.Targets = ownershipName(plain(e)), slices.Clone(e.Targets)
		return &other
	}
	created, changed, gone := aliases(c.Create), aliases(c.UpdateNew), aliases(c.Delete)
	for i, e := range c.Create {
		if e.owns() && created[plain(e)] {
			c.Create[i] = moved(e)
		}
	}
	for i, e := range c.UpdateNew {
		if e.owns() && changed[plain(e)] {
			c.UpdateNew[i], c.UpdateOld[i] = moved(e), moved(c.UpdateOld[i])
		}
	}
	for _, e := range slices.Clone(c.Delete) {
		if e.owns() && gone[plain(e)] {
			c.Delete = append(c.Delete, moved(e))
		}
	}
}

// joined repeats the ownership texts of aliases at the aliases themselves, where some registries
// look for them.
func joined(sets map[string]*endpoint) {
	for _, alias := range slices.Collect(maps.Values(sets)) {
		name := ownershipName(alias.DNSName)
		text := sets[name+" "+typeTXT]
		at := alias.DNSName + " " + typeTXT
		if alias.RecordType != "CNAME" || text == nil || !text.owns() || sets[at] != nil {
			continue
		}
		other := *text
		other.DNSName, other.Targets = alias.DNSName, slices.Clone(text.Targets)
		sets[at] = &other
	}
}

// wrong returns the problem of a record, which it names without its values.
func (e *endpoint) wrong(problem string) *schema.FieldError {
	message := fmt.Sprintf("The record %.100q %s.", e.DNSName, problem)
	return &schema.FieldError{Code: schema.InvalidRequest, Message: message}
}

// appendChange appends the change from one endpoint to another. Either may be nil.
func appendChange(all *[]setChange, from, to *endpoint) *schema.FieldError {
	change := setChange{ttl: -1, removes: to == nil || len(to.Targets) == 0}
	for _, e := range []*endpoint{from, to} {
		if e == nil {
			continue
		}
		switch err := e.normalize(); {
		case err == nil:
		case !keeps(e.RecordType):
			return e.wrong("has " + err.Error() + ", which cannot be written here")
		default:
			return e.wrong("has " + err.Error())
		}
		if _, problem := schema.RecordName.Decode(e.DNSName); problem != nil {
			if _, wildcard := schema.CertificateName.Decode(e.DNSName); wildcard != nil {
				return e.wrong("has a dnsName that " + problem.Message)
			}
		}
		if change.kind != "" && (change.kind != e.RecordType || change.name != e.DNSName) {
			return e.wrong("of updateNew has another name or type than the record of updateOld")
		}
		change.name, change.kind = e.DNSName, e.RecordType
	}
	if to != nil && to.RecordTTL > 0 {
		change.ttl = to.RecordTTL
	}
	change.remove, change.add = difference(from, to), difference(to, from)
	if from != nil && to != nil && len(change.add)+len(change.remove) == 0 && change.ttl >= 0 {
		change.add = difference(to, nil) // all values, because their time to live changes
	}
	*all = append(*all, change)
	return nil
}

// difference returns the data of the values in a that are not in b.
func difference(a, b *endpoint) [][]string {
	if a == nil {
		return nil
	}
	var data [][]string
	for _, target := range a.Targets {
		if b != nil && slices.Contains(b.Targets, target) {
			continue
		}
		fields, problem := targetFields(a.RecordType, target)
		if problem == nil { // always, because normalize has parsed it
			data = append(data, fields)
		}
	}
	return data
}

// fieldSeparator separates the parts of an encoded change. Names and data never contain it, because
// control characters are refused.
const fieldSeparator = "\x1d"

// encoded returns the lines that describe a change to the script, one per value. A line contains the action,
// the number of the set, type, time to live, name and data. Only a set whose values are all removed may be
// missing.
func (c *setChange) encoded(number int) []string {
	line := func(action string, data []string) string {
		return strings.Join(slices.Concat([]string{action, fmt.Sprint(number), c.kind, fmt.Sprint(c.ttl), c.name},
			data), fieldSeparator)
	}
	var lines []string
	for _, data := range c.add {
		lines = append(lines, line("add", data))
	}
	action := "remove"
	if c.removes {
		action = "clear"
	}
	for _, data := range c.remove {
		lines = append(lines, line(action, data))
	}
	return lines
}
