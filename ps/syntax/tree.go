package syntax

// Pos is a position in a source text. The zero Pos means no position.
type Pos struct {
	Offset int // bytes from the start of the text
	Line   int // starting at 1
	Column int // starting at 1, in UTF-16 units, as in PowerShell
}

// Span is the piece of text from which a node was parsed: From inclusive, To exclusive.
type Span struct {
	From, To Pos
}

// Extent returns the span itself, so that a node that embeds it is a [Node].
func (s Span) Extent() Span { return s }

// Source is a text and its name in messages. It is immutable.
type Source struct {
	Name string // file name; empty for a line of input
	Text string
}

// Slice returns the text of a span.
func (s *Source) Slice(at Span) string { return s.Text[at.From.Offset:at.To.Offset] }

// Node is any part of the tree. A tree never changes after [Parse] has returned it and may
// be read concurrently.
type Node interface {
	Extent() Span
}

// Statement is a [*Pipeline], [*Assignment], [*FunctionDef], [*If], [*ForEach],
// [*For], [*While], [*DoLoop], [*Switch], [*Try], or [*Flow].
type Statement interface {
	Node
	statement()
}

// Expr is a node with a value: [*Number], [*String], [*ExpandString], [*Variable],
// [*ArrayLiteral], [*ArrayExpr], [*SubExpr], [*Paren], [*Hash], [*ScriptBlockExpr],
// [*TypeExpr], [*Cast], [*Unary], [*Binary], [*Member], [*Invoke], [*Index].
type Expr interface {
	Node
	expr()
}

// Element is one stage of a pipeline: a [*Command] or an [*ExprElement].
type Element interface {
	Node
	element()
}

// Script is a whole text.
type Script struct {
	*Source
	Block *ScriptBlock
}

// Extent returns the span of the whole script.
func (s *Script) Extent() Span { return s.Block.Span }

// ScriptBlock is a script, the body of a function, or a block in braces that is a value. Its span excludes
// the braces, so Source.Slice of the span returns the same text as ToString of the script block in
// PowerShell.
type ScriptBlock struct {
	Span
	Source  *Source
	Param   *ParamBlock // may be nil
	Begin   *Block      // nil if there is no begin block; a process block follows a begin block
	End     *Block      // nil if there is no end block; a process block precedes an end block
	Body    *Block
	Process bool // the body has the form process { }
}

// ParamBlock is param(...) with the attributes before it.
type ParamBlock struct {
	Span
	Attributes []*Attribute
	Params     []*Param
}

// Param is one declared parameter.
type Param struct {
	Span
	Attributes []*Attribute // [Parameter(...)], [ValidateSet(...)], [Alias(...)] and others, in written order
	Types      []*TypeName  // type constraints in source order; the first one is the parameter's type
	Name       *Variable
	Default    Expr // may be nil
}

// Attribute is [Name(args)].
type Attribute struct {
	Span
	Type       *TypeName
	Positional []Expr
	Named      []*NamedArg
}

// NamedArg is Name = Value inside an attribute. Value is nil if only the name is written, which means $true.
type NamedArg struct {
	Span
	Name  string
	Value Expr
}

// TypeName is the content of the brackets of a type literal, without white space, such as int, string[],
// System.Collections.Generic.List[object] or Nullable[bool].
type TypeName struct {
	Span
	Name  string    // without type argument and array brackets
	Arg   *TypeName // type argument; may be nil
	Array bool      // array brackets follow
}

// Block is a list of statements.
type Block struct {
	Span
	Statements []Statement
}

// Pipeline is one or more elements joined by bars.
type Pipeline struct {
	Span
	Elements []Element
}

// ExprElement is an expression as the first element of a pipeline.
type ExprElement struct {
	Span
	Expr Expr
}

