package config

import "slices"

// File is a file or a folder that a gateway opens or makes.
type File struct {
	Path, Use string // Use is the setting that names it, or says whose it is
	Written   bool   // by the gateway; otherwise it only reads it
	Secret    bool   // whoever reads it can do what the gateway can
	Required  bool   // it must be there
	Folder    bool   // all in it is the gateway's alone
	Told      bool   // nothing is decided by it: others may write it, which is worth a warning
}

// Uses returns every file that a gateway with these settings uses, but for what runs: its program, and
// PowerShell. What it keeps beside one of them, under a name that begins with that of the file, is
// not named again. file is that of the settings.
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
		{Path: s.TLS.ClientCAFile, Use: "tls.clientCAFile", Required: true},
		{Path: s.Cluster.CA, Use: "cluster.ca", Required: true},
		{Path: s.Cluster.NKeyFile, Use: "cluster.nkeyFile", Secret: true, Required: true},
		{Path: s.Cluster.CredsFile, Use: "cluster.credsFile", Secret: true, Required: true},
		{Path: s.Store.ClusterFolder(), Use: "the folder of the cluster", Written: true, Secret: true, Folder: true},
	}
	for _, list := range s.TLS.ClientCRLFiles {
		all = append(all, File{Path: list, Use: "tls.clientCRLFiles", Required: true})
	}
	if s.Audit.File != AuditOff {
		all = append(all, File{Path: s.Audit.Anchor(), Use: "audit.anchorFile", Written: true})
	}
	all = append(all, File{Path: s.Store.File, Use: "store.file", Written: true, Secret: true})
	if path := s.Store.File; path != "" && path != AuditOff {
		all = append(all, File{Path: s.Store.KeyFile(), Use: "store.file (its key)", Written: true, Secret: true})
	}
	for _, w := range s.Events.Webhooks {
		all = append(all, File{Path: w.SecretFile, Use: "events.webhooks (secretFile of " + w.Name + ")", Secret: true, Required: true},
			File{Path: w.CAFile, Use: "events.webhooks (caFile of " + w.Name + ")", Required: true})
	}
	all = append(all, File{Path: s.Sandbox.TicketFile, Use: "sandbox.ticketFile", Secret: true})
	for use, paths := range map[string][]string{"sandbox.ldif": s.Sandbox.LDIF, "sandbox.zones": s.Sandbox.Zones} {
		for _, path := range paths {
			all = append(all, File{Path: path, Use: use, Told: true})
		}
	}
	return slices.DeleteFunc(all, func(f File) bool { return f.Path == "" || f.Path == AuditOff })
}
