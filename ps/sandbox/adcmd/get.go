package adcmd

import (
	"strings"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

var getParams = []string{"LDAPFilter", "Properties", "SearchBase", "SearchScope", "ResultSetSize",
	"ResultPageSize"}

// getObjects is the body of Get-ADUser, Get-ADGroup and similar cmdlets.
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
	c.free()
	r := c.reader()
	inst := r.object(cl, p, o)
	if r.err != nil {
		return c.fail(r.err)
	}
	return c.Write(inst)
}

func (c *call) reader() *reader { return &reader{h: c.h, c: c, dc: c.dc} }

// search writes the results of a request as they are found. For the enumeration, the web service keeps a
// connection to the directory until it has sent the last page (facts D19). Until then, commands further
// down the pipeline, and reads of properties that need another object, take further connections.
func (c *call) search(req directory.SearchRequest, p plan) error {
	r := c.reader()
	// A pipeline error is returned unchanged; a directory error is translated.
	var written error
	err := c.dc.SearchPages(c.ctx(), req, func(page []*directory.Object, more bool) error {
		if !more {
			c.free()
		}
		for _, o := range page {
			if p.all {
				p = c.class.extend(p, o)
			}
			inst := r.object(c.class, p, o)
			if r.err != nil {
				return r.err
			}
			if written = c.Call.Write(inst); written != nil {
				return written
			}
		}
		return nil
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

// request builds the search from the parameters. Without -SearchBase it covers the whole
// domain; without -ResultSetSize it has no limit (facts C15).
func (c *call) request(p plan) (req directory.SearchRequest, err error) {
	req = directory.SearchRequest{Base: c.String("SearchBase"), Selected: p.selected, Deleted: c.deleted()}
	req.Catalog = c.catalog
	if req.Compiled, err = c.class.only(parenthesized(c.String("LDAPFilter"))); err != nil {
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

// parenthesized returns the filter in the form that the module sends: with parentheses added
// if it has none (facts C13).
func parenthesized(filter string) string {
	if !strings.HasPrefix(strings.TrimLeft(filter, " "), "(") {
		return "(" + filter + ")"
	}
	return filter
}

// only compiles a filter that matches only objects of the class. "" matches all of these. The caller's
// filter is compiled separately, so that combining it with the class's filter cannot hide a syntax error.
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
