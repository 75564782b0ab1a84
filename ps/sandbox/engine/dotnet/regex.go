package dotnet

import (
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2"
)

// RegexTimeout ends a match that backtracks too long; the script gets a
// RegexMatchTimeoutException. Set it before the first evaluation.
var RegexTimeout = 2 * time.Second

const maxCachedRegexes = 256

// regexCache keeps compiled expressions; it starts over when it is full.
var regexCache = struct {
	sync.Mutex
	m map[regexKey]*regexp2.Regexp
}{m: map[regexKey]*regexp2.Regexp{}}

type regexKey struct {
	pattern string
	options regexp2.RegexOptions
}

// compileRegex makes an expression in the .NET dialect.
func compileRegex(pattern string, options regexp2.RegexOptions) (*regexp2.Regexp, *Exception) {
	key := regexKey{pattern, options}
	regexCache.Lock()
	re := regexCache.m[key]
	regexCache.Unlock()
	if re != nil {
		return re, nil
	}
	re, err := regexp2.Compile(pattern, options)
	if err != nil {
		detail := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, ExceptionNamed("System.Text.RegularExpressions.RegexParseException", "Invalid pattern '%s': %s", pattern, detail)
	}
	re.MatchTimeout = RegexTimeout
	regexCache.Lock()
	defer regexCache.Unlock()
	if len(regexCache.m) >= maxCachedRegexes {
		clear(regexCache.m)
	}
	regexCache.m[key] = re
	return re, nil
}

// regexFailure is the only error a compiled expression gives: it took too long.
func regexFailure(error) *Exception {
	return ExceptionNamed("System.Text.RegularExpressions.RegexMatchTimeoutException",
		"The Regex engine has timed out while trying to match a pattern to an input string.")
}

func caseOption(caseSensitive bool) regexp2.RegexOptions {
	if caseSensitive {
		return regexp2.None
	}
	return regexp2.IgnoreCase
}

// regexOperand is the right side of a regex operator: text, or a [regex].
func regexOperand(v any, options regexp2.RegexOptions) (*regexp2.Regexp, error) {
	if i, ok := v.(*Instance); ok {
		if re, ok := i.Data.(*regexp2.Regexp); ok {
			return re, nil
		}
	}
	re, e := compileRegex(ToText(v), options)
	if e != nil {
		r := RuntimeError("InvalidRegularExpression", InvalidOperation, v, "The regular expression pattern %s is not valid.", ToText(v))
		r.Exception.Inner = e
		return nil, r
	}
	return re, nil
}

// Match is -match (negate: -notmatch). With a scalar left side matches is $Matches
// when it matched, else nil (leave $Matches alone); with a collection it is nil.
func Match(l, r any, caseSensitive, negate bool) (result any, matches *Hashtable, err error) {
	re, err := regexOperand(r, caseOption(caseSensitive))
	if err != nil {
		return nil, nil, err
	}
	if isCollection(l) {
		result, err = filter(l, func(item any) (bool, error) {
			ok, err := re.MatchString(ToText(item))
			if err != nil {
				return false, outcome(regexFailure(err))
			}
			return ok != negate, nil
		})
		return result, nil, err
	}
	m, err := re.FindStringMatch(ToText(l))
	if err != nil {
		return nil, nil, outcome(regexFailure(err))
	}
	if m == nil {
		return negate, nil, nil
	}
	matches = NewHashtable()
	for _, g := range m.Groups() {
		if len(g.Captures) > 0 {
			matches.Set(groupKey(re, g.Name), g.String())
		}
	}
	return !negate, matches, nil
}

// groupKey is the number of an unnamed group, or the name.
func groupKey(re *regexp2.Regexp, name string) any {
	if n := re.GroupNumberFromName(name); n >= 0 {
		if name == Text(int32(n)) {
			return int32(n)
		}
	}
	return name
}

func replaceOperator(cs bool) BinaryFunc {
	return func(l, r any) (any, error) {
		operands := listOperand(r)
		if len(operands) == 0 || len(operands) > 2 {
			return nil, RuntimeError("BadReplaceArgument", InvalidOperation, r,
				`The %s operator allows only two elements to follow it, not %d.`, "-replace", len(operands))
		}
		re, err := regexOperand(operands[0], caseOption(cs))
		if err != nil {
			return nil, err
		}
		var with any = ""
		if len(operands) == 2 {
			with = operands[1]
		}
		if !isCollection(l) {
			return replaceText(re, ToText(l), with, -1)
		}
		items, _ := Enumerate(l)
		out := make([]any, len(items))
		for i, item := range items {
			if out[i], err = replaceText(re, ToText(item), with, -1); err != nil {
				return nil, err
			}
		}
		return &Array{Items: out}, nil
	}
}

