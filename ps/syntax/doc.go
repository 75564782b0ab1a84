// Package syntax reads the PowerShell subset that scripts are written in.
//
// [Parse] turns a text into a [Script], a tree of typed nodes with positions, or into errors that carry
// PowerShell's own ids and wording. [Walk] visits a tree, [Print] writes it out again. The subset is
// defined in grammar.txt. Text that is PowerShell but outside the subset is refused with [Error.Outside]
// set; the message names what was found and what to write instead. Nothing is ever skipped.
//
// The package reads a text in the same way as PowerShell. The file lexer.go contains the two modes (arguments
// of a command, expressions), numbers.go and strings.go contain the literals, and the remaining files contain
// the grammar. Columns of positions are counted in UTF-16 units.
package syntax
