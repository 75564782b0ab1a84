package host

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Restrict restricts access to a file to SYSTEM, the administrators, the service's account and, unless it is
// an administrator, the account of this process. The file no longer inherits rights.
func (f Files) Restrict(path string) error { return f.allow(path, "") }

// restrictFolder restricts access to a folder and its future content in the same way.
func (f Files) restrictFolder(path string) error {
	const inherited = "OICI" // SDDL flags: inherited by files and folders
	return f.allow(path, inherited)
}

func (f Files) allow(path, inherit string) error {
	a, err := f.accounts()
	if err != nil {
		return err
	}
	sids := a.given()
	if a.service == "" && a.doubt != nil {
		_, owner, grants, err := f.grants(path)
		if err == nil {
			sids, err = a.kept(owner, grants, nameOf)
		}
		if err != nil {
			return fmt.Errorf("access to %s cannot be restricted: %w", path, err)
		}
	}
	descriptor, err := windows.SecurityDescriptorFromString(accessList(sids, inherit))
	if err != nil {
		return fmt.Errorf("the access rights of %s cannot be built: %w", path, err)
	}
	list, _, err := descriptor.DACL()
	if err != nil {
		return fmt.Errorf("the access rights of %s cannot be built: %w", path, err)
	}
	err = windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, list, nil)
	if err != nil {
		return fmt.Errorf("the access rights of %s cannot be set: %w", path, err)
	}
	if !a.administrator {
		return nil // only an administrator may change the owner
	}
	// An owner can always change the access list, so the owner must be changed as well. The new access list
	// grants the right to do that, so it is set first.
	administrators, err := windows.StringToSid(sidAdministrators)
	if err == nil {
		err = windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION,
			administrators, nil, nil, nil)
	}
	if err != nil {
		return fmt.Errorf("the owner of %s cannot be set: %w", path, err)
	}
	return nil
}

// Exposed returns the untrusted accounts that may read the file or list the folder, or "" if there are none.
// It returns an error if an untrusted account may write to the file or folder or grant itself the right to.
func (f Files) Exposed(path string) (readers string, err error) {
	a, owner, grants, err := f.grants(path)
	if err != nil {
		return "", err
	}
	return a.exposed(path, owner, grants, nameOf)
}

// ExposedFolder returns an error if untrusted accounts may replace files in a folder.
func (f Files) ExposedFolder(path string) error {
	a, owner, grants, err := f.grants(path)
	if err != nil {
		return err
	}
	return a.exposedFolder(path, owner, grants, nameOf)
}

// grants returns the owner of a file or folder and the entries of its access list that grant rights.
func (f Files) grants(path string) (a accounts, owner string, grants []grant, err error) {
	descriptor, owner, err := security(path)
	if err != nil {
		return a, "", nil, err
	}
	if a, err = f.accounts(); err != nil {
		return a, "", nil, err
	}
	list, _, err := descriptor.DACL()
	if err != nil && !errors.Is(err, windows.ERROR_OBJECT_NOT_FOUND) {
		return a, "", nil, err
	}
	if list == nil {
		return a, "", nil, fmt.Errorf("everyone may change %s: it has no access list", path)
	}
	const allowedCallback = 9 // ACCESS_ALLOWED_CALLBACK_ACE_TYPE: with a condition behind the SID
	for i := range uint32(list.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &ace); err != nil {
			return a, "", nil, err
		}
		if ace.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0 {
			continue // applies only to objects below
		}
		if kind := ace.Header.AceType; kind == windows.ACCESS_ALLOWED_ACE_TYPE || kind == allowedCallback {
			sid := (*windows.SID)(unsafe.Pointer(&ace.SidStart))
			grants = append(grants, grant{sid.String(), uint32(ace.Mask)})
		}
	}
	return a, owner, grants, nil
}

// stranger returns the name of a folder's owner if that is an untrusted account, or
// "".
func (f Files) stranger(dir string) (string, error) {
	_, owner, err := security(dir)
	if err != nil {
		return "", err
	}
	a, err := f.accounts()
	if err != nil || a.trusts(owner) {
		return "", err
	}
	return nameOf(owner), nil
}

// security returns the security descriptor of a file and the SID of its owner.
func security(path string) (descriptor *windows.SECURITY_DESCRIPTOR, owner string, err error) {
	descriptor, err = windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return nil, "", err
	}
	sid, _, err := descriptor.Owner()
	if err != nil {
		return nil, "", fmt.Errorf("the owner of %s cannot be found: %w", path, err)
	}
	return descriptor, sid.String(), nil
}

// Doubt returns the error of looking up the service's account, or nil. If it is not nil, an account without a
// name may be the service's.
func (f Files) Doubt() error {
	a, err := f.accounts()
	if err != nil {
		return nil // readers of the files report this error
	}
	return a.doubt
}

func (f Files) accounts() (accounts, error) {
	return lookups{process: thisProcess, service: ReadService, account: sidOf}.accounts(f)
}

// thisProcess returns the account of this process.
func thisProcess() (sid string, administrator bool, err error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "", false, fmt.Errorf("the account of this process cannot be found: %w", err)
	}
	administrators, err := windows.StringToSid(sidAdministrators)
	if err == nil {
		administrator, err = windows.Token(0).IsMember(administrators) // 0 means the current thread
	}
	if err != nil {
		return "", false, fmt.Errorf("the groups of this process cannot be found: %w", err)
	}
	return user.User.Sid.String(), administrator, nil
}

// sidOf returns the SID of a service's account.
func sidOf(account string) (string, error) {
	if sid, ok := builtInAccounts[strings.ToLower(account)]; ok {
		return sid, nil
	}
	if sid := virtualAccount(account); sid != "" {
		return sid, nil
	}
	sid, _, _, err := windows.LookupSID("", strings.TrimPrefix(account, `.\`))
	if err != nil {
		return "", err
	}
	return sid.String(), nil
}

// nameOf returns the name of an account in the form that icacls accepts.
func nameOf(text string) string {
	sid, err := windows.StringToSid(text)
	if err != nil {
		return nameless(text)
	}
	name, domain, _, err := sid.LookupAccount("")
	switch {
	case err != nil:
		return nameless(text)
	case domain == "":
		return name
	}
	return domain + `\` + name
}
