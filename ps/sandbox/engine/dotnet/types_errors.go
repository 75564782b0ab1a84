package dotnet

import "strconv"

// exceptionRow declares an exception: name (below the last row's namespace when
// it has no dot), base, HRESULT and message of the constructor without arguments.
type exceptionRow struct {
	name    string
	base    string
	hresult uint32
	message string
}

const (
	automation = "System.Management.Automation."
	hrBase     = 0x80131500
	hrSystem   = 0x80131501
)

var exceptionRows = []exceptionRow{
	{"System.SystemException", "System.Exception", hrSystem, "System error."},
	{"System.ApplicationException", "System.Exception", 0x80131600, "Error in the application."},
	{"System.AggregateException", "System.Exception", hrBase, "One or more errors occurred."},
	{"System.ArgumentException", "System.SystemException", 0x80070057, "Value does not fall within the expected range."},
	{"System.ArgumentNullException", "System.ArgumentException", 0x80004003, "Value cannot be null."},
	{"System.ArgumentOutOfRangeException", "System.ArgumentException", 0x80131502, "Specified argument was out of the range of valid values."},
	{"System.FormatException", "System.SystemException", 0x80131537, "One of the identified items was in an invalid format."},
	{"System.Text.DecoderFallbackException", "System.ArgumentException", 0x80070057, "Value does not fall within the expected range."},
	{"System.Text.EncoderFallbackException", "System.ArgumentException", 0x80070057, "Value does not fall within the expected range."},
	{"System.Globalization.CultureNotFoundException", "System.ArgumentException", 0x80070057, "Culture is not supported."},
	{"System.UriFormatException", "System.FormatException", 0x80131537, "Invalid URI."},
	{"System.InvalidOperationException", "System.SystemException", 0x80131509, "Operation is not valid due to the current state of the object."},
	{"System.ObjectDisposedException", "System.InvalidOperationException", 0x80131622, "Cannot access a disposed object."},
	{"System.InvalidCastException", "System.SystemException", 0x80004002, "Specified cast is not valid."},
	{"System.IndexOutOfRangeException", "System.SystemException", 0x80131508, "Index was outside the bounds of the array."},
	{"System.NullReferenceException", "System.SystemException", 0x80004003, "Object reference not set to an instance of an object."},
	{"System.NotSupportedException", "System.SystemException", 0x80131515, "Specified method is not supported."},
	{"System.PlatformNotSupportedException", "System.NotSupportedException", 0x80131539, "Operation is not supported on this platform."},
	{"System.NotImplementedException", "System.SystemException", 0x80004001, "The method or operation is not implemented."},
	{"System.ArithmeticException", "System.SystemException", 0x80070216, "Overflow or underflow in the arithmetic operation."},
	{"System.DivideByZeroException", "System.ArithmeticException", 0x80020012, "Attempted to divide by zero."},
	{"System.OverflowException", "System.ArithmeticException", 0x80131516, "Arithmetic operation resulted in an overflow."},
	{"System.UnauthorizedAccessException", "System.SystemException", 0x80070005, "Attempted to perform an unauthorized operation."},
	{"System.TimeoutException", "System.SystemException", 0x80131505, "The operation has timed out."},
	{"System.OperationCanceledException", "System.SystemException", 0x8013153B, "The operation was canceled."},
	{"System.OutOfMemoryException", "System.SystemException", 0x8007000E, "Insufficient memory to continue the execution of the program."},
	{"System.RankException", "System.SystemException", 0x80131517, "Attempted to operate on an array with the incorrect number of dimensions."},
	{"System.Collections.Generic.KeyNotFoundException", "System.SystemException", 0x80131577, "The given key was not present in the dictionary."},
	{"System.IO.IOException", "System.SystemException", 0x80131620, "I/O error occurred."},
	{"System.IO.FileNotFoundException", "System.IO.IOException", 0x80070002, "Unable to find the specified file."},
	{"System.IO.DirectoryNotFoundException", "System.IO.IOException", 0x80070003, "Attempted to access a path that is not on the disk."},
	{"System.IO.EndOfStreamException", "System.IO.IOException", 0x80070026, "Attempted to read past the end of the stream."},
	{"System.Security.SecurityException", "System.SystemException", 0x8013150A, "Security error."},
	{"System.Security.Authentication.AuthenticationException", "System.SystemException", hrSystem, "System error."},
	{"System.Security.Principal.IdentityNotMappedException", "System.SystemException", 0x80131534, "Some or all identity references could not be translated."},
	{"System.Runtime.InteropServices.ExternalException", "System.SystemException", 0x80004005, "External component has thrown an exception."},
	{"System.Runtime.InteropServices.COMException", "System.Runtime.InteropServices.ExternalException", 0x80004005, "Error HRESULT E_FAIL has been returned from a call to a COM component."},
	{"System.ComponentModel.Win32Exception", "System.Runtime.InteropServices.ExternalException", 0x80004005, "Unknown error"},
	{"System.Text.RegularExpressions.RegexMatchTimeoutException", "System.TimeoutException", 0x80131505, "The operation has timed out."},
	{"System.Text.RegularExpressions.RegexParseException", "System.ArgumentException", 0x80070057, "Invalid pattern."},

	{automation + "RuntimeException", "System.SystemException", hrSystem, "System error."},
	{automation + "ParentContainsErrorRecordException", "System.SystemException", hrSystem, ""},
	{automation + "CmdletInvocationException", automation + "RuntimeException", hrSystem, ""},
	{automation + "CmdletProviderInvocationException", automation + "CmdletInvocationException", hrSystem, ""},
	{automation + "ActionPreferenceStopException", automation + "RuntimeException", hrSystem, ""},
	{automation + "CommandNotFoundException", automation + "RuntimeException", hrSystem, ""},
	{automation + "ParameterBindingException", automation + "RuntimeException", hrSystem, ""},
	{automation + "ParameterBindingValidationException", automation + "ParameterBindingException", hrSystem, ""},
	{automation + "ParameterBindingArgumentTransformationException", automation + "ParameterBindingException", hrSystem, ""},
	{automation + "ParameterBindingParameterDefaultValueException", automation + "ParameterBindingException", hrSystem, ""},
	{automation + "MetadataException", automation + "RuntimeException", hrSystem, ""},
	{automation + "ValidationMetadataException", automation + "MetadataException", hrSystem, ""},
	{automation + "ArgumentTransformationMetadataException", automation + "MetadataException", hrSystem, ""},
	{automation + "ParsingMetadataException", automation + "MetadataException", hrSystem, ""},
	{automation + "ExtendedTypeSystemException", automation + "RuntimeException", hrSystem, ""},
	{automation + "MethodException", automation + "ExtendedTypeSystemException", hrSystem, ""},
	{automation + "MethodInvocationException", automation + "MethodException", hrSystem, ""},
	{automation + "GetValueException", automation + "ExtendedTypeSystemException", hrSystem, ""},
	{automation + "PropertyNotFoundException", automation + "ExtendedTypeSystemException", hrSystem, ""},
	{automation + "GetValueInvocationException", automation + "GetValueException", hrSystem, ""},
	{automation + "SetValueException", automation + "ExtendedTypeSystemException", hrSystem, ""},
	{automation + "SetValueInvocationException", automation + "SetValueException", hrSystem, ""},
	{automation + "PSInvalidCastException", "System.InvalidCastException", 0x80004002, "Specified cast is not valid."},
	{automation + "PSArgumentException", "System.ArgumentException", 0x80070057, "Value does not fall within the expected range."},
	{automation + "PSArgumentNullException", "System.ArgumentNullException", 0x80004003, "Value cannot be null."},
	{automation + "PSArgumentOutOfRangeException", "System.ArgumentOutOfRangeException", 0x80131502, "Specified argument was out of the range of valid values."},
	{automation + "PSInvalidOperationException", "System.InvalidOperationException", 0x80131509, "Operation is not valid due to the current state of the object."},
	{automation + "PSNotSupportedException", "System.NotSupportedException", 0x80131515, "Specified method is not supported."},
	{automation + "PSNotImplementedException", "System.NotImplementedException", 0x80004001, "The method or operation is not implemented."},
	{automation + "PSSecurityException", automation + "RuntimeException", hrSystem, ""},
	{automation + "SessionStateException", automation + "RuntimeException", hrSystem, ""},
	{automation + "ItemNotFoundException", automation + "SessionStateException", hrSystem, "System error."},
	{automation + "DriveNotFoundException", automation + "SessionStateException", hrSystem, ""},
	{automation + "ProviderNotFoundException", automation + "SessionStateException", hrSystem, ""},
	{automation + "SessionStateUnauthorizedAccessException", automation + "SessionStateException", hrSystem, ""},
	{automation + "WildcardPatternException", automation + "RuntimeException", hrSystem, ""},
	{automation + "ParseException", automation + "RuntimeException", hrSystem, ""},
	{automation + "IncompleteParseException", automation + "ParseException", hrSystem, ""},
	{automation + "ScriptCallDepthException", "System.SystemException", hrSystem, ""},
	{automation + "PipelineStoppedException", automation + "RuntimeException", hrSystem, "The pipeline has been stopped."},
	{automation + "PipelineClosedException", automation + "RuntimeException", hrSystem, ""},
	{automation + "HaltCommandException", "System.SystemException", hrSystem, ""},
	{automation + "ScriptRequiresException", automation + "RuntimeException", hrSystem, ""},
	{automation + "RemoteException", automation + "RuntimeException", hrSystem, ""},
	{automation + "Host.HostException", automation + "RuntimeException", hrSystem, ""},
	{"Microsoft.PowerShell.Commands.WriteErrorException", "System.SystemException", hrSystem, "System error."},
}

