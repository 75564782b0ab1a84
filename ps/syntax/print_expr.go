package syntax

import (
	"strings"
)

// operatorText is how operators are written.
var operatorText = func() map[BinaryOp]string {
	m := map[BinaryOp]string{Add: "+", Sub: "-", Mul: "*", Div: "/", Mod: "%", Range: ".."}
	for _, op := range words {
		if op.binary && op.letter == CaseUnsaid {
			m[op.bin] = op.text
		}
	}
	return m
}()

// String writes the operator as in a script, with its dash and without a letter for case.
func (op BinaryOp) String() string { return operatorText[op] }

// unaryText is how unary operators are written; those after the operand are not in it.
var unaryText = map[UnaryOp]string{
	Not: "-not ", Bang: "! ", Minus: "- ", Plus: "+ ", BitNot: "-bnot ",
	UnarySplit: "-split ", UnaryJoin: "-join ", PreInc: "++ ", PreDec: "-- ",
}

func (p *printer) expr(e Expr) {
	switch e := e.(type) {
	case *Number:
		p.add(e.Text)
	case *String:
		p.string(e)
	case *ExpandString:
		p.expandable(e)
	case *Variable:
		p.variable(e)
	case *ArrayLiteral:
		if len(e.Items) == 1 {
			p.add(",")
		}
		p.list(e.Items)
	case *ArrayExpr:
		p.add("@(")
		p.inline(e.Body)
		p.add(")")
	case *SubExpr:
		p.add("$(")
		p.inline(e.Body)
		p.add(")")
	case *Paren:
		p.add("(")
		p.statement(e.Inner)
		p.add(")")
	case *Hash:
		p.hash(e)
	case *ScriptBlockExpr:
		p.braced(func() { p.scriptBlock(e.Block) })
	case *TypeExpr:
		p.add("[", e.Type.String(), "]")
	case *Cast:
		p.add("[", e.Type.String(), "] ")
		p.expr(e.Operand)
	case *Unary:
		p.add(unaryText[e.Op])
		p.expr(e.Operand)
		switch e.Op {
		case PostInc:
			p.add("++")
		case PostDec:
			p.add("--")
		}
	case *Binary:
		p.expr(e.Left)
		op := e.Op.String()
		if e.Case != CaseUnsaid {
			op = "-" + [...]string{CaseIgnore: "i", CaseExact: "c"}[e.Case] + op[1:]
		}
		p.add(" ", op, " ")
		p.expr(e.Right)
	default:
		p.access(e)
	}
}

func (p *printer) access(e Expr) {
	dot := func(target, name Expr, static bool) {
		p.expr(target)
		p.add([...]string{".", "::"}[b2i(static)])
		p.memberName(name)
	}
	switch e := e.(type) {
	case *Member:
		dot(e.Target, e.Name, e.Static)
	case *Invoke:
		dot(e.Target, e.Name, e.Static)
		p.add("(")
		p.list(e.Args)
		p.add(")")
	case *Index:
		p.expr(e.Target)
		p.add("[")
		p.expr(e.Index)
		p.add("]")
	}
}

// memberName writes a bare word as it is: it is an identifier there, whatever it means elsewhere.
func (p *printer) memberName(e Expr) {
	if s, ok := e.(*String); ok && s.Quote == BareWord {
		p.add(s.Value)
		return
	}
	p.expr(e)
}

func (p *printer) hash(h *Hash) {
	if len(h.Entries) == 0 {
		p.add("@{ }")
		return
	}
	p.add("@")
	p.braced(func() {
		for i, entry := range h.Entries {
			if i > 0 {
				p.line()
			}
			p.memberName(entry.Key)
			p.add(" = ")
			p.statement(entry.Value)
		}
	})
}

func (p *printer) variable(v *Variable) {
	name := v.Name
	if v.Scope != "" {
		name = v.Scope + ":" + v.Name
	}
	switch {
	case v.Splat:
		p.add("@", name)
	case plainVariable(name):
		p.add("$", name)
	default:
		p.add(bracedVariable(name))
	}
}

// plainVariable tells whether a name needs no braces.
func plainVariable(name string) bool {
	if len(name) == 1 && strings.ContainsAny(name, "$?^") {
		return true
	}
	for i := 0; i < len(name); i++ {
		if c := rune(name[i]); c >= 0x80 || !isIdentPart(c) && (c != ':' || i == 0 || i == len(name)-1 || name[i+1] == ':') {
			return false
		}
	}
	return true
}

func bracedVariable(name string) string {
	var b strings.Builder
	b.WriteString("${")
	for i := 0; i < len(name); {
		c, n := decode(name[i:])
		if strings.ContainsRune("{}`", c) || isDoubleQuote(c) {
			b.WriteByte('`')
		}
		b.WriteString(name[i : i+n])
		i += n
	}
	b.WriteString("}")
	return b.String()
}

func (p *printer) string(s *String) {
	switch s.Quote {
	case BareWord:
		p.add(bareWord(s.Value))
	case SingleQuoted:
		p.add("'", doubled(s.Value, isSingleQuote, "'"), "'")
	case DoubleQuoted:
		p.add(`"`, quotedText(s.Value), `"`)
	case SingleHere:
		end := "\n'@"
		if strings.HasSuffix(s.Value, "\r") { // which would join the line feed
			end = "\r" + end
		}
		p.add("@'\n", s.Value, end)
	case DoubleHere:
		p.add("@\"\n", hereText(s.Value), "\n\"@")
	}
}

