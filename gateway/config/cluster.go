package config

import (
	"errors"
	"net"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Cluster configures how a gateway takes part in a cluster, if it has joined one.
type Cluster struct {
	Servers     []string      `key:"cluster.servers" is:"servers" doc:"All servers of a NATS of your own that contains the log of the cluster, such as tls://n1.corp.example:4222. If empty, the nodes of the cluster's hosts."`
	Listen      string        `key:"cluster.listen" is:"address" default:":7443" doc:"Address and port at which the other gateways of the cluster reach this one."`
	CA          string        `key:"cluster.ca" is:"path" doc:"Certificates in PEM format of the authorities that sign the certificates of cluster.servers."`
	NKeyFile    string        `key:"cluster.nkeyFile" is:"path" doc:"File with the seed of the NKey with which this gateway authenticates to cluster.servers."`
	CredsFile   string        `key:"cluster.credsFile" is:"path" doc:"File with the JWT and the seed with which this gateway authenticates to cluster.servers, instead of cluster.nkeyFile."`
	KeyGroup    string        `key:"cluster.keyGroup" doc:"On Windows, domain group whose members can decrypt what the gateways share, such as CORP\\adgateway-gateways. It replaces the key file in the folder cluster. The accounts of all gateways must be members."`
	SettleDelay time.Duration `key:"cluster.settleDelay" from:"1s" to:"10m" default:"30s" doc:"After another gateway ends, how long its unfinished changes are left alone. A domain controller may still be working on them."`
}

// Engine configures the store's node that runs alongside the gateway, if this host has one.
type Engine struct {
	Listen   string `key:"engine.listen" is:"address" default:":4222" doc:"Address and port of this host's node, to which gateways connect."`
	Cluster  string `key:"engine.cluster" is:"address" default:":6222" doc:"Address and port to which the other nodes connect."`
	Store    string `key:"engine.store" is:"path" doc:"Folder of the node's data on a local disk, excluded from antivirus and backup. If empty, the folder node next to store.file."`
	MaxStore int64  `key:"engine.maxStore" default:"20GiB" doc:"Space for the node's data. The log of the cluster takes half of it."`
	Monitor  string `key:"engine.monitor" doc:"Loopback address and port of the node's monitoring page, such as 127.0.0.1:8222. If empty, there is no page."`
}

// LogBytes returns the number of bytes of its space that the log of a cluster may take. The rest is for the
// node's own records.
func (e Engine) LogBytes() int64 { return e.MaxStore / 2 }

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

var size = sized{scalar[int64]{"a size from 64MiB to 1024TiB, such as 500MiB or 20GiB", parseSize}}

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
	if n := mebibytes(text); n >= 64 {
		return 0, advice(". Write " + sizeText(int64(n)<<20))
	}
	return 0, errNotAllowed
}

// otherSize matches a size with a unit as people write it.
var otherSize = regexp.MustCompile(`(?i)^([0-9]{1,6}) ?([mgt])i?b?$`)

// mebibytes returns the number of MiB that a size such as 2GB or 2g probably means, or 0.
func mebibytes(text string) int {
	match := otherSize.FindStringSubmatch(text)
	if match == nil {
		return 0
	}
	n, _ := strconv.Atoi(match[1]) // has few digits
	return n << (10 * strings.Index("mgt", strings.ToLower(match[2])))
}

func (v sized) get(field reflect.Value, _ bool) any { return sizeText(field.Int()) }

func sizeText(n int64) string {
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
			return err // isServer has parsed it before
		}
		if u.Scheme == "tls" {
			encrypted = true
		} else if !ofThisMachine(u.Hostname()) {
			return errors.New(server + " is another computer, and others could read and alter what is sent to " +
				"it: use tls:// and set cluster.ca")
		}
	}
	switch {
	case encrypted && c.CA == "":
		return errors.New("tls:// needs cluster.ca, the certificates of the authorities that sign the servers' " +
			"certificates")
	case c.NKeyFile != "" && c.CredsFile != "":
		return errors.New("cluster.nkeyFile and cluster.credsFile are both set: set only one of " +
			"them")
	}
	return nil
}
