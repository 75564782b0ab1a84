package dnscmd

import (
	"math"
	"strings"
	"time"

	"github.com/miekg/dns"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/sandbox/zones"
)

// recordObject returns a record as a CIM instance (facts E53-E56).
func recordObject(r zones.Record) *dotnet.Instance {
	row := rowOf(r.Type())
	data := newCim(row.class, row.show(r.RR)...)
	data.Props.Set("PSComputerName", nil)
	o := newCim("DnsServerResourceRecord",
		"DistinguishedName", text(r.DN),
		"HostName", r.Name,
		"RecordClass", "IN",
		"RecordData", data,
		"RecordType", typeName(r.Type()),
		"Timestamp", stamp(r.Stamp),
		"TimeToLive", dotnet.TimeSpan(r.TTL()/100),
		"Type", r.Type(),
		"PSComputerName", nil,
	)
	o.Data = r
	return o
}

// dateTime returns a DateTime of kind Local, as CIM uses it.
func dateTime(t time.Time) dotnet.DateTime {
	_, offset := t.Local().Zone()
	const ticksTo1970 = 621355968000000000
	return dotnet.DateTime{Ticks: ticksTo1970 + (t.Unix()+int64(offset))*ticksPerSecond, Kind: dotnet.Local}
}

// recordOf converts an object back to a record. Name, type and data are taken from its current
// properties, because a script may have changed them. ok is false if v is not a record object.
func recordOf(v any, zone string) (r zones.Record, ok bool) {
	o, isInstance := v.(*dotnet.Instance)
	if !isInstance || o.Type != cimTypes["DnsServerResourceRecord"] {
		return r, false
	}
	data, _ := get(o, "RecordData").(*dotnet.Instance)
	if data == nil {
		return r, false
	}
	kind := uint16(number(get(o, "Type")))
	row := rowOf(kind)
	rr := row.read(func(name string) any { return get(data, name) })
	if rr == nil {
		return r, false
	}
	if raw, isRaw := rr.(*dns.RFC3597); isRaw {
		rr = typed(raw, kind)
	}
	*rr.Header() = dns.RR_Header{Rrtype: kind, Class: dns.ClassINET}
	return zones.Record{Zone: zone, Name: dotnet.ToText(get(o, "HostName")), RR: rr}, true
}

// typed returns a record given in hexadecimal as a record of its type, if package dns knows it.
func typed(raw *dns.RFC3597, kind uint16) dns.RR {
	raw.Hdr = dns.RR_Header{Name: ".", Rrtype: kind, Class: dns.ClassINET}
	if rr, err := dns.NewRR(raw.String()); err == nil {
		return rr
	}
	return raw
}

func get(o *dotnet.Instance, name string) any {
	v, _ := o.Props.Get(name)
	return v
}

