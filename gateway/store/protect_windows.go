package store

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/windows"
)

// systemProtection is DPAPI with the key of the computer, because both an administrator's commands and the
// service account read the file. The access control list of the file decides which accounts may read it on
// this computer.
var systemProtection = protection{protect: protectForComputer, unprotect: unprotectOnComputer}

// purpose is bound to the protected secret, so other DPAPI-protected data is never mistaken for it.
var purpose = []byte("adgateway store key")

const flags = windows.CRYPTPROTECT_UI_FORBIDDEN | windows.CRYPTPROTECT_LOCAL_MACHINE

func protectForComputer(secret []byte) ([]byte, error) {
	var out windows.DataBlob
	err := windows.CryptProtectData(blobOf(secret), nil, blobOf(purpose), 0, nil, flags, &out)
	return taken(&out, err)
}

func unprotectOnComputer(sealed []byte) ([]byte, error) {
	if len(sealed) == 0 {
		return nil, errors.New("the file ends too early")
	}
	var out windows.DataBlob
	err := windows.CryptUnprotectData(blobOf(sealed), nil, blobOf(purpose), 0, nil,
		windows.CRYPTPROTECT_UI_FORBIDDEN, &out)
	return taken(&out, err)
}

func blobOf(data []byte) *windows.DataBlob {
	return &windows.DataBlob{Size: uint32(len(data)), Data: unsafe.SliceData(data)}
}

// taken copies the memory that a call has allocated, and frees it.
func taken(out *windows.DataBlob, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	all := unsafe.Slice(out.Data, out.Size)
	copied := append([]byte(nil), all...)
	clear(all)
	_, err = windows.LocalFree(windows.Handle(uintptr(unsafe.Pointer(out.Data))))
	return copied, err
}
