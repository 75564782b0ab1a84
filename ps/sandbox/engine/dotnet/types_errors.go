package dotnet

// exceptionRow declares an exception type.
type exceptionRow struct {
	name    string
	base    string
	hresult uint32
}

const (
	automation = "System.Management.Automation."
	hrBase     = 0x80131500
	hrSystem   = 0x80131501
)

var exceptionRows = []exceptionRow{
	{"System.SystemException", "System.Exception", hrSystem},
	{"System.ArgumentException", "System.SystemException", 0x80070057},
	{"System.ArgumentNullException", "System.ArgumentException", 0x80004003},
	{"System.ArgumentOutOfRangeException", "System.ArgumentException", 0x80131502},
	{"System.FormatException", "System.SystemException", 0x80131537},
	{"System.InvalidOperationException", "System.SystemException", 0x80131509},
	{"System.ObjectDisposedException", "System.InvalidOperationException", 0x80131622},
	{"System.InvalidCastException", "System.SystemException", 0x80004002},
	{"System.IndexOutOfRangeException", "System.SystemException", 0x80131508},
	{"System.NotSupportedException", "System.SystemException", 0x80131515},
	{"System.ArithmeticException", "System.SystemException", 0x80070216},
	{"System.DivideByZeroException", "System.ArithmeticException", 0x80020012},
	{"System.OverflowException", "System.ArithmeticException", 0x80131516},
	{"System.UnauthorizedAccessException", "System.SystemException", 0x80070005},
	{"System.TimeoutException", "System.SystemException", 0x80131505},
	{"System.IO.IOException", "System.SystemException", 0x80131620},
	{"System.IO.FileNotFoundException", "System.IO.IOException", 0x80070002},
	{"System.Security.Authentication.AuthenticationException", "System.SystemException", hrSystem},
	{"System.Runtime.InteropServices.ExternalException", "System.SystemException", 0x80004005},
	{"System.Runtime.InteropServices.COMException", "System.Runtime.InteropServices.ExternalException", 0x80004005},
	{"System.Text.RegularExpressions.RegexMatchTimeoutException", "System.TimeoutException", 0x80131505},
	{"System.Text.RegularExpressions.RegexParseException", "System.ArgumentException", 0x80070057},
	{automation + "RuntimeException", "System.SystemException", hrSystem},
	{automation + "ActionPreferenceStopException", automation + "RuntimeException", hrSystem},
	{automation + "CommandNotFoundException", automation + "RuntimeException", hrSystem},
	{automation + "ParameterBindingException", automation + "RuntimeException", hrSystem},
	{automation + "ParameterBindingValidationException", automation + "ParameterBindingException", hrSystem},
	{automation + "ParameterBindingArgumentTransformationException", automation + "ParameterBindingException", hrSystem},
	{automation + "MetadataException", automation + "RuntimeException", hrSystem},
	{automation + "ValidationMetadataException", automation + "MetadataException", hrSystem},
	{automation + "ArgumentTransformationMetadataException", automation + "MetadataException", hrSystem},
	{automation + "ExtendedTypeSystemException", automation + "RuntimeException", hrSystem},
	{automation + "MethodException", automation + "ExtendedTypeSystemException", hrSystem},
	{automation + "MethodInvocationException", automation + "MethodException", hrSystem},
	{automation + "GetValueException", automation + "ExtendedTypeSystemException", hrSystem},
	{automation + "PropertyNotFoundException", automation + "ExtendedTypeSystemException", hrSystem},
	{automation + "GetValueInvocationException", automation + "GetValueException", hrSystem},
	{automation + "SetValueException", automation + "ExtendedTypeSystemException", hrSystem},
	{automation + "SetValueInvocationException", automation + "SetValueException", hrSystem},
	{automation + "PSInvalidCastException", "System.InvalidCastException", 0x80004002},
	{automation + "PSArgumentException", "System.ArgumentException", 0x80070057},
	{automation + "PSArgumentOutOfRangeException", "System.ArgumentOutOfRangeException", 0x80131502},
	{automation + "PSInvalidOperationException", "System.InvalidOperationException", 0x80131509},
	{automation + "SessionStateException", automation + "RuntimeException", hrSystem},
	{automation + "ItemNotFoundException", automation + "SessionStateException", hrSystem},
	{automation + "SessionStateUnauthorizedAccessException", automation + "SessionStateException", hrSystem},
	{automation + "WildcardPatternException", automation + "RuntimeException", hrSystem},
	{automation + "ParseException", automation + "RuntimeException", hrSystem},
	{"Microsoft.PowerShell.Commands.WriteErrorException", "System.SystemException", hrSystem},
}

// hresults are the HRESULTs of exception types. A type without an HRESULT inherits one.
var hresults = map[*Type]uint32{}

func hresultOf(t *Type) int32 {
	for ; t != nil; t = t.Base {
		if n, ok := hresults[t]; ok {
			return int32(n)
		}
	}
	code := uint32(hrBase)
	return int32(code)
}

func declareExceptions() {
	TException = declareException(Class{Name: "System.Exception", Members: exceptionMembers}, hrBase)
	for _, row := range exceptionRows {
		c := Class{Name: row.name, Base: Lookup(row.base)}
		switch row.name {
		case "System.Runtime.InteropServices.ExternalException":
			c.Members = []Member{exceptionProperty("ErrorCode", func(e *Exception) any { return e.HResult })}
		case automation + "RuntimeException":
			c.Members = []Member{unsupportedProperty("ErrorRecord"),
				unsupportedProperty("WasThrownFromThrowStatement")}
		}
		declareException(c, row.hresult)
	}
	TRuntimeException = Lookup(automation + "RuntimeException")
	TPSInvalidCastException = Lookup(automation + "PSInvalidCastException")
}

// declareException registers an exception type that scripts construct from a message.
func declareException(c Class, hresult uint32) *Type {
	var t *Type
	c.New = []Member{Constructor("string",
		func(_ any, a []any) (any, error) { return NewException(t, a[0].(string)), nil })}
	t = Register(c)
	hresults[t] = hresult
	return t
}

func exceptionProperty(name string, get func(e *Exception) any) Member {
	return Property(name, func(self any) (any, error) { return get(self.(*Exception)), nil })
}

var exceptionMembers = []Member{
	exceptionProperty("Message", func(e *Exception) any { return e.Message }),
	exceptionProperty("InnerException", func(e *Exception) any {
		if e.Inner == nil {
			return nil
		}
		return e.Inner
	}),
	exceptionProperty("HResult", func(e *Exception) any { return e.HResult }),
	// PSObject.Properties also lists these.
	unsupportedProperty("TargetSite"), unsupportedProperty("Data"), unsupportedProperty("HelpLink"),
	unsupportedProperty("Source"), unsupportedProperty("StackTrace"),
}
