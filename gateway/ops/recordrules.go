package ops

import (
	"net/netip"
	"slices"
	"strings"

	"adgateway/gateway/schema"
	"adgateway/ps"
)

const tooLong = "is too long together with the zone: a DNS name has at most 253 characters"

// insideZone reports whether the scripts take a name as a full one.
func insideZone(name, zone string) bool {
	plain, absolute := strings.CutSuffix(Fold(name), ".")
	return absolute || plain == "@" || plain == Fold(zone) || strings.HasSuffix(plain, "."+Fold(zone))
}

// rules returns the constraints of a type. A name that cannot exist fails with code.
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

// namesFit rejects names that are too long together with the zone, which the
// server would call malformed. No such record can exist, so reads and removals
// answer not_found.
func namesFit(code schema.Code, targets ...string) Rule {
	return Rule{
		Doc: "names completed by the zone are at most 253 characters long",
		Apply: func(b *Bound) []schema.FieldError {
			owner, zone := b.Text(ownerParam), b.Text(zoneParam)
			var problems []schema.FieldError
			if !insideZone(owner, zone) && len(owner)+1+len(zone) > schema.DomainLimit {
				problems = append(problems, schema.FieldError{Field: ownerParam, Code: code, Message: tooLong})
			}
			for _, name := range targets {
				if target := b.Text(name); !strings.Contains(target, ".") && len(target)+1+len(zone) > schema.DomainLimit {
					problems = append(problems, schema.FieldError{Field: name, Code: code, Message: tooLong})
				}
			}
			return problems
		},
	}
}

// targetsAreFull refuses targets that the server would complete inside a reverse zone.
func targetsAreFull(targets []string) Rule {
	return Rule{
		Doc: "a target has a dot: it is a full name",
		Apply: func(b *Bound) []schema.FieldError {
			var problems []schema.FieldError
			for _, name := range targets {
				if target := b.Text(name); target != "" && !strings.Contains(target, ".") {
					problems = append(problems, schema.FieldError{Field: name, Code: schema.Unprocessable, Message: "must be a full name such as web1.corp.example: without a dot it would be completed inside the reverse zone"})
				}
			}
			return problems
		},
	}
}

// standsForName lets an address stand for the owner and the zone of a PTR record.
func standsForName(writes bool) Rule {
	return Rule{
		Doc: "DNS_HostName and ZoneName are given, or IP_Address; together they must name the same",
		Apply: func(b *Bound) []schema.FieldError {
			owner, zone, address := b.Text(ownerParam), b.Text(zoneParam), b.Text(addressParam)
			var problems []schema.FieldError
			wrong := func(code schema.Code, field, message string) {
				problems = append(problems, schema.FieldError{Field: field, Code: code, Message: message})
			}
			if writes && zone != "" && !schema.IsReverse(zone) {
				wrong(schema.Unprocessable, zoneParam, "must be a reverse zone: PTR records are found by the names of addresses")
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
			if owner != "" && Fold(FullName(owner, zone)) != reverse && Fold(strings.TrimSuffix(owner, ".")) != reverse {
				wrong(schema.InvalidRequest, ownerParam, "names another address than IP_Address: give one of them")
			}
			if zone != "" && len(problems) == 0 && !insideZone(reverse, zone) {
				wrong(schema.InvalidRequest, zoneParam, "does not hold IP_Address: leave it out")
			}
			if zone != "" { // the record is looked for in this zone and no other
				delete(b.Args, "Address")
				b.Args["Name"] = ps.Text(reverse + ".")
			}
			return problems
		},
	}
}

// somethingNew refuses a change that asks for none.
func somethingNew(r recordType) Rule {
	var names []string
	for _, f := range r.Fields {
		names = append(names, "New"+f.Name)
	}
	names = append(names, ttlParam)
	return Rule{
		Doc: "something new is given: " + strings.Join(names, ", ") + ", MakeStatic or CreatePtr",
		Apply: func(b *Bound) []schema.FieldError {
			if slices.ContainsFunc(names, b.Has) || b.Text("MakeStatic") == "true" || b.Text("CreatePtr") == "true" {
				return nil
			}
			return []schema.FieldError{{Code: schema.InvalidRequest, Message: "Nothing new is given: say what to change with " + strings.Join(names, ", ") + " or MakeStatic."}}
		},
	}
}

// valuesFit reads the values of a set by its type, and hands their fields to the script
// one after another.
var valuesFit = Rule{
	Doc: "values have the form of the type, and differ",
	Apply: func(b *Bound) []schema.FieldError {
		t, zone := schema.RecordTypeNamed(b.Text("Type")), b.Text(zoneParam)
		wrong := func(code schema.Code, message string) []schema.FieldError {
			return []schema.FieldError{{Field: "Data", Code: code, Message: message}}
		}
		if t.Reverse && !schema.IsReverse(zone) {
			return []schema.FieldError{{Field: zoneParam, Code: schema.Unprocessable, Message: "must be a reverse zone: PTR records are found by the names of addresses"}}
		}
		values := schema.Texts(b.Text("Data")).List()
		if t.Alone && len(values) > 1 {
			return wrong(schema.InvalidRequest, "must be one value for the type "+t.Name)
		}
		var all []string
		known := map[string]bool{}
		for _, value := range values {
			fields, problem := t.Parse(value)
			if problem != nil {
				return wrong(problem.Code, problem.Message)
			}
			for i, f := range t.Fields {
				if f.Form != schema.NameForm {
					continue
				}
				if t.Reverse && !strings.Contains(fields[i], ".") {
					return wrong(schema.Unprocessable, "must be full names such as web1.corp.example")
				}
				if fields[i] = strings.TrimSuffix(completed(fields[i], zone), "."); len(fields[i]) > schema.DomainLimit {
					return wrong(schema.Unprocessable, tooLong)
				}
			}
			if key := t.Key(fields); known[key] {
				return wrong(schema.InvalidRequest, "must not have a value twice")
			} else {
				known[key] = true
			}
			all = append(all, fields...)
		}
		b.Args["Data"] = ps.List(all)
		return nil
	},
}

// completed returns a target as the scripts store it: without any dot it is a name in
// the zone.
func completed(target, zone string) string {
	if strings.Contains(target, ".") {
		return target
	}
	return target + "." + zone
}
