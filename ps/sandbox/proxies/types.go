package proxies

import (
	"fmt"
	"strings"
	"sync"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine/dotnet"
)

const (
	directoryNamespace = "Microsoft.ActiveDirectory.Management"
	entityType         = directoryNamespace + ".ADEntity" // root class of the directory's objects
	collectionType     = directoryNamespace + ".ADPropertyValueCollection"
)

// members are the members of the modules' exceptions that Exception does not have.
var members = map[string]string{
	directoryNamespace + ".ADException":           "public int ErrorCode { get; set; } public string ServerErrorMessage { get; set; }",
	directoryNamespace + ".ADServerDownException": "public int ErrorCode { get; set; } public string ServerName { get; set; }",
	"System.ServiceModel.FaultException":          "public object Code { get; set; }", // an object of the sandbox
	"Microsoft.Management.Infrastructure.CimException": "public NativeErrorCode NativeErrorCode { get; set; } public string MessageId { get; set; } " +
		"public uint StatusCode { get; set; } public string ErrorSource { get; set; } public ushort ErrorType { get; set; } public object ErrorData { get; set; }",
}

// declaration returns the C# declaration of a type, or "" for .NET types and types that sandbox.cs declares.
func declaration(t *dotnet.Type) (namespace, text string) {
	at := strings.LastIndexByte(t.Name, '.')
	if at < 0 || strings.Contains(t.Name, "#") {
		return "", ""
	}
	namespace, name := t.Name[:at], t.Name[at+1:]
	switch {
	case t.Kind == dotnet.KindEnum:
		names := make([]string, len(t.Values))
		for i, v := range t.Values {
			names[i] = fmt.Sprintf("%s = %d", v.Name, v.Value)
		}
		return namespace, "    public enum " + name + " { " + strings.Join(names, ", ") + " }\n"
	case t.AssignableTo(dotnet.TException):
		own := ""
		if m := members[t.Name]; m != "" {
			own = "\n        " + m
		}
		return namespace, fmt.Sprintf(
			"    public class %s : %s\n    {\n        public %s(string message) : base(message) { }\n"+
				"        public %s(string message, System.Exception inner) : base(message, inner) { }%s\n    }\n", name,
			t.Base.Name, name, name, own)
	case t.Name == collectionType:
		return namespace, "    public class " + name + " : System.Collections.ArrayList\n    {\n" +
			"        public object Value { get { return Count == 0 ? null : Count == 1 ? this[0] : ToArray(); } }\n" +
			"    }\n"
	case isEntity(t):
		base := "AdGateway.Sandbox.Entity"
		if t.Name != entityType {
			base = t.Base.Name
		}
		var constructors strings.Builder
		for _, identity := range []string{"string", "System.Guid", "AdGateway.Sandbox.SecurityIdentifier"} {
			fmt.Fprintf(&constructors, "        public %s(%s identity) : base(identity) { }\n", name, identity)
		}
		return namespace, "    public class " + name + " : " + base + "\n    {\n        public " + name +
			"() { }\n" + constructors.String() + "    }\n"
	}
	return "", ""
}

// isEntity reports whether a type is a class of directory objects.
func isEntity(t *dotnet.Type) bool {
	for ; t != nil; t = t.Base {
		if t.Name == entityType {
			return true
		}
	}
	return false
}

// Types returns the C# code of all types that the modules need: sandbox.cs and the modules' types.
func Types() string {
	var text strings.Builder
	text.WriteString(kit)
	for _, m := range sandbox.Declarations() {
		for _, t := range m.Types {
			if namespace, declared := declaration(t); declared != "" {
				fmt.Fprintf(&text, "\nnamespace %s\n{\n%s}\n", namespace, declared)
			}
		}
	}
	return text.String()
}

// declaredTypes are the types in Types that parameters may have, by short name.
var declaredTypes = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for _, m := range sandbox.Declarations() {
		for _, t := range m.Types {
			if _, text := declaration(t); text != "" && !t.AssignableTo(dotnet.TException) {
				out[t.ShortName()] = t.Name
			}
		}
	}
	return out
})
