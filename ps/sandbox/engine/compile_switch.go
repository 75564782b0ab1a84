package engine

import (
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// switchTest tells whether one clause fits a value; $_ is the value then.
type switchTest func(f *frame, v any) (bool, error)

type switchClause struct {
	test switchTest
	body stmtFn
}

func (c *compiler) switchStatement(s *syntax.Switch) stmtFn {
	value := c.value(s.Value)
	clauses := make([]switchClause, len(s.Clauses))
	for i, cl := range s.Clauses {
		clauses[i] = switchClause{c.switchTest(s, cl.Test), c.block(cl.Body)}
	}
	var otherwise stmtFn
	if s.Default != nil {
		otherwise = c.block(s.Default)
	}
	at := c.place(s)
	label := lower(s.Label)
	return func(f *frame, out sink) error {
		v, err := value(f)
		if err != nil {
			return err
		}
		items := []any{v}
		if list, ok := dotnet.Enumerate(v); ok {
			items = list
		}
		old, had := f.scope.under, f.scope.hasUnder
		defer func() { f.scope.restoreUnder(old, had) }()
		changed := dotnet.Watch(v)
		for _, item := range items {
			if changed() {
				break
			}
			if err := f.step(at); err != nil {
				return err
			}
			f.scope.setUnder(item)
			stop, err := loopControl(runClauses(f, item, clauses, otherwise, out), label)
			if stop || err != nil {
				return err
			}
		}
		if changed() {
			return fail(dotnet.CollectionModified(), at)
		}
		return nil
	}
}

// runClauses runs every clause that fits one value, or the default.
func runClauses(f *frame, v any, clauses []switchClause, otherwise stmtFn, out sink) error {
	matched := false
	for i := range clauses {
		fits, err := clauses[i].test(f, v)
		if err != nil {
			return err
		}
		if !fits {
			continue
		}
		matched = true
		if err := clauses[i].body(f, out); err != nil {
			return err
		}
		f.scope.setUnder(v)
	}
	if !matched && otherwise != nil {
		return otherwise(f, out)
	}
	return nil
}

func (c *compiler) switchTest(s *syntax.Switch, e syntax.Expr) switchTest {
	if block, ok := e.(*syntax.ScriptBlockExpr); ok {
		code := c.scriptBlock(block.Block, nil, "")
		return func(f *frame, v any) (bool, error) {
			result, err := f.inlineValue(code, v)
			return dotnet.Truthy(result), err
		}
	}
	want := c.expr(e)
	exact := s.CaseSensitive
	switch s.Match {
	case syntax.SwitchWildcard:
		return func(f *frame, v any) (bool, error) {
			w, err := want(f)
			if err != nil {
				return false, err
			}
			pattern := dotnet.CompileWildcard(dotnet.ToText(w), exact)
			return pattern.Match(dotnet.ToText(v)), pattern.Err()
		}
	case syntax.SwitchRegex:
		return func(f *frame, v any) (bool, error) {
			w, err := want(f)
			if err != nil {
				return false, err
			}
			if err := f.guardRegex(v); err != nil {
				return false, err
			}
			result, matches, err := dotnet.Match(dotnet.ToText(v), w, exact, false)
			if err != nil {
				return false, err
			}
			if matches != nil {
				f.scope.set(symMatches, "Matches", matches)
			}
			return dotnet.Truthy(result), nil
		}
	}
	return func(f *frame, v any) (bool, error) {
		w, err := want(f)
		if err != nil {
			return false, err
		}
		if text, ok := v.(string); ok {
			other := dotnet.ToText(w)
			return text == other || !exact && strings.EqualFold(text, other), nil
		}
		return dotnet.Equal(plain(v), plain(w), exact), nil
	}
}
