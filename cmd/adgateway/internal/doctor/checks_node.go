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
		v.found = "on, and flushed with every write of the node"
	}
	return v
}

func probeScanner(_ context.Context, x *exam) verdict {
	folder := x.settings.Engine.Store
	excluded, err := x.Node.Scanner()
	var v verdict
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return skipped("Microsoft Defender is not installed; the exclusions of other scanners cannot be read")
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
		return skipped("%s does not exist yet", folder)
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
	return verdict{found: folder + " is excluded"}
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
		return skipped("there are no other nodes")
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
