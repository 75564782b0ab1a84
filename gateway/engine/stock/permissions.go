package stock

import (
	"cmp"
	"strings"
)

// Permissions are the subjects that a user of a node may publish to and subscribe to. All
// others are denied.
//
// A node sends its answers to the subject that the question names, whether or not the user
// may publish there (facts J40). So what arrives on a subject proves nothing about who has caused it:
// gateways believe only what is sealed with the key of the cluster.
type Permissions struct{ Publish, Subscribe []string }

// LogStream is the name of the stream with the log of a cluster.
func LogStream(cluster string) string { return "ADGW_" + cluster + "_log" }

// AuditStream is the name of the stream with the copies of the audit lines of a cluster.
func AuditStream(cluster string) string { return "ADGW_" + cluster + "_audit" }

// LogSubject is where the gateway that leads a cluster publishes its log.
func LogSubject(cluster string) string { return "adgw." + cluster + ".log" }

// BeatSubject is where a gateway says that it lives; "*" are all gateways.
func BeatSubject(cluster, gateway string) string { return "adgw." + cluster + ".beat." + gateway }

// AuditSubject is where a gateway publishes copies of its audit lines; "*" are all gateways.
func AuditSubject(cluster, gateway string) string { return "adgw." + cluster + ".audit." + gateway }

// InboxPrefix is where a gateway gets answers, so that no other one can read them: its
// connections are made with it ([nats.CustomInboxPrefix]).
//
// [nats.CustomInboxPrefix]: https://pkg.go.dev/github.com/nats-io/nats.go#CustomInboxPrefix
func InboxPrefix(cluster, gateway string) string { return "adgw." + cluster + ".inbox." + gateway }

// LogPermissions are those of a gateway of a cluster with a log: it appends to the log, says
// that it lives, copies its audit lines, and reads. It makes, changes, empties and removes
// no stream, and removes no message.
func LogPermissions(cluster, gateway string) Permissions {
	p := Permissions{
		Publish:   []string{LogSubject(cluster), BeatSubject(cluster, gateway), AuditSubject(cluster, gateway), NodesSubject},
		Subscribe: []string{InboxPrefix(cluster, gateway) + ".>", BeatSubject(cluster, "*")},
	}
	for _, stream := range []string{LogStream(cluster), AuditStream(cluster)} {
		p.Publish = append(p.Publish, reads(stream)...)
	}
	return p
}

// reads are the requests with which a stream is read.
func reads(stream string) []string {
	return []string{
		"$JS.API.STREAM.INFO." + stream, "$JS.API.STREAM.MSG.GET." + stream,
		"$JS.API.CONSUMER.CREATE." + stream, "$JS.API.CONSUMER.CREATE." + stream + ".>",
		"$JS.API.CONSUMER.INFO." + stream + ".*", "$JS.API.CONSUMER.MSG.NEXT." + stream + ".*", "$JS.API.CONSUMER.DELETE." + stream + ".*",
	}
}

// storePermissions are those of a gateway of a cluster that keeps values in a stream: it sets
// them, reads, makes the stream (cluster init) and gives it another identity (cluster
// recover). It does not remove the stream or what is in it.
func storePermissions(cluster string) Permissions {
	name, stream := "*", "*" // a node that is alone may not know the cluster
	if cluster != "" {
		name, stream = cluster, "ADGW_"+cluster
	}
	return Permissions{
		Publish:   append([]string{"adgw." + name + ".>", NodesSubject, "$JS.API.STREAM.CREATE." + stream, "$JS.API.STREAM.UPDATE." + stream}, reads(stream)...),
		Subscribe: []string{"_INBOX.>"},
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

// users are those of the node's settings.
func (o Options) users() (all []user) {
	for _, name := range o.Gateways {
		all = append(all, user{name, storePermissions(o.Cluster)})
	}
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
	w.block("permissions", func() {
		w.line("publish: %s", list(u.Publish))
		w.line("subscribe: %s", list(u.Subscribe))
	})
	w.depth--
	w.line("}")
}

func list(texts []string) string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = quoted(text)
	}
	return "[" + strings.Join(all, ", ") + "]"
}