// Command is a call by name, by & or by dot.
type Command struct {
	Span
	Operator CallOperator
	Name     Expr // a [*String] of kind BareWord for a plain name
	// each a [*CommandParam] or an Expr, in source order; a splat is a [*Variable] with Splat set
	Args []Node
}

// CallOperator is the operator with which a command is called.
type CallOperator uint8

// The call operators.
const (
	CallPlain CallOperator = iota // Name
	CallAmp                       // & Name
	CallDot                       // . Name
)

// CommandParam is -Name or -Name:Value among a command's arguments.
type CommandParam struct {
	Span
	Name  string // without the dash and the colon
	Value Expr   // value after a colon; otherwise nil
}

// Assignment is Target Op Value. Target is a [*Variable], [*Member] or [*Index].
type Assignment struct {
	Span
	Target Expr
	Op     AssignOp
	OpSpan Span
	Value  Statement
}

// AssignOp is an assignment operator.
type AssignOp uint8

// The assignment operators.
const (
	Assign    AssignOp = iota // =
	AssignAdd                 // +=
	AssignSub                 // -=
)

// FunctionDef is function Name { }.
type FunctionDef struct {
	Span
	Name     string
	NameSpan Span
	Body     *ScriptBlock
}

// If is if (Cond) {} elseif ... else {}.
type If struct {
	Span
	Clauses []*IfClause // at least one
	Else    *Block      // may be nil
}

// IfClause is a condition and the block that it guards.
type IfClause struct {
	Span
	Cond Statement
	Body *Block
}

// ForEach is foreach (Var in In) {}.
type ForEach struct {
	Span
	Var  *Variable
	In   Statement
	Body *Block
}

// For is for (Init; Cond; Next) {}; each of the three may be nil.
type For struct {
	Span
	Init, Cond, Next Statement
	Body             *Block
}

// While is while (Cond) {}.
type While struct {
	Span
	Cond Statement
	Body *Block
}

// DoLoop is do {} while (Cond), or until.
type DoLoop struct {
	Span
	Until bool
	Body  *Block
	Cond  Statement
}

// Switch is switch (Value) { Test {} }.
type Switch struct {
	Span
	Value   Statement
	Clauses []*SwitchClause
}

// SwitchClause is one test and its body.
type SwitchClause struct {
	Span
	Test Expr
	Body *Block
}

// Try is try {} catch [T] {} finally {}.
type Try struct {
	Span
	Body    *Block
	Catch   *Catch // may be nil
	Finally *Block // may be nil
}

// Catch is a catch clause.
type Catch struct {
	Span
	Body *Block
}

// Flow is return, throw, exit, break or continue.
type Flow struct {
	Span
	Kind  FlowKind
	Value Statement // of return, throw and exit; may be nil
}

// FlowKind is the keyword of a [Flow].
type FlowKind uint8

// The keywords.
const (
	Return FlowKind = iota
	Throw
	Exit
	Break
	Continue
)

// Number is a number literal. Value is an int32 or int64. A minus sign is part of the
// literal if PowerShell reads it that way.
type Number struct {
	Span
	Value any
	Text  string // as written
}

// String is a string without variables or sub-expressions.
type String struct {
	Span
	Value string // with escapes resolved
	Quote Quote
}

// ExpandString is a string with variables or $(...) in it. Literal pieces are
// [*String]; the others are [*Variable] or [*SubExpr].
type ExpandString struct {
	Span
	Parts []Expr
	Quote Quote
}

// Quote is the form in which a string is written.
type Quote uint8

// The forms of strings.
const (
	BareWord Quote = iota
	SingleQuoted
	DoubleQuoted
)

// Variable is $Name, ${Name}, $Scope:Name or @Name.
type Variable struct {
	Span
	// global, local, script or private, or the drive env, function or variable, spelled as in the source; may be
	// empty
	Scope string
	Name  string // as written
	Splat bool
}

// ArrayLiteral is a, b, c or the unary comma.
type ArrayLiteral struct {
	Span
	Items []Expr
}

