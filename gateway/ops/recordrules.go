package ops

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"adgateway/gateway/schema"
	"adgateway/ps"
)

// ownerDoc explains how an owner name is interpreted.
const ownerDoc = "Owner name, either relative to the zone or fully qualified; @ means the zone itself. " +
	"A name that ends with the name of the zone or with a dot is fully qualified."

const tooLong = "is too long together with the zone: a DNS name has at most 253 characters"

// insideZone reports whether the scripts treat a name as a full name in a zone.
func insideZone(name, zone string) bool {
	plain, absolute := strings.CutSuffix(Fold(name), ".")
	return absolute || plain == "@" || plain == Fold(zone) || strings.HasSuffix(plain, "."+Fold(zone))
}

// rules returns the constraints of a type. A name that cannot exist is refused with code.
func (r recordType) rules(code schema.Code) []Rule {
	var rules []Rule
	if r.Reverse {
		rules = append(rules, standsForName(code == schema.Unprocessable))
	}
	var targets []string
	for _, f := range r.Fields {
		if f.Form == schema.NameForm {
			targets = append(targets, f.Name, "New"+f.Name)
		}
	}
	rules = append(rules, namesFit(code, targets...))
	if r.Reverse && code == schema.Unprocessable {
		rules = append(rules, targetsAreFull(targets))
	}
	return rules
}

// namesFit rejects names that, completed by the zone, are too long; the server would call them
// malformed. No such record can exist, so reads and removals answer not_found.
func namesFit(code schema.Code, targets ...string) Rule {
	return Rule{
		Doc: "a name and its zone together can have at most 253 characters",
		Apply: func(b *Bound) []schema.FieldError {
			owner, zone := b.Text(ownerParam), b.Text(zoneParam)
			var problems []schema.FieldError
			if !insideZone(owner, zone) && len(owner)+1+len(zone) > schema.DomainLimit {
				problems = append(problems, schema.FieldError{Field: ownerParam, Code: code, Message: tooLong})
			}
			for _, name := range targets {
				if target := b.Text(name); !strings.Contains(target, ".") && len(target)+1+
					len(zone) > schema.DomainLimit {
					problems = append(problems, schema.FieldError{Field: name, Code: code, Message: tooLong})
				}
			}
			return problems
		},
	}
}

// targetsAreFull refuses relative targets, which the server would complete inside a reverse zone.
func targetsAreFull(targets []string) Rule {
	return Rule{
		Doc: "a target must be a fully qualified name, with at least one dot",
		Apply: func(b *Bound) []schema.FieldError {
			var problems []schema.FieldError
			for _, name := range targets {
				if target := b.Text(name); target != "" && !strings.Contains(target, ".") {
					problems = append(problems, schema.FieldError{Field: name, Code: schema.Unprocessable,
						Message: "must be a full name such as web1.corp.example: without a dot it would be completed inside " +
							"the reverse zone"})
				}
			}
			return problems
		},
	}
}

// standsForName lets an address replace the owner and the zone of a PTR record.
func standsForName(writes bool) Rule {
	return Rule{
		Doc: "either DNS_HostName and ZoneName or IP_Address are required; if all are given, they must refer to " +
			"the same record",
		Apply: func(b *Bound) []schema.FieldError {
			owner, zone, address := b.Text(ownerParam), b.Text(zoneParam), b.Text(addressParam)
			var problems []schema.FieldError
			wrong := func(code schema.Code, field, message string) {
				problems = append(problems, schema.FieldError{Field: field, Code: code, Message: message})
			}
			if writes && zone != "" && !schema.IsReverse(zone) {
				wrong(schema.Unprocessable, zoneParam,
					"must be a reverse zone: PTR records are found by the names of addresses")
			}
			if address == "" {
				for name, given := range map[string]string{ownerParam: owner, zoneParam: zone} {
					if given == "" {
						wrong(schema.InvalidRequest, name, "is required, unless IP_Address is given")
					}
				}
				slices.SortFunc(problems, func(a, b schema.FieldError) int { return strings.Compare(a.Field, b.Field) })
				return problems
			}
			reverse := schema.ReverseName(netip.MustParseAddr(address))
			if owner != "" && Fold(FullName(owner, zone)) != reverse &&
				Fold(strings.TrimSuffix(owner, ".")) != reverse {
				wrong(schema.InvalidRequest, ownerParam, "names another address than IP_Address: give one of them")
			}
			if zone != "" && len(problems) == 0 && !insideZone(reverse, zone) {
				wrong(schema.InvalidRequest, zoneParam, "does not hold IP_Address: leave it out")
			}
			if zone != "" { // search only in this zone
				delete(b.Args, "Address")
				b.Args["Name"] = ps.Text(reverse + ".")
			}
			return problems
		},
	}
}

