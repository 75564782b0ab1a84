package dnscmd

import (
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/sandbox/zones"
)

// delegationObject returns a delegation as a CIM instance. The name server and its
// addresses are records (facts NC6).
func delegationObject(d zones.Delegation) *dotnet.Instance {
	addresses := &dotnet.Array{Elem: dotnet.TCim}
	for _, address := range d.Addresses {
		addresses.Items = append(addresses.Items, recordObject(address))
	}
	return newCim("DnsServerZoneDelegation",
		"ChildZoneName", d.Child,
		"IPAddress", addresses,
		"NameServer", recordObject(d.NameServer),
		"ZoneName", d.Zone,
		"PSComputerName", nil,
	)
}

func getDelegation(c *call) error {
	found, err := c.server.Delegations(c.String("Name"), c.String("ChildZoneName"))
	if err != nil {
		return c.fail(err)
	}
	for _, d := range found {
		if err := c.Write(delegationObject(d)); err != nil {
			return err
		}
	}
	return nil
}

func addDelegation(c *call) error {
	zone, child := c.String("Name"), c.String("ChildZoneName")
	if ok, err := c.ShouldProcess(child); !ok || err != nil {
		return err
	}
	d, err := c.server.AddDelegation(zone, child, c.String("NameServer"), addressesOf(c.value("IPAddress")))
	if err != nil {
		return c.fail(err)
	}
	return c.pass(delegationObject(d))
}

func removeDelegation(c *call) error {
	zone, child := c.String("Name"), c.String("ChildZoneName")
	if ok, err := c.ShouldProcess(child); !ok || err != nil {
		return err
	}
	gone, err := c.server.RemoveDelegation(zone, child, c.String("NameServer"))
	if err != nil {
		return c.fail(err)
	}
	for _, d := range gone {
		if err := c.pass(delegationObject(d)); err != nil {
			return err
		}
	}
	return nil
}
