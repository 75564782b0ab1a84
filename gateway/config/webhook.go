package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
)

// webhookName matches the names of webhooks, which are metric labels and keys of the store.
var webhookName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

func checkWebhookName(name string) error {
	if !webhookName.MatchString(name) {
		return errors.New("takes a name of letters, digits, dots, hyphens and underscores")
	}
	return nil
}

// checkWebhookURL returns an error if messages must not be sent to a URL, because it is neither
// over TLS nor on this machine.
func checkWebhookURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "":
		return errors.New("takes a URL such as https://hooks.corp.example/adgateway")
	case u.User != nil:
		return errors.New("takes a URL without name and password: the signature identifies the gateway to the " +
			"receiver")
	case u.Fragment != "":
		return errors.New("takes a URL without #")
	case u.Scheme == "https", u.Scheme == "http" && ofThisMachine(u.Hostname()):
		return nil
	}
	return errors.New("takes a URL that begins with https://, because others could read and alter the " +
		"messages. http:// is only allowed for this computer, such as http://127.0.0.1:9000/")
}

// ofThisMachine reports whether a host is a loopback address or localhost.
func ofThisMachine(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// uselessWebhooks describes webhooks that contradict other settings.
func (s *Settings) uselessWebhooks() []string {
	var faults []string
	seen := map[string]bool{}
	for _, w := range s.Events.Webhooks {
		if seen[w.Name] {
			faults = append(faults, fmt.Sprintf("two webhooks have the name %s: give each its own", w.Name))
		}
		seen[w.Name] = true
	}
	if len(seen) > 0 && s.Store.File == AuditOff {
		faults = append(faults, "webhooks need a store, and store.file is off: set "+
			"store.file")
	}
	return faults
}
