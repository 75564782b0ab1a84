package dotnet

import "strconv"

// call picks the overload that fits the arguments best and calls it.
func (s *slot) call(self any, args []any) (any, error) {
	if len(s.methods) == 1 && s.methods[0].params == nil && len(args) == 0 {
		r, err := s.methods[0].Call(self, nil)
		return r, methodFailure(err, s.callName(), 0)
	}
	for i, a := range args {
		args[i] = base(a)
	}
	best, bestCost, fitting := (*Member)(nil), -1, 0
	for _, m := range s.methods {
		if !m.takes(len(args)) {
			continue
		}
		fitting++
		cost, ok := m.cost(args)
		if ok && (bestCost < 0 || cost < bestCost) {
			best, bestCost = m, cost
			if cost == 0 {
				break
			}
		}
		if !ok && best == nil && fitting == 1 {
			best = m
		}
	}
	if best == nil || bestCost < 0 && fitting > 1 {
		return nil, noOverload(s.name, len(args))
	}
	converted, err := best.bind(args, s.callName())
	if err != nil {
		return nil, methodFailure(err, s.callName(), len(args))
	}
	r, err := best.Call(self, converted)
	return r, methodFailure(err, s.callName(), len(args))
}

func (s *slot) callName() string {
	if s.name == "new" {
		return ".ctor"
	}
	return s.name
}

func (m *Member) takes(n int) bool {
	if m.variadic {
		return n >= len(m.params)-1
	}
	return n == len(m.params)
}

// The cost of an argument: 0 the very type, more the further the conversion is.
const (
	costBase    = 1 // to a base type or interface
	costWiden   = 2 // to a larger number
	costObject  = 6 // to object
	costConvert = 10
	costParams  = 4 // an overload that collects arguments
)

// cost adds up what the conversions of the arguments cost; ok is false when one
// cannot be converted.
func (m *Member) cost(args []any) (total int, ok bool) {
	for i, arg := range args {
		t, expand := m.paramFor(i, args)
		if expand {
			total += costParams
		}
		c, ok := argumentCost(arg, t.typ, t.ref)
		if !ok {
			return 0, false
		}
		total += c
	}
	if m.variadic && len(args) < len(m.params) {
		total += costParams
	}
	return total, true
}

// paramFor is the parameter of the i-th argument; expand tells that the argument
// is one element of a params array.
func (m *Member) paramFor(i int, args []any) (p param, expand bool) {
	last := len(m.params) - 1
	if !m.variadic || i < last {
		return m.params[i], false
	}
	if len(args) == len(m.params) && passesWhole(args[last], m.params[last].typ) {
		return m.params[last], false
	}
	return param{typ: m.params[last].typ.Elem}, true
}

// passesWhole tells whether an argument is the params array itself.
func passesWhole(arg any, t *Type) bool {
	if _, text := arg.(string); text && t.Elem == TChar {
		return true
	}
	return arg == nil || TypeOf(arg).Kind == KindArray && (TypeOf(arg).AssignableTo(t) || t.Elem == TObject || TypeOf(arg).Elem == TObject)
}

func argumentCost(arg any, t *Type, ref bool) (int, bool) {
	if ref {
		_, ok := arg.(*Ref)
		return 0, ok
	}
	if arg == nil {
		if t.IsValue() && t.Kind != KindNullable {
			return costConvert + 1, t.Kind != KindEnum && t != TDateTime && t != TGuid && t != TTimeSpan
		}
		if t == TString {
			return costBase, true // null becomes the empty text: what takes null itself fits better
		}
		return 0, true
	}
	from := TypeOf(arg)
	switch {
	case from == t:
		return 0, true
	case t == TObject:
		return costObject, true
	case from.AssignableTo(t):
		return costBase, true
	case from.Kind == KindArray && t.Kind == KindArray && from.Elem == TObject:
		if _, err := Convert(arg, t); err != nil {
			return 0, false
		}
		return costWiden, true
	case isNumberType(from) && isNumberType(t):
		if _, ok := numberTo(arg, t); !ok {
			return 0, false
		}
		return numberCost(from, t), true
	case t.delegate():
		return costBase, isBlock(arg)
	}
	if t.Kind == KindArray && t.Elem == TChar && from == TString { // costs memory to try
		return costBase, true
	}
	if _, err := Convert(arg, t); err != nil {
		return 0, false
	}
	cost := costConvert
	switch {
	case from == TString && t == TChar, from == TChar && t == TString:
		cost -= 2
	case t == TString:
		cost += 2
	case t == TBool, t.Kind == KindArray:
		cost += 4
	}
	return cost, true
}

