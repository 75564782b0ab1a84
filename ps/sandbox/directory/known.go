package directory

// known contains the attributes that the code refers to.
type known struct {
	sam, upn, spn, uac, groupType, primaryGroup, pwdLastSet, lockoutTime   *Attribute
	accountExpires, adminCount, critical, unicodePwd, member, memberOf     *Attribute
	codePage, countryCode, category, wellKnown, lastKnownParent, samType   *Attribute
	minPwdLength, pwdHistory, pwdProperties, minPwdAge, maxPwdAge          *Attribute
	lockoutThreshold, lockoutDuration, lockoutWindow, dnsHost, description *Attribute
	lastLogonStamp, logonSync, name, cn, displayName, givenName, sn, mail  *Attribute
	psoApplied, psoPrecedence, systemFlags, info, networkBIOS              *Attribute
	hours, workstations, lastKnownRDN                                      *Attribute

	always, indexed []*Attribute // in the order of the lists below
	anr             []*Attribute // attributes of ambiguous name resolution, by name
}

func newKnown(s *Schema) *known {
	k := &known{
		sam: s.must("samaccountname"), upn: s.must("userprincipalname"), spn: s.must("serviceprincipalname"),
		uac: s.must("useraccountcontrol"), groupType: s.must("grouptype"), primaryGroup: s.must("primarygroupid"),
		pwdLastSet: s.must("pwdlastset"), lockoutTime: s.must("lockouttime"),
		accountExpires: s.must("accountexpires"),
		adminCount:     s.must("admincount"), critical: s.must("iscriticalsystemobject"),
		unicodePwd: s.must("unicodepwd"),
		member:     s.must("member"), memberOf: s.must("memberof"), codePage: s.must("codepage"),
		countryCode: s.must("countrycode"), category: s.must("objectcategory"),
		wellKnown:       s.must("wellknownobjects"),
		lastKnownParent: s.must("lastknownparent"), samType: s.must("samaccounttype"),
		minPwdLength: s.must("minpwdlength"), pwdHistory: s.must("pwdhistorylength"),
		pwdProperties: s.must("pwdproperties"),
		minPwdAge:     s.must("minpwdage"), maxPwdAge: s.must("maxpwdage"),
		lockoutThreshold: s.must("lockoutthreshold"),
		lockoutDuration:  s.must("lockoutduration"), lockoutWindow: s.must("lockoutobservationwindow"),
		dnsHost: s.must("dnshostname"), description: s.must("description"),
		lastLogonStamp: s.must("lastlogontimestamp"),
		logonSync:      s.must("msds-logontimesyncinterval"), name: s.must("name"), cn: s.must("cn"),
		displayName: s.must("displayname"), givenName: s.must("givenname"), sn: s.must("sn"), mail: s.must("mail"),
		psoApplied: s.must("msds-psoapplied"), psoPrecedence: s.must("msds-passwordsettingsprecedence"),
		systemFlags: s.must("systemflags"), info: s.must("info"),
		networkBIOS: s.must("netbiosname"), hours: s.must("logonhours"), workstations: s.must("userworkstations"),
		lastKnownRDN: s.must("msds-lastknownrdn"),
	}
	for _, name := range always {
		k.always = append(k.always, s.must(name))
	}
	for _, name := range indexed {
		k.indexed = append(k.indexed, s.must(name))
	}
	for _, a := range s.Attributes() {
		if a.ANR {
			k.anr = append(k.anr, a)
		}
	}
	return k
}

// always are attributes that every object has without storing them.
var always = []string{
	"distinguishedname", "name", "cn", "ou", "dc", "objectclass", "objectcategory", "objectguid", "objectsid",
	"whencreated", "whenchanged", "usncreated", "usnchanged", "instancetype", "samaccounttype", "isdeleted",
	"isrecycled",
	"badpwdcount", "badpasswordtime", "lastlogon", "logoncount", "lastlogoff",
}

// indexed are the attributes with an index.
var indexed = []string{
	"samaccountname", "userprincipalname", "serviceprincipalname", "mail", "proxyaddresses",
	"primarygroupid", "displayname", "name", "cn", "employeeid", "dnshostname", "admincount",
}