// defaults of exception types by type: HRESULT and message.
var exceptionDefaults = map[*Type]exceptionRow{}

func hresultOf(t *Type) int32 {
	for ; t != nil; t = t.Base {
		if row, ok := exceptionDefaults[t]; ok {
			return int32(row.hresult)
		}
	}
	return int32(-2146233088)
}

func declareExceptions() {
	TException = declareException(Class{Name: "System.Exception", Implements: nil, Members: exceptionMembers}, exceptionRow{hresult: hrBase})
	for _, row := range exceptionRows {
		c := Class{Name: row.name, Base: Lookup(row.base)}
		c.New = extraConstructors[row.name]
		c.Members = extraMembers[row.name]
		declareException(c, row)
	}
	TRuntimeException = Lookup(automation + "RuntimeException")
	TPSInvalidCastException = Lookup(automation + "PSInvalidCastException")
}

// declareException registers an exception with the constructors all have.
func declareException(c Class, row exceptionRow) *Type {
	var t *Type
	make := func(_ any, a []any) (any, error) {
		e := NewException(t, row.message)
		if row.message == "" {
			e.Message = "Exception of type '" + t.Name + "' was thrown."
		}
		if len(a) > 0 && a[0] != nil {
			e.Message = Text(a[0])
		}
		if len(a) > 1 {
			e.Inner, _ = a[1].(*Exception)
		}
		return e, nil
	}
	if c.New == nil {
		c.New = []Member{Constructor("", make), Constructor("string", make), Constructor("string,System.Exception", make)}
	} else if t := c.Name; t == "System.ArgumentException" || t == automation+"RuntimeException" {
		c.New = append([]Member{Constructor("", make), Constructor("string", make), Constructor("string,System.Exception", make)}, c.New...)
	}
	t = Register(c)
	if row.hresult != 0 {
		exceptionDefaults[t] = row
	}
	return t
}

