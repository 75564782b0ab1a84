package syntax

import "fmt"

// Error is one fault found in a text.
type Error struct {
	// PowerShell's id of a parse error, such as "MissingEndCurlyBrace"; "OutsideSubset" if Outside
	ID string
	// in the engine's wording, or, if Outside is set, the construct that was found and what to write instead
	Message string
	File    string // the name given to [Parse]
	Pos     Pos

	// Incomplete reports whether the text could become valid if more text followed. A host that reads line by
	// line then waits for the next line.
	Incomplete bool

	// Outside means that the text is PowerShell, at least in some version, but not part of the
	// subset that this package reads (see grammar.txt).
	Outside bool
}

// IDOutside is the [Error.ID] of text outside the subset.
const IDOutside = "OutsideSubset"

// IDTooDeep is the [Error.ID] of a text that is nested deeper than [MaxDepth].
const IDTooDeep = "ScriptNestedTooDeeply"

// Error returns the position and the message.
func (e *Error) Error() string {
	name := e.File
	if name == "" {
		name = "line"
	}
	return fmt.Sprintf("%s:%d:%d: %s", name, e.Pos.Line, e.Pos.Column, e.Message)
}
