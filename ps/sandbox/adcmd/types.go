package adcmd

import (
	"slices"

	"adgateway/ps/sandbox/engine/dotnet"
)

// namespace is the namespace of the module's types.
const namespace = "Microsoft.ActiveDirectory.Management."

// The types of the module: classes, enumerations, a collection and exceptions.
var (
	types = map[string]*dotnet.Type{} // by short name
	order []*dotnet.Type              // in order of definition, for Module.Types

	_          = classType("ADEntity", "")
	tObject    = classType("ADObject", "ADEntity")
	tPrincipal = classType("ADPrincipal", "ADObject")
	tAccount   = classType("ADAccount", "ADPrincipal")
	tUser      = classType("ADUser", "ADAccount")
	tComputer  = classType("ADComputer", "ADAccount")
	tGroup     = classType("ADGroup", "ADPrincipal")
	tOU        = classType("ADOrganizationalUnit", "ADObject")
	tFeature   = classType("ADOptionalFeature", "ADObject")
	tDomain    = classType("ADDomain", "ADObject")
	tServer    = classType("ADDirectoryServer", "ADEntity")
	tDC        = classType("ADDomainController", "ADDirectoryServer")
	tRootDSE   = classType("ADRootDSE", "ADEntity")

	tCollection = define(dotnet.Class{
		Name: namespace + "ADPropertyValueCollection",
		Implements: []string{"System.Collections.IList", "System.Collections.ICollection",
			"System.Collections.IEnumerable"},
		Members: collectionMembers,
	})

	tScope = enum("ADGroupScope", "DomainLocal", "Global", "Universal")
	tKind  = enum("ADGroupCategory", "Distribution", "Security")
	_      = enum("ADSearchScope", "Base", "OneLevel", "Subtree")
	_      = enum("ADAuthType", "Negotiate", "Basic")
	_      = enum("ADCurrentDomainType", "LocalComputer", "LoggedOnUser")
	tRole  = enum("ADOperationMasterRole", "PDCEmulator", "RIDMaster", "InfrastructureMaster", "SchemaMaster",
		"DomainNamingMaster")
	_ = enumFrom("ADDiscoverableService", 1, "PrimaryDC", "GlobalCatalog", "KDC", "TimeService",
		"ReliableTimeService", "ADWS")
	_ = enumFrom("ADMinimumDirectoryServiceVersion", 1, "Windows2000", "Windows2008", "Windows2012",
		"Windows2012R2")
	tMode  = mode("ADDomainMode", "Domain")
	tFMode = mode("ADForestMode", "Forest")

	tException  = exception("ADException", "System.Exception")
	tServerDown = exception("ADServerDownException", "System.Exception")
)

// The exceptions without a code are not derived from ADException (facts D15).
func init() {
	for _, e := range []struct{ name, base string }{
		{"ADIdentityResolutionException", "System.Exception"},
		{"ADIdentityNotFoundException", "ADIdentityResolutionException"},
		{"ADMultipleMatchingIdentitiesException", "ADIdentityResolutionException"},
		{"ADInvalidOperationException", "ADException"},
		{"ADIdentityAlreadyExistsException", "ADInvalidOperationException"},
		{"ADIllegalModifyOperationException", "ADInvalidOperationException"},
		{"ADPasswordException", "ADInvalidOperationException"},
		{"ADPasswordComplexityException", "ADPasswordException"},
		{"ADInvalidPasswordException", "ADPasswordException"},
		{"ADReferralException", "ADException"},
	} {
		exception(e.name, e.base)
	}
}

func define(c dotnet.Class) *dotnet.Type {
	t := dotnet.Define(c)
	types[t.ShortName()] = t
	order = append(order, t)
	return t
}

func classType(name, base string) *dotnet.Type {
	return define(dotnet.Class{Name: namespace + name, Base: types[base]})
}

func enum(name string, names ...string) *dotnet.Type { return enumFrom(name, 0, names...) }

func enumFrom(name string, first int64, names ...string) *dotnet.Type {
	values := make([]dotnet.EnumValue, len(names))
	for i, n := range names {
		values[i] = dotnet.EnumValue{Name: n, Value: first + int64(i)}
	}
	return define(dotnet.Class{Name: namespace + name, Kind: dotnet.KindEnum, Values: values})
}

// mode defines the enumeration of the functional levels of a domain or forest.
func mode(name, suffix string) *dotnet.Type {
	values := []dotnet.EnumValue{{Name: "Unknown" + suffix, Value: -1}}
	for level, version := range []string{"2000", "2003Interim", "2003", "2008", "2008R2", "2012", "2012R2",
		"2016"} {
		values = append(values, dotnet.EnumValue{Name: "Windows" + version + suffix, Value: int64(level)})
	}
	values = append(values, dotnet.EnumValue{Name: "Windows2025" + suffix, Value: 10})
	return define(dotnet.Class{Name: namespace + name, Kind: dotnet.KindEnum, Values: values})
}

func exception(name, base string) *dotnet.Type {
	parent := types[base]
	if parent == nil {
		parent = dotnet.Lookup(base)
	}
	return define(dotnet.Class{Name: namespace + name, Base: parent})
}

// collectionMembers are the members of ADPropertyValueCollection that scripts use. It can
// also be indexed and enumerated like any list.
var collectionMembers = []dotnet.Member{
	dotnet.Property("Count", func(self any) (any, error) { return int32(len(self.(*dotnet.List).Items)), nil }),
	dotnet.Property("Value", func(self any) (any, error) {
		switch items := self.(*dotnet.List).Items; len(items) {
		case 0:
			return nil, nil
		case 1:
			return items[0], nil
		default:
			return dotnet.NewArray(slices.Clone(items)...), nil
		}
	}),
	dotnet.Method("Contains", "object", func(self any, args []any) (any, error) { return indexIn(self, args[0]) >= 0, nil }),
	dotnet.Method("IndexOf", "object", func(self any, args []any) (any, error) { return int32(indexIn(self, args[0])), nil }),
}

// indexIn finds a value with the semantics of .NET's Equals, which compares strings ordinally.
func indexIn(self, v any) int {
	for i, item := range self.(*dotnet.List).Items {
		if item == v {
			return i
		}
	}
	return -1
}
