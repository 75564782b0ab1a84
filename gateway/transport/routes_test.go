package transport

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// moreRows returns routes of the contract that could be confused with each other.
func moreRows() []*ops.Operation {
	row := func(id, method, path string) *ops.Operation {
		op := &ops.Operation{ID: id, Method: method, Path: path}
		for part := range strings.SplitSeq(path, "/") {
			if name, isPlace := strings.CutPrefix(part, "{"); isPlace {
				name = strings.TrimSuffix(name, "}")
				kind := schema.Identity
				if name == "NetworkID" {
					kind = schema.NetworkOrZone
				}
				op.Params = append(op.Params, ops.Param{Name: name, Path: name, Kind: kind, Required: true})
			}
		}
		return op
	}
	return []*ops.Operation{
		row("cname.get", "GET", "/api/DnsCNameRecord"),
		row("cname.zone", "GET", "/api/DnsCNameRecord/{ZoneName}"),
		row("cname.all", "GET", "/api/DnsCNameRecord/All"),
		row("cname.byName", "GET", "/api/DnsCNameRecord/HostName/{DNS_HostName}"),
		row("cname.create", "POST", "/api/DnsCNameRecord"),
		row("zone.get", "GET", "/api/DnsReverseLookupZone/{NetworkID}"),
		row("zone.all", "GET", "/api/DnsReverseLookupZone/All"),
		row("zone.create", "POST", "/api/DnsReverseLookupZone/{NetworkID}"),
		row("user.get", "GET", "/api/ADUser/{UserName}/Details"),
		row("user.list", "GET", "/api/ADUser/ListUsers"),
		row("user.listAll", "GET", "/api/ADUser/ListUsers/All"),
		row("user.update", "PUT", "/api/ADUser/{UserName}"),
		row("user.create", "POST", "/api/ADUser/{UserName}"),
		row("member.get", "GET", "/api/ADUser/{Username}/Group/{GroupName}"),
		row("member.all", "GET", "/api/ADUser/{Username}/Group/All"),
		row("computers", "GET", "/api/Computers"),
		row("computer.get", "GET", "/api/Computers/{ADComputersName}"),
		row("computer.remove", "DELETE", "/api/Computers/{ADComputerName}/Remove"),
		row("computers.remove", "DELETE", "/api/Computers/Remove"),
		row("groups.distribution", "GET", "/api/ADGroups/Distribution/All"),
		row("group.get", "GET", "/api/ADGroups/{GroupName}"),
		row("group.exists", "GET", "/api/ADGroups/{GroupName}/Exists"),
	}
}

