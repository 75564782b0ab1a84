// Package clients generates what drives a gateway from other tools, from the table of
// operations: the PowerShell module AdGateway, and the Ansible collection adgateway.ad.
//
// [Functions] names a function for each operation, [Module] returns the files of the
// module. What is the same in all functions stands in core.psm1. [Collection] returns the
// files of the collection, with a module for each kind of object; what is the same in all
// modules stands in ansible/gateway.py.
package clients

import (
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/ops"
)

// Function is the function of a module that makes the call of an operation.
type Function struct {
	Verb, Noun string
	Op         *ops.Operation
}

// Name returns the name of the function.
func (f *Function) Name() string { return f.Verb + "-" + f.Noun }

// Functions returns a function for each row, except those that speak a protocol of
// others, which have clients of their own.
func Functions(table []*ops.Operation) ([]*Function, error) {
	var all []*Function
	for _, op := range table {
		switch {
		case op.Protocol != nil:
			continue
		case op.Reply.Mark == ops.Events:
			continue // Windows PowerShell cannot read an answer that does not end; -Wait polls
		case op.Takes != nil, op.Answers != nil:
			continue // files are sent and fetched with 'adgateway job'
		}
		f, err := function(op)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *Function) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

// nouns are the nouns of the resources.
var nouns = map[string]string{
	"cname": "CNameRecord", "a": "ARecord", "aaaa": "AAAARecord", "ptr": "PtrRecord", "txt": "TxtRecord", "srv": "SrvRecord", "mx": "MxRecord",
	"caa": "CaaRecord", "tlsa": "TlsaRecord", "sshfp": "SshfpRecord", "dname": "DNameRecord",
	"record": "DnsRecord", "recordSet": "DnsRecordSet", "reverseZone": "DnsReverseZone", "zone": "DnsZone", "lookupZone": "DnsLookupZone",
	"forwarder": "DnsForwarder", "delegation": "DnsDelegation", "membership": "Membership", "user": "User", "ou": "OU", "caller": "Caller",
	"search": "Object", "group": "Group", "computer": "Computer", "plan": "Plan", "bin": "RecycleBin", "change": "Change", "job": "Job", "cluster": "Cluster",
}

// prefix begins the noun of every function.
const prefix = "Adg"

// verbs are the approved verbs for the first word of what an operation does.
var verbs = map[string]string{
	"get": "Get", "list": "Get", "show": "Get", "find": "Find", "create": "New", "change": "Set", "update": "Set", "put": "Set", "set": "Set",
	"delete": "Remove", "remove": "Remove", "rename": "Rename", "move": "Move", "register": "Register", "enable": "Enable", "disable": "Disable",
	"unlock": "Unlock", "reset": "Reset", "add": "Add", "copy": "Copy", "restore": "Restore", "undo": "Undo",
	"start": "Start", "pause": "Suspend", "resume": "Resume", "cancel": "Stop", "retry": "Restart",
}

func function(op *ops.Operation) (*Function, error) {
	resource, action, _ := strings.Cut(op.ID, ".")
	noun := nouns[resource]
	if noun == "" {
		return nil, fmt.Errorf("%s: the resource has no noun", op.ID)
	}
	noun = prefix + noun
	if before, exists := strings.CutSuffix(strings.ToLower(action), "exists"); exists {
		return &Function{"Test", noun + title(action[:len(before)]), op}, nil
	}
	first, rest := action, ""
	if i := strings.IndexFunc(action, func(r rune) bool { return r <= 'Z' }); i > 0 {
		first, rest = action[:i], action[i:]
	}
	verb := verbs[first]
	switch {
	case verb != "" && first == "list":
		noun += "List" + rest
	case verb != "":
		noun += rest
	case op.Effect == ops.Read:
		verb, noun = "Get", noun+title(action)
	case op.Effect == ops.Update:
		verb, noun = "Set", noun+title(action)
	default:
		return nil, fmt.Errorf("%s: what it does has no verb", op.ID)
	}
	return &Function{verb, noun, op}, nil
}

// title returns a name with a capital first letter.
func title(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// fromRecords are members of records that fill a parameter from the pipeline, besides
// the one with its name.
var fromRecords = map[string]string{
	"GroupName": "samName", "ADComputerName": "guid", "OUPath": "path", "ZoneName": "zone", "DNS_HostName": "name", "OUGuid": "guid", "UserGuid": "guid",
	"PlanId": "id", "ChangeId": "id", "JobId": "id",
}

// high reports whether people are asked before the call: it removes something, or
// replaces a password.
func high(op *ops.Operation) bool {
	replaces := slices.ContainsFunc(op.Params, func(p ops.Param) bool { return p.Generated != "" })
	return op.Effect == ops.Delete || op.Effect == ops.Update && replaces
}
