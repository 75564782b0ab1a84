package adcmd

import (
	"strings"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

var getParams = []string{"Filter", "LDAPFilter", "Properties", "SearchBase", "SearchScope", "ResultSetSize", "ResultPageSize"}

// getObjects is the body of Get-ADUser, Get-ADGroup and their like.
func getObjects(c *call) error {
	p, bad := c.class.cached(c.Strings("Properties"))
	if bad != "" {
		return c.argument("properties", bad)
	}
	if c.Has("Identity") {
		o, err := c.find(p.selected)
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
	var filter string
	if c.Has("LDAPFilter") {
		filter = bracketed(c.String("LDAPFilter"))
	} else if filter, err = c.translate(c.String("Filter")); err != nil {
		return req, err
	}
	req = directory.SearchRequest{Base: c.String("SearchBase"), Selected: p.selected, Deleted: c.Bool("IncludeDeletedObjects")}
	if req.Compiled, err = c.class.only(filter); err != nil {
		return req, c.fail(err)
	}
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

// bracketed is a filter as the module sends it: with brackets when it has none
// (facts C13).
func bracketed(filter string) string {
	if !strings.HasPrefix(strings.TrimLeft(filter, " "), "(") {
		return "(" + filter + ")"
	}
	return filter
}

// only compiles a filter for the objects of the class; "" is all of them. It is
// compiled alone: what is wrong with it must not be hidden by brackets around it
// and the class's own filter.
func (cl *class) only(filter string) (*directory.Filter, error) {
	if filter == "" {
		return cl.compiled, nil
	}
	f, err := directory.CompileFilter(filter)
	if err != nil {
		return nil, err
	}
	return directory.AllOf(cl.compiled, f), nil
}
