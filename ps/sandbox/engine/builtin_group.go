package engine

import (
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
)

func groupCommands() []spec {
	return []spec{
		{name: "Group-Object", class: "GroupObjectCommand", make: groupObject,
			params: `[Parameter(Position=0)][object[]]$Property,[Parameter()][switch]$NoElement,[Parameter()][switch]$AsHashTable,
				[Parameter()][switch]$AsString,[Parameter()][switch]$CaseSensitive,` + inputParam},
		{name: "Measure-Object", class: "MeasureObjectCommand", make: measureObject,
			params: `[Parameter(Position=0)][string[]]$Property,[Parameter()][switch]$Sum,[Parameter()][switch]$Average,[Parameter()][switch]$Maximum,
				[Parameter()][switch]$Minimum,[Parameter()][switch]$Line,[Parameter()][switch]$Word,[Parameter()][switch]$Character,` + inputParam},
		{name: "Compare-Object", class: "CompareObjectCommand", make: once(compareObject),
			params: `[Parameter(Mandatory,Position=0)][AllowEmptyCollection()][object[]]$ReferenceObject,
				[Parameter(Mandatory,Position=1)][AllowEmptyCollection()][object[]]$DifferenceObject,
				[Parameter()][object[]]$Property,[Parameter()][switch]$IncludeEqual,[Parameter()][switch]$ExcludeDifferent,
				[Parameter()][switch]$PassThru,[Parameter()][switch]$CaseSensitive`},
	}
}

var (
	typeGroupInfo   = define("Microsoft.PowerShell.Commands.GroupInfo")
	typeMeasureInfo = define("Microsoft.PowerShell.Commands.GenericMeasureInfo")
	typeObjectInfo  = define("Microsoft.PowerShell.Commands.GenericObjectMeasureInfo")
	typeTextMeasure = define("Microsoft.PowerShell.Commands.TextMeasureInfo")
)

type group struct {
	keys  []any
	items []any
}

func groupObject(inv *invocation, out sink) (stage, error) {
	columns, err := inv.columns(inv.get("Property"))
	if err != nil {
		return nil, err
	}
	f := inv.f
	var groups []*group
	index := map[string]*group{}
	exact := inv.flag("CaseSensitive")
	each := func(v any) error {
		if isNull(v) {
			return nil
		}
		keys, name, err := groupKeys(f, columns, v)
		if err != nil {
			return err
		}
		id := name
		if !exact {
			id = lower(name)
		}
		g := index[id]
		if g == nil {
			g = &group{keys: keys}
			index[id] = g
			groups = append(groups, g)
		}
		g.items = append(g.items, v)
		return f.charge(32)
	}
	done := func() error { return writeGroups(inv, out, groups) }
	return &inputStage{inv: inv, each: each, done: done}, nil
}

func groupKeys(f *frame, columns []column, v any) ([]any, string, error) {
	if len(columns) == 0 {
		return []any{v}, dotnet.ToText(v), nil
	}
	keys := make([]any, len(columns))
	names := make([]string, len(columns))
	for i := range columns {
		key, _, err := columns[i].value(f, v)
		if err != nil && asPS(err) == nil {
			return nil, "", err
		}
		keys[i] = plain(key)
		names[i] = f.text(keys[i])
	}
	return keys, strings.Join(names, ", "), nil
}

func writeGroups(inv *invocation, out sink, groups []*group) error {
	if inv.flag("AsHashTable") {
		table := dotnet.NewHashtable()
		if inv.flag("CaseSensitive") {
			table.Comparer = dotnet.CompareExact
		}
		for _, g := range groups {
			key := g.keys[0]
			if inv.flag("AsString") || len(g.keys) > 1 || key == nil {
				key = groupName(inv.f, g)
			}
			table.Set(key, dotnet.NewArray(g.items...))
		}
		return out.write(table)
	}
	items := make([]sortItem, len(groups))
	for i, g := range groups {
		items[i] = sortItem{v: g, keys: g.keys}
	}
	ordered, err := sortItems(inv, items, nil)
	if err != nil {
		return err
	}
	for _, item := range ordered {
		g := item.v.(*group)
		members := g.items
		if inv.flag("NoElement") {
			members = nil
		}
		info := dotnet.NewInstance(typeGroupInfo(), "Values", dotnet.NewArray(g.keys...), "Count", int32(len(g.items)),
			"Group", dotnet.NewArray(members...), "Name", groupName(inv.f, g))
		if err := out.write(info); err != nil {
			return err
		}
	}
	return nil
}

