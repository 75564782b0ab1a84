package frame

import (
	"html/template"
	"regexp"
	"slices"
	"strings"
	tree "text/template/parse"

	"adgateway/gateway/visible"
)

// What others have stored is text on every page, and nothing in it is hidden: see [visible.Hidden].
// The templates do not say so at each value. They are rewritten when they are read: each value that
// stands between tags goes through [inText], and each one in an attribute that people read through
// [inLine].

// inText returns a value as it stands between tags. What is written from right to left is isolated, so
// that it does not reorder what stands beside it.
func inText(value any) any {
	text, is := value.(string)
	if !is {
		return value
	}
	text = InLine(text)
	if !visible.Mirrored(text) {
		return text
	}
	return template.HTML("<bdi>" + template.HTMLEscapeString(text) + "</bdi>")
}

// InLine returns a text in which what is hidden is written out, but for the ends of its lines.
func InLine(text string) string {
	if !strings.ContainsAny(text, "\n\r\t") {
		return visible.Text(text)
	}
	var b strings.Builder
	for {
		i := strings.IndexAny(text, "\n\r\t")
		if i < 0 {
			b.WriteString(visible.Text(text))
			return b.String()
		}
		b.WriteString(visible.Text(text[:i]))
		b.WriteByte(text[i])
		text = text[i+1:]
	}
}

// readAttributes are those that people read. The values of others are addresses, or what a form sends.
var readAttributes = []string{"data-l", "datetime", "title", "aria-label", "alt", "placeholder"}

// attribute matches the beginning of a tag that ends within the value of an attribute.
var attribute = regexp.MustCompile(`([a-z-]+)="[^"]*$`)

// showing rewrites a template, see [inText].
func showing(t *template.Template) *template.Template {
	for _, one := range t.Templates() {
		if one.Tree != nil {
			show(one.Tree.Root, "")
		}
	}
	return t
}

// show rewrites nodes behind a part of a page, and returns the page behind them: from the last tag on.
func show(node tree.Node, before string) (after string) {
	switch n := node.(type) {
	case *tree.ListNode:
		if n == nil {
			return before
		}
		for _, one := range n.Nodes {
			before = show(one, before)
		}
	case *tree.TextNode:
		before += string(n.Text)
		return before[max(strings.LastIndexByte(before, '<'), 0):]
	case *tree.ActionNode:
		if function := functionFor(before); len(n.Pipe.Decl) == 0 && function != "" {
			call := &tree.CommandNode{NodeType: tree.NodeCommand, Pos: n.Pos,
				Args: []tree.Node{tree.NewIdentifier(function).SetPos(n.Pos)}}
			n.Pipe.Cmds = append(n.Pipe.Cmds, call)
		}
	case *tree.IfNode:
		return showBranches(&n.BranchNode, before)
	case *tree.WithNode:
		return showBranches(&n.BranchNode, before)
	case *tree.RangeNode:
		return showBranches(&n.BranchNode, before)
	}
	return before
}

func showBranches(n *tree.BranchNode, before string) (after string) {
	after = show(n.List, before)
	show(n.ElseList, before)
	return after
}

// functionFor returns the function of a value behind a part of a page; empty: it stays as it is.
func functionFor(before string) string {
	switch {
	case strings.HasPrefix(before, "<textarea"):
		return "" // it is what the form sends
	case !strings.HasPrefix(before, "<") || strings.Contains(before, ">"):
		if strings.HasPrefix(before, "<title>") {
			return "inLine" // it holds no tags
		}
		return "inText"
	case strings.HasPrefix(before, `<template id="texts"`):
		return "inLine" // the words of the script
	default:
		found := attribute.FindStringSubmatch(before)
		if found != nil && slices.Contains(readAttributes, found[1]) {
			return "inLine"
		}
		return ""
	}
}