// RegisterException registers an exception type of a module. properties are set
// to null by its constructors; scripts read them by name.
func RegisterException(name string, base *Type, properties ...string) *Type {
	var t *Type
	build := func(_ any, a []any) (any, error) {
		e := NewException(t, "Exception of type '"+t.Name+"' was thrown.")
		if len(a) > 0 && a[0] != nil {
			e.Message = Text(a[0])
		}
		if len(a) > 1 {
			e.Inner, _ = a[1].(*Exception)
		}
		for _, p := range properties {
			e.Props.Set(p, nil)
		}
		return e, nil
	}
	t = Register(Class{Name: name, Base: base, New: []Member{
		Constructor("", build), Constructor("string", build), Constructor("string,System.Exception", build),
	}})
	return t
}

// paramConstructors are those of ArgumentNullException and its kind: the name of
// the parameter comes first.
func paramConstructors(name string) []Member {
	build := func(_ any, a []any) (any, error) {
		t := Lookup(name)
		e := NewException(t, exceptionDefaults[t].message)
		if len(a) == 2 {
			if inner, ok := a[1].(*Exception); ok {
				e.Message, e.Inner = Text(a[0]), inner
				return e, nil
			}
			e.Message = Text(a[1])
		}
		if len(a) > 0 {
			withParam(e, Text(a[0]))
		}
		return e, nil
	}
	return []Member{Constructor("", build), Constructor("string", build), Constructor("string,System.Exception", build), Constructor("string,string", build)}
}