// ArrayExpr is @( ).
type ArrayExpr struct {
	Span
	Body *Block
}

// SubExpr is $( ).
type SubExpr struct {
	Span
	Body *Block
}

// Paren is ( ), which makes a pipeline or an assignment a value.
type Paren struct {
	Span
	Inner Statement
}

// Hash is @{ }. [ordered]@{ } is a [Cast] of a Hash.
type Hash struct {
	Span
	Entries []*HashEntry
}

// HashEntry is Key = Value. A bare key is a [*String] of kind BareWord.
type HashEntry struct {
	Span
	Key   Expr
	Value Statement
}

// ScriptBlockExpr is { } as a value.
type ScriptBlockExpr struct {
	Span
	Block *ScriptBlock
}

// TypeExpr is [Name] as a value.
type TypeExpr struct {
	Span
	Type *TypeName
}

// Cast is [Name]Operand.
type Cast struct {
	Span
	Type    *TypeName
	Operand Expr
}

// Unary is an operator with one operand.
type Unary struct {
	Span
	Op      UnaryOp
	Operand Expr
}

// UnaryOp is an operator with one operand.
type UnaryOp uint8

// The unary operators. The unary comma is an [ArrayLiteral] of one item.
const (
	Not     UnaryOp = iota // -not
	BitNot                 // -bnot
	PostInc                // $x++
	PostDec                // $x--
)

// Binary is an operator with two operands.
type Binary struct {
	Span
	Op          BinaryOp
	Exact       bool // case-sensitive: -ceq and similar operators
	OpSpan      Span
	Left, Right Expr
}

// BinaryOp is an operator with two operands, without the letter c or i for case.
type BinaryOp uint8

// The binary operators.
const (
	Add         BinaryOp = iota // +
	Sub                         // -
	Mul                         // *
	Div                         // /
	Mod                         // %
	And                         // -and
	Or                          // -or
	BitAnd                      // -band
	BitOr                       // -bor
	ShiftRight                  // -shr
	Eq                          // -eq
	Ne                          // -ne
	Gt                          // -gt
	Ge                          // -ge
	Lt                          // -lt
	Le                          // -le
	Like                        // -like
	Match                       // -match
	NotMatch                    // -notmatch
	Replace                     // -replace
	Contains                    // -contains
	NotContains                 // -notcontains
	Join                        // -join
	Is                          // -is
	IsNot                       // -isnot
)

// Member is Target.Name, or Target::Name.
type Member struct {
	Span
	Target Expr
	Name   *String
	Static bool
}

// Invoke is Target.Name(Args), or Target::Name(Args).
type Invoke struct {
	Span
	Target Expr
	Name   *String
	Static bool
	Args   []Expr
}

// Index is Target[Index].
type Index struct {
	Span
	Target Expr
	Index  Expr
}

func (*Pipeline) statement()    {}
func (*Assignment) statement()  {}
func (*FunctionDef) statement() {}
func (*If) statement()          {}
func (*ForEach) statement()     {}
func (*For) statement()         {}
func (*While) statement()       {}
func (*DoLoop) statement()      {}
func (*Switch) statement()      {}
func (*Try) statement()         {}
func (*Flow) statement()        {}

func (*Command) element()     {}
func (*ExprElement) element() {}

func (*Number) expr()          {}
func (*String) expr()          {}
func (*ExpandString) expr()    {}
func (*Variable) expr()        {}
func (*ArrayLiteral) expr()    {}
func (*ArrayExpr) expr()       {}
func (*SubExpr) expr()         {}
func (*Paren) expr()           {}
func (*Hash) expr()            {}
func (*ScriptBlockExpr) expr() {}
func (*TypeExpr) expr()        {}
func (*Cast) expr()            {}
func (*Unary) expr()           {}
func (*Binary) expr()          {}
func (*Member) expr()          {}
func (*Invoke) expr()          {}
func (*Index) expr()           {}
