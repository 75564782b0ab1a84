package ops

import (
	"maps"
	"slices"

	"adgateway/ps"
)

// Settle says how a write that was cut off is settled. Its script had announced
// what it was about to change ([ps.Intent]); another script reads what is there
// now, and the gateway compares the two.
//
// Arguments of both scripts come by name: from Fixed, from [SettleArgs] out of
// the intent, or as the row's own script has them.
type Settle struct {
	Script  string  // reads the state of the objects announced, and their records
	CleanUp string  // removes what a create of several steps leaves half made; empty: it has one step
	Fixed   ps.Args // arguments that are the same at every call
}

// The arguments that an intent gives to the scripts that settle, by name, and
// their types. All but Guids are about the first object.
const (
	SettleGuid           = "Guid"
	SettleGuids          = "Guids"
	SettleAccount        = "Account"
	SettleName           = "ObjectName"
	SettleParent         = "Parent"
	SettleUserParameters = "UserParameters" // whether they are among the changes
	SettleMaxAge         = "MaxAge"         // seconds since the request began
)

var settleArgs = map[string]string{
	SettleGuid: "string", SettleGuids: "string[]", SettleAccount: "string", SettleName: "string", SettleParent: "string",
	SettleUserParameters: "bool", SettleMaxAge: "int",
}

// ServerArgs are the arguments by which scripts are told the server to ask.
var ServerArgs = []string{"Server", "ComputerName"}

var (
	settleUser     = Settle{Script: "Confirm-GatewayObject", Fixed: ps.Args{"Class": ps.Text("user")}}
	settleGroup    = Settle{Script: "Confirm-GatewayObject", Fixed: ps.Args{"Class": ps.Text("group")}}
	settleComputer = Settle{Script: "Confirm-GatewayObject", Fixed: ps.Args{"Class": ps.Text("computer")}}
	settleOU       = Settle{Script: "Confirm-GatewayObject", Fixed: ps.Args{"Class": ps.Text("ou")}}
	settleMember   = Settle{Script: "Confirm-GatewayMembership"}
	settleRemoval  = Settle{Script: "Confirm-GatewayRemoval"}
	settleCName    = Settle{Script: "Confirm-GatewayCName"}
	settleZone     = Settle{Script: "Confirm-GatewayReverseZone"}
)

// cleanedUp is a way to settle a create of several steps.
func (s Settle) cleanedUp() Settle {
	s.CleanUp = "Remove-GatewayRemnant"
	return s
}

// Args are the arguments of a script that settles a request: what the script
// declares, out of what the intent offers and the request was bound to.
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

// settle holds how a row is settled against the scripts.
func (c *checker) settle(op *Operation, fault func(string, ...any)) {
	if !op.Effect.Writes() {
		if op.Settle.Script != "" || op.Settle.CleanUp != "" {
			fault("reads, and says how writes are settled")
		}
		return
	}
	if op.Settle.Script == "" {
		fault("writes, and does not say how it is settled when it is cut off")
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
			fault("is settled by the script %s, which there is not", name)
			continue
		case script.Lane != op.Lane:
			fault("is in the lane %s, %s in %s", op.Lane, name, script.Lane)
		case script.Writes != writes:
			fault("%s writes: %t; to settle needs %t, to clean up %t", name, script.Writes, false, true)
		}
		c.used[name] = true
		for _, declared := range script.Params {
			typ := c.settleType(op, declared.Name)
			switch {
			case typ == "" && declared.Mandatory:
				fault("nothing feeds %s of %s", declared.Name, name)
			case typ != "" && typ != declared.Type:
				fault("%s of %s is %s, not %s", declared.Name, name, declared.Type, typ)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(op.Settle.Fixed)) {
		if _, has := c.scripts[op.Settle.Script].Param(name); !has {
			fault("fixes %s, which %s lacks", name, op.Settle.Script)
		}
	}
}

// settleType is the type of what feeds an argument of a script that settles;
// empty when nothing does.
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

// fed is the type of what a row always feeds to an argument of its own script;
// empty when nothing does.
func (op *Operation) fed(name string) string {
	if value, fixed := op.Fixed[name]; fixed {
		return value.Type()
	}
	for i := range op.Params {
		p := &op.Params[i]
		if p.Kind == nil || !p.Required && p.Default == "" {
			continue
		}
		for _, part := range p.Kind.Parts() {
			if p.arg()+part.Suffix == name {
				return part.Type
			}
		}
	}
	return ""
}
