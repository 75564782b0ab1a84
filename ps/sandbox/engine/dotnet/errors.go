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

// Error is the message.
func (e *Exception) Error() string { return e.Message }

// Unwrap returns the inner exception.
func (e *Exception) Unwrap() error {
	if e.Inner == nil {
		return nil
	}
	return e.Inner
}

// Position is where in the script an error came from; Line and Column count from 1.
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
	Reason    string // CategoryInfo.Reason; empty: the exception's short type name
	Details   string // ErrorDetails.Message, or empty
	Position  *Position
	// Invocation is the engine's InvocationInfo object, or nil: then one is created from Position.
	Invocation any
}

// Error is the message of the exception.
func (r *ErrorRecord) Error() string { return r.Exception.Message }

// Unwrap returns the exception.
func (r *ErrorRecord) Unwrap() error { return r.Exception }

// LimitError is an operation that would exceed a limit of this package. It ends
// the script: it is not a PowerShell error and cannot be caught by one.
type LimitError struct {
	What string // "string length", ...
	Max  int
}

// Error says which limit.
func (e *LimitError) Error() string { return "limit exceeded: " + e.What }

// Limits of single operations, the same for all: they keep one operation from
// taking all memory before the caller can count its result. A caller that wants
// less counts what the operations give (package interp does, by session).
// Set them before the first evaluation.
var (
	MaxStringLength = 64 << 20             // UTF-16 units (or bytes of UTF-8) of one string
	MaxArrayLength  = MaxStringLength / 16 // items of one collection, 16 bytes each
)
