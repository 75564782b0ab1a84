package dnscmd

import "adgateway/ps/sandbox/engine/dotnet"

const (
	infrastructure = "Microsoft.Management.Infrastructure."
	namespace      = "root/Microsoft/Windows/DNS/"
)

// order lists the types in order of definition, for Module.Types.
var order []*dotnet.Type

func define(c dotnet.Class) *dotnet.Type {
	t := dotnet.Define(c)
	order = append(order, t)
	return t
}

// The types that the code refers to, defined in init.
var tNative, tCimException *dotnet.Type

// cimTypes are the CIM classes by short name.
var cimTypes = map[string]*dotnet.Type{}

func init() {
	tNative = define(dotnet.Class{
		Name: infrastructure + "NativeErrorCode", Kind: dotnet.KindEnum,
		Values: dotnet.Names(0, "Ok", "Failed", "AccessDenied", "InvalidNamespace", "InvalidParameter",
			"InvalidClass", "NotFound",
			"NotSupported", "ClassHasChildren", "ClassHasInstances", "InvalidSuperClass", "AlreadyExists",
			"NoSuchProperty", "TypeMismatch",
			"QueryLanguageNotSupported", "InvalidQuery", "MethodNotAvailable", "MethodNotFound"),
	})
	tCimException = define(dotnet.Class{Name: infrastructure + "CimException",
		Base: dotnet.Lookup("System.SystemException")})
	for _, name := range []string{
		"DnsServerZone", "DnsServerPrimaryZone", "DnsServerConditionalForwarderZone", "DnsServerZoneDelegation", "DnsServerZoneAging", "DnsServerScavenging",
		"DnsServerZoneStatistics", "DnsServerZoneQueryStatistics", "DnsServerZoneTransferStatistics", "DnsServerZoneUpdateStatistics",
		"DnsServerResourceRecord", "DnsServerSetting", "DnsServerDirectoryPartition",
	} {
		cimClass(name)
	}
	for i := range dataRows {
		cimClass(dataRows[i].class)
	}
}

func cimClass(name string) {
	if cimTypes[name] == nil {
		cimTypes[name] = define(dotnet.Class{Name: infrastructure + "CimInstance#" + namespace + name,
			Base: dotnet.TCim})
	}
}

// newCim returns an instance of a class with the given pairs of property name and value. Its
// text is the name of the class.
func newCim(class string, pairs ...any) *dotnet.Instance {
	o := &dotnet.Instance{Type: cimTypes[class], Text: class}
	o.Props.Grow(len(pairs)/2 + 1)
	for i := 0; i+1 < len(pairs); i += 2 {
		o.Props.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}
