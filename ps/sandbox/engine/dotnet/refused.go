package dotnet

import "fmt"

// Refused is the error for a feature of PowerShell that this engine does not support. It ends the run
// and cannot be caught, so a script never mistakes the refusal for the answer of a real PowerShell.
type Refused struct{ Record *ErrorRecord }

func (e *Refused) Error() string { return e.Record.Error() }

// Refuse returns a [Refused] that names the unsupported feature.
func Refuse(format string, args ...any) error {
	return &Refused{Record: RuntimeError("OutsideSubset", NotImplemented, nil, "Outside the script subset: %s.",
		fmt.Sprintf(format, args...))}
}
