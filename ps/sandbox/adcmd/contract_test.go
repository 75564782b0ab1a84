package adcmd

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

var noStreams engine.Streams

// Every parameter of a row exists, and every parameter for an attribute names an attribute of the schema.
func TestRowsFollowTheContract(t *testing.T) {
	d, err := newDomain(directory.Options{Seed: 1})
	require.NoError(t, err)
	h := &host{Options: Options{Domain: d}, classes: newClasses(d.Schema())}
	seen := map[string]bool{}
	for _, row := range allCommands() {
		assert.False(t, seen[row.name], "%s twice", row.name)
		seen[row.name] = true
		decl, ok := cmdlets.Lookup(row.name)
		require.True(t, ok, row.name)
		assert.Equal(t, cmdlets.ActiveDirectory, decl.Module)
		if row.class != "" {
			assert.NotNil(t, h.classes[row.class], row.name)
		}
		for _, p := range row.params {
			assert.NotNil(t, decl.Param(p), "%s -%s", row.name, p)
		}
		if !row.sets {
			continue
		}
		c := &call{h: h, row: &row}
		for _, p := range attributeParams(decl) {
			if isAccountParam(p) || p == "GroupScope" || p == "GroupCategory" {
				continue
			}
			attr := c.ldapName(p)
			_, ok := d.Schema().Attribute(attr)
			assert.True(t, ok, "%s -%s: no attribute %q", row.name, p, attr)
		}
	}
	assert.Len(t, Module(Options{Domain: d}).Commands, len(seen))
}

// The friendly properties of all classes need only attributes of the schema.
func TestPropertiesFollowTheModel(t *testing.T) {
	d, err := newDomain(directory.Options{Seed: 1})
	require.NoError(t, err)
	for _, c := range newClasses(d.Schema()) {
		for _, name := range c.defaults {
			assert.NotNil(t, c.props[strings.ToLower(name)], "%s.%s", c.name, name)
		}
		for _, p := range c.props {
			for _, attr := range p.attrs {
				_, ok := d.Schema().Attribute(attr)
				assert.True(t, ok, "%s.%s: no attribute %q", c.name, p.name, attr)
			}
		}
	}
}

// cmdletID is the prefix of error ids for exceptions without an ErrorCode (facts D1).
const cmdletID = "ActiveDirectoryCmdlet:"

// Facts D.1: the exception type of each code and the category of each type.
func TestCodesAndCategories(t *testing.T) {
	d, err := newDomain(directory.Options{Seed: 1})
	require.NoError(t, err)
	c := &call{h: &host{Options: Options{Domain: d}}}
	for code, want := range map[int]struct {
		typ      string
		id       string
		category dotnet.Category
	}{
		0:    {"ADException", "ActiveDirectoryServer:0", dotnet.NotSpecified},
		5:    {"System.UnauthorizedAccessException", "ActiveDirectoryCmdlet:System.UnauthorizedAccessException", dotnet.PermissionDenied},
		86:   {"ADInvalidPasswordException", "ActiveDirectoryServer:86", dotnet.InvalidData},
		87:   {"ADInvalidOperationException", "ActiveDirectoryServer:87", dotnet.InvalidOperation},
		1316: {"ADIdentityAlreadyExistsException", "ActiveDirectoryServer:1316", dotnet.ResourceExists},
		1318: {"ADException", "ActiveDirectoryServer:1318", dotnet.NotSpecified},
		1325: {"ADPasswordComplexityException", "ActiveDirectoryServer:1325", dotnet.InvalidData},
		1326: {"System.Security.Authentication.AuthenticationException", "ActiveDirectoryCmdlet:System.Security.Authentication.AuthenticationException", dotnet.SecurityError},
		5010: {"ADIdentityAlreadyExistsException", "ActiveDirectoryServer:5010", dotnet.ResourceExists},
		8212: {"ADInvalidOperationException", "ActiveDirectoryServer:8212", dotnet.InvalidOperation},
		8213: {"ADException", "ActiveDirectoryServer:8213", dotnet.NotSpecified},
		8239: {"ADInvalidOperationException", "ActiveDirectoryServer:8239", dotnet.InvalidOperation},
		8240: {"ADIdentityNotFoundException", cmdletID + namespace + "ADIdentityNotFoundException", dotnet.ObjectNotFound},
		8245: {"ADInvalidOperationException", "ActiveDirectoryServer:8245", dotnet.InvalidOperation},
		8235: {"ADException", "ActiveDirectoryServer:8235", dotnet.NotSpecified},
		8247: {"ADInvalidOperationException", "ActiveDirectoryServer:8247", dotnet.InvalidOperation},
		8305: {"ADException", "ActiveDirectoryServer:8305", dotnet.NotSpecified},
		8311: {"ADIllegalModifyOperationException", "ActiveDirectoryServer:8311", dotnet.InvalidOperation},
		8333: {"ADIdentityNotFoundException", cmdletID + namespace + "ADIdentityNotFoundException", dotnet.ObjectNotFound},
		8344: {"ADException", "ActiveDirectoryServer:8344", dotnet.NotSpecified},
		8648: {"ADException", "ActiveDirectoryServer:8648", dotnet.NotSpecified},
	} {
		rec := c.record(c.failureOf(&directory.Error{Code: code}))
		name := want.typ
		if !strings.Contains(name, ".") {
			name = namespace + name
		}
		got, coded := rec.Exception.Props.Get("ErrorCode")
		assert.Equal(t, strings.HasPrefix(want.id, "ActiveDirectoryServer:"), coded, "%d: ErrorCode", code)
		if coded {
			assert.Equal(t, int32(code), got)
		}
		assert.Equal(t, code != 0, rec.Exception.Inner != nil, "%d: the fault", code)
		require.NotNil(t, rec.Exception.Type, "%d", code)
		assert.Equal(t, name, rec.Exception.Type.Name, "%d", code)
		assert.Equal(t, want.id, rec.ErrorID, "%d", code)
		assert.Equal(t, want.category, rec.Category, "%d", code)
	}
}

