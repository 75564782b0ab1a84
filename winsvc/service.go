package winsvc

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// Service is a service of the product, with the names that messages about the service contain.
type Service struct {
	Name string // name of the service, its event log source, its virtual account and its program

	Check string // command that reports mistakes in the settings

	display, description string
	elsewhere            string // command that does the same on other systems

	// StartWait is the time limit of a start. Within the limit, the service reports progress to the service
	// manager.
	StartWait time.Duration
}

// Gateway is the service of the gateway. If the host has a node of its cluster, the service runs both.
var Gateway = Service{
	Name: "adgateway", display: "Active Directory gateway",
	description: "Manages Active Directory, Windows DNS and computers over HTTP.",
	Check:       "adgateway config check", elsewhere: "serve", StartWait: 30 * time.Second,
}

// Account returns the default account of a service. This account needs no password. On the network it acts as
// the computer's account.
func (s Service) Account() string { return `NT SERVICE\` + s.Name }

// filled returns a text with the names of this service inserted.
func (s Service) filled(text string) string {
	return strings.NewReplacer("{name}", s.Name, "{check}", s.Check, "{elsewhere}", s.elsewhere).Replace(text)
}

// notWindows returns an error that names the alternative on other systems.
func (s Service) notWindows() error {
	return errors.New(s.filled("the service is only available on Windows. Here run '{name} {elsewhere}' " +
		"under this system's own service manager, " +
		"such as a systemd unit with ExecStart=/usr/local/bin/{name} {elsewhere} --config " +
		"/etc/{name}/adgateway.yaml"))
}

// explain adds advice to an error of the service manager. It selects the advice by the error code, not by the
// message, which depends on the language of Windows.
func (s Service) explain(err error) error {
	var code syscall.Errno
	if err == nil || !errors.As(err, &code) {
		return err
	}
	text, known := advice[code]
	if !known {
		return err
	}
	return fmt.Errorf("%s (%w)", s.filled(text), err)
}
