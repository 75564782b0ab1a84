package frame

import (
	"html/template"
	"regexp"
	"slices"
	"strings"
	tree "text/template/parse"

	"adgateway/gateway/visible"
)

// Every page shows stored values as text, with hidden characters made visible, see [visible.Hidden]. The
// templates need not request that for each value, because they are rewritten when they are parsed. Values
// between tags then go through [inText], and values in attributes that people read through [inLine].

// inText returns a value for use between tags. It isolates right-to-left text, so that browsers do not
// reorder the text around it.
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

// InLine makes the hidden characters in a text visible, except line breaks.
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

// Seen returns a text without its invisible characters.
func Seen(text string) string {
	return strings.Map(func(r rune) rune {
		if visible.Unseen(r) {
			return -1
		}
		return r
	}, text)
}

// readAttributes are the attributes that people read. Others contain addresses or the values of a form.
var readAttributes = []string{"data-l", "datetime", "title", "aria-label", "alt", "placeholder"}

// attribute matches the start of a tag that ends within an attribute's value.
var attribute = regexp.MustCompile(`([a-z-]+)="[^"]*$`)

// showing rewrites the values in a template, see [inText].
func showing(t *template.Template) *template.Template {
	for _, one := range t.Templates() {
		if one.Tree != nil {
			show(one.Tree.Root, "")
		}
	}
	return t
}

// show rewrites a node. before is the part of the page from the last tag to the node, and after is the part
// from the last tag to the end of the node.
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

// functionFor returns the function to apply to a value that follows the given part of a page, or "" if there
// is none.
func functionFor(before string) string {
	switch {
	case strings.HasPrefix(before, "<textarea"):
		return "" // the value that the form sends
	case !strings.HasPrefix(before, "<") || strings.Contains(before, ">"):
		if strings.HasPrefix(before, "<title>") {
			return "inLine" // a title cannot contain tags
		}
		return "inText"
	case strings.HasPrefix(before, `<template id="texts"`):
		return "inLine" // words for the script
	default:
		found := attribute.FindStringSubmatch(before)
		if found != nil && slices.Contains(readAttributes, found[1]) {
			return "inLine"
		}
		return ""
	}
}
