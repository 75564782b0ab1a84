package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"strings"

	"adgateway/winsvc/host"
)

// NodeChecks returns all checks of a host that runs a node of the store, in the order in which they run.
func NodeChecks() []Check {
	all := []Check{
		{
			Name: "settings", Page: "cluster-operate",
			About: "the settings of the node have no mistakes",
			How:   "reads the settings file, ADGATEWAY_ variables and flags as the gateway does, and the folder of the cluster",
			Faults: []Fault{
				{"faulty", Failure, "The settings have mistakes: {error}", "Correct what is named, and run this again. There are no other checks without it."},
			},
			probe: probeNodeSettings,
		},
		{
			Name: "system", Page: "cluster-operate",
			About: "nothing but updates restarts this system",
			How:   "reads HKLM\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion",
			Faults: []Fault{
				{"client", Warning, "{name} is a client: Windows may restart or sleep at any time.", "Use Windows Server for a node that gateways rely on."},
			},
			probe: probeNodeSystem,
		},
		sleepCheck,
	}
	all = append(all, folderChecks()...)
	return append(all, networkChecks()...)
}

func folderChecks() []Check {
	needs := []string{"settings"}
	return []Check{
		{
			Name: "store", Page: "cluster#before-you-start",
			About: "the folder of the streams is the node's alone, and has space", Needs: needs,
			How: "reads the content, the access rights and the free space of engine.store",
			Faults: []Fault{
				{"missing", Warning, "{folder} is not there yet.", "Start the service: the node makes it for the service's account and the administrators alone."},
				{"strange", Warning, "{folder} has other things in it than the data of a node, and is not restricted to the service's account.", "Set engine.store to a folder of its own; of a node that has run already, stop it and move its data there."},
				{"others-write", Failure, "Others may change {folder}: {error}", "Restart the service: the node revokes that right at its start, if its account may. Else revoke it yourself; not on Windows: chmod -R go= '{folder}'"},
				{"others-read", Warning, "{folder} can be read by {readers}.", "Restart the service: the node revokes that right at its start, if its account may. Else revoke it yourself; not on Windows: chmod -R go= '{folder}'"},
				{"low", Warning, "Only {free} are free at {folder}, and streams may take {most} (engine.maxStore).", "Free some space, move the folder to another disk, or lower engine.maxStore: a full disk makes the node fail, the limit refuses changes."},
			},
			probe: probeNodeStore,
		},
		{
			Name: "volume", Page: "cluster#before-you-start",
			About: "the folder is on a local disk", Needs: needs,
			How: "asks the system what engine.store lies on",
			Faults: []Fault{
				{"remote", Failure, "{folder} is on a share ({system}): what the node was told to be on the disk may not be.", "Set engine.store to a folder on a local disk."},
				{"removable", Failure, "{folder} is on a disk that can be removed.", "Set engine.store to a folder on a fixed disk."},
				{"system", Warning, "{folder} is on {system}, and nodes are tried on NTFS.", "Set engine.store to a folder on a volume with NTFS."},
			},
			probe: probeVolume,
		},
		{
			Name: "write-cache", Page: "cluster#before-you-start",
			About: "what was acknowledged survives the loss of power", Needs: needs, Windows: true,
			How: "asks the disk of engine.store about its write cache",
			Faults: []Fault{
				{"lost", Failure, "The write cache of the disk is on and cannot be emptied on demand: what was acknowledged is lost with the power.", "Turn it off: Device Manager, the disk, Policies, 'Enable write caching on the device'."},
				{"assured", Warning, "Windows does not have the write cache of the disk emptied.", "That is right only with a battery: otherwise Device Manager, the disk, Policies, and clear 'Turn off Windows write-cache buffer flushing'."},
				{"not-known", Warning, "The disk does not tell how it caches: {error}", "Ask whoever runs the storage: a cache without a battery must be off, or be emptied on demand. For a virtual machine that is about the host, too."},
			},
			probe: probeWriteCache,
		},
		{
			Name: "antivirus", Page: "network#endpoint-protection",
			About: "Microsoft Defender does not open the folder's files", Needs: needs, Windows: true,
			How: "reads HKLM\\SOFTWARE\\Microsoft\\Windows Defender\\Exclusions and its group policy",
			Faults: []Fault{
				{"scanned", Warning, "Microsoft Defender scans {folder}: a file that it holds open makes a write of the node fail, which then stops until it is restarted.", "Run Add-MpPreference -ExclusionPath '{folder}' as an administrator, or set it by group policy; other scanners need the same."},
				{"not-known", Warning, "The exclusions of Microsoft Defender could not be read: {error}", "Run 'adgateway-engine doctor' as an administrator."},
			},
			probe: probeScanner,
		},
		{
			Name: "indexing", Page: "cluster#before-you-start",
			About: "Windows Search does not open the folder's files", Needs: needs, Windows: true,
			How: "reads the attributes of engine.store and the service WSearch",
			Faults: []Fault{
				{"indexed", Warning, "Windows Search indexes {folder}.", "Run in a console that was opened with 'Run as administrator': attrib +I \"{folder}\" /S /D"},
			},
			probe: probeIndexing,
		},
		{
			Name: "backup", Page: "cluster-restore",
			About: "backups leave the folder out", Needs: needs, Windows: true,
			How: "reads HKLM\\SYSTEM\\CurrentControlSet\\Control\\BackupRestore\\FilesNotToBackup",
			Faults: []Fault{
				{"copied", Warning, "Backups that go by files copy {folder}: they hold its files open, and a node that was taken back to one has forgotten what it voted.",
					"Run as an administrator: reg add HKLM\\SYSTEM\\CurrentControlSet\\Control\\BackupRestore\\FilesNotToBackup /v adgateway-engine /t REG_MULTI_SZ /d \"{folder}\\* /s\" and, for images of the whole computer, never restore one as it is: empty the folder before the node starts."},
			},
			probe: probeBackup,
		},
	}
}

