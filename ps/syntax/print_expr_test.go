package syntax

import (
	"strings"
)

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
		p.add([...]string{Not: "-not ", BitNot: "-bnot ", PostDec: ""}[e.Op])
		p.expr(e.Operand)
		p.add([...]string{PostInc: "++", PostDec: "--"}[e.Op])
	case *Binary:
		p.expr(e.Left)
		op := e.Op.String()
		if e.Exact {
			op = "-c" + op[1:]
		}
		p.add(" ", op, " ")
		p.expr(e.Right)
	default:
		p.access(e)
	}
}

func (p *printer) access(e Expr) {
	dot := func(target Expr, name *String, static bool) {
		p.expr(target)
		p.add([...]string{".", "::"}[b2i(static)], name.Value)
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
			if word, ok := entry.Key.(*String); ok && word.Quote == BareWord {
				p.add(word.Value)
			} else {
				p.expr(entry.Key)
			}
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
	p.add([...]string{"$", "@"}[b2i(v.Splat)], name)
}

func (p *printer) string(s *String) {
	switch s.Quote {
	case BareWord:
		p.add(s.Value)
	case SingleQuoted:
		p.add("'", doubled(s.Value, isSingleQuote, "'"), "'")
	case DoubleQuoted:
		p.add(`"`, quotedText(s.Value), `"`)
	}
}

// doubled writes quote before each character for which is returns true.
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

// quotedText writes literal text for a double-quoted string.
func quotedText(text string) string {
	text = strings.NewReplacer("`", "``", "$", "`$").Replace(text)
	return doubled(text, isDoubleQuote, `"`)
}

func (p *printer) expandable(e *ExpandString) {
	p.add(`"`)
	for _, part := range e.Parts {
		switch part := part.(type) {
		case *String:
			p.add(quotedText(part.Value))
		default:
			p.add(p.insertion(part))
		}
	}
	p.add(`"`)
}

// insertion writes a variable or a sub-expression inside a string.
func (p *printer) insertion(e Expr) string {
	switch e := e.(type) {
	case *Variable:
		if strings.ContainsAny(e.Name, "$^") {
			return "$" + e.Name
		}
		inner := &printer{}
		inner.variable(e)
		return "${" + inner.b.String()[1:] + "}"
	case *SubExpr:
		inner := &printer{}
		inner.inline(e.Body)
		return "$(" + balanced(inner.b.String()) + ")"
	}
	inner := &printer{}
	inner.expr(e)
	return inner.b.String()
}

// balanced adds comments that compensate for parentheses in strings, because in a string the
// end of a sub-expression is found by counting parentheses.
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
		text = "#" + strings.Repeat("(", -low) + "\n" + text
		depth -= low
	}
	if depth > 0 {
		text += " #" + strings.Repeat(")", depth) + "\n"
	}
	return text
}
