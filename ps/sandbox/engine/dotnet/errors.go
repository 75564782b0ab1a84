package dotnet

// Category is System.Management.Automation.ErrorCategory.
type Category int32

// The error categories.
const (
	NotSpecified Category = iota
	OpenError
	CloseError
	DeviceError
	DeadlockDetected
	InvalidArgument
	InvalidData
	InvalidOperation
	InvalidResult
	InvalidType
	MetadataError
	NotImplemented
	NotInstalled
	ObjectNotFound
	OperationStopped
	OperationTimeout
	SyntaxError
	ParserError
	PermissionDenied
	ResourceBusy
	ResourceExists
	ResourceUnavailable
	ReadError
	WriteError
	FromStdErr
	SecurityError
	ProtocolError
	ConnectionError
	AuthenticationError
	LimitsExceeded
	QuotaExceeded
	NotEnabled
)

// Exception is a .NET exception. Props are the properties of derived types
// (ErrorCode, ServerErrorMessage, ParamName, ...).
type Exception struct {
	Type    *Type
	Message string
	Inner   *Exception
	HResult int32
	Props   Props
	// Record is the error record inside (RuntimeException and others), or nil.
	Record *ErrorRecord
}

// Error returns the message.
func (e *Exception) Error() string { return e.Message }

// Unwrap returns the inner exception.
func (e *Exception) Unwrap() error {
	if e.Inner == nil {
		return nil
	}
	return e.Inner
}

// Position is the place in the script where an error occurred. Line and Column start at 1.
type Position struct {
	File         string
	Line, Column int
	Text         string // the source line
}

// ErrorRecord is System.Management.Automation.ErrorRecord.
type ErrorRecord struct {
	Exception *Exception
	ErrorID   string // FullyQualifiedErrorId
	Category  Category
	Target    any
	Activity  string // CategoryInfo.Activity: the command
	Reason    string // CategoryInfo.Reason; if empty, the exception's short type name
	Details   string // ErrorDetails.Message; may be empty
	Position  *Position
	// Invocation is the engine's InvocationInfo object. If it is nil, one is created from Position.
	Invocation any
}

// Error returns the message of the exception.
func (r *ErrorRecord) Error() string { return r.Exception.Message }

// Unwrap returns the exception.
func (r *ErrorRecord) Unwrap() error { return r.Exception }

// LimitError means that an operation would exceed a limit of this package. It ends the script. It is not a
// PowerShell error, and no script can catch it.
type LimitError struct {
	What string // "string length", ...
	Max  int
}

// Error returns a message that names the limit.
func (e *LimitError) Error() string { return "limit exceeded: " + e.What }

// Limits of single operations, the same for all callers. They keep one operation from exhausting memory
// before the caller can count its result. A caller with lower limits counts the results itself, as package
// engine does per session. They must be set before the first evaluation.
var (
	MaxStringLength = 64 << 20             // of one string, in UTF-16 units (or bytes of UTF-8)
	MaxArrayLength  = MaxStringLength / 16 // of one collection, in items of 16 bytes
)
