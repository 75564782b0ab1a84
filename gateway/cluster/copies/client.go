package copies

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"adgateway/gateway/cluster"
	"adgateway/gateway/store"
)

// Source is another gateway whose file may be copied.
type Source struct{ Gateway, Address string }

// Sources returns the other gateways that a member has heard: first the leader, whose file is never
// behind, and then the others that are alive.
func Sources(s cluster.Status) (all []Source) {
	for _, g := range s.Gateways {
		found := Source{g.Name, g.Beat.Hop}
		switch {
		case !g.Alive || found.Address == "":
		case g.Name == s.Leader:
			all = append([]Source{found}, all...)
		default:
			all = append(all, found)
		}
	}
	return all
}

// Replaced is the suffix of a store that was replaced by a copy. It is kept next to the copy until the next
// one. If the log was rolled back, only this file contains the lost changes.
const Replaced = ".replaced"

// Client gets copies. All fields except Dial are required.
type Client struct {
	Path string                      // path of the store
	Open func() (*store.File, error) // opens the store as a follower
	// in the order in which they are asked
	Sources func() []Source
	TLS     func(gateway string) *tls.Config                                     // for a named gateway
	Dial    func(ctx context.Context, network, address string) (net.Conn, error) // nil for a [net.Dialer]
}

// Copy replaces this gateway's store by another gateway's file, and returns the new store open. It closes the
// old store once it has received a copy. check returns an error if a file at a position would not help. If
// Copy fails, its error joins the reasons of all sources. It then returns the previous store, open, or nil if
// that store can no longer be opened. It is not safe for concurrent use.
func (c *Client) Copy(
	ctx context.Context, old *store.File, check func(context.Context, store.Point) error,
) (*store.File, error) {
	sources := c.Sources()
	failures := make([]error, 0, len(sources)+1)
	for _, source := range sources {
		file, err := c.from(ctx, source, old, check)
		if err == nil || file == nil {
			return file, err
		}
		failures = append(failures, fmt.Errorf("gateway %s: %w", source.Gateway, err))
		old = file
	}
	if len(sources) == 0 {
		failures = append(failures, errors.New("no other gateway was heard"))
	}
	return old, fmt.Errorf("no copy of the store can be had: %w", errors.Join(failures...))
}

// from installs the copy from a source. It returns the store that is in use afterwards.
func (c *Client) from(
	ctx context.Context, source Source, old *store.File, check func(context.Context, store.Point) error,
) (*store.File, error) {
	transport := &http.Transport{
		DialContext: c.Dial, TLSClientConfig: c.TLS(source.Gateway), DisableKeepAlives: true,
		DisableCompression: true,
	}
	in, err := get(ctx, &http.Client{Transport: transport, CheckRedirect: stay}, source.Address)
	if err != nil {
		return old, err
	}
	defer in.close()
	if err = check(ctx, in.at); err != nil {
		return old, err
	}
	closed := false
	err = store.Install(c.Path, &whole{in, func() error {
		closed = true
		return errors.Join(old.Close(), keepBeside(c.Path))
	}}, store.Point{})
	if !closed {
		return old, err
	}
	file, failure := c.Open()
	return file, errors.Join(err, failure)
}

// stay does not follow redirects, because a copy must come from the gateway that was asked.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// whole is a reader that calls end when everything was read.
type whole struct {
	io.Reader
	end func() error
}

func (w *whole) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		if failure := w.end(); failure != nil {
			err = failure
		}
	}
	return n, err
}

// keepBeside gives a store a second name.
func keepBeside(path string) error {
	if err := os.Remove(path + Replaced); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Link(path, path+Replaced)
}
