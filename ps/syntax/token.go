package syntax

// kind is what a token is.
type kind uint8

const (
	tEOF kind = iota
	tNewLine
	tSemi
	tComma
	tPipe
	tAndAnd
	tOrOr
	tAmp
	tLParen
	tRParen
	tLCurly
	tRCurly
	tLBracket
	tRBracket
	tAtParen
	tAtCurly
	tDollarParen
	tDot
	tColonColon
	tColon
	tQuestion   // ?, ??, ??=, ?. and the like: version 7 only
	tVariable   // value: name
	tSplat      // value: name
	tNumber     // num
	tString     // value
	tExpand     // parts
	tGeneric    // value, and parts when there is something to expand
	tIdentifier // value
	tKeyword    // value: in lower case
	tLabel      // value: without the colon
	tParameter  // value: without the dash; colon
	tRedirect   // redir
	tRedirectIn
	tAssign
	tOperator // op
	tPlusPlus
	tMinusMinus
	tExclaim
	tUnknown
)

// token is one token; start and end are offsets in the lexer's own text.
type token struct {
	kind       kind
	quote      Quote
	colon      bool // of a parameter: ends with a colon
	redir      redirect
	start, end int
	value      string
	num        any
	parts      []part
	op         *operator
}

// redirect is what a redirection operator says.
type redirect struct {
	stream int8 // 0: all
	merge  bool
	to     int8
	append bool
}

// part is a piece of an expandable string: literal text, a variable or a sub-expression.
type part struct {
	kind       partKind
	start, end int
	text       string // literal text, or the variable's name
	skipped    []int  // of a sub-expression: offsets of the second quotes of pairs
}

type partKind uint8

const (
	partText partKind = iota
	partVariable
	partSub
)

// operator is an operator of expressions. It can be binary, unary or both.
type operator struct {
	text    string
	binary  bool
	prec    int
	bin     BinaryOp
	letter  Case
	unary   bool
	un      UnaryOp
	assign  bool
	assigns AssignOp
}

// The levels of precedence; within one, operators group to the left.
const (
	precLogical = iota + 1
	precBitwise
	precComparison
	precAdd
	precMultiply
	precFormat
	precRange
)

var symbols = map[string]*operator{
	"+":  {text: "+", binary: true, prec: precAdd, bin: Add, unary: true, un: Plus},
	"-":  {text: "-", binary: true, prec: precAdd, bin: Sub, unary: true, un: Minus},
	"*":  {text: "*", binary: true, prec: precMultiply, bin: Mul},
	"/":  {text: "/", binary: true, prec: precMultiply, bin: Div},
	"%":  {text: "%", binary: true, prec: precMultiply, bin: Mod},
	"..": {text: "..", binary: true, prec: precRange, bin: Range},
	"!":  {text: "!", unary: true, un: Bang},
	"++": {text: "++", unary: true, un: PreInc},
	"--": {text: "--", unary: true, un: PreDec},
	"=":  {text: "=", assign: true, assigns: Assign},
	"+=": {text: "+=", assign: true, assigns: AssignAdd},
	"-=": {text: "-=", assign: true, assigns: AssignSub},
	"*=": {text: "*=", assign: true, assigns: AssignMul},
	"/=": {text: "/=", assign: true, assigns: AssignDiv},
	"%=": {text: "%=", assign: true, assigns: AssignMod},
}

// words are the operators spelt with a dash, by their lower-case name without it.
var words = makeWords()

// cased are the comparison operators that take a letter for case.
var cased = map[string]BinaryOp{
	"eq": Eq, "ne": Ne, "gt": Gt, "ge": Ge, "lt": Lt, "le": Le,
	"like": Like, "notlike": NotLike, "match": Match, "notmatch": NotMatch, "replace": Replace,
	"contains": Contains, "notcontains": NotContains, "in": In, "notin": NotIn, "split": Split,
}

func makeWords() map[string]*operator {
	m := map[string]*operator{
		"f":     {binary: true, prec: precFormat, bin: Format},
		"and":   {binary: true, prec: precLogical, bin: And},
		"or":    {binary: true, prec: precLogical, bin: Or},
		"xor":   {binary: true, prec: precLogical, bin: Xor},
		"band":  {binary: true, prec: precBitwise, bin: BitAnd},
		"bor":   {binary: true, prec: precBitwise, bin: BitOr},
		"bxor":  {binary: true, prec: precBitwise, bin: BitXor},
		"shl":   {binary: true, prec: precComparison, bin: ShiftLeft},
		"shr":   {binary: true, prec: precComparison, bin: ShiftRight},
		"is":    {binary: true, prec: precComparison, bin: Is},
		"isnot": {binary: true, prec: precComparison, bin: IsNot},
		"as":    {binary: true, prec: precComparison, bin: As},
		"join":  {binary: true, prec: precComparison, bin: Join, unary: true, un: UnaryJoin},
		"not":   {unary: true, un: Not},
		"bnot":  {unary: true, un: BitNot},
	}
	for name, op := range cased {
		m[name] = &operator{binary: true, prec: precComparison, bin: op}
		m["i"+name] = &operator{binary: true, prec: precComparison, bin: op, letter: CaseIgnore}
		m["c"+name] = &operator{binary: true, prec: precComparison, bin: op, letter: CaseExact}
	}
	// -isplit and -csplit have a unary form too; they mean the same as -split there.
	for _, name := range []string{"split", "isplit", "csplit"} {
		m[name].unary, m[name].un = true, UnarySplit
	}
	for name, op := range m {
		op.text = "-" + name
	}
	return m
}

// keywords are known at the start of a statement, and in a few other places, in command mode.
var keywords = map[string]bool{
	"begin": true, "break": true, "catch": true, "class": true, "configuration": true, "continue": true,
	"data": true, "define": true, "do": true, "dynamicparam": true, "else": true, "elseif": true,
	"end": true, "enum": true, "exit": true, "filter": true, "finally": true, "for": true, "foreach": true,
	"from": true, "function": true, "hidden": true, "if": true, "in": true, "inlinescript": true, "parallel": true, "param": true,
	"process": true, "return": true, "sequence": true, "static": true, "switch": true, "throw": true, "trap": true,
	"try": true, "until": true, "using": true, "var": true, "while": true, "workflow": true,
}
