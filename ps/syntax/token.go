package syntax

// kind is the kind of a token.
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
	tOutside    // an operator outside the subset
	tVariable   // value: name
	tSplat      // value: name
	tNumber     // num
	tString     // value
	tExpand     // parts
	tGeneric    // a word of argument mode
	tIdentifier // value
	tKeyword    // value: in lower case
	tParameter  // value: without the dash; colon
	tRedirect
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
	mixed      bool // of a word: contains quotes, backticks or variables
	start, end int
	value      string
	num        any
	parts      []part
	op         *operator
}

// part is a part of an expandable string: literal text, a variable or a sub-expression.
type part struct {
	kind       partKind
	start, end int
	text       string // literal text, or the variable's name
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
	exact   bool
	unary   bool
	un      UnaryOp
	assign  bool
	assigns AssignOp
}

// The levels of precedence. Operators of the same level group to the left.
const (
	precLogical = iota + 1
	precBitwise
	precComparison
	precAdd
	precMultiply
)

var symbols = map[string]*operator{
	"+":  {text: "+", binary: true, prec: precAdd, bin: Add},
	"-":  {text: "-", binary: true, prec: precAdd, bin: Sub},
	"*":  {text: "*", binary: true, prec: precMultiply, bin: Mul},
	"/":  {text: "/", binary: true, prec: precMultiply, bin: Div},
	"%":  {text: "%", binary: true, prec: precMultiply, bin: Mod},
	"++": {text: "++"},
	"--": {text: "--"},
	"=":  {text: "=", assign: true, assigns: Assign},
	"+=": {text: "+=", assign: true, assigns: AssignAdd},
	"-=": {text: "-=", assign: true, assigns: AssignSub},
}

// words contains the operators that are spelled with a dash, by lower-case name without the dash.
var words = makeWords()

func makeWords() map[string]*operator {
	m := map[string]*operator{
		"and":   {binary: true, prec: precLogical, bin: And},
		"or":    {binary: true, prec: precLogical, bin: Or},
		"band":  {binary: true, prec: precBitwise, bin: BitAnd},
		"bor":   {binary: true, prec: precBitwise, bin: BitOr},
		"shr":   {binary: true, prec: precComparison, bin: ShiftRight},
		"is":    {binary: true, prec: precComparison, bin: Is},
		"isnot": {binary: true, prec: precComparison, bin: IsNot},
		"join":  {binary: true, prec: precComparison, bin: Join},
		"not":   {unary: true, un: Not},
		"bnot":  {unary: true, un: BitNot},
	}
	cased := map[string]BinaryOp{
		"eq": Eq, "ne": Ne, "gt": Gt, "ge": Ge, "lt": Lt, "le": Le, "like": Like, "match": Match, "notmatch": NotMatch,
		"replace": Replace, "contains": Contains, "notcontains": NotContains,
	}
	for name, op := range cased {
		m[name] = &operator{binary: true, prec: precComparison, bin: op}
		m["c"+name] = &operator{binary: true, prec: precComparison, bin: op, exact: true}
	}
	for name, op := range m {
		op.text = "-" + name
	}
	return m
}

var operatorTexts = func() map[BinaryOp]string {
	m := map[BinaryOp]string{}
	for _, table := range []map[string]*operator{symbols, words} {
		for _, op := range table {
			if op.binary && !op.exact {
				m[op.bin] = op.text
			}
		}
	}
	return m
}()

// String returns the operator in the form used in scripts, without the c of -ceq.
func (op BinaryOp) String() string { return operatorTexts[op] }

// otherWords are the operators of PowerShell outside the subset.
var otherWords = map[string]bool{
	"f": true, "xor": true, "bxor": true, "shl": true, "as": true, "split": true, "isplit": true, "csplit": true,
	"notlike": true, "inotlike": true, "cnotlike": true, "in": true, "iin": true, "cin": true, "notin": true, "inotin": true, "cnotin": true,
	"ieq": true, "ine": true, "igt": true, "ige": true, "ilt": true, "ile": true, "ilike": true, "imatch": true, "inotmatch": true,
	"ireplace": true, "icontains": true, "inotcontains": true,
}

// keywords contains the words that are recognized at the start of a statement and, in command mode, in a few
// other places.
var keywords = map[string]bool{
	"begin": true, "break": true, "catch": true, "class": true, "configuration": true, "continue": true,
	"data": true, "define": true, "do": true, "dynamicparam": true, "else": true, "elseif": true,
	"end": true, "enum": true, "exit": true, "filter": true, "finally": true, "for": true, "foreach": true,
	"from": true, "function": true, "hidden": true, "if": true, "in": true, "inlinescript": true, "parallel": true, "param": true,
	"process": true, "return": true, "sequence": true, "static": true, "switch": true, "throw": true, "trap": true,
	"try": true, "until": true, "using": true, "var": true, "while": true, "workflow": true,
}
