package adcmd

import (
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

// setInstance is the body of the Set cmdlets with -Instance: it writes what a
// script has changed in an object it read before, that is, the properties that
// differ from what the directory has now.
func setInstance(c *call, v any) error {
	inst, ok := v.(*dotnet.Instance)
	if !ok {
		return c.invalidArgument("Instance", "The argument is not an object of the directory.")
	}
	from, ok := inst.Data.(origin)
	if !ok {
		return c.invalidArgument("Instance", "The argument is not an object of the directory.")
	}
	c.target = inst.Text
	var props []*property
	var values []any
	for i := range inst.Props.Len() {
		name, value := inst.Props.At(i)
		p := c.class.find(name)
		if p == nil {
			return c.argument("properties", name)
		}
		props, values = append(props, p), append(values, value)
	}
	o, err := c.dc.ByGUID(c.ctx(), from.guid, append(attributesOf(props), "userAccountControl")...)
	if err != nil {
		return c.fail(err)
	}
	ch := c.newChanges()
	r := c.reader()
	for i, p := range props {
		if same(p.get(r, o), values[i]) {
			continue
		}
		if err := ch.property(o, p, values[i]); err != nil {
			return err
		}
	}
	if err := ch.parameters(); err != nil {
		return err
	}
	return c.change(o, ch)
}

// same compares two values of a property by what they print.
func same(a, b any) bool {
	x, y := dotnet.EnumerateAny(a), dotnet.EnumerateAny(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if dotnet.ToText(x[i]) != dotnet.ToText(y[i]) {
			return false
		}
	}
	return true
}

// property writes one property of an object. What is computed cannot be written.
func (ch *changes) property(o *directory.Object, p *property, v any) error {
	c := ch.c
	if bit, ok := accountBits[p.name]; ok {
		before, _ := o.Int("userAccountControl")
		for _, change := range ch.list {
			if change.Name == "userAccountControl" {
				before = change.Values[0].(int64)
			}
		}
		ch.add(directory.OpReplace, "userAccountControl", bit.apply(before, dotnet.Truthy(v)))
		return nil
	}
	if _, is := computed[p.name]; is || len(p.attrs) != 1 {
		return c.notSupported(c.say("readOnly", p.name))
	}
	if err := ch.claim(p.attrs[0], p.name); err != nil {
		return err
	}
	items := dotnet.EnumerateAny(v)
	if len(items) == 0 {
		ch.add(directory.OpClear, p.attrs[0])
		return nil
	}
	values, err := c.values("Instance", v)
	if err != nil {
		return err
	}
	ch.add(directory.OpReplace, p.attrs[0], values...)
	return nil
}