// doubled puts quote before each character that is one.
func doubled(text string, is func(rune) bool, quote string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		c, n := decode(text[i:])
		if is(c) {
			b.WriteString(quote)
		}
		b.WriteString(text[i : i+n])
		i += n
	}
	return b.String()
}

// quotedText writes literal text for between double quotes.
func quotedText(text string) string {
	text = strings.NewReplacer("`", "``", "$", "`$").Replace(text)
	return doubled(text, isDoubleQuote, `"`)
}

// hereText writes literal text for an expandable here-string. A carriage return
// is escaped, so that it never joins a line feed that follows.
func hereText(text string) string {
	text = strings.NewReplacer("`", "``", "$", "`$", "\r", "`r").Replace(text)
	return doubled(text, isDoubleQuote, "`")
}

func (p *printer) expandable(e *ExpandString) {
	if e.Quote == BareWord {
		p.add(p.expandableWord(e))
		return
	}
	begin, end := `"`, `"`
	if e.Quote == DoubleHere {
		begin, end = "@\"\n", "\n\"@"
	}
	p.add(begin)
	for _, part := range e.Parts {
		switch part := part.(type) {
		case *String:
			if e.Quote == DoubleHere {
				p.add(hereText(part.Value))
			} else {
				p.add(quotedText(part.Value))
			}
		default:
			p.add(p.insertion(part, e.Quote == DoubleHere))
		}
	}
	p.add(end)
}

// insertion writes a variable or a sub-expression inside a string.
func (p *printer) insertion(e Expr, here bool) string {
	switch e := e.(type) {
	case *Variable:
		name := e.Name
		if e.Scope != "" {
			name = e.Scope + ":" + name
		}
		return bracedVariable(name)
	case *SubExpr:
		inner := &printer{}
		inner.inline(e.Body)
		text := balanced(inner.b.String())
		if !here { // a double quote inside would end, or be taken for half of a pair
			text = doubled(text, isDoubleQuote, "`")
		}
		return "$(" + text + ")"
	}
	inner := &printer{}
	inner.expr(e)
	return inner.b.String()
}

// balanced adds comments that make up for parentheses in strings: in a string
// the end of a sub-expression is found by counting them.
func balanced(text string) string {
	depth, low := 0, 0
	for _, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
			low = min(low, depth)
		}
	}
	if low < 0 {
		text = "<#" + strings.Repeat("(", -low) + "#> " + text
		depth -= low
	}
	if depth > 0 {
		text += " <#" + strings.Repeat(")", depth) + "#>"
	}
	return text
}

// bareWord writes a word so that in command mode it is read as one word and nothing else.
func bareWord(word string) string {
	if first, _ := decode(word); isIdentStart(first) && !strings.Contains(word, "`") && isBareWord(word, word) && !keywords[strings.ToLower(word)] {
		return word
	}
	text := wordText(word)
	if isBareWord(text, word) {
		return text
	}
	// An empty string inside makes a word of what would be something else.
	n := 1
	if text[0] == '`' && len(text) > 1 {
		n++
	}
	_, size := decode(text[n-1:])
	n += size - 1
	return text[:n] + "''" + text[n:]
}

// wordText escapes whatever is not a letter, a digit or harmless.
func wordText(word string) string {
	var b strings.Builder
	for i := 0; i < len(word); {
		c, n := decode(word[i:])
		switch {
		case strings.ContainsRune("\x00\a\b\f\n\r\t\v", c):
			for letter, plain := range escapes {
				if plain == c {
					b.WriteByte('`')
					b.WriteRune(letter)
				}
			}
		default:
			if !isLetterOrDigit(c) || i == 0 && !isEscapeLetter(c) {
				b.WriteByte('`')
			}
			b.WriteString(word[i : i+n])
		}
		i += n
	}
	return b.String()
}

func isEscapeLetter(c rune) bool {
	_, ok := escapes[c]
	return ok || c == 'e' || c == 'u'
}

// isBareWord reads text in command mode and tells whether it is one bare word of that value.
func isBareWord(text, value string) bool {
	t, ok := scanWord(text)
	return ok && t.parts == nil && t.value == value && (t.kind == tGeneric || t.kind == tIdentifier)
}

func scanWord(text string) (t token, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, stopped := r.(stop); !stopped {
				panic(r)
			}
			ok = false
		}
	}()
	p := &parser{src: &Source{}, pos: newPositions(text), quiet: true}
	p.l = &lexer{p: p, text: text}
	t = p.l.scan()
	return t, t.start == 0 && t.end == len(text) && text != ""
}

func (p *printer) expandableWord(e *ExpandString) string {
	var b strings.Builder
	for i, part := range e.Parts {
		s, ok := part.(*String)
		switch {
		case !ok:
			b.WriteString(p.insertion(part, false))
		case i == 0:
			// The first character must not look like the start of something else.
			b.WriteString(bareWord(s.Value))
		default:
			b.WriteString(wordText(s.Value))
		}
	}
	if t, ok := scanWord(b.String()); !ok || t.kind != tGeneric {
		b.WriteString("''")
	}
	return b.String()
}
