package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/internal/doctor"
	"adgateway/gateway/config"
	"adgateway/winsvc/host"
)

// nodeHost is a simulated computer with a node of the store.
type nodeHost struct {
	settings *config.Settings
	system   host.System
	sleep    host.Sleep
	volume   host.Volume
	cache    host.WriteCache
	excluded []string // excluded by the scanner and by backups
	indexed  bool
	owned    bool
	routes   []string
	peers    []string
	readers  string
	free     uint64
	errs     map[string]error // errors of the probes, by name
	closed   []string
}

const storeFolder = `D:\adgateway-engine`

func healthyNode() *nodeHost {
	h := &nodeHost{
		settings: config.Default(),
		system:   host.System{Windows: true, Name: "Windows Server 2022 Standard", Build: 20348, Server: true},
		volume:   host.Volume{FileSystem: "NTFS"}, cache: host.WriteCache{Enabled: true, Flushes: true},
		excluded: []string{storeFolder}, owned: true, peers: []string{"n2:6222", "n3:6222"},
		routes: []string{"n2", "n3"}, free: 50 << 30, errs: map[string]error{},
	}
	h.settings.Engine = config.Engine{Listen: ":4222", Cluster: "10.0.0.1:6222", Store: storeFolder,
		MaxStore: 20 << 30, Monitor: "127.0.0.1:8222"}
	return h
}

func (h *nodeHost) probes() doctor.Probes {
	return doctor.Probes{
		Settings: func() (doctor.Settings, error) {
			return doctor.Settings{File: "adgateway.yaml", Exists: true, Values: h.settings, Node: "n1",
				Peers: h.peers}, h.errs["settings"]
		},
		System:  func() (host.System, error) { return h.system, h.errs["system"] },
		Sleep:   func() (host.Sleep, error) { return h.sleep, h.errs["sleep"] },
		Exposed: func(string) (string, error) { return h.readers, h.errs["exposed"] },
		Free:    func(string) (uint64, error) { return h.free, h.errs["free"] },
		Dial: func(_ context.Context, _, address string) (net.Conn, error) {
			if slices.Contains(h.closed, address) {
				return nil, errors.New("connection refused")
			}
			client, server := net.Pipe()
			return client, server.Close()
		},
		Node: doctor.NodeProbes{
			Owned:      func(string) (bool, error) { return h.owned, h.errs["owned"] },
			Routes:     func(context.Context, string) ([]string, error) { return h.routes, h.errs["routes"] },
			Volume:     func(string) (host.Volume, error) { return h.volume, h.errs["volume"] },
			WriteCache: func(string) (host.WriteCache, error) { return h.cache, h.errs["cache"] },
			Scanner:    func() ([]string, error) { return h.excluded, h.errs["scanner"] },
			Backup:     func() ([]string, error) { return h.excluded, h.errs["backup"] },
			Indexed:    func(string) (bool, error) { return h.indexed, h.errs["indexed"] },
		},
	}
}