// numberCost prefers widening to the next larger type.
func numberCost(from, to *Type) int {
	order := []*Type{TSByte, TByte, TInt16, TUInt16, TInt32, TUInt32, TInt64, TUInt64, TSingle, TDouble, TDecimal}
	a, b := 0, 0
	for i, t := range order {
		if t == from {
			a = i
		}
		if t == to {
			b = i
		}
	}
	if b > a {
		if to == TDecimal || (to == TSingle) && from != TSingle {
			return costWiden + 3
		}
		return costWiden
	}
	return costWiden + 4 // narrowing
}

// exact tells whether the arguments are what the parameters take as they are.
func (m *Member) exact(args []any) bool {
	if m.variadic {
		return false
	}
	for i, arg := range args {
		from := TypeOf(arg)
		if p := &m.params[i]; from == nil || p.ref || !from.AssignableTo(p.typ) {
			return false
		}
	}
	return true
}

// bind converts the arguments to the parameter types, collecting params.
func (m *Member) bind(args []any, name string) ([]any, error) {
	if m.exact(args) {
		return args, nil
	}
	out := make([]any, 0, len(m.params))
	var rest []any
	collect := false
	for i, arg := range args {
		p, expand := m.paramFor(i, args)
		converted, err := bindArgument(arg, p, i, name)
		if err != nil {
			return nil, err
		}
		if expand {
			rest, collect = append(rest, converted), true
			continue
		}
		out = append(out, converted)
	}
	if m.variadic && (collect || len(args) < len(m.params)) {
		array, err := convertArray(&Array{Items: rest}, m.params[len(m.params)-1].typ)
		if err != nil {
			return nil, err
		}
		out = append(out, array)
	}
	return out, nil
}

func (p param) label(otherwise string) string {
	if p.name == "" {
		return otherwise
	}
	return p.name
}

func bindArgument(arg any, p param, index int, name string) (any, error) {
	if p.ref {
		if _, ok := arg.(*Ref); !ok {
			return nil, typedError(Lookup(automation+"MethodException"), "NonRefArgumentToRefParameterMsg", NotSpecified, nil,
				"Argument: '%d' should be a System.Management.Automation.PSReference. Use [ref].", index+1)
		}
		return arg, nil
	}
	if arg == nil {
		if p.typ == TType || p.typ == TVersion || p.typ == TByteArray || p.typ == TErrorRecord || p.typ.delegate() {
			return nil, argumentNull(p.label("value"))
		}
	}
	if p.typ.delegate() && isBlock(arg) {
		return arg, nil
	}
	v, err := Convert(arg, p.typ)
	if rec := AsRecord(err); rec != nil {
		label := p.label(strconv.Itoa(index))
		return nil, typedError(Lookup("System.Management.Automation.MethodException"), "MethodArgumentConversionInvalidCastArgument", NotSpecified, nil,
			`Cannot convert argument "%s", with value: "%s", for "%s" to type "%s": "%s"`, label, ToText(arg), name, p.typ.Text(), rec.Exception.Message)
	}
	return v, err
}

// isBlock tells whether a value is a script block.
func isBlock(v any) bool {
	o, ok := v.(Object)
	return ok && o.Type() == TScriptBlock
}

// delegate tells whether script blocks stand for values of the type.
func (t *Type) delegate() bool { return t.Base == TDelegate }

func noOverload(name string, count int) error {
	return typedError(Lookup("System.Management.Automation.MethodException"), "MethodCountCouldNotFindBest", NotSpecified, nil,
		`Cannot find an overload for "%s" and the argument count: "%d".`, name, count)
}

// methodFailure wraps the exception of a method that was called.
func methodFailure(err error, name string, count int) error {
	if e, ok := err.(*Exception); ok {
		return MethodFailure(e, name, count)
	}
	return err
}

// MethodFailure is the error of a method that e ended.
func MethodFailure(e *Exception, name string, count int) *ErrorRecord {
	outer := ExceptionNamed("System.Management.Automation.MethodInvocationException",
		`Exception calling "%s" with "%d" argument(s): "%s"`, name, count, e.Message)
	outer.Inner = e
	r := NewError(outer, e.Type.ShortName(), NotSpecified, nil)
	outer.Record = r
	return r
}