// somethingNew refuses a change that sets no new value.
func somethingNew(r recordType) Rule {
	var names []string
	for _, f := range r.Fields {
		names = append(names, "New"+f.Name)
	}
	names = append(names, ttlParam)
	all := append(slices.Clip(names), "MakeStatic")
	if r.Address {
		all = append(all, "CreatePtr")
	}
	last := len(all) - 1
	return Rule{
		Doc: "at least one new value is required: " + strings.Join(all[:last], ", ") + ", or " + all[last],
		Apply: func(b *Bound) []schema.FieldError {
			if slices.ContainsFunc(names, b.Has) || b.Text("MakeStatic") == "true" || b.Text("CreatePtr") == "true" {
				return nil
			}
			return []schema.FieldError{{Code: schema.InvalidRequest,
				Message: "Nothing new is given: say what to change with " + strings.Join(names, ", ") +
					" or MakeStatic."}}
		},
	}
}

// Arguments of the script that writes a set: the faults of its values and of its owner. They only matter for
// new values and owners, because everything that the set already contains may stay.
const (
	doubtArg      = "Doubt"
	ownerDoubtArg = "OwnerDoubt"
)

// valuesFit parses the values of a set according to its type, and passes their fields to the script
// in one list.
var valuesFit = Rule{
	Doc: "each value must have the format of the record type and occur only once; a new record must have a " +
		"plausible name and value",
	Apply: func(b *Bound) []schema.FieldError {
		t, zone := schema.RecordTypeNamed(b.Text("Type")), b.Text(zoneParam)
		values := schema.Texts(b.Text("Data")).List()
		if t == nil || t.Resource == "" { // the script compares them with the existing records
			b.Args["Data"] = ps.List(values)
			of := b.Text("Type")
			b.Args[ownerDoubtArg] = ps.Text("records of the type " + of + " are not written here: " +
				schema.HowToWrite(of))
			return nil
		}
		if t.Alone && len(values) > 1 {
			return []schema.FieldError{{
				Field: "Data", Code: schema.InvalidRequest,
				Message: "must be one value for the type " + t.Name,
			}}
		}
		b.Args[ownerDoubtArg] = ps.Text(newOwnerDoubt(t, b.Text(ownerParam), zone))
		var all, doubts []string
		known := map[string]bool{}
		for _, value := range values {
			fields, doubt, problem := readValue(t, value, zone)
			if problem != nil {
				problem.Field = "Data"
				return []schema.FieldError{*problem}
			}
			if key := t.Key(fields); known[key] {
				return []schema.FieldError{{Field: "Data", Code: schema.InvalidRequest,
					Message: "must not have a value twice"}}
			} else {
				known[key] = true
			}
			all, doubts = append(all, fields...), append(doubts, doubt)
		}
		b.Args["Data"], b.Args[doubtArg] = ps.List(all), ps.List(doubts)
		return nil
	},
}

// newOwnerDoubt returns the fault of a set's owner, or "" if it has none. An existing set can keep an
// owner with a fault.
func newOwnerDoubt(t *schema.RecordType, owner, zone string) string {
	if t.Reverse && !schema.IsReverse(zone) {
		return "must be in a reverse zone: PTR records are found by the names of addresses"
	}
	if _, problem := schema.NewOwner.Decode(owner); problem != nil {
		return problem.Message
	}
	return unmeantOwner(owner, zone)
}

// readValue returns the fields of a value of type t. doubt is the reason why a new record must not have the
// value, or "" if it may; an existing record can keep the value. problem is set if the value cannot be used
// at all.
func readValue(
	t *schema.RecordType, value, zone string,
) (fields []string, doubt string, problem *schema.FieldError) {
	if _, problem := t.Parse(value); problem != nil {
		doubt = problem.Message
	}
	fields, problem = t.Listed(value)
	if problem != nil {
		return nil, "", problem
	}
	for i, f := range t.Fields {
		if f.Form != schema.NameForm {
			continue
		}
		if t.Reverse && !strings.Contains(fields[i], ".") {
			return nil, "", &schema.FieldError{Code: schema.Unprocessable,
				Message: "must be full names such as web1.corp.example"}
		}
		if fields[i] = bare(completed(fields[i], zone)); len(fields[i]) > schema.DomainLimit {
			return nil, "", &schema.FieldError{Code: schema.Unprocessable, Message: tooLong}
		}
	}
	return fields, doubt, nil
}