func networkChecks() []Check {
	return []Check{
		{
			Name: "listeners", Page: "cluster#before-you-start",
			About: "the node listens for gateways and for the other nodes", Needs: []string{"settings"},
			How: "connects to engine.listen and, if there are other nodes, to engine.cluster",
			Faults: []Fault{
				{"closed", Warning, "Nobody answers at {address} ({setting}).", "Start the service 'adgateway', which starts the node; if it runs, the log of the node says what it listens on."},
			},
			probe: probeListeners,
		},
		{
			Name: "peers", Page: "cluster-failures",
			About: "the other nodes can be reached", Needs: []string{"settings"},
			How: "connects to the nodes of the list of the cluster",
			Faults: []Fault{
				{"some", Warning, "{peer} cannot be reached: {error}", "Start the node there, and open its port (engine.cluster) in the firewall for the addresses of the other nodes, and of nobody else."},
				{"none", Failure, "No other node can be reached.", "Let this computer out to them. A node that is alone takes no writes."},
			},
			probe: probePeers,
		},
		{
			Name: "routes", Page: "cluster-failures",
			About: "the other nodes are connected to this one", Needs: []string{"settings", "listeners", "peers"},
			How: "reads /routez at engine.monitor",
			Faults: []Fault{
				{"away", Warning, "{connected} of {all} other nodes are connected: {names}.", "The log of the node says why: only nodes of gateways on the list of the cluster are let in."},
				{"no-page", Warning, "The monitoring page at {address} cannot be read: {error}", "Start the node, or correct engine.monitor."},
			},
			probe: probeRoutes,
		},
	}
}

func probeNodeSettings(_ context.Context, x *exam) verdict {
	s, err := x.Settings()
	v := verdict{found: s.File}
	if err != nil {
		v.hit("faulty", "error", oneLine(err))
		return v
	}
	v.keep = func(x *exam) { x.settings, x.file, x.peers = s.Values, s.File, s.Peers }
	v.found = fmt.Sprintf("node %s, %s", s.Node, s.File)
	return v
}

func probeNodeSystem(_ context.Context, x *exam) verdict {
	s, err := x.System()
	if err != nil {
		return failed(err)
	}
	v := verdict{found: s.Name, keep: func(x *exam) { x.system = s }}
	if s.Windows && !s.Server {
		v.hit("client", "name", s.Name)
	}
	return v
}

func probeNodeStore(_ context.Context, x *exam) verdict {
	folder := x.settings.Engine.Store
	v := verdict{found: folder}
	owned, err := x.Node.Owned(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.hit("missing", "folder", folder)
	case err != nil:
		return failed(err)
	case !owned:
		v.hit("strange", "folder", folder)
	}
	if err == nil {
		switch readers, err := x.Exposed(folder); {
		case err != nil:
			v.hit("others-write", "folder", folder, "error", oneLine(err))
		case readers != "":
			v.hit("others-read", "folder", folder, "readers", readers)
		}
	}
	free, err := x.Free(folder)
	if err != nil {
		return failed(err)
	}
	const share = 10 // of the space that streams may use
	if most := uint64(x.settings.Engine.MaxStore); free < most/share {
		v.hit("low", "folder", folder, "free", mebibytes(free), "most", mebibytes(most))
	}
	v.found += ", " + mebibytes(free) + " free"
	return v
}

