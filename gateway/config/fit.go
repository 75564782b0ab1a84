package config

import (
	"cmp"
	"fmt"
	"net"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"adgateway/gateway/attributes"
)

// misfits returns the contradictions between settings that are valid in themselves. Each error begins with
// the key of a setting that differs from its default. sandbox is true for the sandbox, which has well-known
// people and passwords.
func (s *Settings) misfits(from map[string]Origin, sandbox bool) []error {
	var faults []error
	fault := func(keys []string, format string, args ...any) {
		key := keys[0]
		if at := slices.IndexFunc(keys,
			func(key string) bool { return from[key] != FromDefault && from[key] != "" }); at >= 0 {
			key = keys[at]
		}
		faults = append(faults, fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...)))
	}
	if s.HTTP.SettlePause >= s.HTTP.SettleTimeout {
		fault([]string{"http.settlePause", "http.settleTimeout"},
			"http.settlePause (%s) is not shorter than http.settleTimeout (%s): no time would remain for the "+
				"second check after the pause",
			s.HTTP.SettlePause, s.HTTP.SettleTimeout)
	}
	if s.HTTP.HeaderTimeout > s.HTTP.BodyTimeout {
		fault([]string{"http.headerTimeout", "http.bodyTimeout"},
			"http.headerTimeout (%s) is longer than http.bodyTimeout (%s), which limits the whole request, "+
				"including its header",
			s.HTTP.HeaderTimeout, s.HTTP.BodyTimeout)
	}
	if s.TLS.ClientCertificates == "required" && s.TLS.ClientCAFile == "" {
		fault([]string{"tls.clientCertificates"},
			"client certificates are required, but without tls.clientCAFile the server requests none: set "+
				"tls.clientCAFile to the certificates of their authorities")
	}
	unencrypted := s.TLS.CertificateFile+s.TLS.PFXFile+s.TLS.StoreThumbprint+s.TLS.StoreSubject == ""
	if s.SignIn.Tokens == SwitchOn && unencrypted && !loopback(s.HTTP.Listen) {
		fault([]string{"signIn.tokens"},
			"people sign in over HTTPS only: give the server a certificate (tls.certificateFile, tls.pfxFile or "+
				"tls.storeThumbprint)")
	}
	if s.SignIn.Mode != SwitchOff && unencrypted && !(sandbox && loopback(s.HTTP.Listen)) {
		fault([]string{"signIn.mode"},
			"passwords and tickets are sent over HTTPS only: give the server a certificate ('adgateway tls "+
				"selfsigned' or 'adgateway tls request')")
	}
	if s.SignIn.Keytab != "" && !s.SignIn.Tickets() {
		const idle = "it is not used: set signIn.mode to kerberos or form+kerberos"
		fault([]string{"signIn.keytab"}, idle)
	}
	if s.SignIn.Mode != SwitchOff && len(s.SignIn.Roles) == 0 && !sandbox {
		fault([]string{"signIn.mode"},
			"people could sign in but do nothing: set signIn.roles, a list of groups with scopes")
	}
	if s.Memory.Limit > 0 && s.HTTP.MaxBodyMemory >= s.Memory.Limit {
		fault([]string{"http.maxBodyMemory", "memory.limit"},
			"http.maxBodyMemory (%d MiB) is not less than memory.limit (%d MiB), which is for all memory of the "+
				"gateway",
			s.HTTP.MaxBodyMemory, s.Memory.Limit)
	}
	for _, err := range attributes.CheckSite(s.Account.Attributes) {
		fault([]string{"directory.userAttributes"}, "%s", err)
	}
	s.clusterMisfits(fault)
	for _, text := range s.uselessAccounts() {
		fault([]string{"acme.accounts"}, "%s", text)
	}
	for _, text := range s.uselessWebhooks() {
		fault([]string{"events.webhooks"}, "%s", text)
	}
	for _, pair := range s.sharedFiles() {
		fault(pair[:2], "%s and %s are the same file, %s: each needs a file of its own", pair[0], pair[1], pair[2])
	}
	return faults
}

// loopback reports whether a listen address can only be reached from this machine.
func loopback(listen string) bool {
	host, _, _ := net.SplitHostPort(listen) // the setting was checked before
	return ofThisMachine(host)
}

// challengeLabel is the prefix of the names of records that answer challenges outside acme.zones.
const challengeLabel = "_acme-challenge."

// uselessAccounts describes the acme-dns accounts whose calls would all be refused.
func (s *Settings) uselessAccounts() []string {
	var faults []string
	seen := map[string]bool{}
	for _, a := range s.ACME.Accounts {
		id := a.Subdomain + "\n" + strings.ToLower(a.Credential)
		if seen[id] {
			faults = append(faults, fmt.Sprintf(
				"the credential '%[2]s' has the subdomain %[1]s twice: give each name its own subdomain", a.Subdomain,
				a.Credential))
		}
		seen[id] = true
		name := strings.ToLower(a.Name)
		inZone := slices.ContainsFunc(s.ACME.Zones, func(zone string) bool {
			zone = strings.ToLower(strings.TrimSuffix(zone, "."))
			return name == zone || strings.HasSuffix(name, "."+zone)
		})
		if !strings.HasPrefix(name, challengeLabel) && !inZone {
			faults = append(faults, fmt.Sprintf(
				"the name %s neither begins with _acme-challenge nor is in a zone of acme.zones", a.Name))
		}
	}
	return faults
}

// File is a file or folder that a gateway opens or creates.
type File struct {
	Path, Use string // Use is the setting that names the file, or another file to which it belongs
	Written   bool   // the gateway writes it; otherwise it only reads it
	Secret    bool   // whether anyone who can read the file can do everything that the gateway can
	Required  bool   // the file must exist
	Folder    bool   // a folder that only the gateway uses
	Told      bool   // whether a warning is enough if others may write the file, because nothing depends on it
}

