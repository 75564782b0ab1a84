package host

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// volumeOf returns the root of the volume of a folder, such as `C:\`. The folder need not exist.
func volumeOf(folder string) (*uint16, error) {
	path, err := windows.UTF16PtrFromString(nearest(folder))
	if err != nil {
		return nil, err
	}
	var root [windows.MAX_LONG_PATH]uint16
	if err := windows.GetVolumePathName(path, &root[0], uint32(len(root))); err != nil {
		return nil, fmt.Errorf("the volume of %s: %w", folder, err)
	}
	return &root[0], nil
}

// ReadVolume returns information about the volume of a folder, which need not exist yet.
func ReadVolume(folder string) (Volume, error) {
	root, err := volumeOf(folder)
	if err != nil {
		return Volume{}, err
	}
	kind := windows.GetDriveType(root)
	v := Volume{Remote: kind == windows.DRIVE_REMOTE, Removable: kind == windows.DRIVE_REMOVABLE}
	var name [windows.MAX_PATH + 1]uint16
	if err := windows.GetVolumeInformation(root, nil, 0, nil, nil, nil, &name[0],
		uint32(len(name))); err != nil {
		return v, fmt.Errorf("the file system of %s: %w", folder, err)
	}
	v.FileSystem = windows.UTF16ToString(name[:])
	return v, nil
}

// The query for the write cache of a disk (winioctl.h).
const (
	ioctlStorageQueryProperty = 0x2D1400
	writeCacheProperty        = 4 // StorageDeviceWriteCacheProperty
	writeCacheEnabled         = 2 // WriteCacheEnabled of the enumeration WRITE_CACHE_ENABLE
)

type storagePropertyQuery struct {
	property, query uint32
	parameters      [4]byte
}

type storageWriteCache struct {
	version, size                        uint32
	kind, enabled, changeable, through   uint32
	flushes, powerProtected, nonVolatile byte
}

// ReadWriteCache returns the write-cache settings of the disk of a folder. It returns an error if the disk
// does not report them.
func ReadWriteCache(folder string) (WriteCache, error) {
	root, err := volumeOf(folder)
	if err != nil {
		return WriteCache{}, err
	}
	var guid [windows.MAX_PATH]uint16
	if err := windows.GetVolumeNameForVolumeMountPoint(root, &guid[0], uint32(len(guid))); err != nil {
		return WriteCache{}, fmt.Errorf("the volume of %s: %w", folder, err)
	}
	name := windows.UTF16ToString(guid[:])
	// with the backslash it would be the root folder
	device, err := windows.UTF16PtrFromString(name[:len(name)-1])
	if err != nil {
		return WriteCache{}, err
	}
	const nothing = 0 // the query needs no access rights
	handle, err := windows.CreateFile(device, nothing, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, nil,
		windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return WriteCache{}, fmt.Errorf("the disk of %s: %w", folder, err)
	}
	defer func() { _ = windows.CloseHandle(handle) }() // opened only for the query
	query := storagePropertyQuery{property: writeCacheProperty}
	var answer storageWriteCache
	var length uint32
	err = windows.DeviceIoControl(handle, ioctlStorageQueryProperty, (*byte)(unsafe.Pointer(&query)),
		uint32(unsafe.Sizeof(query)),
		(*byte)(unsafe.Pointer(&answer)), uint32(unsafe.Sizeof(answer)), &length, nil)
	if err != nil {
		return WriteCache{}, fmt.Errorf("the write cache of the disk of %s: %w", folder, err)
	}
	return WriteCache{Enabled: answer.enabled == writeCacheEnabled, Flushes: answer.flushes != 0,
		Assured: answer.powerProtected != 0}, nil
}

// ScannerExclusions returns the folders that Microsoft Defender does not scan, according to its settings and
// group policies. The error is [errors.ErrUnsupported] if Defender is not installed, and [fs.ErrPermission]
// if the account may not read the settings.
func ScannerExclusions() ([]string, error) {
	service, err := ReadService("WinDefend")
	if err != nil {
		return nil, err
	}
	if !service.Installed {
		return nil, errors.ErrUnsupported
	}
	var folders []string
	for _, path := range []string{`SOFTWARE\Microsoft\Windows Defender\Exclusions\Paths`, `SOFTWARE\Policies\Microsoft\Windows Defender\Exclusions\Paths`} {
		names, err := valueNames(path)
		if err != nil {
			return nil, fmt.Errorf("the exclusions of Microsoft Defender: %w", err)
		}
		for _, name := range names {
			if expanded, err := registry.ExpandString(name); err == nil {
				name = expanded
			}
			folders = append(folders, name)
		}
	}
	return folders, nil
}

