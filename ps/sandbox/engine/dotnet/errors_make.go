package dotnet

import "fmt"

// NewException returns an exception of a registered type.
func NewException(t *Type, message string) *Exception {
	return &Exception{Type: t, Message: message, HResult: hresultOf(t)}
}

// ExceptionNamed returns an exception by the full name of its type. An unknown name results
// in a System.Exception.
func ExceptionNamed(name, format string, args ...any) *Exception {
	t := Lookup(name)
	if t == nil {
		t = TException
	}
	return NewException(t, fmt.Sprintf(format, args...))
}

// NewError returns an error record. Without an exception it has a RuntimeException.
func NewError(e *Exception, id string, category Category, target any) *ErrorRecord {
	if e == nil {
		e = NewException(TRuntimeException, "")
	}
	return &ErrorRecord{Exception: e, ErrorID: id, Category: category, Target: target}
}

// RuntimeError returns the record of an error raised by the language itself, a RuntimeException.
func RuntimeError(id string, category Category, target any, format string, args ...any) *ErrorRecord {
	return typedError(TRuntimeException, id, category, target, format, args...)
}

func typedError(t *Type, id string, category Category, target any, format string, args ...any) *ErrorRecord {
	e := NewException(t, fmt.Sprintf(format, args...))
	r := &ErrorRecord{Exception: e, ErrorID: id, Category: category, Target: target}
	e.Record = r
	return r
}

// castError returns the error of a failed conversion in the form that a cast expression
// raises: a PSInvalidCastException inside a RuntimeException.
func castError(id string, cause *Exception, format string, args ...any) *ErrorRecord {
	inner := NewException(TPSInvalidCastException, fmt.Sprintf(format, args...))
	inner.Inner = cause
	r := RuntimeError(id, InvalidArgument, nil, "%s", inner.Message)
	r.Exception.Inner = inner
	inner.Record = r
	return r
}

// outcome converts an exception raised by an operator to the record that PowerShell derives
// from it. Its id is the exception's type name.
func outcome(e *Exception) *ErrorRecord {
	if e.Record != nil {
		return e.Record
	}
	return NewError(e, e.Type.Name, OperationStopped, nil)
}

// AsRecord converts an error to a record. For errors that no script may catch it returns nil.
func AsRecord(err error) *ErrorRecord {
	switch e := err.(type) {
	case *ErrorRecord:
		return e
	case *Exception:
		return outcome(e)
	default:
		return nil
	}
}

// ThrowValue implements the throw statement: it returns the record for a thrown value.
func ThrowValue(v any) *ErrorRecord {
	switch v := base(v).(type) {
	case *ErrorRecord:
		copied := *v
		return &copied
	case *Exception:
		if v.Record != nil {
			copied := *v.Record
			copied.Exception = v
			return &copied
		}
		return NewError(v, v.Message, OperationStopped, nil)
	case nil:
		return RuntimeError("ScriptHalted", OperationStopped, nil, "ScriptHalted")
	default:
		text := ToText(v)
		r := RuntimeError(text, OperationStopped, v, "%s", text)
		return r
	}
}

// String returns the record as text: the details, or else the exception's message.
func (r *ErrorRecord) String() string {
	if r.Details != "" {
		return r.Details
	}
	return r.Exception.Message
}

// String returns the name of the category.
func (c Category) String() string {
	if c >= 0 && int(c) < len(categoryNames) {
		return categoryNames[c]
	}
	return "NotSpecified"
}

var categoryNames = [...]string{
	"NotSpecified", "OpenError", "CloseError", "DeviceError", "DeadlockDetected", "InvalidArgument", "InvalidData",
	"InvalidOperation", "InvalidResult", "InvalidType", "MetadataError", "NotImplemented", "NotInstalled",
	"ObjectNotFound", "OperationStopped", "OperationTimeout", "SyntaxError", "ParserError", "PermissionDenied",
	"ResourceBusy", "ResourceExists", "ResourceUnavailable", "ReadError", "WriteError", "FromStdErr", "SecurityError",
	"ProtocolError", "ConnectionError", "AuthenticationError", "LimitsExceeded", "QuotaExceeded", "NotEnabled",
}