// Uses returns all files that a gateway with these settings uses, except the programs themselves (its own,
// and PowerShell). It omits files in the same folder whose names begin with the name of one of these files.
// file is the path of the settings file.
func (s *Settings) Uses(file string) []File {
	all := []File{
		{Path: file, Use: "settings", Secret: true},
		{Path: s.Auth.Store, Use: "auth.store", Written: true, Secret: true},
		{Path: s.Log.File, Use: "log.file", Written: true, Told: true},
		{Path: s.Audit.KeyFile, Use: "audit.keyFile", Secret: true, Required: true},
		{Path: s.Audit.File, Use: "audit.file", Written: true},
		{Path: s.TLS.CertificateFile, Use: "tls.certificateFile", Required: true},
		{Path: s.TLS.KeyFile, Use: "tls.keyFile", Secret: true, Required: true},
		{Path: s.TLS.PFXFile, Use: "tls.pfxFile", Secret: true, Required: true},
		{Path: s.TLS.PFXPasswordFile, Use: "tls.pfxPasswordFile", Secret: true, Required: true},
		{Path: s.SignIn.Keytab, Use: "signIn.keytab", Secret: true, Required: true},
		{Path: s.TLS.ClientCAFile, Use: "tls.clientCAFile", Required: true},
		{Path: s.Cluster.CA, Use: "cluster.ca", Required: true},
		{Path: s.Cluster.NKeyFile, Use: "cluster.nkeyFile", Secret: true, Required: true},
		{Path: s.Cluster.CredsFile, Use: "cluster.credsFile", Secret: true, Required: true},
		{Path: s.Store.ClusterFolder(), Use: "the folder of the cluster", Written: true, Secret: true, Folder: true},
		{Path: s.Engine.Store, Use: "engine.store", Written: true, Folder: true},
	}
	for _, list := range s.TLS.ClientCRLFiles {
		all = append(all, File{Path: list, Use: "tls.clientCRLFiles", Required: true})
	}
	if s.Audit.File != AuditOff {
		all = append(all, File{Path: s.Audit.Anchor(), Use: "audit.anchorFile", Written: true})
	}
	all = append(all, File{Path: s.Store.File, Use: "store.file", Written: true, Secret: true})
	if path := s.Store.File; path != "" && path != AuditOff {
		key := File{Path: s.Store.KeyFile(), Use: "store.file (its key)", Written: true, Secret: true}
		all = append(all, key)
	}
	for _, w := range s.Events.Webhooks {
		of := " of " + w.Name + ")"
		all = append(all, File{Path: w.SecretFile, Use: "events.webhooks (secretFile" + of, Secret: true,
			Required: true},
			File{Path: w.CAFile, Use: "events.webhooks (caFile" + of, Required: true})
	}
	all = append(all, File{Path: s.Sandbox.TicketFile, Use: "sandbox.ticketFile", Secret: true})
	for use, paths := range map[string][]string{"sandbox.ldif": s.Sandbox.LDIF,
		"sandbox.zones": s.Sandbox.Zones} {
		for _, path := range paths {
			all = append(all, File{Path: path, Use: use, Told: true})
		}
	}
	return slices.DeleteFunc(all, func(f File) bool { return f.Path == "" || f.Path == AuditOff })
}

// NamedFile is a file that a setting names.
type NamedFile struct{ Setting, Path string }

// Files returns the files that the settings name, ordered by setting.
func (s *Settings) Files() []NamedFile {
	var all []NamedFile
	for _, f := range s.named() {
		all = append(all, NamedFile{f.Use, f.Path})
	}
	return all
}

// named returns the files that the settings name, ordered by setting.
func (s *Settings) named() []File {
	all := slices.DeleteFunc(s.Uses(""), func(f File) bool { return f.Folder })
	slices.SortStableFunc(all, func(a, b File) int { return cmp.Compare(a.Use, b.Use) })
	return all
}

// sharedFiles returns two keys and the path for each file that the gateway writes and that a second
// setting also names.
func (s *Settings) sharedFiles() [][3]string {
	var shared [][3]string
	by := map[string]File{}
	for _, file := range s.named() {
		path, err := filepath.Abs(file.Path)
		if err != nil {
			path = filepath.Clean(file.Path)
		}
		if runtime.GOOS == "windows" {
			path = strings.ToLower(path)
		}
		if other, taken := by[path]; taken && (other.Written || file.Written) {
			shared = append(shared, [3]string{other.Use, file.Use, file.Path})
		}
		by[path] = file
	}
	return shared
}

// ResolvePaths joins the folder with each relative path that the file gave. Paths from other sources remain
// relative to the working directory. from maps each setting's key to its origin.
func (s *Settings) ResolvePaths(from map[string]Origin, folder string) {
	for _, row := range Rows() {
		if from[row.Key] == FromFile {
			resolve(row.in(s), row.path, folder)
		}
	}
	if from["cluster.keyFile"] == FromFile {
		resolve(reflect.ValueOf(&s.Former.KeyFile).Elem(), true, folder)
	}
}

// resolve joins the folder with a path, with each path of a list, or with the paths in each record of a list.
func resolve(v reflect.Value, isPath bool, folder string) {
	switch {
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			resolve(v.Index(i), isPath, folder)
		}
	case v.Kind() == reflect.Struct:
		for _, part := range partsOf(v) {
			resolve(part.value, part.tag.Get("is") == "path", folder)
		}
	case isPath && v.String() != "" && v.String() != AuditOff && !filepath.IsAbs(v.String()):
		v.SetString(filepath.Join(folder, v.String()))
	}
}
