package adcmd

import "adgateway/ps/sandbox/directory"

// setObject is the body of Set-ADUser, Set-ADGroup and similar cmdlets.
func setObject(c *call) error {
	o, err := c.identity("userAccountControl", "pwdLastSet", "groupType")
	if err != nil {
		return err
	}
	ch := c.newChanges()
	if err := ch.tables(); err != nil {
		return err
	}
	if err := ch.parameters(); err != nil {
		return err
	}
	if err := ch.account(o); err != nil {
		return err
	}
	if err := ch.group(o); err != nil {
		return err
	}
	return c.change(o, ch)
}

// group adds -GroupScope and -GroupCategory as one change. The directory rejects
// conversions that need an intermediate step (facts E31).
func (ch *changes) group(o *directory.Object) error {
	if !ch.c.Has("GroupScope") && !ch.c.Has("GroupCategory") {
		return nil
	}
	before, _ := o.Int("groupType")
	after, err := ch.c.groupType(before)
	if err != nil {
		return err
	}
	if after == before {
		return nil
	}
	if err := ch.claim("groupType", "GroupScope"); err != nil {
		return err
	}
	ch.add(directory.OpReplace, "groupType", after)
	return nil
}

// removeObject is the body of the Remove cmdlets. -Recursive uses the tree-delete
// control (facts E43).
func removeObject(c *call) error {
	o, err := c.identity()
	if err != nil {
		return err
	}
	return confirmed(c, o, func(ref string) error {
		if c.Bool("Recursive") {
			return c.dc.DeleteTree(c.ctx(), ref)
		}
		return c.dc.Delete(c.ctx(), ref)
	})
}

// targetPath returns -TargetPath as a reference.
func (c *call) targetPath() (string, error) {
	path := c.String("TargetPath")
	if g, ok := directory.ParseGUID(path); ok {
		return g.Ref(), nil
	}
	if _, err := directory.ParseDN(path); err != nil {
		return "", c.fail(&directory.Error{Code: directory.CodeBadNameSyntax, Kind: directory.KindSyntax, DN: path})
	}
	return path, nil
}

func moveObject(c *call) error {
	o, err := c.identity()
	if err != nil {
		return err
	}
	c.target = o.DN
	path, err := c.targetPath()
	if err != nil {
		return err
	}
	return confirmed(c, o, func(ref string) error { return c.dc.Move(c.ctx(), ref, path) })
}

// renameObject changes the name, and with it the DN, but nothing else (facts E12).
func renameObject(c *call) error {
	o, err := c.identity()
	if err != nil {
		return err
	}
	return confirmed(c, o, func(ref string) error { return c.dc.Rename(c.ctx(), ref, c.String("NewName")) })
}
