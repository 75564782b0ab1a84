package syntax

import "fmt"

// Error is one fault found in a text.
type Error struct {
	ID      string // PowerShell's id of a parse error, "MissingEndCurlyBrace"; "OutsideSubset" when Outside
	Message string // in the engine's wording; when Outside: what was found and what to write instead
	File    string // name given to [Parse]
	Pos     Pos

	// Incomplete reports whether more text could make it valid: a host that reads
	// line by line then waits for more.
	Incomplete bool

	// Outside says that the text is PowerShell, or would be in some version,
	// but not of the subset this package reads (see grammar.txt).
	Outside bool
}

// IDOutside is the [Error.ID] of what is outside the subset.
const IDOutside = "OutsideSubset"

// IDTooDeep is the [Error.ID] of a text nested deeper than [MaxDepth].
const IDTooDeep = "ScriptNestedTooDeeply"

// Error returns the position and the message.
func (e *Error) Error() string {
	name := e.File
	if name == "" {
		name = "line"
	}
	return fmt.Sprintf("%s:%d:%d: %s", name, e.Pos.Line, e.Pos.Column, e.Message)
}
