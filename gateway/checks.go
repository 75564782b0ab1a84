package gateway

import (
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// check is something that may keep a change from being made although its script, which
// checks much itself, has announced it; and whether it was looked at.
type check struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Message string `json:"message"`
}

func notChecked(name, why string) check { return check{name, schema.NotChecked, why} }

// checksOf returns the checks that are of interest for what was announced.
func checksOf(r *request) []check {
	if r.op.Lane == ps.DNS {
		return []check{notChecked("write_rights", "The DNS server does not say what the gateway may change.")}
	}
	checks := []check{}
	if r.announced.Effect == ps.EffectRemoved && r.op.Reply.Shape != schema.Membership {
		checks = append(checks, notChecked("delete_rights", "The directory does not say what the gateway may remove."),
			notChecked("recycle_bin", "Whether the Recycle Bin is on was not read."))
	} else {
		checks = append(checks, notChecked("write_rights", "What the gateway may write was not read."))
	}
	if r.setsSecret() {
		checks = append(checks, notChecked("password_policy", "Only the domain controller knows the history and the filters of passwords."))
	}
	return append(checks,
		notChecked("forest_uniqueness", "Names that other domains of the forest use are not looked up."),
		notChecked("replication", "What other domain controllers are changing is not known."))
}
