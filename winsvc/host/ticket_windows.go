package host

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// The functions of SSPI (sspi.h), which golang.org/x/sys does not contain. Under Wine they accept and refuse
// tickets, but only Windows creates an access token for the account.
var (
	secur32               = windows.NewLazySystemDLL("secur32.dll")
	acquireCredentials    = secur32.NewProc("AcquireCredentialsHandleW")
	freeCredentials       = secur32.NewProc("FreeCredentialsHandle")
	acceptSecurityContext = secur32.NewProc("AcceptSecurityContext")
	deleteSecurityContext = secur32.NewProc("DeleteSecurityContext")
	queryContextToken     = secur32.NewProc("QuerySecurityContextToken")
	queryContext          = secur32.NewProc("QueryContextAttributesW")
	freeContextBuffer     = secur32.NewProc("FreeContextBuffer")
)

// handle is a SecHandle.
type handle struct{ lower, upper uintptr }

// buffer is a SecBuffer.
type buffer struct {
	size, kind uint32
	at         *byte
}

// buffers is a SecBufferDesc.
type buffers struct {
	version, count uint32
	first          *buffer
}

const (
	inbound       = 1 // SECPKG_CRED_INBOUND
	nativeNames   = 13
	kindToken     = 2  // SECBUFFER_TOKEN
	kindBindings  = 14 // SECBUFFER_CHANNEL_BINDINGS
	nativeFormat  = 0x10
	askReplay     = 0x4        // ASC_REQ_REPLAY_DETECT
	askMemory     = 0x100      // ASC_REQ_ALLOCATE_MEMORY
	mayLack       = 0x10000000 // ASC_REQ_ALLOW_MISSING_BINDINGS
	gaveMutual    = 0x2        // ASC_RET_MUTUAL_AUTH
	continueCode  = 0x00090312 // SEC_I_CONTINUE_NEEDED
	noCredentials = 0x8009030e // SEC_E_NO_CREDENTIALS
	bindingHeader = 32         // bytes of SEC_CHANNEL_BINDINGS
)

// AcceptTicket lets Windows check a ticket for this computer or the account of this process, and returns the
// client's account. Windows refuses a ticket that was used before. If the ticket is refused, the error is a
// [*TicketError].
func AcceptTicket(ctx context.Context, t Ticket) (Accepted, error) {
	return limited(ctx, func() (Accepted, error) { return acceptTicket(t) })
}

func acceptTicket(t Ticket) (Accepted, error) {
	credentials, free, err := kerberosCredentials()
	if err != nil {
		return Accepted{}, err
	}
	defer free()
	var pinned runtime.Pinner // the buffers contain pointers to Go memory
	defer pinned.Unpin()
	token := bytes.Clone(t.Token)
	pinned.Pin(&token[0])
	in := []buffer{{size: uint32(len(token)), kind: kindToken, at: &token[0]}}
	flags := uintptr(askReplay | askMemory)
	if t.Bindings != nil {
		bindings := channelBindings(t.Bindings)
		pinned.Pin(&bindings[0])
		in = append(in, buffer{size: uint32(len(bindings)), kind: kindBindings, at: &bindings[0]})
		if t.MayLackBindings {
			flags |= mayLack
		}
	}
	out := []buffer{{kind: kindToken}}
	pinned.Pin(&in[0])
	pinned.Pin(&out[0])
	given, taken := buffers{count: uint32(len(in)), first: &in[0]}, buffers{count: 1, first: &out[0]}
	var session handle
	var attributes uint32
	var expires windows.Filetime
	code, _, _ := acceptSecurityContext.Call(uintptr(unsafe.Pointer(&credentials)), 0,
		uintptr(unsafe.Pointer(&given)), flags, nativeFormat,
		uintptr(unsafe.Pointer(&session)), uintptr(unsafe.Pointer(&taken)),
		uintptr(unsafe.Pointer(&attributes)), uintptr(unsafe.Pointer(&expires)))
	reply := takeBuffer(out[0])
	if session != (handle{}) {
		defer func() { _, _, _ = deleteSecurityContext.Call(uintptr(unsafe.Pointer(&session))) }()
	}
	switch {
	case uint32(code) == continueCode:
		return Accepted{}, &TicketError{uint32(code), "the client wants to go on with a negotiation"}
	case code != 0:
		return Accepted{}, &TicketError{uint32(code), windows.Errno(uint32(code)).Error()}
	}
	if attributes&gaveMutual == 0 {
		reply = nil
	}
	return accountOf(&session, reply)
}

