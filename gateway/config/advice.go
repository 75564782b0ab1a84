package config

import (
	"fmt"
	"strings"
)

// adwsConnections is the number of connections that the directory's web service allows one account
// on a domain controller (MaxConnectionsPerUser; facts D19).
const adwsConnections = 5

// Advice returns sentences about settings that are allowed but work badly. from maps each setting's
// key to its origin.
func (s *Settings) Advice(from map[string]Origin) []string {
	var out []string
	if n := s.Pool.DirectorySessions; n > adwsConnections {
		out = append(out, fmt.Sprintf(
			"pool.directorySessions is %d, but a domain controller allows an account %d connections unless "+
				"its MaxConnectionsPerUser was raised, and each session uses one: more sessions are refused, and "+
				"their requests get 503. Set at most %d, or less if a second gateway or the doctor uses the same "+
				"account", n,
			adwsConnections, adwsConnections))
	}
	if each, all := s.HTTP.MaxConnectionsPerAddress, s.HTTP.MaxConnections; each > all {
		out = append(out, fmt.Sprintf(
			"http.maxConnectionsPerAddress is %d and http.maxConnections %d: one address can use all connections",
			each, all))
	}
	if file, all := s.Audit.MaxSize, s.Audit.MaxTotal; all > 0 && file > all && s.Audit.File != AuditOff {
		out = append(out, fmt.Sprintf(
			"audit.maxSize is %d MiB and audit.maxTotal %d MiB: the space is used up before the first file "+
				"is rotated, and only rotated files are removed", file, all))
	}
	if s.TLS.PFXPasswordFile != "" && s.TLS.PFXFile == "" {
		out = append(out, "tls.pfxPasswordFile has no effect without tls.pfxFile")
	}
	out = append(out, s.Former.Advice()...)
	out = append(out, s.ACME.advice()...)
	for _, off := range []struct {
		file, key, section string
	}{
		{s.Audit.File, "audit.file", "audit."}, {s.Store.File, "store.file", "idempotency."}, {s.Store.File, "store.file", "plans."}, {s.Store.File, "store.file", "changes."},
	} {
		if off.file != AuditOff {
			continue
		}
		for _, row := range Rows() {
			if strings.HasPrefix(row.Key, off.section) && row.Key != off.key && from[row.Key] != FromDefault {
				out = append(out, fmt.Sprintf("%s has no effect, because %s is off", row.Key, off.key))
			}
		}
	}
	return out
}

// advice warns about accounts whose credential is identified by name, because another credential may later
// get the name of a removed one.
func (a ACME) advice() (out []string) {
	for _, one := range a.Inherited() {
		const text = "acme.accounts: the credential '%s' of %s is a name, and a later token or user of that " +
			"name inherits the account. Write token:ID or user:ID; 'adgateway token show' shows the id"
		out = append(out, fmt.Sprintf(text, one.Credential, one.Name))
	}
	return out
}

// Inherited returns the accounts whose credential is identified by name.
func (a ACME) Inherited() (all []ACMEAccount) {
	for _, one := range a.Accounts {
		if !strings.Contains(one.Credential, ":") {
			all = append(all, one)
		}
	}
	return all
}
