package engine

import (
	"fmt"
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

func lower(s string) string { return dotnet.ToLower(s) }

// expr compiles an expression.
func (c *compiler) expr(e syntax.Expr) exprFn {
	switch e := e.(type) {
	case *syntax.Number:
		return constant(e.Value)
	case *syntax.String:
		return constant(e.Value)
	case *syntax.ExpandString:
		return c.expandString(e)
	case *syntax.Variable:
		return c.variable(e)
	case *syntax.ArrayLiteral:
		return c.arrayLiteral(e)
	case *syntax.ArrayExpr:
		return c.arrayExpr(e)
	case *syntax.SubExpr:
		return c.subExpr(e)
	case *syntax.Paren:
		return c.paren(e)
	case *syntax.Hash:
		return c.hash(e, false)
	case *syntax.ScriptBlockExpr:
		return c.scriptBlockExpr(e)
	case *syntax.TypeExpr:
		ref := c.typeRef(e.Type)
		return func(f *frame) (any, error) {
			t, err := ref(f)
			if err != nil {
				return nil, err
			}
			return t, nil
		}
	case *syntax.Cast:
		return c.cast(e)
	case *syntax.Unary:
		return c.unary(e)
	case *syntax.Binary:
		return c.binary(e)
	case *syntax.Member:
		return c.member(e)
	case *syntax.Invoke:
		return c.invoke(e)
	case *syntax.Index:
		return c.index(e)
	}
	panic(fmt.Sprintf("engine: no expression: %T", e))
}

func constant(v any) exprFn { return func(*frame) (any, error) { return v, nil } }

func (c *compiler) expandString(e *syntax.ExpandString) exprFn {
	type part struct {
		text string
		run  exprFn
	}
	parts := make([]part, len(e.Parts))
	for i, p := range e.Parts {
		if s, ok := p.(*syntax.String); ok {
			parts[i].text = s.Value
		} else {
			parts[i].run = c.expr(p)
		}
	}
	return func(f *frame) (any, error) {
		var room [8]string
		pieces, length := room[:0], 0
		for i := range parts {
			if parts[i].run == nil {
				pieces, length = append(pieces, parts[i].text), length+len(parts[i].text)
				continue
			}
			v, err := parts[i].run(f)
			if err != nil {
				return nil, err
			}
			piece := dotnet.ToText(v)
			if length += len(piece); length > 64 {
				if err := f.charge(length); err != nil {
					return nil, err
				}
			}
			pieces = append(pieces, piece)
		}
		return dotnet.Concat(pieces...), nil // joins pairs of surrogates
	}
}

func (c *compiler) exprs(list []syntax.Expr) []exprFn {
	out := make([]exprFn, len(list))
	for i, e := range list {
		out[i] = c.expr(e)
	}
	return out
}

func (c *compiler) arrayLiteral(e *syntax.ArrayLiteral) exprFn {
	items := c.exprs(e.Items)
	return func(f *frame) (any, error) {
		values := make([]any, len(items))
		for i, item := range items {
			v, err := item(f)
			if err != nil {
				return nil, err
			}
			values[i] = plain(v)
		}
		if len(values) > 64 {
			if err := f.charge(16 * len(values)); err != nil {
				return nil, err
			}
		}
		return dotnet.NewArray(values...), nil
	}
}

// plain turns "no output" into an ordinary null, for code that stores values.
func plain(v any) any {
	if v == dotnet.AutomationNull {
		return nil
	}
	return v
}

// arrayExpr is @(...): the output as an array.
func (c *compiler) arrayExpr(e *syntax.ArrayExpr) exprFn {
	if value := c.blockValue(e.Body); value != nil {
		return func(f *frame) (any, error) {
			v, err := value(f)
			if err != nil {
				return nil, err
			}
			if _, many := dotnet.Enumerate(v); !many {
				return dotnet.OneItem(v), nil
			}
			items, err := f.copied(v, nil)
			return dotnet.NewArray(items...), err
		}
	}
	return c.output(e.Body, (*collector).array)
}

// blockValue compiles a block that is a single expression to its value before enumeration. If the statement
// fails and execution continues, the result is no output. For other blocks it returns nil.
func (c *compiler) blockValue(b *syntax.Block) exprFn {
	if b == nil || len(b.Statements) != 1 {
		return nil
	}
	x := loneExpr(b.Statements[0])
	if x == nil || isStep(x.Expr) {
		return nil
	}
	run, at := c.expr(x.Expr), c.place(b.Statements[0])
	return func(f *frame) (any, error) {
		if err := f.step(at); err != nil {
			return nil, err
		}
		v, err := run(f)
		if err != nil {
			return dotnet.AutomationNull, f.statementError(err, at)
		}
		f.s.ok = true
		return v, nil
	}
}

// enumerated returns a copy of the items that v yields in a pipeline. It reuses buf if they fit.
func (f *frame) enumerated(v any, buf []any) ([]any, error) {
	items, many := dotnet.Enumerate(v)
	if !many {
		return append(buf, v), nil
	}
	if n := len(items); n >= collectEvery {
		if err := f.charge(16 * (n - n%collectEvery)); err != nil {
			return nil, err
		}
	}
	return append(buf, items...), nil
}

// copied is enumerated for @(...).
func (f *frame) copied(v any, buf []any) ([]any, error) {
	if list, ok := v.(*dotnet.List); ok && list.Wrapped && len(list.Type.Args) == 1 &&
		list.Type.Args[0] == dotnet.TObject {
		return nil, dotnet.Refuse("@() around a List[object] of New-Object; make the list with ::new()")
	}
	return f.enumerated(v, buf)
}

func (c *compiler) subExpr(e *syntax.SubExpr) exprFn {
	if len(e.Body.Statements) == 1 {
		if x := loneExpr(e.Body.Statements[0]); x != nil && simpleScalar(x.Expr) {
			return c.expr(x.Expr)
		}
	}
	return c.output(e.Body, (*collector).value)
}

// simpleScalar reports whether an expression can neither fail nor yield a collection, so
// $(...) around it has no effect.
func simpleScalar(e syntax.Expr) bool {
	switch e.(type) {
	case *syntax.Number, *syntax.String:
		return true
	}
	return false
}

func (c *compiler) paren(e *syntax.Paren) exprFn {
	if x := loneExpr(e.Inner); x != nil {
		return c.expr(x.Expr)
	}
	return c.value(e.Inner)
}

func (c *compiler) hash(e *syntax.Hash, ordered bool) exprFn {
	entries := make([]hashEntry, len(e.Entries))
	computed := false
	for i, x := range e.Entries {
		entries[i] = hashEntry{constantName(x.Key), c.expr(x.Key), c.value(x.Value), c.place(x.Key), computed}
		computed = computed || entries[i].name == nil
	}
	return func(f *frame) (any, error) {
		table := dotnet.NewHashtable()
		if ordered {
			table = dotnet.NewOrdered()
		}
		if err := f.charge(64 + 64*len(entries)); err != nil {
			return nil, err
		}
		table.Grow(len(entries))
		for i := range entries {
			if err := entries[i].put(f, table); err != nil {
				return nil, err
			}
		}
		return table, nil
	}
}

// customObject compiles [pscustomobject]@{ }. The object has the properties in the order in
// which they are written. PSTypeName becomes the name of its type.
func customObject(c *compiler, e *syntax.Hash) exprFn {
	table := c.hash(e, true)
	return func(f *frame) (any, error) {
		v, err := table(f)
		if err != nil {
			return nil, err
		}
		object := &dotnet.PSObject{}
		entries := v.(*dotnet.Hashtable)
		for i := range entries.Len() {
			key, value := entries.At(i)
			name, isText := key.(string)
			switch {
			case !isText || name == "":
				return nil, dotnet.Refuse("a key of [pscustomobject] that is no text")
			case strings.EqualFold(name, "PSTypeName"):
				object.TypeNames = []string{dotnet.ToText(value)}
				continue
			}
			if isNull(value) {
				value = nil
			}
			object.Props.Set(name, value)
		}
		return object, nil
	}
}

// hashEntry is one pair of a hash literal.
type hashEntry struct {
	name  *dotnet.Name // of a constant text key, else nil
	key   exprFn
	value exprFn
	at    *place

	after bool // an earlier key is not a constant text, so it may be the same
}

func (e *hashEntry) put(f *frame, table *dotnet.Hashtable) error {
	if e.name != nil {
		v, err := e.value(f)
		if err != nil {
			return err
		}
		if e.after {
			if err := e.once(table, e.name.String()); err != nil {
				return err
			}
		}
		return e.name.SetKey(table, v)
	}
	key, err := e.key(f)
	if err != nil {
		return err
	}
	v, err := e.value(f)
	if err != nil {
		return err
	}
	if isNull(key) {
		return fail(runtimeError("InvalidNullKey", dotnet.InvalidOperation, nil,
			"A null key is not allowed in a hash literal."), e.at)
	}
	if err := e.once(table, key); err != nil {
		return err
	}
	table.Set(key, v)
	return nil
}

// once returns an error if a table already contains the key.
func (e *hashEntry) once(table *dotnet.Hashtable, key any) error {
	if _, twice := table.Get(key); !twice {
		return nil
	}
	return fail(runtimeError("DuplicateKeyInHashLiteral", dotnet.InvalidOperation, key,
		"Duplicate keys '%s' are not allowed in hash literals.", dotnet.ToText(key)), e.at)
}

func (c *compiler) scriptBlockExpr(e *syntax.ScriptBlockExpr) exprFn {
	code := c.scriptBlock(e.Block, "")
	return func(f *frame) (any, error) {
		return &ScriptBlock{s: f.s, code: code, home: f.scope.script().home}, nil
	}
}

// cast compiles [T]operand.
func (c *compiler) cast(e *syntax.Cast) exprFn {
	switch name := lower(e.Type.Name); name {
	case "ordered":
		if h, ok := e.Operand.(*syntax.Hash); ok {
			return c.hash(h, true)
		}
	case "pscustomobject", "system.management.automation.pscustomobject":
		if h, ok := e.Operand.(*syntax.Hash); ok {
			return customObject(c, h)
		}
		c.refuse(e, "the cast ["+e.Type.Name+"] of anything but @{ }")
	case "ref":
		c.refuse(e, "the cast ["+e.Type.Name+"]")
	}
	if v, ok := constantValue(e); ok {
		return constant(v)
	}
	operand := c.expr(e.Operand)
	if known := staticType(e.Type.String()); known != nil {
		return func(f *frame) (any, error) {
			v, err := operand(f)
			if err != nil {
				return nil, err
			}
			return f.convert(v, known)
		}
	}
	ref := c.typeRef(e.Type)
	return func(f *frame) (any, error) {
		t, err := ref(f)
		if err != nil {
			return nil, err
		}
		v, err := operand(f)
		if err != nil {
			return nil, err
		}
		return f.convert(v, t)
	}
}

// constantValue evaluates expressions that have the same value in every run: numbers,
// strings and casts between them.
func constantValue(e syntax.Expr) (v any, ok bool) {
	switch e := e.(type) {
	case *syntax.Number:
		return e.Value, true
	case *syntax.String:
		return e.Value, true
	case *syntax.Cast:
		if v, ok = constantValue(e.Operand); !ok {
			return nil, false
		}
		switch t := staticType(e.Type.String()); t {
		case dotnet.TString, dotnet.TChar, dotnet.TBool, dotnet.TInt32, dotnet.TInt64:
			v, err := dotnet.Convert(v, t)
			return v, err == nil
		}
	}
	return nil, false
}

// convert implements [t]v.
func (f *frame) convert(v any, t *dotnet.Type) (any, error) {
	switch t {
	case dotnet.TVoid:
		return dotnet.AutomationNull, nil
	case dotnet.TString:
		if v == dotnet.AutomationNull { // unlike null, no output stays null
			return nil, nil
		}
	case dotnet.TScriptBlock:
		if _, text := v.(string); text {
			return nil, dotnet.Refuse("a text as [scriptblock]")
		}
	}
	return dotnet.Convert(v, t)
}
