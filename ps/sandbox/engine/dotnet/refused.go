package dotnet

import "fmt"

// Refused is the error for something PowerShell has and this engine does not.
// It ends the run: no script can catch it, so a script never takes the refusal
// for the answer of a real PowerShell.
type Refused struct{ Record *ErrorRecord }

func (e *Refused) Error() string { return e.Record.Error() }

// Refuse returns the [Refused] that names what is not supported.
func Refuse(format string, args ...any) error {
	return &Refused{Record: RuntimeError("OutsideSubset", NotImplemented, nil, "Outside the script subset: %s.", fmt.Sprintf(format, args...))}
}
