package syntax

import (
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// production is an expression in the notation of grammar.txt.
type production struct {
	kind  string // alt, seq, opt, rep, word, literal, tight
	text  string
	parts []*production
}

// readGrammar reads the rules of grammar.txt.
func readGrammar(t testing.TB) map[string]*production {
	data, err := os.ReadFile("grammar.txt")
	require.NoError(t, err)
	var text strings.Builder
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "#") {
			text.WriteString(line)
		}
	}
	tokens := regexp.MustCompile(`'[^']+'|[A-Za-z]+|[=|.()\[\]{}~]`).FindAllString(text.String(), -1)
	r := &grammarReader{t: t, tokens: tokens}
	rules := map[string]*production{}
	for r.at < len(r.tokens) {
		name := r.next()
		require.Equal(t, "=", r.next(), "after %s", name)
		require.NotContains(t, rules, name)
		rules[name] = r.alternatives()
		require.Equal(t, ".", r.next(), "at the end of %s", name)
	}
	return rules
}

type grammarReader struct {
	t      testing.TB
	tokens []string
	at     int
}

func (r *grammarReader) peek() string {
	require.Less(r.t, r.at, len(r.tokens))
	return r.tokens[r.at]
}

func (r *grammarReader) next() string {
	text := r.peek()
	r.at++
	return text
}

func (r *grammarReader) alternatives() *production {
	p := &production{kind: "alt", parts: []*production{r.sequence()}}
	for r.peek() == "|" {
		r.next()
		p.parts = append(p.parts, r.sequence())
	}
	return p
}

func (r *grammarReader) sequence() *production {
	p := &production{kind: "seq"}
	for {
		switch text := r.peek(); text {
		case "|", ".", ")", "]", "}":
			return p
		case "~":
			r.next()
			p.parts = append(p.parts, &production{kind: "tight"})
		case "(", "[", "{":
			r.next()
			inner := r.alternatives()
			end := r.next()
			require.Equal(r.t, map[string]string{"(": ")", "[": "]", "{": "}"}[text], end)
			kind := map[string]string{"(": "alt", "[": "opt", "{": "rep"}[text]
			p.parts = append(p.parts, &production{kind: kind, parts: []*production{inner}})
		default:
			r.next()
			if strings.HasPrefix(text, "'") {
				p.parts = append(p.parts, &production{kind: "literal", text: strings.Trim(text, "'")})
			} else {
				p.parts = append(p.parts, &production{kind: "word", text: text})
			}
		}
	}
}

func (p *production) each(do func(*production)) {
	do(p)
	for _, part := range p.parts {
		part.each(do)
	}
}

// samples are texts for the terminals of the grammar.
var samples = map[string][]string{
	"NL":        {"\n", "\r\n", "\r"},
	"NAME":      {"Name", "x1", "_y", "begin", "Länge"},
	"VARIABLE":  {"$x", "$_", "$script:Step", "$env:PATH", "${x}", "$Größe", "$true"},
	"SPLAT":     {"@p", "@script:args"},
	"WORD":      {"Get-Thing", "word", "a.b", "C:\\x", "*", "%", "5abc", "-5", "a#b"},
	"CALLEE":    {"Get-Thing", "word", "a.b", "Größe-Ändern", ".\\x"},
	"PARAMETER": {"-Name", "-x", "-NoEnumerate", "-Größe"},
	"NUMBER":    {"0", "42", "0x1F", "99999999999"},
	"LITERAL":   {"'text'", "'it''s'", "''", "‘curly’"},
	"STRING":    {`"text"`, `"a $x b"`, `"$($x.y)"`, "\"`t`$x`\"\"", `"say ""hi"""`, `"${x}c"`, `"n $(f "a" 'b') m"`},
}

// sentence is a random derivation of the grammar.
type sentence struct {
	rules   map[string]*production
	random  *rand.Rand
	out     strings.Builder
	tight   bool
	depth   int
	size    int
	noComma bool
	used    map[string]bool
}

func (s *sentence) put(text string) {
	if !s.tight && s.out.Len() > 0 {
		s.out.WriteString([]string{" ", "  ", "\t"}[max(0, s.random.Intn(30)-27)])
	}
	s.tight = false
	s.out.WriteString(text)
	s.size++
}

// enough reports whether to take the shortest path to the end.
func (s *sentence) enough() bool { return s.depth > 30 || s.size > 120 }

