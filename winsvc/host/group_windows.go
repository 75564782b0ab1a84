package host

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// The functions of CNG DPAPI (ncryptprotect.h), which golang.org/x/sys does not contain. Data that is
// encrypted for the SID of a group can be decrypted by every account in the group, with a key that the domain
// controllers derive (MS-GKDI). This requires the domain's KDS root key. This code has not been run yet,
// because it needs a domain.
var (
	createDescriptor  = ncrypt.NewProc("NCryptCreateProtectionDescriptor")
	closeDescriptor   = ncrypt.NewProc("NCryptCloseProtectionDescriptor")
	protectSecret     = ncrypt.NewProc("NCryptProtectSecret")
	unprotectSecret   = ncrypt.NewProc("NCryptUnprotectSecret")
	errNothingWritten = errors.New("the system returned nothing")
)

const silent = 0x40 // NCRYPT_SILENT_FLAG: a service has no desktop

// GroupSecrets encrypts data for the accounts in a group of the domain. It is safe for concurrent use.
type GroupSecrets struct{ name, rule string }

// ForGroup returns the secrets of a group. name is the name of the group, such as CORP\adgateway-gateways, or
// its SID.
func ForGroup(name string) (*GroupSecrets, error) {
	sid, err := windows.StringToSid(name)
	if err != nil {
		if sid, _, _, err = windows.LookupSID("", name); err != nil {
			return nil, fmt.Errorf("the group %s was not found: %w", name, err)
		}
	}
	return &GroupSecrets{name, "SID=" + sid.String()}, nil
}

// ntStatus returns the error of a SECURITY_STATUS, or nil.
func ntStatus(call string, code uintptr) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", call, windows.Errno(uint32(code)))
}

// Wrap encrypts for the group.
func (g *GroupSecrets) Wrap(plain []byte) ([]byte, error) {
	rule, err := windows.UTF16PtrFromString(g.rule)
	if err != nil {
		return nil, err
	}
	var descriptor uintptr
	code, _, _ := createDescriptor.Call(uintptr(unsafe.Pointer(rule)), 0, uintptr(unsafe.Pointer(&descriptor)))
	if err := ntStatus("NCryptCreateProtectionDescriptor", code); err != nil {
		return nil, err
	}
	defer func() { _, _, _ = closeDescriptor.Call(descriptor) }()
	var blob *byte
	var size uint32
	code, _, _ = protectSecret.Call(descriptor, silent, uintptr(unsafe.Pointer(unsafe.SliceData(plain))),
		uintptr(len(plain)), 0, 0,
		uintptr(unsafe.Pointer(&blob)), uintptr(unsafe.Pointer(&size)))
	return takeOver("NCryptProtectSecret", code, blob, size)
}

// Unwrap decrypts with the account of this process.
func (g *GroupSecrets) Unwrap(wrapped []byte) ([]byte, error) {
	var plain *byte
	var size uint32
	code, _, _ := unprotectSecret.Call(0, silent, uintptr(unsafe.Pointer(unsafe.SliceData(wrapped))),
		uintptr(len(wrapped)), 0, 0,
		uintptr(unsafe.Pointer(&plain)), uintptr(unsafe.Pointer(&size)))
	return takeOver("NCryptUnprotectSecret", code, plain, size)
}

// takeOver copies the data that a call has allocated, and frees it.
func takeOver(call string, code uintptr, data *byte, size uint32) ([]byte, error) {
	if err := ntStatus(call, code); err != nil {
		return nil, err
	}
	if data == nil {
		return nil, errNothingWritten
	}
	all := unsafe.Slice(data, size)
	copied := append([]byte(nil), all...)
	clear(all)
	_, err := windows.LocalFree(windows.Handle(uintptr(unsafe.Pointer(data))))
	return copied, err
}

// Remedy returns advice for a failure of Unwrap.
func (g *GroupSecrets) Remedy() string {
	return fmt.Sprintf("the group %s (cluster.keyGroup): the account of this gateway must be in it, and a "+
		"controller must be reachable; a new member has to log on again, which takes a restart of the host for "+
		"NT SERVICE accounts", g.name)
}