// getRecord is the body of Get-DnsServerResourceRecord (facts E55).
func getRecord(c *call) error {
	q := zones.Query{Name: c.String("Name"), Node: c.Bool("Node")}
	if c.Has("RRType") {
		q.Type = typeOf(c.String("RRType"))
	}
	if c.Has("Type") {
		q.Type = uint16(number(c.value("Type")))
	}
	found, err := c.server.Records(c.String("ZoneName"), q)
	if err != nil {
		return c.fail(err)
	}
	for i, r := range found {
		if i%256 == 0 && c.Context().Err() != nil {
			return c.Context().Err()
		}
		if err := c.Write(recordObject(r)); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) value(name string) any {
	v, _ := c.Bound(name)
	return v
}

func addCName(c *call) error {
	return c.add(&dns.CNAME{Target: c.String("HostNameAlias")}, dns.TypeCNAME)
}

// addRecord is the body of Add-DnsServerResourceRecord for the types that have a switch in the data table.
func addRecord(c *call) error {
	if c.Has("Type") {
		return addNumbered(c)
	}
	for i := range dataRows {
		row := &dataRows[i]
		if row.param == "" || !c.Bool(row.param) {
			continue
		}
		rr := row.read(c.value)
		if rr == nil {
			code := zones.CodeInvalidParameter
			if row.kind == dns.TypeTXT {
				code = zones.CodeRecordFormat
			}
			return c.failCode(code, zones.OpCreateRecord, c.String("ZoneName"), c.String("Name"))
		}
		return c.add(rr, row.kind)
	}
	return c.failCode(zones.CodeInvalidType, zones.OpCreateRecord, c.String("ZoneName"), c.String("Name"))
}

// addNumbered adds a record of a type that the server cannot name. It is unknown whether a
// real server also accepts octets for other types.
func addNumbered(c *call) error {
	kind := uint16(number(c.value("Type")))
	rr := rowOf(0).read(func(string) any { return c.value("RecordData") })
	if typeName(kind) != "UNKNOWN" || rr == nil {
		code := zones.CodeInvalidParameter
		if rr != nil {
			code = zones.CodeInvalidType
		}
		return c.failCode(code, zones.OpCreateRecord, c.String("ZoneName"), c.String("Name"))
	}
	return c.add(typed(rr.(*dns.RFC3597), kind), kind)
}

// setRecord is the body of Set-DnsServerResourceRecord (facts NA19-NA21).
func setRecord(c *call) error {
	zone := c.String("ZoneName")
	old, ok := recordOf(c.value("OldInputObject"), zone)
	now, also := recordOf(c.value("NewInputObject"), zone)
	if !ok || !also || !strings.EqualFold(old.Name, now.Name) || old.Type() != now.Type() {
		return c.failCode(zones.CodeInvalidParameter, zones.OpSetRecord, zone, old.Name)
	}
	span, _ := get(c.value("NewInputObject").(*dotnet.Instance), "TimeToLive").(dotnet.TimeSpan)
	if span < 0 || int64(span)/ticksPerSecond > math.MaxInt32 {
		return c.failCode(zones.CodeInvalidParameter, zones.OpSetRecord, zone, old.Name)
	}
	now.RR.Header().Ttl = inSeconds(span)
	return c.changeRecord(old.Name, func() (zones.Record, error) { return c.server.SetRecord(old, now.RR) })
}

// changeRecord asks for confirmation, changes a record, and writes it for -PassThru.
func (c *call) changeRecord(name string, change func() (zones.Record, error)) error {
	if ok, err := c.ShouldProcess(name); !ok || err != nil {
		return err
	}
	r, err := change()
	if err != nil {
		return c.fail(err)
	}
	return c.pass(recordObject(r))
}

// add adds a record with the parameters that all types share.
func (c *call) add(rr dns.RR, kind uint16) error {
	zone, name := c.String("ZoneName"), c.String("Name")
	*rr.Header() = dns.RR_Header{Rrtype: kind, Class: dns.ClassINET}
	n := zones.NewRecord{Zone: zone, Name: name, RR: rr, DefaultTTL: true, Age: c.Bool("AgeRecord")}
	if span, ok := c.value("TimeToLive").(dotnet.TimeSpan); ok {
		if span < 0 || int64(span)/ticksPerSecond > math.MaxInt32 {
			return c.failCode(zones.CodeInvalidParameter, zones.OpCreateRecord, zone, name)
		}
		rr.Header().Ttl, n.DefaultTTL = inSeconds(span), false
	}
	return c.changeRecord(name, func() (zones.Record, error) { return c.server.AddRecord(n) })
}

// removeRecord is the body of Remove-DnsServerResourceRecord (facts E60, E61).
func removeRecord(c *call) error {
	zone := c.String("ZoneName")
	if c.Has("InputObject") {
		r, ok := recordOf(c.value("InputObject"), zone)
		if !ok {
			return c.failCode(zones.CodeInvalidParameter, zones.OpRemoveRecord, zone, "")
		}
		return c.changeRecord(r.Name, func() (zones.Record, error) { return c.server.RemoveRecord(r) })
	}
	name := c.String("Name")
	if ok, err := c.ShouldProcess(name); !ok || err != nil {
		return err
	}
	gone, err := c.server.RemoveRecords(zone, name, typeOf(c.String("RRType")))
	if err != nil {
		return c.fail(err)
	}
	for _, r := range gone {
		if err := c.pass(recordObject(r)); err != nil {
			return err
		}
	}
	return nil
}
