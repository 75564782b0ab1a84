package site

import (
	"bytes"
	"html/template"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"adgateway/gateway/manual"
)

// rendered is a page in HTML.
type rendered struct {
	text     template.HTML
	headings []heading
}

// heading is a second-level heading.
type heading struct{ Anchor, Text string }

// render converts a page. It omits HTML in the Markdown.
func render(page manual.Page) rendered {
	markdown := goldmark.New(
		goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(
			parser.WithAutoHeadingID(),
			parser.WithASTTransformers(
				util.Prioritized(withoutHTML{}, 500),
				util.Prioritized(rows{}, 501), util.Prioritized(links{page.Name}, 502))),
	)
	source := []byte(page.Text)
	context := parser.NewContext(parser.WithIDs(anchors{}))
	document := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(context))
	var html bytes.Buffer
	if err := markdown.Renderer().Render(&html, source, document); err != nil {
		panic(err) // writing to a buffer never fails, and the page is part of the program
	}
	r := rendered{text: template.HTML(html.String())}
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		if h, ok := node.(*ast.Heading); ok && h.Level == 2 {
			id, _ := h.AttributeString("id")
			anchor, _ := id.([]byte)
			r.headings = append(r.headings, heading{string(anchor), textOf(h, source)})
		}
	}
	return r
}

// anchors gives headings the anchors that links to them use.
type anchors struct{}

func (anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	return []byte(manual.Anchor(string(value)))
}

func (anchors) Put([]byte) {}

// withoutHTML removes the HTML of a page, except for the line breaks in tables.
type withoutHTML struct{}

// Transform implements [parser.ASTTransformer].
func (withoutHTML) Transform(document *ast.Document, reader text.Reader, _ parser.Context) {
	var blocks []ast.Node
	walk(document, func(node ast.Node) {
		switch node := node.(type) {
		case *ast.HTMLBlock:
			blocks = append(blocks, node)
		case *ast.RawHTML:
			blocks = append(blocks, node)
			if string(node.Segments.Value(reader.Source())) == "<br>" {
				lineBreak := ast.NewString([]byte("<br>"))
				lineBreak.SetCode(true) // written unchanged
				node.Parent().InsertBefore(node.Parent(), node, lineBreak)
			}
		}
	})
	for _, node := range blocks {
		node.Parent().RemoveChild(node.Parent(), node)
	}
}

// rows makes the first cell of a table row an anchor if it begins with a text in code font, so that a link
// can lead to a single error code or setting. It also makes wide tables scrollable with the keyboard.
type rows struct{}

// Transform implements [parser.ASTTransformer].
func (rows) Transform(document *ast.Document, reader text.Reader, _ parser.Context) {
	used := map[string]bool{}
	walk(document, func(node ast.Node) {
		if table, ok := node.(*tables.Table); ok {
			table.SetAttributeString("tabindex", []byte("0"))
		}
		row, ok := node.(*tables.TableRow)
		if !ok || row.FirstChild() == nil {
			return
		}
		code, ok := row.FirstChild().FirstChild().(*ast.CodeSpan)
		if !ok {
			return
		}
		if id := textOf(code, reader.Source()); id != "" && !used[id] && !strings.ContainsAny(id, " \t\"'<>&") {
			used[id] = true
			row.SetAttributeString("id", []byte(id))
		}
	})
}

// links turns links between the files of pages into links between the pages of the site. A link to
// a file that is not in the program is replaced by its text.
type links struct{ from string }

// Transform implements [parser.ASTTransformer].
func (l links) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	var lost []ast.Node
	walk(document, func(node ast.Node) {
		switch node := node.(type) {
		case *ast.Link:
			target, ok := l.target(string(node.Destination))
			if !ok {
				lost = append(lost, node)
			}
			node.Destination = []byte(target)
		case *ast.Image:
			lost = append(lost, node)
		}
	})
	for _, node := range lost {
		parent := node.Parent()
		for child := node.FirstChild(); child != nil; {
			next := child.NextSibling()
			parent.InsertBefore(parent, node, child)
			child = next
		}
		parent.RemoveChild(parent, node)
	}
}

// target returns the target of a link on the site, and whether there is one.
func (l links) target(link string) (string, bool) {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "#") {
		return link, true
	}
	file, anchor, hasAnchor := strings.Cut(link, "#")
	page, ok := manual.Find(strings.TrimSuffix(path.Join(path.Dir(l.from), file), ".md"))
	if !ok || !strings.HasSuffix(file, ".md") {
		return "", false
	}
	target := Path + page.Name
	if hasAnchor {
		target += "#" + anchor
	}
	return target, true
}

// walk calls visit for each node of a document.
func walk(document ast.Node, visit func(ast.Node)) {
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			visit(node)
		}
		return ast.WalkContinue, nil
	})
}

// textOf returns the text of a node without markup.
func textOf(node ast.Node, source []byte) string {
	var b strings.Builder
	walk(node, func(n ast.Node) {
		if t, ok := n.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		}
	})
	return b.String()
}
