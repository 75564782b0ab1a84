package config

import (
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Cluster configures how a gateway takes part in a cluster, if it has joined one.
type Cluster struct {
	Servers []string // URLs of external NATS servers: nats:// or tls:// with host and port
	Listen  string   // address for the other gateways

	CA        string
	NKeyFile  string
	CredsFile string

	KeyGroup    string // used instead of the key file
	SettleDelay time.Duration
}

// Engine configures the store's node that runs alongside the gateway, if this host has one.
type Engine struct {
	Listen   string
	Cluster  string
	Store    string
	MaxStore int64 // bytes
	Monitor  string
}

// LogBytes returns the number of bytes of its space that the log of a cluster may take. The rest is for the
// node's own records.
func (e Engine) LogBytes() int64 { return e.MaxStore / 2 }

func clusterRows() []Row {
	return []Row{
		{"cluster.servers", "[]", "Servers of a NATS of your own that has the log of the cluster, such as tls://n1.corp.example:4222, all of them; empty for the nodes of the cluster's hosts.",
			engineServers(func(s *Settings) *[]string { return &s.Cluster.Servers })},
		{"cluster.listen", ":7443", "Address and port at which the other gateways of the cluster reach this one.",
			address(func(s *Settings) *string { return &s.Cluster.Listen })},
		{"cluster.ca", "\"\"", "Certificates in PEM format of the authorities that sign the certificates of cluster.servers.",
			text(func(s *Settings) *string { return &s.Cluster.CA })},
		{"cluster.nkeyFile", "\"\"", "File with the seed of the NKey that this gateway proves to cluster.servers.",
			text(func(s *Settings) *string { return &s.Cluster.NKeyFile })},
		{"cluster.credsFile", "\"\"", "File with JWT and seed that this gateway proves to cluster.servers, instead of cluster.nkeyFile.",
			text(func(s *Settings) *string { return &s.Cluster.CredsFile })},
		{"cluster.keyGroup", "\"\"", "On Windows, instead of the key file in the folder cluster: the group of the domain whose members may open what the gateways share, such as CORP\\adgateway-gateways; the accounts of all gateways are in it.",
			text(func(s *Settings) *string { return &s.Cluster.KeyGroup })},
		{"cluster.settleDelay", "30s", "How long after the end of another gateway its unfinished changes are left alone, in which a domain controller may still be at work on them.",
			shortDuration(func(s *Settings) *time.Duration { return &s.Cluster.SettleDelay }, time.Second, 10*time.Minute)},
		{"names.hold", "4h", "In a cluster: how long a name that was given at one domain controller or DNS server is not given at another, which may not know it yet; longer than the slowest replication.",
			shortDuration(func(s *Settings) *time.Duration { return &s.Names.Hold }, time.Minute, 168*time.Hour)},
	}
}

// engineRows are the settings of the node.
func engineRows() []Row {
	return []Row{
		{"engine.listen", ":4222", "Address and port of the node of this host, to which gateways connect.",
			address(func(s *Settings) *string { return &s.Engine.Listen })},
		{"engine.cluster", ":6222", "Address and port to which the other nodes connect.",
			address(func(s *Settings) *string { return &s.Engine.Cluster })},
		{"engine.store", "\"\"", "Folder of the node's data on a local disk, excluded from antivirus and backup; if empty, node beside store.file.",
			text(func(s *Settings) *string { return &s.Engine.Store })},
		{"engine.maxStore", "20GiB", "Space for the node's data, of which the log of the cluster takes half.",
			size(func(s *Settings) *int64 { return &s.Engine.MaxStore })},
		{"engine.monitor", "\"\"", "Loopback address and port of the node's monitoring page, such as 127.0.0.1:8222; if empty, there is none.",
			text(func(s *Settings) *string { return &s.Engine.Monitor })},
	}
}

// engineServers returns a list of server URLs.
func engineServers(field func(*Settings) *[]string) value {
	return list{field, func(item string) bool {
		u, err := url.Parse(item)
		if err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.User != nil || item != u.Scheme+"://"+u.Host {
			return false
		}
		return hostAndPort(u.Host)
	}, "a list of servers, such as tls://n1.corp.example:4222, or nats:// for one on this machine"}
}

func hostAndPort(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" || strings.ContainsAny(host, "/\\ ") {
		return false
	}
	n, err := strconv.Atoi(port)
	return err == nil && n > 0 && n <= 65535
}

// sizeUnits are the units of a size, largest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}}

// sized is a setting that is a number of bytes.
type sized struct{ scalar[int64] }

func size(field func(*Settings) *int64) value {
	return sized{scalar[int64]{field, parseSize, "a size from 64MiB to 1024TiB, such as 500MiB or 20GiB"}}
}

func parseSize(text string) (int64, error) {
	for _, unit := range sizeUnits {
		digits, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 1 || n > (1<<50)/unit.bytes || n*unit.bytes < 64<<20 {
			return 0, errNotAllowed
		}
		return n * unit.bytes, nil
	}
	return 0, errNotAllowed
}

func (v sized) get(s *Settings, _ bool) any {
	n := *v.field(s)
	for _, unit := range sizeUnits {
		if n%unit.bytes == 0 && n > 0 {
			return strconv.FormatInt(n/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// clusterMisfits reports the contradictions between the settings of the cluster.
func (s *Settings) clusterMisfits(fault func(keys []string, format string, args ...any)) {
	if err := s.Cluster.checkAccess(); err != nil {
		fault([]string{"cluster.servers", "cluster.nkeyFile"}, "%v", err)
	}
}

// checkAccess returns an error if a setting needed to connect to the servers is missing or
// insecure.
func (c Cluster) checkAccess() error {
	encrypted := false
	for _, server := range c.Servers {
		u, err := url.Parse(server)
		if err != nil {
			return err // engineServers has parsed it before
		}
		if u.Scheme == "tls" {
			encrypted = true
		} else if !ofThisMachine(u.Hostname()) {
			return errors.New(server + " is another machine, and others could read and alter what is sent to it: " +
				"use tls:// and set cluster.ca")
		}
	}
	switch {
	case encrypted && c.CA == "":
		return errors.New("tls:// needs cluster.ca: the authorities that sign the certificates of the servers")
	case c.NKeyFile != "" && c.CredsFile != "":
		return errors.New("cluster.nkeyFile and cluster.credsFile are two ways of saying who connects: set one " +
			"of them")
	}
	return nil
}
