package adcmd

import (
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

// sidValue returns a SecurityIdentifier, or $null for the zero SID.
func sidValue(s directory.SID) any {
	if s.IsZero() {
		return nil
	}
	return &dotnet.Instance{Type: tSID, Text: s.String(), Data: s}
}

func sidOf(self any) directory.SID {
	s, _ := self.(*dotnet.Instance).Data.(directory.SID)
	return s
}

// tSID is System.Security.Principal.SecurityIdentifier. Values are equal if their texts are equal.
var tSID *dotnet.Type

func init() { // in init, because the members refer to tSID
	tSID = dotnet.Define(sidClass())
}

func sidClass() dotnet.Class {
	return dotnet.Class{
		Name:       "System.Security.Principal.SecurityIdentifier",
		Implements: []string{"System.IEquatable"},
		New: []dotnet.Member{
			dotnet.Constructor("string", func(_ any, args []any) (any, error) {
				s, ok := directory.ParseSID(dotnet.ToText(args[0]))
				if !ok {
					return nil, dotnet.ExceptionNamed("System.ArgumentException", "Value was invalid.")
				}
				return sidValue(s), nil
			}),
		},
		Members: []dotnet.Member{
			dotnet.Property("Value", func(self any) (any, error) { return sidOf(self).String(), nil }),
			dotnet.Method("ToString", "", func(self any, _ []any) (any, error) { return sidOf(self).String(), nil }),
			dotnet.Method("Equals", "object", func(self any, args []any) (any, error) {
				other, ok := args[0].(*dotnet.Instance)
				return ok && other.Type == tSID && other.Text == self.(*dotnet.Instance).Text, nil
			}),
		},
	}
}