// kerberosCredentials returns the credentials of this process for accepting tickets.
// Credentials of the package Negotiate would also accept NTLM.
func kerberosCredentials() (credentials handle, free func(), err error) {
	name, err := windows.UTF16PtrFromString("Kerberos")
	if err != nil {
		return handle{}, nil, err
	}
	var expires windows.Filetime
	code, _, _ := acquireCredentials.Call(0, uintptr(unsafe.Pointer(name)), inbound, 0, 0, 0, 0,
		uintptr(unsafe.Pointer(&credentials)), uintptr(unsafe.Pointer(&expires)))
	if err := ntStatus("AcquireCredentialsHandle", code); err != nil {
		if uint32(code) == noCredentials {
			err = fmt.Errorf("this computer has no key for tickets, as it is in no domain: %w", err)
		}
		return handle{}, nil, err
	}
	return credentials, func() { _, _, _ = freeCredentials.Call(uintptr(unsafe.Pointer(&credentials))) }, nil
}

// channelBindings returns a SEC_CHANNEL_BINDINGS with application data and without addresses.
func channelBindings(data []byte) []byte {
	text := make([]byte, bindingHeader, bindingHeader+len(data))
	binary.LittleEndian.PutUint32(text[24:], uint32(len(data))) // cbApplicationDataLength
	binary.LittleEndian.PutUint32(text[28:], bindingHeader)     // dwApplicationDataOffset
	return append(text, data...)
}

// takeBuffer copies a buffer that SSPI has allocated, and frees it.
func takeBuffer(b buffer) []byte {
	if b.at == nil {
		return nil
	}
	defer func() { _, _, _ = freeContextBuffer.Call(uintptr(unsafe.Pointer(b.at))) }()
	if b.size == 0 {
		return nil
	}
	return bytes.Clone(unsafe.Slice(b.at, b.size))
}

// accountOf returns the account of a context, with the groups in its token.
func accountOf(session *handle, reply []byte) (Accepted, error) {
	var token windows.Token
	code, _, _ := queryContextToken.Call(uintptr(unsafe.Pointer(session)), uintptr(unsafe.Pointer(&token)))
	if err := ntStatus("QuerySecurityContextToken", code); err != nil {
		return Accepted{}, err
	}
	defer func() { _ = token.Close() }()
	user, err := token.GetTokenUser()
	if err != nil {
		return Accepted{}, err
	}
	groups, err := token.GetTokenGroups()
	if err != nil {
		return Accepted{}, err
	}
	logon, err := logonOf(user.User.Sid, groups)
	if err != nil {
		return Accepted{}, err
	}
	_, domain, _, err := user.User.Sid.LookupAccount("")
	if err != nil {
		return Accepted{}, fmt.Errorf("the domain of %s: %w", user.User.Sid, err)
	}
	realm, err := realmOf(session)
	if err != nil {
		return Accepted{}, err
	}
	return Accepted{Logon: logon, Domains: []string{domain, realm}, Reply: reply}, nil
}

// realmOf returns the realm of a context's client.
func realmOf(session *handle) (string, error) {
	var names struct{ client, server *uint16 } // SecPkgContext_NativeNamesW
	code, _, _ := queryContext.Call(uintptr(unsafe.Pointer(session)), nativeNames,
		uintptr(unsafe.Pointer(&names)))
	if err := ntStatus("QueryContextAttributes", code); err != nil {
		return "", err
	}
	defer func() {
		for _, name := range []*uint16{names.client, names.server} {
			if name != nil {
				_, _, _ = freeContextBuffer.Call(uintptr(unsafe.Pointer(name)))
			}
		}
	}()
	if names.client == nil {
		return "", errors.New("QueryContextAttributes: the client has no name")
	}
	name := windows.UTF16PtrToString(names.client)
	return name[strings.LastIndexByte(name, '@')+1:], nil
}