func groupName(f *frame, g *group) string {
	names := make([]string, len(g.keys))
	for i, key := range g.keys {
		names[i] = f.text(key)
	}
	return strings.Join(names, ", ")
}

// measure is what Measure-Object gathers of one property.
type measure struct {
	name     string
	found    bool // some object had the property
	count    int32
	sum      float64
	bad      bool // a value was no number: sum and average are not told
	max, min any
	lines    int32
	words    int32
	chars    int32
}

func measureObject(inv *invocation, out sink) (stage, error) {
	var list []*measure
	for _, name := range dotnet.EnumerateAny(inv.get("Property")) {
		list = append(list, &measure{name: dotnet.ToText(name)})
	}
	if len(list) == 0 {
		list = []*measure{{found: true}}
	}
	text := inv.flag("Line") || inv.flag("Word") || inv.flag("Character")
	objects := 0
	each := func(v any) error {
		if isNull(v) {
			return nil
		}
		objects++
		for _, m := range list {
			if err := m.add(inv, v, text); err != nil {
				return err
			}
		}
		return nil
	}
	done := func() error {
		for _, m := range list {
			if err := m.write(inv, out, text, objects); err != nil {
				return err
			}
		}
		return nil
	}
	return &inputStage{inv: inv, each: each, done: done}, nil
}

func (m *measure) add(inv *invocation, v any, text bool) error {
	if m.name != "" {
		value, found, err := dotnet.GetMember(v, m.name)
		if err != nil || !found {
			return err
		}
		m.found, v = true, value
	}
	m.count++
	if text {
		s := dotnet.ToText(v)
		m.words += int32(len(strings.Fields(s)))
		if s != "" {
			m.lines += int32(strings.Count(strings.TrimSuffix(s, "\n"), "\n")) + 1
		}
		if length, _, err := dotnet.GetMember(s, "Length"); err == nil {
			m.chars += length.(int32)
		}
		return nil
	}
	if inv.flag("Sum") || inv.flag("Average") {
		n, err := dotnet.Convert(v, dotnet.TDouble)
		if err != nil {
			m.bad = true
			return inv.f.pipelineError(inv, numericError(v))
		}
		m.sum += n.(float64)
	}
	if inv.flag("Maximum") && (m.max == nil || compareMeasured(v, m.max) > 0) {
		m.max = v
	}
	if inv.flag("Minimum") && (m.min == nil || compareMeasured(v, m.min) < 0) {
		m.min = v
	}
	return nil
}

// compareMeasured compares as numbers what can be one, and two of different
// kinds as text.
func compareMeasured(a, b any) int {
	x, isX := measuredNumber(a)
	y, isY := measuredNumber(b)
	if isX != isY && a != nil && b != nil {
		x, y = dotnet.ToText(a), dotnet.ToText(b)
	}
	return dotnet.CompareSort(x, y, true)
}

// measuredNumber is a value as a number, or as it is when it is none.
func measuredNumber(v any) (any, bool) {
	if v == nil {
		return nil, false
	}
	if n, ok := dotnet.TryConvert(v, dotnet.TDouble); ok {
		return n, true
	}
	return v, false
}

func numericError(v any) error {
	e := dotnet.NewException(exceptionType("System.Management.Automation.PSInvalidCastException"), "Input object \""+dotnet.ToText(v)+"\" is not numeric.")
	return dotnet.NewError(e, "NonNumericInputObject", dotnet.InvalidType, v)
}