// brokenNodes are hosts with one or more faults, as in [broken].
var brokenNodes = []struct {
	name     string
	harm     func(h *nodeHost)
	problems string
	advice   string
	code     int
}{
	{"nothing", func(*nodeHost) {}, "", "", 0},
	{"no node in the settings", func(h *nodeHost) { h.errs["settings"] = errors.New("the settings have no node") }, "settings/faulty", "run the doctor again", 2},
	{"client", func(h *nodeHost) { h.system.Server = false }, "system/client", "Windows Server", 1},
	{"system unreadable", func(h *nodeHost) { h.errs["system"] = fs.ErrPermission }, "system/unknown", "doctor", 2},
	{"stopped", func(h *nodeHost) { h.closed = []string{"localhost:4222", "10.0.0.1:6222"} },
		"listeners/closed listeners/closed", "Start the service", 1},
	{"sleeps", func(h *nodeHost) { h.sleep.Standby = time.Hour }, "sleep/standby", "powercfg /change standby-timeout-ac 0", 1},
	{"hibernates", func(h *nodeHost) { h.sleep.Hibernation = time.Hour }, "sleep/hibernation", "powercfg /change hibernate-timeout-ac 0", 1},
	{"power plan unreadable", func(h *nodeHost) { h.errs["sleep"] = fs.ErrPermission }, "sleep/unknown", "doctor", 2},
	{"no folder yet", func(h *nodeHost) { h.errs["owned"], h.errs["indexed"] = fs.ErrNotExist, fs.ErrNotExist }, "store/missing", "Start the service", 1},
	{"folder closed to the doctor", func(h *nodeHost) { h.errs["owned"] = fs.ErrPermission }, "store/unknown", "doctor", 2},
	{"folder with other things", func(h *nodeHost) { h.owned = false }, "store/strange", "engine.store", 1},
	{"others write", func(h *nodeHost) { h.errs["exposed"] = errors.New(`BUILTIN\Users may change the file`) }, "store/others-write", "Restart the service", 2},
	{"others read", func(h *nodeHost) { h.readers = `BUILTIN\Users` }, "store/others-read", "Restart the service", 1},
	{"little space", func(h *nodeHost) { h.free = 1 << 30 }, "store/low", "engine.maxStore", 1},
	{"space unreadable", func(h *nodeHost) { h.errs["free"] = fs.ErrPermission }, "store/unknown", "doctor", 2},
	{"share", func(h *nodeHost) { h.volume = host.Volume{FileSystem: "NTFS", Remote: true} }, "volume/remote", "local disk", 2},
	{"stick", func(h *nodeHost) { h.volume = host.Volume{FileSystem: "exFAT", Removable: true} }, "volume/removable", "fixed disk", 2},
	{"ReFS", func(h *nodeHost) { h.volume.FileSystem = "ReFS" }, "volume/system", "NTFS", 1},
	{"volume unreadable", func(h *nodeHost) { h.errs["volume"] = fs.ErrPermission }, "volume/unknown", "doctor", 2},
	{"cache that is not emptied", func(h *nodeHost) { h.cache.Flushes = false }, "write-cache/lost", "Enable write caching", 2},
	{"cache with a battery, as is said", func(h *nodeHost) { h.cache.Assured = true }, "write-cache/assured", "battery", 1},
	{"cache that is off", func(h *nodeHost) { h.cache = host.WriteCache{} }, "", "", 0},
	{"cache not known", func(h *nodeHost) { h.errs["cache"] = errors.New("Incorrect function.") }, "write-cache/not-known", "storage", 1},
	{"scanned", func(h *nodeHost) { h.excluded = nil }, "antivirus/scanned backup/copied", "Add-MpPreference -ExclusionPath '" + storeFolder + "'", 1},
	{"exclusions closed", func(h *nodeHost) { h.errs["scanner"] = fs.ErrPermission }, "antivirus/not-known", "as an administrator", 1},
	{"another scanner", func(h *nodeHost) { h.errs["scanner"] = errors.ErrUnsupported }, "", "", 0},
	{"indexed", func(h *nodeHost) { h.indexed = true }, "indexing/indexed", `attrib +I "` + storeFolder + `"`, 1},
	{"attributes unreadable", func(h *nodeHost) { h.errs["indexed"] = fs.ErrPermission }, "indexing/unknown", "doctor", 2},
	{"list of backups unreadable", func(h *nodeHost) { h.errs["backup"] = fs.ErrPermission }, "backup/unknown", "doctor", 2},
	{"one peer away", func(h *nodeHost) { h.closed, h.routes = []string{"n3:6222"}, []string{"n2"} }, "peers/some routes/away", "firewall", 1},
	{"no peer there", func(h *nodeHost) { h.closed = []string{"n2:6222", "n3:6222"} }, "peers/some peers/some peers/none", "firewall", 2},
	{"no page", func(h *nodeHost) { h.errs["routes"] = errors.New("connection refused") }, "routes/no-page", "engine.monitor", 1},
	{"no page is set", func(h *nodeHost) { h.settings.Engine.Monitor = "" }, "", "", 0},
	{"alone", func(h *nodeHost) { h.peers, h.closed = nil, []string{"10.0.0.1:6222"} }, "", "", 0},
}

func TestEveryFaultOfANodeHasAdvice(t *testing.T) {
	reached := map[string]bool{}
	for _, c := range brokenNodes {
		t.Run(c.name, func(t *testing.T) {
			sick := healthyNode()
			c.harm(sick)
			result := doctor.Examine(t.Context(), doctor.NodeChecks(), sick.probes(), nil)
			found, first := problems(result)
			assert.Equal(t, c.problems, strings.Join(found, " "), "%+v", result)
			assert.Contains(t, first.Advice, c.advice)
			assert.Equal(t, c.code, result.ExitCode())
			for _, one := range result.Results {
				assert.NotRegexp(t, `\{[a-z]+\}`, fmt.Sprint(one), "a value is missing")
				if len(one.Problems) > 0 {
					assert.NotRegexp(t, "excluded|not indexed|left out|never", one.Found, "what is not so")
				}
			}
			for _, name := range found {
				reached[name] = true
			}
		})
	}
	for _, check := range doctor.NodeChecks() {
		assert.NotEmpty(t, check.About, check.Name)
		assert.NotEmpty(t, check.How, check.Name)
		for _, fault := range check.Faults {
			assert.True(t, reached[check.Name+"/"+fault.ID], "no computer has the fault %s/%s", check.Name, fault.ID)
			assert.NotEmpty(t, fault.Advice)
		}
	}
	var list strings.Builder
	require.NoError(t, doctor.List(&list, doctor.NodeChecks()))
	golden(t, "list-node.txt", list.String())
}

// Checks of Windows are skipped on other systems, and without settings there is nothing to check.
func TestSkippedChecksOfANode(t *testing.T) {
	elsewhere, without := healthyNode(), healthyNode()
	elsewhere.system, elsewhere.volume = host.System{Name: "linux"}, host.Volume{FileSystem: "xfs"}
	without.errs["settings"] = errors.New("the settings have no node")
	for _, c := range []struct {
		host    *nodeHost
		skipped func(doctor.Check) bool
	}{
		{elsewhere, func(c doctor.Check) bool { return c.Windows }},
		{without, func(c doctor.Check) bool { return len(c.Needs) > 0 }},
	} {
		checks := doctor.NodeChecks()
		for i, one := range doctor.Examine(t.Context(), checks, c.host.probes(), nil).Results {
			assert.Equal(t, c.skipped(checks[i]), one.Status == doctor.Skipped, one.Check)
		}
	}
}
