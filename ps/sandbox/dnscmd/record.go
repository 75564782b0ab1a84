package dnscmd

import (
	"math"
	"strings"
	"time"

	"github.com/miekg/dns"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/sandbox/zones"
)

// recordObject shows a record (facts E53-E56).
func recordObject(r zones.Record) *dotnet.Instance {
	row := rowOf(r.Type())
	data := newCim(row.class, row.show(r.RR)...)
	data.Props.Set("PSComputerName", nil)
	var stamp any
	if !r.Stamp.IsZero() {
		stamp = dateTime(r.Stamp)
	}
	o := newCim("DnsServerResourceRecord",
		"DistinguishedName", text(r.DN),
		"HostName", r.Name,
		"RecordClass", "IN",
		"RecordData", data,
		"RecordType", typeName(r.Type()),
		"Timestamp", stamp,
		"TimeToLive", dotnet.TimeSpan(r.TTL()/100),
		"Type", r.Type(),
		"PSComputerName", nil,
	)
	o.Data = r
	return o
}

// dateTime is a DateTime of kind Local, as CIM gives them.
func dateTime(t time.Time) dotnet.DateTime {
	_, offset := t.Local().Zone()
	const ticksTo1970 = 621355968000000000
	return dotnet.DateTime{Ticks: ticksTo1970 + (t.Unix()+int64(offset))*ticksPerSecond, Kind: dotnet.Local}
}

// recordOf reads a record object back: owner, type and data as its properties
// say now, which a script may have changed. ok is false for what is no record.
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
	if raw, isRaw := rr.(*dns.RFC3597); isRaw { // a type that has no properties
		raw.Hdr = dns.RR_Header{Name: ".", Rrtype: kind, Class: dns.ClassINET}
		if typed, err := fromRaw(raw); err == nil {
			rr = typed
		}
	}
	*rr.Header() = dns.RR_Header{Rrtype: kind, Class: dns.ClassINET, Ttl: inSeconds(get(o, "TimeToLive"))}
	if old, known := o.Data.(zones.Record); known && kind == dns.TypeTXT && sameText(old.RR, rr) {
		rr.(*dns.TXT).Txt = old.RR.(*dns.TXT).Txt
	}
	return zones.Record{Zone: zone, Name: dotnet.ToText(get(o, "HostName")), RR: rr}, true
}

// sameText tells whether a text still is what the object showed: it does not
// show where its strings ended.
func sameText(old, now dns.RR) bool {
	a, ok := old.(*dns.TXT)
	return ok && strings.Join(zones.Strings(a), "\r\n") == strings.Join(zones.Strings(now.(*dns.TXT)), "\r\n")
}

// fromRaw makes the typed form of a record given in octets.
func fromRaw(raw *dns.RFC3597) (dns.RR, error) {
	rr, err := dns.NewRR(raw.String())
	if err != nil {
		return nil, err
	}
	return rr, nil
}

func get(o *dotnet.Instance, name string) any {
	v, _ := o.Props.Get(name)
	return v
}

// zoneScope refuses zone scopes: each zone has only its default one, which has
// the zone's name.
func (c *call) zoneScope() error {
	scope := c.String("ZoneScope")
	if scope == "" || strings.EqualFold(scope, strings.TrimSuffix(c.String("ZoneName"), ".")) {
		return nil
	}
	return &zones.Error{Code: zones.CodeZoneScopeMissing, Op: zones.OpListRecords, Zone: c.String("ZoneName")}
}

