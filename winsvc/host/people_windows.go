package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	advapi32  = windows.NewLazySystemDLL("advapi32.dll")
	logonUser = advapi32.NewProc("LogonUserW")

	authz               = windows.NewLazySystemDLL("authz.dll")
	authzManager        = authz.NewProc("AuthzInitializeResourceManager")
	authzFreeManager    = authz.NewProc("AuthzFreeResourceManager")
	authzContextFromSID = authz.NewProc("AuthzInitializeContextFromSid")
	authzInformation    = authz.NewProc("AuthzGetInformationFromContext")
	authzFreeContext    = authz.NewProc("AuthzFreeContext")
)

// LogOn checks the password of an account by a network logon and returns the account. The name is a
// sAMAccountName with its domain, or a UPN with an empty domain. The password is encoded in UTF-8. LogOn does
// not keep it, and the caller should wipe it. If Windows refuses the account, the error is a [*LogonError].
func LogOn(ctx context.Context, domain, name string, password []byte) (Logon, error) {
	secret := wide(password)
	return limited(ctx, func() (Logon, error) {
		defer clear(secret)
		return logOn(domain, name, secret)
	})
}

// wide returns a text as zero-terminated UTF-16 without converting it to a string, which could not be wiped.
func wide(text []byte) []uint16 {
	units := make([]uint16, 0, len(text)+1) // never grows: no copy is left behind
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		units, text = utf16.AppendRune(units, r), text[size:]
	}
	return append(units, 0)
}

func logOn(domain, name string, password []uint16) (Logon, error) {
	const (
		network  = 3 // LOGON32_LOGON_NETWORK
		standard = 0 // LOGON32_PROVIDER_DEFAULT
	)
	account, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return Logon{}, &LogonError{Code: uint32(windows.ERROR_LOGON_FAILURE), Text: err.Error()}
	}
	var of *uint16 // none for a UPN
	if domain != "" {
		if of, err = windows.UTF16PtrFromString(domain); err != nil {
			return Logon{}, &LogonError{Code: uint32(windows.ERROR_LOGON_FAILURE), Text: err.Error()}
		}
	}
	var token windows.Token
	ok, _, err := logonUser.Call(uintptr(unsafe.Pointer(account)), uintptr(unsafe.Pointer(of)),
		uintptr(unsafe.Pointer(&password[0])),
		network, standard, uintptr(unsafe.Pointer(&token)))
	if ok == 0 {
		return Logon{}, logonError(err)
	}
	defer func() { _ = token.Close() }()
	user, err := token.GetTokenUser()
	if err != nil {
		return Logon{}, err
	}
	groups, err := token.GetTokenGroups()
	if err != nil {
		return Logon{}, err
	}
	return logonOf(user.User.Sid, groups)
}

// refusals contains the codes that concern the account or its password. Any other code means that Windows
// could not check the account.
var refusals = map[uint32]bool{
	1317: true, // ERROR_NO_SUCH_USER
	1326: true, // ERROR_LOGON_FAILURE
	1327: true, // ERROR_ACCOUNT_RESTRICTION
	1328: true, // ERROR_INVALID_LOGON_HOURS
	1329: true, // ERROR_INVALID_WORKSTATION
	1330: true, // ERROR_PASSWORD_EXPIRED
	1331: true, // ERROR_ACCOUNT_DISABLED
	1385: true, // ERROR_LOGON_TYPE_NOT_GRANTED
	1793: true, // ERROR_ACCOUNT_EXPIRED
	1907: true, // ERROR_PASSWORD_MUST_CHANGE
	1909: true, // ERROR_ACCOUNT_LOCKED_OUT
}

// logonError returns a refusal as a [*LogonError].
func logonError(err error) error {
	var code windows.Errno
	if errors.As(err, &code) && refusals[uint32(code)] {
		return &LogonError{uint32(code), code.Error()}
	}
	return fmt.Errorf("LogonUser: %w", err)
}

func logonOf(sid *windows.SID, groups *windows.Tokengroups) (Logon, error) {
	name, _, _, err := sid.LookupAccount("")
	if err != nil {
		return Logon{}, fmt.Errorf("the name of %s: %w", sid, err)
	}
	l := Logon{SID: sid.String(), Name: name}
	const enabled, denyOnly = 0x4, 0x10 // SE_GROUP_ENABLED, SE_GROUP_USE_FOR_DENY_ONLY
	for _, group := range groups.AllGroups() {
		if group.Attributes&enabled != 0 && group.Attributes&denyOnly == 0 {
			l.Groups = append(l.Groups, group.Sid.String())
		}
	}
	return l, nil
}

// GroupsOf returns an account with its current groups. It needs no password, but the service's account must
// be allowed to read the groups, for example as a member of Windows Authorization Access Group.
func GroupsOf(ctx context.Context, sid string) (Logon, error) {
	return limited(ctx, func() (Logon, error) { return groupsOf(sid) })
}

func groupsOf(text string) (Logon, error) {
	sid, err := windows.StringToSid(text)
	if err != nil {
		return Logon{}, err
	}
	const (
		noAudit     = 1 // AUTHZ_RM_FLAG_NO_AUDIT
		groupsClass = 2 // AuthzContextInfoGroupsSids
	)
	var manager, account uintptr
	if ok, _, err := authzManager.Call(noAudit, 0, 0, 0, 0, uintptr(unsafe.Pointer(&manager))); ok == 0 {
		return Logon{}, fmt.Errorf("AuthzInitializeResourceManager: %w", err)
	}
	defer func() { _, _, _ = authzFreeManager.Call(manager) }()
	ok, _, err := authzContextFromSID.Call(0, uintptr(unsafe.Pointer(sid)), manager, 0, 0, 0,
		uintptr(unsafe.Pointer(&account)))
	if ok == 0 {
		return Logon{}, fmt.Errorf("AuthzInitializeContextFromSid: %w", err)
	}
	defer func() { _, _, _ = authzFreeContext.Call(account) }()
	var size uint32
	_, _, err = authzInformation.Call(account, groupsClass, 0, uintptr(unsafe.Pointer(&size)), 0)
	if size == 0 || !errors.Is(err, windows.ERROR_INSUFFICIENT_BUFFER) {
		return Logon{}, fmt.Errorf("AuthzGetInformationFromContext: %w", err)
	}
	buffer := make([]uint64, (size+7)/8) // aligned as a pointer
	if ok, _, err := authzInformation.Call(account, groupsClass, uintptr(size), uintptr(unsafe.Pointer(&size)),
		uintptr(unsafe.Pointer(&buffer[0]))); ok == 0 {
		return Logon{}, fmt.Errorf("AuthzGetInformationFromContext: %w", err)
	}
	return logonOf(sid, (*windows.Tokengroups)(unsafe.Pointer(&buffer[0])))
}

// SIDOf returns the SID of an account or group, given as DOMAIN\name or as a SID.
func SIDOf(account string) (string, error) {
	if strings.HasPrefix(account, "S-1-") {
		sid, err := windows.StringToSid(account)
		if err != nil {
			return "", fmt.Errorf("%s is no SID: %w", account, err)
		}
		return sid.String(), nil
	}
	sid, _, _, err := windows.LookupSID("", account)
	if err != nil {
		return "", err
	}
	return sid.String(), nil
}
