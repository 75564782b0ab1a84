package adcmd

import (
	"slices"
	"strconv"
	"strings"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

// isDomain reports whether given identifies the sandbox's domain.
func (c *call) isDomain(given string) bool {
	d := c.h.Domain
	if strings.EqualFold(given, d.DNSName()) || strings.EqualFold(given, d.NetBIOSName()) {
		return true
	}
	if g, ok := directory.ParseGUID(given); ok {
		return g == d.GUID()
	}
	if sid, ok := directory.ParseSID(given); ok {
		return sid == d.SID()
	}
	dn, err := directory.ParseDN(given)
	if err != nil {
		return false
	}
	root, err := directory.ParseDN(d.RootDN())
	return err == nil && dn.Equal(root)
}

// domainRoot reads the domain's root object. An -Identity that names another
// domain is an error.
func (c *call) domainRoot(attributes ...string) (*directory.Object, error) {
	if v := c.bound("Identity"); v != nil {
		given := identityText(v)
		if !c.isDomain(given) {
			c.target = given
			return nil, c.throw(c.notFound(given))
		}
	}
	o, err := c.dc.Get(c.ctx(), c.h.Domain.RootDN(), attributes...)
	if err != nil {
		return nil, c.fail(err)
	}
	return o, nil
}

// textCollection returns a collection of strings.
func textCollection(items ...string) *dotnet.List {
	values := make([]any, len(items))
	for i, s := range items {
		values[i] = s
	}
	return collection(values)
}

func getDomain(c *call) error {
	root, err := c.domainRoot("gpLink", "managedBy", "msDS-Behavior-Version", "name", "msDS-AllowedDNSSuffixes",
		"msDS-LogonTimeSyncInterval")
	if err != nil {
		return err
	}
	d := c.h.Domain
	dn := d.RootDN()
	var writable, readOnly, children []string
	for _, child := range d.Children() {
		children = append(children, child.DNSName)
	}
	for _, dc := range d.DCs() {
		if dc.Writable() {
			writable = append(writable, dc.HostName())
		} else {
			readOnly = append(readOnly, dc.HostName())
		}
	}
	master := d.DCs()[0].HostName()
	inst := dotnet.NewInstance(tDomain,
		"AllowedDNSSuffixes", textCollection(root.Strings("msDS-AllowedDNSSuffixes")...),
		"ChildDomains", textCollection(children...),
		"ComputersContainer", d.ComputersContainer(),
		"DeletedObjectsContainer", "CN=Deleted Objects,"+dn,
		"DistinguishedName", dn,
		"DNSRoot", d.DNSName(),
		"DomainControllersContainer", "OU=Domain Controllers,"+dn,
		"DomainMode", level(tMode, root),
		"DomainSID", sidValue(d.SID()),
		"ForeignSecurityPrincipalsContainer", "CN=ForeignSecurityPrincipals,"+dn,
		"Forest", d.DNSName(),
		"InfrastructureMaster", master,
		"LastLogonReplicationInterval", root.Value("msDS-LogonTimeSyncInterval"),
		"LinkedGroupPolicyObjects", linkedPolicies(nil, root),
		"LostAndFoundContainer", "CN=LostAndFound,"+dn,
		"ManagedBy", text(root.String("managedBy")),
		"Name", text(root.String("name")),
		"NetBIOSName", d.NetBIOSName(),
		"ObjectClass", "domainDNS",
		"ObjectGUID", dotnet.Guid(d.GUID()),
		"ParentDomain", nil,
		"PDCEmulator", master,
		"QuotasContainer", "CN=NTDS Quotas,"+dn,
		"ReadOnlyReplicaDirectoryServers", textCollection(readOnly...),
		"ReplicaDirectoryServers", textCollection(writable...),
		"RIDMaster", master,
		"SubordinateReferences", textCollection(),
		"SystemsContainer", "CN=System,"+dn,
		"UsersContainer", d.UsersContainer(),
	)
	inst.Text = dn
	inst.Data = origin{c.dc, d.GUID()}
	return c.Write(inst)
}

// level returns the functional level of the root object, or 2016 if it has none.
func level(t *dotnet.Type, root *directory.Object) dotnet.Enum {
	n, ok := root.Int("msDS-Behavior-Version")
	if !ok {
		n = 7
	}
	return dotnet.Enum{Type: t, Value: n}
}

// getRootDSE is the body of Get-ADRootDSE. It returns all properties that it knows, regardless of
// -Properties.
func getRootDSE(c *call) error {
	d := c.h.Domain
	dn := d.RootDN()
	configuration := "CN=Configuration," + dn
	root, err := c.domainRoot("msDS-Behavior-Version")
	if err != nil {
		return err
	}
	inst := dotnet.NewInstance(tRootDSE,
		"configurationNamingContext", configuration,
		"currentTime", c.h.local(d.Now().Add(c.h.Skew)),
		"defaultNamingContext", dn,
		"dnsHostName", c.dc.HostName(),
		"domainControllerFunctionality", level(tMode, root),
		"domainFunctionality", level(tMode, root),
		"dsServiceName", ntdsSettings(c.dc),
		"forestFunctionality", level(tFMode, root),
		"isGlobalCatalogReady", textCollection(strings.ToUpper(strconv.FormatBool(!c.dc.NoCatalog.Load()))),
		"isSynchronized", textCollection("TRUE"),
		"ldapServiceName", d.DNSName()+":"+strings.ToLower(c.dc.Name())+"$@"+strings.ToUpper(d.DNSName()),
		"namingContexts", textCollection(dn, configuration, "CN=Schema,"+configuration),
		"rootDomainNamingContext", dn,
		"schemaNamingContext", "CN=Schema,"+configuration,
		"serverName", serverObject(c.dc),
		"subschemaSubentry", "CN=Aggregate,CN=Schema,"+configuration,
		"supportedLDAPVersion", textCollection("3", "2"),
	)
	for _, name := range c.Strings("Properties") {
		if _, ok := inst.Props.Get(name); !ok && name != "*" {
			return c.argument("properties", name)
		}
	}
	return c.Write(inst)
}

func serverObject(dc *directory.DC) string {
	return "CN=" + strings.ToUpper(dc.Name()) + ",CN=Servers,CN=" + dc.Site() + ",CN=Sites,CN=Configuration," +
		dc.Domain().RootDN()
}

func ntdsSettings(dc *directory.DC) string { return "CN=NTDS Settings," + serverObject(dc) }

// getControllers is the body of Get-ADDomainController. It returns a controller by name, all
// controllers, or the one that the locator finds (facts G2).
func getControllers(c *call) error {
	d := c.h.Domain
	switch {
	case c.Bool("Discover"):
		return c.discover()
	case c.Has("Filter"):
		if strings.TrimSpace(c.String("Filter")) != "*" {
			return c.notSupported("the sandbox supports no other filter of domain controllers than *")
		}
		if err := c.impostor(); err != nil {
			return err
		}
		for _, dc := range d.DCs() {
			if err := c.Write(c.controller(dc)); err != nil {
				return err
			}
		}
		return nil
	case c.bound("Identity") != nil:
		given := identityText(c.bound("Identity"))
		for _, dc := range d.DCs() {
			if strings.EqualFold(given, dc.Name()) || strings.EqualFold(given, dc.HostName()) ||
				strings.EqualFold(given, serverObject(dc)) || strings.EqualFold(given, ntdsSettings(dc)) {
				return c.Write(c.controller(dc))
			}
		}
		c.target = given
		return c.throw(c.notFound(given))
	}
	return c.Write(c.controller(c.dc))
}

// impostor throws the error of -Filter if a computer looks like a domain controller but is not one. The
// module fails because it requests the NTDS settings of all of them at once (facts G13).
func (c *call) impostor() error {
	accounts, err := c.dc.Search(c.ctx(), directory.SearchRequest{
		Filter:     "(&(objectCategory=computer)(|(userAccountControl:1.2.840.113556.1.4.803:=8192)(primaryGroupID=516)(primaryGroupID=521)))",
		Attributes: []string{"name"},
	})
	if err != nil {
		return c.fail(err)
	}
	for _, account := range accounts {
		if !slices.ContainsFunc(c.h.Domain.DCs(),
			func(dc *directory.DC) bool { return dc.Account() == account.GUID }) {
			return c.throw(failure{typ: "ADIdentityNotFoundException", message: c.say("objectNotFound")})
		}
	}
	return nil
}

// controller returns a domain controller. Its DN and operating system come from its computer
// account, if it has one.
func (c *call) controller(dc *directory.DC) *dotnet.Instance {
	d := c.h.Domain
	account, err := c.dc.ByGUID(c.ctx(), dc.Account(),
		"operatingSystem", "operatingSystemVersion", "operatingSystemServicePack", "operatingSystemHotfix")
	if err != nil {
		account = &directory.Object{DN: "CN=" + strings.ToUpper(dc.Name()) + ",OU=Domain Controllers," + d.RootDN()}
	}
	var roles []any
	if d.DCs()[0] == dc {
		for _, role := range []string{"SchemaMaster", "DomainNamingMaster", "PDCEmulator", "RIDMaster",
			"InfrastructureMaster"} {
			roles = append(roles, dotnet.EnumOf(tRole, role))
		}
	}
	inst := dotnet.NewInstance(tDC,
		"ComputerObjectDN", account.DN,
		"DefaultPartition", d.RootDN(),
		"Domain", d.DNSName(),
		"Enabled", true,
		"Forest", d.DNSName(),
		"HostName", dc.HostName(),
		"IPv4Address", nil,
		"IPv6Address", nil,
		"IsGlobalCatalog", !dc.NoCatalog.Load(),
		"IsReadOnly", !dc.Writable(),
		"LdapPort", int32(389),
		"Name", strings.ToUpper(dc.Name()),
		"NTDSSettingsObjectDN", ntdsSettings(dc),
		"OperatingSystem", text(account.String("operatingSystem")),
		"OperatingSystemHotfix", text(account.String("operatingSystemHotfix")),
		"OperatingSystemServicePack", text(account.String("operatingSystemServicePack")),
		"OperatingSystemVersion", text(account.String("operatingSystemVersion")),
		"OperationMasterRoles", collection(roles),
		"Partitions", textCollection(d.RootDN(), "CN=Configuration,"+d.RootDN(),
			"CN=Schema,CN=Configuration,"+d.RootDN()),
		"ServerObjectDN", serverObject(dc),
		"Site", dc.Site(),
		"SslPort", int32(636),
	)
	inst.Text = dc.Name()
	return inst
}

// discover is the body of -Discover. The object it returns has fewer properties
// than a domain controller, and its HostName is a collection (facts G3).
func (c *call) discover() error {
	d := c.h.Domain
	if name := c.String("DomainName"); name != "" && !strings.EqualFold(name, d.DNSName()) &&
		!strings.EqualFold(name, d.NetBIOSName()) {
		return c.fail(&directory.Error{Code: directory.CodeDirectoryNotFound, Kind: directory.KindServerDown,
			Op: "connect"})
	}
	primaryOnly := false
	for _, service := range c.Strings("Service") {
		primaryOnly = primaryOnly || strings.EqualFold(service, "PrimaryDC") || service == "1"
	}
	site := c.String("SiteName")
	for i, dc := range d.DCs() {
		switch {
		case !dc.Alive(), c.Bool("Writable") && !dc.Writable(), primaryOnly && i > 0:
			continue
		case site != "" && !strings.EqualFold(site, dc.Site()) && !c.Bool("NextClosestSite"):
			continue
		}
		inst := dotnet.NewInstance(tServer,
			"Domain", d.DNSName(),
			"Forest", d.DNSName(),
			"HostName", textCollection(dc.HostName()),
			"IPv4Address", nil,
			"IPv6Address", nil,
			"Name", strings.ToUpper(dc.Name()),
			"Site", dc.Site(),
		)
		inst.Text = strings.ToUpper(dc.Name())
		return c.Write(inst)
	}
	return c.fail(&directory.Error{Code: directory.CodeDirectoryNotFound, Kind: directory.KindServerDown,
		Op: "connect"})
}