// getRecord: facts E55.
func getRecord(c *call) error {
	if err := c.zoneScope(); err != nil {
		return c.fail(err)
	}
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

// addRecord: the parameter set says which type; sets without a row are types
// the sandbox does not make.
func addRecord(c *call) error {
	switch set := c.Set(); set {
	case "InputObject":
		r, ok := recordOf(c.value("InputObject"), c.String("ZoneName"))
		if !ok {
			return c.failCode(zones.CodeInvalidParameter, zones.OpCreateRecord, c.String("ZoneName"), "")
		}
		return c.insert(zones.NewRecord{Zone: r.Zone, Name: r.Name, RR: r.RR})
	case "Unknown":
		kind := uint16(number(c.value("Type")))
		rr := rowOf(0).read(func(string) any { return c.value("RecordData") })
		if raw, ok := rr.(*dns.RFC3597); ok {
			raw.Hdr = dns.RR_Header{Name: ".", Rrtype: kind, Class: dns.ClassINET}
			if typed, err := fromRaw(raw); err == nil {
				rr = typed
			} else {
				rr = nil
			}
		}
		return c.add(rr, kind)
	default:
		for i := range dataRows {
			if strings.EqualFold(dataRows[i].set, set) && dataRows[i].kind != 0 {
				return c.add(dataRows[i].read(c.value), dataRows[i].kind)
			}
		}
		return c.failCode(zones.CodeInvalidType, zones.OpCreateRecord, c.String("ZoneName"), c.String("Name"))
	}
}

// add completes a new record from the parameters that all types share.
func (c *call) add(rr dns.RR, kind uint16) error {
	zone, name := c.String("ZoneName"), c.String("Name")
	if rr == nil {
		return c.failCode(zones.CodeInvalidParameter, zones.OpCreateRecord, zone, name)
	}
	*rr.Header() = dns.RR_Header{Rrtype: kind, Class: dns.ClassINET}
	n := zones.NewRecord{Zone: zone, Name: name, RR: rr, DefaultTTL: true, Age: c.Bool("AgeRecord")}
	if span, ok := c.value("TimeToLive").(dotnet.TimeSpan); ok {
		if span < 0 || int64(span)/ticksPerSecond > math.MaxInt32 {
			return c.failCode(zones.CodeInvalidParameter, zones.OpCreateRecord, zone, name)
		}
		rr.Header().Ttl, n.DefaultTTL = inSeconds(span), false
	}
	return c.insert(n)
}

func (c *call) insert(n zones.NewRecord) error {
	if err := c.zoneScope(); err != nil {
		return c.fail(err)
	}
	if c.Bool("CreatePtr") {
		return c.notSupported("CreatePtr")
	}
	if ok, err := c.ShouldProcess(n.Name); !ok || err != nil {
		return err
	}
	r, err := c.server.AddRecord(n)
	if err != nil {
		return c.fail(err)
	}
	return c.pass(recordObject(r))
}

// removeRecord: facts E60, E61.
func removeRecord(c *call) error {
	zone := c.String("ZoneName")
	if err := c.zoneScope(); err != nil {
		return c.fail(err)
	}
	if c.Has("InputObject") {
		r, ok := recordOf(c.value("InputObject"), zone)
		if !ok {
			return c.failCode(zones.CodeInvalidParameter, zones.OpRemoveRecord, zone, "")
		}
		if ok, err := c.ShouldProcess(r.Name); !ok || err != nil {
			return err
		}
		gone, err := c.server.RemoveRecord(r)
		if err != nil {
			return c.fail(err)
		}
		return c.pass(recordObject(gone))
	}
	name := c.String("Name")
	kind := typeOf(c.String("RRType"))
	if c.Has("Type") {
		kind = uint16(number(c.value("Type")))
	}
	if ok, err := c.ShouldProcess(name); !ok || err != nil {
		return err
	}
	gone, err := c.server.RemoveRecords(zone, name, kind, c.Strings("RecordData")...)
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

// setRecord: facts E59. When both are one object, nothing has changed as far as
// the server can tell, and the old record is not found.
func setRecord(c *call) error {
	zone := c.String("ZoneName")
	if err := c.zoneScope(); err != nil {
		return c.fail(err)
	}
	old, ok := recordOf(c.value("OldInputObject"), zone)
	next, ok2 := recordOf(c.value("NewInputObject"), zone)
	if !ok || !ok2 || !strings.EqualFold(old.Name, next.Name) {
		return c.failCode(zones.CodeInvalidParameter, zones.OpUpdateRecord, zone, old.Name)
	}
	if ok, err := c.ShouldProcess(old.Name); !ok || err != nil {
		return err
	}
	r, err := c.server.ReplaceRecord(old, next.RR)
	if err != nil {
		return c.fail(err)
	}
	return c.pass(recordObject(r))
}
