package directory

import (
	"fmt"
	"slices"
	"strings"
)

// teamSize is the number of generated users per OU, manager and group.
const teamSize = 250

var (
	genFirst = strings.Fields("Anna Ben Carla David Elena Felix Greta Hans Ines Jan Karin Leo Mara Nils Olga " +
		"Paul Quirin Rosa Stefan Tina Uwe Vera Walter Xenia Yves Zoe Amélie Björn Chloé Dörte Eoin Fátima Gül " +
		"Håkan Íñigo Jürgen Łucja Óscar Søren Žofia")
	genLast = strings.Fields("Adler Bauer Conrad Dietz Ebert Franke Graf Haas Imhof Jung Kern Lang Maurer " +
		"Nolte Otto Pohl Quast Roth Sauer Thiel Ulrich Voigt Wolf Xander Yilmaz Zimmer O'Neill " +
		"Müller-Lüdenscheidt Nuñez Ørsted Çelik Dvořák Šimić Papadakis Ivanov Nguyễn Santos Haddad Okafor " +
		"Lindqvist")
	genDept  = []string{"Sales", "Engineering", "Finance", "Human Resources", "Support", "Logistics", "Research"}
	genTitle = []string{"Clerk", "Specialist", "Manager", "Analyst", "Engineer", "Assistant"}
	genCity  = [][5]string{{"Berlin", "DE", "Germany", "276", "10115"},
		{"Madrid", "ES", "Spain", "724", "28001"},
		{"Oslo", "NO", "Norway", "578", "0150"}, {"Praha", "CZ", "Czechia", "203", "110 00"},
		{"Austin", "US", "United States", "840", "73301"}}
)

// Generate adds n users below OU=Generated, in OUs and groups of 250. Equal domains, n and
// seed result in equal users. They are not recorded in the journal, and are immediately
// visible on all DCs. It fails if OU=Generated already exists.
func (d *Domain) Generate(n int, seed int64) error {
	if n <= 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.tick()
	firstRID, firstGUID := d.nextRID, d.guids
	for _, r := range d.all {
		r.lock()
		d.nextRID, d.guids = firstRID, firstGUID
		err := (&generator{d: d, t: &tx{rep: r, now: now, quiet: true}, seed: uint64(seed)}).run(n)
		r.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

type generator struct {
	d    *Domain
	t    *tx
	seed uint64
	defs map[string]*Attribute
}

func (g *generator) run(n int) error {
	g.defs = map[string]*Attribute{}
	r := g.t.rep
	top, err := g.ou(r.root, "Generated", "Generated users")
	if err != nil {
		return err
	}
	for team := 0; team*teamSize < n; team++ {
		name := fmt.Sprintf("Team %04d", team+1)
		ou, err := g.ou(top, name, "")
		if err != nil {
			return err
		}
		group, err := g.object(ou, "group", name+" members", map[string]string{
			"sAMAccountName": fmt.Sprintf("gen-team-%04d", team+1), "groupType": "-2147483646",
			"description": "Members of " + name})
		if err != nil {
			return err
		}
		var boss *node
		for i := team * teamSize; i < min(n, (team+1)*teamSize); i++ {
			u, err := g.user(ou, i, team)
			if err != nil {
				return err
			}
			if boss == nil {
				boss = u
			} else {
				g.t.link(u, g.def("manager"), linkVal{n: boss})
			}
			g.t.link(group, r.sch.member, linkVal{n: u})
		}
	}
	return nil
}

func (g *generator) def(name string) *Attribute {
	a, ok := g.defs[name]
	if !ok {
		a = g.d.schema.must(strings.ToLower(name))
		g.defs[name] = a
	}
	return a
}

func (g *generator) ou(parent *node, name, text string) (*node, error) {
	attrs := map[string]string{}
	if text != "" {
		attrs["description"] = text
	}
	return g.object(parent, "organizationalUnit", name, attrs)
}

func (g *generator) object(parent *node, class, name string, attrs map[string]string) (*node, error) {
	c, _ := g.d.schema.Class(class)
	n := &node{guid: g.d.freshGUID(), class: c, created: g.t.now.Unix(), changed: g.t.now.Unix()}
	n.setName(RDN{strings.ToUpper(c.RDN), name})
	if parent.names[n.key] != nil {
		return nil, &Error{Code: CodeNameExists, Kind: KindExists, Op: "generate", DN: parent.dn(),
			Detail: name + " already exists"}
	}
	if n.isPrincipal() {
		sid, err := g.d.freshSID()
		if err != nil {
			return nil, err
		}
		n.sid = sid
	}
	n.attrs = make([]stored, 0, len(attrs))
	for a, v := range attrs {
		n.attrs = append(n.attrs, stored{g.def(a), v})
	}
	slices.SortFunc(n.attrs, func(a, b stored) int { return a.def.order - b.def.order })
	g.t.rep.usn++
	n.usnCreated, n.usnChanged = g.t.rep.usn, g.t.rep.usn
	g.t.insert(n, parent)
	return n, nil
}

// user creates the i-th user.
func (g *generator) user(ou *node, i, team int) (*node, error) {
	x := splitmix(g.seed<<20 + uint64(i))
	pick := func(n int) int {
		x = splitmix(x)
		return int(x % uint64(n))
	}
	first, last := genFirst[pick(len(genFirst))], genLast[pick(len(genLast))]
	city := genCity[pick(len(genCity))]
	sam := fmt.Sprintf("%.12s%d", ascii(first[:1]+last), i+1)
	for len(g.t.rep.having(g.t.rep.sch.sam, sam)) > 0 {
		sam = "g" + sam
	}
	hired := g.t.now.AddDate(0, 0, -pick(3000)-1)
	attrs := map[string]string{
		"sAMAccountName": sam, "userPrincipalName": sam + "@" + g.d.dnsName, "mail": sam + "@" + g.d.dnsName,
		"givenName": first, "sn": last, "displayName": last + ", " + first, "department": genDept[team%len(genDept)],
		"title": genTitle[pick(len(genTitle))], "company": "Generated Ltd.", "l": city[0], "c": city[1], "co": city[2],
		"countryCode": city[3], "postalCode": city[4], "telephoneNumber": fmt.Sprintf("+1 555 %07d", i),
		"employeeID": fmt.Sprintf("G%07d", i), "physicalDeliveryOfficeName": fmt.Sprintf("%s %d", city[0], pick(40)+1),
		"userAccountControl": "512", "primaryGroupID": "513", "accountExpires": itoa(Never), "codePage": "0",
		"pwdLastSet": itoa(ToFileTime(hired)),
	}
	if pick(20) == 0 {
		attrs["userAccountControl"] = "514"
	}
	n, err := g.object(ou, "user", fmt.Sprintf("%s %s %d", first, last, i+1), attrs)
	if err != nil {
		return nil, err
	}
	n.secret = unknownSecret
	return n, nil
}

// unknownSecret is the password of accounts that were loaded or generated.
var unknownSecret = &secret{}

// ascii returns the letters a to z of s in lower case, for account names.
func ascii(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		if 'a' <= r && r <= 'z' {
			b.WriteRune(r)
		}
	}
	if b.Len() == 0 {
		return "user"
	}
	return b.String()
}
