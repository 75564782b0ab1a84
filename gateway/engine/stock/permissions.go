package stock

import (
	"cmp"
	"strings"
)

// Permissions are the subjects that a user of a node may publish to and subscribe to. All others
// are denied. A node sends its answers to the subject that the question names, whether or not the
// user may publish there (facts J40). So a subject proves nothing about the sender of a message:
// gateways believe only messages that are sealed with the key of the cluster.
type Permissions struct{ Publish, Subscribe []string }

// LogStream is the name of the stream with the log of a cluster.
func LogStream(cluster string) string { return "ADGW_" + cluster + "_log" }

// LogSubject is where the gateway that leads a cluster publishes its log.
func LogSubject(cluster string) string { return "adgw." + cluster + ".log" }

// BeatSubject is the subject of a gateway's heartbeats; "*" stands for all gateways.
func BeatSubject(cluster, gateway string) string { return "adgw." + cluster + ".beat." + gateway }

// InboxPrefix is where a gateway gets answers, so that no other one can read them: its
// connections are made with it ([nats.CustomInboxPrefix]).
//
// [nats.CustomInboxPrefix]: https://pkg.go.dev/github.com/nats-io/nats.go#CustomInboxPrefix
func InboxPrefix(cluster, gateway string) string { return "adgw." + cluster + ".inbox." + gateway }

// LogPermissions are the permissions of a gateway of a cluster: it appends to the log, says that it
// lives, and reads. It makes, changes, empties and removes no stream, and removes no message.
func LogPermissions(cluster, gateway string) Permissions {
	return Permissions{
		Publish:   append([]string{LogSubject(cluster), BeatSubject(cluster, gateway)}, reads(LogStream(cluster))...),
		Subscribe: []string{InboxPrefix(cluster, gateway) + ".>", BeatSubject(cluster, "*")},
	}
}

// CreateSubject is the subject that creates the stream with the log of a cluster. Gateways may not
// publish to it.
func CreateSubject(cluster string) string { return "$JS.API.STREAM.CREATE." + LogStream(cluster) }

// reads are the requests with which a stream is read.
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
	Gateway string // its name in the cluster
	User    string // DNS name in its certificate, or public NKey; empty: Gateway
}

// user is who may connect to a node.
type user struct {
	name string
	Permissions
}

// users are the users of the node's settings.
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

// OwnAccount returns the account that the gateways of a cluster need in a NATS of the user's own,
// as nats-server reads it. A member whose NKey is not known gets a text in its place that
// nats-server refuses.
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
