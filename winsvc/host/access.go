package host

import (
	"fmt"
	"slices"
	"strings"
)

// Who may use a file on Windows is decided here, by SIDs in their text form;
// files_windows.go asks Windows and tells it.

const (
	sidSystem         = "S-1-5-18"
	sidLocalService   = "S-1-5-19"
	sidNetworkService = "S-1-5-20"
	sidAdministrators = "S-1-5-32-544"
	sidOwnerRights    = "S-1-3-4" // stands for whoever is the owner
)

// builtInAccounts are the accounts that the service manager knows by English
// names, whatever the language of Windows; looking such a name up can fail.
var builtInAccounts = map[string]string{
	"localsystem":                 sidSystem,
	`nt authority\system`:         sidSystem,
	`nt authority\localservice`:   sidLocalService,
	`nt authority\networkservice`: sidNetworkService,
}

// accounts are those whose rights to the gateway's files are in order.
type accounts struct {
	process       string // who runs this process
	administrator bool   // it has the rights of the administrators
	service       string // who runs the service; empty: it is not installed
}

// given are those who get a file. An administrator has it through the group: an
// entry of his own would be a stranger's to the service and to every other
// administrator.
func (a accounts) given() []string {
	all := []string{sidSystem, sidAdministrators}
	if a.service != "" {
		all = append(all, a.service)
	}
	if !a.administrator {
		all = append(all, a.process)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (a accounts) trusts(sid string) bool {
	return sid == a.process || slices.Contains(a.given(), sid)
}

// accessList is an access list in SDDL that gives these everything and inherits
// nothing. inherit is what of a folder inherits it.
func accessList(sids []string, inherit string) string {
	list := "D:P"
	for _, sid := range sids {
		list += fmt.Sprintf("(A;%s;FA;;;%s)", inherit, sid)
	}
	return list
}

// A grant is an entry of an access list that allows something.
type grant struct {
	sid  string
	mask uint32
}

// Bits of an access mask (winnt.h).
const (
	fileReadData   = 0x1
	fileWriteData  = 0x2
	fileAppendData = 0x4
	accessDelete   = 0x10000
	writeDAC       = 0x40000
	writeOwner     = 0x80000
	genericAll     = 0x10000000
	genericWrite   = 0x40000000
	genericRead    = 0x80000000

	toRead  = fileReadData | genericRead | genericAll
	toWrite = fileWriteData | fileAppendData | accessDelete | writeDAC | writeOwner | genericWrite | genericAll
)

// exposed tells which accounts that are not trusted may read a file; empty:
// none. That they may write it, or give themselves the right to, which an owner
// always can, is an error. name is how people know an account.
func (a accounts) exposed(path, owner string, grants []grant, name func(sid string) string) (readers string, err error) {
	if !a.trusts(owner) {
		return "", fmt.Errorf(`the file belongs to %s, who can take every right to it; look at what it holds, then give it to the administrators: 'icacls "%s" /setowner "*%s"'`,
			name(owner), path, sidAdministrators)
	}
	var reading, writing []string
	for _, g := range grants {
		switch {
		case g.sid == sidOwnerRights, a.trusts(g.sid):
		case g.mask&toWrite != 0:
			writing = append(writing, name(g.sid))
		case g.mask&toRead != 0:
			reading = append(reading, name(g.sid))
		}
	}
	if len(writing) > 0 {
		return "", fmt.Errorf(`%s may change the file; look at what it holds, then take the right from them: 'icacls "%s" /inheritance:d', then 'icacls "%s" /remove:g "%s"'`,
			strings.Join(writing, ", "), path, path, strings.Join(writing, `" "`))
	}
	return strings.Join(reading, ", "), nil
}
