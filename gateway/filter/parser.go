package filter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"adgateway/gateway/nearest"
)

// Parse reads a filter for objects of a class. The error is of type [*Error].
func Parse(class *Class, text string) (*Expr, error) {
	if !utf8.ValidString(text) {
		return nil, &Error{Message: "must be valid UTF-8"}
	}
	if n := utf8.RuneCountInString(text); n > MaxLength {
		return nil, &Error{Message: fmt.Sprintf("must be at most %d characters long", MaxLength)}
	}
	p := &parser{class: class, lexer: lexer{text: []rune(text)}}
	root, err := p.whole()
	if wrong := (*Error)(nil); errors.As(err, &wrong) {
		inOurs(class, text, wrong)
	}
	if err != nil {
		return nil, err
	}
	return &Expr{root}, nil
}

type parser struct {
	class       *Class
	lexer       lexer
	token       token // next token
	comparisons int
	depth       int
}

func (p *parser) whole() (*node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.token.kind == tokenEnd {
		return nil, p.token.wrong("a field is expected")
	}
	root, err := p.or()
	switch {
	case err != nil:
		return nil, err
	case p.token.kind != tokenEnd:
		return nil, p.token.wrong(`"and", "or" or the end is expected`)
	}
	if err := topOnly(root, true); err != nil {
		return nil, err
	}
	return root, nil
}

func (p *parser) advance() *Error {
	var err *Error
	p.token, err = p.lexer.next()
	return err
}

func (p *parser) or() (*node, *Error)  { return p.list(or, "or", p.and) }
func (p *parser) and() (*node, *Error) { return p.list(and, "and", p.term) }

// list reads parts that are separated by a word.
func (p *parser) list(kind nodeKind, word string, part func() (*node, *Error)) (*node, *Error) {
	first, err := part()
	if err != nil {
		return nil, err
	}
	subs := []*node{first}
	for p.token.is(word) {
		if err := p.advance(); err != nil {
			return nil, err
		}
		sub, err := part()
		if err != nil {
			return nil, err
		}
		subs = append(subs, sub)
	}
	if len(subs) == 1 {
		return first, nil
	}
	return &node{kind: kind, subs: subs}, nil
}

func (p *parser) term() (*node, *Error) {
	negated := p.token.is("not")
	depth := p.depth
	defer func() { p.depth = depth }()
	if negated {
		if err := p.deeper(); err != nil {
			return nil, err
		}
		if p.token.kind != tokenOpen {
			return nil, p.token.wrong(`a parenthesis is expected after "not": not (manager pr)`)
		}
	}
	if p.token.kind != tokenOpen {
		return p.comparison()
	}
	if err := p.deeper(); err != nil {
		return nil, err
	}
	inner, err := p.or()
	switch {
	case err != nil:
		return nil, err
	case p.token.kind != tokenClose:
		return nil, p.token.wrong(`"and", "or" or a closing parenthesis is expected`)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if negated {
		return &node{kind: not, subs: []*node{inner}}, nil
	}
	return inner, nil
}

// deeper parses the rest after "not" or an opening parenthesis.
func (p *parser) deeper() *Error {
	if p.depth++; p.depth > MaxDepth {
		return p.token.wrong(fmt.Sprintf(`parentheses and "not" can be nested at most %d deep`, MaxDepth))
	}
	return p.advance()
}

func (p *parser) comparison() (*node, *Error) {
	if p.token.kind != tokenWord {
		return nil, p.token.wrong("a field is expected")
	}
	if p.comparisons++; p.comparisons > MaxComparisons {
		return nil, p.token.wrong(fmt.Sprintf("a filter can have at most %d comparisons", MaxComparisons))
	}
	f, err := p.class.find(&p.token)
	if err != nil {
		return nil, err
	}
	n := &node{field: f, at: p.token}
	if err := p.advance(); err != nil {
		return nil, err
	}
	at := slices.IndexFunc(f.ops, func(op Op) bool { return p.token.is(string(op)) })
	if at < 0 {
		return nil, p.token.wrong(fmt.Sprintf("the operators of %s are %s", f.name, f.operators()))
	}
	n.op = f.ops[at]
	if n.op == Present {
		return n, p.advance()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if n.value, err = f.parse(n.op, &p.token); err != nil {
		return nil, err
	}
	return n, p.advance()
}

// find returns the field named by a token.
func (c *Class) find(t *token) (*field, *Error) {
	for i := range c.fields {
		if strings.EqualFold(c.fields[i].name, t.raw) {
			return &c.fields[i], nil
		}
	}
	for name, why := range c.refused {
		if strings.EqualFold(name, t.raw) {
			return nil, t.wrong(why)
		}
	}
	if f := c.known(t.raw); f != nil {
		return nil, t.wrong("here this field is " + f.name)
	}
	names := c.Names()
	if near := nearest.Of(t.raw, names); near != "" {
		return nil, t.wrong(fmt.Sprintf("this is not a field for filtering %s; did you mean %s?", c.Name, near))
	}
	return nil, t.wrong(fmt.Sprintf("this is not a field for filtering %s; the fields are %s", c.Name,
		strings.Join(names, ", ")))
}

// topOnly refuses fields that are checked after the search if they occur below "not" or "or", where
// the search could miss hits.
func topOnly(n *node, top bool) error {
	if n.kind == comparison && n.field.top && !top {
		return n.at.wrong(fmt.Sprintf(`%s cannot be used in an "or" or a "not", `+
			`only together with other conditions by "and"`, n.field.name))
	}
	for _, sub := range n.subs {
		if err := topOnly(sub, top && n.kind == and); err != nil {
			return err
		}
	}
	return nil
}