func (s *sentence) derive(p *production) {
	switch p.kind {
	case "alt":
		s.derive(s.choose(p.parts))
	case "seq":
		for _, part := range p.parts {
			s.derive(part)
		}
	case "opt":
		if !s.enough() && s.random.Intn(2) == 0 {
			s.derive(p.parts[0])
		}
	case "rep":
		for !s.enough() && s.random.Intn(5) < 2 {
			if s.noComma && startsWithComma(p.parts[0]) {
				break
			}
			s.derive(p.parts[0])
		}
	case "tight":
		s.tight = true
	case "literal":
		s.put(p.text)
	case "word":
		s.word(p.text)
	}
}

func startsWithComma(p *production) bool {
	for p.kind != "literal" {
		if len(p.parts) == 0 {
			return false
		}
		p = p.parts[0]
	}
	return p.text == ","
}

// choose selects an alternative. Near the end it selects the last one, which ends the recursion.
func (s *sentence) choose(parts []*production) *production {
	if s.enough() {
		return parts[len(parts)-1]
	}
	for {
		p := parts[s.random.Intn(len(parts))]
		if s.noComma && startsWithComma(p) {
			continue
		}
		return p
	}
}

func (s *sentence) word(name string) {
	if list, ok := samples[name]; ok {
		if name == "NL" {
			s.tight = true
		}
		s.put(list[s.random.Intn(len(list))])
		return
	}
	noComma := s.noComma
	switch name {
	case "Item", "Key":
		s.noComma = true
	case "Paren", "SubExpr", "ArrayExpr", "Hash", "ScriptBlockExpr":
		s.noComma = false
	}
	if name == "Item" {
		name = "Expression"
	}
	s.used[name] = true
	s.depth++
	s.derive(s.rules[name])
	s.depth--
	s.noComma = noComma
}

// semantic contains the ids of errors that even a text derived from the grammar may have.
var semantic = map[string]bool{
	"DuplicateKeyInHashLiteral": true, "DuplicateFormalParameter": true, "DuplicateNamedArgument": true,
	"ControlLeavingFinally": true,
}

// TestGrammar: the parser accepts random texts derived from grammar.txt, and their printed
// form results in the same tree.
func TestGrammar(t *testing.T) {
	rules := readGrammar(t)
	used := map[string]bool{}
	accepted := 0
	for seed := range int64(4000) {
		s := &sentence{rules: rules, random: rand.New(rand.NewSource(seed)), used: used}
		s.word("Script")
		script, errs := Parse("", s.out.String())
		if len(errs) > 0 {
			require.True(t, semantic[errs[0].ID], "seed %d\n%s\n%v %s", seed, s.out.String(), errs[0], errs[0].ID)
			continue
		}
		accepted++
		checkRoundTrip(t, script)
	}
	assert.Greater(t, accepted, 3000)
	for name := range rules {
		if name != "Script" {
			assert.True(t, used[name], "rule %s is never reached", name)
		}
	}
}

// TestGrammarIsComplete: the grammar and the parser have the same keywords and operators.
func TestGrammarIsComplete(t *testing.T) {
	rules := readGrammar(t)
	literals := map[string]bool{}
	for name, rule := range rules {
		rule.each(func(p *production) {
			switch p.kind {
			case "literal":
				literals[strings.ToLower(p.text)] = true
			case "word":
				if _, ok := samples[p.text]; !ok && p.text != "Item" {
					assert.Contains(t, rules, p.text, "in %s", name)
				}
			}
		})
	}
	var missing []string
	for _, op := range words {
		if !literals[op.text] {
			missing = append(missing, op.text)
		}
	}
	for text, op := range symbols {
		if !literals[text] {
			missing = append(missing, op.text)
		}
	}
	outside := map[string]bool{
		"class": true, "enum": true, "workflow": true, "using": true, "trap": true, "data": true, "configuration": true,
		"parallel": true, "sequence": true, "filter": true, "dynamicparam": true, // refused, see outside.txt
		"from": true, "define": true, "var": true, // also refused
		"hidden": true, "static": true, "inlinescript": true, // words of classes and workflows
	}
	for word := range keywords {
		if literals[word] == outside[word] {
			missing = append(missing, word)
		}
	}
	sort.Strings(missing)
	assert.Empty(t, missing, "of the parser and not in the grammar")
	for text := range literals {
		if strings.HasPrefix(text, "-") && len(text) > 2 && text != "--" && text != "-=" {
			assert.Contains(t, words, text[1:], fmt.Sprintf("operator %s", text))
		}
	}
}
