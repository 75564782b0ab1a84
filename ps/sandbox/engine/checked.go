package engine

import (
	"strings"
	"sync"

	"adgateway/ps/syntax"
)

// ready returns the code of a block, which it compiles if the block was to be compiled at its first call.
func (b *blockCode) ready() (*blockCode, error) {
	if b.later == nil {
		return b, nil
	}
	return b.later()
}

// newChecked returns the code of a text that is known to be valid ([Options.Checked]). It is compiled at its
// first call, and each of its functions at its own first call.
func newChecked(text string) *blockCode {
	src := &syntax.Source{Text: text}
	at := syntax.Span{To: syntax.Pos{Offset: len(text)}}
	return &blockCode{src: src, at: at, later: sync.OnceValues(func() (*blockCode, error) {
		outline, bodies := outlineOf(text)
		script, errs := syntax.Parse("", outline)
		if len(errs) > 0 {
			return nil, &ParseError{Errors: errs}
		}
		c := &compiler{src: src, bodies: bodies}
		return c.whole(script)
	})}
}

// laterFunction is the text of a function, from its keyword to its last brace.
type laterFunction struct {
	text  string
	lines int // number of lines before it
}

// outlineOf returns a text with spaces in place of the bodies of its functions, and these functions by their
// offsets. It finds a function that begins with a line "function NAME {" and takes the next line "}" as its end.
func outlineOf(text string) (outline string, functions map[int]laterFunction) {
	const keyword, end = "\nfunction ", "\n}\n"
	out, functions := []byte(text), map[int]laterFunction{}
	for at, line := 0, 0; ; {
		next := strings.Index(text[at:], keyword)
		if next < 0 {
			return string(out), functions
		}
		from := at + next + 1
		line += strings.Count(text[at:from], "\n")
		at = from
		head, _, _ := strings.Cut(text[from:], "\n")
		size := strings.Index(text[from:], end)
		if size < 0 || !strings.HasSuffix(head, " {") {
			continue
		}
		functions[from] = laterFunction{text[from : from+size+len("\n}")], line}
		for i := from + len(head); i < from+size; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
}

// newFunction returns the code of a function that is compiled at its first call.
func (t laterFunction) newFunction(name string) *blockCode {
	src := &syntax.Source{Text: t.text}
	at := syntax.Span{
		From: syntax.Pos{Offset: strings.IndexByte(t.text, '{') + 1}, To: syntax.Pos{Offset: len(t.text) - 1},
	}
	return &blockCode{src: src, at: at, later: sync.OnceValues(func() (*blockCode, error) {
		script, errs := syntax.Parse("", t.text)
		if len(errs) > 0 {
			return nil, &ParseError{Errors: errs}
		}
		c := &compiler{src: src, lines: t.lines}
		code := c.scriptBlock(script.Block.Body.Statements[0].(*syntax.FunctionDef).Body, name)
		return code, c.err()
	})}
}
