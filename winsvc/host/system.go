package host

import (
	"os/user"
	"runtime"
)

// System is what runs this computer.
type System struct {
	Windows bool
	Name    string // "Windows Server 2022 Standard", "linux"
	Build   int    // of Windows
	Server  bool   // a server edition
	Home    bool   // an edition that cannot join a domain
	Domain  string // NetBIOS name of the domain it is a member of; empty: none
}

// Account is who runs this process.
type Account struct {
	Name     string // DOMAIN\name on Windows
	ID       string // its SID there
	Elevated bool   // with the rights of an administrator
}

// Service is a service as the service manager has it.
type Service struct {
	Installed bool
	Running   bool
	Account   string // as it was written: DOMAIN\name, name@domain, .\name
	AccountID string // its SID; empty: it cannot be looked up
	Start     string // "automatic, delayed", "automatic", "manual", "disabled"
	Program   string // its executable
	Restarts  int    // how many failures it is started again after
	OnErrors  bool   // also after one that it reports itself
}

// ReadAccount tells who runs this process.
func ReadAccount() (Account, error) {
	current, err := user.Current()
	if err != nil {
		return Account{}, err
	}
	return Account{Name: current.Username, ID: current.Uid, Elevated: elevated()}, nil
}

// otherSystem is one that is not Windows.
func otherSystem() System { return System{Name: runtime.GOOS} }
