// Package dotnet implements the part of .NET that the gateway's scripts use: values, types, conversion,
// operators, members, errors and JSON. It is independent of syntax, scopes and cmdlets, and is shared by the
// evaluator and the cmdlets.
//
// A PowerShell value is a Go any: nil is $null; bool, string, int32, int64, uint8, int8, int16,
// uint16, uint32, uint64 and float64 are themselves; [Char], [DateTime], [TimeSpan], [Guid], [Version]
// and [Enum] are Go values; arrays, lists, dictionaries and objects are pointers ([Array], [Bytes],
// [List], [Hashtable], [PSObject], [Instance], [Type], [Exception], [ErrorRecord], ...). Strings are
// UTF-8 in which a lone surrogate is its three-byte form; lengths and indices count UTF-16 units.
//
// Types are rows. A [Class] lists constructors, static and instance members with their signatures as text, so
// a new member only needs a row.
//
// Where to look: [Convert], [ToText], [Truthy], [Enumerate] for the rules of conversion; [Operator],
// [Unary], [Match], [Replace], [Equal], [Compare] for operators; [GetMember], [SetMember],
// [CallMethod], [New], [GetIndex] for members; [ToJSON] and [FromJSON]; [ThrowValue] for errors. A
// module declares its types with [Define], and a host declares its console type with [NewConsole].
//
// Dates, numbers and text are formatted in the invariant culture. A type, member, overload, conversion or
// pattern that is not implemented is refused. It is never silently skipped, and its result never differs from
// PowerShell's.
//
// Errors: every exported function that fails returns an [*ErrorRecord] that is ready to be caught by a
// script, or a [*LimitError] or [*Refused] that no script may catch.
package dotnet
