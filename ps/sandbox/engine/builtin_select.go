package engine

import (
	"slices"
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
)

func selectCommands() []spec {
	return []spec{
		{name: "Select-Object", class: "SelectObjectCommand", make: selectObject,
			params: `[Parameter(Position=0)][object[]]$Property,[Parameter()][string[]]$ExcludeProperty,[Parameter()][string]$ExpandProperty,
				[Parameter()][switch]$Unique,[Parameter()][int]$First,[Parameter()][int]$Last,[Parameter()][int]$Skip,[Parameter()][int]$SkipLast,
				[Parameter()][int[]]$Index,[Parameter()][switch]$Wait,` + inputParam},
		{name: "Sort-Object", class: "SortObjectCommand", make: sortObject,
			params: `[Parameter(Position=0)][object[]]$Property,[Parameter()][switch]$Descending,[Parameter()][switch]$Unique,
				[Parameter()][switch]$CaseSensitive,[Parameter()][switch]$Stable,[Parameter()][int]$Top,[Parameter()][int]$Bottom,` + inputParam},
	}
}

// column is one property that Select-Object, Sort-Object and the like work on: a
// name, a pattern, a script block, or a table of Name, Expression, Descending.
type column struct {
	name       string
	block      *blockCode
	property   string // read this property
	descending *bool
}

// columns reads a -Property parameter.
func (inv *invocation) columns(v any) ([]column, error) {
	var out []column
	for _, item := range dotnet.EnumerateAny(v) {
		switch x := item.(type) {
		case *ScriptBlock:
			out = append(out, column{name: x.Text(), block: x.code})
		case *dotnet.Hashtable:
			c, err := inv.tableColumn(x)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		default:
			name := dotnet.ToText(item)
			out = append(out, column{name: name, property: name})
		}
	}
	return out, nil
}

func (inv *invocation) tableColumn(table *dotnet.Hashtable) (column, error) {
	var c column
	for i := range table.Len() {
		key, value := table.At(i)
		name := lower(dotnet.ToText(key))
		switch {
		case name != "" && (strings.HasPrefix("name", name) || strings.HasPrefix("label", name)):
			c.name = dotnet.ToText(value)
		case name != "" && strings.HasPrefix("expression", name):
			if block, ok := value.(*ScriptBlock); ok {
				c.block = block.code
			} else {
				c.property = dotnet.ToText(value)
			}
		case name != "" && strings.HasPrefix("descending", name):
			down := dotnet.Truthy(value)
			c.descending = &down
		case name != "" && strings.HasPrefix("ascending", name):
			down := !dotnet.Truthy(value)
			c.descending = &down
		default:
			e := dotnet.NewException(exceptionType("System.NotSupportedException"), "The "+dotnet.ToText(key)+" key is not valid.")
			return c, inv.terminating(inv.qualify(dotnet.NewError(e, "DictionaryKeyUnknown", dotnet.InvalidArgument, nil)))
		}
	}
	if c.name == "" {
		c.name = c.property
		if c.block != nil {
			c.name = c.block.text()
		}
	}
	return c, nil
}

// value is what a column gives for an object; found is false when the object
// has no such property.
func (c *column) value(f *frame, v any) (value any, found bool, err error) {
	if c.block != nil {
		value, err = f.inlineValue(c.block, v)
		return value, true, err
	}
	if isNull(v) {
		return nil, false, nil
	}
	return dotnet.GetMember(v, c.property)
}

// wildcard tells whether a property name is a pattern.
func (c *column) wildcard() bool { return c.block == nil && strings.ContainsAny(c.property, "*?[") }

type selection struct {
	inv     *invocation
	f       *frame
	out     sink
	columns []column
	exclude []string
	expand  string
	unique  bool
	seen    []any
	first   int32
	hasOne  bool // -First is given
	skip    int32
	last    int32
	skipEnd int32
	index   []any
	at      int32
	sent    int32
	queue   []any
}

func selectObject(inv *invocation, out sink) (stage, error) {
	columns, err := inv.columns(inv.get("Property"))
	if err != nil {
		return nil, err
	}
	number := func(name string) int32 { n, _ := inv.get(name).(int32); return n }
	s := &selection{inv: inv, f: inv.f, out: out, columns: columns, expand: dotnet.ToText(inv.get("ExpandProperty")),
		unique: inv.flag("Unique"), first: number("First"), hasOne: inv.has("First"), skip: number("Skip"), last: number("Last"), skipEnd: number("SkipLast")}
	for _, name := range dotnet.EnumerateAny(inv.get("ExcludeProperty")) {
		s.exclude = append(s.exclude, dotnet.ToText(name))
	}
	if len(s.exclude) > 0 && len(columns) == 0 && s.expand == "" {
		s.columns = []column{{name: "*", property: "*"}}
	}
	if inv.has("Index") {
		s.index = dotnet.EnumerateAny(inv.get("Index"))
	}
	return &inputStage{inv: inv, each: s.take, done: s.finish}, nil
}

