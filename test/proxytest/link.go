package proxytest

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"adgateway/ps/sandbox/remote"
)

// wait bounds every connection.
const wait = 10 * time.Second

// link is the connection of one session.
type link struct {
	server *remote.Server

	mu     sync.Mutex // the process may end while its script runs
	conn   net.Conn
	closed bool
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
	if err := send(conn, `{"f":"hello","key":"`+key+`"}`); err != nil {
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

func (l *link) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.conn == nil {
		return nil
	}
	err := l.conn.Close()
	l.conn = nil
	return err
}
