package host

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Restrict gives a file to SYSTEM, the administrators, the service's account
// and, unless that is an administrator, the account of this process, and lets it
// inherit nothing.
func (f Files) Restrict(path string) error { return f.allow(path, "") }

// restrictFolder does the same with a folder, for what will be in it, too.
func (f Files) restrictFolder(path string) error {
	const inherited = "OICI" // SDDL: by files and folders
	return f.allow(path, inherited)
}

func (f Files) allow(path, inherit string) error {
	a, err := f.accounts()
	if err != nil {
		return err
	}
	descriptor, err := windows.SecurityDescriptorFromString(accessList(a.given(), inherit))
	if err != nil {
		return fmt.Errorf("the rights of %s cannot be made: %w", path, err)
	}
	list, _, err := descriptor.DACL()
	if err != nil {
		return fmt.Errorf("the rights of %s cannot be made: %w", path, err)
	}
	err = windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, list, nil)
	if err != nil {
		return fmt.Errorf("the rights of %s cannot be set: %w", path, err)
	}
	if !a.administrator {
		return nil // nobody but an administrator may give a file away
	}
	// An owner can always change the list. The right to change the owner comes
	// from the list, therefore this is second.
	administrators, err := windows.StringToSid(sidAdministrators)
	if err == nil {
		err = windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION, administrators, nil, nil, nil)
	}
	if err != nil {
		return fmt.Errorf("the owner of %s cannot be set: %w", path, err)
	}
	return nil
}

// Exposed tells which other accounts may read the file; empty: none. That
// others may write it, or give themselves the right to, is an error.
func (f Files) Exposed(path string) (readers string, err error) {
	descriptor, owner, err := security(path)
	if err != nil {
		return "", err
	}
	a, err := f.accounts()
	if err != nil {
		return "", err
	}
	list, _, err := descriptor.DACL()
	if err != nil && !errors.Is(err, windows.ERROR_OBJECT_NOT_FOUND) {
		return "", err
	}
	if list == nil {
		return "", fmt.Errorf("everybody may change %s: it has no access list", path)
	}
	const allowedCallback = 9 // ACCESS_ALLOWED_CALLBACK_ACE_TYPE: with a condition behind the SID
	var grants []grant
	for i := range uint32(list.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &ace); err != nil {
			return "", err
		}
		if kind := ace.Header.AceType; kind == windows.ACCESS_ALLOWED_ACE_TYPE || kind == allowedCallback {
			sid := (*windows.SID)(unsafe.Pointer(&ace.SidStart))
			grants = append(grants, grant{sid.String(), uint32(ace.Mask)})
		}
	}
	return a.exposed(path, owner, grants, nameOf)
}

// stranger names the owner of a folder where that is nobody whom its files can be
// given to; empty: it is.
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

// security reads who owns a file and who may use it.
func security(path string) (descriptor *windows.SECURITY_DESCRIPTOR, owner string, err error) {
	descriptor, err = windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return nil, "", err
	}
	sid, _, err := descriptor.Owner()
	if err != nil {
		return nil, "", fmt.Errorf("the owner of %s cannot be found: %w", path, err)
	}
	return descriptor, sid.String(), nil
}

func (f Files) accounts() (accounts, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return accounts{}, fmt.Errorf("the account of this process cannot be found: %w", err)
	}
	a := accounts{process: user.User.Sid.String()}
	administrators, err := windows.StringToSid(sidAdministrators)
	if err == nil {
		a.administrator, err = windows.Token(0).IsMember(administrators) // 0: of this thread
	}
	if err != nil {
		return accounts{}, fmt.Errorf("the groups of this process cannot be found: %w", err)
	}
	// An administrator who cannot tell the service's account would lock it out.
	// Whoever is none is that account, or has nothing to do with the service.
	if a.service, err = serviceAccount(f.Service); err != nil && a.administrator {
		return accounts{}, err
	}
	return a, nil
}

// serviceAccount is the SID of a service's account; empty while it is not
// installed.
func serviceAccount(name string) (string, error) {
	service, err := ReadService(name)
	if err != nil || !service.Installed || service.AccountID != "" {
		return service.AccountID, err
	}
	sid, err := sidOf(service.Account)
	if err != nil {
		return "", fmt.Errorf("the service's account %s cannot be looked up: %w", service.Account, err)
	}
	return sid, nil
}

// sidOf looks an account up that a service has.
func sidOf(account string) (string, error) {
	if sid, ok := builtInAccounts[strings.ToLower(account)]; ok {
		return sid, nil
	}
	sid, _, _, err := windows.LookupSID("", strings.TrimPrefix(account, `.\`))
	if err != nil {
		return "", err
	}
	return sid.String(), nil
}

// nameOf is the name of an account, in the form that icacls takes.
func nameOf(text string) string {
	sid, err := windows.StringToSid(text)
	if err != nil {
		return "*" + text
	}
	name, domain, _, err := sid.LookupAccount("")
	switch {
	case err != nil:
		return "*" + text
	case domain == "":
		return name
	}
	return domain + `\` + name
}