// take handles one input object.
func (s *selection) take(v any) error {
	at := s.at
	s.at++
	switch {
	case s.index != nil:
		if !slices.Contains(s.index, any(at)) {
			return nil
		}
		return s.emit(v)
	case s.inv.has("Last"):
		s.queue = append(s.queue, v)
		if len(s.queue) > int(s.last+s.skip) {
			s.queue = s.queue[1:]
		}
		return nil
	case s.skipEnd > 0:
		s.queue = append(s.queue, v)
		if len(s.queue) <= int(s.skipEnd) {
			return nil
		}
		v, s.queue = s.queue[0], s.queue[1:]
		return s.emit(v)
	}
	if at < s.skip {
		return nil
	}
	if s.hasOne {
		if s.sent >= s.first {
			return s.stop()
		}
		s.sent++
		if err := s.emit(v); err != nil {
			return err
		}
		if s.sent >= s.first && !s.unique {
			return s.stop()
		}
		return nil
	}
	return s.emit(v)
}

// stop ends the commands before this one.
func (s *selection) stop() error {
	if s.inv.place == nil || s.inv.flag("Wait") {
		return nil
	}
	return &stopUpstream{s.inv.place}
}

func (s *selection) finish() error {
	if s.inv.has("Last") {
		keep := len(s.queue) - int(s.skip)
		for i := range max(keep, 0) {
			if err := s.emit(s.queue[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// emit projects and writes one object.
func (s *selection) emit(v any) error {
	projected, err := s.project(v)
	if err != nil {
		return err
	}
	if s.expand != "" {
		return s.expandProperty(v, projected)
	}
	return s.write(projected)
}

func (s *selection) write(v any) error {
	if s.unique {
		for _, old := range s.seen {
			if err := s.f.step(s.inv.at); err != nil {
				return err
			}
			if sameObject(old, v) {
				return nil
			}
		}
		s.seen = append(s.seen, v)
	}
	return s.out.write(v)
}

// sameObject compares as -Unique does: scalars by value and case, objects by
// their properties.
func sameObject(a, b any) bool {
	x, ok1 := a.(*dotnet.PSObject)
	y, ok2 := b.(*dotnet.PSObject)
	if !ok1 || !ok2 {
		return dotnet.CompareSort(a, b, true) == 0
	}
	if x.Props.Len() != y.Props.Len() {
		return false
	}
	for i := range x.Props.Len() {
		name, left := x.Props.At(i)
		right, ok := y.Props.Get(name)
		if !ok || dotnet.CompareSort(left, right, true) != 0 {
			return false
		}
	}
	return true
}

// project makes the object with the selected properties.
func (s *selection) project(v any) (any, error) {
	if len(s.columns) == 0 {
		return v, nil
	}
	object := dotnet.NewPSObject()
	for i := range s.columns {
		c := &s.columns[i]
		if c.wildcard() {
			for _, p := range dotnet.Properties(v) {
				if dotnet.Like(p.Name, c.property, false) && !s.excluded(p.Name) {
					if _, taken := object.Props.Get(p.Name); !taken {
						object.Props.Set(p.Name, p.Value())
					}
				}
			}
			continue
		}
		if s.excluded(c.name) {
			continue
		}
		value, _, err := c.value(s.f, v)
		if err != nil {
			if asPS(err) == nil {
				return nil, err
			}
			value = nil
		}
		name := c.name
		if c.block == nil && c.name == c.property {
			name = s.spelling(v, c.property)
		}
		if _, taken := object.Props.Get(name); taken {
			if err := s.alreadyThere(name, "AlreadyExistingUserSpecifiedPropertyNoExpand"); err != nil {
				return nil, err
			}
			continue
		}
		object.Props.Set(name, plain(value))
	}
	return object, s.f.charge(64 * len(s.columns))
}

// spelling is the name of a property as the object spells it.
func (s *selection) spelling(v any, name string) string {
	switch v.(type) {
	case *dotnet.PSObject, *dotnet.Instance:
		for _, p := range dotnet.Properties(v) {
			if strings.EqualFold(p.Name, name) {
				return p.Name
			}
		}
	}
	return name
}

func (s *selection) excluded(name string) bool {
	for _, pattern := range s.exclude {
		if dotnet.Like(name, pattern, false) {
			return true
		}
	}
	return false
}

// expandProperty writes the values of a property, each with the properties that
// were selected besides.
func (s *selection) expandProperty(v, besides any) error {
	value, found, err := any(nil), false, error(nil)
	if !isNull(v) {
		value, found, err = dotnet.GetMember(v, s.expand)
	}
	if err != nil {
		return s.f.pipelineError(s.inv, err)
	}
	if !found {
		e := dotnet.NewException(exceptionType("System.Management.Automation.PSArgumentException"), "Property \""+s.expand+"\" cannot be found.")
		return s.inv.writeError(s.inv.qualify(dotnet.NewError(e, "ExpandPropertyNotFound", dotnet.InvalidArgument, v)))
	}
	if len(s.columns) == 0 {
		return emit(sinkFunc(s.write), value)
	}
	return emit(sinkFunc(func(item any) error {
		both, err := s.extended(item, besides.(*dotnet.PSObject))
		if err != nil {
			return err
		}
		return s.write(both)
	}), value)
}

// extended is a copy of an object with further properties.
func (s *selection) extended(item any, with *dotnet.PSObject) (any, error) {
	object, ok := item.(*dotnet.PSObject)
	if !ok {
		return nil, runtimeError("NotSupported", dotnet.NotImplemented, item,
			"Select-Object -ExpandProperty with -Property is supported for objects only: use calculated properties instead of -ExpandProperty.")
	}
	both := &dotnet.PSObject{Props: object.Props.Clone(), TypeNames: object.TypeNames}
	for i := range with.Props.Len() {
		name, value := with.Props.At(i)
		if _, taken := both.Props.Get(name); taken {
			if err := s.alreadyThere(name, "AlreadyExistingUserSpecifiedPropertyExpand"); err != nil {
				return nil, err
			}
			continue
		}
		both.Props.Set(name, value)
	}
	return both, s.f.charge(64 * with.Props.Len())
}

// alreadyThere complains of a property that is there before.
func (s *selection) alreadyThere(name, id string) error {
	e := dotnet.NewException(exceptionType("System.Management.Automation.PSArgumentException"), "The property cannot be processed because the property \""+name+"\" already exists.")
	return s.inv.writeError(s.inv.qualify(dotnet.NewError(e, id, dotnet.InvalidOperation, nil)))
}

// sortItem is an object with its keys.
type sortItem struct {
	v    any
	keys []any
}

// missingKey is the key of an object that lacks the property: it comes last,
// whatever the order.
type missingKey struct{}

// missingLast orders two keys of which one or both may be missing.
func missingLast(a, b any) (order int, decided bool) {
	_, noA := a.(missingKey)
	_, noB := b.(missingKey)
	switch {
	case noA && noB:
		return 0, true
	case noA:
		return 1, true
	case noB:
		return -1, true
	}
	return 0, false
}

func sortObject(inv *invocation, out sink) (stage, error) {
	columns, err := inv.columns(inv.get("Property"))
	if err != nil {
		return nil, err
	}
	f := inv.f
	var items []sortItem
	each := func(v any) error {
		if isNull(v) {
			return nil
		}
		item := sortItem{v: v}
		if len(columns) == 0 {
			item.keys = []any{v}
		}
		for i := range columns {
			key, found, err := columns[i].value(f, v)
			if err != nil && asPS(err) == nil {
				return err
			}
			if key = plain(key); err != nil || !found {
				key = missingKey{}
			}
			item.keys = append(item.keys, key)
		}
		items = append(items, item)
		return f.charge(48)
	}
	done := func() error {
		order, err := sortItems(inv, items, columns)
		if err != nil {
			return err
		}
		for _, item := range order {
			if err := out.write(item.v); err != nil {
				return err
			}
		}
		return nil
	}
	return &inputStage{inv: inv, each: each, done: done}, nil
}

// sortItems orders the objects and applies -Unique, -Top and -Bottom.
func sortItems(inv *invocation, items []sortItem, columns []column) ([]sortItem, error) {
	exact := inv.flag("CaseSensitive")
	var stopped error
	compare := func(a, b sortItem) int {
		if stopped != nil {
			return 0
		}
		if stopped = inv.f.step(inv.at); stopped != nil {
			return 0
		}
		for i := range a.keys {
			if order, decided := missingLast(a.keys[i], b.keys[i]); decided {
				if order != 0 {
					return order
				}
				continue
			}
			down := inv.flag("Descending")
			if i < len(columns) && columns[i].descending != nil {
				down = *columns[i].descending
			}
			if c := dotnet.CompareSort(a.keys[i], b.keys[i], exact); c != 0 {
				if down {
					return -c
				}
				return c
			}
		}
		return 0
	}
	slices.SortStableFunc(items, compare)
	if stopped != nil {
		return nil, stopped
	}
	if inv.flag("Unique") {
		items = slices.CompactFunc(items, func(a, b sortItem) bool { return compare(a, b) == 0 })
	}
	if n, ok := inv.get("Top").(int32); ok {
		items = items[:min(max(int(n), 0), len(items))]
	} else if n, ok := inv.get("Bottom").(int32); ok {
		items = items[len(items)-min(max(int(n), 0), len(items)):]
	}
	return items, stopped
}
