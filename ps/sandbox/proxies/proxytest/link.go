package proxytest

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/sandbox/remote"
)

// wait bounds every connection.
const wait = 10 * time.Second

// link contains the connections of one session: the one on which the functions send their
// own frames, and the one of a [remote.Client] for directory entries.
type link struct {
	server *remote.Server

	mu      sync.Mutex // the process may end while its script runs
	conn    net.Conn
	client  *remote.Client
	entries *dotnet.Type
	closed  bool
}

var errClosed = errors.New("the session is over")

// open connects on its first call.
func (l *link) open() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errClosed
	}
	if l.conn != nil {
		return l.conn, nil
	}
	address, key := l.issue()
	conn, err := net.DialTimeout("tcp", address, wait)
	if err != nil {
		return nil, err
	}
	l.conn = conn
	if err := send(conn, `{"f":"hello","marked":true,"key":"`+key+`"}`); err != nil {
		return nil, err
	}
	_, err = receive(conn)
	return conn, err
}

func (l *link) issue() (address, key string) {
	for _, entry := range l.server.Issue() {
		if text, ok := strings.CutPrefix(entry, remote.AddressVariable+"="); ok {
			address = text
		}
		if text, ok := strings.CutPrefix(entry, remote.KeyVariable+"="); ok {
			key = text
		}
	}
	return address, key
}

func send(conn net.Conn, text string) error {
	_, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	return err
}

func receive(conn net.Conn) (string, error) {
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return "", err
	}
	body := make([]byte, min(binary.BigEndian.Uint32(head[:]), remote.MaxFrame))
	_, err := io.ReadFull(conn, body)
	return string(body), err
}

// entry makes a System.DirectoryServices.DirectoryEntry.
func (l *link) entry(path string) (any, error) {
	l.mu.Lock()
	if l.entries == nil && !l.closed {
		address, key := l.issue()
		client, err := remote.Dial(context.Background(), address, key, sandbox.Declarations()) // until close
		if err != nil {
			l.mu.Unlock()
			return nil, err
		}
		l.client = client
		l.entries = entryType(client.Modules())
	}
	t := l.entries
	l.mu.Unlock()
	if t == nil {
		return nil, errClosed
	}
	return dotnet.New(t, []any{path})
}

func entryType(modules []*engine.Module) *dotnet.Type {
	for _, m := range modules {
		for _, t := range m.Types {
			if t.Name == "System.DirectoryServices.DirectoryEntry" {
				return t
			}
		}
	}
	return nil
}

func (l *link) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var faults []error
	l.closed = true
	if l.conn != nil {
		faults = append(faults, l.conn.Close())
		l.conn = nil
	}
	if l.client != nil {
		faults = append(faults, l.client.Close())
		l.client = nil
	}
	return errors.Join(faults...)
}
