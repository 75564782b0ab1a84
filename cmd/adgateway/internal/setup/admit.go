package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/filefault"
	"adgateway/gateway/keep"
)

// admitting is a cluster whose first gateway is there, and others are not.
type admitting struct {
	file     *keep.File
	register *trust.Register
	folder   trust.Folder
	self     trust.Member
	others   []trust.Member
}

// admitAll lets the other gateways join, and finishes the cluster when all have.
func admitAll(ctx context.Context, o Options, a admitting, announce func(Made)) (err error) {
	id, err := a.folder.Identity()
	if err != nil {
		return err
	}
	secret, err := a.folder.Secret()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.Settings.Cluster.Listen)
	if err != nil {
		return filefault.Explain("cluster.listen", err)
	}
	nobody := func() trust.Members { return trust.Members{Cluster: id.Cluster} }
	server := &http.Server{
		Handler: http.NotFoundHandler(), TLSConfig: id.AllowJoins(id.Server(nobody)),
		ReadHeaderTimeout: time.Second, ErrorLog: log.New(io.Discard, "", 0),
	}
	tried := make(chan struct{}, 1)
	(&trust.Admission{Register: a.register, Secret: secret}).Admit(ctx, server, func(string, error) {
		select {
		case tried <- struct{}{}:
		default: // it is looked anyway
		}
	})
	served := make(chan error, 1)
	go func() { served <- server.ServeTLS(listener, "", "") }()
	defer func() {
		closing := server.Close()
		if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
			closing = errors.Join(closing, ended)
		}
		err = errors.Join(err, closing)
	}()
	if err := invite(ctx, a, announce); err != nil {
		return err
	}
	for {
		list, err := a.register.Members(ctx)
		if err != nil && ctx.Err() == nil {
			return err
		}
		missing := a.missing(list)
		if err == nil && len(missing) == 0 {
			return a.finish(list)
		}
		select {
		case <-tried:
		case <-ctx.Done():
			return fmt.Errorf("%s have not joined, and the cluster cannot be without their nodes: run the same command again",
				strings.Join(missing, ", "))
		}
	}
}

// invite invites those that have not joined.
func invite(ctx context.Context, a admitting, announce func(Made)) error {
	list, err := a.register.Members(ctx)
	if err != nil {
		return err
	}
	missing, made := a.missing(list), Made{Self: a.self}
	for _, g := range a.others {
		if !slices.Contains(missing, g.Name) {
			continue
		}
		i, err := a.register.Invite(ctx, g.Name)
		if err != nil {
			return err
		}
		i.Address, i.Host = a.self.HopAddress, g.Hosts[0]
		made.Invitations = append(made.Invitations, i)
	}
	announce(made)
	return nil
}

// missing returns the names of those that have not joined.
func (a admitting) missing(list trust.Members) (names []string) {
	for _, g := range a.others {
		if found, _ := list.Find(g.Name); !found.HasJoined() {
			names = append(names, g.Name)
		}
	}
	return names
}

// finish writes the list to the folder, and what the log goes on with.
func (a admitting) finish(list trust.Members) error {
	if err := trust.SaveMembers(a.folder.MembersFile(), list, a.folder.Restrict); err != nil {
		return err
	}
	at, err := a.file.Point()
	if err != nil {
		return err
	}
	return a.folder.SetOrigin(at.Hash)
}
