package host

import (
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// The code in this file decides which accounts may use a file. It uses SIDs in text form, so that it can be
// tested on every system. files_windows.go reads and writes the access lists.

const (
	sidSystem         = "S-1-5-18"
	sidLocalService   = "S-1-5-19"
	sidNetworkService = "S-1-5-20"
	sidAdministrators = "S-1-5-32-544"
	sidOwnerRights    = "S-1-3-4" // any owner of the file
)

// builtInAccounts maps accounts to SIDs. In every language of Windows, the service manager uses the English
// names of these accounts, but looking up an English name can fail.
var builtInAccounts = map[string]string{
	"localsystem":                 sidSystem,
	`nt authority\system`:         sidSystem,
	`nt authority\localservice`:   sidLocalService,
	`nt authority\networkservice`: sidNetworkService,
}

// virtualAccount returns the SID of the virtual account of a service, or "" for any other account. Windows
// derives the SID from the service's name.
func virtualAccount(account string) string {
	const domain = `nt service\`
	if len(account) <= len(domain) || !strings.EqualFold(account[:len(domain)], domain) {
		return ""
	}
	var name []byte
	for _, unit := range utf16.Encode([]rune(strings.ToUpper(account[len(domain):]))) {
		name = binary.LittleEndian.AppendUint16(name, unit)
	}
	sum, sid := sha1.Sum(name), "S-1-5-80"
	for part := range slices.Chunk(sum[:], 4) {
		sid += fmt.Sprint("-", binary.LittleEndian.Uint32(part))
	}
	return sid
}

// accounts contains the SIDs of the accounts that may use the gateway's files.
type accounts struct {
	process       string // account of this process
	administrator bool   // the process has administrator rights
	service       string // account of the service; empty if it is not installed or the account is unknown
	before        string // account of the service until the new account is set
	doubt         error  // error of looking up the service's current account
}

// lookups are the functions of Windows that look up accounts.
type lookups struct {
	process func() (sid string, administrator bool, err error)
	service func(name string) (Service, error)
	account func(name string) (sid string, err error)
}

// accounts returns the accounts that may use the files. It does not fail for an administrator if the
// service's account cannot be looked up because it no longer exists or no domain controller answers.
func (l lookups) accounts(f Files) (a accounts, err error) {
	if a.process, a.administrator, err = l.process(); err != nil {
		return accounts{}, err
	}
	found, err := l.service(f.Service)
	switch {
	case err != nil && a.administrator:
		return accounts{}, err
	case err != nil:
		return a, nil // any other account is the service's own, or unrelated
	}
	sid := found.AccountID
	if found.Installed && sid == "" {
		if sid, err = l.account(found.Account); err != nil && a.administrator {
			a.doubt = fmt.Errorf("the service's account %s cannot be looked up: %w", found.Account, err)
		}
	}
	if f.Account == "" {
		a.service = sid
		return a, nil
	}
	a.before = sid
	if a.service, err = l.account(f.Account); err != nil && a.administrator {
		return accounts{}, fmt.Errorf("the account %s cannot be looked up: %w", f.Account, err)
	}
	return a, nil
}

// unknown returns the only account without a name that has rights. It is called while the service's account
// cannot be looked up, because the account without a name may be the service's. If several accounts have no
// name, at least one of them is another account, so unknown trusts none and returns "".
func (a accounts) unknown(owner string, grants []grant, name func(sid string) string) string {
	if a.doubt == nil {
		return ""
	}
	found := ""
	for _, g := range append([]grant{{sid: owner, mask: toWrite}}, grants...) {
		const ofDomain = "S-1-5-21-"
		switch {
		case g.sid == found, g.mask&(toRead|toWrite) == 0, a.trusts(g.sid):
		case !strings.HasPrefix(g.sid, ofDomain) || name(g.sid) != nameless(g.sid):
		case found != "":
			return ""
		default:
			found = g.sid
		}
	}
	return found
}

// nameless returns the name that icacls uses for an account without one.
func nameless(sid string) string { return "*" + sid }

// kept returns the accounts that need access to a file or folder while the service's account cannot be looked
// up. They include the account without a name, which keeps its rights. kept returns an error if there is no
// such account, because the service would be locked out.
func (a accounts) kept(owner string, grants []grant, name func(sid string) string) ([]string, error) {
	unknown := a.unknown(owner, grants, name)
	if unknown == "" {
		return nil, a.doubt
	}
	return append(a.given(), unknown), nil
}

// given returns the accounts that get access to a file. An administrator gets access as a member of the
// group, because the service and other administrators would not trust an entry for a single person.
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
	return sid == a.process || sid == a.before && sid != "" || slices.Contains(a.given(), sid)
}

// accessList returns an access list in SDDL that grants full access to these accounts
// and inherits nothing. inherit are the inheritance flags of its entries.
func accessList(sids []string, inherit string) string {
	list := "D:P"
	for _, sid := range sids {
		list += fmt.Sprintf("(A;%s;FA;;;%s)", inherit, sid)
	}
	return list
}

// grant is an entry of an access list that grants rights.
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

// sidTrustedInstaller owns the files that Windows itself has installed.
const sidTrustedInstaller = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"

const (
	sidCreatorOwner = "S-1-3-0" // represents the creator of a new file
	deleteChild     = 0x40
)

// exposedFolder returns an error if untrusted accounts may replace files in a folder.
func (a accounts) exposedFolder(path, owner string, grants []grant, name func(sid string) string) error {
	unknown := a.unknown(owner, grants, name)
	trusts := func(sid string) bool {
		return sid == sidTrustedInstaller || sid == unknown && sid != "" || a.trusts(sid)
	}
	if !trusts(owner) {
		return fmt.Errorf(`%s belongs to %s, who can replace what is in it: move the program to a folder below "Program Files", or give the folder to the administrators: 'icacls "%s" /setowner "*%s"'`,
			path, name(owner), path, sidAdministrators)
	}
	var writing []string
	for _, g := range grants {
		if g.sid != sidOwnerRights && g.sid != sidCreatorOwner && !trusts(g.sid) &&
			g.mask&(toWrite|deleteChild) != 0 {
			writing = append(writing, name(g.sid))
		}
	}
	if len(writing) > 0 {
		return fmt.Errorf(`%s may replace what is in %s: move the program to a folder below "Program Files", or revoke that right: 'icacls "%s" /inheritance:d', then 'icacls "%s" /remove:g "%s"'`,
			strings.Join(writing, ", "), path, path, path, strings.Join(writing, `" "`))
	}
	return nil
}

// exposed returns the names of the untrusted accounts that may read a file, or "". It returns an error if an
// untrusted account may write the file or grant itself the right to, as an owner always can. name returns the
// display name of an account. While the service's account cannot be looked up, an account without a name
// counts as a reader.
func (a accounts) exposed(
	path, owner string, grants []grant, name func(sid string) string,
) (readers string, err error) {
	unknown := a.unknown(owner, grants, name)
	if owner != unknown && !a.trusts(owner) {
		return "", fmt.Errorf(`the file belongs to %s, who can grant themselves any access; check its content, then give it to the administrators: 'icacls "%s" /setowner "*%s"'`,
			name(owner), path, sidAdministrators)
	}
	var reading, writing []string
	for _, g := range grants {
		switch {
		case g.sid == sidOwnerRights, g.sid == unknown, a.trusts(g.sid):
		case g.mask&toWrite != 0:
			writing = append(writing, name(g.sid))
		case g.mask&toRead != 0:
			reading = append(reading, name(g.sid))
		}
	}
	if len(writing) > 0 {
		return "", fmt.Errorf(`%s may change the file; check its content, then revoke that right: 'icacls "%s" /inheritance:d', then 'icacls "%s" /remove:g "%s"'`,
			strings.Join(writing, ", "), path, path, strings.Join(writing, `" "`))
	}
	if unknown != "" {
		reading = append(reading, fmt.Sprintf("an unknown account (%s), perhaps the service's", unknown))
	}
	return strings.Join(reading, ", "), nil
}

// The ranges of user ids for services, see systemd(1) on users and groups.
const (
	firstPerson               = 1000
	firstDynamic, lastDynamic = 61184, 65519
)

// trustedUser reports whether a process may trust the files of a user. It may trust root and its own user.
// Root may also trust the user of a service, because a command that runs as root may manage that service.
func trustedUser(owner, process int) bool {
	service := owner < firstPerson || owner >= firstDynamic && owner <= lastDynamic
	return owner == 0 || owner == process || process == 0 && service
}
