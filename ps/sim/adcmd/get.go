package adcmd

import (
	"strings"

	"adgateway/ps/interp/dotnet"
	"adgateway/ps/sim/directory"
)

var getParams = []string{"Filter", "LDAPFilter", "Properties", "SearchBase", "SearchScope", "ResultSetSize", "ResultPageSize"}

// getObjects is the body of Get-ADUser, Get-ADGroup and their like.
func getObjects(c *call) error {
	p, bad := c.class.cached(c.Strings("Properties"))
	if bad != "" {
		return c.argument("properties", bad)
	}
	if c.Has("Identity") {
		o, err := c.identity(p.attrs...)
		if err != nil {
			return err
		}
		return c.emit(c.class, p, o)
	}
	req, err := c.request(p)
	if err != nil {
		return err
	}
	return c.search(req, p)
}

// emit writes one object down the pipeline.
func (c *call) emit(cl *class, p plan, o *directory.Object) error {
	if p.all {
		p = cl.extend(p, o)
	}
	return c.Write(c.reader().object(cl, p, o))
}

func (c *call) reader() *reader { return &reader{h: c.h, c: c, dc: c.dc} }

// search writes what a request finds, as it is found.
func (c *call) search(req directory.SearchRequest, p plan) error {
	r := c.reader()
	// An error of the pipeline must come back as it is, one of the store not.
	var written error
	err := c.dc.SearchEach(c.ctx(), req, func(o *directory.Object) error {
		if p.all {
			p = c.class.extend(p, o)
		}
		written = c.Write(r.object(c.class, p, o))
		return written
	})
	switch {
	case written != nil:
		return written
	case err != nil:
		return c.fail(err)
	}
	return nil
}

var scopes = map[string]directory.Scope{
	"base": directory.ScopeBase, "onelevel": directory.ScopeOneLevel, "subtree": directory.ScopeSubtree,
	"0": directory.ScopeBase, "1": directory.ScopeOneLevel, "2": directory.ScopeSubtree,
}

// request is the search the parameters ask for. Without -SearchBase it is the
// whole domain, without -ResultSetSize all there is (facts C15).
func (c *call) request(p plan) (req directory.SearchRequest, err error) {
	filter := c.String("LDAPFilter")
	if c.Has("LDAPFilter") {
		if filter, err = c.ldapFilter(filter); err != nil {
			return req, err
		}
	} else if filter, err = c.translate(c.String("Filter")); err != nil {
		return req, err
	}
	req = directory.SearchRequest{Base: c.String("SearchBase"), Filter: and(c.class.filter, filter), Attributes: p.attrs,
		Deleted: c.Bool("IncludeDeletedObjects")}
	if c.Has("SearchScope") {
		scope, ok := scopes[fold(c.String("SearchScope"))]
		if !ok {
			return req, c.invalidArgument("SearchScope", "The value is not one of Base, OneLevel, Subtree.")
		}
		req.Scope = scope
	}
	for _, name := range []string{"ResultSetSize", "ResultPageSize"} {
		v := c.bound(name)
		if v == nil {
			continue
		}
		n, err := dotnet.Convert(v, dotnet.TInt32)
		size, ok := n.(int32)
		if err != nil || !ok || size < 1 {
			return req, c.invalidArgument(name, "The value must be greater than 0.")
		}
		if name == "ResultSetSize" {
			req.Limit = int(size)
		}
	}
	return req, nil
}

// ldapFilter takes the filter as it is, bracketed if it is not (facts C13). It
// is compiled alone first: what is wrong with it must not be hidden by the
// brackets that the class's own filter adds.
func (c *call) ldapFilter(filter string) (string, error) {
	if !strings.HasPrefix(strings.TrimLeft(filter, " "), "(") {
		filter = "(" + filter + ")"
	}
	if _, err := directory.CompileFilter(filter); err != nil {
		return "", c.fail(err)
	}
	return filter, nil
}