func probeVolume(_ context.Context, x *exam) verdict {
	folder := x.settings.Engine.Store
	volume, err := x.Node.Volume(folder)
	if err != nil {
		return failed(err)
	}
	v := verdict{found: orUnknown(volume.FileSystem)}
	switch {
	case volume.Remote:
		v.hit("remote", "folder", folder, "system", orUnknown(volume.FileSystem))
	case volume.Removable:
		v.hit("removable", "folder", folder)
	case x.system.Windows && volume.FileSystem != "NTFS":
		v.hit("system", "folder", folder, "system", orUnknown(volume.FileSystem))
	}
	return v
}

func probeWriteCache(_ context.Context, x *exam) verdict {
	cache, err := x.Node.WriteCache(x.settings.Engine.Store)
	var v verdict
	switch {
	case err != nil:
		v.hit("not-known", "error", oneLine(err))
	case !cache.Enabled:
		v.found = "off"
	case cache.Assured:
		v.hit("assured")
	case !cache.Flushes:
		v.hit("lost")
	default:
		v.found = "on, and emptied with every write of the node"
	}
	return v
}

func probeScanner(_ context.Context, x *exam) verdict {
	folder := x.settings.Engine.Store
	excluded, err := x.Node.Scanner()
	var v verdict
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return skipped("Microsoft Defender is not installed; what another scanner leaves out cannot be read")
	case err != nil:
		v.hit("not-known", "error", oneLine(err))
	case !host.Covers(excluded, folder):
		v.hit("scanned", "folder", folder)
	default:
		v.found = folder + " is excluded"
	}
	return v
}

func probeIndexing(_ context.Context, x *exam) verdict {
	folder := x.settings.Engine.Store
	indexed, err := x.Node.Indexed(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return skipped("%s is not there yet", folder)
	}
	if err != nil {
		return failed(err)
	}
	if indexed {
		var v verdict
		v.hit("indexed", "folder", folder)
		return v
	}
	return verdict{found: folder + " is not indexed"}
}

func probeBackup(_ context.Context, x *exam) verdict {
	folder := x.settings.Engine.Store
	excluded, err := x.Node.Backup()
	if err != nil {
		return failed(err)
	}
	if !host.Covers(excluded, folder) {
		var v verdict
		v.hit("copied", "folder", folder)
		return v
	}
	return verdict{found: folder + " is left out"}
}

// here returns the address at which this computer reaches a listener.
func here(address string) string {
	name, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(name); err == nil && (name == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("localhost", port)
	}
	return address
}

func probeListeners(ctx context.Context, x *exam) verdict {
	e := x.settings.Engine
	listeners := [][2]string{{"engine.listen", e.Listen}}
	if len(x.peers) > 0 {
		listeners = append(listeners, [2]string{"engine.cluster", e.Cluster})
	}
	var v verdict
	var found []string
	for _, l := range listeners {
		if err := x.reach(ctx, here(l[1])); err != nil {
			v.hit("closed", "setting", l[0], "address", l[1])
			continue
		}
		found = append(found, l[0]+" "+l[1])
	}
	v.found = strings.Join(found, ", ")
	return v
}

// reach connects to an address and closes the connection.
func (x *exam) reach(ctx context.Context, address string) error {
	conn, err := x.Dial(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

func probePeers(ctx context.Context, x *exam) verdict {
	if len(x.peers) == 0 {
		return skipped("the node is alone")
	}
	var v verdict
	var found []string
	for _, peer := range x.peers {
		if err := x.reach(ctx, peer); err != nil {
			v.hit("some", "peer", peer, "error", oneLine(err))
			continue
		}
		found = append(found, peer)
	}
	if len(found) == 0 {
		v.hit("none")
	}
	v.found = strings.Join(found, ", ")
	return v
}

func probeRoutes(ctx context.Context, x *exam) verdict {
	e := x.settings.Engine
	if e.Monitor == "" {
		return skipped("the node has no monitoring page: no engine.monitor is set")
	}
	names, err := x.Node.Routes(ctx, e.Monitor)
	v := verdict{found: strings.Join(names, ", ")}
	switch {
	case err != nil:
		v.hit("no-page", "address", e.Monitor, "error", oneLine(err))
	case len(names) < len(x.peers):
		v.hit("away", "connected", strconv.Itoa(len(names)), "all", strconv.Itoa(len(x.peers)), "names",
			orNone(v.found))
	}
	return v
}