func TestPaths(t *testing.T) {
	rt := newRoutes(moreRows())
	for _, c := range []struct{ method, path, want string }{
		{"GET", "/api/ADUser/jdoe/Details", "user.get UserName=jdoe"},
		{"GET", "/API/aduser/jdoe/DETAILS", "user.get UserName=jdoe"},
		{"GET", "/api/ADUser/JDoe/Details/", "user.get UserName=JDoe"},
		{"GET", "/%61pi/AD%55ser/jdoe/Det%61ils", "user.get UserName=jdoe"},
		{"GET", "/api/ADUser/j%20doe+x%2Fy/Details", "user.get UserName=j doe+x/y"},
		{"GET", "/api/ADUser/j%2520doe/Details", "user.get UserName=j%20doe"},
		{"GET", "/api/ADUser/%7BUserName%7D/Details", "user.get UserName={UserName}"},
		{"GET", "/api/ADUser/{UserName}/Details", "user.get UserName={UserName}"},
		{"GET", "/api/ADUser/../Details", "user.get UserName=.."},
		{"GET", "/api/ADUser/%FF/Details", "user.get UserName=\xff"},
		{"GET", "/api/ADUser/%00/Details", "user.get UserName=\x00"},
		{"GET", "/api/ADUser/CN=a,OU=b,DC=c/Details", "user.get UserName=CN=a,OU=b,DC=c"},
		{"GET", "/api/ADUser/ListUsers", "user.list"},
		{"GET", "/api/ADUser/listusers/ALL", "user.listAll"},
		{"GET", "/api/ADUser/ListUsers/Details", "user.get UserName=ListUsers"},
		{"PUT", "/api/ADUser/ListUsers", "user.update UserName=ListUsers"},
		{"GET", "/api/ADUser/jdoe/Group/All", "member.all Username=jdoe"},
		{"GET", "/api/ADUser/jdoe/Group/Allx", "member.get GroupName=Allx Username=jdoe"},
		{"GET", "/api/DnsCNameRecord", "cname.get"},
		{"GET", "/api/DnsCNameRecord/", "cname.get"},
		{"GET", "/api/DnsCNameRecord/all", "cname.all"},
		{"GET", "/api/DnsCNameRecord/HostName", "cname.zone ZoneName=HostName"},
		{"GET", "/api/DnsCNameRecord/HostName/www", "cname.byName DNS_HostName=www"},
		{"GET", "/api/DnsReverseLookupZone/10.0.0.0/8", "zone.get NetworkID=10.0.0.0/8"},
		{"GET", "/api/DnsReverseLookupZone/10.0.0.0/8/", "zone.get NetworkID=10.0.0.0/8"},
		{"GET", "/api/DnsReverseLookupZone/10.0.0.0%2F8", "zone.get NetworkID=10.0.0.0/8"},
		{"GET", "/api/DnsReverseLookupZone/10.0.0.0%2f8", "zone.get NetworkID=10.0.0.0/8"},
		{"GET", "/api/DnsReverseLookupZone/10.0.0.0%252F8", "zone.get NetworkID=10.0.0.0%2F8"},
		{"GET", "/api/DnsReverseLookupZone/2001:db8::/32", "zone.get NetworkID=2001:db8::/32"},
		{"GET", "/api/DnsReverseLookupZone/2001%3Adb8%3A%3A%2F32", "zone.get NetworkID=2001:db8::/32"},
		{"GET", "/api/DnsReverseLookupZone/10.in-addr.arpa", "zone.get NetworkID=10.in-addr.arpa"},
		{"GET", "/api/DnsReverseLookupZone/All", "zone.all"},
		{"GET", "/api/DnsReverseLookupZone/All/8", "zone.get NetworkID=All/8"},
		{"POST", "/api/DnsReverseLookupZone/All", "zone.create NetworkID=All"},
		{"GET", "/api/ADGroups/Distribution", "group.get GroupName=Distribution"},
		{"GET", "/api/ADGroups/Distribution/All", "groups.distribution"},
		{"GET", "/api/ADGroups/Distribution/Exists", "group.exists GroupName=Distribution"},
		{"GET", "/api/Computers", "computers"},
		{"DELETE", "/api/Computers/Remove", "computers.remove"},
		{"DELETE", "/api/Computers/pc1/Remove", "computer.remove ADComputerName=pc1"},

		{"DELETE", "/api/Computers//Remove", "! The path has an empty segment: a value between two slashes is missing."},
		{"GET", "/api//ADUser/jdoe/Details", "! The path has an empty segment: a value between two slashes is missing."},
		{"GET", "/api/ADUser/jdoe/Details//", "! The path has an empty segment: a value between two slashes is missing."},
		{"GET", "/api/DnsReverseLookupZone/10.0.0.0//8", "! The path has an empty segment: a value between two slashes is missing."},
		{"GET", "/api/ADUser/%zz/Details", "! The path holds a percent sign that does not start an escape."},

		{"PATCH", "/api/ADUser/jdoe", "POST PUT"},
		{"DELETE", "/api/ADUser/jdoe/Details", "GET"},
		{"get", "/api/ADUser/jdoe/Details", "GET"},
		{"GET", "/api/ADUser", ""},
		{"GET", "/api", ""},
		{"GET", "/api/", ""},
		{"GET", "/", ""},
		{"GET", "//api/ADUser/jdoe/Details", ""},
		{"GET", "/apix/ADUser/jdoe/Details", ""},
		{"GET", "/api/\u212amputers", ""},
		{"GET", "/api/DnsReverseLookupZone/10.0.0.0/8/9", ""},
		{"GET", "/api/ADUser/jdoe/x/Details", ""},
	} {
		found := rt.find(c.method, c.path)
		got := strings.Join(found.allowed, " ")
		if found.op != nil {
			got = found.op.ID
			for _, p := range slices.Sorted(maps.Keys(found.values)) {
				got += " " + p + "=" + found.values[p]
			}
		}
		if found.problem != "" {
			got = "! " + found.problem
		}
		assert.Equal(t, c.want, got, "%s %s", c.method, c.path)
	}
}

// FuzzPaths checks that a path with the escaped values of a matched route matches the same route with the
// same values.
func FuzzPaths(f *testing.F) {
	for _, seed := range []string{"/api/ADUser/jdoe/Details", "/api/DnsReverseLookupZone/10.0.0.0/8",
		"/api/dnscnamerecord/%41ll/", "/api//x", "/api/ADUser/%2F/Group/..", "/%61pi/OU/%",
		"/api/ADUser/ListUsers/All"} {
		f.Add(seed, "GET")
	}
	rt := newRoutes(moreRows())
	f.Fuzz(func(t *testing.T, path, method string) {
		found := rt.find(method, path)
		if found.op == nil {
			return
		}
		require.Equal(t, method, found.op.Method)
		again := strings.Split(found.op.Path, "/")
		for i, part := range again {
			if name, isPlace := strings.CutPrefix(part, "{"); isPlace {
				value := found.values[strings.TrimSuffix(name, "}")]
				require.NotEmpty(t, value)
				again[i] = url.PathEscape(value)
			}
		}
		second := rt.find(method, strings.Join(again, "/"))
		require.Equal(t, found.op, second.op)
		require.Equal(t, found.values, second.values)
	})
}

func TestTheRouterSeesOnlyPathsOfRows(t *testing.T) {
	rt := newRoutes(moreRows())
	var seen string
	handler := rt.arrive(nil, http.HandlerFunc(func(_ http.ResponseWriter,
		r *http.Request) {
		seen = r.URL.Path + r.URL.RawPath
	}))
	for path, want := range map[string]string{
		"/api/ADUser/a%2Fb/Details?x=1": "/api/ADUser/{UserName}/Details",
		"/api/unknown":                  "/",
		"/%61pi/{x}":                    "/",
		"/healthz":                      "/healthz",
	} {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
		assert.Equal(t, want, seen)
	}
	assert.Nil(t, OperationOf(httptest.NewRequest("GET", "/", nil)))
}
