package engine

import (
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

type switchClause struct {
	want exprFn
	body stmtFn
}

func (c *compiler) switchStatement(s *syntax.Switch) stmtFn {
	value := c.value(s.Value)
	clauses := make([]switchClause, len(s.Clauses))
	for i, cl := range s.Clauses {
		if _, block := cl.Test.(*syntax.ScriptBlockExpr); block {
			c.refuse(cl.Test, "a script block as a clause")
		}
		clauses[i] = switchClause{c.expr(cl.Test), c.block(cl.Body)}
	}
	at := c.place(s)
	return func(f *frame, out sink) error {
		v, err := value(f)
		if err != nil {
			return err
		}
		if _, many := dotnet.Enumerate(v); many {
			return fail(dotnet.Refuse("switch over a collection"), at)
		}
		old, had := f.scope.under, f.scope.hasUnder
		defer func() { f.scope.restoreUnder(old, had) }()
		if err := f.step(at); err != nil {
			return err
		}
		_, err = loopControl(runClauses(f, v, clauses, out))
		return err
	}
}

// runClauses runs every matching clause, with $_ set to the value.
func runClauses(f *frame, v any, clauses []switchClause, out sink) error {
	for i := range clauses {
		f.scope.setUnder(v)
		want, err := clauses[i].want(f)
		if err != nil {
			return err
		}
		fits, err := switchEqual(v, want)
		if err != nil {
			return err
		}
		if !fits {
			continue
		}
		if err := clauses[i].body(f, out); err != nil {
			return err
		}
	}
	return nil
}

// switchEqual reports whether a clause matches. Texts are compared as with -eq.
func switchEqual(v, want any) (bool, error) {
	_, text := v.(string)
	if _, same := want.(string); text && !same {
		want = dotnet.ToText(want)
	}
	return dotnet.Equal(plain(v), plain(want), false)
}
