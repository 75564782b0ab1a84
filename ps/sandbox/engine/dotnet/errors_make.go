package dotnet

import "fmt"

// NewException returns an exception of a registered type.
func NewException(t *Type, message string) *Exception {
	return &Exception{Type: t, Message: message, HResult: hresultOf(t)}
}

// ExceptionNamed returns an exception by the full name of its type; an unknown
// name yields a System.Exception.
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

// RuntimeError returns the record of an error of the language: a RuntimeException.
func RuntimeError(id string, category Category, target any, format string, args ...any) *ErrorRecord {
	return typedError(TRuntimeException, id, category, target, format, args...)
}

func typedError(t *Type, id string, category Category, target any, format string, args ...any) *ErrorRecord {
	e := NewException(t, fmt.Sprintf(format, args...))
	r := &ErrorRecord{Exception: e, ErrorID: id, Category: category, Target: target}
	e.Record = r
	return r
}

// castError is a conversion that failed: a PSInvalidCastException inside a
// RuntimeException, as an expression that casts raises it.
func castError(id string, cause *Exception, format string, args ...any) *ErrorRecord {
	inner := NewException(TPSInvalidCastException, fmt.Sprintf(format, args...))
	inner.Inner = cause
	r := RuntimeError(id, InvalidArgument, nil, "%s", inner.Message)
	r.Exception.Inner = inner
	inner.Record = r
	return r
}

// outcome turns an exception that an operator met into the record PowerShell
// derives from it: its id is the exception's type name.
func outcome(e *Exception) *ErrorRecord {
	if e.Record != nil {
		return e.Record
	}
	return NewError(e, e.Type.Name, OperationStopped, nil)
}

// AsRecord turns an error into a record; errors no script may catch give nil.
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

// ThrowValue is the throw statement: the record for a thrown value.
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

// String is the record as text: the details or the exception's message.
func (r *ErrorRecord) String() string {
	if r.Details != "" {
		return r.Details
	}
	return r.Exception.Message
}

// String is the name of a category.
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