// Facts D14-D17: errors without a number differ in the exception inside them.
func TestErrorsWithoutNumber(t *testing.T) {
	d, err := newDomain(directory.Options{Seed: 1})
	require.NoError(t, err)
	c := &call{h: &host{Options: Options{Domain: d}}}
	for name, want := range map[string]struct {
		failure          failure
		typ, id          string
		inner, fault     string
		code, serverName any
	}{
		"the module's own": {
			c.failureOf(&directory.Error{Kind: directory.KindDenied}),
			namespace + "ADException", "ActiveDirectoryServer:0", "", "", int32(0), nil,
		},
		"a fault": {
			c.failureOf(&directory.Error{Kind: directory.KindBusy, Fault: "EndpointUnavailable"}),
			namespace + "ADException", "ActiveDirectoryServer:0", "System.ServiceModel.FaultException", "EndpointUnavailable", int32(0), nil,
		},
		"an absent identity": {
			c.notFound("x"),
			namespace + "ADIdentityNotFoundException", cmdletID + namespace + "ADIdentityNotFoundException", "", "", nil, nil,
		},
		"an absent base": {
			c.failureOf(&directory.Error{Code: 8333, Kind: directory.KindNotFound}),
			namespace + "ADIdentityNotFoundException", cmdletID + namespace + "ADIdentityNotFoundException", "System.ServiceModel.FaultException", "DestinationUnreachable", nil, nil,
		},
		"a controller that is off": {
			c.failureOf(&directory.Error{Kind: directory.KindServerDown, DN: "dc1.corp.example"}),
			namespace + "ADServerDownException", "ActiveDirectoryServer:0", "System.ServiceModel.EndpointNotFoundException", "", int32(0), "dc1.corp.example",
		},
		"no controller": {
			c.failureOf(&directory.Error{Code: 1355, Kind: directory.KindServerDown}),
			namespace + "ADServerDownException", "ActiveDirectoryServer:1355", namespace + "ADException", "", int32(1355), nil,
		},
		"rejected credentials": {
			c.rejected(),
			"System.Security.Authentication.AuthenticationException", cmdletID + "System.Security.Authentication.AuthenticationException",
			"System.ServiceModel.Security.SecurityNegotiationException", "", nil, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			rec := c.record(want.failure)
			assert.Equal(t, want.typ, rec.Exception.Type.Name)
			assert.Equal(t, want.id, rec.ErrorID)
			code, _ := rec.Exception.Props.Get("ErrorCode")
			assert.Equal(t, want.code, code)
			server, _ := rec.Exception.Props.Get("ServerName")
			assert.Equal(t, want.serverName, server)
			if want.inner == "" {
				assert.Nil(t, rec.Exception.Inner)
				return
			}
			require.NotNil(t, rec.Exception.Inner)
			assert.Equal(t, want.inner, rec.Exception.Inner.Type.Name)
			if want.fault != "" {
				code, _ := rec.Exception.Inner.Props.Get("Code")
				subcode, _ := code.(*dotnet.Instance).Props.Get("SubCode")
				fault, _ := subcode.(*dotnet.Instance).Props.Get("Name")
				assert.Equal(t, want.fault, fault)
			}
		})
	}
}

func TestTimes(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	h := &host{Options: Options{Location: berlin}}
	for _, at := range []time.Time{noon, noon.AddDate(0, 5, 0), time.Unix(0, 0), noon.Add(1234567 * 100)} {
		d := h.local(at)
		assert.Equal(t, dotnet.Local, d.Kind)
		assert.True(t, at.Equal(h.moment(d)), "%s became %s", at, h.moment(d))
	}
	assert.Equal(t, unixTicks+13*3600*ticksPerSecond,
		h.local(time.Date(1970, 1, 1, 12, 0, 0, 0, time.UTC)).Ticks)
	_, ok := h.fileTime(dotnet.DateTime{Ticks: fileTimeTicks - ticksPerSecond*86400})
	assert.False(t, ok, "before 1601")
	assert.Nil(t, h.fromFileTime(int64(0)))
	assert.Nil(t, h.fromFileTime(directory.Never))
	assert.Nil(t, h.fromFileTime(nil))
}