// replaceText replaces the matches by a replacement pattern or a script block.
func replaceText(re *regexp2.Regexp, s string, with any, count int) (any, error) {
	var out string
	var err error
	if isBlock(with) {
		block := with.(Object)
		var failed error
		out, err = re.ReplaceFunc(s, func(m regexp2.Match) string {
			if failed != nil {
				return ""
			}
			var v any
			if v, failed = block.Invoke("Invoke", []any{newMatch(&m, re, s)}); failed != nil {
				return ""
			}
			return ToText(v)
		}, -1, count)
		if failed != nil {
			return nil, failed
		}
	} else if text := ToText(with); count < 0 && isASCII(s) && !strings.Contains(text, "$") && !re.RightToLeft() {
		out, err = replaceASCII(re, s, text)
	} else {
		out, err = re.Replace(s, text, -1, count)
	}
	if err != nil {
		return nil, outcome(regexFailure(err))
	}
	if len(out) > MaxStringLength {
		return nil, &LimitError{"string length", MaxStringLength}
	}
	return out, nil
}

// replaceASCII replaces all matches in an ASCII text, where indices are offsets,
// by a text without substitutions.
func replaceASCII(re *regexp2.Regexp, s, with string) (string, error) {
	m, err := re.FindStringMatch(s)
	var out strings.Builder
	done := 0
	for ; m != nil && err == nil; m, err = re.FindNextMatch(m) {
		out.WriteString(s[done:m.Index])
		out.WriteString(with)
		if done = m.Index + m.Length; out.Len() > MaxStringLength {
			break // the caller refuses it
		}
	}
	if out.Len() == 0 {
		return s[done:], err
	}
	out.WriteString(s[done:])
	return out.String(), err
}

// splitOperator is -split: pattern, count, options.
func splitOperator(cs bool) BinaryFunc {
	return func(l, r any) (any, error) {
		operands := listOperand(r)
		if len(operands) == 0 {
			return nil, RuntimeError("BadOperatorArgument", InvalidOperation, r, `The value of the right operand of -split is not valid.`)
		}
		count, simple, options := 0, false, caseOption(cs)
		if len(operands) > 1 {
			n, err := Convert(operands[1], TInt32)
			if err != nil {
				return nil, err
			}
			count = int(n.(int32))
		}
		if len(operands) > 2 {
			e, err := Convert(operands[2], TSplitOptions)
			if err != nil {
				return nil, err
			}
			simple, options = splitFlags(e.(Enum).Value, options)
		}
		if isBlock(operands[0]) {
			return splitByBlock(l, operands[0], count)
		}
		pattern := operands[0]
		if simple {
			pattern = regexp2.Escape(ToText(pattern))
		}
		re, err := regexOperand(pattern, options)
		if err != nil {
			return nil, err
		}
		out := &Array{Elem: TString}
		for _, item := range listOperand(l) {
			pieces, err := splitText(re, ToText(item), count)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, pieces...)
		}
		return out, nil
	}
}

func splitFlags(flags int64, options regexp2.RegexOptions) (bool, regexp2.RegexOptions) {
	for _, f := range []struct {
		bit    int64
		option regexp2.RegexOptions
	}{{8, regexp2.IgnorePatternWhitespace}, {16, regexp2.Multiline}, {32, regexp2.Singleline}, {64, regexp2.IgnoreCase}, {128, regexp2.ExplicitCapture}} {
		if flags&f.bit != 0 {
			options |= f.option
		}
	}
	return flags&1 != 0, options
}

// splitText splits at matches; captured groups become pieces. A positive count
// limits the pieces, the last holds the rest; a negative one counts from the end.
func splitText(re *regexp2.Regexp, s string, count int) ([]any, error) {
	if count == 1 || count == -1 {
		return []any{s}, nil
	}
	runes := []rune(s)
	type cut struct {
		from, to int
		groups   []any
	}
	var cuts []cut
	m, err := re.FindRunesMatch(runes)
	for ; m != nil && err == nil; m, err = re.FindNextMatch(m) {
		c := cut{from: m.Index, to: m.Index + m.Length}
		for _, g := range m.Groups()[1:] {
			if len(g.Captures) > 0 {
				c.groups = append(c.groups, g.String())
			}
		}
		cuts = append(cuts, c)
		if count > 0 && len(cuts) == count-1 {
			break
		}
	}
	if err != nil {
		return nil, outcome(regexFailure(err))
	}
	if count < 0 && len(cuts) > -count-1 {
		cuts = cuts[len(cuts)+count+1:]
	}
	var out []any
	last := 0
	for _, c := range cuts {
		out = append(append(out, string(runes[last:c.from])), c.groups...)
		last = c.to
	}
	return append(out, string(runes[last:])), nil
}

// splitByBlock splits at the characters for which the script block is true.
func splitByBlock(l, block any, count int) (any, error) {
	predicate, ok := block.(Predicate)
	if !ok {
		return nil, RuntimeError("NotSupported", NotImplemented, nil, "The operator -split does not take this script block.")
	}
	out := &Array{Elem: TString}
	for _, item := range listOperand(l) {
		text := ToText(item)
		units := Units(text)
		start, pieces := 0, 1
		for i, u := range units {
			if count > 0 && pieces >= count {
				break
			}
			v, err := predicate.InvokeOn(CharString(Char(u)), text, int32(i))
			if err != nil {
				return nil, err
			}
			if Truthy(v) {
				out.Items = append(out.Items, FromUnits(units[start:i]))
				start, pieces = i+1, pieces+1
			}
		}
		out.Items = append(out.Items, FromUnits(units[start:]))
	}
	return out, nil
}
