package host

import (
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	lsaOpenPolicy       = advapi32.NewProc("LsaOpenPolicy")
	lsaAddAccountRights = advapi32.NewProc("LsaAddAccountRights")
	lsaClose            = advapi32.NewProc("LsaClose")
)

// AllowServiceLogon gives an account the right to log on as a service on this computer. If a
// group policy sets that right, its next refresh replaces the change.
func AllowServiceLogon(account string) error {
	sid, _, _, err := windows.LookupSID("", strings.TrimPrefix(account, `.\`))
	if err != nil {
		return fmt.Errorf("the account %s cannot be looked up: %w", account, err)
	}
	right, err := windows.NewNTUnicodeString("SeServiceLogonRight")
	if err != nil {
		return err
	}
	const policyLookupNames, policyCreateAccount = 0x800, 0x10
	var attributes windows.OBJECT_ATTRIBUTES
	attributes.Length = uint32(unsafe.Sizeof(attributes))
	var policy windows.Handle
	status, _, _ := lsaOpenPolicy.Call(0, uintptr(unsafe.Pointer(&attributes)),
		policyLookupNames|policyCreateAccount, uintptr(unsafe.Pointer(&policy)))
	if status != 0 {
		return fmt.Errorf("the local security policy cannot be opened: %w", windows.NTStatus(status).Errno())
	}
	defer func() { _, _, _ = lsaClose.Call(uintptr(policy)) }()
	status, _, _ = lsaAddAccountRights.Call(uintptr(policy), uintptr(unsafe.Pointer(sid)),
		uintptr(unsafe.Pointer(right)), 1)
	if status != 0 {
		return fmt.Errorf("the local security policy cannot be changed: %w", windows.NTStatus(status).Errno())
	}
	return nil
}