// valueNames returns the names of a key's values, or none if the key does not exist.
func valueNames(path string) ([]string, error) {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, path, registry.QUERY_VALUE)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer key.Close()
	const all = -1
	return key.ReadValueNames(all)
}

// BackupExclusions returns the folders that backup programs leave out.
func BackupExclusions() ([]string, error) {
	const path = `SYSTEM\CurrentControlSet\Control\BackupRestore\FilesNotToBackup`
	names, err := valueNames(path)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, path, registry.QUERY_VALUE)
	if err != nil {
		return nil, err
	}
	defer key.Close()
	var lines []string
	for _, name := range names {
		values, _, err := key.GetStringsValue(name)
		if err != nil {
			continue // of another type, which backup programs ignore as well
		}
		for _, line := range values {
			if expanded, err := registry.ExpandString(line); err == nil {
				line = expanded
			}
			lines = append(lines, line)
		}
	}
	return wholeFolders(lines), nil
}

// Indexed reports whether Windows Search indexes a folder. That is the case if the service of Windows Search
// is not disabled and the folder does not have the attribute that excludes it.
func Indexed(folder string) (bool, error) {
	service, err := ReadService("WSearch")
	if err != nil || !service.Installed || service.Start == "disabled" {
		return false, err
	}
	path, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return false, err
	}
	attributes, err := windows.GetFileAttributes(path)
	if err != nil {
		return false, fmt.Errorf("the attributes of %s: %w", folder, err)
	}
	return attributes&windows.FILE_ATTRIBUTE_NOT_CONTENT_INDEXED == 0, nil
}

var (
	powrprof              = windows.NewLazySystemDLL("powrprof.dll")
	powerGetActiveScheme  = powrprof.NewProc("PowerGetActiveScheme")
	powerReadACValueIndex = powrprof.NewProc("PowerReadACValueIndex")

	sleepSubgroup = windows.GUID{Data1: 0x238c9fa8, Data2: 0x0aad, Data3: 0x41ed,
		Data4: [8]byte{0x83, 0xf4, 0x97, 0xbe, 0x24, 0x2c, 0x8f, 0x20}}
	standbyTimeout = windows.GUID{Data1: 0x29f6c1db, Data2: 0x86da, Data3: 0x48c5,
		Data4: [8]byte{0x9f, 0xdb, 0xf2, 0xb6, 0x7b, 0x1f, 0x44, 0xda}}
	hibernationTimeout = windows.GUID{Data1: 0x9d7815a6, Data2: 0x7ee4, Data3: 0x497e,
		Data4: [8]byte{0x88, 0x88, 0x51, 0x5a, 0x05, 0xf0, 0x23, 0x64}}
)

// ReadSleep reads the power plan in use.
func ReadSleep() (Sleep, error) {
	var scheme *windows.GUID
	if code, _, _ := powerGetActiveScheme.Call(0, uintptr(unsafe.Pointer(&scheme))); code != 0 {
		return Sleep{}, fmt.Errorf("the power plan in use: %w", windows.Errno(code))
	}
	// the memory is not shared
	defer func() { _, _ = windows.LocalFree(windows.Handle(unsafe.Pointer(scheme))) }()
	var s Sleep
	for _, one := range []struct {
		setting *windows.GUID
		value   *time.Duration
	}{{&standbyTimeout, &s.Standby}, {&hibernationTimeout, &s.Hibernation}} {
		var seconds uint32
		code, _, _ := powerReadACValueIndex.Call(0, uintptr(unsafe.Pointer(scheme)),
			uintptr(unsafe.Pointer(&sleepSubgroup)),
			uintptr(unsafe.Pointer(one.setting)), uintptr(unsafe.Pointer(&seconds)))
		if windows.Errno(code) == windows.ERROR_FILE_NOT_FOUND {
			continue // this computer does not support this kind of sleep
		}
		if code != 0 {
			return Sleep{}, fmt.Errorf("the power plan in use: %w", windows.Errno(code))
		}
		*one.value = time.Duration(seconds) * time.Second
	}
	return s, nil
}
