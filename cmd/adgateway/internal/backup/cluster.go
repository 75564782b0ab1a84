package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/cmd/adgateway/setup"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
)

// ofCluster returns the files that make the gateway of the settings a member of a cluster, or none if it is
// alone. The log is not among them, because it exists only on the nodes.
func ofCluster(s *config.Settings) (all []named, err error) {
	folder := program.ClusterFolder(s)
	if folder.Path == "" {
		return nil, nil
	}
	files, err := folder.Files()
	for i, path := range files {
		all = append(all, named{clusterKey, i, path})
	}
	return all, filefault.Explain(clusterKey, err)
}

// alone returns an error if the gateway is a member of a cluster, because nothing can be restored to a
// member.
func alone(s *config.Settings) error {
	folder, id, err := program.Joined(s)
	if err != nil || id == nil {
		return err
	}
	return fmt.Errorf("this gateway is in the cluster %[1]s, and a backup can only be restored to a single "+
		"gateway: "+
		"a gateway without its store copies the store of another one when it starts, "+
		"a lost host is replaced with 'adgateway cluster leave', 'invite' and 'join', "+
		"and a lost log with 'adgateway cluster recover'. "+
		"To continue with the backups on all hosts, first move the folder %[2]s away on each. "+
		"To restore this gateway as a single one, first run 'adgateway cluster alone'", id.Cluster, folder.Path)
}

// stageCluster writes the cluster's files from the backup to a folder next to their destination. It fails if
// another gateway of the cluster runs, because the restored gateway would then have an earlier state than the
// others know under its name.
func (r *restoring) stageCluster(ctx context.Context, files []File, s *config.Settings) error {
	if len(files) == 0 {
		return nil
	}
	place := program.ClusterFolder(s).Path
	if place == "" {
		return fmt.Errorf("%w: its settings do not say where the files of the cluster belong", ErrDamaged)
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return filefault.Explain(storeFile, err)
	}
	beside, err := os.MkdirTemp(filepath.Dir(place), filepath.Base(place)+".restore-*")
	if err != nil {
		return filefault.Explain(storeFile, err)
	}
	r.staged = append(r.staged, [2]string{beside, place})
	r.back = append(r.back, func() error { return os.RemoveAll(beside) })
	err = program.Files.RestrictFolder(beside)
	for _, f := range files {
		if err == nil {
			err = r.into(beside, f)
		}
	}
	if err != nil {
		return filefault.Explain(storeFile, err)
	}
	folder := trust.Folder{Path: beside, Restrict: program.Files.Restrict}
	id, err := folder.Identity()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	list, err := folder.List()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if name := setup.Answering(ctx, id, list.Members()); name != "" {
		return fmt.Errorf("gateway %s of the cluster %s runs: replace this host with 'adgateway cluster leave', "+
			"'invite' and 'join' instead of restoring it. "+
			"To restore the backups of all gateways, stop them first", name, id.Cluster)
	}
	r.cluster = id.Cluster
	return nil
}

// into writes a file of the backup into a folder, under its original name.
func (r *restoring) into(folder string, f File) error {
	place := filepath.Join(folder, f.Base)
	beside, err := r.beside(f, place)
	if err != nil {
		return err
	}
	if err := os.Rename(beside, place); err != nil {
		return errors.Join(err, os.Remove(beside))
	}
	return nil
}