var extraConstructors = map[string][]Member{
	"System.ArgumentException": {
		Constructor("string,string", func(_ any, a []any) (any, error) {
			return withParam(ExceptionNamed("System.ArgumentException", "%s", Text(a[0])), Text(a[1])), nil
		}),
		Constructor("string,string,System.Exception", func(_ any, a []any) (any, error) {
			e := withParam(ExceptionNamed("System.ArgumentException", "%s", Text(a[0])), Text(a[1]))
			e.Inner, _ = a[2].(*Exception)
			return e, nil
		}),
	},
	"System.ArgumentNullException": paramConstructors("System.ArgumentNullException"),
	"System.ArgumentOutOfRangeException": append(paramConstructors("System.ArgumentOutOfRangeException"),
		Constructor("string,object,string", func(_ any, a []any) (any, error) {
			e := argumentRange(Text(a[0]), Text(a[2]))
			e.Message += NewLine + "Actual value was " + Text(a[1]) + "."
			e.Props.Set("ActualValue", a[1])
			return e, nil
		})),
	"System.ObjectDisposedException": {Constructor("string", func(_ any, a []any) (any, error) {
		return ExceptionNamed("System.ObjectDisposedException", "Cannot access a disposed object.\nObject name: '%s'.", Text(a[0])), nil
	})},
	"System.ComponentModel.Win32Exception": {
		Constructor("int", func(_ any, a []any) (any, error) {
			n := a[0].(int32)
			return win32(n, "Unknown error "+strconv.Itoa(int(n))), nil
		}),
		Constructor("int,string", func(_ any, a []any) (any, error) { return win32(a[0].(int32), Text(a[1])), nil }),
	},
	automation + "RuntimeException": {
		Constructor("string,System.Exception,System.Management.Automation.ErrorRecord", func(_ any, a []any) (any, error) {
			e := NewException(TRuntimeException, Text(a[0]))
			e.Inner, _ = a[1].(*Exception)
			e.Record, _ = a[2].(*ErrorRecord)
			return e, nil
		}),
	},
}

func win32(code int32, message string) *Exception {
	e := ExceptionNamed("System.ComponentModel.Win32Exception", "%s", message)
	e.Props.Set("NativeErrorCode", code)
	return e
}

func exceptionProperty(name string, get func(e *Exception) any) Member {
	return Property(name, func(self any) (any, error) { return get(self.(*Exception)), nil })
}

// paramName is a property only some exceptions have: null unless it was set.
var (
	paramNameMember   = exceptionProperty("ParamName", func(*Exception) any { return nil })
	errorRecordMember = exceptionProperty("ErrorRecord", func(e *Exception) any {
		if e.Record == nil {
			id := e.Type.ShortName()
			e.Record = NewError(e, id, NotSpecified, nil)
		}
		return e.Record
	})
	errorCodeMember = exceptionProperty("ErrorCode", func(e *Exception) any { return e.HResult })
)

var extraMembers = map[string][]Member{
	"System.ArgumentException":                         {paramNameMember},
	"System.Runtime.InteropServices.ExternalException": {errorCodeMember},
	"System.OperationCanceledException":                nil,
	automation + "RuntimeException":                    {errorRecordMember, exceptionProperty("WasThrownFromThrowStatement", func(*Exception) any { return false })},
	automation + "PSInvalidCastException":              {errorRecordMember},
	automation + "PSArgumentException":                 {errorRecordMember},
	automation + "PSInvalidOperationException":         {errorRecordMember},
	automation + "CommandNotFoundException":            {exceptionProperty("CommandName", func(*Exception) any { return nil })},
	automation + "ParameterBindingException":           {exceptionProperty("ParameterName", func(*Exception) any { return nil })},
}

// noteOf is a property that is null until it is set.
func noteOf(name string) Member {
	return Member{Name: name, Get: func(any) (any, error) { return nil, nil }, Set: func(self, v any) error {
		self.(*Exception).Props.Set(name, v) // found before this row from now on
		return nil
	}}
}

var exceptionMembers = []Member{
	exceptionProperty("Message", func(e *Exception) any { return e.Message }),
	exceptionProperty("Data", func(e *Exception) any {
		if e.data == nil {
			e.data = &Hashtable{Type: THashtable}
		}
		return e.data
	}),
	exceptionProperty("InnerException", func(e *Exception) any {
		if e.Inner == nil {
			return nil
		}
		return e.Inner
	}),
	exceptionProperty("TargetSite", func(*Exception) any { return nil }),
	exceptionProperty("StackTrace", func(*Exception) any { return nil }),
	noteOf("HelpLink"), noteOf("Source"),
	{Name: "HResult", Get: func(self any) (any, error) { return self.(*Exception).HResult, nil },
		Set: func(self, v any) error {
			n, err := Convert(v, TInt32)
			if err == nil {
				self.(*Exception).HResult = n.(int32)
			}
			return err
		}},
	Method("GetBaseException", "", func(self any, _ []any) (any, error) {
		e := self.(*Exception)
		for e.Inner != nil {
			e = e.Inner
		}
		return e, nil
	}),
}