// bare returns a name without its trailing dot, unless that is its only dot.
func bare(name string) string {
	if short := strings.TrimSuffix(name, "."); strings.Contains(short, ".") {
		return short
	}
	return name
}

// completed returns a target as the scripts store it. A target without any dot is a name in the
// zone.
func completed(target, zone string) string {
	if strings.Contains(target, ".") {
		return target
	}
	return target + "." + zone
}

const (
	domainOfIPv4 = ".in-addr.arpa"
	domainOfIPv6 = ".ip6.arpa"

	labelsOfIPv4 = 4
	labelsOfIPv6 = 32
)

// ownerIsMeant refuses owner names of new records that a server accepts although they must be mistakes, such
// as an address, or a name in a reverse zone that cannot belong to an address.
var ownerIsMeant = Rule{
	Doc: "DNS_HostName must not be an address; in a reverse zone, it must be a possible name of an address",
	Apply: func(b *Bound) []schema.FieldError {
		owner, zone := b.Text(ownerParam), b.Text(zoneParam)
		if owner == "" || zone == "" {
			return nil
		}
		message := unmeantOwner(owner, zone)
		if message == "" {
			return nil
		}
		return []schema.FieldError{{Field: ownerParam, Code: schema.Unprocessable, Message: message}}
	},
}

// unmeantOwner returns the reason why an owner name must be a mistake, or "" if it is plausible.
func unmeantOwner(owner, zone string) string {
	address, err := netip.ParseAddr(strings.TrimSuffix(owner, "."))
	switch reverse := schema.IsReverse(zone); {
	case err == nil && !reverse:
		return "must be the name of a host, not an address"
	case err == nil:
		name := schema.ReverseName(address.Unmap())
		inside := strings.HasSuffix(name, "."+Fold(zone))
		if !inside {
			return fmt.Sprintf("must be a name, not an address, and %s does not lie in the zone: its name is %s",
				address, name)
		}
		return fmt.Sprintf("must be a name, not an address: the name of %s in this zone is %q", address,
			strings.TrimSuffix(name, "."+Fold(zone)))
	case !reverse:
		return ""
	}
	full := Fold(FullName(owner, zone))
	if labels, ok := strings.CutSuffix(full, domainOfIPv4); ok {
		return unmeantOctets(strings.Split(labels, "."))
	}
	if labels, ok := strings.CutSuffix(full, domainOfIPv6); ok {
		return unmeantNibbles(strings.Split(labels, "."))
	}
	return ""
}

// unmeantOctets judges only names made of numbers. Others name hosts, or follow RFC 2317.
func unmeantOctets(labels []string) string {
	for _, label := range labels {
		if strings.Trim(label, "0123456789") != "" {
			return ""
		}
	}
	if len(labels) > labelsOfIPv4 {
		return fmt.Sprintf("has more labels than the zone has room for: with the zone it has %d numbers, and an "+
			"address has %d",
			len(labels), labelsOfIPv4)
	}
	for _, label := range labels {
		if n, err := strconv.Atoi(label); err != nil || n > 255 {
			return fmt.Sprintf("has the number %s, and an octet of an address is at most 255", label)
		}
		if len(label) > 1 && label[0] == '0' {
			return fmt.Sprintf("has the number %s, and the name of an address has no leading zeros", label)
		}
	}
	return ""
}

var nibbles = regexp.MustCompile(`^[0-9a-f]+$`)

// unmeantNibbles judges only names made of hexadecimal digits. A label such as "cafe" may be a
// host.
func unmeantNibbles(labels []string) string {
	long := ""
	for _, label := range labels {
		if !nibbles.MatchString(label) {
			return ""
		}
		if len(label) > 1 && long == "" {
			long = label
		}
	}
	if strings.ContainsAny(long, "0123456789") {
		return fmt.Sprintf("has the label %q, and each label of the name of an IPv6 address is one hexadecimal "+
			"digit", long)
	}
	if len(labels) > labelsOfIPv6 {
		return fmt.Sprintf("has more labels than the zone has room for: with the zone it has %d digits, and an "+
			"address has %d",
			len(labels), labelsOfIPv6)
	}
	return ""
}

var createPtr = Param{
	Name: "CreatePtr", Kind: schema.Bool, Default: "false",
	Doc: "Whether to create the PTR record of the address, too, in a reverse zone of this server.",
}

var removePtr = Param{
	Name: "RemovePtr", Kind: schema.Bool, Default: "false",
	Doc: "Whether to remove the PTR record of the address that points to this name, too.",
}
