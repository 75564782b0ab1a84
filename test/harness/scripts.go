package harness

import (
	"strings"
	"sync"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// ownScripts returns the scripts of [ops.Table], which all servers share.
var ownScripts = sync.OnceValue(func() []ps.Script { return Scripts(ops.Table()) })

// Scripts returns declarations of scripts that match the rows.
func Scripts(table []*ops.Operation) []ps.Script {
	byName := map[string]*ps.Script{}
	var order []string
	for _, op := range table {
		if op.Script == "" {
			continue
		}
		script := byName[op.Script]
		if script == nil {
			script = &ps.Script{Name: op.Script, Lane: op.Lane, Writes: op.Effect.Writes()}
			byName[op.Script] = script
			order = append(order, op.Script)
			for _, name := range []string{"AllowedOU", "AllowedZone"} {
				script.Params = append(script.Params, ps.Param{Name: name, Type: "string[]"})
			}
			if script.Writes {
				script.Params = append(script.Params, ps.Param{Name: "Privileged", Type: "bool"})
			}
		}
		for name, value := range op.Fixed {
			if _, has := script.Param(name); !has {
				script.Params = append(script.Params, ps.Param{Name: name, Type: value.Type()})
			}
		}
		if op.Protocol != nil {
			for name, typ := range op.Protocol.Supplies {
				if _, has := script.Param(name); !has {
					script.Params = append(script.Params, ps.Param{Name: name, Type: typ})
				}
			}
		}
		for _, p := range op.Params {
			for _, part := range p.Parts() {
				name := p.Arg + part.Suffix
				if p.Arg == "" {
					name = p.Name + part.Suffix
				}
				if _, has := script.Param(name); !has {
					script.Params = append(script.Params, ps.Param{Name: name, Type: part.Type})
				}
			}
		}
	}
	for _, op := range table {
		for name, writes := range map[string]bool{op.Settle.Script: false, op.Settle.CleanUp: true} {
			if name == "" || byName[name] != nil {
				continue
			}
			byName[name] = &ps.Script{Name: name, Lane: op.Lane, Writes: writes, Params: settleParams}
			order = append(order, name)
		}
	}
	var scripts []ps.Script
	for _, name := range order {
		scripts = append(scripts, *byName[name])
	}
	return scripts
}

// settleParams are the parameters of the scripts that settle changes.
var settleParams = []ps.Param{
	{Name: "Set", Type: "bool"}, {Name: "Class", Type: "string"}, {Name: "Form", Type: "string"}, {Name: ops.SettleGuid, Type: "string"}, {Name: ops.SettleGuids, Type: "string[]"},
	{Name: ops.SettleMaxAge, Type: "int"}, {Name: "Server", Type: "string", Mandatory: true},
}

// Sample returns a sample record of a shape in the form in which scripts emit records.
func Sample(shape *schema.Shape) string {
	sample := sampleOf(shape.Fields)
	if shape.Tag != nil && shape.Tag.Further {
		sample = strings.TrimSuffix(sample, "}") + `,"further":""}`
	}
	return sample
}

func sampleOf(fields []schema.Field) string {
	var b strings.Builder
	packed := ""
	for i, field := range fields {
		if field.Packed != nil {
			packed = `,"` + field.Packed.Member + `":""`
			continue
		}
		if field.Extra != nil {
			continue // these fields are emitted only if a list of fields names them
		}
		if i > 0 {
			b.WriteByte(',')
		}
		value := map[schema.FieldType]string{
			schema.TextField:     `"text"`,
			schema.BoolField:     `true`,
			schema.GUIDField:     `"9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10"`,
			schema.TimeField:     `"2026-02-03T04:05:06Z"`,
			schema.CountryField:  `"GR"`,
			schema.TextListField: `["dc2"]`,
			schema.NumberField:   `7`,
			schema.DecimalField:  `7.5`,
			schema.ObjectField:   sampleOf(field.Of),

			schema.ObjectListField: "[" + sampleOf(field.Of) + "]",
		}[field.Type]
		if field.Sealed {
			value = `"=` + value[1:]
		}
		b.WriteString(`"` + field.Name + `":` + value)
	}
	return "{" + b.String() + packed + "}"
}
