package syntax

// Walk calls visit for n and, if visit returns true, walks the children of n in the order of the text. A nil
// node is not visited.
func Walk(n Node, visit func(Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	children(n, func(child Node) { Walk(child, visit) })
}

// tooDeep looks for a node more than MaxDepth below the root, without recursion.
func tooDeep(root Node) (Pos, bool) {
	type level struct {
		node  Node
		depth int
	}
	stack := []level{{root, 0}}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if top.depth > MaxDepth {
			return top.node.Extent().From, true
		}
		children(top.node, func(n Node) { stack = append(stack, level{n, top.depth + 1}) })
	}
	return Pos{}, false
}

// each calls do for the nodes of a list.
func each[N Node](list []N, do func(Node)) {
	for _, n := range list {
		do(n)
	}
}

// maybe calls do for the blocks that are present. An absent block is a nil pointer, which must not be
// converted to a Node.
func maybe(do func(Node), blocks ...*Block) {
	for _, b := range blocks {
		if b != nil {
			do(b)
		}
	}
}

// children calls do for the direct children of n, in the order of the text.
func children(n Node, do func(Node)) {
	switch n := n.(type) {
	case *Script:
		do(n.Block)
	case *ScriptBlock:
		if n.Param != nil {
			do(n.Param)
		}
		maybe(do, n.Begin, n.Body, n.End)
	case *ParamBlock:
		each(n.Attributes, do)
		each(n.Params, do)
	case *Param:
		each(n.Attributes, do)
		each(n.Types, do)
		do(n.Name)
		if n.Default != nil {
			do(n.Default)
		}
	case *Attribute:
		do(n.Type)
		each(n.Positional, do)
		each(n.Named, do)
	case *NamedArg:
		if n.Value != nil {
			do(n.Value)
		}
	case *TypeName:
		if n.Arg != nil {
			do(n.Arg)
		}
	case *Block:
		each(n.Statements, do)
	case *Pipeline:
		each(n.Elements, do)
	case *ExprElement:
		do(n.Expr)
	case *Command:
		do(n.Name)
		each(n.Args, do)
	case *CommandParam:
		if n.Value != nil {
			do(n.Value)
		}
	case Statement:
		statementChildren(n, do)
	case Expr:
		exprChildren(n, do)
	default:
		partChildren(n, do)
	}
}

// partChildren is like children, for the parts of statements and of hash literals.
func partChildren(n Node, do func(Node)) {
	switch n := n.(type) {
	case *IfClause:
		do(n.Cond)
		do(n.Body)
	case *SwitchClause:
		do(n.Test)
		do(n.Body)
	case *Catch:
		do(n.Body)
	case *HashEntry:
		do(n.Key)
		do(n.Value)
	}
}

func statementChildren(n Statement, do func(Node)) {
	switch n := n.(type) {
	case *Assignment:
		do(n.Target)
		do(n.Value)
	case *FunctionDef:
		do(n.Body)
	case *If:
		each(n.Clauses, do)
		maybe(do, n.Else)
	case *ForEach:
		do(n.Var)
		do(n.In)
		do(n.Body)
	case *For:
		for _, s := range []Statement{n.Init, n.Cond, n.Next} {
			if s != nil {
				do(s)
			}
		}
		do(n.Body)
	case *While:
		do(n.Cond)
		do(n.Body)
	case *DoLoop:
		do(n.Body)
		do(n.Cond)
	case *Switch:
		do(n.Value)
		each(n.Clauses, do)
	case *Try:
		do(n.Body)
		if n.Catch != nil {
			do(n.Catch)
		}
		maybe(do, n.Finally)
	case *Flow:
		if n.Value != nil {
			do(n.Value)
		}
	}
}

func exprChildren(n Expr, do func(Node)) {
	switch n := n.(type) {
	case *ExpandString:
		each(n.Parts, do)
	case *ArrayLiteral:
		each(n.Items, do)
	case *ArrayExpr:
		do(n.Body)
	case *SubExpr:
		do(n.Body)
	case *Paren:
		do(n.Inner)
	case *Hash:
		each(n.Entries, do)
	case *ScriptBlockExpr:
		do(n.Block)
	case *TypeExpr:
		do(n.Type)
	case *Cast:
		do(n.Type)
		do(n.Operand)
	case *Unary:
		do(n.Operand)
	case *Binary:
		do(n.Left)
		do(n.Right)
	case *Member:
		do(n.Target)
		do(n.Name)
	case *Invoke:
		do(n.Target)
		do(n.Name)
		each(n.Args, do)
	case *Index:
		do(n.Target)
		do(n.Index)
	}
}
