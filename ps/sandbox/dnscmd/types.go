package dnscmd

import "adgateway/ps/sandbox/engine/dotnet"

const (
	infrastructure = "Microsoft.Management.Infrastructure."
	namespace      = "root/Microsoft/Windows/DNS/"
)

// order lists the types as they were defined, for the module's Types.
var order []*dotnet.Type

func define(c dotnet.Class) *dotnet.Type {
	t := dotnet.Define(c)
	order = append(order, t)
	return t
}

// The types that others refer to; init makes them.
var tNative, tCimException, tCim, tAddress *dotnet.Type

// cimTypes are the classes of CIM instances by their short name.
var cimTypes = map[string]*dotnet.Type{}

func init() {
	tNative = define(dotnet.Class{
		Name: infrastructure + "NativeErrorCode", Kind: dotnet.KindEnum,
		Values: dotnet.Names(0, "Ok", "Failed", "AccessDenied", "InvalidNamespace", "InvalidParameter", "InvalidClass", "NotFound",
			"NotSupported", "ClassHasChildren", "ClassHasInstances", "InvalidSuperClass", "AlreadyExists", "NoSuchProperty", "TypeMismatch",
			"QueryLanguageNotSupported", "InvalidQuery", "MethodNotAvailable", "MethodNotFound"),
	})
	tCimException = define(dotnet.Class{Name: infrastructure + "CimException", Base: dotnet.Lookup("System.SystemException")})
	tCim = define(dotnet.Class{
		Name: infrastructure + "CimInstance", Aliases: []string{"ciminstance"},
		New: []dotnet.Member{dotnet.Constructor("object", newClone)},
	})
	tAddress = define(dotnet.Class{
		Name: "System.Net.IPAddress", Aliases: []string{"ipaddress"},
		Static: []dotnet.Member{dotnet.Method("Parse", "string", parseAddress)},
		New:    []dotnet.Member{dotnet.Constructor("string", parseAddress)},
	})
	for _, name := range []string{"DnsServerZone", "DnsServerPrimaryZone", "DnsServerResourceRecord", "DnsServerSetting", "DnsServerDsSetting", "DnsServerDirectoryPartition"} {
		cimClass(name)
	}
	for i := range dataRows {
		cimClass(dataRows[i].class)
	}
}

// newClone is [ciminstance]::new($old).
func newClone(_ any, args []any) (any, error) {
	old, ok := args[0].(*dotnet.Instance)
	if !ok || !old.Type.AssignableTo(tCim) {
		return nil, dotnet.ExceptionNamed("System.ArgumentNullException", "Value cannot be null. (Parameter 'cimInstanceToClone')")
	}
	return clone(old), nil
}

func cimClass(name string) {
	if cimTypes[name] == nil {
		cimTypes[name] = define(dotnet.Class{Name: infrastructure + "CimInstance#" + namespace + name, Base: tCim})
	}
}

// newCim makes an instance of a class from pairs of name and value. It shows as
// the class's name.
func newCim(class string, pairs ...any) *dotnet.Instance {
	o := &dotnet.Instance{Type: cimTypes[class], Text: class}
	o.Props.Grow(len(pairs)/2 + 1)
	for i := 0; i+1 < len(pairs); i += 2 {
		o.Props.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

// clone copies an instance and the instances in it (facts E59).
func clone(old *dotnet.Instance) *dotnet.Instance {
	copied := &dotnet.Instance{Type: old.Type, Props: old.Props.Clone(), Text: old.Text, Data: old.Data}
	for i := range copied.Props.Len() {
		name, value := copied.Props.At(i)
		if inner, ok := value.(*dotnet.Instance); ok && inner.Type.AssignableTo(tCim) {
			copied.Props.Set(name, clone(inner))
		}
	}
	return copied
}
