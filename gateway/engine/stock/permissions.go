package stock

import (
	"cmp"
	"strings"
)

// Permissions are the subjects that a user of a node may publish to and subscribe to. All others are denied.
// A node sends its answer to the subject named in the request, whether or not the requesting user may publish
// there (facts J40). So a subject proves nothing about the sender of a message, and gateways only trust
// messages that are sealed with the cluster's key.
type Permissions struct{ Publish, Subscribe []string }

// LogStream returns the name of the stream with a cluster's log.
func LogStream(cluster string) string { return "ADGW_" + cluster + "_log" }

// LogSubject returns the subject to which a cluster's leading gateway publishes its log.
func LogSubject(cluster string) string { return "adgw." + cluster + ".log" }

// BeatSubject returns the subject of a gateway's heartbeats. "*" stands for all gateways.
func BeatSubject(cluster, gateway string) string { return "adgw." + cluster + ".beat." + gateway }

// InboxPrefix returns the prefix of the subjects on which a gateway receives answers, so no other
// gateway can read them. Its connections must use it ([nats.CustomInboxPrefix]).
//
// [nats.CustomInboxPrefix]: https://pkg.go.dev/github.com/nats-io/nats.go#CustomInboxPrefix
func InboxPrefix(cluster, gateway string) string { return "adgw." + cluster + ".inbox." + gateway }

// LogPermissions returns the permissions of a gateway in a cluster. The gateway may append to the log, send
// heartbeats, and read. It may not create, change, purge or remove streams, and may not remove messages.
func LogPermissions(cluster, gateway string) Permissions {
	return Permissions{
		Publish: append([]string{LogSubject(cluster), BeatSubject(cluster, gateway)},
			reads(LogStream(cluster))...),
		Subscribe: []string{InboxPrefix(cluster, gateway) + ".>", BeatSubject(cluster, "*")},
	}
}

// CreateSubject returns the subject for creating the stream with a cluster's log. Gateways may not
// publish to it.
func CreateSubject(cluster string) string { return "$JS.API.STREAM.CREATE." + LogStream(cluster) }

// reads returns the requests for reading a stream.
func reads(stream string) []string {
	return []string{
		"$JS.API.STREAM.INFO." + stream, "$JS.API.STREAM.MSG.GET." + stream,
		"$JS.API.CONSUMER.CREATE." + stream, "$JS.API.CONSUMER.CREATE." + stream + ".>",
		"$JS.API.CONSUMER.INFO." + stream + ".*", "$JS.API.CONSUMER.MSG.NEXT." + stream + ".*",
		"$JS.API.CONSUMER.DELETE." + stream + ".*",
	}
}

// Member is a gateway of a cluster with a log.
type Member struct {
	Gateway string // name in the cluster
	User    string // DNS name in its certificate, or public NKey; empty means Gateway
}

// user is a user that may connect to a node.
type user struct {
	name string
	Permissions
}

// users returns the users in the node's settings.
func (o Options) users() (all []user) {
	for _, m := range o.Members {
		all = append(all, user{cmp.Or(m.User, m.Gateway), LogPermissions(o.Cluster, m.Gateway)})
	}
	return all
}

func (u user) write(w *writer) {
	w.line("{")
	w.depth++
	if PublicNKey(u.name) {
		w.line("nkey: %s", u.name)
	} else {
		w.line("user: %s", quoted(u.name))
	}
	u.Permissions.write(w)
	w.depth--
	w.line("}")
}

func (p Permissions) write(w *writer) {
	w.block("permissions", func() {
		w.list("publish", p.Publish)
		w.list("subscribe", p.Subscribe)
	})
}

// OwnAccount returns the account that the gateways of a cluster need on external NATS servers, in
// nats-server's syntax. A member whose NKey is unknown gets a placeholder that nats-server refuses.
func OwnAccount(cluster string, members []Member) string {
	w := &writer{}
	w.block("accounts", func() {
		w.block(Account, func() {
			w.line("jetstream: enabled")
			w.line("users: [")
			w.depth++
			for _, m := range members {
				w.line("{")
				w.depth++
				w.line("nkey: %s", cmp.Or(m.User, "PUBLIC-NKEY-OF-"+strings.ToUpper(m.Gateway)))
				LogPermissions(cluster, m.Gateway).write(w)
				w.depth--
				w.line("}")
			}
			w.depth--
			w.line("]")
		})
	})
	return w.text.String()
}
