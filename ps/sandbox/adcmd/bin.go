package adcmd

import (
	"strings"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

// restoreObject is the body of Restore-ADObject (facts R6-R8).
func restoreObject(c *call) error {
	o, err := c.identity()
	if err != nil {
		return err
	}
	c.target = o.DN
	opts := directory.RestoreOptions{Name: c.String("NewName")}
	if c.Has("TargetPath") {
		if opts.Parent, err = c.targetPath(); err != nil {
			return err
		}
	}
	return confirmed(c, o, func(ref string) error { return c.dc.Restore(c.ctx(), ref, opts) })
}

// The Recycle Bin as an optional feature (facts R1).
const (
	binName    = "Recycle Bin Feature"
	binGUID    = "766ddcd8-acd0-445e-f3b9-a7f9b6744f2a"
	binObject  = "9c1e2d4a-6f0b-4b57-8a3e-1d2f3c4b5a69"
	services   = "CN=Directory Service,CN=Windows NT,CN=Services,CN=Configuration,"
	binFeature = "CN=" + binName + ",CN=Optional Features," + services
)

// getFeature is the body of Get-ADOptionalFeature. The sandbox has only the Recycle Bin.
func getFeature(c *call) error {
	d := c.h.Domain
	dn := binFeature + d.RootDN()
	given := identityText(c.bound("Identity"))
	guid, _ := directory.ParseGUID(given)
	if !strings.EqualFold(given, binName) && !strings.EqualFold(given, dn) && guid.String() != binGUID &&
		guid.String() != binObject {
		c.target = given
		return c.throw(c.notFound(given))
	}
	scopes := []string{}
	if d.RecycleBin() {
		scopes = append(scopes, "CN=Partitions,CN=Configuration,"+d.RootDN())
		for _, dc := range d.DCs() {
			scopes = append(scopes, ntdsSettings(dc))
		}
	}
	feature, _ := directory.ParseGUID(binGUID)
	object, _ := directory.ParseGUID(binObject)
	inst := dotnet.NewInstance(tFeature,
		"DistinguishedName", dn,
		"EnabledScopes", textCollection(scopes...),
		"FeatureGUID", dotnet.Guid(feature),
		"FeatureScope", textCollection("ForestOrConfigurationSet"),
		"IsDisableable", false,
		"Name", binName,
		"ObjectClass", "msDS-OptionalFeature",
		"ObjectGUID", dotnet.Guid(object),
		"RequiredDomainMode", nil,
		"RequiredForestMode", dotnet.Enum{Type: tFMode, Value: 4},
	)
	inst.Text = dn
	return c.Write(inst)
}
