package host

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc/mgr"
)

// ServiceConfig returns the command line, the account and the start type of a service, and whether its start
// is delayed. Unlike mgr.Service, it omits values that this version of Windows does not support.
func ServiceConfig(s *mgr.Service) (config mgr.Config, err error) {
	buffer := make([]byte, 8<<10) // the maximum size
	needed := uint32(len(buffer))
	found := (*windows.QUERY_SERVICE_CONFIG)(unsafe.Pointer(&buffer[0]))
	if err := windows.QueryServiceConfig(s.Handle, found, needed, &needed); err != nil {
		return config, err
	}
	config.StartType = found.StartType
	config.BinaryPathName = windows.UTF16PtrToString(found.BinaryPathName)
	config.ServiceStartName = windows.UTF16PtrToString(found.ServiceStartName)
	var delayed windows.SERVICE_DELAYED_AUTO_START_INFO
	err = windows.QueryServiceConfig2(s.Handle, windows.SERVICE_CONFIG_DELAYED_AUTO_START_INFO,
		(*byte)(unsafe.Pointer(&delayed)), uint32(unsafe.Sizeof(delayed)), &needed)
	config.DelayedAutoStart = err == nil && delayed.IsDelayedAutoStartUp != 0
	if errors.Is(err, windows.ERROR_INVALID_LEVEL) {
		err = nil
	}
	return config, err
}