// write writes the measurement. One of a property that no object had is none:
// strict mode complains.
func (m *measure) write(inv *invocation, out sink, text bool, objects int) error {
	if m.found {
		return out.write(m.info(inv, text))
	}
	if objects == 0 || inv.f.scope.strictMode() < 2 {
		return nil
	}
	id := "GenericMeasurePropertyNotFound"
	if text {
		id = "TextMeasurePropertyNotFound"
	}
	e := dotnet.NewException(exceptionType("System.Management.Automation.PSArgumentException"), "The property \""+m.name+"\" cannot be found in the input for any objects.")
	return inv.writeError(inv.qualify(dotnet.NewError(e, id, dotnet.ObjectNotFound, nil)))
}

func (m *measure) info(inv *invocation, text bool) any {
	optional := func(name string, v any) any {
		if inv.flag(name) {
			return v
		}
		return nil
	}
	property := any(nil)
	if m.name != "" {
		property = m.name
	}
	if text {
		return dotnet.NewInstance(typeTextMeasure(), "Lines", optional("Line", m.lines), "Words", optional("Word", m.words),
			"Characters", optional("Character", m.chars), "Property", property)
	}
	var sum, average any
	if !m.bad {
		sum = optional("Sum", m.sum)
		if m.count > 0 {
			average = optional("Average", m.sum/float64(m.count))
		}
	}
	kind := typeMeasureInfo()
	most, isNumber := measuredNumber(m.max)
	least, isAlso := measuredNumber(m.min)
	if m.max != nil && !isNumber || m.min != nil && !isAlso {
		kind, most, least = typeObjectInfo(), m.max, m.min
	}
	return dotnet.NewInstance(kind, "Count", m.count, "Average", average, "Sum", sum, "Maximum", most, "Minimum", least, "Property", property)
}

// compareObject pairs equal objects of both sides and writes the others: those
// of the difference side first.
func compareObject(inv *invocation, out sink) error {
	columns, err := inv.columns(inv.get("Property"))
	if err != nil {
		return err
	}
	f := inv.f
	side := func(name string) ([]sortItem, error) {
		var items []sortItem
		for _, v := range dotnet.EnumerateAny(inv.get(name)) {
			keys, _, err := groupKeys(f, columns, v)
			if err != nil {
				return nil, err
			}
			items = append(items, sortItem{v: v, keys: keys})
		}
		return items, nil
	}
	reference, err := side("ReferenceObject")
	if err != nil {
		return err
	}
	difference, err := side("DifferenceObject")
	if err != nil {
		return err
	}
	paired := make([]bool, len(reference))
	var left []sortItem
	for _, d := range difference {
		at := -1
		for i, r := range reference {
			if err := f.step(inv.at); err != nil {
				return err
			}
			if !paired[i] && sameKeys(r.keys, d.keys, inv.flag("CaseSensitive")) {
				at = i
				break
			}
		}
		if at < 0 {
			left = append(left, d)
			continue
		}
		paired[at] = true
		if inv.flag("IncludeEqual") {
			if err := writeDifference(inv, out, columns, reference[at], "=="); err != nil {
				return err
			}
		}
	}
	if inv.flag("ExcludeDifferent") {
		return nil
	}
	for _, d := range left {
		if err := writeDifference(inv, out, columns, d, "=>"); err != nil {
			return err
		}
	}
	for i, r := range reference {
		if !paired[i] {
			if err := writeDifference(inv, out, columns, r, "<="); err != nil {
				return err
			}
		}
	}
	return nil
}

func sameKeys(a, b []any, exact bool) bool {
	for i := range a {
		if dotnet.CompareSort(a[i], b[i], exact) != 0 {
			return false
		}
	}
	return true
}

func writeDifference(inv *invocation, out sink, columns []column, item sortItem, side string) error {
	if inv.flag("PassThru") {
		return out.write(item.v)
	}
	object := dotnet.NewPSObject()
	if len(columns) == 0 {
		object.Props.Set("InputObject", item.v)
	}
	for i := range columns {
		object.Props.Set(columns[i].name, item.keys[i])
	}
	object.Props.Set("SideIndicator", side)
	return out.write(object)
}
