package ops

import (
	"maps"
	"slices"

	"adgateway/ps"
)

// Settle declares how an interrupted write is settled, see package gateway/settle.
//
// The arguments of both scripts are matched by name: with Fixed, with the intent (the Settle
// constants), or with the arguments of the row's own script.
type Settle struct {
	Script string // script that reads the state and the records of the announced objects
	// script that removes the remains of an unfinished create; empty if the create is a single step
	CleanUp string
	Fixed   ps.Args // constant arguments
}

// The arguments that an intent supplies. All but Guids and Names describe the first object.
const (
	SettleGuid           = "Guid"
	SettleGuids          = "Guids"
	SettleNames          = "ObjectNames"
	SettleAccount        = "Account"
	SettleName           = "ObjectName"
	SettleParent         = "Parent"
	SettleUserParameters = "UserParameters" // whether this attribute is among the changes
	SettleMaxAge         = "MaxAge"         // seconds since the request began
)

var settleArgs = map[string]string{
	SettleGuid: "string", SettleGuids: "string[]", SettleNames: "string[]", SettleAccount: "string", SettleName: "string", SettleParent: "string",
	SettleUserParameters: "bool", SettleMaxAge: "int",
}

// ServerArgs are the arguments that name the server to use.
var ServerArgs = []string{"Server", "ComputerName"}

var (
	settleUser     = Settle{Script: "Confirm-GatewayObject", Fixed: ps.Args{"Class": ps.Text("user")}}
	settleGroup    = Settle{Script: "Confirm-GatewayObject", Fixed: ps.Args{"Class": ps.Text("group")}}
	settleComputer = Settle{Script: "Confirm-GatewayObject", Fixed: ps.Args{"Class": ps.Text("computer")}}
	settleOU       = Settle{Script: "Confirm-GatewayObject", Fixed: ps.Args{"Class": ps.Text("ou")}}
	settleMember   = Settle{Script: "Confirm-GatewayMembership"}
	settleRemoval  = Settle{Script: "Confirm-GatewayRemoval"}
	settleRecord   = Settle{Script: "Confirm-GatewayRecord"}
	settleSet      = Settle{Script: "Confirm-GatewayRecord", Fixed: ps.Args{"Set": ps.Bool(true)}}
)

// settleZone settles writes in zones whose records have a given form.
func settleZone(form string) Settle {
	return Settle{Script: "Confirm-GatewayZone", Fixed: inForm(form)}
}

// cleanedUp adds the clean-up of a create with several steps.
func (s Settle) cleanedUp() Settle {
	s.CleanUp = "Remove-GatewayRemnant"
	return s
}

// Args returns the arguments that the script declares, taken from the intent and the bound request.
func (s *Settle) Args(script ps.Script, offered ps.Args, b *Bound) ps.Args {
	args := ps.Args{}
	for _, declared := range script.Params {
		for _, source := range []ps.Args{s.Fixed, offered, b.Args} {
			if value, has := source[declared.Name]; has && (value.Type() == declared.Type || value.Type() == "") {
				args[declared.Name] = value
				break
			}
		}
	}
	return args
}

// settle checks how a row is settled.
func (c *checker) settle(op *Operation, fault func(string, ...any)) {
	if !op.Effect.Writes() {
		if op.Settle.Script != "" || op.Settle.CleanUp != "" {
			fault("only reads, but declares how writes are settled")
		}
		return
	}
	if op.Local {
		return // its changes belong to other rows
	}
	if op.Settle.Script == "" {
		fault("writes, but does not declare how it is settled")
		return
	}
	if op.Settle.CleanUp != "" && op.Effect != Create {
		fault("cleans up after a %s", op.Effect)
	}
	for name, writes := range map[string]bool{op.Settle.Script: false, op.Settle.CleanUp: true} {
		script, known := c.scripts[name]
		switch {
		case name == "":
			continue
		case !known:
			fault("is settled by script %s, which does not exist", name)
			continue
		case script.Lane != op.Lane:
			fault("is in lane %s, but %s in %s", op.Lane, name, script.Lane)
		case script.Writes != writes:
			fault("script %s: writes is %t, but must be %t", name, script.Writes, writes)
		}
		c.used[name] = true
		for _, declared := range script.Params {
			typ := c.settleType(op, declared.Name)
			switch {
			case typ == "" && declared.Mandatory:
				fault("nothing feeds %s of %s", declared.Name, name)
			case typ != "" && typ != declared.Type:
				fault("argument %s of %s is %s, not %s", declared.Name, name, declared.Type, typ)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(op.Settle.Fixed)) {
		if _, has := c.scripts[op.Settle.Script].Param(name); !has {
			fault("fixes %s, which %s does not declare", name, op.Settle.Script)
		}
	}
}

// settleType returns the type of the value that feeds a settling script's argument, or "" if none
// does.
func (c *checker) settleType(op *Operation, name string) string {
	if value, fixed := op.Settle.Fixed[name]; fixed {
		return value.Type()
	}
	if typ, offered := settleArgs[name]; offered {
		return typ
	}
	if slices.Contains(ServerArgs, name) {
		return contextArgs[name]
	}
	return op.fed(name)
}

// fed returns the type of the value that a row always passes to an argument of its script, or "" if it does
// not always pass one.
func (op *Operation) fed(name string) string {
	if value, fixed := op.Fixed[name]; fixed {
		return value.Type()
	}
	if op.Protocol != nil && op.Protocol.Supplies[name] != "" {
		return op.Protocol.Supplies[name]
	}
	for i := range op.Params {
		p := &op.Params[i]
		if p.Kind == nil || p.Unsent || !p.Required && p.Default == "" {
			continue
		}
		for _, part := range p.Parts() {
			if p.arg()+part.Suffix == name {
				return part.Type
			}
		}
	}
	return ""
}
