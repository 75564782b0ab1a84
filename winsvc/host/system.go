package host

import (
	"os/user"
	"runtime"
)

// System describes the operating system.
type System struct {
	Windows bool
	Name    string // "Windows Server 2022 Standard", "linux"
	Build   int    // Windows only
	Server  bool   // a server edition
	Home    bool   // an edition that cannot join a domain
	Domain  string // NetBIOS name of the joined domain; empty if none
}

// Account is the account of this process.
type Account struct {
	Name     string // DOMAIN\name on Windows
	ID       string // SID on Windows
	Elevated bool   // has administrator rights
}

// Service is a service as registered with the service manager.
type Service struct {
	Installed bool
	Running   bool
	Account   string // as registered: DOMAIN\name, name@domain, .\name
	AccountID string // its SID; empty if it cannot be looked up
	Start     string // "automatic, delayed", "automatic", "manual", "disabled"
	Program   string // its executable
	Restarts  int    // number of failures after which it is restarted
	OnErrors  bool   // also restarted after errors that the service reports itself
}

// ReadAccount returns the account of this process.
func ReadAccount() (Account, error) {
	current, err := user.Current()
	if err != nil {
		return Account{}, err
	}
	return Account{Name: current.Username, ID: current.Uid, Elevated: elevated()}, nil
}

// otherSystem describes a system other than Windows.
func otherSystem() System { return System{Name: runtime.GOOS} }
