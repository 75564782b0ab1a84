package stock

import (
	"fmt"
	"slices"
	"strings"
)

// writer builds a configuration file, indented by block.
type writer struct {
	text  strings.Builder
	depth int
}

func (w *writer) line(format string, values ...any) {
	w.text.WriteString(strings.Repeat("  ", w.depth))
	fmt.Fprintf(&w.text, format, values...)
	w.text.WriteByte('\n')
}

func (w *writer) block(name string, body func()) {
	w.line("%s {", name)
	w.depth++
	body()
	w.depth--
	w.line("}")
}

func (w *writer) list(name string, texts []string) {
	w.line("%s: [", name)
	for _, text := range texts {
		w.line("  %s", quoted(text))
	}
	w.line("]")
}

// quoted writes a text as a string in the configuration's syntax.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// Configuration returns the configuration file with which nats-server 2.14.5 or later is the node
// that o describes. o should satisfy [Options.Check].
func Configuration(o Options) string {
	w := &writer{}
	w.line("# A node for adgateway: the gateways rely on these settings and check them.")
	w.line("server_name: %s", quoted(o.Node))
	w.line("listen: %s", quoted(o.Listen))
	if o.Monitor != "" {
		w.line("http: %s", quoted(o.Monitor))
	}
	w.line("max_payload: %d", MaxPayload)
	w.line("max_control_line: 4096")
	w.line(`ping_interval: "20s"`)
	w.line("")
	w.block("jetstream", func() {
		w.line("store_dir: %s", quoted(o.Store))
		w.line("max_file_store: %d", o.MaxStore)
		w.line("max_memory_store: %d", 64<<20)
		w.line("# What was acknowledged is on the disk.")
		w.line("sync_interval: always")
	})
	if o.Certificate != "" {
		w.line("")
		w.block("tls", func() {
			o.writeTLS(w)
			if o.namesCertificates() {
				w.line("verify_and_map: true")
			} else {
				w.line("verify: true")
			}
		})
	}
	if len(o.Peers) > 0 {
		w.line("")
		o.writeCluster(w)
	}
	w.line("")
	o.writeAccounts(w)
	return w.text.String()
}

func (o Options) writeTLS(w *writer) {
	if Thumbprint(o.Certificate) {
		w.line("cert_store: WindowsLocalMachine")
		w.line("cert_match_by: Thumbprint")
		w.line("cert_match: %s", quoted(strings.ToUpper(o.Certificate)))
	} else {
		w.line("cert_file: %s", quoted(o.Certificate))
		w.line("key_file: %s", quoted(o.Key))
	}
	w.line("ca_file: %s", quoted(o.CA))
	if len(o.Members) > 0 {
		w.line(`min_version: "1.3"`)
	} else {
		w.line(`min_version: "1.2"`)
	}
	w.line("timeout: 5")
}

func (o Options) writeCluster(w *writer) {
	w.block("cluster", func() {
		w.line("name: %s", quoted(o.Cluster))
		w.line("listen: %s", quoted(o.ClusterListen))
		if o.Advertise != "" {
			w.line("advertise: %s", quoted(o.Advertise))
		}
		w.line("# Gateways are told all nodes by their settings.")
		w.line("no_advertise: true")
		w.line("routes: [")
		for _, peer := range o.Peers {
			w.line("  %s", quoted("nats://"+peer))
		}
		w.line("]")
		if o.Certificate != "" {
			w.block("tls", func() {
				o.writeTLS(w)
				w.line("# Only the nodes above may join: a certificate must have one of their names.")
				w.line("verify_cert_and_check_known_urls: true")
			})
		}
	})
}

func (o Options) writeAccounts(w *writer) {
	w.line("# Nobody signs in to it.")
	w.line("system_account: %s", SystemAccount)
	users := o.users()
	if len(users) == 0 {
		w.line("no_auth_user: %s", clientUser)
	}
	w.block("accounts", func() {
		w.line("%s {}", SystemAccount)
		w.block(Account, func() {
			w.line("jetstream: enabled")
			w.line("users: [")
			if len(users) == 0 {
				w.line("  {user: %s}", clientUser)
			}
			w.depth++
			for _, u := range users {
				u.write(w)
			}
			w.depth--
			w.line("]")
		})
	})
}

// namesCertificates reports whether any gateway is identified by a name in its certificate.
func (o Options) namesCertificates() bool {
	return slices.ContainsFunc(o.users(), func(u user) bool { return !PublicNKey(u.name) })
}
