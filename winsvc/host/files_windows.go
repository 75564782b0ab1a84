package host

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc/mgr"
)

// Restrict gives a file to SYSTEM, the administrators, the service's account
// and the account of this process, and lets it inherit nothing.
func (f Files) Restrict(path string) error { return f.allow(path, "") }

// restrictFolder does the same with a folder, for what will be in it, too.
func (f Files) restrictFolder(path string) error {
	const inherited = "OICI" // SDDL: by files and folders
	return f.allow(path, inherited)
}

func (f Files) allow(path, flags string) error {
	trusted, err := f.trusted()
	if err != nil {
		return err
	}
	const protected, all = "D:P", "(A;%s;FA;;;%s)" // SDDL: allow, file all access
	sddl := protected
	for _, sid := range trusted {
		sddl += fmt.Sprintf(all, flags, sid)
	}
	descriptor, err := windows.SecurityDescriptorFromString(sddl)
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
	return nil
}

// Exposed tells which other accounts may read the file; empty: none. That
// others may write it, or give themselves the right to, is an error.
func (f Files) Exposed(path string) (readers string, err error) {
	const (
		toRead  = windows.FILE_READ_DATA | windows.GENERIC_READ | windows.GENERIC_ALL
		toWrite = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.DELETE | windows.WRITE_DAC | windows.WRITE_OWNER |
			windows.GENERIC_WRITE | windows.GENERIC_ALL
	)
	trusted, err := f.trusted()
	if err != nil {
		return "", err
	}
	descriptor, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
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
	var reading, writing []string
	for i := range uint32(list.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &ace); err != nil {
			return "", err
		}
		if ace.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE {
			continue // a denial
		}
		sid := (*windows.SID)(unsafe.Pointer(&ace.SidStart))
		if isOne(sid, trusted) {
			continue
		}
		if ace.Mask&toWrite != 0 {
			writing = append(writing, nameOf(sid))
		} else if ace.Mask&toRead != 0 {
			reading = append(reading, nameOf(sid))
		}
	}
	if len(writing) > 0 {
		return "", fmt.Errorf("%s may change the file; take the right from them, for example by 'icacls \"%s\" /inheritance:r', after you have looked at what it holds",
			strings.Join(writing, ", "), path)
	}
	return strings.Join(reading, ", "), nil
}

// trusted are the accounts that may use the files.
func (f Files) trusted() ([]*windows.SID, error) {
	var trusted []*windows.SID
	for _, known := range []windows.WELL_KNOWN_SID_TYPE{windows.WinLocalSystemSid, windows.WinBuiltinAdministratorsSid} {
		sid, err := windows.CreateWellKnownSid(known)
		if err != nil {
			return nil, err
		}
		trusted = append(trusted, sid)
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("the account of this process cannot be found: %w", err)
	}
	if !isOne(user.User.Sid, trusted) {
		trusted = append(trusted, user.User.Sid)
	}
	if account := f.account(); account != nil && !isOne(account, trusted) {
		trusted = append(trusted, account)
	}
	return trusted, nil
}

// account is the service's; nil while it is not installed.
func (f Files) account() *windows.SID {
	name, err := windows.UTF16PtrFromString(f.Service)
	if err != nil {
		return nil
	}
	manager, err := windows.OpenSCManager(nil, nil, windows.SC_MANAGER_CONNECT)
	if err != nil {
		return nil
	}
	defer windows.CloseServiceHandle(manager)
	service, err := windows.OpenService(manager, name, windows.SERVICE_QUERY_CONFIG)
	if err != nil {
		return nil
	}
	defer windows.CloseServiceHandle(service)
	config, err := (&mgr.Service{Name: f.Service, Handle: service}).Config()
	if err != nil {
		return nil
	}
	sid, _, _, err := windows.LookupSID("", strings.TrimPrefix(config.ServiceStartName, `.\`))
	if err != nil {
		return nil // LocalSystem, which is trusted already
	}
	return sid
}

func isOne(sid *windows.SID, of []*windows.SID) bool {
	for _, other := range of {
		if sid.Equals(other) {
			return true
		}
	}
	return false
}

func nameOf(sid *windows.SID) string {
	name, domain, _, err := sid.LookupAccount("")
	switch {
	case err != nil:
		return sid.String()
	case domain == "":
		return name
	}
	return domain + `\` + name
}
