package enginecheck

import (
	"fmt"
	"strconv"
	"strings"
)

// answer is a node's answer to $SYS.REQ.SERVER.PING.JSZ, as far as it is used.
type answer struct {
	Server struct {
		Name    string `json:"name"`
		Version string `json:"ver"`
	} `json:"server"`
	Data data `json:"data"`
}

type data struct {
	Disabled bool  `json:"disabled"`
	Used     int64 `json:"storage"`
	Config   struct {
		MaxStore   int64 `json:"max_storage"`
		SyncAlways bool  `json:"sync_always"`
	} `json:"config"`
	Meta *struct {
		Leader string `json:"leader"`
		Size   int    `json:"cluster_size"`
	} `json:"meta_cluster"`
	Accounts []struct {
		Streams []stream `json:"stream_detail"`
	} `json:"account_details"`
}

type stream struct {
	Name   string `json:"name"`
	Config struct {
		Storage      string `json:"storage"`
		Replicas     int    `json:"num_replicas"`
		AllowDirect  bool   `json:"allow_direct"`
		MirrorDirect bool   `json:"mirror_direct"`
		DenyDelete   bool   `json:"deny_delete"`
		DenyPurge    bool   `json:"deny_purge"`
		PersistMode  string `json:"persist_mode"`
	} `json:"config"`
	Consumers []consumer `json:"consumer_detail"`
}

type consumer struct {
	Name   string `json:"name"`
	Config struct {
		Durable  string `json:"durable_name"`
		Memory   bool   `json:"mem_storage"`
		Replicas int    `json:"num_replicas"`
	} `json:"config"`
}

// size is how many nodes the cluster has, as the node knows it.
func (d data) size() int {
	if d.Meta == nil {
		return 1
	}
	return d.Meta.Size
}

func (a answer) node() Node {
	return Node{
		Name: a.Server.Name, Version: a.Server.Version, SyncAlways: a.Data.Config.SyncAlways,
		Leads: a.Data.Meta == nil || a.Data.Meta.Leader == a.Server.Name, ClusterSize: a.Data.size(),
		MaxStore: a.Data.Config.MaxStore, Used: a.Data.Used,
	}
}

// oldest is the oldest version that is known to keep what it acknowledged (facts J4).
var oldest = [3]int{2, 14, 5}

// findings are what is wrong with the node itself.
func (a answer) findings() []Finding {
	var found []Finding
	add := func(what, is, wanted, remedy string, warning bool) {
		found = append(found, Finding{Node: a.Server.Name, What: what, Found: is, Wanted: wanted, Remedy: remedy, Warning: warning})
	}
	if a.Data.Disabled {
		add("jetstream", "disabled", "enabled", "see the node's log for what made it give up, and restart it", false)
		return found
	}
	if older(a.Server.Version) {
		add("the version", a.Server.Version, fmt.Sprintf("%d.%d.%d or later", oldest[0], oldest[1], oldest[2]), "update the nodes, one at a time; older ones can lose what they acknowledged", false)
	}
	if !a.Data.Config.SyncAlways {
		add("sync_interval", "a time", "always", "set 'sync_interval: always' in the block jetstream and restart the node; otherwise a loss of power takes back what was acknowledged", false)
	}
	if limit := a.Data.Config.MaxStore; limit > 0 && a.Data.Used > limit/5*4 {
		add("the space used", fmt.Sprintf("%d of %d MiB", a.Data.Used>>20, limit>>20), "below 80 %", "raise engine.maxStore, or give the disk more space; when it is full, no change can be made", true)
	}
	return found
}

// older reports whether a version is older than [oldest], or cannot be read.
func older(version string) bool {
	release, _, candidate := strings.Cut(version, "-")
	parts := strings.Split(release, ".")
	if len(parts) != len(oldest) {
		return true
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < oldest[i] {
			return true
		}
		if n > oldest[i] {
			return false
		}
	}
	return candidate
}

// findings are what is wrong with a stream of an engine with so many nodes.
func (s stream) findings(nodes int) []Finding {
	var found []Finding
	add := func(wrong bool, what, is, wanted, remedy string) {
		if wrong {
			found = append(found, Finding{What: "stream " + s.Name + ": " + what, Found: is, Wanted: wanted, Remedy: remedy})
		}
	}
	const edit = "correct it with 'nats stream edit', and find out who made the stream so"
	const again = "it cannot be changed: make the stream anew with 'adgateway cluster init'"
	c := s.Config
	add(c.Storage != "file", "storage", c.Storage, "file", again)
	add(c.Replicas != nodes, "num_replicas", fmt.Sprint(c.Replicas), fmt.Sprint(nodes), edit)
	add(c.AllowDirect, "allow_direct", "true", "false", edit)
	add(c.MirrorDirect, "mirror_direct", "true", "false", edit)
	add(!c.DenyDelete, "deny_delete", "false", "true", again)
	add(!c.DenyPurge, "deny_purge", "false", "true", again)
	add(c.PersistMode == "async", "persist_mode", "async", "default", again)
	return found
}

// findings are what is wrong with a consumer that outlives its gateway's connection.
func (c consumer) findings(stream string, nodes int) []Finding {
	var found []Finding
	add := func(wrong bool, what, is, wanted string) {
		if wrong && c.Config.Durable != "" {
			found = append(found, Finding{What: "stream " + stream + ": consumer " + c.Name + ": " + what, Found: is, Wanted: wanted,
				Remedy: "delete the consumer; the gateway makes it anew"})
		}
	}
	add(c.Config.Memory, "mem_storage", "true", "false")
	add(c.Config.Replicas != 0 && c.Config.Replicas != nodes, "num_replicas", fmt.Sprint(c.Config.Replicas), fmt.Sprint(nodes))
	return found
}
